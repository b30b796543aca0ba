"""Several anonymisations in one policy: each for an audience, with an output of its own."""

import json

import pytest
from building import ANALYST, DATASET, PEOPLE, anonymize, permission
from building import policy as policy_text
from typer.testing import CliRunner

from policy_engine import apply_all, apply_policy, certify_output, decide_request, query_data
from policy_engine.certificate.beside import load_certificate, load_certificates
from policy_engine.cli import app
from policy_engine.decision import Request
from policy_engine.errors import DeniedError, OutputError, PlanError, PolicyEngineError
from policy_engine.plan.making import make_plan
from policy_engine.plan.products import products
from policy_engine.policy import read_policy
from policy_engine.policy.model import READ

PUBLIC = "http://x.org/public"
FEW, MANY = "http://x.org/ForResearch", "http://x.org/ForPublic"


def makes(output, assignee=ANALYST, k=2, name="", target=DATASET, **parts):
    """Return a permission to anonymise a table of people with their k, for somebody."""
    asked = {"method": "k-anonymity", "k": k, "quasi": ["age", "city"], "insensitive": ["disease"]}
    asked |= parts.pop("asked", {})
    rule = {"uid": f"http://x.org/policy#{name or output.rpartition('/')[2]}", "output": output}
    made = permission(action=anonymize(**asked), assignee=assignee, purpose=None, **rule, **parts)
    return json.loads(json.dumps(made).replace(DATASET, target))


TWO = (makes(FEW), makes(MANY, PUBLIC, k=3))


def read(*rules, prohibitions=(), **parts):
    return read_policy(policy_text([*rules], prohibitions, **parts))


def test_each_audience_has_a_plan_of_its_own():
    made = read(*TWO)
    assert [one.asset for one in products(made)] == [FEW, MANY]
    few, many = (make_plan(made, asset=one) for one in (FEW, MANY))
    assert (few.publish.asset, few.anonymize.k, few.assignees) == (FEW, 2, (ANALYST,))
    assert (many.publish.asset, many.anonymize.k, many.assignees) == (MANY, 3, (PUBLIC,))


def test_which_output_is_meant_has_to_be_said_where_there_are_several():
    for asset, what in (("", f"2 outputs: '{FEW}' and '{MANY}'"), (f"{FEW}s", "Did you mean")):
        with pytest.raises(PlanError, match="M007") as error:
            make_plan(read(*TWO), asset=asset)
        assert what in str(error.value)


WRONG = {
    "one output": (makes(FEW), makes(FEW, name="again")),
    "an output within another": (makes(FEW), makes(f"{FEW}/age")),
    "an output of an output": (makes(FEW), makes(MANY, target=FEW)),
    "an output of a column of one": (makes(FEW), makes(MANY, target=f"{FEW}/age")),
}


@pytest.mark.parametrize("case", WRONG)
def test_outputs_that_are_not_apart_are_refused_with_both_places(case):
    with pytest.raises(PolicyEngineError, match="M007") as error:
        products(read(*WRONG[case]))
    [problem] = [one for one in error.value.problems if one.code == "M007"]
    assert problem.place.line > 20
    assert "ForResearch (line " in problem.message


def test_an_output_that_is_said_to_be_in_another_is_refused():
    inside = {"@id": FEW, "partOf": MANY}
    text = json.loads(policy_text([*TWO]))
    text["permission"][1]["target"] = DATASET
    text["permission"].append({"target": inside, "action": "read", "assignee": ANALYST})
    with pytest.raises(PlanError, match="M007"):
        products(read_policy(json.dumps(text)))


def test_what_is_wrong_with_each_is_told_at_once():
    bad = {"quasi": ["age", "age"]}
    with pytest.raises(PlanError) as error:
        products(read(makes(FEW, asked=bad), makes(MANY, asked=bad)))
    assert [one.code for one in error.value.problems] == ["M005", "M005"]


def test_a_prohibition_of_one_audience_forbids_what_is_made_for_that():
    forbids = {"target": DATASET, "action": "anonymize", "assignee": PUBLIC}
    with pytest.raises(PlanError, match="M008") as error:
        products(read(*TWO, prohibitions=[forbids]))
    [problem] = error.value.problems
    assert "#ForPublic permits" in problem.message


# -- outputs --------------------------------------------------------------------------------------

NAMES = ["ForPublic.csv", "ForResearch.csv"]
CERTIFIED = sorted([*NAMES, *(f"{name}.certificate.jsonld" for name in NAMES)])


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "people.csv").write_text(PEOPLE)
    return tmp_path


def release(folder, *rules, out="out", function=apply_all, **parts):
    text = policy_text([*(rules or TWO)])
    return function(json.loads(text), {DATASET: folder / "people.csv"}, folder / out, **parts)


