import pytest
from served import service


@pytest.fixture
def services(tmp_path):
    with service(tmp_path) as opened:
        yield opened
