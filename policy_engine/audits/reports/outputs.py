"""The page of a folder of outputs: for checkers with the evidence, for researchers without."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from policy_engine.audits.reports.html import Table, html_page


@dataclass(frozen=True)
class OutputSection:
    """One output on a page: what it is, what was decided, why, and its figures as tables.

    `evidence` has what is known of the cells that are not released, `held` the output as it leaves
    only if a checker accepts it; both are missing on the researcher's page.
    """

    name: str
    request: str
    status: str
    reasons: Mapping[str, str]
    files: Sequence[str]
    comments: Sequence[str] = ()
    exception: str = ""
    shown: Sequence[Table] = ()
    held: Sequence[Table] = ()
    evidence: Sequence[Table] = ()


def outputs_page(
    sections: Sequence[OutputSection], totals: Mapping[str, str], *, is_confidential: bool
) -> str:
    """Return a page of outputs as HTML that refers to nothing outside itself."""
    needed = sum(one.status != "released" or bool(one.exception) for one in sections)
    return html_page(
        "outputs.html",
        title="Outputs to be checked" if is_confidential else "Outputs, and what was decided",
        totals=totals,
        sections=sections,
        needed=needed,
        is_confidential=is_confidential,
    )