def names(folder):
    return sorted(one.name for one in folder.iterdir())


def decided(folder, assignee, *targets, certificates=("out",), rules=TWO):
    request = Request(assignee=assignee, action=READ, targets=targets)
    given = [folder / one for one in certificates]
    return decide_request([json.loads(policy_text([*rules]))], given, request)


def test_all_outputs_are_made_each_beside_a_certificate_of_its_own_name(folder):
    made = release(folder)
    assert names(folder / "out") == CERTIFIED
    assert [one.certificate.plan.publish.asset for one in made] == [FEW, MANY]
    for one in made:
        assert load_certificate(one.path) == one.certificate
        assert one.certificate.file == one.path.name


def test_each_output_is_open_to_its_own_audience_alone(folder):
    release(folder)
    for own, other, party in ((FEW, MANY, ANALYST), (MANY, FEW, PUBLIC)):
        name = f"out/{own.rpartition('/')[2]}.csv.certificate.jsonld"
        assert decided(folder, party, own).permitted
        assert decided(folder, party, own, certificates=[name]).permitted
        assert not decided(folder, party, other).permitted
        assert not decided(folder, party, own, certificates=[]).permitted
    wrong = ["out/ForPublic.csv.certificate.jsonld"]
    assert not decided(folder, ANALYST, FEW, certificates=wrong).permitted


def test_two_outputs_of_one_table_are_read_together_by_a_rule_that_names_both_alone(folder):
    both = {"assignee": ANALYST, "target": [FEW, MANY], "action": "read", "uid": "http://x.org/b"}
    named = {"leftOperand": "pe:jointly", "operator": "isAnyOf", "rightOperand": [FEW, MANY]}
    release(folder, *TWO, both)
    without = decided(folder, ANALYST, FEW, MANY, rules=(*TWO, both))
    assert not without.permitted
    assert "are both made from http://x.org/People" in without.reason
    told = (*TWO, {**both, "constraint": named})
    release(folder, *told, overwrite=True)
    assert decided(folder, ANALYST, FEW, MANY, rules=told).permitted


def test_two_outputs_of_one_table_are_not_joined_by_a_query(folder):
    both = {"assignee": ANALYST, "target": [FEW, MANY], "action": "read"}
    made = release(folder, *TWO, both)
    data = {one.plan.publish.asset: one.path for one in made}
    sql = "SELECT a.age, b.age FROM ForResearch a JOIN ForPublic b ON a.disease = b.disease"
    policies = [json.loads(policy_text([*TWO, both]))]
    found = query_data(sql, policies, ANALYST, data, certificates=[folder / "out"])
    assert not found.permitted
    one = query_data(
        "SELECT age FROM ForPublic", policies, ANALYST, data, certificates=[folder / "out"]
    )
    assert one.permitted


def test_where_one_output_fails_none_is_published(folder):
    with pytest.raises(PolicyEngineError, match="R002"):
        release(folder, makes(FEW), makes(MANY, PUBLIC, k=7), record=folder / "record.json")
    assert names(folder) == ["people.csv"]


def test_what_is_kept_of_each_has_its_name_and_opens_its_certificate_alone(folder):
    made = release(folder, record=folder / "record.json")
    kept = [f"{name}.record.json" for name in NAMES]
    assert names(folder) == sorted([*kept, "out", "people.csv"])
    policy = json.loads(policy_text([*TWO]))
    for one in made:
        own = folder / f"{one.path.name}.record.json"
        assert certify_output(one.path, policy, record=own).commitment
        [other] = [folder / name for name in kept if name != own.name]
        with pytest.raises(PolicyEngineError, match="V008"):
            certify_output(one.path, policy, record=other)


def test_pseudonyms_of_each_output_are_its_own(folder):
    asked = {"quasi": ["age"], "pseudonymize": ["name"]}
    rules = makes(FEW, asked=asked), makes(MANY, PUBLIC, k=3, asked=asked)
    few, many = release(folder, *rules, key=b"k" * 32)
    found = [
        {row.split(",")[0] for row in one.path.read_text().splitlines()} for one in (few, many)
    ]
    assert found[0] & found[1] == {"name"}
    assert few.record.salt != many.record.salt


