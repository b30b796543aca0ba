"""The risk of records beside what a release lost: by its quasi-identifiers alone."""

from collections.abc import Sequence

from policy_engine.audits.disclosure.files import known_column
from policy_engine.audits.disclosure.risks.classes import KnownClasses
from policy_engine.audits.disclosure.risks.file_level import (
    CountedPopulation,
    journalist_risks,
    prosecutor_risks,
    sample_uniques,
)
from policy_engine.audits.disclosure.risks.measuring import (
    THRESHOLD,
    RiskInputs,
    counted_population,
    known_classes,
)
from policy_engine.audits.disclosure.risks.result import FileRisks
from policy_engine.audits.utility.matching import MatchedColumn
from policy_engine.errors import DataError
from policy_engine.kernels.estimates import NotApplicable

_SHARED = NotApplicable(reason="figures of the original are for its owner alone")
_NOT_OF_IT = NotApplicable(reason="the original has fewer rows of some class than the release")


def compared_risks(
    quasi_identifiers: Sequence[MatchedColumn], *, suppresses: bool, shareable: bool
) -> FileRisks:
    """Return the risks of a release to whoever knows its quasi-identifiers, at least one.

    The original is taken as the population; a larger one can only lower the risks. A `shareable`
    page has no population. With `suppresses`, missing cells may be any value.
    """
    columns = [known_column(one) for one in quasi_identifiers]
    classes = known_classes(columns, RiskInputs(suppresses=suppresses))
    population = _SHARED if shareable else _counted(classes, quasi_identifiers)
    return FileRisks.of(
        [
            *prosecutor_risks(classes, THRESHOLD),
            sample_uniques(classes),
            *journalist_risks(classes, THRESHOLD, population),
        ]
    )


def _counted(
    classes: KnownClasses, quasi_identifiers: Sequence[MatchedColumn]
) -> CountedPopulation | NotApplicable:
    """Return how many rows of the original could be of each class, or why that is not known."""
    for one in quasi_identifiers:
        if one.kind == "representative":
            reason = f"a value of {one.name!r} does not tell the value that represents its class"
            return NotApplicable(reason=reason)
    try:
        return counted_population(classes, [known_column(one) for one in quasi_identifiers], None)
    except DataError:
        return _NOT_OF_IT
