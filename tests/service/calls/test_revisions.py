import pytest

from policy_engine.errors import ServiceError
from policy_engine.service.calls.revisions import check_revision, tag_of


def test_a_change_is_of_the_present_revision():
    check_revision(3, tag_of(3))
    for tag in ('"2"', "3", "*", ""):
        with pytest.raises(ServiceError, match="N005"):
            check_revision(3, tag)
