import json
import re
from importlib import import_module
from pathlib import Path
from typing import get_args

import pytest
from places import ROOT
from pyld import jsonld

from policy_engine import methods, terms
from policy_engine.audits.disclosure.auditing import ATTACKS as ATTACKS_ON_TABLES
from policy_engine.audits.generative.settings import NAMES as ATTACKS_ON_GENERATORS
from policy_engine.audits.membership.attacks import attack_of
from policy_engine.errors import InternalError
from policy_engine.methods import (
    PrivacyModel,
    describe_allowed,
    method_class,
    parameters,
    privacy_model_class,
)
from policy_engine.methods.audits.membership_inference import DEFAULT_ATTACKS, Measure
from policy_engine.methods.audits.record_linkage import DEFAULT_ATTACKS as LINKAGES
from policy_engine.methods.columns import IDENTIFIERS, ROLES, Column, Columns
from policy_engine.methods.disclosure import DisclosureMeasure, InferenceMeasure, RiskMeasure
from policy_engine.methods.generative import DEFAULT_ATTACKS as GENERATIVE_ATTACKS
from policy_engine.methods.generative import OF_MODELS as ATTACKS_ON_MODELS
from policy_engine.methods.generative import GenerativeMeasure
from policy_engine.methods.masking import masking_class
from policy_engine.methods.model_secrets import SecretMeasure
from policy_engine.methods.output_checks.parameters import PARAMETERS as OF_READING
from policy_engine.methods.randomiser import randomiser_class
from policy_engine.methods.recoding import option_fields
from policy_engine.methods.reference import SETTINGS
from policy_engine.methods.sampling import SIZES, Sampling
from policy_engine.methods.sanitisations import differential_privacy
from policy_engine.methods.synthesiser import synthesiser_class
from policy_engine.plan.plan import EngineName
from policy_engine.plan.training import audit_parameters
from policy_engine.plan.training.refining import (
    OF_AUDIT,
    OF_GENERATOR,
    OF_GENERATORS,
    OF_INFERENCE,
    OF_LINKAGE,
    OF_MODEL,
    OF_RISK,
    OF_SECRETS,
    OF_TRAINING,
)
from policy_engine.policy.reading.operands import operands, refining_operands
from policy_engine.policy.structure import query_properties

NOTATIONS = sorted(terms.privacy_models())
FILES = sorted((ROOT / "vocab").rglob("*.jsonld"), key=str)


def local_names(term, key):
    return {terms.local_name(iri) for iri in term.iris(key)}


BESIDE = {"joinOn", "masked", "randomised", "synthesised"}
"""Columns that a step of their own is about: what targets are joined on, what is masked, what is
randomised, and what is made up."""
SHARED = {**parameters(Columns), **option_fields(), **parameters(Sampling)}
OPERANDS = {
    iri: term
    for iri, term in terms.instances(f"{terms.ODRL}LeftOperand").items()
    if "operator" in term.facts and iri != f"{terms.MOSAICROWN}method"
}
NAMING = [
    *("requires", "requiresOne", "allows", "operator", "domain", "includedIn", "implies"),
    *("replacedBy", "subClassOf", "subPropertyOf", "refines"),
]
PROPERTIES = {iri: term for iri, term in terms.vocabulary().items() if "domain" in term.facts}


def range_of(field):
    """Return the range that a field has in the vocabulary, by what it may be in words."""
    words = describe_allowed(field)
    if words == "true or false":
        return f"{terms.XSD}boolean"
    starts = {"an integer": "integer", "a number": "decimal", "columns": ""}
    kind = next((kind for start, kind in starts.items() if words.startswith(start)), "string")
    return f"{terms.XSD}{kind}" if kind else f"{terms.ODRL}Asset"


def test_every_method_of_the_vocabulary_has_a_file_and_no_file_is_without():
    paths = Path(methods.__file__).parent.glob("*/*.py")
    # Profiles of output checks are rows of one table, and so are rules: they are told apart there.
    files = {path.stem for path in paths if path.parent.name != "output_checks"}
    every = (*terms.methods(), *terms.audit_methods(), *terms.maskings(), *terms.randomisers())
    every += (*terms.synthesisers(),)
    named = {notation.replace("-", "_") for notation in every}
    assert files - {"__init__", "classifier"} == named


