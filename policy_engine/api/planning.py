"""Checks, plans and estimates what a policy asks for, before anything is made."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from policy_engine.api.acting import read_making_policy
from policy_engine.api.binding import all_products, bind_plans, choose_product, make_plans
from policy_engine.api.deciding import ProofSource
from policy_engine.api.inputs import InputOptions, Inputs
from policy_engine.engines.launching import launch_engine
from policy_engine.errors import DataError
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.plan.effort import effort_of
from policy_engine.plan.making import plan_of
from policy_engine.plan.plan import Plan
from policy_engine.plan.products import check_plannable, only_checks
from policy_engine.policy import Policy, Reading, ReadingOptions, Source, load_policy

if TYPE_CHECKING:
    from policy_engine.audits.disclosure.unique_rows import UniqueRows
    from policy_engine.plan.effort import Effort
    from policy_engine.plan.output_checks import RuleCheck
    from policy_engine.release.cost import Cost
    from policy_engine.release.left_out_rows import LeftOutRows


def check_policy(source: Source, **reading: Unpack[ReadingOptions]) -> Policy:
    """Return a policy after reading it and, if it asks for something to be made, planning it."""
    policy = load_policy(source, **reading)
    check_plannable(policy)
    return policy


def plan_checks(policy: Source, **reading: Unpack[ReadingOptions]) -> "tuple[RuleCheck, ...]":
    """Return what a policy lets be read once it has passed a check, if nothing is made by it."""
    return only_checks(read_making_policy(policy, Reading(**reading)))


def plan_policy(
    policy: Source,
    data: Mapping[str, Any] | None = None,
    *,
    asset: str = "",
    **options: Unpack[InputOptions],
) -> Plan:
    """Return the plan of a policy, bound to data if there is any.

    If there are several outputs, `asset` selects one by its IRI or short name; `plan_all` plans
    all. `owners` are as for `apply_policy`, and so is a `party` with everything that decides
    whether they may make it; nothing is added to the `log`, since nothing is made.
    """
    inputs = Inputs(data, **options)
    making = inputs.making_request(policy, is_trial=True)
    [planned_output] = make_plans(making, [choose_product(making.policy, asset)], inputs)
    return planned_output


def plan_all(
    policy: Source,
    data: Mapping[str, Any] | None = None,
    **options: Unpack[InputOptions],
) -> tuple[Plan, ...]:
    """Return the plan of each output that a policy asks for, as `plan_policy` does."""
    inputs = Inputs(data, **options)
    making = inputs.making_request(policy, is_trial=True)
    return make_plans(making, all_products(making.policy), inputs)


def estimate_policy(
    policy: Source,
    data: Mapping[str, Any],
    *,
    taxonomies: Mapping[str, Any] | None = None,
    certificates: Sequence[ProofSource] = (),
    asset: str = "",
    **reading: Unpack[ReadingOptions],
) -> "Cost | NotApplicable":
    """Return the cost of a policy's audits on this machine, calibrated on a few of the records.

    `certificates` and `asset` are as for `apply_policy`.
    """
    from policy_engine.release.cost import estimate  # noqa: PLC0415 (slow to import)

    source_policy = read_making_policy(policy, Reading(**reading))
    with launch_engine("local") as launcher:
        product = [choose_product(source_policy, asset)]
        inputs = Inputs(data, taxonomies=taxonomies, certificates=certificates)
        [bound] = bind_plans(source_policy, product, launcher, inputs)
        plan = bound.plan
        if not plan.audits:
            return NotApplicable(reason="the policy asks for no audit")
        run = launcher.engine(bound.catalog)
        table, _ = run.read(plan.read)
        return estimate(plan, run, table)


def count_unique_rows(
    policy: Source,
    data: Mapping[str, Any],
    *,
    taxonomies: Mapping[str, Any] | None = None,
    certificates: Sequence[ProofSource] = (),
    asset: str = "",
    **reading: Unpack[ReadingOptions],
) -> "UniqueRows | NotApplicable":
    """Return how many rows of the data are unique on what a policy would keep exact, and on its
    quasi-identifiers before they are generalised.

    Rows are counted as they are read, before any is sampled, masked or suppressed. Not applicable
    where no rows are released, or the data cannot be read. `certificates` and `asset` are as for
    `apply_policy`.
    """
    from policy_engine.release.unique_inputs import count_before  # noqa: PLC0415 (slow to import)

    source_policy = read_making_policy(policy, Reading(**reading))
    with launch_engine("local") as launcher:
        product = [choose_product(source_policy, asset)]
        inputs = Inputs(data, taxonomies=taxonomies, certificates=certificates)
        [bound] = bind_plans(source_policy, product, launcher, inputs)
        try:
            return count_before(bound.plan, launcher.engine(bound.catalog))
        except DataError as error:
            return NotApplicable(reason=error.problems[0].message)


def count_left_out_rows(
    policy: Source,
    data: Mapping[str, Any],
    *,
    taxonomies: Mapping[str, Any] | None = None,
    certificates: Sequence[ProofSource] = (),
    asset: str = "",
    **reading: Unpack[ReadingOptions],
) -> "LeftOutRows | NotApplicable":
    """Return how many rows a policy with `pe:maxSuppression` would leave out of Mondrian's classes,
    and how much less the others would lose. It is for the owner of the data alone.

    The classes are formed as for a release, which takes as long. Not applicable where the policy
    leaves no outlying rows out, or the data cannot be read or generalised as asked.
    `certificates` and `asset` are as for `apply_policy`.
    """
    from policy_engine.release.left_out_rows import count_left_out  # noqa: PLC0415 (slow to import)

    source_policy = read_making_policy(policy, Reading(**reading))
    with launch_engine("local") as launcher:
        product = [choose_product(source_policy, asset)]
        inputs = Inputs(data, taxonomies=taxonomies, certificates=certificates)
        [bound] = bind_plans(source_policy, product, launcher, inputs)
        try:
            return count_left_out(bound.plan, launcher.engine(bound.catalog))
        except DataError as error:
            return NotApplicable(reason=error.problems[0].message)


def estimate_search(
    policy: Source,
    data: Mapping[str, Any] | None = None,
    *,
    taxonomies: Mapping[str, Any] | None = None,
    asset: str = "",
    **reading: Unpack[ReadingOptions],
) -> "Effort | NotApplicable":
    """Return the size of the search for a policy's classes, as far as known without reading data.

    `asset` is as for `apply_policy`.
    """
    source_policy = read_making_policy(policy, Reading(**reading))
    with launch_engine("local") as launcher:
        product = choose_product(source_policy, asset)
        catalog = launcher.catalog(source_policy, [product], data, taxonomies) if data else None
        # For features of any engine: if one lacks a feature, planning for that engine says so.
        effort = effort_of(plan_of(source_policy, product, catalog), catalog)
    return effort or NotApplicable(reason="nothing is generalised")
