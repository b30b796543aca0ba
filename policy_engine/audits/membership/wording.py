"""Counts, shares and differences as the sentences of audits write them."""

from policy_engine.audits.membership.figures import Figures
from policy_engine.errors import format_count
from policy_engine.kernels.estimates import Estimate


def format_signed(value: float) -> str:
    """Return a number of three decimals, 0 without a sign."""
    return f"{round(value, 3) + 0.0:.3f}"


def share_text(share: float) -> str:
    """Return a share in percent, of one decimal, or of two digits where it is below 1%."""
    return f"{share:.1%}" if share >= 0.00995 or share == 0 else f"{share * 100:.2g}%"


def interval_text(estimate: Estimate) -> str:
    """Return the interval of a share, as `69.8% to 72.6%`."""
    return f"{share_text(estimate.low)} to {share_text(estimate.high)}"


def rate_text(rate: float) -> str:
    """Return a rate that was chosen, not measured, in percent: `0.1%`."""
    return f"{rate * 100:.6g}%"


def format_sizes(figures: Figures) -> str:
    """Return how many members and non-members there are, as `1 member and 3 non-members`."""
    non_members = format_count(figures.non_members, "non-member")
    return f"{format_count(figures.members, 'member')} and {non_members}"