@pytest.mark.parametrize("notation", NOTATIONS)
def test_a_method_has_its_class_and_its_tests(notation):
    kind = privacy_model_class(notation)
    assert issubclass(kind, PrivacyModel)
    assert kind.notation == notation
    assert kind.__module__.rpartition(".")[2] == notation.replace("-", "_")
    assert kind.__name__ == notation.title().replace("-", "")
    assert any((ROOT / "tests" / "methods").rglob(f"test_{notation.replace('-', '_')}.py"))


@pytest.mark.parametrize("notation", NOTATIONS)
def test_a_method_is_named_and_defined_by_its_entry(notation):
    term = terms.privacy_models()[notation]
    assert term.iri == f"{terms.PE}{notation}"
    assert term.definition.endswith(".")


@pytest.mark.parametrize("notation", NOTATIONS)
def test_a_method_requires_the_fields_of_its_class_and_what_it_is_about(notation):
    term, kind = terms.privacy_models()[notation], privacy_model_class(notation)
    sensitive = {"sensitive"} if kind.is_about_values else set()
    assert local_names(term, "requires") == set(parameters(kind)) | sensitive
    assert all(field.is_required() for field in parameters(kind).values())
    assert "allows" not in term.facts


def test_every_method_requires_and_allows_the_columns_and_the_options_of_recoding():
    every, model = (terms.vocabulary()[f"{terms.PE}{name}"] for name in ("Method", "PrivacyModel"))
    assert model.iris("subClassOf") == (every.iri,)
    assert local_names(every, "requires") == set()
    assert local_names(model, "requires") == {"quasi-identifier"}
    allowed = [*every.iris("allows"), *model.iris("allows")]
    assert sorted(map(terms.local_name, allowed)) == sorted(
        {*SHARED, *BESIDE} - {"quasi-identifier", "randomised", "synthesised"}
    )
    assert {*option_fields(), "sensitive"} == local_names(model, "allows")


def test_masking_without_a_model_is_a_method_that_is_not_a_privacy_model():
    assert {*terms.methods()} - {*terms.privacy_models()} == {
        *("masking", "differential-privacy", "local-differential-privacy", "synthetic-data")
    }
    term, kind = terms.methods()["masking"], method_class("masking")
    assert term.iri == f"{terms.PE}maskingAlone"
    assert not issubclass(kind, PrivacyModel)
    assert (kind.notation, parameters(kind)) == ("masking", {})
    assert local_names(term, "requires") == set()
    assert local_names(term, "requiresOne") == {"masked", *SIZES}
    assert terms.method_operands(term, "requiresOne") == term.iris("requiresOne")
    assert (ROOT / "tests" / "methods" / "sanitisations" / "test_masking_method.py").is_file()


@pytest.mark.parametrize(
    "iri",
    [
        *(term.iri for term in terms.methods().values()),
        *(f"{terms.PE}{name}" for name in option_fields()),
    ],
    ids=terms.compact,
)
def test_every_method_and_every_option_says_which_engines_have_it(iri):
    declared = terms.vocabulary()[iri].texts("engine")
    assert "local" in declared
    assert len(declared) == len(set(declared))
    assert set(declared) <= set(get_args(EngineName))


def test_nothing_but_methods_and_options_says_which_engines_have_it():
    declared = {iri for iri, term in terms.vocabulary().items() if "engine" in term.facts}
    options = {f"{terms.PE}{name}" for name in option_fields()}
    every = (*terms.methods().values(), *terms.audit_methods().values())
    every += (*terms.maskings().values(), *terms.randomisers().values())
    assert declared == options | {term.iri for term in every}


# -- maskings -------------------------------------------------------------------------------------


