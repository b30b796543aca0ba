"""What an audit can be asked for: its parameters, each with what it may be and its default."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from policy_engine import terms
from policy_engine.methods import describe_allowed, parameters
from policy_engine.methods.audits.attribute_inference import AttributeInference
from policy_engine.methods.audits.classifier import FEW, MANY
from policy_engine.methods.audits.membership_inference import AttackBound, MembershipInference
from policy_engine.methods.audits.population_risk import PopulationRisk
from policy_engine.methods.audits.record_linkage import DEFAULT_ATTACKS, RecordLinkage
from policy_engine.methods.generative import SyntheticInference
from policy_engine.methods.synthesiser import synthesiser_class
from policy_engine.plan.training.files import FEWEST, FileBounds
from policy_engine.plan.training.model import Modelling
from policy_engine.plan.training.refining import (
    DEFAULT_FPR,
    MEASURES,
    OF_GENERATOR,
    OF_TRAINING,
    RISK_MEASURES,
)

if TYPE_CHECKING:
    from policy_engine.methods.reference import Parameter


def audit_parameters(notation: str) -> "list[Parameter]":
    """Return the parameters of a method of audits, those of the model that it attacks among them.

    Where a policy has the model trained, its training says what that model is.
    """
    term = terms.audit_methods()[notation]
    others = _OF_TABLES.get(notation, _other_parameters)()
    return [_parameter(iri, term.texts("engine"), others) for iri in term.iris("allows")]


def training_parameters() -> "list[Parameter]":
    """Return the parameters of a training: those of classifiers, then those of generators."""
    others = {**_other_parameters(), **_generator_parameters()}
    names = (*OF_TRAINING, *OF_GENERATOR)
    return [_parameter(f"{terms.PE}{name}", ("local",), others) for name in names]


def _generator_parameters() -> dict[str, tuple[str, str]]:
    """Return what the training of a generator takes by name."""
    settings = {
        name: (describe_allowed(field), f"{field.default}")
        for kind in map(synthesiser_class, terms.synthesisers())
        for name, field in parameters(kind).items()
        if name != "synthesiser"
    }
    return {
        "synthesised": ("columns", "required of a generator"),
        "synthesiser": ("a generator", "required of a generator"),
        **settings,
        "privacyUnit": ("one column", "none"),
    }


def _parameter(
    iri: str, engines: tuple[str, ...], others: Mapping[str, tuple[str, str]]
) -> "Parameter":
    from policy_engine.methods.reference import Parameter  # noqa: PLC0415 (loads all methods)

    name = terms.local_name(iri)
    kind, default = _bound(name) if name in MEASURES else others[name]
    definition = terms.vocabulary()[iri].definition
    return Parameter(terms.compact(iri), kind, default, definition, engines)


def _bound(name: str) -> tuple[str, str]:
    lowest = "fpr" if name == "tprAtFpr" else f"{AttackBound(measure='auc', asked=0.5).chance:g}"
    return f"a bound from {lowest} on, below 1", "none"


def _linkage_parameters() -> dict[str, tuple[str, str]]:
    """Return what record linkage takes by name: what it may be, and what it is otherwise."""
    return {
        "linked": ("a bound above 0 and below 1", "required"),
        "known": ("columns", "all that are generalised or masked"),
        "attack": ("attacks", f"{', '.join(DEFAULT_ATTACKS)}, as far as they apply"),
    }


def _risk_parameters() -> dict[str, tuple[str, str]]:
    """Return what bounds on risk take by name."""
    bounds: dict[str, tuple[str, str]]
    bounds = dict.fromkeys(RISK_MEASURES, ("a bound above 0 and below 1", "none"))
    return {
        **bounds,
        "uniques": ("a bound from 0 on, below 1", "none"),
        "populationUniques": ("a bound from 0 on, below 1", "none"),
        "known": ("columns", "all that are generalised, or masked and not at random"),
        "population": ("a dataset", "none: intruders know who is in the table"),
    }


def _inference_parameters() -> dict[str, tuple[str, str]]:
    """Return what attribute inference takes by name."""
    return {
        "inferred": ("a bound above 0 and below 1", "required of a table"),
        "known": ("columns", "all others that are generalised or masked"),
        "learned": ("columns", "those that are sensitive; of a model, its sensitive features"),
        "advantage": ("a bound above 0 and below 1", "required of a model"),
    }


_OF_TABLES = {
    RecordLinkage.notation: _linkage_parameters,
    PopulationRisk.notation: _risk_parameters,
    AttributeInference.notation: _inference_parameters,
}


def _other_parameters() -> dict[str, tuple[str, str]]:
    """Return what else there is by name: what it may be, and what it is where it is not given."""
    audit, model = MembershipInference.model_fields, Modelling.model_fields
    files = FileBounds.model_fields
    return {
        "fpr": (describe_allowed(AttackBound.model_fields["fpr"]), f"{DEFAULT_FPR:g}"),
        "attack": ("attacks", ", ".join(audit["attacks"].default)),
        "shadowModels": (
            describe_allowed(audit["shadow_models"]),
            f"{audit['shadow_models'].default}",
        ),
        "attempts": ("an integer from 1 to 10000", "any number"),
        "smallestLeaf": (
            describe_allowed(files["smallest_leaf"]),
            f"{FEWEST}, or k if that is more",
        ),
        "rareValues": (describe_allowed(files["rare_values"]), f"{files['rare_values'].default}"),
        "label": ("one column", "required"),
        "feature": ("columns", "the quasi-identifiers; of a table, all that are released"),
        "model": ("a text", Modelling(asset="", label="").architecture.kind),
        "generators": (f"an integer from {FEW} to {MANY}", "no search"),
        "setPValue": ("a bound above 0, up to 0.5", "none"),
        "excessCopies": ("a bound above 0 and below 1", "none"),
        "holdoutShare": (
            describe_allowed(SyntheticInference.model_fields["holdout_share"]),
            f"{SyntheticInference.model_fields['holdout_share'].default:g}",
        ),
        "trainingShare": (describe_allowed(model["share"]), f"{model['share'].default:g}"),
    }
