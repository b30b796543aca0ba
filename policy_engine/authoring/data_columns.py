"""The columns of data that is given, against which files are checked."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from policy_engine.data.catalog import make_catalog
from policy_engine.errors import Problem
from policy_engine.plan.spelling import column_problems, respell_hierarchies
from policy_engine.policy import Hierarchy, Policy
from policy_engine.policy.datasets import named_data


class DataColumns:
    """The columns of data, which `policies` may name by short names.

    Raises DataError for data that cannot be read, RequestError (D001) for names that cannot be
    understood.
    """

    def __init__(self, data: Mapping[str, Any], policies: Sequence[Policy] = ()) -> None:
        self._catalog = make_catalog(named_data(data, policies), in_buckets=True)

    def problems(self, policies: Iterable[Policy], among: Sequence[Policy]) -> list[Problem]:
        """Return what policies name and the data lacks, but for outputs of those `among` them."""
        problems = (column_problems(policy, self._catalog, among) for policy in policies)
        return [problem for of_policy in problems for problem in of_policy]

    def check_hierarchy(self, hierarchy: Hierarchy) -> None:
        """Raise DataError where a hierarchy names what the data lacks."""
        respell_hierarchies(self._catalog, [], [hierarchy])
