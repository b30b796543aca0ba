import copy
import json
import re
import subprocess
import sys
from functools import cache

import jsonschema
import pytest
from building import people_policy
from everyday import examples
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from places import ROOT
from typer.testing import CliRunner

from policy_engine import terms
from policy_engine.authoring.schema import policy_schema
from policy_engine.cli import app
from policy_engine.errors import PolicyEngineError
from policy_engine.plan.products import check_plannable
from policy_engine.policy import read_policy
from policy_engine.policy.reading.reader import read_policies

SHIPPED = sorted((ROOT / "policies").glob("*.jsonld"))
BAD = sorted((ROOT / "tests" / "policies" / "bad").glob("*.json*"))
ORIGINAL = ROOT.parent / "shared" / "data" / "mosaicrown-policies"
MOSAICROWN = "https://www.mosaicrown.eu/ns/mosaicrown/1/"
CONTEXTS = ["http://www.w3.org/ns/odrl.jsonld", "https://www.mosaicrown.eu/ns/mosaicrown.jsonld"]
ME, DATA = "http://x.org/me", "http://x.org/data"

UNSEEN = {
    "two places that do not go together": """
        constraint-on-rows-to-anonymize column-in-two-roles column-outside-the-target l-above-k
        l-with-t-closeness-and-alpha
        max-suppression-of-a-grid method-twice order-of-a-prefix output-is-the-target
        permission-against-prohibition polish-of-a-grid privacy-unit-is-a-quasi-identifier
        privacy-unit-is-pseudonymised prohibition-forbids-the-anonymization
        pseudonymised-quasi-identifier redacted-and-dropped relaxed-grid score-of-a-grid
        score-with-full-domain two-anonymizations two-rules-with-one-uid wildcards-with-full-domain
        fanout-without-intervals generalization-without-its-taxonomy
        hierarchical-distance-without-taxonomy taxonomy-of-another-distance
        taxonomy-without-its-generalization conflict-strategies-that-differ
        logical-constraint-of-itself parent-is-itself parents-in-a-circle
        two-policies-with-one-uid join-of-a-dataset-within-another join-of-one-dataset
        join-on-nothing join-on-two-columns-of-one-dataset join-that-is-trained-on
        join-with-two-columns-of-one-name masked-column-without-masking
        cells-suppressed-by-mondrian local-suppression-of-diverse-values
        buckets-of-classes buckets-of-generalised-columns buckets-of-k-anonymity
        budget-renewed-for-ever budgets-over-one-dataset delta-exactly
        spent-on-an-unknown-account spent-on-no-account table-with-two-figures-of-one-name
        groups-of-the-data-without-delta sum-without-bounds unit-that-is-in-the-output
        guide-labels-of-a-column guide-of-another-table guide-of-cut-classes guide-that-is-dropped
        guide-that-is-masked guide-that-is-the-label guided-for-a-label-of-another-table
        guided-for-a-label-that-is-dropped guided-for-a-label-that-is-generalised
        guided-for-a-label-that-is-masked guided-for-a-label-that-tells-persons
        guided-with-a-score guided-without-label representative-that-is-a-row
        representative-without-ranges""",
    "what a model is": "guide-described-wrongly guide-that-is-a-path guide-that-is-unknown",
    "a name that stands for nothing": """
        action-that-is-no-way-to-use deprecated-action misspelt-parent misspelt-prefix
        parent-not-given party-that-is-a-term reference-to-nothing release-of-no-table
        rule-without-object
        undeclared-prefix unknown-profile unused-constraint""",
    "what only the reader knows": """
        derived-in-other-words language-that-is-none misspelt-type-of-a-collection
        obligation-of-nobody
        term-of-ones-own unknown-data-type""",
    "what a training or an audit is held against": """
        attack-bound-above-1 attack-bound-below-chance attack-bound-below-the-false-positives
        attack-bound-from-below attack-twice audit-by-an-unknown-method
        audit-of-a-table-without-label audit-of-another-asset audit-of-persons
        linkage-bound-above-1 linkage-bound-of-nothing linkage-bounded-from-below
        linkage-by-another-method linkage-of-a-model linkage-of-a-sample-as-it-is
        linkage-of-another-asset linkage-of-buckets linkage-of-images linkage-of-persons
        linkage-that-bounds-nothing linkage-wrong-in-several-ways
        generator-attacked-as-a-classifier generator-of-a-model-that-predicts
        inference-of-nothing inference-that-bounds-nothing inference-wrong-in-several-ways
        risk-among-an-output risk-of-a-model risk-of-columns-masked-at-random
        risk-that-bounds-nothing risk-wrong-in-several-ways
        attack-bound-that-none-breaks recall-bounded-alone tpr-of-an-attack-that-does-not-rank
        audit-of-suppressed-rows audit-that-bounds-nothing audit-with-a-parameter-of-others
        audit-with-its-bound-twice audit-with-joined-refinements audit-with-one-shadow-model
        audit-without-method feature-not-released fpr-at-which-nothing-is-bounded fpr-of-1
        label-among-the-features label-of-another-table label-that-is-generalised
        model-described-wrongly model-not-beside-the-policy model-of-raw-data-without-audit
        model-of-raw-data-without-features model-without-label prohibition-forbids-the-training
        training-of-another-table training-of-some-rows training-over-its-table
        training-share-too-large generators-of-a-forest training-twice unknown-attack unknown-model
        smallest-leaf-below-ten smallest-leaf-from-above smallest-leaf-of-a-table
        rare-values-from-below model-with-leaves-of-few-records""",
    "a context that is the policy's own, or given beside it": "redefined-term unknown-context",
    "what JSON itself loses": "duplicate-key setting-given-twice t-infinite",
}
"""The mistakes that no schema of JSON can see, and why."""