@pytest.mark.parametrize("notation", terms.maskings())
def test_a_masking_has_its_class_its_tests_and_its_entry(notation):
    term, kind = terms.maskings()[notation], masking_class(notation)
    assert term.iri == f"{terms.PE}{notation}"
    assert kind.__module__.rpartition(".")[2] == notation.replace("-", "_")
    assert kind.notation == kind.model_fields["masking"].default == notation
    assert not kind.__abstractmethods__
    needed, one_needed, allowed = (
        local_names(term, key) for key in ("requires", "requiresOne", "allows")
    )
    assert needed | one_needed | allowed == set(parameters(kind)) - {"name", "masking"}
    for given in ({}, *({one: 1} for one in one_needed), dict.fromkeys(one_needed, 1)):
        assert any(kind.conflicts(given)) == (bool(one_needed) and len(given) != 1)
    assert all(parameters(kind)[name].is_required() for name in needed)
    assert set(term.texts("engine")) <= set(get_args(EngineName))
    assert not any(parameters(kind)[name].is_required() for name in allowed | one_needed)
    assert (ROOT / f"tests/methods/maskings/test_{notation.replace('-', '_')}.py").is_file()


@pytest.mark.parametrize("notation", terms.randomisers())
def test_a_randomiser_has_its_class_its_tests_and_its_entry(notation):
    term, kind = terms.randomisers()[notation], randomiser_class(notation)
    assert term.iri == f"{terms.PE}{notation}"
    assert kind.__module__.rpartition(".")[2] == notation.replace("-", "_")
    assert kind.notation == kind.model_fields["randomiser"].default == notation
    assert not kind.__abstractmethods__
    needed, allowed = local_names(term, "requires"), local_names(term, "allows")
    assert needed | allowed | {"share"} == set(parameters(kind)) - {"name", "randomiser"}
    assert all(parameters(kind)[name].is_required() for name in needed)
    assert not any(parameters(kind)[name].is_required() for name in {*allowed, "share"})
    assert {"local"} <= set(term.texts("engine")) <= set(get_args(EngineName))
    assert (ROOT / f"tests/methods/randomisers/test_{notation.replace('-', '_')}.py").is_file()


def test_local_differential_privacy_has_the_fields_of_its_class_columns_and_a_unit():
    term = terms.methods()["local-differential-privacy"]
    needed, allowed = local_names(term, "requires"), local_names(term, "allows")
    assert needed == {"epsilon", "randomised"}
    assert allowed == {"compose", "privacyUnit"}
    assert set(parameters(method_class("local-differential-privacy"))) == {"epsilon", "compose"}


@pytest.mark.parametrize("notation", terms.synthesisers())
def test_a_generator_has_its_classes_its_tests_and_its_entry(notation):
    term, kind = terms.synthesisers()[notation], synthesiser_class(notation)
    name = notation.replace("-", "_")
    assert term.iri == f"{terms.PE}{notation}"
    assert term.definition.endswith(".")
    assert kind.__module__.rpartition(".")[2] == name
    assert kind.notation == kind.model_fields["synthesiser"].default == notation
    assert local_names(term, "allows") == set(parameters(kind)) - {"synthesiser"}
    module = import_module(f"policy_engine.engines.synthesising.{name}")
    assert callable(module.fit)
    assert callable(module.stored)
    for folder in ("methods/synthesisers", "engines/synthesising"):
        assert any((ROOT / "tests" / folder).glob(f"test_{name}*.py"))


def test_synthetic_data_has_columns_a_generator_rows_and_settings_of_generators():
    term = terms.methods()["synthetic-data"]
    of_generators = {
        name for one in terms.synthesisers().values() for name in local_names(one, "allows")
    }
    assert local_names(term, "requires") == {"synthesised", "synthesiser", "syntheticRows"}
    assert local_names(term, "allows") == {"identifier", "privacyUnit", *of_generators}
    assert {*parameters(method_class("synthetic-data"))} == {"syntheticRows"}


@pytest.mark.parametrize("notation", ["l-anonymity", "classifier"])
def test_an_entry_without_a_file_or_class_is_told_what_it_needs(notation):
    with pytest.raises(InternalError, match=f"'{notation}' needs a class ") as caught:
        methods.class_of(notation)
    assert caught.value.code == "X001"


