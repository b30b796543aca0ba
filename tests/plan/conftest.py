import pytest
from building import DATASET, PEOPLE

from policy_engine.data.catalog import make_catalog


@pytest.fixture
def catalog(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(PEOPLE)
    return make_catalog({DATASET: path})
