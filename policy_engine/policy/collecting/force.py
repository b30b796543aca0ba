"""Policies that are in force, with what is known of those that are so no longer."""

from collections.abc import Iterable

from policy_engine.policy.model import Policy


class InForce(tuple[Policy, ...]):  # noqa: SLOT001 (tuples cannot have slots)
    """Policies that are in force, with a sentence for each that was skipped, the reason in it.

    `ended` are those that held before and do so no longer, as far as their texts are at hand: what
    was made under them is not to be read, and who issued them goes on to be known. Of one whose
    text is gone there are the outputs alone.
    """

    notes: tuple[str, ...]
    ended: tuple[Policy, ...]

    def __new__(
        cls,
        policies: Iterable[Policy],
        notes: Iterable[str] = (),
        ended: Iterable[Policy] = (),
    ) -> "InForce":
        """Return the policies with the notes on the others."""
        instance = super().__new__(cls, policies)
        instance.notes, instance.ended = tuple(notes), tuple(ended)
        return instance