# -- audits ---------------------------------------------------------------------------------------

ATTACKS = sorted(terms.attacks())
SHARED_BY_ATTACKS = {
    *("__init__", "attack", "attack_models", "choosing", "likelihood", "references"),
}


@pytest.mark.parametrize("notation", terms.audit_methods())
def test_a_method_of_audits_has_its_class_its_tests_and_its_entry(notation):
    term, name = terms.audit_methods()[notation], notation.replace("-", "_")
    kind = getattr(
        import_module(f"policy_engine.methods.audits.{name}"), notation.title().replace("-", "")
    )
    assert kind.notation == notation
    assert term.iri == f"{terms.PE}{notation}"
    assert set(term.texts("engine")) <= set(get_args(EngineName))
    assert (ROOT / "tests" / "methods" / "audits" / f"test_{name}.py").is_file()


READ_OF = {
    "membership-inference": (*OF_AUDIT, *OF_MODEL, *OF_GENERATORS),
    "record-linkage": OF_LINKAGE,
    "population-risk": OF_RISK,
    "attribute-inference": (*OF_INFERENCE, *OF_SECRETS),
}


@pytest.mark.parametrize("notation", terms.audit_methods())
def test_a_method_of_audits_allows_what_is_read_of_it(notation):
    term = terms.audit_methods()[notation]
    assert local_names(term, "allows") == {*READ_OF[notation]}
    assert [terms.expand(one.name) for one in audit_parameters(notation)] == [*term.iris("allows")]


def test_what_is_read_beside_constraints_is_what_methods_allow_or_an_action_has():
    read = set(refining_operands()) - set(operands()) - {f"{terms.MOSAICROWN}method"}
    allowed = {iri for term in terms.audit_methods().values() for iri in term.iris("allows")}
    names = (*OF_TRAINING, *OF_GENERATOR, *OF_READING)
    assert read == {*allowed, *(f"{terms.PE}{name}" for name in names)}


@pytest.mark.parametrize(
    "name",
    [
        "train",
        "audit",
        "membershipInference",
        "recordLinkage",
        "populationRisk",
        "attributeInference",
    ],
)
def test_what_refines_an_action_is_what_is_read_of_it(name):
    allowed = {
        "train": (*OF_TRAINING, *OF_GENERATOR),
        "audit": (
            *("method", *OF_AUDIT, *OF_LINKAGE, *OF_INFERENCE, *OF_SECRETS, *OF_RISK, *OF_MODEL),
            *OF_GENERATORS,
        ),
    }
    known = terms.instances(f"{terms.ODRL}Action")
    action = known[f"{terms.PE}{name}"]
    refined = {action.iri, *action.iris("includedIn")}
    refining = {i for i, one in refining_operands().items() if refined & set(one.iris("refines"))}
    assert {terms.local_name(i) for i in refining} == set(allowed.get(name, allowed["audit"]))


def test_every_measure_that_is_bounded_is_a_number():
    for name in (
        *get_args(Measure),
        *get_args(DisclosureMeasure),
        *get_args(RiskMeasure),
        *get_args(InferenceMeasure),
        *get_args(GenerativeMeasure),
        *get_args(SecretMeasure),
        *("fpr", "holdoutShare"),
        "trainingShare",
    ):
        assert terms.vocabulary()[f"{terms.PE}{name}"].iris("takes") == (f"{terms.XSD}decimal",)


@pytest.mark.parametrize("kind", ["Neighbours", "NoiseMechanism", "SelectionMechanism"])
def test_the_words_of_differential_privacy_are_those_of_its_class(kind):
    known = terms.instances(f"{terms.PE}{kind}")
    words = {term.facts["notation"] for term in known.values()}
    assert words == {*get_args(getattr(differential_privacy, kind))}
    assert {*known} == {f"{terms.PE}{word}" for word in words}


def test_the_parts_of_queries_and_budgets_are_properties_with_definitions():
    for kind in ("Query", "GroupColumn", "Aggregate", "Budget"):
        for iri in (*query_properties(kind).needed, *query_properties(kind).others):
            term = terms.vocabulary()[iri]
            assert {"owl:DatatypeProperty", "owl:ObjectProperty"} & set(term.types)
            assert term.definition.endswith(".")


