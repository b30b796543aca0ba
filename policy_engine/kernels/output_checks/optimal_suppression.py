"""The cheapest pattern of suppression, by cuts that attacks on cheaper patterns make.

Fischetti and Salazar (2001): Benders' decomposition. A programme in the pattern alone is solved,
the pattern is attacked, and every attack that succeeds adds an inequality that all protected
patterns satisfy; what no attack succeeds on is optimal.
"""

from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from policy_engine.kernels.output_checks.bridgeless_cuts import bridgeless_cuts
from policy_engine.kernels.output_checks.highs_models import (
    need_highs,
    new_solver,
    run_until_optimal,
)
from policy_engine.kernels.output_checks.separation import (
    PatternAttack,
    ProtectionCut,
    line_cuts,
    protection_cut,
)
from policy_engine.kernels.output_checks.suppression_search import SuppressionSearch
from policy_engine.kernels.output_checks.table_system import Bools, Floats, Ints, TableSystem
from policy_engine.kernels.output_checks.work_time import TimeUpError, WorkTime

_ROUND_FROM = 0.35
"""From this share on a cell of a fractional pattern is suppressed before it is repaired."""
_NEAR = 1e-6
_WHOLE = {"mip_rel_gap": 1e-7, "mip_allow_restart": False}
"""Options of programmes in whole numbers: to presolve them once more, with what is fixed by then,
costs more than it gains where they are so small."""


@dataclass(eq=False)
class PatternMaster:
    """The programme in the pattern: the weights are least, and all inequalities so far hold."""

    system: TableSystem
    cells: Ints = field(init=False)
    cuts: list[ProtectionCut] = field(init=False, default_factory=list)
    _solver: Any = field(init=False)

    def __post_init__(self) -> None:
        system = self.system
        self.cells = np.flatnonzero(system.may_be_suppressed & ~system.first_pattern)
        self._solver, size = new_solver(), len(self.cells)
        self._solver.addVars(size, np.zeros(size), np.ones(size))
        numbers = np.arange(size, dtype=np.int32)
        self._solver.changeColsCost(size, numbers, system.weights[self.cells])

    def add(self, cuts: list[ProtectionCut]) -> None:
        """Add inequalities."""
        self.cuts += cuts
        _add_rows(self._solver, cuts, self.cells)

    def relaxed(self, limit: WorkTime) -> tuple[Floats, float, Floats]:
        """Return the best fractional pattern, (n,), what it costs, and its reduced costs.

        Raises TimeUpError at a limit.
        """
        run_until_optimal(self._solver, limit)
        solution, info = self._solver.getSolution(), self._solver.getInfo()
        return (
            self.whole(np.array(solution.col_value)),
            float(info.objective_function_value),
            np.array(solution.col_dual),
        )

    def whole(self, values: Floats) -> Floats:
        """Return the pattern of all cells, (n,), that values of the cells chosen from make."""
        pattern = self.system.first_pattern.astype(np.float64)
        pattern[self.cells] = np.clip(values, 0.0, 1.0)
        pattern[pattern < _NEAR] = 0.0
        return pattern

    def integral(
        self, is_open: Bools, seconds: float, cutoff: float
    ) -> tuple[Floats | None, float]:
        """Return a pattern of 0 and 1 among the open cells, and what such a pattern costs at least.

        None where time ends before one is found, or where none costs less than the cutoff: the
        cost is that then.
        """
        highs, columns = need_highs(), np.flatnonzero(is_open)
        solver, size = new_solver(), len(columns)
        numbers = np.arange(size, dtype=np.int32)
        for option, value in _WHOLE.items():
            solver.setOptionValue(option, value)
        solver.setOptionValue("time_limit", max(seconds, 0.1))
        solver.setOptionValue("objective_bound", cutoff)
        solver.addVars(size, np.zeros(size), np.ones(size))
        solver.changeColsCost(size, numbers, self.system.weights[self.cells[columns]])
        kinds = np.full(size, int(highs.HighsVarType.kInteger), dtype=np.uint8)
        solver.changeColsIntegrality(size, numbers, kinds)
        _add_rows(solver, self.cuts, self.cells[columns])
        solver.run()
        info, status = solver.getInfo(), solver.getModelStatus()
        if status == highs.HighsModelStatus.kInfeasible:
            return None, cutoff
        if info.primal_solution_status != int(highs.SolutionStatus.kSolutionStatusFeasible):
            return None, min(float(info.mip_dual_bound), cutoff)
        values = np.zeros(len(self.cells))
        values[columns] = np.round(np.array(solver.getSolution().col_value))
        return self.whole(values), min(float(info.mip_dual_bound), cutoff)


def _add_rows(solver: Any, cuts: list[ProtectionCut], cells: Ints) -> None:
    """Add cuts to a model whose columns are some cells, in order."""
    parts = [np.isin(cut.cells, cells, assume_unique=True) for cut in cuts]
    sizes = [int(part.sum()) for part in parts]
    starts = np.cumsum([0, *sizes[:-1]]).astype(np.int32)
    none = np.zeros(0)
    columns = [cut.cells[part] for cut, part in zip(cuts, parts, strict=True)]
    factors = [cut.coefficients[part] for cut, part in zip(cuts, parts, strict=True)]
    indices = np.searchsorted(cells, np.concatenate([none, *columns])).astype(np.int32)
    values = np.concatenate([none, *factors])
    least, infinite = np.array([cut.least for cut in cuts]), np.full(len(cuts), np.inf)
    solver.addRows(len(cuts), least, infinite, len(indices), starts, indices, values)


