"""The part of a comparison's page that tells who could be found."""

from dataclasses import dataclass

from policy_engine.audits.disclosure.risks.measuring import THRESHOLD
from policy_engine.audits.disclosure.risks.result import FileRisks, Measure, Risk
from policy_engine.audits.disclosure.risks.wording import group_by_reason, name_of, share_words
from policy_engine.audits.reports.charts.disclosure import distribution_chart
from policy_engine.audits.reports.charts.risk import gauge_chart
from policy_engine.audits.reports.html import PagePicture, Table, percent, picture
from policy_engine.audits.utility.model import Comparison
from policy_engine.kernels.estimates import NotApplicable


@dataclass(frozen=True)
class RiskPart:
    """What the page tells: the columns `known`, a gauge for each intruder, their figures as a
    table, the records at risk as pictures, and why figures are missing."""

    known: tuple[str, ...]
    gauges: tuple[PagePicture, ...]
    intruders: Table
    pictures: tuple[PagePicture, ...]
    missing: tuple[tuple[str, str], ...]


_GAUGES: tuple[tuple[str, Measure, str], ...] = (
    ("Prosecutor", "prosecutor-largest", "who knows that the person is in the release, at most"),
    ("Journalist", "journalist-largest", "who knows that the person is in the original, at most"),
    ("Marketer", "marketer", "who links all records to the original, on average"),
)
_INTRUDERS: tuple[tuple[str, tuple[Measure | None, ...]], ...] = (
    ("prosecutor", ("prosecutor-largest", "prosecutor-mean", "prosecutor-above")),
    ("journalist", ("journalist-largest", "marketer", "journalist-above")),
    ("marketer", (None, "marketer", None)),
)


def risk_part(comparison: Comparison) -> RiskPart | None:
    """Return who could be found by the classes of a release; None where `risks` say why not."""
    risks = comparison.risks
    if isinstance(risks, NotApplicable):
        return None
    reasons = group_by_reason((name_of(one), one.reason) for one in risks.not_run)
    return RiskPart(
        known=risks.risks[0].known,
        gauges=tuple(_gauges(risks)),
        intruders=_intruders(risks),
        pictures=tuple(_pictures(risks)),
        missing=tuple(reasons),
    )


def _gauges(risks: FileRisks) -> list[PagePicture]:
    figures = [(title, risks.figure(measure), caption) for title, measure, caption in _GAUGES]
    return [
        picture(title, gauge_chart(one.value, THRESHOLD, f"gauge-{one.measure}"), caption)
        for title, one, caption in figures
        if one is not None
    ]


def _intruders(risks: FileRisks) -> Table:
    rows = [
        (who, *(_share(risks, measure) for measure in measures)) for who, measures in _INTRUDERS
    ]
    head = ("intruder", "highest risk", "mean risk", f"records above {THRESHOLD:.0%}")
    return Table("The risk of a record to be found", head, rows)


def _share(risks: FileRisks, measure: Measure | None) -> str:
    if measure is None:
        return "-"
    one: Risk | None = risks.figure(measure)
    return "no figure" if one is None else share_words(one.value)


def _pictures(risks: FileRisks) -> list[PagePicture]:
    lines = {str(one.measure): (one.at, one.shares) for one in risks.distributions}
    rows = [
        (f"{100 * at:.3g}%", *(percent(one.shares[place]) for one in risks.distributions))
        for place, at in enumerate(risks.distributions[0].at)
    ]
    caption = "Of each risk, the share of the released records that have it or a higher one."
    table = Table("", ("risk at least", *lines), rows)
    return [picture("Records at risk", distribution_chart(lines), caption, table)]
