"""The examples of the page on the policy language, each read, refused or run as it says."""

import json
import re
import shlex
from dataclasses import dataclass
from functools import cache
from itertools import chain

import language_reference
import pytest
from building import refinement
from language_examples import VALUES
from places import ROOT
from typer.testing import CliRunner

from policy_engine import terms
from policy_engine.cli import app
from policy_engine.decision import Request, World, decide
from policy_engine.errors import PolicyError
from policy_engine.methods.generative import OF_MODELS as ATTACKS_OF_MODELS
from policy_engine.methods.reference import method_parameters
from policy_engine.plan.products import check_plannable
from policy_engine.plan.training.refining import RISK_MEASURES
from policy_engine.policy import Reading, load_policy, read_drafts, read_hierarchy, read_policies
from policy_engine.policy.owners import read_owners
from policy_engine.policy.reading.operands import operands, parameters, refining_operands
from policy_engine.policy.syntax.json_ld import expand
from policy_engine.policy.syntax.json_text import read_json

ODRL, MC, PE = terms.ODRL, terms.MOSAICROWN, terms.PE
PAGE = (ROOT / "docs" / "policy-language.md").read_text("utf-8")
CONTEXTS = json.loads(re.search(r"```jsonld file=visits.jsonld\n(.*?)```", PAGE, re.DOTALL)[1])[
    "@context"
]
RULES = ("permission", "prohibition", "obligation")
CLASSES_OF_WORDS = (
    *("AggregateFunction", "Neighbours", "NoiseMechanism", "SelectionMechanism", "BudgetScope"),
)
EXCEPTED = {
    f"{ODRL}uid": "the contexts have it as the name of a node, @id",
    f"{ODRL}PartyScope": "its individuals are not read; the context alone has it",
    **dict.fromkeys(
        [
            *(f"{PE}{name}" for name in ("Method", "PrivacyModel", "PolicyType", "PartyFunction")),
            *(f"{PE}{name}" for name in ("AuditMethod", "Attack", "LinkageAttack", "Masking")),
            f"{PE}GenerativeAttack",
            f"{PE}OutputProfile",
            *(f"{PE}{name}" for name in ("Randomiser", "Synthesiser")),
            *(f"{PE}LogicalOperator", f"{ODRL}ConflictTerm"),
            *(f"{PE}{name}" for name in ("Query", "GroupColumn", "Aggregate", "Budget")),
            *(f"{PE}{name}" for name in CLASSES_OF_WORDS),
            f"{PE}SpendingUnit",
            *(f"{ODRL}{name}" for name in ("Operator", "RightOperand")),
        ],
        "the vocabulary is sorted by it; policies name what is in it",
    ),
}
VISITS = "http://example.com/Visits"
AGE, DISEASE = f"{VISITS}/Age", f"{VISITS}/Disease"
OF_MODEL = ("pe:label", "pe:feature", "pe:model", "pe:trainingShare", "pe:generators")


@dataclass(frozen=True)
class Example:
    """A fenced block, or a cell of a table, with what its info string says."""

    text: str
    language: str = "jsonld"
    kind: str = ""
    file: str = ""
    error: str = ""
    parent: str = ""
    vocabulary: str = ""
    made: str = ""
    line: int = 0

    @property
    def name(self):
        return f"line-{self.line}"


