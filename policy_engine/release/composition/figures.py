"""What a release and earlier ones of the same persons tell together, in figures."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from policy_engine.errors import format_count
from policy_engine.methods import Measurement

CompositionBound = Literal["", "independent", "intersected", "m-invariant"]
Count = Annotated[int, Field(ge=0, le=2**63)]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class DistinctWithin(_Frozen):
    """How few distinct values of a sensitive column an intersection has: the `least`."""

    column: str
    least: Count


class ComparedReleases(_Frozen):
    """A release together with an earlier one, or with all of them, whose `release` is empty.

    Of the `persons` of any of them, `joined` are in the new one alone and `left` in earlier ones
    alone, of whom `unchecked` ones have values that are bounded, which nobody can look at: the
    new one does not have them. `least` is the number of persons in the smallest intersection of
    classes, and `below` how many persons are in one of fewer than k. `values` tell how few
    sensitive values intersections with classes of the new release have, and `broken` the bounds on
    them that do not hold there.
    `entry` is the number of the earlier release's entry in the ledger. `changed` persons are in
    classes with other sensitive values than before, where m-invariance is asked for.
    """

    release: str = ""
    entry: Count = 0
    persons: Count
    joined: Count
    left: Count
    unchecked: Count = 0
    least: Count
    below: Count
    values: tuple[DistinctWithin, ...] = ()
    broken: tuple[Measurement, ...] = ()
    changed: Count | None = None

    @property
    def holds(self) -> bool:
        """Whether k and all bounds on values are known to hold within the intersections."""
        return not self.below and not self.broken and not self.unchecked

    def sentence(self, k: int) -> str:
        """Return it in words."""
        name = "all earlier releases" if not self.release else self.release
        number = f"{format_count(self.below, 'person')} of {self.persons:,}"
        verb = _verb(self.below)
        words = f"Together with {name}, {number} {verb} one of fewer than {k} candidates"
        words += f" (the fewest: {self.least:,})" if self.persons else ""
        values = ", ".join(
            f"{format_count(one.least, 'value')} of {one.column!r}" for one in self.values
        )
        who = "candidates in the new release" if self.left else "candidates"
        words += f"; {who} have as few as {values}" if values else ""
        if self.unchecked:
            gone = format_count(self.unchecked, "person")
            words += f"; {gone} of earlier releases {_verb(self.unchecked)} in no class of this "
            words += "one, and that their values keep the bounds cannot be checked"
        if self.changed is not None:
            changed = format_count(self.changed, "person")
            words += f"; {changed} changed to classes with other values"
        return f"{words}."


def _verb(count: int) -> str:
    return "is" if count == 1 else "are"


class UnknownRelease(_Frozen):
    """An earlier release of which it is not known what it tells together with others, and why."""

    release: str
    entry: Count = 0
    reason: str


_MOST_PAIRS = 5
"""So many pairs of versions that do not agree are named; the record has all of them."""


class DisagreeingVersions(_Frozen):
    """Two earlier versions of a table that are not m-invariant together, by names and entries in
    the ledger: how many `persons` are in both, but in classes with other sensitive values."""

    release: str
    entry: Count
    other: str
    other_entry: Count
    persons: Count

    def sentence(self) -> str:
        """Return it in words."""
        names = f"{self.release} (entry {self.entry}) and {self.other} (entry {self.other_entry})"
        number = f"{format_count(self.persons, 'person')} {_verb(self.persons)}"
        return f"The earlier versions {names} do not agree: {number} in classes with other values."


class Composition(_Frozen):
    """What a release tells of persons together with those before it, for the owner alone.

    `bound` is what the policy says of that, and `k` its k. `earlier` has each release before, and
    `together` all of them at once, None where there is none. Of `unknown` ones nothing is known.
    Classes that are `joint` were formed so that bounds hold within the earlier ones. Where
    m-invariance is asked for, `not_unique` classes, of this release or an earlier one, have fewer
    than m rows, or values that repeat, and of the earlier versions `disagreeing` pairs are not
    m-invariant together, each with the first version that has the persons.
    """

    bound: CompositionBound = ""
    k: Count
    joint: bool = False
    not_unique: Count | None = None
    disagreeing: tuple[DisagreeingVersions, ...] = ()
    earlier: tuple[ComparedReleases, ...] = ()
    together: ComparedReleases | None = None
    unknown: tuple[UnknownRelease, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether what the bound asks for holds of all earlier releases, and all are known.

        Where m-invariance is not asked for, that is every bound within all intersections.
        """
        if self.bound == "m-invariant":
            is_kept = not self.not_unique and not any(one.changed for one in self.earlier)
            return is_kept and not self.disagreeing and not self.unknown
        figures = (*self.earlier, *([self.together] if self.together else []))
        return not self.unknown and all(one.holds for one in figures)

    @property
    def is_refused(self) -> bool:
        """Whether the release is refused for it: its policy asks for a bound that does not hold."""
        return self.bound in ("intersected", "m-invariant") and not self.holds

    def sentences(self) -> Iterator[str]:
        """Yield it in words, a sentence for each release."""
        for one in self.earlier:
            yield one.sentence(self.k)
        if self.together is not None and len(self.earlier) > 1:
            yield self.together.sentence(self.k)
        if self.not_unique:
            classes = f"{self.not_unique:,} {'class' if self.not_unique == 1 else 'classes'}"
            verb = "has" if self.not_unique == 1 else "have"
            yield f"{classes} {verb} fewer than m rows, or sensitive values that repeat."
        for pair in self.disagreeing[:_MOST_PAIRS]:
            yield pair.sentence()
        more = len(self.disagreeing) - _MOST_PAIRS
        if more > 0:
            verb = "does" if more == 1 else "do"
            yield f"And {format_count(more, 'more pair')} of earlier versions {verb} not agree."
        for other in self.unknown:
            yield f"What it tells together with {other.release} is not known: {other.reason}."
