"""Which records each model is trained on, and which it is asked about."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.membership.repeats import draw_groups
from policy_engine.errors import AuditError, Problem

Rows = NDArray[np.int64]

_TARGET, _POOL, _SHADOW, _ONLINE, _FURTHER = range(5)
_QUARTERS = 4
"""The sides of the target and of a shadow: in and out, each as large as the others."""


@dataclass(frozen=True, eq=False)
class Splits:
    """The rows of every model, in rising order (MOSAICrOWN D5.1, section 3.2.2).

    The target is trained on `target_train` (m,) and tested on `target_test` (m,), of every
    class as many. Every shadow has as many of every class on both its sides, disjoint from each
    other and from both sides of the target; two shadows may share rows. `online_train` are
    halves of the target's 2m rows, in pairs that complement one another, so that every row is
    in exactly half of them (Carlini et al., IEEE S&P 2022, section IV). `further_train` are
    halves that further targets are trained on, where no online shadows can take their turn.
    """

    target_train: Rows
    target_test: Rows
    shadow_train: tuple[Rows, ...]
    shadow_test: tuple[Rows, ...]
    online_train: tuple[Rows, ...]
    digest: str
    further_train: tuple[Rows, ...] = ()

    @property
    def audited(self) -> Rows:
        """The rows that attacks judge, (2m,): the target's own, then its test rows."""
        return np.concatenate([self.target_train, self.target_test])

    @property
    def shadows(self) -> int:
        """How many shadow models there are."""
        return len(self.shadow_train) + len(self.online_train)

    @property
    def is_member(self) -> NDArray[np.bool_]:
        """Which of the rows judged the target was trained on, (2m,)."""
        return np.arange(2 * len(self.target_train)) < len(self.target_train)


@dataclass(frozen=True)
class ModelCounts:
    """How many models are trained: `disjoint` shadows, `online` ones, `further` targets.

    All are drawn from `seed`.
    """

    disjoint: int = 0
    online: int = 0
    seed: int = 0
    further: int = 0


