"""The figures of a release's risk, in words."""

from collections.abc import Iterable, Sequence
from decimal import Decimal

from policy_engine.audits.disclosure.risks.result import FINDING, NoRisk, Risk

QUESTIONS = {
    "prosecutor-mean": "records found by who knows that the person is in the release",
    "prosecutor-largest": "the same, of the record that is found most easily",
    "prosecutor-above": "records with such a risk",
    "sample-uniques": "records that equal no other in the release",
    "special-uniques": "records that fewer columns than all make unique",
    "suda-dis": "matches with a unique record that are right (DIS)",
    "marketer": "records found by who links all of them to the population",
    "journalist-largest": "the same, of the record that is found most easily",
    "journalist-above": "records with such a risk",
    "k-map": "persons of the population in the rarest released class",
    "presence-least": "chance at least that a person of the population is released",
    "presence-largest": "chance at most that a person of the population is released",
    "counted-uniques": "records that equal nobody else in the population",
    "individual-mean": "records found by who links them to the estimated population",
    "individual-largest": "the same, of the record that is found most easily",
    "individual-above": "records with such a risk",
    "log-linear-links": "unique records that are linked rightly, by a log-linear model",
    "log-linear-uniques": "records unique in the population, by a log-linear model",
    "population-uniques": "records unique in the population, by a model",
    "homogeneity": "records whose class has a single value",
    "commonest-of-class": "records of the commonest value of their class",
    "attribute-inference": "persons whose value is guessed from the release",
    "interval-disclosure": "persons within an interval around their masked numbers",
    "rank-interval": "values within an interval of ranks around the masked one",
}


def question(risk: Risk) -> str:
    """Return what a figure counts, and by which model or threshold."""
    about = f"{QUESTIONS[risk.measure]}"
    return f"{about} ({risk.detail})" if risk.detail else about


def figure_words(risk: Risk) -> str:
    """Return a figure as it is read: a share in percent, or a number of persons."""
    return share_words(risk.value) if risk.is_share else f"{risk.value:,.0f}"


def interval_words(risk: Risk) -> str:
    """Return the ends of an interval, or that a figure is counted, not estimated."""
    if risk.low is None or risk.high is None:
        return ""
    return f"{share_words(risk.low)} to {share_words(risk.high)}"


def share_words(share: float) -> str:
    """Return a share in percent, small ones with two digits."""
    if share >= 0.001 or share == 0:
        return f"{share:.1%}"
    return f"{Decimal(f'{100 * share:.2g}'):f}%"


_WHO = {
    "prosecutor-mean": "knows {known}, and that the person is in the release, finds",
    "marketer": "links every record to the population by {known} finds the person for",
    "individual-mean": "links every record to a population of the estimated size by {known} finds "
    "the person for",
    "log-linear-links": "links the records that are unique by {known} finds the person for",
    "homogeneity": "knows {known} of a person in the release learns {column} for certain for",
    "commonest-of-class": "knows {known} of a person in the release, and guesses the commonest "
    "{column} of the class, is right for",
    "attribute-inference": "knows {known}, and guesses {column} from the release, is right for",
}
_BASELINE = {
    "homogeneity": "Without the classes, {base} would be certain.",
    "commonest-of-class": "The commonest value of the release is right for {base}.",
    "attribute-inference": "The likeliest value of the whole release is right for {base}.",
}


def risk_sentences(risk: Risk, columns: Sequence[str]) -> str:
    """Return what a figure says of persons, against its baseline, in two sentences or three.

    For measures of how many persons are found or whose values are learned, by some of the columns
    that are known.
    """
    columns_text = columns_words(risk.known, columns)
    who = _WHO[risk.measure].format(known=columns_text, column=repr(risk.column))
    share = share_words(risk.value)
    if risk.low is not None:
        share += f" ({interval_words(risk)})"
    sentence = f"An intruder who {who} {share} of the "
    sentence += "records." if risk.measure in FINDING else "persons."
    base = share_words(risk.baseline or 0.0)
    against = _BASELINE.get(risk.measure, "Guessing finds {base}.").format(base=base)
    doubt = "" if risk.beats_baseline else " More than that is not shown."
    return f"{sentence} {against}{doubt}"


def columns_words(count: Sequence[str], of: Sequence[str]) -> str:
    """Return which of the columns are known, or how many if they are too many to be named."""
    if len(count) <= _MOST_NAMED:
        return joined_names(count)
    are_all = len(count) == len(of)
    return f"all {len(of)} columns" if are_all else f"{len(count)} of {len(of)} columns"


_MOST_NAMED = 8


def joined_names(names: Sequence[str]) -> str:
    """Return names with commas and, before the last, "and"."""
    first, last = names[:-1], names[-1]
    return f"{', '.join(first)} and {last}" if first else last


def worst_of(risks: Sequence[Risk], measures: Sequence[str]) -> Risk | None:
    """Return the figure that exceeds its baseline by most; of equal ones that with an interval."""
    compared = [one for one in risks if one.measure in measures and one.baseline is not None]
    return max(compared, key=lambda one: (round(one.excess, 6), one.low is not None), default=None)


def name_of(one: Risk | NoRisk) -> str:
    """Return the measure, and of which column."""
    return f"{one.measure} of {one.column}" if one.column else one.measure


def group_by_reason(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return names and reasons, those of one reason together."""
    names: dict[str, list[str]] = {}
    for name, reason in pairs:
        names.setdefault(reason, []).append(name)
    return [(", ".join(some), reason) for reason, some in names.items()]
