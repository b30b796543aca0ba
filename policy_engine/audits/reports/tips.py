"""What a comparison suggests to its reader, in sentences."""

from collections.abc import Iterator

from policy_engine.audits.disclosure.risks.measuring import THRESHOLD
from policy_engine.audits.disclosure.risks.result import FileRisks
from policy_engine.audits.disclosure.risks.wording import share_words
from policy_engine.audits.utility.model import Classification, Comparison, QueryErrors
from policy_engine.kernels.estimates import NotApplicable

_NEARLY_ALL = 0.9
_MANY_SUPPRESSED = 0.05
_LARGE = 2.0
_MOVED = 0.1
_INEXACT = 0.1


def tips(comparison: Comparison) -> tuple[str, ...]:
    """Return what stands out, and what could be done about it: risks first, then losses."""
    return (*_of_risk(comparison), *_of_columns(comparison), *_of_use(comparison))


def _of_risk(comparison: Comparison) -> Iterator[str]:
    for one in comparison.measurements:
        if not one.holds:
            of = f" of {one.column}" if one.column else ""
            yield f"The bound {one.bound}{of} is broken: do not publish this release."
    alone = sum(one.fitting == 1 for one in comparison.row_pairs)
    if 2 * alone > len(comparison.row_pairs):
        yield (
            f"{alone} of the {len(comparison.row_pairs)} rows side by side fit a single row of the "
            "original: values that are kept exact tell them apart. Who knows these finds the row, "
            "however large k is: generalise or mask them, or leave them out."
        )
    yield from _of_classes(comparison.risks)


def _of_classes(risks: FileRisks | NotApplicable) -> Iterator[str]:
    if isinstance(risks, NotApplicable):
        return
    largest = risks.figure("prosecutor-largest")
    if largest is not None and largest.value > THRESHOLD:
        fewest = round(1 / THRESHOLD)
        yield (
            f"Who knows that a person is in the release finds the record with a chance of up to "
            f"{share_words(largest.value)}. With a k of {fewest} or more it is {THRESHOLD:.0%} at "
            "most."
        )
    alone = risks.figure("counted-uniques")
    if alone is not None and alone.value > 0:
        yield (
            f"{share_words(alone.value)} of the records are alone in their class, and equal "
            "nobody else in the original: they are found for certain."
        )


def _of_columns(comparison: Comparison) -> Iterator[str]:
    for one in comparison.columns:
        if one.loss is not None and one.loss >= _NEARLY_ALL:
            yield (
                f"{one.name} has lost {one.loss:.0%} of its detail. If nobody needs it, leave it "
                "out: the other columns then keep more."
            )
        elif one.suppressed is not None and one.suppressed > _MANY_SUPPRESSED:
            yield (
                f"{one.suppressed:.1%} of the released cells of {one.name} tell nothing. A "
                "taxonomy, or coarser values to begin with, can leave them something."
            )
    if comparison.suppressed and comparison.original and comparison.sampled is None:
        share = comparison.suppressed / comparison.original.rows
        if share > _MANY_SUPPRESSED:
            yield (
                f"{share:.1%} of the rows are suppressed, and those are the rare ones: figures of "
                "the release are not those of all. A smaller k, or coarser values, keep more rows."
            )
    ratio = comparison.average_class_ratio
    if ratio is not None and ratio > _LARGE:
        yield (
            f"Classes have {ratio:.1f} times the rows that k asks for on average: equal rows, or "
            "sensitive values that have to be diverse, keep them together. policy-engine explore "
            "shows what other settings lose."
        )


def _of_use(comparison: Comparison) -> Iterator[str]:
    changed = [one for one in comparison.pairs if one.change is not None]
    most = max(changed, key=lambda one: abs(one.change or 0.0), default=None)
    if most is not None and abs(most.change or 0.0) > _MOVED:
        yield (
            f"How {most.first} and {most.second} go together has changed most, from "
            f"{most.before:.2f} to {most.after:.2f}: do not read it off the release."
        )
    queries = comparison.queries
    if isinstance(queries, QueryErrors) and queries.median > _INEXACT:
        yield (
            f"Half of all counts are wrong by {queries.median:.1%} or more. Counts of few "
            "columns, or of wide ranges, are more exact."
        )
    learnt = comparison.classification
    if isinstance(learnt, Classification) and _learns_nothing(learnt):
        yield (
            f"A model learns next to nothing of {learnt.target} from the release. Let "
            "policy-engine explore --for-model look for classes that keep it."
        )


def _learns_nothing(learnt: Classification) -> bool:
    """Tell whether a model is no better than the most frequent value, and could have been."""
    nothing = learnt.majority + 2 * learnt.error
    return learnt.anonymised <= nothing < learnt.original
