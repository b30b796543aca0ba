"""Whether an answer may be given after all earlier ones: each check, and what becomes of cells."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import log1p
from typing import NamedTuple

from policy_engine.release.output_ledger.alike_holders import alike_faults
from policy_engine.release.output_ledger.amounts import amount_faults
from policy_engine.release.output_ledger.answers import (
    CellOutcome,
    CellState,
    OutcomeState,
    OutputCell,
    ToldFigures,
    is_held,
)
from policy_engine.release.output_ledger.bounding import UNDECIDED, bounds_faults
from policy_engine.release.output_ledger.conditions import condition_faults
from policy_engine.release.output_ledger.contents import AnswerContent
from policy_engine.release.output_ledger.differences import (
    MOST_TOLD,
    Fault,
    Trial,
    difference_faults,
    is_comparable,
    pair_faults,
    rank_faults,
    size_faults,
    told_faults,
    value_faults,
)
from policy_engine.release.output_ledger.empty_cells import empty_faults
from policy_engine.release.output_ledger.held_differences import rest_faults
from policy_engine.release.output_ledger.judging_time import SECONDS, OutOfTimeError, TimeLimit
from policy_engine.release.output_ledger.knowledge import AtomTable, Knowledge
from policy_engine.release.output_ledger.linear_systems import LinearSystem, linear_systems
from policy_engine.release.output_ledger.measured_cells import withheld_parts
from policy_engine.release.output_ledger.met_limits import follows_from, met, out_of_time
from policy_engine.release.output_ledger.near_counts import near_faults
from policy_engine.release.output_ledger.owner_sets import owner_set_faults
from policy_engine.release.output_ledger.persons_and_rows import person_faults
from policy_engine.release.output_ledger.spans import FEW_DERIVED, TOO_LARGE, span_faults
from policy_engine.release.output_ledger.statistic_loads import load_faults
from policy_engine.release.output_ledger.told_sets import set_faults
from policy_engine.release.output_ledger.unknowns_left import unknown_faults
from policy_engine.release.output_ledger.value_programmes import owner_value_faults

OTHER_DATA = "K047"
REVIEWED = {TOO_LARGE, OTHER_DATA, UNDECIDED}
"""The codes of what the ledger cannot decide."""

MOST_ATOMS, MOST_MEMBERS = 100_000, 50_000_000


class _Cause(NamedTuple):
    """Why a cell is not released: a code, and what it would have told."""

    code: str
    told: ToldFigures | None = None

    @classmethod
    def of_fault(cls, fault: Fault) -> "_Cause":
        """Return a fault as the cause, with what it tells."""
        return cls(fault.code, fault.figures() if fault.figures else None)


@dataclass(frozen=True)
class LedgerJudgement:
    """What becomes of an answer, and of each cell; `after` is what is known once it is given."""

    state: OutcomeState
    cells: tuple[CellOutcome, ...]
    after: Knowledge


def judge(before: Knowledge, content: AnswerContent, *, partly: bool) -> LedgerJudgement:
    """Return what becomes of an answer.

    If it may be given `partly`, cells at fault are suppressed, one after another, until the rest
    may be given or nothing of it is new. The less time is left, the more of them are at once; where
    a round takes too long, the smaller half is, and where all time is over, nothing is given. Where
    a person accepted it, what cannot be decided is not a fault.
    """
    if _is_repeated(before, content) and not _is_disguised(before, content):
        outcomes = _outcomes(content.cells, {}, "repeated")
        return LedgerJudgement("repeated", outcomes, before)
    before = replace(before.copy(), sums=before.sums.copy())
    numbers = before.add_populations(content)
    before.add_cells(content.known, numbers.tolist())
    if content.is_accepted:
        before.lift(content.cells, numbers.tolist())
    base = before.copy()
    base.add_bounds(content)
    threshold = max([base.threshold, *(cell.threshold for cell in content.cells)])
    table = base.atom_table(_most_atoms(base), threshold, content.owners)
    codes: dict[int, _Cause] = {}
    # What a person accepted is looked at for as long as it takes: what is not decided may leave.
    limit = TimeLimit(math.inf if content.is_accepted else SECONDS)
    while True:
        parts = () if content.is_accepted else withheld_parts(content, base, codes)
        causes = {at: _Cause(TOO_LARGE, follows_from(content.related[at])) for at in parts}
        related = _with_their_figures(content.cells, causes)
        codes |= related
        if related and not (partly and _is_any_left(content.cells, codes)):
            return LedgerJudgement("review", _outcomes(content.cells, codes, "review"), before)
        limit.begin_round()
        trial = replace(_trial(before, base, content, numbers.tolist(), codes), limit=limit)
        faults = _found(trial, table, partly=partly)
        if content.is_accepted:
            faults = [one for one in faults if one.code not in REVIEWED]
        causes = _suppressed_by(trial, faults) if partly else {}
        if not causes:
            return _judgement(trial, content.cells, codes, faults)
        codes |= _with_their_figures(content.cells, causes)


def _most_atoms(knowledge: Knowledge) -> int:
    return min(MOST_ATOMS, MOST_MEMBERS // max(len(knowledge.layers), 1))


def _is_repeated(before: Knowledge, content: AnswerContent) -> bool:
    """Return whether all that is released was released before, and nothing else is suppressed."""
    numbers = [before.index.get(one.tobytes(), -1) for one in content.fingerprints]
    return all(
        before.has_released(cell.measure, numbers[cell.population])
        if cell.is_released
        else (cell.measure, numbers[cell.population]) in before.suppressed
        for cell in content.cells
    )


def _is_disguised(before: Knowledge, content: AnswerContent) -> bool:
    """Return whether what was released before is asked for under another condition."""
    numbers = [before.index.get(one.tobytes(), -1) for one in content.fingerprints]
    own = tuple(numbers[cell.population] for cell in content.cells)
    more = content.may_tell, content.is_same_condition
    return any(condition_faults(Trial(before, before, content.cells, own, (), *more)))


def _trial(
    before: Knowledge,
    base: Knowledge,
    content: AnswerContent,
    numbers: Sequence[int],
    codes: Mapping[int, _Cause],
) -> Trial:
    """Return what would be known if all cells but those with a code were given."""
    cells = tuple(
        replace(cell, is_released=False) if cell.is_released and place in codes else cell
        for place, cell in enumerate(content.cells)
    )
    own = tuple(numbers[cell.population] for cell in cells)
    fresh = tuple(
        place
        for place, (cell, number) in enumerate(zip(cells, own, strict=True))
        if cell.is_released and not before.has_released(cell.measure, number)
    )
    after = base.copy()
    after.add_cells(cells, numbers)
    held = content.holders, content.owners, content.one_sided
    beside = content.contributions, content.empty_parts
    more = content.may_tell, content.is_same_condition, *held
    trial = Trial(before, after, cells, own, fresh, *more, *beside)
    trial = replace(trial, secret_values=content.secret_values)
    return replace(trial, contributing=content.contributing)


def _found(trial: Trial, table: AtomTable | None, *, partly: bool) -> list[Fault]:
    """Return the faults of the first kind of check that finds any; where time ends before, each of
    half of the cells is at fault, those of the fewest units, or all are that an answer has."""
    try:
        return [*_first_faults(trial, table)]
    except OutOfTimeError:
        pass
    places = sorted(trial.fresh, key=lambda place: trial.after.sizes[trial.numbers[place]])
    if trial.limit.used >= 1 or len(places) < 2 or not partly:
        return [Fault(TOO_LARGE, trial.fresh, partial(out_of_time, trial.limit))]
    figures = partial(ToldFigures, "undecided", 0, 0)
    return [Fault(FEW_DERIVED, (place,), figures) for place in places[: -(-len(places) // 2)]]


def _first_faults(trial: Trial, table: AtomTable | None) -> Iterator[Fault]:
    """Yield the faults of the first kind of check that finds any: the cheapest are first."""
    faults = [*condition_faults(trial)]
    yield from faults
    if faults or not trial.fresh:
        return
    for check in (_near_faults, _told_faults, _derived_faults):
        faults = [*check(trial, table)]
        yield from faults
        if faults:
            return


def _near_faults(trial: Trial, table: AtomTable | None) -> Iterator[Fault]:
    yield from size_faults(trial)
    yield from pair_faults(trial)
    yield from value_faults(trial)
    yield from rank_faults(trial)
    if table is not None:
        yield from load_faults(trial, table)
    if table is not None or is_comparable(trial):
        yield from difference_faults(trial, table)


def _told_faults(trial: Trial, table: AtomTable | None) -> Iterator[Fault]:
    figures = partial(met, "units", most=MOST_TOLD)
    yield from told_faults(trial, table, Fault(TOO_LARGE, trial.fresh, figures))


def _derived_faults(trial: Trial, table: AtomTable | None) -> Iterator[Fault]:
    if table is None:
        yield Fault(TOO_LARGE, trial.fresh, partial(met, "atoms", most=_most_atoms(trial.after)))
        return
    systems = [*linear_systems(trial, table)]
    # Whether cells of nobody are told of takes longest: it is looked at once nothing else is told.
    checks = (
        _exact_faults,
        lambda trial, _: rest_faults(trial, table),
        lambda trial, _: person_faults(trial, table),
        lambda trial, _: owner_set_faults(trial, table),
        lambda trial, _: owner_value_faults(trial, table),
        lambda trial, _: set_faults(trial, table),
        lambda trial, _: amount_faults(trial, table),
        lambda trial, _: unknown_faults(trial, table),
        lambda trial, _: empty_faults(trial, table),
        _bound_faults,
        lambda trial, _: near_faults(trial, table),
    )
    for check in checks:
        faults = [*check(trial, systems)]
        yield from faults
        if faults:
            return


def _exact_faults(trial: Trial, systems: Sequence[LinearSystem]) -> Iterator[Fault]:
    for system in systems:
        check = alike_faults if is_held(system.name) else span_faults
        yield from check(trial, system)


def _bound_faults(trial: Trial, systems: Sequence[LinearSystem]) -> Iterator[Fault]:
    for system in systems:
        if not is_held(system.name):
            yield from [*bounds_faults(trial, system)] or alike_faults(trial, system)


def _suppressed_by(trial: Trial, faults: Sequence[Fault]) -> dict[int, _Cause]:
    """Return cells that are suppressed because of faults, one of each at least: those that mend
    most faults for what they are worth, which is the logarithm of their units, as within a table.

    This is V. Chvatal's greedy covering (A greedy heuristic for the set-covering problem, 1979).
    """
    if any(fault.code in REVIEWED for fault in faults):
        return {}
    chosen: dict[int, _Cause] = {}
    left = [fault for fault in faults if fault.cells]
    while left:
        mended = Counter(place for fault in left for place in {*fault.cells})
        sizes = {place: trial.after.sizes[trial.numbers[place]] for place in mended}
        best = min(mended, key=lambda at: (log1p(sizes[at]) / mended[at], sizes[at], at))
        chosen[best] = _Cause.of_fault(next(fault for fault in left if best in fault.cells))
        left = [fault for fault in left if best not in fault.cells]
    return {**_hastened(trial, faults), **chosen}


def _hastened(trial: Trial, faults: Sequence[Fault]) -> dict[int, _Cause]:
    """Return further cells at fault that are suppressed, those of the fewest units: of each fault's
    hardly any at first, a quarter after a quarter of the time and all after half of it, so that
    the rest is left for showing that what remains is safe. What they tell is not worked out."""
    share = min(2 * trial.limit.used, 1.0) ** 2
    hastened: dict[int, _Cause] = {}
    for fault in faults:
        places = sorted(fault.cells, key=lambda place: trial.after.sizes[trial.numbers[place]])
        for place in places[: int(share * len(places))]:
            hastened.setdefault(place, _Cause(fault.code))
    return hastened


def _is_any_left(cells: Sequence[OutputCell], codes: Mapping[int, _Cause]) -> bool:
    """Return whether any cell may be released still."""
    return any(cell.is_released and place not in codes for place, cell in enumerate(cells))


def _with_their_figures(
    cells: Sequence[OutputCell], causes: Mapping[int, _Cause]
) -> dict[int, _Cause]:
    """Return the cells that are suppressed, and the other released ones of their figures."""
    codes = {
        cells[place].figure: code for place, code in causes.items() if cells[place].figure >= 0
    }
    more = {
        place: codes[cell.figure]
        for place, cell in enumerate(cells)
        if cell.figure in codes and cell.is_released
    }
    return {**more, **causes}


def _judgement(
    trial: Trial, cells: Sequence[OutputCell], codes: dict[int, _Cause], faults: Sequence[Fault]
) -> LedgerJudgement:
    if faults:
        is_reviewed = all(fault.code in REVIEWED for fault in faults)
        state: OutcomeState = "review" if is_reviewed else "refused"
        causes = {id(fault): _Cause.of_fault(fault) for fault in faults}
        reasons = {place: causes[id(fault)] for fault in reversed(faults) for place in fault.cells}
        return LedgerJudgement(state, _outcomes(cells, codes | reasons, state), trial.before)
    return LedgerJudgement("recorded", _outcomes(cells, codes, "recorded"), trial.after)


def _outcomes(
    cells: Sequence[OutputCell], codes: Mapping[int, _Cause], state: OutcomeState
) -> tuple[CellOutcome, ...]:
    """Return what becomes of each cell: where nothing may leave, none is released."""
    held: CellState = "review" if state == "review" else "suppressed"
    may_leave = state in ("recorded", "repeated")

    def outcome(place: int, cell: OutputCell) -> CellOutcome:
        if not cell.is_released:
            return CellOutcome("suppressed")
        if may_leave and place not in codes:
            return CellOutcome("released")
        return CellOutcome(held, *codes.get(place, _Cause("")))

    return tuple(outcome(place, cell) for place, cell in enumerate(cells))
