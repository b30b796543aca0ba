import pytest
from pydantic import ValidationError

from policy_engine.methods.maskings.recoding import Recoding


def test_it_needs_its_taxonomy_and_tells_it():
    one = Recoding(name="job", taxonomy="job.csv", level=2)
    assert (one.taxonomies, one.how) == (("job.csv",), "recoding, taxonomy job.csv, level 2")


@pytest.mark.parametrize("wrong", [{"level": 0}, {"level": 65}, {"level": 1.5}, {"taxonomy": ""}])
def test_a_level_of_values_and_a_taxonomy_without_a_name_are_refused(wrong):
    with pytest.raises(ValidationError):
        Recoding(**{"name": "job", "taxonomy": "job.csv", "level": 1, **wrong})
