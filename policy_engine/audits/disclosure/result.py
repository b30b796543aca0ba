"""What attacks on a released table reach, with intervals and baselines."""

from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from policy_engine.audits.disclosure.risks.result import NoRisk, Risk, RiskDistribution
from policy_engine.kernels.estimates import Estimate, share_of_parts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Attack: TypeAlias = Literal[
    "distance-linkage",
    "value-linkage",
    "exact-linkage",
    "mahalanobis-linkage",
    "probabilistic-linkage",
    "intersection-linkage",
    "likelihood-linkage",
    "assignment-linkage",
    "learned-distance-linkage",
]


Agreement: TypeAlias = int | Literal["equal"]
"""When two numbers agree: they are in the same of so many bins of equal frequency, or equal."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class LearnedDistance(_Frozen):
    """What the best distance found of a family links that was learned from all persons themselves.

    It links the share `in_sample` of the persons, and no distance of the family links more than
    the share `bound`, which `is_proven` to be reached if they are equal. The search `stopped`
    there, when "time" was up, because of the "size" of the programme, or within the "margin" of a
    link. Ties are not links.
    """

    distance: str
    in_sample: Annotated[float, Field(ge=0, le=1)]
    bound: Annotated[float, Field(ge=0, le=1)]
    is_proven: bool
    stopped: Literal["reached", "time", "size", "margin"]


class Windows(_Frozen):
    """What the windows of rank swapping leave of the records.

    `contains_own` is the share of persons whose own record is left: all who are in the release,
    if no value moved farther than the windows reach; otherwise that the attack finds few persons
    is no sign of safety. For the share that is left `alone`, the only record is the right one if
    it contains it; None of very many persons.
    """

    contains_own: Annotated[float, Field(ge=0, le=1)]
    alone: Annotated[float, Field(ge=0, le=1)] | None


class Linkage(_Frozen):
    """How many persons an attack links to their own record, knowing some of their columns.

    `linked` is the share of the `persons` for whom the link is right; of t equally good records,
    each counts as 1/t. The `baseline` is what guessing reaches that knows nothing. `holdout` is the
    share of persons who were never in the original for whom the attack takes a record that looks
    right, being as near as right links are; None without such persons, or where the attack does
    not look for one person at a time. If the distance was `learned`, it was so from the other half
    of the persons. `windows` tells what those of rank swapping leave, where the attack uses them.
    """

    attack: Attack
    known: Annotated[tuple[str, ...], Field(min_length=1)]
    persons: Annotated[int, Field(ge=1)]
    linked: Estimate
    baseline: Annotated[float, Field(ge=0, le=1)]
    holdout: Estimate | None = None
    learned: LearnedDistance | None = None
    windows: Windows | None = None

    @classmethod
    def of(
        cls,
        attack: Attack,
        names: tuple[str, ...],
        links: "NDArray[np.float64]",
        records: int,
        learned: LearnedDistance | None = None,
        holdout: Estimate | None = None,
        windows: Windows | None = None,
    ) -> "Linkage":
        """Return the result of links, (persons,), each the probability of a right one."""
        linked = share_of_parts(float(links.sum()), len(links)).rounded(_DECIMALS)
        return cls(
            attack=attack,
            known=names,
            persons=len(links),
            linked=linked,
            baseline=round(1 / max(records, 1), _BASELINE_DECIMALS),
            learned=learned,
            holdout=holdout.rounded(_DECIMALS) if holdout else None,
            windows=windows,
        )

    @property
    def title(self) -> str:
        """The attack, with the distance that was learned."""
        return self.attack if self.learned is None else f"{self.attack}, {self.learned.distance}"

    @property
    def beats_guessing(self) -> bool:
        """Whether more persons are linked than by guessing, beyond the error of the share."""
        return self.linked.low > self.baseline


_DECIMALS, _BASELINE_DECIMALS = 5, 9


class NotRun(_Frozen):
    """An attack that was not run, and why."""

    attack: Attack
    reason: str


class ReleasesTogether(_Frozen):
    """What a release tells together with those before it, by classes of the `columns`.

    `linked` is the share of the persons of the original that a choice at random finds among those
    who are in the same classes of all releases so far, `alone` that by this release without
    others. The smallest set of such persons has `least`; `uniques` are alone in theirs, `gained`
    of them by this release, and `combined` of these are not alone in it either. `joined` is the
    share that the likelihood of all releases so far finds, their rows being joined; None where not
    every one has a certificate, or the persons are too many.
    """

    release: str
    columns: tuple[str, ...]
    alone: Annotated[float, Field(ge=0, le=1)]
    linked: Estimate
    least: int
    uniques: int
    gained: int
    combined: int
    joined: Estimate | None = None


class ReleaseNotTogether(_Frozen):
    """A release of which nobody knows what it tells together with the others, and why."""

    release: str
    reason: str


class AnswerTogether(_Frozen):
    """What an answer on the original tells together with the release and the answers before it.

    `query` is its number in the file, from 1; it tells persons apart by the `columns`, into `cells`
    of which the smallest has `smallest` persons, 0 where it selects nobody. Of two sets of which
    one is part of the other, a cell of this answer and one of `beside`, the release or an answer
    before, the larger has at least `difference` persons more: what is published of them is what
    both answers differ by; None where no set is part of another. `linked` is the share of the
    persons that a choice at random finds among those of the same class and cells so far; `uniques`
    are alone there, `gained` of them by this answer, and `combined` of these not in its own cell.
    """

    query: Annotated[int, Field(ge=1)]
    columns: tuple[str, ...]
    cells: Annotated[int, Field(ge=0)]
    smallest: Annotated[int, Field(ge=0)]
    difference: Annotated[int, Field(ge=1)] | None
    beside: str | None
    linked: Estimate
    least: int
    uniques: int
    gained: int
    combined: int


class AnswerNotUsed(_Frozen):
    """An answer that tells persons apart for nobody who knows the known columns alone, and why."""

    query: Annotated[int, Field(ge=1)]
    reason: str


class AnswersTogether(_Frozen):
    """What the release tells by the classes of the `columns`, and what answers add to it.

    `linked` is the share that a choice at random finds within the classes of the release alone, of
    which the smallest has `least` persons, and `uniques` have one of their own.
    """

    columns: tuple[str, ...]
    linked: Estimate
    least: int
    uniques: int
    answers: tuple[AnswerTogether, ...]
    not_used: tuple[AnswerNotUsed, ...] = ()


class RiskAndUtility(_Frozen):
    """What the strongest attack on a release reaches, and the median error of counts by it.

    `error` is that of random counts of rows by two or three of the known columns, as a share of
    the true count.
    """

    release: str
    attack: str | None
    linked: Estimate | None
    error: Annotated[float, Field(ge=0)]


FileKind: TypeAlias = Literal["original", "release", "population", "holdout"]


class MissingMarks(_Frozen):
    """The `marks` in a column of a table that were read as missing or suppressed cells."""

    table: FileKind
    column: str
    marks: tuple[str, ...]
    cells: Annotated[int, Field(ge=1)]


class DisclosureAudit(_Frozen):
    """What is known of a release and its original, what every attack reaches, and other risks.

    `rows` are those of the original, `released` those of the release, and `paired` are known to be
    of one person. The columns `matched_by` paired them, or `same_order` did. `methods` tells
    what the intruder is assumed to know of how each known column was made. Of the `risks` that need
    no link, those without a figure are in `risks_not_run`. `absent` persons of the file `holdout`
    were never in the original, but `alike` equal somebody there in all known columns, and `equal`
    in all that both tables have. With other releases of the same original, `together` is what they
    tell one after the other, and `releases` what each risks and is good for, the audited one first.
    Those `not_together` are left out of the former; if the audited one is, all are.
    `answered` is what answers to queries on the original add to the release.
    Pseudonyms in the columns `joined_by` are those of several rows each, which were looked for one
    by one. Without a certificate, the release lacks the columns `lacking`, and `missing_marks` are
    the cells that were read as missing.
    """

    original: str
    release: str
    rows: int
    released: int
    paired: int
    matched_by: tuple[str, ...]
    known: tuple[str, ...]
    methods: dict[str, str]
    attacks: tuple[Linkage, ...]
    not_run: tuple[NotRun, ...] = ()
    unread: tuple[str, ...] = ()
    risks: tuple[Risk, ...] = ()
    risks_not_run: tuple[NoRisk, ...] = ()
    distributions: tuple[RiskDistribution, ...] = ()
    holdout: str | None = None
    absent: int = 0
    alike: int = 0
    equal: int = 0
    same_order: bool = False
    lacking: tuple[str, ...] = ()
    missing_marks: tuple[MissingMarks, ...] = ()
    joined_by: tuple[str, ...] = ()
    together: tuple[ReleasesTogether, ...] = ()
    not_together: tuple[ReleaseNotTogether, ...] = ()
    releases: tuple[RiskAndUtility, ...] = ()
    answered: AnswersTogether | None = None

    @property
    def worst(self) -> Linkage | None:
        """The attack that links most persons, knowing all columns or fewer."""
        return max(self.attacks, key=lambda one: one.linked.value, default=None)
