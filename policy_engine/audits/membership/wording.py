"""Counts and differences as sentences of audits have them."""


def counted(count: int, noun: str) -> str:
    """Return so many of something, as `1 member` and `1,200 members`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def signed(value: float) -> str:
    """Return a number of three decimals, 0 without a sign."""
    return f"{round(value, 3) + 0.0:.3f}"
