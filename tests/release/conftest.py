import pytest
from modelled import people_table


@pytest.fixture(scope="package")
def table(tmp_path_factory):
    """Return the file of the people that models are trained on."""
    return people_table(tmp_path_factory.mktemp("people") / "people.csv")