@cache
def validator():
    schema = policy_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def mistake(document):
    """Return what the schema says against a document, the nearest to the point; else nothing."""
    found = jsonschema.exceptions.best_match(validator().iter_errors(document))
    return f"{found.json_path}: {found.message}" if found else ""


def policy(**parts):
    whole = {
        "@context": CONTEXTS,
        "@type": "Set",
        "uid": "http://x.org/policy",
        "profile": MOSAICROWN,
        "permission": rule(),
    } | parts
    return {key: value for key, value in whole.items() if value is not None}


def rule(**parts):
    whole = {"assignee": ME, "target": DATA, "action": "read"} | parts
    return {key: value for key, value in whole.items() if value is not None}


def constraint(left="count", operator="lteq", right=3, **parts):
    whole = {"leftOperand": left, "operator": operator, "rightOperand": right} | parts
    return {key: value for key, value in whole.items() if value is not None}


def masked(**settings):
    """Return a policy that rounds a column, with parameters."""
    settings = {f"pe:{name}": value for name, value in settings.items()}
    refinements = [
        constraint("mosaicrown:method", "eq", "k-anonymity"),
        constraint("mosaicrown:k", "eq", 2),
        constraint("mosaicrown:quasi-identifier", "isAllOf", [f"{DATA}/age"]),
        constraint(
            "pe:masked",
            "isAllOf",
            [{"@id": f"{DATA}/pay", "pe:masking": "rounding", **settings}],
        ),
    ]
    action = {"rdf:value": {"@id": "odrl:anonymize"}, "refinement": refinements}
    return policy(permission=rule(action=action, output=f"{DATA}/out"))


def masked_by(notation, **settings):
    """Return a policy that masks a column by another masking than rounding."""
    return masked(**{"pe:masking": notation}, **settings)


def masking(method="masking", **more):
    """Return a policy that masks a column without a privacy model, or with parameters of one."""
    document = masked(base=10)
    [rounded] = [
        one
        for one in document["permission"]["action"]["refinement"]
        if one["leftOperand"] == "pe:masked"
    ]
    parts = [constraint("mosaicrown:method", "eq", method), rounded, *more.values()]
    document["permission"]["action"]["refinement"] = parts
    return document


