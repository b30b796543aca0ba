"""Columns that are masked without a privacy model, from the policy to who may read the output."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from applying import applied, asking, measured, refused
from building import ANALYST, DATASET, OUTPUT, anonymize, column, permission, policy
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine import apply_policy, certify_output, compare_release, explore_policy, query_data
from policy_engine.audits.reports.comparison import report_page
from policy_engine.audits.utility.model import MaskingLoss
from policy_engine.authoring.diagram import draw_policy
from policy_engine.authoring.diff import compare_policies
from policy_engine.authoring.policy_tests.running import run_policy_tests
from policy_engine.certificate.certificate import read_certificate
from policy_engine.certificate.page import certificate_html
from policy_engine.cli.tables.certificates import certificate_table
from policy_engine.cli.tables.comparisons import comparison_tables
from policy_engine.cli.tables.plans import plan_table
from policy_engine.decision import Decider, Request, World
from policy_engine.errors import CertificateError, PlanError
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.plan.making import make_plan
from policy_engine.plan.plan import Plan
from policy_engine.policy import read_policy
from policy_engine.policy.model import READ
from policy_engine.terms import expand_term

PAY = column("pay", masking="rounding", base=10)
ALONE = {"method": "masking", "masked": [PAY]}
BOTH = {"method": ["masking", "k-anonymity"], "k": 2, "quasi": ["age"], "masked": [PAY]}
TABLE = "id,age,pay,note\n1,20,25,b\n2,21,-25,a\n3,40,,c\n4,41,1004,a\n"
KEPT = {**ALONE, "insensitive": ["note"]}
NO_GUARANTEE = "No syntactic guarantee was asked for"
KEY = b"k" * 32


@pytest.fixture
def data(tmp_path):
    (tmp_path / "in.csv").write_text(TABLE)
    return tmp_path / "in.csv"


@pytest.fixture
def made(data):
    return applied(data, data.parent / "one" / "a.csv", identifier=["id"], **KEPT)


def printed(table):
    """Return a table as a terminal shows it."""
    from rich.console import Console

    console = Console(width=200)
    with console.capture() as capture:
        console.print(table)
    return capture.get()


def test_all_rows_are_released_with_the_columns_that_the_policy_names(made):
    assert made.path.read_text() == "pay,note\n-30,a\n1000,a\n30,b\n,c\n"
    assert measured(made) == {("rounding", "pay"): 0}
    assert made.certificate.rows_out == 4


def test_identifiers_are_replaced_as_ever():
    table = {"card": ["x", "y", "x"], "blot": [1, 2, 3], "pay": [1, 14, 16]}
    found = applied(table, key=KEY, pseudonymize=["card"], redact=["blot"], **ALONE)
    cards, blots = found.table["card"].to_pylist(), found.table["blot"].to_pylist()
    assert set(blots) == {"REDACTED"}
    assert len(set(cards)) == 2
    assert all(len(card) == 64 for card in cards)


ROWS = st.lists(
    st.tuples(st.sampled_from([1, 5, 14, 16, None]), st.sampled_from(["a", "b", None])),
    min_size=1,
    max_size=12,
).flatmap(lambda rows: st.tuples(st.just(rows), st.permutations(rows)))


@pytest.mark.nightly
@settings(max_examples=25, deadline=None)
@given(ROWS)
def test_the_order_of_the_input_leaves_no_trace(orders):
    one, other = (
        applied(
            pa.table(
                {
                    "pay": pa.array([pay for pay, _ in rows], pa.int64()),
                    "note": pa.array([note for _, note in rows], pa.string()),
                }
            ),
            **KEPT,
        ).table
        for rows in orders
    )
    assert one.equals(other)
    assert one.num_rows == len(orders[0])


def test_values_that_were_masked_do_not_order_rows():
    pay = [3, 1, 2, 4]
    one, other = (applied({"pay": values}, **ALONE) for values in (pay, pay[::-1]))
    assert one.certificate.output_digest == other.certificate.output_digest


# What is refused


@pytest.mark.parametrize(
    ("parts", "codes"),
    [
        ({"quasi": ["age"]}, ["M004"]),
        ({"sensitive": ["age"]}, ["M004"]),
        ({"privacyUnit": "id"}, ["M004"]),
        ({"algorithm": "mondrian"}, ["M004"]),
        ({"k": 3}, ["M004"]),
        ({"masked": None, "insensitive": ["pay"]}, ["M002"]),
        ({"quasi": ["pay"]}, ["M004", "M005"]),
    ],
)
def test_what_makes_no_sense_without_a_model_is_refused(tmp_path, parts, codes):
    given_parts = {name: value for name, value in {**ALONE, **parts}.items() if value is not None}
    table = {"id": [1], "age": [20], "pay": [5]}
    assert sorted(refused(table, tmp_path, **given_parts)) == codes


def test_the_reason_is_told():
    with pytest.raises(PlanError, match=r"masking alone bounds nothing. Ask for a privacy model"):
        applied({"age": [1], "pay": [5]}, quasi=["age"], **ALONE)


def test_beside_a_model_something_is_masked_all_the_same(tmp_path):
    table = {"age": [20, 21], "pay": [5, 6]}
    without = {name: value for name, value in BOTH.items() if name != "masked"}
    assert refused(table, tmp_path, **without) == ["M002"]
    found = applied(table, **BOTH)
    assert measured(found) == {("k", ""): 2, ("rounding", "pay"): 0}
    assert found.certificate.utility.classes == 1
    assert found.certificate.warning == ""


@pytest.mark.parametrize("name", ["masking", "https://w3id.org/policy-engine/ns#maskingAlone"])
def test_the_method_has_two_names(name):
    value = {"@id": name} if ":" in name else name
    assert applied({"pay": [14]}, method=value, masked=[PAY]).table["pay"].to_pylist() == [10]


def test_the_masking_of_a_column_is_not_a_method():
    with pytest.raises(PlanError, match=r"M001 The method 'pe:masking' is not known.*'masking'\?"):
        applied({"pay": [14]}, method={"@id": "pe:masking"}, masked=[PAY])


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        (None, "M004 masking alone bounds nothing"),
        ({}, "M004 masking alone bounds nothing"),
        ({"k": [2, 4]}, "M004 .* has no parameter 'k'. It has 'base' and 'pay:base'"),
    ],
)
def test_nothing_is_explored_but_parameters_of_maskings(data, choices, message):
    with pytest.raises(PlanError, match=message):
        explore_policy(asking(**KEPT), {DATASET: data}, choices)


# The plan


def plan_of(**parts):
    return make_plan(read_policy(asking(**parts)))


def test_the_plan_says_that_nothing_is_bounded():
    plan = plan_of(**KEPT)
    assert [one.step for one in plan.steps] == ["read", "drop", "mask", "anonymize", "publish"]
    assert [bound.name for bound in plan.bounds()] == ["rounding"]
    assert Plan.model_validate_json(plan.model_dump_json()) == plan
    assert "no privacy model: nothing is bounded" in printed(plan_table(plan))
    assert "masking, k-anonymity: k at least 2" in printed(plan_table(plan_of(**BOTH)))


def without_mask(facts):
    facts["steps"] = [one for one in facts["steps"] if one["step"] != "mask"]
    facts["steps"][-1]["columns"] = facts["steps"][0]["columns"] = ["note"]


def with_sensitive(facts):
    facts["steps"][3]["columns"]["sensitive"] = [{"name": "note"}]
    facts["steps"][3]["columns"]["insensitive"] = []


def with_persons(facts):
    facts["steps"][3]["columns"]["privacy_unit"] = "note"


def with_suppression(facts):
    facts["steps"][3]["recoding"]["max_suppression"] = 0.5


@pytest.mark.parametrize("change", [without_mask, with_sensitive, with_persons, with_suppression])
def test_a_plan_that_no_policy_has_is_none(change):
    facts = json.loads(plan_of(**KEPT).model_dump_json())
    change(facts)
    with pytest.raises(ValueError, match=r"nothing is masked or sampled|privacy models alone"):
        Plan.model_validate_json(json.dumps(facts))


# The certificate


def test_the_first_line_of_a_certificate_says_that_nothing_was_guaranteed(made):
    text = (made.path.parent / "certificate.jsonld").read_text()
    assert NO_GUARANTEE in text.splitlines()[1]
    assert next(iter(json.loads(text))) == "pe:warning"
    assert NO_GUARANTEE in printed(certificate_table(made.certificate)).splitlines()[0]
    assert NO_GUARANTEE in certificate_html(made.certificate).splitlines()[0]
    assert read_certificate(text) == made.certificate


def test_a_certificate_of_a_model_has_no_such_line():
    certificate = applied({"age": [20, 21], "pay": [5, 6]}, **BOTH).certificate
    for text in (certificate.to_jsonld(), certificate_html(certificate)):
        assert NO_GUARANTEE not in text
    assert NO_GUARANTEE not in printed(certificate_table(certificate))


def without_warning(document):
    del document["pe:warning"]


def with_loss(document):
    document["pe:certificate"]["utility"] = {
        "classes": 1,
        "average_class_size": 4.0,
        "average_class_ratio": 4.0,
        "global_certainty_penalty": None,
        "discernability": 16,
        "column_losses": {},
        "perturbed": [],
    }


@pytest.mark.parametrize("change", [without_warning, with_loss])
def test_a_certificate_that_contradicts_its_method_is_none(made, change):
    document = json.loads(made.certificate.to_jsonld())
    change(document)
    with pytest.raises(CertificateError, match="V005"):
        read_certificate(json.dumps(document))


def test_an_output_is_measured_again(made, data):
    text = asking(identifier=["id"], **KEPT)
    assert certify_output(made.path, text).warning
    assert certify_output(made.path, text, data={DATASET: data}).warning
    made.path.write_text(made.path.read_text().replace("1000", "1004"))
    with pytest.raises(CertificateError, match="V001 1 cell of 'pay' does not keep its rounding"):
        certify_output(made.path, text)


def test_another_column_in_an_output_is_refused(made):
    rows = made.path.read_text().splitlines()
    made.path.write_text("\n".join(f"{row},{n}" for n, row in enumerate(rows)) + "\n")
    with pytest.raises(CertificateError, match="V002 The output contains '0'"):
        certify_output(made.path, asking(identifier=["id"], **KEPT))


def test_rows_that_are_gone_are_missed(made, data):
    made.path.write_text("".join(made.path.read_text().splitlines(keepends=True)[:-1]))
    with pytest.raises(CertificateError):
        certify_output(made.path, asking(identifier=["id"], **KEPT), data={DATASET: data})


# Who may read it, and what is made of it


def decided(made, text, target=OUTPUT):
    request = Request(
        assignee=ANALYST, action=READ, targets=(target,), purpose=expand_term("marketing")
    )
    return Decider([read_policy(text)], [made.certificate]).decide(request, World())


def test_who_the_output_is_for_may_read_it(made):
    text = asking(identifier=["id"], **KEPT)
    assert decided(made, text).permitted
    assert not decided(made, text, DATASET).permitted
    assert not decided(made, text.replace('"pe:base": 10', '"pe:base": 5')).permitted
    assert not decided(made, asking(identifier=["id"], insensitive=["note"], **BOTH)).permitted


def test_queries_are_answered_from_it(made):
    text = asking(identifier=["id"], **KEPT)
    found = query_data(
        "SELECT pay FROM anonPeople WHERE note = 'a'",
        [text],
        ANALYST,
        {OUTPUT: made.path},
        "marketing",
        certificates=[made.path.parent],
    )
    assert found.permitted
    assert sorted(found.table.column("pay").to_pylist()) == [-30, 1000]


def test_policy_tests_know_who_reads_it(made):
    request = {"assignee": ANALYST, "action": "read", "target": OUTPUT, "purpose": "marketing"}
    test = {"name": "reads", "request": request, "expect": {"effect": "permit"}}
    folder = made.path.parent
    (folder.parent / "p.jsonld").write_text(asking(identifier=["id"], **KEPT))
    suite = {"policies": ["p.jsonld"], "certificates": [folder.name], "tests": [test]}
    (folder.parent / "tests.yaml").write_text(json.dumps(suite))
    assert run_policy_tests(folder.parent / "tests.yaml").passed


def test_a_release_is_made_of_it(made):
    again = "http://x.org/again"
    action = anonymize(method="k-anonymity", k=2, quasi=["note"], insensitive=["pay"])
    action = json.loads(json.dumps(action).replace(f"{DATASET}/", f"{OUTPUT}/"))
    text = policy([permission(action=action, target=OUTPUT, output=again)], uid=f"{again}#p")
    second = apply_policy(text, {OUTPUT: made.path}, made.path.parent.parent / "two")
    [before] = second.certificate.upstream
    assert [(one.name, one.generalization) for one in before.generalised] == [("pay", "rounding")]
    assert NO_GUARANTEE not in second.certificate.to_jsonld()


def test_masking_is_done_on_what_was_generalised(tmp_path):
    table = {"age": [20, 21], "pay": [14, 26]}
    plain = {"method": "k-anonymity", "k": 2, "quasi": ["age"], "insensitive": ["pay"]}
    first = applied(table, tmp_path / "one" / "a.csv", **plain)
    again = "http://x.org/again"
    action = anonymize(insensitive=["age"], **ALONE)
    action = json.loads(json.dumps(action).replace(f"{DATASET}/", f"{OUTPUT}/"))
    text = policy([permission(action=action, target=OUTPUT, output=again)], uid=f"{again}#p")
    second = apply_policy(text, {OUTPUT: first.path}, tmp_path / "two")
    assert second.table["pay"].to_pylist() == [10, 30]
    assert {one.generalization for one in second.certificate.upstream[0].generalised} == {""}


def test_tables_are_joined_first(tmp_path):
    other = "http://x.org/Claims"
    (tmp_path / "a.csv").write_text("id,note\n1,a\n2,b\n3,c\n")
    (tmp_path / "b.csv").write_text("pid,pay\n1,14\n2,16\n4,none\n")
    action = anonymize(**KEPT, joinOn=["id"])
    action = json.loads(json.dumps(action).replace(f"{DATASET}/pay", f"{other}/pay"))
    action["refinement"][-1]["rightOperand"].append(f"{other}/pid")
    rule = permission(action=action, target=[DATASET, other], output=OUTPUT)
    data = {DATASET: tmp_path / "a.csv", other: tmp_path / "b.csv"}
    found = apply_policy(policy([rule]), data).table
    assert found.select(["note", "pay"]).to_pydict() == {"note": ["a", "b"], "pay": [10, 20]}


def test_types_are_kept(tmp_path):
    table = pa.table({"pay": pa.array([1.5, 14.0]), "size": pa.array([1, 2], pa.int8())})
    pq.write_table(table, tmp_path / "in.parquet")
    place = tmp_path / "out" / "a.parquet"
    applied(tmp_path / "in.parquet", place, insensitive=["size"], **ALONE)
    kinds = {field.name: field.type for field in pq.read_schema(place)}
    assert kinds == {"pay": pa.float64(), "size": pa.int8()}


# What is written about it


@pytest.mark.one_in(2)
@pytest.mark.parametrize("shareable", [False, True])
def test_a_comparison_says_that_there_are_no_classes(made, data, shareable):
    found = compare_release(data, made.path, shareable=shareable)
    assert isinstance(found.classes, NotApplicable)
    assert found.certainty_penalty is found.discernability is found.average_class_ratio is None
    assert found.methods == ("masking",)
    assert [one.name for one in found.columns] == ["note", "pay"]
    assert found.masking.columns == () if shareable else len(found.masking.columns) == 1
    assert "no privacy model was asked for" in report_page(found)
    assert "no privacy model was asked for" in "".join(map(printed, comparison_tables(found)))


def test_a_comparison_of_nothing_but_masked_columns_is_one(data):
    made = applied(data, data.parent / "one" / "a.csv", **ALONE)
    found = compare_release(data, made.path)
    assert [one.kind for one in found.columns] == ["masked"]
    assert isinstance(found.masking, MaskingLoss)


def test_a_policy_that_asks_for_masking_alone_is_warned_of():
    [hint] = [one for one in read_policy(asking(**KEPT)).hints if one.code == "W005"]
    assert hint.message == "No privacy model is asked for: masking alone bounds nothing."
    assert asking(**KEPT).splitlines()[hint.place.line - 1].strip() == '"rightOperand": "masking"'
    assert all(one.code != "W005" for one in read_policy(asking(**BOTH)).hints)


def test_a_policy_that_asks_for_a_sample_alone_is_warned_of_it():
    asked = asking(method="masking", sampleSize=5, insensitive=["id"])
    [hint] = [one for one in read_policy(asked).hints if one.code == "W005"]
    assert hint.message == "No privacy model is asked for: a sample alone bounds nothing."


def test_a_model_that_is_given_up_is_a_change():
    old, new = asking(**BOTH), asking(**ALONE)
    found = compare_policies(read_policy(old), read_policy(new)).changes
    assert any("method" in one.what for one in found)


def test_a_drawing_names_the_method():
    assert "masking" in draw_policy(read_policy(asking(**KEPT)), "mermaid").text


def test_a_table_of_masked_columns_is_not_audited():
    duty = {"action": "pe:membershipInference"}
    rule = permission(action=anonymize(**KEPT), output=OUTPUT)
    reading = permission(action="read", target=OUTPUT, duty=[duty])
    with pytest.raises(PlanError, match="M013"):
        make_plan(read_policy(policy([rule, reading])))