def test_a_second_output_joins_the_first_and_leaves_it_as_it_was(folder):
    first = release(folder, function=apply_policy, asset=FEW)
    assert names(folder / "out") == ["ForResearch.csv", "certificate.jsonld"]
    before = {one.name: one.read_bytes() for one in (folder / "out").iterdir()}
    second = release(folder, function=apply_policy, asset=MANY)
    after = {one.name: one.read_bytes() for one in (folder / "out").iterdir()}
    assert {name: after[name] for name in before} == before
    assert sorted(after) == sorted([*before, "ForPublic.csv", CERTIFIED[1]])
    assert load_certificates(folder / "out") == (second.certificate, first.certificate)
    release(folder, overwrite=True)
    assert names(folder / "out") == sorted(after)
    assert decided(folder, PUBLIC, MANY).permitted


def test_outputs_that_cannot_share_a_folder_are_told(folder):
    same = makes(FEW), makes("http://x.org/other/forresearch", PUBLIC)
    for rules, out in ((same, "out"), (TWO, "a.csv")):
        with pytest.raises(OutputError, match=r"O002 .*asset=IRI"):
            release(folder, *rules, out=out)
    assert names(folder) == ["people.csv"]


def test_what_may_be_made_is_decided_of_each_and_made_by_each(folder):
    log, asked = folder / "log.jsonl", {"purpose": "", "log": folder / "log.jsonl"}
    with pytest.raises(DeniedError, match="D007"):
        release(folder, party=ANALYST, **asked)
    assert not (folder / "out").exists()
    assert len(log.read_text().splitlines()) == 1
    one = release(folder, function=apply_policy, asset=FEW, party=ANALYST, **asked)
    assert one.certificate.made_by.rules == ("http://x.org/policy#ForResearch",)
    assert len(log.read_text().splitlines()) == 2


def test_a_permission_that_covers_each_output_is_counted_for_each(folder):
    once = {"leftOperand": "count", "operator": "lteq", "rightOperand": 1}
    free = {"assignee": ANALYST, "target": DATASET, "action": "anonymize", "constraint": once}
    other = json.loads(policy_text([{**free, "uid": "http://x.org/f"}], uid="http://x.org/other"))
    rules = makes(FEW, "http://x.org/a"), makes(MANY, PUBLIC)
    acting = {"party": ANALYST, "log": folder / "log.jsonl", "policies": [other]}
    with pytest.raises(DeniedError, match="count"):
        release(folder, *rules, **acting)
    assert names(folder) == ["log.jsonl", "people.csv"]
    assert release(folder, *rules, function=apply_policy, asset=FEW, **acting).certificate.holds


def test_an_output_is_measured_as_the_certificate_beside_it_says(folder):
    made = release(folder)
    policy = json.loads(policy_text([*TWO]))
    assert [certify_output(one.path, policy).plan.anonymize.k for one in made] == [2, 3]
    bare = folder / "ForPublic.csv"
    bare.write_bytes(made[1].path.read_bytes())
    with pytest.raises(PlanError, match="M007"):
        certify_output(bare, policy)
    assert certify_output(bare, policy, asset=MANY).plan.anonymize.k == 3


def test_commands_make_all_or_the_one_that_is_named(folder):
    (folder / "policy.jsonld").write_text(policy_text([*TWO]))
    given = [str(folder / "policy.jsonld"), "--data", str(folder / "people.csv")]

    def run(*more):
        return CliRunner().invoke(app, [*more[:1], *given, *more[1:]])

    planned = run("plan", "--format", "json")
    assert [one["steps"][-1]["asset"] for one in json.loads(planned.stdout)] == [FEW, MANY]
    one = json.loads(run("plan", "--format", "json", "--asset", MANY).stdout)
    assert one["steps"][-1]["asset"] == MANY
    out = ["--output", str(folder / "out"), "--format", "json"]
    assert len(json.loads(run("apply", *out).stdout)) == 2
    assert names(folder / "out") == CERTIFIED
    told = run("explore", "--k", "2")
    assert "M007 The policy makes 2 outputs" in str(told.exception)
    assert run("explore", "--k", "2", "--asset", FEW).exit_code == 0


def test_outputs_are_kept_apart_from_one_request_to_the_next_where_the_policy_says_so(folder):
    both = {"leftOperand": "pe:readSoFar", "operator": "isAllOf", "rightOperand": [FEW, MANY]}
    apart = {"target": [FEW, MANY], "action": "read", "constraint": both}
    more = {"assignee": ANALYST, "target": MANY, "action": "read"}
    for name, prohibitions, is_second_read in (("without", [], True), ("with", [apart], False)):
        policy = json.loads(policy_text([*TWO, more], prohibitions))
        out = folder / name
        apply_all(policy, {DATASET: folder / "people.csv"}, out)
        answers = [
            decide_request(
                [policy],
                [out],
                Request(assignee=ANALYST, action=READ, targets=(target,)),
                log=folder / f"{name}.jsonl",
            ).permitted
            for target in (FEW, MANY)
        ]
        assert answers == [True, is_second_read]
