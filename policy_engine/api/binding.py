"""Plans of what a policy has made, bound to data, with the releases that these are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from policy_engine.api.acting import MakingRequest
from policy_engine.api.inputs import Inputs
from policy_engine.certificate.beside import certificate_beside
from policy_engine.certificate.certificate import Certificate, read_certificate
from policy_engine.certificate.sources import Word, asset_of, upstream_of
from policy_engine.data.catalog import MEMORY, TABLE, Catalog, find_taxonomies, parse_location
from policy_engine.data.storage import Place
from policy_engine.engines.launching import Launcher, launched
from policy_engine.plan.lineage import MadeBy, Upstream
from policy_engine.plan.plan import EngineName, Plan, plan_of
from policy_engine.plan.products import Product, chosen, products
from policy_engine.plan.steps import CellStyle
from policy_engine.policy import Policy
from policy_engine.policy.datasets import named_data
from policy_engine.policy.naming import Names

if TYPE_CHECKING:
    pass


@dataclass(frozen=True)
class Planned:
    """A plan for data, where these lie, and the certified release that they are, if any."""

    catalog: Catalog
    plan: Plan
    upstream: tuple[Upstream, ...]


def product_of(policy: Policy, asset: str = "") -> Product:
    """Return one of the outputs that a policy has made, by its IRI or its short name.

    Raises as `chosen` does.
    """
    return chosen(policy, full_name(policy, asset))


def full_name(policy: Policy, asset: str) -> str:
    """Return the IRI of what a policy makes, given by its IRI or its short name; "" is itself."""
    return Names([policy]).full(asset, "target") if asset else ""


def all_products(policy: Policy) -> tuple[Product, ...]:
    """Return the outputs that a policy has made. Raises as `chosen` where there is none."""
    return products(policy) or (chosen(policy),)


def plans(
    found: MakingRequest,
    products: Sequence[Product],
    inputs: Inputs,
) -> tuple[Plan, ...]:
    """Return the plans of some outputs of a policy, bound to data where there is any.

    Once all are permitted to whoever acts.
    """
    if not inputs.data:
        found.made_by(inputs.proofs, products)
        name: EngineName = "local" if inputs.engine == "local" else "spark"
        made = (plan_of(found.policy, one, engine=name) for one in products)
        return tuple(map(found.with_consents, made))
    with launched(inputs.engine) as launcher:
        made_by(found, products, launcher, inputs)
        bound = planned(found.policy, products, launcher, inputs)
        return tuple(found.with_consents(one.plan) for one in bound)


def planned(
    policy: Policy,
    products: Sequence[Product],
    launcher: Launcher,
    given: Inputs,
    cells: CellStyle = "text",
) -> tuple[Planned, ...]:
    """Return the plans that make some outputs of a policy of data, in their order.

    Raises as `plan_of` and `upstream_of`.
    """
    catalog = launcher.catalog(policy, products, given.data or {}, given.taxonomies)
    bound = [plan_of(policy, one, catalog, launcher.name, cells) for one in products]
    inputs = {step.asset for plan in bound for step in plan.reads}
    made = []
    for product, plan in zip(products, bound, strict=True):
        others = inputs - {step.asset for step in plan.reads}
        found = _upstream(plan, launcher, _of_others(given.proofs, others))
        if found:
            plan = plan_of(policy, product, catalog, launcher.name, cells, found)  # noqa: PLW2901
        known = understood(catalog, policy, plan, given.taxonomies) if found else catalog
        made.append(Planned(known, plan, found))
    return tuple(made)


def understood(
    catalog: Catalog, policy: Policy, plan: Plan, taxonomies: Mapping[str, Any] | None
) -> Catalog:
    """Return a catalog with the taxonomies by which what a model learns from was generalised.

    Raises DataError (C012) where one is neither given nor beside the policy.
    """
    names = tuple(dict.fromkeys(one.taxonomy for one in plan.cells_learnt if one.taxonomy))
    folder = Path(policy.source).parent if policy.source else None
    found = find_taxonomies(names, taxonomies or {}, folder)
    known = replace(catalog, taxonomies={**found, **catalog.taxonomies})
    known.taxonomy_digests(names)
    return known


def made_by(
    found: MakingRequest,
    products: Sequence[Product],
    launcher: Launcher,
    inputs: Inputs,
) -> tuple[MadeBy, ...]:
    """Return who makes each of some outputs of a policy, once all are permitted.

    By the certificates that are given, and those that lie beside the data and speak of them.
    """
    known = [*inputs.proofs]
    for given in (
        named_data(inputs.data or {}, [found.policy]).values() if found.acting.party else ()
    ):
        if isinstance(given, str | Path):
            lying = certificate_of(launcher, parse_location(given))
            known += [lying] if lying else []
    return found.made_by(known, products)


def certificate_of(launcher: Launcher, output: Place) -> Certificate | None:
    """Return the certificate that an output was published with, if there is one.

    That of a table is among its properties. Raises CertificateError: V005 where that is none, V015
    where several name the output.
    """
    if not (launcher.spark and str(output).startswith(TABLE)):
        found = certificate_beside(output)
        return found[1] if found else None
    text = launcher.spark.certificate_text(str(output))
    return None if text is None else read_certificate(text, str(output))


def _upstream(plan: Plan, launcher: Launcher, held: Sequence[Word]) -> tuple[Upstream, ...]:
    """Return the certified releases that the inputs of a plan are, as far as they are such."""
    return upstream_of(
        plan.reads,
        held,
        lambda place: None if place == MEMORY else certificate_of(launcher, parse_location(place)),
    )


def _of_others(held: Sequence[Word], others: set[str]) -> list[Word]:
    """Return what vouches for an input, or for nothing that is read: not for others' inputs."""
    return [one for one in held if asset_of(one) not in others]