def test_a_function_needs_and_allows_what_an_aggregate_may_have():
    allowed = {*query_properties("Aggregate").others}
    for term in terms.instances(f"{terms.PE}AggregateFunction").values():
        assert {*term.iris("requires"), *term.iris("allows")} < allowed


def test_every_attack_of_the_vocabulary_has_a_file_and_no_file_is_without():
    folder = ROOT / "policy_engine" / "audits" / "membership" / "attacks"
    files = {path.stem for path in folder.glob("*.py")} - SHARED_BY_ATTACKS
    assert files == {notation.replace("-", "_") for notation in ATTACKS}


@pytest.mark.parametrize("notation", ATTACKS)
def test_an_attack_is_named_and_defined_by_its_entry(notation):
    term = terms.attacks()[notation]
    assert term.iri == f"{terms.PE}{notation}-attack"
    assert term.definition.endswith(".")


@pytest.mark.parametrize("notation", ATTACKS)
def test_an_attack_has_its_class(notation):
    attack = attack_of(notation)
    assert attack.notation == notation
    assert type(attack).__name__ == notation.title().replace("-", "")


@pytest.mark.parametrize("notation", terms.linkage_attacks())
def test_an_attack_on_tables_is_made_and_named_by_its_entry(notation):
    term = terms.linkage_attacks()[notation]
    assert term.iri == f"{terms.PE}{notation}"
    assert term.definition.endswith(".")
    assert notation in ATTACKS_ON_TABLES


def test_attacks_on_synthetic_rows_are_made_and_named_by_their_entries():
    for notation, term in terms.generative_attacks().items():
        assert term.iri == f"{terms.PE}{notation}"
        assert term.definition.endswith(".")
        assert notation in ATTACKS_ON_GENERATORS
    assert {*GENERATIVE_ATTACKS, *ATTACKS_ON_MODELS} == {*terms.generative_attacks()}


def test_the_training_of_a_generator_takes_the_settings_of_every_generator():
    settings = {
        name for one in terms.synthesisers().values() for name in local_names(one, "allows")
    }
    assert {*OF_GENERATOR} == {"synthesised", "synthesiser", "privacyUnit", *settings}


def test_the_attacks_on_a_table_are_all_that_policies_can_name_unless_some_are_named():
    assert {*LINKAGES} <= {*terms.linkage_attacks()}


def test_a_calibrated_attack_ranks_records_by_models_that_have_not_seen_them():
    for term in terms.attacks().values():
        if term.flag("calibrated"):
            assert term.flag("ranks")
            assert {"shadow models", "online shadow models"} & set(term.texts("needs"))
    assert {n for n, term in terms.attacks().items() if not term.flag("ranks")} == {"label-only"}


def test_the_attacks_that_are_run_unless_others_are_named_are_known():
    assert set(DEFAULT_ATTACKS) <= set(ATTACKS)


# -- all terms ------------------------------------------------------------------------------------


def test_the_engines_of_the_vocabulary_are_those_of_plans():
    assert terms.engines() == get_args(EngineName)


def test_no_name_is_both_an_option_and_a_parameter_of_a_method():
    own = {name for notation in terms.methods() for name in parameters(method_class(notation))}
    own |= {
        name for one in map(synthesiser_class, terms.synthesisers()) for name in parameters(one)
    }
    assert not own & set(SHARED)
    assert {terms.local_name(iri) for iri in OPERANDS} == own | set(SHARED) | BESIDE | {"release"}


def test_differential_privacy_has_the_fields_of_its_class_a_unit_and_a_release():
    term, fields = (
        terms.methods()["differential-privacy"],
        parameters(method_class("differential-privacy")),
    )
    needed = {name for name, field in fields.items() if field.is_required()}
    assert local_names(term, "requires") == needed | {"privacyUnit", "release"}
    assert local_names(term, "allows") == set(fields) - needed


