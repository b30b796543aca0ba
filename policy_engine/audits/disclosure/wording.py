"""What attacks on a release reach, in words."""

from collections.abc import Iterator

from policy_engine.audits.disclosure.result import (
    DisclosureAudit,
    LearnedDistance,
    Linkage,
    MissingMarks,
    ReleasesTogether,
)
from policy_engine.audits.disclosure.risks.result import FINDING, LEARNING
from policy_engine.audits.disclosure.risks.wording import (
    columns_words,
    group_by_reason,
    joined_names,
    risk_sentences,
    share_words,
    worst_of,
)
from policy_engine.errors import format_count, join_names
from policy_engine.kernels.estimates import Estimate

_WHO = {
    "distance-linkage": "knows {known} and takes the nearest record",
    "value-linkage": "knows {known} and takes the record with the nearest values",
    "exact-linkage": "knows {known} and takes the record with the same values in the most telling "
    "columns",
    "mahalanobis-linkage": "knows {known} and how values were moved together",
    "probabilistic-linkage": "knows {known} and takes the record that agrees in the most telling "
    "columns",
    "intersection-linkage": "knows {known} and takes the nearest record that rank swapping allows",
    "likelihood-linkage": "knows {known} and the published method",
    "assignment-linkage": "knows {known} and assigns records to all persons at once",
    "learned-distance-linkage": "knows {known} and learns a distance from other persons",
}


def verdict(audit: DisclosureAudit) -> str:
    """Return what the worst reaches, against its baseline: how many persons are found, and how many
    values are learned; first what exceeds its baseline by more."""
    cases = sorted(filter(None, (_found(audit), _learned(audit))), key=lambda one: -one[0])
    if not cases:
        return "No attack could be run on this release, and no risk measured."
    return " ".join(sentences for _, sentences in cases)


def _found(audit: DisclosureAudit) -> tuple[float, str] | None:
    """Return by how much the worst way to find persons exceeds guessing, and that in words."""
    linkage, risk = audit.worst, worst_of(audit.risks, FINDING)
    if linkage is not None:
        excess = (linkage.linked.value - linkage.baseline) / max(1 - linkage.baseline, 1e-9)
        if risk is None or excess >= risk.excess:
            return excess, _linked(audit, linkage)
    return None if risk is None else (risk.excess, risk_sentences(risk, audit.known))


def _learned(audit: DisclosureAudit) -> tuple[float, str] | None:
    risk = worst_of(audit.risks, LEARNING)
    return None if risk is None else (risk.excess, risk_sentences(risk, audit.known))


def _linked(audit: DisclosureAudit, worst: Linkage) -> str:
    columns = columns_words(worst.known, audit.known)
    text = f"An intruder who {_WHO[worst.attack].format(known=columns)} finds "
    text += f"{share_words(worst.linked.value)} of the persons ({_ends_of(worst.linked)}). "
    doubt = "" if worst.beats_guessing else " More than that is not shown."
    text += f"Guessing finds {share_words(worst.baseline)}.{doubt}"
    if worst.holdout is None:
        return text
    seems = f"Of {audit.absent:,} persons who were never in the original, the attack seems to find"
    return f"{text} {seems} {share_words(worst.holdout.value)}."


def worst_cases(audit: DisclosureAudit) -> tuple[str, ...]:
    """Return what distances reach with the persons they were learned from, a sentence each."""
    return tuple(_worst_case(one.learned) for one in audit.attacks if one.learned is not None)


def matched_words(audit: DisclosureAudit) -> str:
    """Return by what rows were matched, an empty text if they were not."""
    if audit.same_order:
        return "Rows were matched by their order, which is assumed to be the same in both tables."
    names = ", ".join(audit.matched_by)
    return f"Rows were matched by {names}, assumed to be unchanged." if names else ""


def notes(audit: DisclosureAudit) -> tuple[str, ...]:
    """Return how cells were read, where they do not say it themselves, a sentence each."""
    sentences = tuple(_read_as_missing(one) for one in audit.missing_marks)
    sentences += (*_used_columns(audit), *_left_by_windows(audit))
    if audit.lacking:
        sentences = (f"The release lacks {join_names(audit.lacking)} of the original.", *sentences)
    if audit.joined_by:
        joined = f"Rows with the same pseudonym of {join_names(audit.joined_by, 'or')} are of one "
        joined += "person, and were looked for one by one: who looks for all at once finds more."
        sentences = (joined, *sentences)
    if audit.alike:
        sentences = (*sentences, _alike(audit))
    sentences += tuple(
        f"Of sample-uniques: {one.detail} of the records."
        for one in audit.risks
        if one.measure == "sample-uniques" and one.detail
    )
    sentences += tuple(_without_labels(audit))
    images = [name for name in audit.unread if name not in audit.known]
    return (*sentences, f"Read by no attack: {', '.join(images)}.") if images else sentences


def _without_labels(audit: DisclosureAudit) -> Iterator[str]:
    """Yield what is made without columns whose labels nobody can read, and what with them."""
    labelled = [name for name in audit.unread if name in audit.known]
    if not labelled:
        return
    names = join_names(labelled)
    if audit.attacks:
        yield (
            f"The attacks were made without {names}: cells there are labels that the original "
            "lacks, and no taxonomy is given."
        )
    if audit.risks:
        yield f"By {names}, classes are those of an intruder who knows what the labels stand for."


