"""Plans for a policy's outputs, bound to data, with the releases that this data is."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from policy_engine.api.acting import MakingRequest
from policy_engine.api.inputs import Inputs
from policy_engine.certificate.beside import check_readable, find_certificate
from policy_engine.certificate.certificate import Certificate, read_certificate
from policy_engine.certificate.sources import Proof, proof_asset, upstream_releases
from policy_engine.data.catalog import MEMORY, TABLE, Catalog, find_taxonomies, parse_location
from policy_engine.data.places.database_outputs import place_certificate
from policy_engine.data.places.spelling import is_output_database, is_place
from policy_engine.data.storage import Location
from policy_engine.engines.launching import Launcher, launch_engine
from policy_engine.errors import CertificateError, Problem
from policy_engine.plan.lineage import MadeBy, Upstream
from policy_engine.plan.making import plan_of
from policy_engine.plan.plan import EngineName, Plan
from policy_engine.plan.products import Product, chosen, products
from policy_engine.plan.steps import CellStyle
from policy_engine.policy import Policy
from policy_engine.policy.datasets import named_data
from policy_engine.policy.naming import Names
from policy_engine.release.budget.charging import LedgerCharging, Listing
from policy_engine.trust.trust_file import Trust, load_trust

if TYPE_CHECKING:
    from policy_engine.release.composition.composing import Composing


@dataclass(frozen=True)
class BoundPlan:
    """A plan for data, the location of the data, and the certified release that it is, if any.

    `charging` is what charges what the plan draws, or lists what it releases without, `composing`
    what looks at the release together with earlier ones; None without a ledger.
    """

    catalog: Catalog
    plan: Plan
    upstream: tuple[Upstream, ...]
    charging: LedgerCharging | Listing | None = None
    composing: "Composing | None" = None


def choose_product(policy: Policy, asset: str = "") -> Product:
    """Return one of a policy's outputs, by its IRI or its short name.

    Raises as `chosen` does.
    """
    return chosen(policy, full_name(policy, asset))


def full_name(policy: Policy, asset: str) -> str:
    """Return the IRI of a policy's output, given by its IRI or its short name; "" stays ""."""
    return Names([policy]).full(asset, "target") if asset else ""


def all_products(policy: Policy) -> tuple[Product, ...]:
    """Return a policy's outputs. Raises as `chosen` does if there are none."""
    return products(policy) or (chosen(policy),)


def make_plans(
    making: MakingRequest,
    products: Sequence[Product],
    inputs: Inputs,
) -> tuple[Plan, ...]:
    """Return the plans for some outputs of a policy, bound to data if there is any.

    All outputs must first be permitted to the acting party.
    """
    if not inputs.data:
        making.makers(inputs.proofs, products)
        name: EngineName = "local" if inputs.engine == "local" else "spark"
        unbound = (plan_of(making.policy, one, engine=name) for one in products)
        return tuple(map(making.with_consents, unbound))
    with launch_engine(inputs.engine) as launcher:
        permitted_makers(making, products, launcher, inputs)
        bound = bind_plans(making.policy, products, launcher, inputs)
        return tuple(making.with_consents(one.plan) for one in bound)


def bind_plans(
    policy: Policy,
    products: Sequence[Product],
    launcher: Launcher,
    inputs_given: Inputs,
    cells: CellStyle = "text",
) -> tuple[BoundPlan, ...]:
    """Return the plans that make some outputs of a policy from data, in order.

    Raises as `plan_of` and `upstream_releases` do.
    """
    catalog = launcher.catalog(policy, products, inputs_given.data or {}, inputs_given.taxonomies)
    plans = [plan_of(policy, one, catalog, launcher.name, cells) for one in products]
    inputs = {step.asset for plan in plans for step in plan.reads}
    proofs = inputs_given.with_proofs(_database_proofs(inputs_given.data or {}, launcher))
    bound_plans = []
    for product, plan in zip(products, plans, strict=True):
        other_inputs = inputs - {step.asset for step in plan.reads}
        upstream = _upstream(plan, launcher, _relevant_proofs(proofs, other_inputs), inputs_given)
        if upstream:
            plan = plan_of(policy, product, catalog, launcher.name, cells, upstream)  # noqa: PLW2901
        full_catalog = (
            add_learnt_taxonomies(catalog, policy, plan, inputs_given.taxonomies)
            if upstream
            else catalog
        )
        bound_plans.append(BoundPlan(full_catalog, plan, upstream))
    return tuple(bound_plans)