def search_optimum(search: SuppressionSearch) -> None:
    """Improve a search's best pattern and its bound until they meet or its time ends.

    Raises TimeUpError where not even one is found within the limit of the search.
    """
    search.offer(search.system.first_pattern, is_last_resort=True)
    if search.cost > 0:
        with suppress(TimeUpError):
            _improve(search)


def _improve(search: SuppressionSearch) -> None:
    """Search for better patterns and bounds; raises TimeUpError where its time ends."""
    search.time.check()
    master, floor, reduced, pattern = raise_bound(search)
    if not is_proven(search):
        search.offer(pattern >= _ROUND_FROM)
    if search.seconds_left > 0 and not is_proven(search):
        _search_integral(search, master, floor, reduced)


def raise_bound(search: SuppressionSearch) -> tuple[PatternMaster, float, Floats, Floats]:
    """Raise a search's bound to what fractional patterns cost.

    Returns the programme, the cost of its pattern, its reduced costs, and the pattern, (n,). Raises
    TimeUpError where the search's time ends.
    """
    master = PatternMaster(search.system)
    master.add(line_cuts(search.system, search.needs))
    return master, *_search_fractional(search, master)


def is_proven(search: SuppressionSearch) -> bool:
    """Return whether no pattern is cheaper than the best, but for what the solver tolerates."""
    return search.cost - search.bound <= _NEAR * max(search.cost, 1.0)


def _search_fractional(
    search: SuppressionSearch, master: PatternMaster
) -> tuple[float, Floats, Floats]:
    """Raise the bound until no attack on the fractional pattern succeeds, or time ends.

    Returns the cost of the last pattern, the reduced costs, and the pattern, (n,).
    """
    while True:
        pattern, cost, reduced = master.relaxed(search.time)
        search.bound = max(search.bound, cost)
        cuts = _cuts(search, pattern, 1) if search.seconds_left > 0 else []
        if not cuts:
            return cost, reduced, pattern
        master.add(cuts)


def _cuts(search: SuppressionSearch, pattern: Floats, ways: int) -> list[ProtectionCut]:
    """Return the inequalities that attacks on a pattern make in some ways more, each once."""
    cuts, failures = {}, search.failures(pattern, search.time)
    random = np.random.default_rng(len(failures))
    for _ in range(ways if failures else 0):
        thick = _thickened(search.system, pattern, random)
        attack = PatternAttack(search.system, thick, search.time)
        for number, result in failures:
            need = search.needs.need(number)
            for prices in (result.prices, attack.attack(need).prices):
                cut = protection_cut(search.system, need, prices)
                if cut is not None and len(cut.cells) and cut.is_violated(pattern):
                    cuts[cut.key] = cut
    return list(cuts.values()) + bridgeless_cuts(search.system, pattern, search.time)


def _thickened(system: TableSystem, pattern: Floats, random: np.random.Generator) -> Floats:
    """Return a pattern with a little of every cell: prices of all equations then matter, and the
    inequality is a strong one among those that the pattern violates (Magnanti and Wong:
    Accelerating Benders decomposition, Operations Research 29(3), 1981)."""
    little = _THICKNESS * random.uniform(0.1, 1.0, system.size)
    return np.where(system.may_be_suppressed, np.minimum(pattern + little, 1.0), pattern)


_THICKNESS = 2e-3


def _search_integral(
    search: SuppressionSearch, master: PatternMaster, floor: float, reduced: Floats
) -> None:
    """Solve the programme in whole numbers until no attack on its pattern succeeds.

    A pattern with a cell costs at least that cell's reduced cost more than the fractional one: so
    few cells are open, those of small reduced costs, and more where the bound has come so far.
    """
    width, rounds = _first_width(search, floor, reduced), 0
    while search.seconds_left > 0 and not is_proven(search):
        width = min(width, search.cost - floor)
        pattern, cost = master.integral(reduced < width, search.seconds_left, search.cost)
        search.bound = max(search.bound, min(cost, floor + width, search.cost))
        cuts = [] if pattern is None else _cuts(search, pattern, _WAYS)
        if pattern is not None and (not cuts or rounds % _ROUNDS_BETWEEN_OFFERS == 0):
            search.offer(pattern > _ROUND_FROM)
        if cuts:
            master.add(cuts)
            floor, reduced, _ = _search_fractional(search, master)
        else:
            width = max(2 * width, _NEAR)
        rounds += 1


def _first_width(search: SuppressionSearch, floor: float, reduced: Floats) -> float:
    widest = np.partition(reduced, min(_FEW, len(reduced) - 1))[min(_FEW, len(reduced) - 1)]
    return float(max(widest, (search.cost - floor) / 16))


_FEW = 150
_WAYS = 3
_ROUNDS_BETWEEN_OFFERS = 4