def _alike(audit: DisclosureAudit) -> str:
    sentence = (
        f"Of the {format_count(audit.absent, 'person')} of the holdout, {audit.alike:,} equal "
    )
    sentence += (
        f"somebody of the original in all known columns, {audit.equal:,} in all that both tables "
    )
    return f"{sentence}have: if these are the same persons, the second baseline is too high."


def _used_columns(audit: DisclosureAudit) -> Iterator[str]:
    """Yield which attacks leave out columns that tell more than those that they can use."""
    used = {one.attack: one.known for one in audit.attacks}
    for attack, names in used.items():
        if {*names} != {*audit.known[: len(names)]}:
            yield f"{attack} compares numbers, and so uses {joined_names(names)} alone."


def _left_by_windows(audit: DisclosureAudit) -> tuple[str, ...]:
    """Return what the windows of rank swapping leave, with most columns known."""
    left = [one.windows for one in audit.attacks if one.windows is not None]
    if not left:
        return ()
    own, alone = share_words(left[-1].contains_own), left[-1].alone
    sentence = f"For {own} of the persons, the window of rank swapping contains their own record"
    single = "" if alone is None else f"; for {share_words(alone)}, a single record"
    return (f"{sentence}{single}.",)


def _read_as_missing(one: MissingMarks) -> str:
    marks = ", ".join(repr(mark) for mark in one.marks)
    are = "is" if one.cells == 1 else "are"
    cells = f"{format_count(one.cells, 'cell')} of {one.column!r} in the {one.table}"
    return f"{cells} {are} read as missing: {marks}."


def added_by_others(audit: DisclosureAudit) -> tuple[str, ...]:
    """Return what each further release adds to those before it, a sentence each, or that nobody
    knows."""
    pairs = zip(audit.together, audit.together[1:], strict=False)
    added = tuple(_added(before, one, audit.rows) for before, one in pairs)
    return (*added, *_added_unknown(audit))


def _added_unknown(audit: DisclosureAudit) -> Iterator[str]:
    for one in audit.not_together:
        is_first = one.release == audit.releases[0].release
        what = f"other releases add to {one.release}" if is_first else f"{one.release} adds"
        yield f"What {what} is not known: {one.reason}. Give --match or --same-order."


def _added(before: ReleasesTogether, one: ReleasesTogether, rows: int) -> str:
    joined = _joined(before, one)
    if not one.columns:
        text = f"{one.release} adds no class: no known column is sure to say there what is true."
        return f"{text}{joined}"
    text = f"With {one.release}, a choice at random among those in the same classes of all "
    text += f"releases finds {_share_of(one.linked)} of the persons, "
    text += f"{share_words(before.linked.value)} before. "
    alone = f"{one.uniques:,} of {rows:,} persons are alone there, {before.uniques:,} before; "
    return f"{text}{alone}{one.combined:,} of them only by the releases together.{joined}"


def added_by_answers(audit: DisclosureAudit) -> tuple[str, ...]:
    """Return what answers to queries add to the release, and which of them were not used."""
    answered = audit.answered
    if answered is None:
        return ()
    reasons = group_by_reason((str(one.query), one.reason) for one in answered.not_used)
    unused = tuple(f"Query {numbers} is not used, since {reason}." for numbers, reason in reasons)
    if not answered.answers:
        return unused
    last = answered.answers[-1]
    sentence = "With the answers, a choice at random among those of the same class and cells finds "
    sentence += (
        f"{_share_of(last.linked)} of the persons, {share_words(answered.linked.value)} before"
    )
    alone = f"{last.uniques:,} of {audit.rows:,} persons are alone there, "
    alone += f"{answered.uniques:,} before"
    if last.uniques:
        alone += ": differences of what was published can be theirs alone"
    return (f"{sentence}. {alone}.", *unused)


def _joined(before: ReleasesTogether, one: ReleasesTogether) -> str:
    if one.joined is None or before.joined is None:
        return ""
    text = f" Who joins the releases up to {one.release} row by row, and takes the rows that are "
    text += f"most likely by their published methods, finds {_share_of(one.joined)} of the persons"
    return f"{text}, {share_words(before.joined.value)} before."


def _worst_case(one: LearnedDistance) -> str:
    endings = {
        "time": " found in the time given",
        "size": " found, the problem being too large to be solved exactly",
        "margin": " found, the rest being as good as ties",
        "reached": "",
    }
    text = f"Best {one.distance}{endings[one.stopped]}, fitted to all persons: for "
    text += f"{share_words(one.in_sample)}, the own record alone is the nearest. None can exceed "
    return f"{text}{'this' if one.is_proven else share_words(one.bound)}."


def _share_of(one: Estimate) -> str:
    return f"{share_words(one.value)} ({_ends_of(one)})"


def _ends_of(one: Estimate) -> str:
    return f"{share_words(one.low)} to {share_words(one.high)}"


def limits() -> tuple[str, ...]:
    """Return what the figures do not show."""
    safe = "An attack that fails does not show that a record is safe: another intruder may know "
    exact = "The intruder is assumed to know who is in the original, and the exact values of the "
    classes = "Class risks assume that cells are true and that each record is a different person."
    learned = "A value that is guessed well may follow from what is true of many, whether or not "
    return (
        f"{safe}other columns, or have a better attack.",
        f"{exact}known columns.",
        classes,
        f"{learned}the person is in the release.",
    )