def make_splits(
    labels: NDArray[np.int64],
    classes: tuple[str, ...],
    counts: ModelCounts,
    members: NDArray[np.integer] | None = None,
    non_members: NDArray[np.integer] | None = None,
    groups: NDArray[np.int64] | None = None,
) -> Splits:
    """Draw the rows of all models, a quarter of every class for each side of the target.

    With `members`, the target's training rows are these, its test rows as many of
    `non_members` (all others, if not given), and shadows have the rest of those. The draw of a
    shadow depends on the seed and its number alone. With `groups` (n,), rows of one number are one
    record that repeats: it stands on one side of a model only, and the shadows have none of those
    judged. Their sides may then be smaller than the target's, and halves differ in size. Raises
    AuditError with every class that has too few records (A001), (A007) for one shadow, (A011)
    where members are not rows, are missing, or are non-members too.
    """
    if counts.disjoint == 1 or counts.online == 1:
        message = "An attack by shadow models needs at least 2 of them. Given: 1."
        raise AuditError.of("A007", message)
    repeats = groups is not None and len(np.unique(groups)) < len(groups)
    kind = _Grouped if repeats else _Draw
    draw = kind(labels, len(classes), counts.seed, groups if repeats else None)
    if members is None and non_members is None:
        sizes = np.bincount(labels, minlength=len(classes))
        _check_sizes(classes, sizes, np.full(len(classes), _QUARTERS))
        train, test = draw.sides(np.arange(len(labels)), sizes // _QUARTERS, (_TARGET, 0))
        pool = draw.remainder(np.arange(len(labels)), np.union1d(train, test))
    else:
        train, non_member_rows = _given_sides(len(labels), members, non_members)
        quotas = np.bincount(labels[train], minlength=len(classes))
        non_member_rows = draw.remainder(non_member_rows, train)
        needed = 3 if counts.disjoint and not repeats else 1
        sizes = np.bincount(labels[non_member_rows], minlength=len(classes))
        _check_sizes(classes, sizes, needed * quotas, " that are not members")
        test, _ = draw.sides(non_member_rows, quotas, (_POOL, 0), both=False)
        pool = draw.remainder(non_member_rows, test)
    shadows = draw.shadows(pool, train, counts.disjoint)
    _check_shadows(labels, classes, train, shadows)
    online = draw.halves(train, test, counts.online)
    further = draw.single_halves(train, test, counts.further)
    sides = [train_rows for train_rows, _ in shadows], [test_rows for _, test_rows in shadows]
    drawn = [[train], [test], *sides, online, *([further] if further else [])]
    return Splits(
        target_train=train,
        target_test=test,
        shadow_train=tuple(sides[0]),
        shadow_test=tuple(sides[1]),
        online_train=tuple(online),
        digest=_digest(drawn),
        further_train=tuple(further),
    )


@dataclass(frozen=True)
class _Draw:
    """Draws rows class by class."""

    labels: NDArray[np.int64]
    classes: int
    seed: int
    groups: Rows | None = None

    def remainder(self, pool: Rows, rows: Rows) -> Rows:
        """Return the rows of a pool without some others, in order."""
        return np.setdiff1d(pool, rows)

    def sides(
        self, pool: Rows, quotas: Rows, seed_path: tuple[int, int], *, both: bool = True
    ) -> tuple[Rows, Rows]:
        """Draw the quota of every class, and as much again of what is left if `both`."""
        shuffled = np.random.default_rng([self.seed, *seed_path]).permutation(pool)
        by_class = shuffled[np.argsort(self.labels[shuffled], kind="stable")]
        of_class = self.labels[by_class]
        class_start = np.searchsorted(of_class, np.arange(self.classes))
        place = np.arange(len(by_class)) - class_start[of_class]
        quota = quotas[of_class]
        first_side = np.sort(by_class[place < quota])
        second_side = np.sort(by_class[(place >= quota) & (place < 2 * quota)])
        return first_side, (second_side if both else second_side[:0])

    def shadows(self, pool: Rows, train: Rows, count: int) -> list[tuple[Rows, Rows]]:
        """Draw both sides of each shadow from the pool, of every class as many as the target."""
        quotas = np.bincount(self.labels[train], minlength=self.classes)
        return [self.sides(pool, quotas, (_SHADOW, number)) for number in range(count)]

    def halves(self, train: Rows, test: Rows, count: int) -> list[Rows]:
        """Draw halves of the rows judged, of every class half, in complementary pairs."""
        audited = np.concatenate([train, test])
        quotas = np.bincount(self.labels[train], minlength=self.classes)
        pairs = [self.sides(audited, quotas, (_ONLINE, number)) for number in range(-(-count // 2))]
        return [half for pair in pairs for half in pair]

    def single_halves(self, train: Rows, test: Rows, count: int) -> list[Rows]:
        """Draw halves of the rows judged, of every class half, each by itself."""
        audited = np.concatenate([train, test])
        quotas = np.bincount(self.labels[train], minlength=self.classes)
        return [self.sides(audited, quotas, (_FURTHER, number))[0] for number in range(count)]


class _Grouped(_Draw):
    """Draws records that repeat: all rows of one on one side, or some there and the rest nowhere.

    The target's sides have the quota, those of a shadow as many as there are.
    """

    def _codes(self) -> Rows:
        assert self.groups is not None  # noqa: S101 (they say what repeats)
        return self.groups

    def remainder(self, pool: Rows, rows: Rows) -> Rows:
        """Return the rows of a pool without some others and their repetitions, in order."""
        codes = self._codes()
        return np.setdiff1d(pool[~np.isin(codes[pool], codes[rows])], rows)

    def sides(
        self, pool: Rows, quotas: Rows, seed_path: tuple[int, int], *, both: bool = True
    ) -> tuple[Rows, Rows]:
        """Draw the quota of every class, and as many more of other records if `both`.

        Both are of one size in every class.
        """
        random = np.random.default_rng([self.seed, *seed_path])
        sides_by_class = [
            self._draw_class(pool, n, q, random, both=both) for n, q in enumerate(quotas)
        ]
        first_side, second_side = (
            np.sort(np.concatenate(side)) for side in zip(*sides_by_class, strict=True)
        )
        return first_side, second_side

    def _draw_class(
        self, pool: Rows, number: int, quota: int, random: np.random.Generator, *, both: bool
    ) -> tuple[Rows, Rows]:
        rows, codes = pool[self.labels[pool] == number], self._codes()
        if not both:
            return draw_groups(rows, codes, quota, random, fill=True), rows[:0]
        first_side = draw_groups(rows, codes, quota, random)
        second_side = draw_groups(self.remainder(rows, first_side), codes, quota, random)
        size = min(len(first_side), len(second_side))
        return np.sort(random.permutation(first_side)[:size]), np.sort(
            random.permutation(second_side)[:size]
        )

    def halves(self, train: Rows, test: Rows, count: int) -> list[Rows]:
        """Draw about half of the records judged, and what that leaves: complementary pairs."""
        audited = np.sort(np.concatenate([train, test]))
        firsts = [self._half(train, audited, (_ONLINE, number)) for number in range(-(-count // 2))]
        return [half for one in firsts for half in (one, np.setdiff1d(audited, one))]

    def single_halves(self, train: Rows, test: Rows, count: int) -> list[Rows]:
        """Draw about half of the records judged, each by itself."""
        audited = np.sort(np.concatenate([train, test]))
        return [self._half(train, audited, (_FURTHER, number)) for number in range(count)]

    def _half(self, train: Rows, audited: Rows, seed_path: tuple[int, int]) -> Rows:
        random, codes = np.random.default_rng([self.seed, *seed_path]), self._codes()
        quotas = np.bincount(self.labels[train], minlength=self.classes).tolist()
        labels = self.labels[audited]
        drawn = [draw_groups(audited[labels == n], codes, q, random) for n, q in enumerate(quotas)]
        return np.sort(np.concatenate(drawn))


def _check_shadows(
    labels: NDArray[np.int64],
    classes: tuple[str, ...],
    train: Rows,
    shadows: Iterable[tuple[Rows, Rows]],
) -> None:
    """Raise AuditError (A001) where repetitions leave a shadow less than half of what it needs."""
    needed = np.bincount(labels[train], minlength=len(classes))
    problems = {}
    for side, _ in shadows:
        sizes = np.bincount(labels[side], minlength=len(classes))
        for name, has, needs in zip(classes, sizes.tolist(), needed.tolist(), strict=True):
            if 2 * has < needs:
                message = f"The class {name!r} has so few distinct records that a side of a "
                message += f"shadow model has {has:,} of {needs:,}: a record is on one side only."
                problems[name] = Problem("A001", message, TOO_REPEATED)
    if problems:
        raise AuditError(*problems.values())


TOO_REPEATED = "Leave repetitions out, or give more distinct records."


def _given_sides(
    rows: int, members: NDArray[np.integer] | None, non_members: NDArray[np.integer] | None
) -> tuple[Rows, Rows]:
    """Return the rows given as members, and those that are not, each once and in order."""
    all_rows = np.arange(rows)
    if members is None:
        members = np.setdiff1d(all_rows, np.asarray(non_members))
    if non_members is None:
        non_members = np.setdiff1d(all_rows, np.asarray(members))
    sides = [np.unique(np.asarray(side, dtype=np.int64)) for side in (members, non_members)]
    _check_given(rows, *sides)
    return sides[0], sides[1]


def _check_given(rows: int, members: Rows, non_members: Rows) -> None:
    overlap, all_rows = (
        len(np.intersect1d(members, non_members)),
        np.concatenate([members, non_members]),
    )
    problems = []
    if not len(members) or not len(non_members):
        lacking = "members" if not len(members) else "records that are not members"
        message = f"There are no {lacking}, so there is nothing to distinguish."
        problems.append(Problem("A011", message))
    if overlap:
        problems.append(
            Problem("A011", f"{overlap:,} records are given as members and as non-members.")
        )
    if len(all_rows) and (all_rows.min() < 0 or all_rows.max() >= rows):
        message = (
            f"Members are given by row, 0 to {rows - 1}. Given: {all_rows.min()}, {all_rows.max()}."
        )
        problems.append(Problem("A011", message))
    if problems:
        raise AuditError(*problems)


def _check_sizes(
    classes: tuple[str, ...], sizes: NDArray[np.int64], needed: NDArray[np.int64], kind: str = ""
) -> None:
    problems = [
        Problem(
            "A001",
            f"The class {name!r} has {has:,} records{kind}. It needs {needs:,}.",
            "Leave the class out, join it with another, or give more records. Of attacks on "
            "membership, loss, entropy, modified-entropy and label-only take fewer: they need no "
            "shadow models.",
        )
        for name, has, needs in zip(classes, sizes.tolist(), needed.tolist(), strict=True)
        if has < needs
    ]
    if problems:
        raise AuditError(*summarise_problems(problems, len(classes)))


def summarise_problems(problems: list[Problem], classes: int) -> list[Problem]:
    """Return problems of single classes or, where there are many, one of the labels."""
    if len(problems) <= _MOST_NAMED:
        return problems
    message = f"{len(problems):,} of {classes:,} classes have too few records. A label is a class "
    message += "of many records, not a quantity."
    hint = "Name a column of classes as the label, or group its values, as into ranges."
    return [Problem("A001", message, hint)]


_MOST_NAMED = 5


def _digest(groups: Iterable[Iterable[Rows]]) -> str:
    digest = hashlib.sha256()
    for number, group in enumerate(groups):
        for rows in group:
            digest.update(f"{number}:{len(rows)};".encode())
            digest.update(rows.astype("<i8").tobytes())
    return digest.hexdigest()
