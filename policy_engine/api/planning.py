"""What a policy asks for, checked, planned and estimated, before anything is made."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from policy_engine.api.acting import Acting, asked_by, asking_in
from policy_engine.api.binding import (
    Given,
    all_products,
    planned,
    plans,
    product_of,
)
from policy_engine.api.deciding import (
    Proof,
    proofs,
)
from policy_engine.decision import World
from policy_engine.engines.launching import launched
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.plan.plan import EngineName, Plan, plan_of
from policy_engine.plan.training import check_plannable
from policy_engine.policy import (
    USUAL,
    Limits,
    Policy,
    Reading,
    Source,
    VocabularySource,
    load_policy,
)
from policy_engine.policy.owners import OwnersSource

if TYPE_CHECKING:
    from policy_engine.engines.spark.engine import SparkEngine
    from policy_engine.plan.effort import Effort
    from policy_engine.release.trained_model import Cost


def check_policy(
    source: Source,
    contexts: Mapping[str, Any] | None = None,
    parents: Sequence[Source] = (),
    limits: Limits = USUAL,
    vocabularies: Sequence[VocabularySource] = (),
) -> Policy:
    """Return a policy that can be read and, where it asks for something of data, planned."""
    policy = load_policy(source, contexts, parents, limits, vocabularies)
    check_plannable(policy)
    return policy


def plan_policy(
    policy: Source,
    data: Mapping[str, Any] | None = None,
    contexts: Mapping[str, Any] | None = None,
    taxonomies: Mapping[str, Any] | None = None,
    engine: "EngineName | SparkEngine" = "local",
    parents: Sequence[Source] = (),
    limits: Limits = USUAL,
    vocabularies: Sequence[VocabularySource] = (),
    owners: OwnersSource | None = None,
    certificates: Sequence[Proof] = (),
    party: str | None = None,
    purpose: str = "",
    policies: Sequence[Source] = (),
    world: World | None = None,
    log: str | Path | None = None,
    log_key: str | Path | bytes | None = None,
    asset: str = "",
) -> Plan:
    """Return what would be done; bound to data where there is any.

    Of several outputs for the `asset`, by its IRI or short name; `plan_all` plans all. `owners`
    are as for `apply_policy`, and so is a `party` with all by which it is decided whether they may
    make it; to the `log` nothing is added, for nothing is made.
    """
    acting = Acting(party, purpose, policies, world, log, log_key, is_trial=True)
    reading, held = Reading(contexts, parents, limits, vocabularies), proofs(certificates)
    found = asked_by(policy, reading, owners, data, acting)
    [made] = plans(found, [product_of(found.policy, asset)], Given(data, taxonomies, held), engine)
    return made


def plan_all(
    policy: Source,
    data: Mapping[str, Any] | None = None,
    contexts: Mapping[str, Any] | None = None,
    taxonomies: Mapping[str, Any] | None = None,
    engine: "EngineName | SparkEngine" = "local",
    parents: Sequence[Source] = (),
    limits: Limits = USUAL,
    vocabularies: Sequence[VocabularySource] = (),
    owners: OwnersSource | None = None,
    certificates: Sequence[Proof] = (),
    party: str | None = None,
    purpose: str = "",
    policies: Sequence[Source] = (),
    world: World | None = None,
    log: str | Path | None = None,
    log_key: str | Path | bytes | None = None,
) -> tuple[Plan, ...]:
    """Return what would be done for each output that a policy asks for, as `plan_policy` does."""
    acting = Acting(party, purpose, policies, world, log, log_key, is_trial=True)
    reading, held = Reading(contexts, parents, limits, vocabularies), proofs(certificates)
    found = asked_by(policy, reading, owners, data, acting)
    return plans(found, all_products(found.policy), Given(data, taxonomies, held), engine)


def estimate_policy(
    policy: Source,
    data: Mapping[str, Any],
    contexts: Mapping[str, Any] | None = None,
    taxonomies: Mapping[str, Any] | None = None,
    parents: Sequence[Source] = (),
    limits: Limits = USUAL,
    vocabularies: Sequence[VocabularySource] = (),
    certificates: Sequence[Proof] = (),
    asset: str = "",
) -> "Cost | NotApplicable":
    """Return what the audits of a policy would cost here, calibrated on a few of the records.

    `certificates` and `asset` are as for `apply_policy`.
    """
    from policy_engine.release.trained_model import estimate  # noqa: PLC0415 (slow to import)

    read = asking_in(policy, Reading(contexts, parents, limits, vocabularies))
    with launched("local") as launcher:
        product = [product_of(read, asset)]
        [bound] = planned(read, product, launcher, data, taxonomies, proofs(certificates))
        plan = bound.plan
        if not plan.audits:
            return NotApplicable(reason="the policy asks for no audit")
        run = launcher.engine(bound.catalog)
        table, _ = run.read(plan.read)
        return estimate(plan, run, table)


def estimate_search(
    policy: Source,
    data: Mapping[str, Any] | None = None,
    contexts: Mapping[str, Any] | None = None,
    taxonomies: Mapping[str, Any] | None = None,
    parents: Sequence[Source] = (),
    limits: Limits = USUAL,
    vocabularies: Sequence[VocabularySource] = (),
    asset: str = "",
) -> "Effort | NotApplicable":
    """Return how large the search for a policy's classes is, as far as can be told unread.

    `asset` is as for `apply_policy`.
    """
    from policy_engine.plan.effort import effort_of  # noqa: PLC0415 (only where it is asked for)

    read = asking_in(policy, Reading(contexts, parents, limits, vocabularies))
    with launched("local") as launcher:
        product = product_of(read, asset)
        catalog = launcher.catalog(read, [product], data, taxonomies) if data else None
        # Of what another engine would do too: what it does not have is told by its own plan.
        found = effort_of(plan_of(read, product, catalog), catalog)
    return found or NotApplicable(reason="nothing is generalised")