def sampled(**parts):
    """Return a policy that samples rows without a privacy model."""
    document = masking()
    document["permission"]["action"]["refinement"] = [
        constraint("mosaicrown:method", "eq", "masking"),
        constraint("pe:insensitive", "isAllOf", [f"{DATA}/age"]),
        *(
            constraint(f"pe:{name}", "isAllOf" if isinstance(value, list) else "eq", value)
            for name, value in parts.items()
        ),
    ]
    return document


def under(condition):
    return policy(permission=rule(constraint=condition))


# -- what is shipped ------------------------------------------------------------------------------


@pytest.mark.one_in(16)
@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_shipped_policy_validates(path):
    assert mistake(json.loads(path.read_text())) == ""


@pytest.mark.skipif(not ORIGINAL.is_dir(), reason="the policies of MOSAICrOWN are not here")
def test_the_policies_of_mosaicrown_validate():
    paths = [path for path in ORIGINAL.rglob("*.jsonld") if path.stem != "namespace"]
    assert len(paths) > 5
    assert {path: mistake(json.loads(path.read_text())) for path in paths} == dict.fromkeys(
        paths, ""
    )


@pytest.mark.one_in(108)
@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_a_bad_policy_is_refused_unless_no_schema_can_see_why(path):
    try:
        document = json.loads(path.read_text())
    except json.JSONDecodeError:
        return
    unseen = {name for names in UNSEEN.values() for name in names.split()}
    assert validator().is_valid(document) == (path.stem in unseen)


# -- what editors show ----------------------------------------------------------------------------


def consts(name):
    return {
        one["const"]: one.get("description")
        for one in definitions()[name]["anyOf"][:-1]
        if "const" in one
    }


def definitions():
    return policy_schema()["$defs"]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("definition", "kind"),
    [("actionName", "Action"), ("operatorName", "Operator"), ("conflictName", "ConflictTerm")],
)
def test_terms_are_offered_with_what_they_mean(definition, kind):
    offered = consts(definition)
    for term in terms.instances(f"{terms.ODRL}{kind}").values():
        is_offered = any(terms.expand_term(name) == term.iri for name in offered)
        assert is_offered != bool(term.facts.get("deprecated"))
    assert all(offered.values())


@pytest.mark.nightly
def test_every_parameter_and_every_method_is_there():
    parameters = {
        i for i, t in terms.instances(f"{terms.ODRL}LeftOperand").items() if "operator" in t.facts
    }
    assert set(map(terms.expand, consts("parameterTerm"))) == parameters
    text = json.dumps(definitions()["methodValues"])
    assert all(f'"const": "{notation}"' in text for notation in terms.methods())


def test_keys_are_described():
    keys = definitions()["policy"]["properties"]
    assert keys["permission"]["description"] == "What may be done."
    assert all("description" in keys[name] for name in ("profile", "conflict", "target"))


def test_a_method_of_the_vocabulary_is_a_method_of_the_schema(monkeypatch):
    term = terms.methods()["t-closeness"]
    monkeypatch.setattr(terms, "methods", lambda: {"t-closeness": term})
    text = json.dumps(policy_schema()["$defs"]["methodValues"])
    assert '"const": "t-closeness"' in text
    assert "l-diversity" not in text


def test_patterns_are_read_alike_by_python_and_by_editors():
    patterns = re.findall(r'"pattern": "((?:[^"\\]|\\.)*)"', json.dumps(policy_schema()))
    assert len(patterns) > 20
    for pattern in map(json.loads, {f'"{one}"' for one in patterns}):
        re.compile(pattern)
        # With the flag u, ECMA-262 knows no escape of what needs none, and Python has more.
        assert not re.search(r"\\[^.*+?^${}()|\[\]\\trnd]|\(\?P|\(\?<|\\A|\\Z", pattern)


