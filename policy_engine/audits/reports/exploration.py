"""The page of what settings of a policy risk, and what they lose."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from policy_engine.audits.reports.charts import need_matplotlib
from policy_engine.audits.reports.charts.exploration import RiskUtilityMap, risk_utility_picture
from policy_engine.audits.reports.html import Table, html_page, picture
from policy_engine.data.atomic_file import write_file


@dataclass(frozen=True)
class ExplorationPage:
    """What a page tells: of which policy and data, a verdict in a sentence, settings as rows of
    texts, those that were refused with the reason, and notes on the figures.

    It `is_bounded` where a setting keeps what the policy bounds.
    """

    source: str
    verdict: str
    totals: dict[str, str]
    map: RiskUtilityMap
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    is_bounded: bool = False
    marked: Sequence[int] = ()
    refused: Sequence[tuple[str, str]] = ()
    notes: Sequence[str] = field(default=())


def write_exploration(page: ExplorationPage, path: Path, *inputs: Path) -> None:
    """Write a page over what is there, unless that is an input.

    Raises OutputError where it cannot be written (O002) or is one of the `inputs` (O001), DataError
    (C011) without matplotlib.
    """
    write_file(path, exploration_page(page), *inputs)


def exploration_page(page: ExplorationPage) -> str:
    """Return the page as HTML that refers to nothing outside itself."""
    need_matplotlib()
    caption = (
        "The lower, the safer; the farther left, the more useful. Bars up and down are 95% "
        "intervals, those to the sides what draws differ by. Settings on the dotted line are the "
        "Pareto front: no other one is better in one figure and as good in the other. Its points "
        "are the middles of their bars, so a setting that bars overlap with may be as good."
    )
    title = f"Risk against loss: {page.source}"
    pictures = [picture(title, risk_utility_picture(page.map), caption)]
    return html_page(
        "exploration.html",
        title="What settings risk, and what they lose",
        source=page.source,
        verdict=page.verdict,
        is_bounded=page.is_bounded,
        totals=page.totals,
        pictures=pictures if page.map.points else [],
        settings=Table("Settings", page.head, page.rows, texts=(3,), marked=page.marked),
        refused=page.refused,
        notes=page.notes,
    )