def blocks():
    for found in re.finditer(r"^```(\w+)([^\n]*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL):
        words = [word.partition("=") for word in found[2].split()]
        said = {key: value for key, mark, value in words if mark}
        kind = next((word for word, mark, _ in words if not mark), "")
        line = PAGE.count("\n", 0, found.start()) + 1
        yield Example(found[3], found[1], kind, line=line, **said)


def tables(mark):
    """Return the rows of the tables behind a comment, as cells, each with its line."""
    pattern = rf"<!-- {mark} -->\n\n(?:\|.*\n){{2}}((?:\|.*\n)+)"
    for found in re.finditer(pattern, PAGE):
        line = PAGE.count("\n", 0, found.start(found.lastindex)) + 1
        rows = found[found.lastindex].splitlines()
        for number, row in enumerate(rows):
            cells = [cell.strip() for cell in row.strip("|").split("|")]
            yield found, line + number, cells


def cells():
    for found, line, row in tables(r"examples: (\w+)"):
        yield Example(row[-1].strip("`"), kind=found[1], line=line)


BLOCKS = list(blocks())
FILES = {block.file: block for block in BLOCKS if block.file}
FRAME = json.loads(FILES["visits.jsonld"].text)
TEXTS = [block for block in BLOCKS if block.language == "jsonld"] + list(cells())
READ = [one for one in TEXTS if not one.error]
REFUSED = [one for one in TEXTS if one.error]
CONSOLES = [block for block in BLOCKS if block.language == "console"]


# -- fragments in their frame ---------------------------------------------------------------------


def whole(example):
    """Return an example as a whole text: as it is, or in the frame of the smallest policy."""
    if example.kind in ("", "draft", "hierarchy", "vocabulary", "catalog"):
        return example.text
    return json.dumps(FRAME | WRAPPED[example.kind](json.loads(example.text)))


def as_policy(members):
    own = {"permission": None} if set(RULES) & members.keys() else {}
    return {key: value for key, value in {**FRAME, **own, **members}.items() if value}


def as_rule(rule):
    kind = "permission"
    is_reaching = "pe:derived" in json.dumps(rule)
    if "remedy" in rule or rule.get("@type") == "Prohibition" or is_reaching:
        kind = "prohibition"
    return {"permission": None, kind: {**FRAME["permission"], **rule}}


def of(kind):
    return lambda rule: as_policy({kind: rule})


def as_refinements(given):
    """Return the permission to anonymise by some parameters, with those that they need besides."""
    given = given if isinstance(given, list) else [given]
    said = {one["leftOperand"]: one["rightOperand"] for one in given}
    asked = said.get("mosaicrown:method") or method_with(said)
    named = [asked] if isinstance(asked, str) else asked
    needed = {
        one.name: VALUES.get(one.name, [DISEASE])
        for name in named
        for one in method_parameters(name)
        if one.default == "required"
    }
    needed |= {"mosaicrown:method": asked}
    needed |= {"mosaicrown:quasi-identifier": [AGE]} if {*named} & {*terms.privacy_models()} else {}
    needed |= {"pe:pseudonymize": [f"{VISITS}/Who"]} if "pe:pseudonymScope" in said else {}
    more = [refinement(name, value) for name, value in needed.items() if name not in said]
    action = {"rdf:value": {"@id": "odrl:anonymize"}, "refinement": [*given, *more]}
    target = ["ex:Visits", "ex:Claims"] if "pe:joinOn" in said else "ex:Visits"
    return as_policy({"permission": {"target": target, "action": action, "output": "ex:Out"}})


def as_audit(given):
    """Return the permissions to train a model, and to use it once it is audited; or to use a table
    that is attacked."""
    given = given if isinstance(given, list) else [given]
    named = {one["leftOperand"] for one in given}
    if {f"pe:{name}" for name in (*RISK_MEASURES, "population")} & named:
        return as_risk(given)
    attacks = [one["rightOperand"] for one in given if one["leftOperand"] == "pe:attack"]
    if {*chain.from_iterable(attacks)} & {*ATTACKS_OF_MODELS}:
        return as_generator([language_reference.synthesising("pe:synthesised")], given)
    if {"pe:setPValue", "pe:excessCopies", "pe:holdoutShare"} & named:
        return as_attack_on_synthetic_rows(given)
    if {"pe:inferred", "pe:learned"} & named:
        return as_inference(given)
    if {"pe:linked", "pe:known"} & named:
        return as_attack(given)
    trained = [one for one in given if one["leftOperand"] in OF_MODEL]
    secrets = [one for one in given if one["leftOperand"] == "pe:advantage"]
    audited = [one for one in given if one not in (*trained, *secrets)]
    label = refinement("pe:label", DISEASE)
    trained += [] if any(one["leftOperand"] == "pe:label" for one in trained) else [label]
    bounded = {one["leftOperand"] for one in audited if one["operator"][0] == "l"}
    if not bounded - {"pe:recall", "pe:rareValues"}:
        audited.append({"leftOperand": "pe:auc", "operator": "lteq", "rightOperand": 0.6})
    method = [refinement("mosaicrown:method", "k-anonymity"), refinement("mosaicrown:k", 10)]
    kept = [refinement("mosaicrown:quasi-identifier", [AGE, f"{VISITS}/Zip"])]
    kept.append(refinement("mosaicrown:sensitive", [DISEASE, f"{VISITS}/Diagnosis"]))
    train, audit = action("pe:train", trained), action("pe:membershipInference", audited)
    zips = refinement("pe:learned", [f"{VISITS}/Zip"])
    guesses = [action("pe:attributeInference", [*secrets, zips])] if secrets else []
    duties = [{"action": one} for one in (audit, *guesses)]
    made = {"target": "ex:Visits", "action": action("odrl:anonymize", method + kept)}
    return as_policy(
        {
            "permission": [
                {**made, "output": "ex:Out"},
                {"target": "ex:Out", "action": train, "output": "ex:Model"},
                {"target": "ex:Model", "action": "use", "duty": duties},
            ]
        }
    )


def as_attack_on_synthetic_rows(given):
    """Return the permissions to make rows up, and to read them once they are attacked."""
    names = ("pe:synthesised", "pe:synthesiser", "pe:syntheticRows")
    parts = [refinement("mosaicrown:method", "synthetic-data")]
    parts += map(language_reference.synthesising, names)
    made = {"target": "ex:Visits", "action": action("odrl:anonymize", parts), "output": "ex:Out"}
    duty = {"action": action("pe:membershipInference", given)}
    return as_policy({"permission": [made, {"target": "ex:Out", "action": "read", "duty": duty}]})


def as_generator(given, attack=None):
    """Return the permissions to train a generator, and to use it once it is attacked."""
    every = [*map(language_reference.synthesising, ("pe:synthesised", "pe:synthesiser"))]
    more = [one for one in every if one["leftOperand"] != given[0]["leftOperand"]]
    trained = action("pe:train", [*given, *more])
    made = {"target": "ex:Visits", "action": trained, "output": "ex:Model"}
    bound = {"leftOperand": "pe:auc", "operator": "lteq", "rightOperand": 0.6}
    duty = {"action": action("pe:membershipInference", attack or [bound])}
    return as_policy({"permission": [made, {"target": "ex:Model", "action": "use", "duty": duty}]})


def as_reading(given):
    """Return the permission to read what passes an output check."""
    profile = language_reference.reading("pe:outputCheck")
    more = [] if given["leftOperand"] == profile["leftOperand"] else [profile]
    read = action("odrl:read", [given, *more])
    return as_policy({"permission": [{"target": "ex:Visits", "action": read}]})


def as_attack(given):
    """Return the permissions to mask a table, and to read it once it is attacked."""
    masked = {"@id": AGE, "pe:masking": "rank-swapping", "pe:p": 0.1}
    parts = [refinement("mosaicrown:method", "masking"), refinement("pe:masked", [masked])]
    made = {"target": "ex:Visits", "action": action("odrl:anonymize", parts), "output": "ex:Out"}
    bound = {"leftOperand": "pe:linked", "operator": "lteq", "rightOperand": 0.1}
    given += [] if any(one["leftOperand"] == "pe:linked" for one in given) else [bound]
    duty = {"action": action("pe:audit", given)}
    named = any(one["leftOperand"] == "mosaicrown:method" for one in given)
    duty = duty if named else {"action": action("pe:recordLinkage", given)}
    return as_policy({"permission": [made, {"target": "ex:Out", "action": "use", "duty": duty}]})


def as_risk(given):
    """Return the permissions to sample and anonymise a table, and to read it once its risk is
    told."""
    parts = [refinement("mosaicrown:method", "k-anonymity"), refinement("mosaicrown:k", 10)]
    parts += [refinement("mosaicrown:quasi-identifier", [AGE]), refinement("pe:sampleShare", 0.1)]
    made = {"target": "ex:Visits", "action": action("odrl:anonymize", parts), "output": "ex:Out"}
    named = any(one["leftOperand"] == "mosaicrown:method" for one in given)
    duty = {"action": action("pe:audit" if named else "pe:populationRisk", given)}
    return as_policy({"permission": [made, {"target": "ex:Out", "action": "use", "duty": duty}]})


def as_inference(given):
    """Return the permissions to anonymise a table, and to read it once values are guessed."""
    parts = [refinement("mosaicrown:method", "k-anonymity"), refinement("mosaicrown:k", 10)]
    parts += [refinement("mosaicrown:quasi-identifier", [AGE])]
    parts += [refinement("mosaicrown:sensitive", [f"{VISITS}/Diagnosis"])]
    made = {"target": "ex:Visits", "action": action("odrl:anonymize", parts), "output": "ex:Out"}
    named = any(one["leftOperand"] == "mosaicrown:method" for one in given)
    duty = {"action": action("pe:audit" if named else "pe:attributeInference", given)}
    return as_policy({"permission": [made, {"target": "ex:Out", "action": "use", "duty": duty}]})


TABLE = {"uid": "ex:Visits/wards", "pe:aggregate": {"pe:function": "count-units"}}
BUDGET = {"pe:over": "ex:Visits", "pe:epsilon": 10, "pe:scope": "allAssignees"}


def as_release(given):
    """Return the permission to release a table of aggregates, with what that needs besides."""
    method = refinement("mosaicrown:method", "differential-privacy")
    needed = [one for one in method_parameters("differential-privacy") if one.default == "required"]
    names = ["pe:delta", *(one.name for one in needed)]
    every = [method, *map(language_reference.release, names)]
    more = [one for one in every if one["leftOperand"] != given["leftOperand"]]
    made = action("odrl:anonymize", [given, *more])
    rule = {"target": "ex:Visits", "action": made, "output": "ex:Out"}
    types = {"xsd": terms.XSD}
    table = {**TABLE, "pe:groupBy": ["ex:Visits/Ward"]}
    return {**as_policy({"permission": rule, "pe:queries": table}), "@context": [*CONTEXTS, types]}


def as_randomised(given):
    """Return the permission to release a randomised table, with what that needs besides."""
    method = refinement("mosaicrown:method", "local-differential-privacy")
    names = ("pe:randomised", "pe:epsilon")
    every = [method, *map(language_reference.randomising, names)]
    more = [one for one in every if one["leftOperand"] != given["leftOperand"]]
    made = action("odrl:anonymize", [given, *more])
    rule = {"target": "ex:Visits", "action": made, "output": "ex:Out"}
    return {**as_policy({"permission": rule}), "@context": [*CONTEXTS, {"xsd": terms.XSD}]}


def as_synthesised(given):
    """Return the permission to release a synthetic table, with what that needs besides."""
    method = refinement("mosaicrown:method", "synthetic-data")
    names = ("pe:synthesised", "pe:synthesiser", "pe:syntheticRows")
    every = [method, *map(language_reference.synthesising, names)]
    more = [one for one in every if one["leftOperand"] != given["leftOperand"]]
    made = {"target": "ex:Visits", "action": action("odrl:anonymize", [given, *more])}
    bound = {"leftOperand": "pe:auc", "operator": "lteq", "rightOperand": 0.6}
    duty = {"action": action("pe:membershipInference", [bound])}
    reading = {"target": "ex:Out", "action": "read", "duty": duty}
    return as_policy({"permission": [{**made, "output": "ex:Out"}, reading]})


def action(name, refinements):
    return {"rdf:value": {"@id": name}, "refinement": refinements}


def method_with(said):
    """Return the first method whose parameters some are."""
    if "pe:distance" in json.dumps(said):
        return "t-closeness"
    own = {name: {one.name for one in method_parameters(name)} for name in terms.privacy_models()}
    every = set().union(*own.values())
    return next(name for name, has in own.items() if said.keys() & every <= has)


WRAPPED = {
    "policy": as_policy,
    "rule": lambda rule: as_policy(as_rule(rule)),
    **{kind: of(kind) for kind in RULES},
    "constraint": lambda one: as_policy(as_rule({"constraint": one})),
    "refinement": as_refinements,
    "audit": as_audit,
    "release": as_release,
    "randomised": as_randomised,
    "synthesised": as_synthesised,
    "generator": lambda given: as_generator([given]),
    "reading": as_reading,
    "query": lambda query: as_policy({"pe:queries": {**TABLE, **query}}),
    "figure": lambda figure: as_policy({"pe:queries": {**TABLE, "pe:aggregate": figure}}),
    "budget": lambda budget: as_policy({"pe:budget": {**BUDGET, **budget}}),
}


def parents_of(text, example):
    """Return what an example inherits from: the file that it names, or some policy of the name."""
    if example.error or not (example.parent or example.kind == "policy"):
        return ()
    if example.parent:
        return read_drafts(FILES[example.parent].text)
    found = json.loads(text)
    return (
        read_drafts(json.dumps({**FRAME, "uid": found["inheritFrom"]}))
        if "inheritFrom" in found
        else ()
    )


PLANNED = (
    "refinement",
    "audit",
    "policy",
    "release",
    "randomised",
    "synthesised",
    "generator",
    "reading",
)


def read(example):
    text = whole(example)
    if example.kind == "hierarchy":
        return read_hierarchy(text)
    if example.kind == "vocabulary":
        return Reading(vocabularies=[text]).vocabulary
    if example.kind == "draft":
        return read_drafts(text)
    if example.kind == "catalog":
        return read_owners(text)
    given = [FILES[example.vocabulary].text] if example.vocabulary else []
    known = Reading(vocabularies=given).vocabulary
    policies = read_policies(text, parents=parents_of(text, example), vocabulary=known)
    for policy in policies:
        if example.kind in PLANNED:
            check_plannable(policy)
    return policies


# -- every example --------------------------------------------------------------------------------


@pytest.mark.one_in(3)
@pytest.mark.parametrize("example", READ, ids=lambda one: one.name)
def test_an_example_is_read(example):
    assert read(example)


@pytest.mark.parametrize("example", REFUSED, ids=lambda one: one.name)
def test_an_example_is_refused_with_the_code_that_is_said(example):
    with pytest.raises(PolicyError) as caught:
        read(example)
    assert {problem.code for problem in caught.value.problems} == {example.error}


def commands(block):
    """Return the commands of a console, each with what stands below it."""
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, said = re.fullmatch(r"((?:[^\n]*\\\n)*[^\n]*\n)(.*)", part, re.DOTALL).groups()
        yield command.replace("\\\n", " "), said


@pytest.fixture
def files(tmp_path, monkeypatch):
    for name, block in FILES.items():
        (tmp_path / name).write_text(block.text, "utf-8")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("block", CONSOLES, ids=lambda one: one.name)
@pytest.mark.usefixtures("files")
def test_a_command_prints_what_stands_below_it(block):
    for command, said in commands(block):
        name, *arguments = shlex.split(command)
        assert name == "policy-engine"
        assert CliRunner().invoke(app, arguments).output == said, command


RECIPES = [block for block in BLOCKS if block.language == "sh"]


@pytest.mark.parametrize("block", RECIPES, ids=lambda one: one.name)
@pytest.mark.usefixtures("files")
def test_a_recipe_runs_as_it_is_printed(block):
    name, *arguments = shlex.split(block.text.replace("\\\n", " "))
    assert name == "policy-engine"
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output


def test_the_recipe_of_joins_is_run():
    assert any("apply matched.jsonld" in block.text for block in RECIPES)


@pytest.mark.parametrize("ending", re.findall(r"`(\.\w+)`", PAGE.partition("## Policies")[0]))
@pytest.mark.usefixtures("files")
def test_the_smallest_policy_can_be_written_and_read_with_each_ending(ending):
    arguments = ["convert", "visits.jsonld", "--output", f"made{ending}"]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    assert load_policy(f"made{ending}").rules == load_policy("visits.jsonld").rules


# -- what constraints come to ---------------------------------------------------------------------

READING = Request(
    assignee="http://example.com/Ann",
    action=f"{ODRL}read",
    targets=("http://example.com/Visits",),
)
PLACES = read_hierarchy(FILES["places.jsonld"].text)


def state(constraint, **values):
    """Return what a constraint comes to in a world, as a decision tells it."""
    [policy] = read_policies(whole(Example(json.dumps(constraint), kind="constraint")))
    world = World(values={**values}, memberships=PLACES)
    [match] = decide([policy], [], READING, world=world).matches
    return match.conditions[0].state


OUTCOMES = [row for _, _, row in tables("outcomes")]


@pytest.mark.parametrize("row", OUTCOMES, ids=lambda row: row[0].strip("`"))
def test_an_operator_comes_to_what_the_table_says(row):
    constraint, *values = (json.loads(cell.strip("`")) for cell in row[1:])
    assert row[0] == f"`{constraint['operator']}`"
    left = constraint["leftOperand"].replace("ex:", "http://example.com/")
    found = [state(constraint, **{left: value}) for value in values]
    assert found == ["satisfied", "unsatisfied", "unknown"]
    assert state(constraint) == "unknown"


def test_every_operator_is_in_the_table_of_outcomes():
    shown = [row[0].strip("`") for row in OUTCOMES]
    known = [terms.local_name(iri) for iri in terms.instances(f"{ODRL}Operator")]
    assert sorted(shown) == sorted(known)


def test_a_comparison_with_the_moment_of_use_is_unknown():
    usage = {"@id": "odrl:policyUsage"}
    assert (
        state({"leftOperand": "dateTime", "operator": "lteq", "rightOperand": usage}) == "unknown"
    )


GIVEN = {"satisfied": (1,), "unsatisfied": (2,), "unknown": ()}
JOINED = ("and", "andSequence", "or", "xone")


@pytest.mark.parametrize("row", [row for _, _, row in tables("truths")], ids="-".join)
def test_constraints_joined_come_to_what_the_table_says(row):
    for sides in (row[:2], row[1::-1]):
        named = {f"http://example.com/{n}": GIVEN[side] for n, side in enumerate(sides)}
        parts = [{"leftOperand": iri, "operator": "eq", "rightOperand": 1} for iri in named]
        values = {iri: given[0] for iri, given in named.items() if given}
        assert [state({operand: parts}, **values) for operand in JOINED] == row[2:]


CONFLICTS = {row[0].strip("`"): row for _, _, row in tables("conflicts")}
BOTH = dict.fromkeys(("permission", "prohibition"), FRAME["permission"])


def effect(policy, **world):
    """Return what becomes of the request to read the visits under a policy."""
    return decide(read_policies(json.dumps(policy)), [], READING, world=World(**world)).effect


def test_conflict_strategies_come_to_what_the_table_says():
    asked = {name: {**FRAME, **BOTH, "conflict": name} for name in CONFLICTS}
    assert CONFLICTS["perm"][1].startswith("the permission")
    assert effect(asked["perm"]) == "permit"
    assert CONFLICTS["prohibit"][1].startswith("the prohibition")
    assert effect(asked["prohibit"]) == "deny"
    assert CONFLICTS["invalid"][1].endswith("(P010)")
    with pytest.raises(PolicyError, match="P010"):
        effect(asked["invalid"])


def test_the_defaults_of_conflict_are_those_of_the_table():
    plain = {**FRAME, "@context": [FRAME["@context"][0], FRAME["@context"][2]]}
    del plain["profile"]
    defaults = {"MOSAICrOWN": FRAME, "plain ODRL": plain}
    for name, (_, _, default) in CONFLICTS.items():
        for kind, policy in defaults.items():
            [read_] = read_policies(json.dumps(policy))
            assert (read_.conflict == name) == (kind in default)


@pytest.mark.parametrize("row", [row for _, _, row in tables("states")], ids=lambda row: row[0])
def test_what_a_constraint_comes_to_decides_over_a_rule_as_the_table_says(row):
    left = "http://example.com/0"
    bound = {"constraint": {"leftOperand": left, "operator": "eq", "rightOperand": 1}}
    world = {"values": {left: GIVEN[row[0]]} if GIVEN[row[0]] else {}}
    permission = as_policy(as_rule(bound))
    prohibition = {**FRAME, "prohibition": {**FRAME["permission"], **bound}}
    found = [effect(permission, **world) == "permit", effect(prohibition, **world) == "deny"]
    assert found == [cell.strip("*") == "holds" for cell in row[1:]]


# -- every term -----------------------------------------------------------------------------------


NAMED = (
    *(terms.methods(), terms.maskings(), terms.randomisers(), terms.audit_methods()),
    terms.synthesisers(),
    *(terms.attacks(), terms.linkage_attacks(), terms.generative_attacks()),
    *(
        {one.facts["notation"]: one for one in terms.instances(f"{PE}{kind}").values()}
        for kind in (*CLASSES_OF_WORDS, "OutputProfile")
    ),
)


def iris_in(data):
    """Yield every IRI in an expanded text, and what it names by its notation."""
    for key, values in data.items():
        if key == "@id":
            yield values
        elif key == "@type":
            yield from values if isinstance(values, list) else [values]
        elif key == "@value":
            yield from (known[values].iri for known in NAMED if values in known)
        elif key == "@list" or not key.startswith("@"):
            yield key
            for value in values:
                yield from iris_in(value)


@cache
def used():
    """Return the terms of all examples that are read."""
    graphs = (expand(read_json(whole(example), ""), {}) for example in READ)
    nodes = [node for graph in graphs for node in graph.nodes]
    return {terms.canonical(iri) for node in nodes for iri in iris_in(node.data)}


NOT_READ = language_reference.not_read()


def test_every_term_of_the_vocabulary_is_in_an_example():
    rest = {*used(), *EXCEPTED, *NOT_READ}
    assert [iri for iri in terms.vocabulary() if iri not in rest] == []


def test_no_term_is_excepted_that_is_in_an_example():
    assert not used() & {*EXCEPTED, *NOT_READ}


def names_of_contexts():
    for document in terms.bundled_contexts().values():
        for name, entry in document["@context"].items():
            iri = entry["@id"] if isinstance(entry, dict) else str(entry)
            if not name.startswith("@") and not iri.endswith(("/", "#")):
                yield name, terms.expand(iri)


def test_every_name_of_the_bundled_contexts_is_in_an_example():
    rest = {*used(), *EXCEPTED, *NOT_READ, "@id", "@type"}
    assert [name for name, iri in names_of_contexts() if iri not in rest] == []


def with_term(iri):
    """Return policies with a term in every place where one can stand."""
    said = {iri: {"@id": "ex:Other"}}
    comparison = {"leftOperand": "count", "operator": "lt", "rightOperand": 3}
    yield {**FRAME, "@type": iri} if terms.local_name(iri)[0].isupper() else {**FRAME, **said}
    yield as_policy(as_rule(said))
    yield as_policy(as_rule({"constraint": {**comparison, **said}}))
    for part in ("target", "assignee", "action", "purpose"):
        yield as_policy(as_rule({part: {"@id": "ex:Thing", **said}}))


@pytest.mark.parametrize("iri", NOT_READ, ids=terms.local_name)
def test_a_term_that_is_not_read_is_refused_wherever_it_stands(iri):
    for policy in with_term(iri):
        with pytest.raises(PolicyError):
            read_policies(json.dumps(policy))


def test_every_parameter_has_a_row():
    kinds = "refinement|release|randomised|synthesised"
    rows = {row[0].strip("`") for _, _, row in tables(f"examples: (?:{kinds})")}
    assert {terms.compact(iri) for iri in parameters()} <= rows


def test_what_refines_other_actions_has_a_row():
    rows = {row[0].strip("`") for _, _, row in tables(r"examples: (?:audit|generator|reading)")}
    assert {terms.compact(iri) for iri in refining_operands() if iri not in operands()} <= rows
    assert set(terms.attacks()) <= rows


# -- the page -------------------------------------------------------------------------------------


def test_the_reference_is_the_one_that_the_vocabulary_gives():
    hint = "run: python docs/generate/language_reference.py"
    assert language_reference.with_reference(PAGE) == PAGE, hint


def test_every_table_has_as_many_cells_in_each_row():
    outside = re.sub(r"^```.*?^```$", "", PAGE, flags=re.MULTILINE | re.DOTALL)
    for table in re.findall(r"(?:^\|.*\n)+", outside, re.MULTILINE):
        assert len({row.count("|") for row in table.splitlines()}) == 1, table.splitlines()[0]
        assert set(table.splitlines()[1]) == {"|", "-"}


def test_every_fence_is_closed():
    fences = re.findall(r"^```.*$", PAGE, re.MULTILINE)
    assert all(fence == "```" for fence in fences[1::2])
    assert all(fence != "```" for fence in fences[::2])


def test_headings_differ():
    headings = re.findall(r"^#+ (.*)$", PAGE, re.MULTILINE)
    assert len(set(headings)) == len(headings)


def test_short_form_of_the_page_is_read_and_planned():
    example = FILES["study-short.yaml"]
    [policy] = read_policies(example.text, syntax="yaml")
    check_plannable(policy)
    assert policy.permissions[0].output == "http://example.com/VisitsForStudies"