# -- what policies may be written like ------------------------------------------------------------

TWO = [constraint(), constraint("dateTime", "lt", "2030-01-01")]
GOOD = {
    "typed": under(constraint(right={"@value": "3", "@type": "xsd:integer"})),
    "double": under(constraint("payAmount", right={"@value": "9.5E0", "@type": "xsd:double"})),
    "date": under(constraint("dateTime", "lt", {"@value": "2030-01-01", "@type": "xsd:date"})),
    "duration": under(constraint("elapsedTime", "lteq", "P1DT2H")),
    "usage": under(constraint("event", "lt", {"@id": "odrl:policyUsage"})),
    "reference": under(constraint(right=None, rightOperandReference="http://x.org/most")),
    "several": under(constraint("spatial", "isAnyOf", ["http://x.org/1", "http://x.org/2"])),
    "list": under(constraint("spatial", "isAnyOf", {"@list": ["http://x.org/1"]})),
    "unit": under(constraint("payAmount", "eq", 5.5, unit="http://x.org/EUR", status=2)),
    "own operand": under(constraint(f"{DATA}/age", "gteq", 18)),
    "two constraints": under(TWO),
    "and": under({"and": TWO}),
    "sequence": under({"andSequence": {"@list": TWO}}),
    "nested": under({"or": [constraint(), {"xone": TWO}]}),
    "compact": policy(target=DATA, action="read", permission={"assignee": ME}),
    "duty": policy(permission=rule(duty={"action": "inform", "informedParty": ME})),
    "consequence": policy(obligation=rule(action="delete", consequence={"action": "inform"})),
    "remedy": policy(permission=None, prohibition=rule(remedy={"action": "delete"})),
    "offer": policy(**{"@type": "Offer"}, assigner="http://x.org/owner"),
    "refined": policy(
        permission=rule(
            action={
                "rdf:value": {"@id": "odrl:print"},
                "refinement": constraint("resolution", "lteq", 1200),
            }
        )
    ),
    "own action": policy(
        permission=rule(action={"@id": "http://x.org/look", "includedIn": "odrl:read"})
    ),
    "collection": policy(
        permission=rule(
            assignee={
                "@type": "PartyCollection",
                "source": "http://x.org/group",
                "refinement": constraint("http://x.org/age", "gt", 17),
            }
        )
    ),
    "member": policy(permission=rule(assignee={"@id": ME, "belongsTo": "http://x.org/group"})),
    "annotated": policy(**{"dct:title": "A", "rdfs:label": {"@value": "x", "@language": "en"}}),
    "purposes": policy(permission=rule(purpose=["marketing", "dpv:Marketing"])),
    "full keys": {
        "@context": CONTEXTS,
        "type": "odrl:Set",
        "@id": "http://x.org/policy",
        f"{terms.ODRL}permission": {
            f"{terms.ODRL}target": {"@id": DATA},
            "odrl:action": {"@id": "odrl:read"},
        },
    },
    "graph": {
        "@context": CONTEXTS,
        "@graph": [
            {key: value for key, value in policy().items() if key != "@context"},
            {"@id": ME, "partOf": "http://x.org/group"},
        ],
    },
    "own prefix": policy(**{"@context": [*CONTEXTS, {"x": "http://x.org/"}]}, target="x:data"),
    "own terms": policy(**{"@context": [*CONTEXTS, {"label": "rdfs:label"}]}, label="A"),
    "purpose and what it is a kind of": policy(
        permission=rule(purpose={"uid": "http://x.org/p", "declinationOf": "statistical"})
    ),
    "masking alone": masking(),
    "sample alone": sampled(sampleShare=0.5, weightColumn="weight"),
    "sample of persons in strata": sampled(
        sampleSize=10, stratifiedBy=[f"{DATA}/age"], privacyUnit=f"{DATA}/id"
    ),
    "masking by its IRI": masking({"@id": "pe:maskingAlone"}),
    "list of one": [policy()],
    "anonymized": json.loads(people_policy()),
    "model": json.loads((ROOT / "policies" / "model-release.jsonld").read_text()),
    "columns": json.loads((ROOT / "policies" / "customer-close.jsonld").read_text()),
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", GOOD)
def test_what_the_reader_accepts_validates(name):
    read_policy(json.dumps(GOOD[name]))
    assert mistake(GOOD[name]) == ""


REFUSED = {
    "no operator": (under(constraint(operator=None)), "'operator' is a required property"),
    "no left operand": (under(constraint(left=None)), "'leftOperand' is a required property"),
    "no right operand": (under(constraint(right=None)), "constraint"),
    "both": (under(constraint(rightOperandReference=ME)), "constraint"),
    "unknown operator": (under(constraint(operator="less")), "'less'"),
    "unknown operand": (under(constraint(left="odrl:cuont")), "'odrl:cuont'"),
    "several": (under(constraint(right=[1, 2])), "[1, 2] is too long"),
    "no date": (under(constraint("dateTime", "lt", "tomorrow")), "'tomorrow'"),
    "no duration": (under(constraint("elapsedTime", "lt", "1 day")), "'1 day'"),
    "no integer": (under(constraint(right=3.5)), "3.5"),
    "no decimal": (under(constraint("percentage", "lt", {"@value": "half"})), "'half'"),
    "no literal of its type": (
        under(constraint("version", "eq", {"@value": "x", "@type": "xsd:integer"})),
        "'x' does not match",
    ),
    "one operand": (under({"and": [constraint()]}), "and"),
    "two operators": (under({"and": TWO, "or": TWO}), "constraint"),
    "mixed": (under({"and": TWO, "leftOperand": "count"}), "'leftOperand'"),
    "duty of a prohibition": (policy(prohibition=rule(duty={"action": "pay"})), "'duty'"),
    "remedy of a permission": (policy(permission=rule(remedy={"action": "inform"})), "'remedy'"),
    "nested consequence": (
        policy(obligation=rule(consequence={"action": "inform", "consequence": {}})),
        "'consequence'",
    ),
    "duty without action": (policy(permission=rule(duty={"target": DATA})), "'action'"),
    "conflict": (policy(conflict="first"), "'first'"),
    "two strategies": (policy(conflict=["perm", "prohibit"]), "too long"),
    "two types": (policy(**{"@type": ["Set", "Policy"]}), "too long"),
    "ticket": (policy(**{"@type": "Ticket"}), "'Ticket'"),
    "offer": (policy(**{"@type": "Offer"}), "'assigner' is a required property"),
    "agreement": (
        policy(**{"@type": "Agreement"}, assigner=ME, permission=rule(assignee=None)),
        "'assignee' is a required property",
    ),
    "no target": (policy(permission=rule(target=None)), "'target' is a required property"),
    "no action": (policy(permission=rule(action=None)), "'action' is a required property"),
    "two outputs": (policy(permission=rule(output=[f"{DATA}/1", f"{DATA}/2"])), "too long"),
    "value in words": (policy(permission=rule(action={"rdf:value": "odrl:read"})), "'odrl:read'"),
    "refined without value": (
        policy(permission=rule(action={"refinement": constraint("resolution", "lt", 9)})),
        "'rdf:value' is a required property",
    ),
    "refined with a uid": (
        policy(permission=rule(action={"uid": DATA, "rdf:value": {"@id": "odrl:print"}})),
        "action",
    ),
    "collection with a uid": (
        policy(permission=rule(target={"uid": DATA, "source": DATA, "refinement": constraint()})),
        "target",
    ),
    "collection without source": (
        policy(permission=rule(target={"refinement": constraint()})),
        "'source' is a required property",
    ),
    "text under a compact key": (
        {**policy(permission=None), "odrl:permission": {"odrl:target": DATA, "action": "read"}},
        "odrl:target",
    ),
    "unknown key of odrl": (policy(**{"odrl:permision": rule()}), "'odrl:permision'"),
    "key of json-ld": (policy(**{"@included": []}), "'@included'"),
    "blank policy": (policy(uid="_:policy"), "'_:policy'"),
    "other type of rule": (policy(permission=rule(type="Duty")), "'Duty'"),
    "replaced": (policy(**{"dct:isReplacedBy": {"@id": "http://x.org/new"}}), "False schema"),
    "bound of an attack in a constraint": (under(constraint("pe:auc", right=0.6)), "'pe:auc'"),
    "variant of another masking": (masked_by("rank-swapping", p=0.1, variant="kim"), "'kim'"),
    "word of another masking": (masked_by("pram", keep=0.5, variant="buckets"), "'buckets'"),
    "parameter of another masking": (masked(base=10, threshold=40), "'pe:threshold'"),
    "column that classes need beside masking alone": (
        masking(quasi=constraint("mosaicrown:quasi-identifier", "isAllOf", [f"{DATA}/age"])),
        "'mosaicrown:quasi-identifier'",
    ),
    "masking without a reason": (sampled(), "action.refinement"),
    "share and size of a sample": (sampled(sampleShare=0.5, sampleSize=5), "action.refinement"),
    "share of all": (sampled(sampleShare=1), "refinement[2].rightOperand: 1 is "),
    "size of none": (sampled(sampleSize=0), "refinement[2].rightOperand: 0 is less"),
    "masking without its parameter": (masked(threshold=40), "(base)"),
    "model without output": (
        policy(
            permission=rule(
                action={
                    "rdf:value": {"@id": "pe:train"},
                    "refinement": constraint("pe:label", "eq", f"{DATA}/income"),
                }
            )
        ),
        "'output' is a required property",
    ),
    "no output": (
        policy(
            permission=rule(action={"rdf:value": {"@id": "odrl:anonymize"}, "refinement": []}),
        ),
        "'output' is a required property",
    ),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", REFUSED)
def test_a_mistake_is_refused_where_it_is(name):
    document, where = REFUSED[name]
    assert where in mistake(document)
    with pytest.raises(PolicyEngineError):
        check_plannable(read_policy(json.dumps(document)))


def test_with_terms_of_ones_own_the_schema_keeps_silent():
    own = policy(**{"@context": [*CONTEXTS, {"ziel": "odrl:target"}]}, ziel=DATA, permission=1)
    assert mistake(own) == ""
    assert mistake(policy(**{"@context": [*CONTEXTS, {"x": "http://x.org/"}]}, permission=1))


# -- whatever the reader accepts ------------------------------------------------------------------


def places(value, path=()):
    """Yield the way to every value in a document but its contexts."""
    yield path
    parts = dict(enumerate(value)) if isinstance(value, list) else value
    for key, inner in parts.items() if isinstance(parts, dict) else ():
        if key != "@context":
            yield from places(inner, (*path, key))


def at(document, path):
    for key in path:
        document = document[key]
    return document


OTHERS = {"uid": "@id", "@type": "type", "permission": "prohibition", "duty": "remedy"}
OTHERS |= {"constraint": "refinement", "target": "odrl:target", "action": f"{terms.ODRL}action"}
EDITS = {
    "list": lambda value: [value],
    "set": lambda value: {"@set": value},
    "ordered": lambda value: {"@list": value if isinstance(value, list) else [value]},
    "object": lambda value: {"@id": value} if isinstance(value, str) else value,
    "literal": lambda value: {"@value": value} if not isinstance(value, dict | list) else value,
    "in full": lambda value: terms.expand_term(value) if isinstance(value, str) else value,
    "first": lambda value: value[0] if isinstance(value, list) and value else value,
    "twice": lambda value: [value, value],
    "text": str,
    "number": lambda _: 7,
    "other key": lambda value: (
        {OTHERS.get(key, key): one for key, one in value.items()}
        if isinstance(value, dict)
        else value
    ),
    "without": lambda value: dict(list(value.items())[:-1]) if isinstance(value, dict) else value,
}


def test_refinements_may_be_in_a_list_object():
    document = masking()
    action = document["permission"]["action"]
    action["refinement"] = {"@list": action["refinement"]}
    assert read_policies(json.dumps(document))
    assert mistake(document) == ""


@given(st.sampled_from(sorted(GOOD)), st.data())
@settings(max_examples=examples(50), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_whatever_the_reader_accepts_validates(name, data):
    document = copy.deepcopy(GOOD[name])
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from([one for one in places(document) if one]))
        edited = EDITS[data.draw(st.sampled_from(sorted(EDITS)))](at(document, path))
        at(document, path[:-1])[path[-1]] = edited
    try:
        for one in read_policies(json.dumps(document)):
            check_plannable(one)
    except PolicyEngineError:
        event("refused")
        return
    event("accepted")
    assert mistake(document) == ""


# -- the command ----------------------------------------------------------------------------------


@pytest.mark.nightly
def test_the_schema_is_made_without_heavy_libraries():
    code = "import sys, policy_engine.authoring.schema as s; s.policy_schema(); print(*sys.modules)"
    command = [sys.executable, "-c", code]
    loaded = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    assert not {"numpy", "pyarrow", "rdflib", "pandas", "jsonschema"} & set(loaded)


@pytest.mark.nightly
def test_the_command_writes_what_it_prints(tmp_path):
    file = tmp_path / "policy.schema.json"
    printed = CliRunner().invoke(app, ["schema"]).output
    assert CliRunner().invoke(app, ["schema", "--output", str(file)]).exit_code == 0
    assert file.read_text() == printed
    assert json.loads((tmp_path / "policy.schema.json").read_text()) == policy_schema()


# -- vocabularies ---------------------------------------------------------------------------------

OWN = [
    {
        "@id": f"{MOSAICROWN}{name}",
        "@type": f"{terms.ODRL}Action",
        f"{terms.SKOS}definition": [{"@value": f"To {name}."}],
    }
    for name in ("read", "sellreport")
]
TRUST = {"@id": "http://x.org/trust", "@type": f"{terms.ODRL}LeftOperand"}
TRUST["http://www.w3.org/2000/01/rdf-schema#range"] = [{"@id": f"{terms.XSD}integer"}]


def is_valid_under_both(document):
    return _validator_under_both().is_valid(document)


@cache
def _validator_under_both():
    return jsonschema.Draft202012Validator(policy_schema([OWN, [TRUST]]))


@pytest.mark.nightly
def test_the_schema_with_vocabularies_is_one_of_json_schema():
    jsonschema.Draft202012Validator.check_schema(policy_schema([OWN, [TRUST]]))


@pytest.mark.nightly
def test_the_schema_offers_the_terms_of_vocabularies():
    actions = policy_schema([OWN])["$defs"]["actionName"]["anyOf"]
    assert {"const": "sellreport", "description": "To sellreport."} in actions
    assert {"const": "mosaicrown:sellreport", "description": "To sellreport."} in actions
    for name in ("read", "sellreport", "mosaicrown:sellreport"):
        assert is_valid_under_both(policy(permission=rule(action=name)))
    assert mistake(policy(permission=rule(action="sellreport")))


def test_the_schema_knows_the_types_of_operands_of_vocabularies():
    given = [under(constraint("http://x.org/trust", "eq", value)) for value in (3, "high")]
    assert [is_valid_under_both(one) for one in given] == [True, False]
    assert not mistake(given[1])


def test_the_schema_offers_the_purposes_of_the_data_privacy_vocabulary():
    offered = [one.get("const") for one in policy_schema()["$defs"]["purposeName"]["anyOf"]]
    assert "dpv:AcademicResearch" in offered
    assert not mistake(policy(permission=rule(purpose="dpv:AcademicResearch")))
