"""What a release would tell together with the earlier ones in a ledger, before it is made."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from policy_engine.api.binding import bind_plans, choose_product, permitted_makers
from policy_engine.api.inputs import InputOptions, Inputs
from policy_engine.api.releasing import with_ledger
from policy_engine.data.keys import Key
from policy_engine.engines.launching import launch_engine
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.policy import Source
from policy_engine.release.budget.ledger import BudgetLedger
from policy_engine.release.release import run_plan

if TYPE_CHECKING:
    from policy_engine.release.composition.figures import Composition


def look_back(
    policy: Source,
    data: Mapping[str, Any],
    *,
    ledger: str | Path,
    ledger_key: Key = None,
    key: Key = None,
    asset: str = "",
    **options: Unpack[InputOptions],
) -> "Composition | NotApplicable":
    """Return what a policy's output would tell of persons together with the earlier releases of
    them that a ledger has.

    Its classes are formed and measured in memory; nothing is written, neither in the ledger, which
    need not exist. `key`, `asset` and everything else are as for `apply_policy`. Not applicable
    where no rows are released, and where models are attacked, which would take too long. Raises a
    PolicyEngineError where the release cannot be made, or the ledger cannot be read.
    """
    inputs = Inputs(data, **options)
    making = inputs.making_request(policy, is_trial=True)
    product = choose_product(making.policy, asset)
    with launch_engine(inputs.engine) as launcher:
        [maker] = permitted_makers(making, [product], launcher, inputs)
        [bound] = bind_plans(making.policy, [product], launcher, inputs)
        bound = with_ledger(making, product, bound, maker, BudgetLedger(ledger, ledger_key))
        composing, plan = bound.composing, bound.plan
        if composing is None or plan.train is not None:
            return NotApplicable(reason="no rows are released")
        if plan.audits:
            return NotApplicable(reason="models of the table are attacked before it is released")
        if not composing.ledger.exists() or composing.unknown:
            return composing.look()
        engine = launcher.engine(bound.catalog, key=key)
        try:
            _, written = run_plan(plan, engine, composing=composing, upstream=bound.upstream)
            composing.measure(engine, written)
            return composing.look()
        finally:
            engine.close()
