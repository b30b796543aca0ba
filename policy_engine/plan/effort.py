"""How large the search for classes is, as far as that is known beforehand."""

import math

from pydantic import BaseModel, ConfigDict

from policy_engine.data.catalog import Catalog
from policy_engine.data.row_count import row_count
from policy_engine.methods.columns import QuasiIdentifier
from policy_engine.plan.anonymization import Anonymization
from policy_engine.plan.plan import Plan

_MOST_NODES = 1_000_000
"""Lattices of more nodes may take minutes."""
_OF_RANGES, _OF_SETS = 6, 2
_SECONDS = 3e-8
"""CPU seconds for a row and a pair of quasi-identifiers, on the tables of the benchmark."""
_LONG = 60.0


class Effort(BaseModel):
    """What a search looks at: `columns` quasi-identifiers of so many `rows`.

    `nodes` are those of the lattice at most, where each column's generalization tells how many
    heights it has; None for a partition, and where the values decide. `rows` are None where the
    data do not tell them without being read; so are the `seconds`, of CPU and by the order of
    magnitude, that a partition takes.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    columns: int
    rows: int | None = None
    nodes: int | None = None
    seconds: float | None = None

    @property
    def is_long(self) -> bool:
        """Whether the search may take a minute, or many."""
        return (self.nodes or 0) > _MOST_NODES or (self.seconds or 0) > _LONG

    def __str__(self) -> str:
        """Return it in a line."""
        words = f"{self.columns} quasi-identifier{'s' * (self.columns != 1)}"
        if self.rows is not None:
            words += f" of about {_three_digits(self.rows):,} rows"
        if self.nodes is not None:
            words += f": at most {self.nodes:,} combinations of heights"
        if self.seconds is not None:
            words += f": about {_rounded(self.seconds):,g} s of CPU, or a few times that"
        return f"{words}."


def effort_of(plan: Plan, catalog: Catalog | None = None) -> Effort | None:
    """Return what a plan's search looks at, None where nothing is generalised."""
    anonymization = plan.anonymize
    if anonymization is None or not anonymization.models or anonymization.is_in_buckets:
        return None
    quasi = anonymization.columns.quasi_identifier
    rows = _rows_of(plan, catalog) if catalog is not None else None
    if anonymization.recoding.algorithm == "full-domain":
        return Effort(columns=len(quasi), rows=rows, nodes=_nodes(anonymization, catalog))
    seconds = rows and _SECONDS * rows * len(quasi) ** 2
    is_parted = (
        anonymization.recoding.algorithm == "mondrian"
        and anonymization.recoding.score == "loss"
        and anonymization.recoding.dimensionality == "multi"
    )
    return Effort(columns=len(quasi), rows=rows, seconds=seconds if is_parted else None)


def _nodes(anonymization: Anonymization, catalog: Catalog | None) -> int | None:
    """Return how many combinations of heights there are at most, None where values decide."""
    heights = [_heights(one, catalog) for one in anonymization.columns.quasi_identifier]
    known_heights = [one for one in heights if one is not None]
    return math.prod(known_heights) if len(known_heights) == len(heights) else None


def _heights(column: QuasiIdentifier, catalog: Catalog | None) -> int | None:
    """Return how many heights a column has at most."""
    match column.generalization:
        case None | "range" | "mean" | "median" | "centroid" | "median-mode" | "nearest":
            return _OF_RANGES
        case "set" | "mode":
            return _OF_SETS
        case "taxonomy":
            tree = catalog.taxonomies.get(column.taxonomy) if catalog is not None else None
            return None if tree is None else len(tree.level_nodes())
        case _:
            return None


def _rows_of(plan: Plan, catalog: Catalog) -> int | None:
    """Return about how many rows a plan is about; of a join, how many there can be."""
    counts = [row_count(asset, catalog) for asset in plan.assets]
    return max((one for one in counts if one is not None), default=None)


def _three_digits(rows: int) -> int:
    """Return a count of which no more is known than its first three digits."""
    return round(rows, min(0, 3 - len(str(rows))))


def _rounded(seconds: float) -> float:
    """Return seconds with one digit, at least a tenth."""
    digits = -math.floor(math.log10(max(seconds, 0.1)))
    return round(max(seconds, 0.1), digits)
