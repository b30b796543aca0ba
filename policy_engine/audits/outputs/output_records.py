"""Records of outputs with the attributes of the fourteen rules, one by one and as arrays."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from policy_engine.errors import AuditError, Problem
from policy_engine.kernels.output_checks.rule_decisions import decide_by_rules
from policy_engine.methods.output_checks.fourteen_rules import ATTRIBUTES, FOURTEEN_RULES, PLACES

FIELDS = MappingProxyType(
    {
        "Output": "output",
        "CellUnits": "cell_units",
        "PercentageRows": "percentage_rows",
        "PercentageCellTotal": "percentage_cell_total",
        "SampleSize": "sample_size",
        "PercentageSampleTotal": "percentage_sample_total",
        "Intercept": "intercept",
        "DegreesOfFreedom": "degrees_of_freedom",
        "DegreesOfFreedom2": "degrees_of_freedom2",
        "NumberOfVariables": "number_of_variables",
    }
)
"""The field of `RuleRecord` that holds each attribute of the paper."""

_BOUNDS = MappingProxyType(
    {"value": (-np.inf, np.inf), "count": (0, np.inf), "share": (0, 1), "answer": (0, 1)}
)
_ALLOWED = MappingProxyType(
    {
        "value": "a finite number",
        "count": "a finite number of at least 0",
        "share": "between 0 and 1",
        "answer": "yes or no",
    }
)


@dataclass(frozen=True)
class RuleRecord:
    """What is known of one output; None is what is not, and shares are between 0 and 1.

    An output of which nobody knows whether it is confidential is taken to be.
    """

    analysis_type: str
    is_confidential: bool | None = None
    output: float | None = None
    cell_units: float | None = None
    percentage_rows: float | None = None
    percentage_cell_total: float | None = None
    sample_size: float | None = None
    percentage_sample_total: float | None = None
    intercept: bool | None = None
    degrees_of_freedom: float | None = None
    degrees_of_freedom2: float | None = None
    number_of_variables: float | None = None

    def value(self, attribute: str) -> float | None:
        """Return the value of an attribute by the name that it has in the rules."""
        value: float | None = getattr(self, FIELDS[attribute])
        return None if value is None else float(value)


@dataclass(frozen=True, eq=False)
class RecordArrays:
    """Records of n outputs: of which rule each is, -1 for none, and its attributes, NaN if missing.

    `rules` and `is_confidential` are (n,), `values` (n, attributes) in the order of `ATTRIBUTES`.
    """

    rules: NDArray[np.int64]
    is_confidential: NDArray[np.bool_]
    values: NDArray[np.float64]

    def __len__(self) -> int:
        """Return the number of outputs."""
        return len(self.rules)

    @property
    def attributes(self) -> Mapping[str, NDArray[np.float64]]:
        """Each attribute by its name, (n,)."""
        return {one.name: self.values[:, place] for place, one in enumerate(ATTRIBUTES)}

    def take(self, rows: NDArray[np.int64]) -> "RecordArrays":
        """Return the records of some rows, in their order."""
        return RecordArrays(self.rules[rows], self.is_confidential[rows], self.values[rows])


def record_arrays(records: Sequence[RuleRecord]) -> RecordArrays:
    """Return records as arrays, in their order.

    Raises AuditError (A003) where a value is infinite, a count negative, or a share not one.
    """
    missing = float("nan")
    values = [
        [missing if value is None else value for value in map(record.value, FIELDS)]
        for record in records
    ]
    table = np.array(values, np.float64).reshape(len(records), len(ATTRIBUTES))
    _check_values(table)
    return RecordArrays(
        np.array([PLACES.get(record.analysis_type, -1) for record in records], np.int64),
        np.array([record.is_confidential is not False for record in records], np.bool_),
        table,
    )


def _check_values(values: NDArray[np.float64]) -> None:
    for place, attribute in enumerate(ATTRIBUTES):
        low, high = _BOUNDS[attribute.kind]
        own = values[:, place]
        wrong = np.flatnonzero(np.isinf(own) | (own < low) | (own > high))
        if len(wrong):
            message = (
                f"{attribute.name} of output {wrong[0] + 1} is not {_ALLOWED[attribute.kind]}."
            )
            raise AuditError(Problem("A003", message, values=(str(own[wrong[0]]),)))


def joined_records(parts: Sequence[RecordArrays]) -> RecordArrays:
    """Return the records of several arrays, one after the other."""
    return RecordArrays(
        np.concatenate([one.rules for one in parts]),
        np.concatenate([one.is_confidential for one in parts]),
        np.concatenate([one.values for one in parts]),
    )


def decide_records(records: RecordArrays) -> NDArray[np.bool_]:
    """Return which outputs the fourteen rules release, (n,)."""
    conditions = [rule.condition for rule in FOURTEEN_RULES]
    return decide_by_rules(conditions, records.rules, records.is_confidential, records.attributes)
