"""What attacks on a table reach, and its risk, as it was written: whose row each is, the engine
knows."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from policy_engine.audits.disclosure.files import TwoFiles, known_columns
from policy_engine.audits.disclosure.settings import (
    DEFAULTS,
    MOST_PERSONS_UNNAMED,
    read_settings,
)
from policy_engine.audits.disclosure.simulation import simulations
from policy_engine.audits.utility.categories import Transitions
from policy_engine.engines.engine import Engine, Progress, WrittenTable, silent
from policy_engine.engines.identifiers import check_apart
from policy_engine.engines.written_tables import read_written
from policy_engine.errors import DataError
from policy_engine.kernels.estimates import Estimate, NotApplicable
from policy_engine.methods.audits.attribute_inference import AttributeInference
from policy_engine.methods.audits.population_risk import PopulationRisk
from policy_engine.methods.audits.record_linkage import DEFAULT_ATTACKS, RecordLinkage
from policy_engine.methods.disclosure import DisclosureMeasurement, Measured
from policy_engine.plan.plan import Plan
from policy_engine.plan.steps import DisclosureStep

if TYPE_CHECKING:
    import pyarrow as pa

    from policy_engine.audits.disclosure.result import Linkage
    from policy_engine.engines.masking.columns import ColumnJudgement


def measure_disclosures(
    plan: Plan,
    written: WrittenTable,
    judgements: Sequence["ColumnJudgement"],
    engine: Engine,
    progress: Progress = silent,
) -> Iterator[Measured]:
    """Yield what every attack of a plan reaches on a table as it was written, and its risk.

    `judgements` are those of its masked columns, whose matrices the certificate publishes. Raises
    DataError (V006) where nobody can tell whose row each is, (A024) where a population does not
    contain the table; CertificateError (R016) where pseudonyms join rows.
    """
    if not plan.disclosures:
        return
    if written.rows_before is None:
        message = "The policy bounds what an intruder finds, and the output does not show whose "
        raise DataError.of("V006", f"{message}row each is.", _HINT)
    released = read_written(written)
    check_apart(released, plan.require_anonymize().columns.pseudonymize)
    drawn = {
        one.masking.name: Transitions(one.categories, one.matrix)
        for one in judgements
        if one.matrix
    }
    for step in plan.disclosures:
        files = _two_files(step, plan, written.rows_before, released, engine, drawn)
        if isinstance(step.method, PopulationRisk):
            from policy_engine.audits.disclosure.risks import bounded  # noqa: PLC0415 (compiled)

            progress("counting classes", 0, 1)
            both = bounded.RiskTables(files, written.rows_before, released)
            yield from bounded.bounded_risks(step, step.method, plan, both, engine)
        elif isinstance(step.method, AttributeInference):
            from policy_engine.audits.disclosure.risks import (  # noqa: PLC0415 (compiled)
                bounded_inference,
            )

            progress("learning values", 0, 1)
            names = step.method.learned
            learned_columns = known_columns(
                written.rows_before, released, names, plan, engine.taxonomies
            )
            yield from bounded_inference.bounded_inference(step.method, files, learned_columns)
        else:
            yield from _measurements(step.method, files, progress)


_HINT = "Give the input as well, and the key if there was one: data={IRI: PATH}."


def _two_files(
    step: DisclosureStep,
    plan: Plan,
    before: "pa.Table",
    released: "pa.Table",
    engine: Engine,
    drawn: Mapping[str, Transitions],
) -> TwoFiles:
    names = [name for name in before.column_names if name in step.method.known]
    columns = known_columns(before, released, names, plan, engine.taxonomies)
    return TwoFiles(
        columns,
        np.arange(released.num_rows, dtype=np.int64),
        released.num_rows,
        is_published=True,
        drawn={name: one for name, one in drawn.items() if name in step.method.compared},
        again=simulations(columns, before, plan.mask, engine.taxonomies),
        fails_closed=True,
    )


def _measurements(
    method: RecordLinkage, files: TwoFiles, progress: Progress
) -> Iterator[DisclosureMeasurement]:
    """Yield one measurement for each attack: by the columns by which it reaches most."""
    from policy_engine.audits.disclosure.auditing import attack  # noqa: PLC0415 (compiled)

    reasons: dict[str, str] = {}
    if files.released > MOST_PERSONS_UNNAMED and method.attacks == DEFAULT_ATTACKS:
        reasons = dict.fromkeys(_SLOW, _TAKES_LONG)
    named = tuple(name for name in method.attacks if name not in reasons)
    results, not_run = attack(files, progress, read_settings(named, DEFAULTS.seconds))
    reasons |= {one.attack: one.reason for one in not_run}
    for name in method.attacks:
        attack_results = [one for one in results if one.attack == name]
        worst = max(attack_results, key=lambda one: one.linked.high, default=None)
        yield _measurement(method, name, worst, reasons.get(name, ""), files.released)


_SLOW = ("assignment-linkage",)
_TAKES_LONG = f"it takes long for more than {MOST_PERSONS_UNNAMED:,} rows, unless it is asked for "
_TAKES_LONG += "by name"


def _measurement(
    method: RecordLinkage, attack: str, worst: "Linkage | None", why: str, records: int
) -> DisclosureMeasurement:
    bound = method.bound
    reached: Estimate | NotApplicable = NotApplicable(reason=why)
    if worst is not None:
        reached = worst.linked.rounded(bound.decimals)
    return DisclosureMeasurement(
        attack=attack,
        bound=bound,
        known=worst.known if worst else (),
        records=records,
        baseline=round(1 / records, 9),
        reached=reached,
    )