def add_learnt_taxonomies(
    catalog: Catalog, policy: Policy, plan: Plan, taxonomies: Mapping[str, Any] | None
) -> Catalog:
    """Return a catalog with the taxonomies that generalised a model's training data.

    Raises DataError (C012) if one is neither given nor beside the policy.
    """
    names = tuple(dict.fromkeys(one.taxonomy for one in plan.cells_learnt if one.taxonomy))
    folder = Path(policy.source).parent if policy.source else None
    taxonomy_files = find_taxonomies(names, taxonomies or {}, folder)
    extended = replace(catalog, taxonomies={**taxonomy_files, **catalog.taxonomies})
    extended.taxonomy_digests(names)
    return extended


def permitted_makers(
    making: MakingRequest,
    products: Sequence[Product],
    launcher: Launcher,
    inputs: Inputs,
) -> tuple[MadeBy, ...]:
    """Return who makes each of some outputs, after checking that all are permitted.

    Uses the given certificates, and those beside the data that are for it: whether a party is asked
    about or not, all of them have to count.
    """
    data = named_data(inputs.data or {}, [making.policy])
    return making.makers(inputs.with_proofs(adjacent_proofs(data, launcher)), products)


def adjacent_proofs(data: Mapping[str, Any], launcher: Launcher) -> Iterator[Certificate]:
    """Yield the certificates with which data were published, of those that are files, or tables in
    files of databases."""
    for location in data.values():
        is_known = launcher.spark or not is_place(location) or is_output_database(location)
        if isinstance(location, str | Path) and is_known:
            adjacent = published_certificate(launcher, parse_location(location))
            if adjacent is not None:
                yield adjacent


def published_certificate(launcher: Launcher, output: Location) -> Certificate | None:
    """Return the certificate with which an output was published, if there is one.

    That of a table is one of its properties. Raises CertificateError: V005 if it is not valid, V015
    if several name the output.
    """
    if is_output_database(output):
        stored_text = place_certificate(output)
        return None if stored_text is None else read_certificate(stored_text, output)
    if not (launcher.spark and str(output).startswith(TABLE)):
        adjacent = find_certificate(output)
        if adjacent is None:
            check_readable(output)
        return adjacent[1] if adjacent else None
    text = launcher.spark.certificate_text(str(output))
    return None if text is None else read_certificate(text, str(output))


def _database_proofs(data: Mapping[str, Any], launcher: Launcher) -> Iterator[Certificate]:
    """Yield the certificates of data that are tables of databases: read, they are in memory."""
    for location in data.values():
        if is_output_database(location):
            proof = published_certificate(launcher, location)
            yield from [proof] if proof else []


def _upstream(
    plan: Plan, launcher: Launcher, proofs: Sequence[Proof], inputs: Inputs
) -> tuple[Upstream, ...]:
    """Return the certified releases that the inputs of a plan are, as far as they are."""

    def find_beside(location: str) -> Certificate | None:
        if location == MEMORY:
            return None
        adjacent = published_certificate(launcher, parse_location(location))
        if adjacent is not None:
            inputs.with_proofs([adjacent])  # which raises where it does not count
        return adjacent

    upstream = upstream_releases(plan.reads, proofs, find_beside)
    if inputs.trust is not None:
        _check_certified(plan, upstream, load_trust(inputs.trust))
    return upstream


def _check_certified(plan: Plan, upstream: Sequence[Upstream], trust: Trust) -> None:
    """Raise CertificateError (V013) for inputs that a trust file names as outputs, and that have no
    certificate: whoever can write there would make plain data of a release by removing it."""
    certified = {one.asset for one in upstream}
    problems = [
        Problem(
            "V013",
            f"The trust file names {one.asset!r} as an output, and no certificate is for it.",
            "Give the release with its certificate beside it, or that as a certificate.",
        )
        for one in plan.reads
        if one.asset not in certified and trust.names_output(one.asset)
    ]
    if problems:
        raise CertificateError(*problems)


def _relevant_proofs(proofs: Sequence[Proof], others: set[str]) -> list[Proof]:
    """Return the proofs of an input, or of nothing that is read: not those of other inputs."""
    return [one for one in proofs if proof_asset(one) not in others]
