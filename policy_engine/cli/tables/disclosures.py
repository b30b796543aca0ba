"""A disclosure audit as text for a terminal."""

from rich.table import Table

from policy_engine.audits.disclosure.result import DisclosureAudit
from policy_engine.cli.tables.tables import rows_table


def disclosure_table(audit: DisclosureAudit) -> Table:
    """Return what every attack reaches, with its interval and what guessing does."""
    rows = [
        (
            one.title,
            len(one.known),
            f"{one.linked.value:.1%}",
            f"{one.linked.low:.1%} to {one.linked.high:.1%}",
            f"{100 * one.baseline:.2g}%",
        )
        for one in audit.attacks
    ]
    head = ("attack", "columns known", "persons linked", "95% interval", "by guessing")
    return rows_table(f"{audit.release}: who is found", head, rows)
