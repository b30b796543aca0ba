"""A dataset of people, and the problem that a catalog finds in what is given for it."""

import pytest

from policy_engine.data.catalog import Dataset, make_catalog
from policy_engine.errors import DataError

IRI = "http://x.org/People"


def people_dataset(*columns):
    return Dataset(iri=IRI, location="memory", format="memory", columns=columns)


def catalog_problem(source):
    """Return the one problem by which data are refused."""
    with pytest.raises(DataError) as caught:
        make_catalog({IRI: source})
    [problem] = caught.value.problems
    return problem
