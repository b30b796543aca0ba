"""The comparison that may be shared: the figures of the release alone."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.audits.utility.categories import category_counts
from policy_engine.audits.utility.masking import Masked
from policy_engine.audits.utility.matching import encoded, holds_arrays
from policy_engine.audits.utility.model import (
    NOT_MASKED,
    ClassSizes,
    ColumnChange,
    Comparison,
    Kind,
    MaskingLoss,
    SizeBin,
    TableSide,
)
from policy_engine.engines.encoding import encode
from policy_engine.engines.reading_back import cell_column
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.kernels.grouping import Groups
from policy_engine.methods import Measurement
from policy_engine.methods.columns import PERTURBATIVE
from policy_engine.plan.anonymization import Anonymization
from policy_engine.plan.steps import Anonymize

MOST_BINS = 20
NO_CLASSES = NotApplicable(reason="no privacy model was asked for, so no classes were formed")
_NOT_TOLD = NotApplicable(reason="figures of the original are for its owner alone")


def shareable_comparison(
    release: pa.Table,
    side: TableSide,
    step: Anonymize,
    groups: Groups,
    measurements: tuple[Measurement, ...],
    masked: Masked,
) -> Comparison:
    """Return the part of a comparison that a recipient of the release could compute from it.

    Losses are those of the released rows, as in a certificate. Figures of the original are left
    out, since rounding does not make them safe: wherever its edges are, some tables have a row that
    moves a figure over an edge, which tells someone who knows all other rows about it. For
    correlations an outlier suffices, for counts a suppressed row.
    """
    totals = groups.class_totals()
    losses, roles = totals.column_losses(), list(_roles(step, masked))
    return Comparison(
        is_shareable=True,
        original=None,
        release=side,
        is_certified_input=None,
        methods=tuple(_format_methods(step)),
        measurements=measurements,
        suppressed=None,
        certainty_penalty=totals.certainty_penalty(),
        entropy=None,
        discernability=totals.discernability() if step.models else None,
        average_class_ratio=side.rows / groups.count / step.k if step.models else None,
        left_out=(),
        arrays=tuple(name for name, _, _ in roles if holds_arrays(release, name)),
        columns=tuple(
            _column(name, role, kind, losses.get(name), _cells(name, kind, release))
            for name, role, kind in roles
            if not holds_arrays(release, name)
        ),
        pairs=(),
        classes=_class_sizes(groups) if step.models else NO_CLASSES,
        queries=_NOT_TOLD,
        classification=_NOT_TOLD,
        masking=_masking(release, masked) if masked.columns else NOT_MASKED,
    )


def _masking(release: pa.Table, masked: Masked) -> MaskingLoss:
    return MaskingLoss(
        columns=(),
        il1s=_NOT_TOLD,
        probabilistic=_NOT_TOLD,
        together=_NOT_TOLD,
        frequencies=tuple(
            category_counts(name, drawn, release.column(name))
            for name, drawn in masked.transitions.items()
        ),
    )


def _roles(anonymization: Anonymization, masked: Masked) -> Iterator[tuple[str, str, Kind]]:
    """Yield the name, role and kind of every column that is released."""
    columns = anonymization.columns
    for one in columns.quasi_identifier:
        is_one = one.generalization in PERTURBATIVE
        yield one.name, "quasi-identifier", "representative" if is_one else "generalised"
    for name in columns.sensitive_names:
        yield name, "sensitive", "kept"
    for name in columns.insensitive:
        yield name, "insensitive", "kept"
    for name in columns.pseudonymize:
        yield name, "pseudonymize", "pseudonym"
    for name in masked.names:
        yield name, "masked", "masked"


def _cells(name: str, kind: Kind, release: pa.Table) -> int:
    if kind in ("generalised", "pseudonym"):
        column = encode(name, cell_column(release, name), numbers=False, is_generalised=False)
    else:
        column = encoded(name, release.schema.field(name), release.column(name))
    return len(np.unique(column.codes))


def _column(name: str, role: str, kind: Kind, loss: float | None, cells: int) -> ColumnChange:
    return ColumnChange(
        name=name,
        role=role,
        kind=kind,
        is_ordered=None,
        loss=loss,
        entropy=None,
        hellinger=None,
        total_variation=None,
        values_before=None,
        values_after=cells,
        bins=(),
    )


def _format_methods(anonymization: Anonymization) -> Iterator[str]:
    """Yield each method with its parameters, as `l-diversity (k 10, l 3)`."""
    for notation, method in anonymization.methods.items():
        parameters = ", ".join(f"{name} {value:g}" for name, value in method.model_dump().items())
        yield f"{notation} ({parameters})" if parameters else notation


def _class_sizes(groups: Groups) -> ClassSizes:
    sizes = groups.sizes()
    return ClassSizes(
        classes=groups.count,
        smallest=int(sizes.min()),
        median=float(np.median(sizes)),
        mean=float(sizes.mean()),
        largest=int(sizes.max()),
        bins=tuple(_size_bins(sizes)),
    )


def _size_bins(sizes: NDArray[np.int64]) -> Iterator[SizeBin]:
    """Yield equally wide bins from the smallest size; the last holds all that are larger yet."""
    low, high = int(sizes.min()), int(sizes.max())
    usual = int(np.percentile(sizes, 98))
    width = -(-(usual - low + 1) // (MOST_BINS - 1))
    edges = np.unique([*range(low, usual + 1, width), usual + 1, high + 1])
    counts, _ = np.histogram(sizes, edges)
    for start, end, classes in zip(edges[:-1], edges[1:], counts, strict=True):
        yield SizeBin(low=int(start), high=int(end) - 1, classes=int(classes))