@pytest.mark.parametrize("iri", OPERANDS, ids=terms.compact)
def test_an_operand_has_the_range_of_its_fields(iri):
    name, term = terms.local_name(iri), OPERANDS[iri]
    fields = [parameters(method_class(notation)).get(name) for notation in terms.methods()]
    fields += [parameters(synthesiser_class(one)).get(name) for one in terms.synthesisers()]
    given = {range_of(field) for field in [*fields, SHARED.get(name)] if field}
    if name in ("privacyUnit", "label", *BESIDE):
        given = {f"{terms.ODRL}Asset"}
    elif name == "release":
        given = {f"{terms.PE}Query"}
    widest = given if len(given) == 1 else {f"{terms.XSD}decimal"}
    assert given <= {*widest, f"{terms.XSD}integer"}
    assert set(term.iris("range")) == widest


BOUNDS = ("epsilon", "maxGroupsPerUnit", "maxRowsPerGroup")
OPERATORS = dict.fromkeys((*ROLES, *BESIDE, "stratifiedBy"), ("isAllOf",))
OPERATORS |= dict.fromkeys(BOUNDS, ("lteq",)) | {"delta": ("eq", "lteq")}
OPERATORS |= dict.fromkeys(("mechanism", "selection"), ("isAnyOf",))


@pytest.mark.parametrize("iri", OPERANDS, ids=terms.compact)
def test_an_operand_takes_a_list_where_it_is_a_role_and_a_bound_is_no_choice(iri):
    operators = OPERATORS.get(terms.local_name(iri), ("eq",))
    assert OPERANDS[iri].iris("operator") == tuple(f"{terms.ODRL}{one}" for one in operators)
    assert OPERANDS[iri].definition.endswith(".")


def test_the_roles_are_the_columns_that_policies_name():
    assert {*ROLES, "privacyUnit", "pseudonymScope"} == {*parameters(Columns), "masked"}
    assert set(IDENTIFIERS) < set(ROLES)


@pytest.mark.parametrize("role", SETTINGS, ids=terms.compact)
def test_what_is_said_of_a_column_is_a_field_of_its_class(role):
    kind, said = SETTINGS[role], {}
    for iri, term in PROPERTIES.items():
        if role in term.iris("domain"):
            said[terms.local_name(iri)] = term
    assert issubclass(kind, Column)
    assert set(said) == set(parameters(kind)) - {"name"}
    for name, term in said.items():
        assert term.iris("range") == (range_of(parameters(kind)[name]),)
        assert term.definition.endswith(".")


def test_what_is_said_of_columns_is_said_of_columns_with_settings():
    for term in PROPERTIES.values():
        assert set(term.iris("domain")) <= set(SETTINGS)
        assert "owl:DatatypeProperty" in term.types


def test_no_term_stands_twice():
    entries = [
        terms.expand(entry["@id"])
        for path in (ROOT / "vocab").glob("*.jsonld")
        for entry in json.loads(path.read_text())["@graph"]
    ]
    known = {**terms.vocabulary(), **terms.data_privacy_vocabulary()}
    assert len(entries) == len(set(entries)) == len(known)


def test_every_term_that_an_entry_names_is_defined():
    namespaces = (terms.ODRL, terms.MOSAICROWN, terms.PE)
    for term in terms.vocabulary().values():
        for key in NAMING:
            named = [iri for iri in term.iris(key) if iri.startswith(namespaces)]
            assert set(named) <= set(terms.vocabulary()), term.iri


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_vocabulary_file_is_json_ld_without_external_contexts(path):
    document = json.loads(path.read_text())
    assert isinstance(document["@context"], dict)
    jsonld.expand(document, {"documentLoader": refuse})


@pytest.mark.parametrize("name", ["odrl", "mosaicrown", "policy-engine"])
def test_no_key_of_an_entry_is_dropped_on_expansion(name):
    document = json.loads((ROOT / "vocab" / f"{name}.jsonld").read_text())
    expanded = jsonld.expand(document, {"documentLoader": refuse})
    assert len(expanded) == len(document["@graph"])
    for entry, node in zip(document["@graph"], expanded, strict=True):
        assert len(node) == len(entry)
        assert all(key.startswith(("@", "http")) for key in node)
        assert not re.search(r'"@(id|type)": \[?"(?!http)', json.dumps(node))


