"""One plan with several settings: the cost and the risk of each, without writing a release."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, Unpack

from policy_engine.api.binding import bind_plans, choose_product, permitted_makers
from policy_engine.api.exploration import LossMeasure, Outcome, Run, with_losses
from policy_engine.api.inputs import InputOptions, Inputs
from policy_engine.api.trial_releases import TrialReleases, attacked_plan
from policy_engine.data.keys import Key, read_key
from policy_engine.engines.engine import Engine, Progress, silent
from policy_engine.engines.launching import check_limit, launch_engine
from policy_engine.engines.origins import with_origins
from policy_engine.errors import CertificateError, DataError, PlanError, PolicyEngineError
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.plan.lineage import Upstream
from policy_engine.plan.plan import Plan
from policy_engine.plan.varying import Setting, check_settings, part_of
from policy_engine.policy import Source
from policy_engine.release.release import read_inputs

DEFAULT_K = (2, 5, 10, 50, 100)
"""The values of k that are tried where nothing is said to vary."""
DEFAULT_DRAWS, MOST_DRAWS = 3, 1_000
_BOUND_CODES = {"R002", "R003", "R008", "R009"}
"""The codes of errors that another setting may avoid."""


def combine_settings(choices: Mapping[str, Sequence[float]]) -> tuple[Setting, ...]:
    """Return every combination of the values of parameters; those without values are left out."""
    varied = {name: values for name, values in choices.items() if values}
    return tuple(dict(zip(varied, values, strict=True)) for values in product(*varied.values()))


def explore(
    plan: Plan,
    engine: Engine,
    settings: Sequence[Setting],
    progress: Progress = silent,
    upstream: Sequence[Upstream] = (),
    *,
    attack: bool = False,
    draws: int = 1,
) -> tuple[Run, ...]:
    """Return the outcome of the plan's release for each setting, in the given order.

    The table is read once. A parameter is set in every model that has it. Releases are made so many
    times, in as many `draws`, and attacked, if that is asked for, if the policy bounds what attacks
    reach, or if the sample or a masking is varied. `upstream` gives the releases that the inputs
    are: one that was changed since is refused (V013). Raises PlanError if nothing has a parameter,
    or there is nothing to vary (M004), if a number is not allowed (M003), or nothing can be
    attacked (M009, M013); DataError if the table cannot be read, or is refused for the same reason
    with every setting.
    """
    is_attacked = is_attacking(plan, settings, attack=attack)
    _check(plan, settings, is_attacked=is_attacked)
    parts = {part_of(plan, name) for one in settings for name in one}
    explored = attacked_plan(plan) if is_attacked else plan.without_audits()
    table, sources = read_inputs(plan, engine, upstream)
    releases = TrialReleases(
        explored,
        engine,
        with_origins(table) if is_attacked else table,
        sources,
        asked=plan.disclosures,
        keeps_sample="sample" not in parts,
        # The rows that are suppressed depend on the setting, and are not masked with the others.
        keeps_maskings=not {"sample", "masking"} & parts and not plan.most_suppressed,
    )
    draws = draws if is_attacked else 1
    runs, refusals = [], []
    for place, setting in enumerate(settings):
        first, total = place * draws, len(settings) * draws

        def tell(number: int, first: int = first, total: int = total) -> None:
            progress("exploring", first + number, total)

        try:
            outcome: Outcome | NotApplicable = releases.outcome(setting, draws, tell)
        except (PlanError, DataError, CertificateError) as error:
            outcome = NotApplicable(reason=_reason(error))
            refusals.append(error)
        runs.append(Run(setting=setting, outcome=outcome))
    if len(refusals) == len(runs):
        _check_varied(refusals)
    return with_losses(runs, _measures(plan, parts)) if is_attacked else tuple(runs)


def is_attacking(plan: Plan, settings: Sequence[Setting], *, attack: bool = False) -> bool:
    """Tell whether releases are attacked when such settings are explored."""
    names = {name for one in settings for name in one}
    is_drawn = any(part_of(plan, name) in ("sample", "masking") for name in names)
    return attack or bool(plan.disclosures) or is_drawn


def _measures(plan: Plan, parts: set[Any]) -> tuple[LossMeasure, ...]:
    """Return the measures of loss that tell settings apart, the best one first."""
    if parts == {"masking"}:
        return ("il1s", "probabilistic", "query_error")
    if parts <= {"classes"} and plan.require_anonymize().models:
        return ("global_certainty_penalty", "query_error")
    return ("query_error",)


def _check(plan: Plan, settings: Sequence[Setting], *, is_attacked: bool) -> None:
    """Raise PlanError for what cannot be varied, or attacked where it is."""
    step = plan.require_anonymize()
    if step.is_in_buckets:
        message = "A release by buckets has no classes whose cost could be explored."
        raise PlanError.of("M004", message, "Explore another algorithm.")
    if not any(settings) and not step.models and not is_attacked:
        message = "masking alone bounds nothing: there is no setting to explore."
        hint = "Vary a parameter of a masking or the sample, as in --vary COLUMN:p=.02,.05."
        raise PlanError.of("M004", message, hint)
    check_settings(plan, settings)
    if is_attacked and plan.engine != "local":
        message = f"The {plan.engine} engine has no attacks on tables: which released row is whose "
        message += "is known where one process has all of them."
        raise PlanError.of("M009", message, "Explore it with the local engine.")


def _check_varied(refusals: Sequence[PolicyEngineError]) -> None:
    """Raise the reason that refuses the table with every setting, if it depends on none of them.

    Reasons that depend on a setting name it, and differ for another one.
    """
    is_same = len({one.problems for one in refusals}) == 1
    if not is_same or not isinstance(refusals[0], DataError):
        return
    if len(refusals) > 1 or not {one.code for one in refusals[0].problems} & _BOUND_CODES:
        raise refusals[0]


def _reason(error: PolicyEngineError) -> str:
    return " ".join(problem.message for problem in error.problems)


def explore_policy(
    policy: Source,
    data: Mapping[str, Any],
    choices: Mapping[str, Sequence[float]] | None = None,
    *,
    key: Key = None,
    attack: bool = False,
    draws: int | None = None,
    progress: Progress = silent,
    time_limit: float | None = None,
    asset: str = "",
    **options: Unpack[InputOptions],
) -> tuple[Run, ...]:
    """Return the outcome of a policy's release for every combination of `choices`.

    `choices` has values by parameter, as in {"k": (2, 5, 10), "l": (2, 3)}, by default some of k;
    everything else is as for `apply_policy`, with a `time_limit` for each combination. Besides
    those of privacy models, parameters are those of the sample, and of maskings: {"age:p": (0.02,
    0.05)} of one column, {"p": (0.02, 0.05)} of all that have it. Releases are then attacked, and
    also if `attack` asks for it or the policy bounds what attacks reach: as the policy says, or
    else by attacks that take little time. Where something is drawn, each combination is so in
    several `draws`, by default 3, each by a fresh key, or in one by a given `key`. The cheapest
    setting that keeps the policy's bounds in every draw is marked. Nothing is written. Raises
    PlanError if nothing has a parameter (M004), or a number is not allowed (M003), also of draws;
    and as `explore` does.
    """
    inputs = Inputs(data, **options)
    making = inputs.making_request(policy)
    check_limit(time_limit, inputs.engine)
    with launch_engine(inputs.engine) as launcher:
        product = [choose_product(making.policy, asset)]
        permitted_makers(making, product, launcher, inputs)
        [bound] = bind_plans(making.policy, product, launcher, inputs)
        run = launcher.engine(bound.catalog, progress, key, time_limit)
        try:
            settings = combine_settings(_default(bound.plan) if choices is None else choices)
            return explore(
                bound.plan,
                run,
                settings,
                progress,
                bound.upstream,
                attack=attack,
                draws=_draws(bound.plan, draws, has_key=read_key(key) is not None),
            )
        finally:
            run.close()


def _default(plan: Plan) -> Mapping[str, Sequence[float]]:
    """Return what is varied where nothing is said to be."""
    return {"k": DEFAULT_K} if plan.require_anonymize().models else {}


def _draws(plan: Plan, draws: int | None, *, has_key: bool) -> int:
    """Return in how many draws each setting is tried. Raises PlanError (M003) for another number
    than there can be."""
    is_drawn = bool(plan.sample or (plan.mask and plan.mask.groups))
    if draws is None:
        return DEFAULT_DRAWS if is_drawn and not has_key else 1
    if not 1 <= draws <= MOST_DRAWS:
        message = f"draws is not allowed to be {draws!r}."
        raise PlanError.of("M003", message, f"Allowed is an integer from 1 to {MOST_DRAWS:,}.")
    if draws > 1 and has_key:
        message = f"draws is {draws}, and a key is given: by one key every draw is the same."
        raise PlanError.of("M003", message, "Leave out the draws, or the key.")
    return draws
