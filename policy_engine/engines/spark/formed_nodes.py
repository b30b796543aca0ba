"""How the classes of coded rows are formed: the first cuts, and the tasks that make the others."""

from dataclasses import dataclass

from pyspark.sql import DataFrame

from policy_engine.engines.care_levels import CareLevel, can_merge, care_levels
from policy_engine.engines.preparation import Overview, check_feasible
from policy_engine.engines.spark.cell_ends import with_end_columns
from policy_engine.engines.spark.classes import ClassFormation
from policy_engine.engines.spark.coded_frames import ClassWork, CodedFrame
from policy_engine.engines.spark.measuring import measure
from policy_engine.engines.spark.nodes import RowNodes, first_cuts, make_ask
from policy_engine.kernels.coarse import coarsen
from policy_engine.kernels.layout import prepare
from policy_engine.plan.joint import EARLIER, planned_step
from policy_engine.plan.steps import Anonymize, Publish


@dataclass(frozen=True)
class FormedNodes:
    """The nodes into which the rows of a table are cut first, and how they become classes, in
    `tasks` tasks."""

    table: CodedFrame
    nodes: RowNodes
    formation: ClassFormation
    tasks: int
    approximated: tuple[str, ...]

    def frame(self) -> DataFrame:
        """Return the rows of the release."""
        return self.formation.output_frame(self.table.frame, self.nodes, self.tasks)

    def moved(self) -> DataFrame:
        """Return the coded rows, each in the task that forms its class."""
        return self.formation.moved(self.table.frame, self.nodes, self.tasks)


def _form_nodes(
    table: CodedFrame, output: Publish, overview: Overview, care: CareLevel
) -> FormedNodes:
    """Return how classes are formed at a level of care."""
    step, work = table.step, table.work
    cutting, constraint = care.cutting(step), table.constraint(overview.ancestries)
    constraint = constraint._replace(size=care.least(step.k, table.rows))
    axes, overall = table.axes(), tuple(h.overall for h in overview.histograms.values())
    if EARLIER in table.sensitive:
        whole = RowNodes(rows={0: table.rows})
        formation = table.formation(output, overview, care)
        return FormedNodes(table, whole, formation, table.tasks, ())
    people, parts = table.no_rows(overall), table.parts(axes)
    axes_from_afar = [
        coarsen(axis, parts[dim]) if dim in parts else axis for dim, axis in enumerate(axes)
    ]
    nodes = first_cuts(
        make_ask(table.frame, table.coding.codes, parts),
        prepare(axes_from_afar, people, constraint, cutting),
        table.root(parts),
        table.limit,
        lambda settled: work.progress("cutting", settled, table.rows),
        parts,
    )
    tasks = min(table.tasks, len(nodes.rows))
    formation = table.formation(output, overview, care)
    coarse_columns = {step.columns.quasi_names[dim] for dim in parts} | set(table.coding.wide)
    approximated = tuple(sorted(coarse_columns)) if len(nodes.rows) > 1 else ()
    return FormedNodes(table, nodes, formation, tasks, approximated)


def careful_formation(table: CodedFrame, output: Publish) -> FormedNodes:
    """Return how the classes of a table are formed with as much care as they need. Raises the
    errors of `check_feasible`."""
    step, overview = table.step, table.overview()
    check_feasible(overview, step)
    for care in care_levels(step):
        formed = _form_nodes(table, output, overview, care)
        is_safe = not can_merge(step, output.cells, care)
        if is_safe or keeps_bounds(formed.frame(), formed.tasks, step, output, table.work):
            break
    return formed


def keeps_bounds(
    frame: DataFrame, tasks: int, step: Anonymize, output: Publish, work: ClassWork
) -> bool:
    """Tell whether the published classes, with equal cells merged, satisfy every bound."""
    if output.cells == "bounds":
        frame = with_end_columns(frame, step.columns.quasi_names)
    measured = measure(frame, planned_step(step), work.taxonomies, work.most_values, tasks)
    return all(measurement.holds for measurement in measured.measurements)