def actions_without_a_chain():
    """Return the actions that lead neither to use nor to transfer."""
    known, tops = terms.instances(f"{terms.ODRL}Action"), {f"{terms.ODRL}use"}
    tops.add(f"{terms.ODRL}transfer")
    return {
        terms.compact(iri)
        for iri, term in known.items()
        if not tops & {iri, *term.iris("includedIn"), *wider_still(known, term)}
    }


def wider_still(known, term):
    return [top for wide in term.iris("includedIn") for top in known[wide].iris("includedIn")]


def test_every_action_that_is_not_deprecated_leads_to_use_or_transfer():
    actions = terms.instances(f"{terms.ODRL}Action").values()
    deprecated = {terms.compact(one.iri) for one in actions if one.facts.get("deprecated")}
    assert actions_without_a_chain() == deprecated


def test_what_replaces_a_deprecated_term_is_not_deprecated_and_of_its_kind():
    for term in terms.vocabulary().values():
        for iri in set(term.iris("replacedBy")) & set(terms.vocabulary()):
            instead = terms.vocabulary()[iri]
            assert term.facts["deprecated"] is True
            assert "deprecated" not in instead.facts
            assert instead.types == term.types


def test_the_literals_that_a_left_operand_takes_are_types_of_xml_schema():
    taking = {iri: term for iri, term in terms.vocabulary().items() if "takes" in term.facts}
    assert set(taking) < set(terms.instances(f"{terms.ODRL}LeftOperand"))
    assert not set(taking) & set(OPERANDS)
    for term in taking.values():
        assert all(kind.startswith(terms.XSD) for kind in term.iris("takes"))


def test_three_operators_take_several_right_operands():
    operators = terms.instances(f"{terms.ODRL}Operator").values()
    several = {terms.local_name(one.iri) for one in operators if one.facts.get("set")}
    assert several == {"isAllOf", "isAnyOf", "isNoneOf"}


@pytest.mark.parametrize("kind", ["pe:PartyFunction", "pe:LogicalOperator", "pe:PolicyType"])
def test_what_policies_are_made_of_is_a_class_with_instances(kind):
    assert terms.vocabulary()[terms.expand(kind)].types == ("owl:Class",)
    assert all(iri.startswith(terms.ODRL) for iri in terms.instances(terms.expand(kind)))
    assert len(terms.instances(terms.expand(kind))) > 3


@pytest.mark.parametrize("kind", ["Action", "Operator", "LeftOperand", "ConflictTerm"])
def test_every_term_of_odrl_has_a_definition(kind):
    for term in terms.instances(f"{terms.ODRL}{kind}").values():
        assert term.definition.endswith(".")


ONTOLOGY = ROOT.parent / "shared" / "data" / "odrl" / "ODRL22.ttl"


@pytest.mark.skipif(not ONTOLOGY.is_file(), reason="the ontology of ODRL is not here")
def test_the_terms_are_those_of_the_ontology_of_odrl():
    from rdflib import OWL, RDF, Graph, URIRef

    graph = Graph().parse(ONTOLOGY)
    for kind in ("Action", "Operator", "LeftOperand", "ConflictTerm", "RightOperand"):
        told = {str(one) for one in graph.subjects(RDF.type, URIRef(f"{terms.ODRL}{kind}"))}
        ours = {iri for iri in terms.instances(f"{terms.ODRL}{kind}") if not is_ours(iri)}
        assert told == ours
    for iri, term in terms.vocabulary().items():
        if not is_ours(iri):
            wide = graph.objects(URIRef(iri), URIRef(f"{terms.ODRL}includedIn"))
            assert {str(one) for one in wide} == set(term.iris("includedIn"))
            gone = (URIRef(iri), OWL.deprecated, None) in graph
            assert gone == bool(term.facts.get("deprecated"))


def is_ours(iri):
    return iri.startswith((terms.MOSAICROWN, terms.PE))


def refuse(url, _options):
    raise AssertionError(url)
