"""Columns masked value by value, from the policy to who may read what was made of it."""

import json
from datetime import UTC, datetime
from decimal import Decimal

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from applying import applied, asking, measured, refused, rows_of
from building import ANALYST, DATASET, OUTPUT, anonymize, column, permission, policy

from policy_engine import apply_policy, certify_output, compare_release, explore_policy
from policy_engine.audits.reports.comparison import report_page
from policy_engine.authoring.diagram import draw_policy
from policy_engine.authoring.diff import compare_policies
from policy_engine.certificate.beside import load_certificate
from policy_engine.certificate.certificate import read_certificate
from policy_engine.certificate.shortcomings import proven
from policy_engine.decision import Decider, Request, World
from policy_engine.engines.tables import table_digest
from policy_engine.errors import CertificateError, PlanError
from policy_engine.policy import read_policy
from policy_engine.policy.model import READ
from policy_engine.terms import expand_term

PLAIN = {"method": "k-anonymity", "k": 2, "quasi": ["age"]}
PAY = column("pay", masking="rounding", base=10)
CAP = column("cap", masking="top-coding", threshold=7.5)
ASKED = {**PLAIN, "masked": [PAY, CAP]}
TABLE = "age,pay,cap\n20,25,1.50\n21,-25,9.1\n40,,7.5\n41,1004,-3\n"
NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
AGAIN = "http://x.org/again"


def as_categories(columns):
    frame = pd.DataFrame(columns)
    return frame.assign(pay=frame["pay"].astype("category"))


@pytest.fixture
def data(tmp_path):
    (tmp_path / "in.csv").write_text(TABLE)
    return tmp_path / "in.csv"


@pytest.fixture
def made(data):
    return applied(data, data.parent / "one" / "a.csv", **ASKED)


def test_what_is_published_keeps_its_masking_and_is_measured(made):
    assert made.path.read_text() == (
        "age,pay,cap\n[20 - 21],-30,7.5\n[20 - 21],30,1.5\n[40 - 41],,7.5\n[40 - 41],1000,-3\n"
    )
    assert measured(made) == {("k", ""): 2, ("rounding", "pay"): 0, ("top-coding", "cap"): 0}
    assert proven(made.certificate).endswith("rounding of pay kept, top-coding of cap kept")


@pytest.mark.parametrize("how", [{}, {"partitioning": "relaxed"}, {"polish": True}])
def test_the_order_of_rows_says_nothing_of_what_was_masked(how):
    pay, note = [3, 1, 2, 4], ["a", "b", "c", "d"]
    tables = [
        {"age": [20, 20, 20, 20], "pay": pay, "note": note},
        {"age": [20, 20, 20, 20], "pay": pay[::-1], "note": note},
    ]
    one, other = (
        applied(t, masked=[PAY], insensitive=["note"], **PLAIN, **how).table for t in tables
    )
    assert one.to_pydict() == other.to_pydict()


def test_a_masked_column_changes_no_class(data):
    plain = applied(data, **{**PLAIN, "insensitive": ["pay", "cap"]})
    given = applied(data, **ASKED)
    assert sorted(plain.table["age"].to_pylist()) == sorted(given.table["age"].to_pylist())


@pytest.mark.nightly
def test_masked_columns_are_not_left_out_and_compared(made, data):
    found = compare_release(data, made.path)
    assert found.left_out == ()
    assert [(one.name, one.role) for one in found.columns] == [
        ("age", "quasi-identifier"),
        ("pay", "masked"),
        ("cap", "masked"),
    ]
    # 25, -25, 1004 became 30, -30, 1000, of a standard deviation of 580.2 with n - 1.
    pay = found.masking.columns[0]
    assert pay.il1s == pytest.approx(14 / 3 / (2**0.5 * 580.19853), rel=1e-5)
    assert "pay: quantiles" in report_page(found)


def test_a_column_of_nothing_but_missing_values_stays_one(tmp_path):
    table = {"age": [20, 21], "pay": [None, None]}
    for ending in ("csv", "parquet"):
        made = applied(table, tmp_path / ending / f"a.{ending}", masked=[PAY], **PLAIN)
        assert made.table["pay"].to_pylist() == [None, None]


def test_lists_in_an_output_do_not_keep_a_masking(tmp_path):
    place = tmp_path / "lists.parquet"
    pq.write_table(pa.table({"age": ["[20 - 21]"] * 2, "pay": [[1], [2]]}), place)
    with pytest.raises(CertificateError, match="V001 2 cells of 'pay'"):
        certify_output(place, asking(masked=[PAY], **PLAIN))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("highest", ["150.25", "12345678901.125", "100"])
@pytest.mark.parametrize("make", [pd.DataFrame, dict, as_categories])
def test_the_type_of_decimals_in_a_frame_says_nothing_of_what_was_masked(tmp_path, highest, make):
    pay = [Decimal(text) for text in ("1.50", "99", "150", highest)]
    frame = make({"age": [20, 21, 22, 23], "pay": pay})
    asked = asking(masked=[column("pay", masking="top-coding", threshold=100)], **PLAIN)
    found = apply_policy(asked, {DATASET: frame}, tmp_path / "a.csv")
    assert found.table.schema.field("pay") == pa.field("pay", pa.decimal128(4, 1))
    assert found.path.read_text().split() == [
        "age,pay",
        *("[20", "-", "21],1.5", "[20", "-", "21],99"),
        *("[22", "-", "23],100", "[22", "-", "23],100"),
    ]
    assert apply_policy(asked, {DATASET: frame}).table.schema == found.table.schema


def test_integers_that_no_type_holds_are_refused(tmp_path):
    frame = pd.DataFrame({"age": [20, 21], "pay": pd.Series([1, 2**70], dtype=object)})
    assert refused(frame, tmp_path, masked=[PAY], **PLAIN) == ["C010"]


def test_the_digest_of_a_frame_is_that_of_its_table():
    frame = pd.DataFrame({"age": [20, 21], "pay": [Decimal("1.5"), Decimal(2)]})
    made = apply_policy(asking(masked=[PAY], **PLAIN), {DATASET: frame})
    assert made.record.inputs[0].digest == table_digest(
        pa.Table.from_pandas(frame, preserve_index=False)
    )


def test_decimals_of_a_declared_type_keep_it_and_are_written_as_other_numbers(tmp_path):
    pay = pa.array([Decimal("7.500"), Decimal("9.125")])
    pq.write_table(pa.table({"age": [20, 21], "pay": pay}), tmp_path / "in.parquet")
    cap = column("pay", masking="top-coding", threshold=8)
    made = applied(tmp_path / "in.parquet", tmp_path / "out" / "a.csv", masked=[cap], **PLAIN)
    assert made.table.schema.field("pay").type == pay.type
    assert made.path.read_text() == "age,pay\n[20 - 21],7.5\n[20 - 21],8\n"


def test_rows_that_a_join_leaves_out_do_not_matter_to_a_masking(tmp_path):
    other = "http://x.org/Claims"
    (tmp_path / "a.csv").write_text("id,age\n1,20\n2,21\n3,40\n")
    (tmp_path / "b.csv").write_text("pid,pay\n1,14\n2,16\n4,none\n")
    action = anonymize(**PLAIN, masked=[PAY], joinOn=["id"])
    action = json.loads(json.dumps(action).replace(f"{DATASET}/pay", f"{other}/pay"))
    action["refinement"][-1]["rightOperand"].append(f"{other}/pid")
    rule = permission(action=action, target=[DATASET, other], output=OUTPUT)
    data = {DATASET: tmp_path / "a.csv", other: tmp_path / "b.csv"}
    assert apply_policy(policy([rule]), data).table["pay"].to_pylist() == [10, 20]


def test_what_cannot_be_masked_is_refused_and_nothing_is_written(tmp_path):
    table = {"age": [1, 2], "pay": ["x", "y"]}
    assert refused(table, tmp_path, masked=[PAY], **PLAIN) == ["R013"]
    assert refused({"age": [1, 2]}, tmp_path, masked=[PAY], **PLAIN) == ["C005"]


def test_an_output_that_does_not_keep_its_masking_is_not_certified(made):
    certify_output(made.path, asking(**ASKED))
    made.path.write_text(made.path.read_text().replace("1000", "1004"))
    with pytest.raises(CertificateError, match="V001 1 cell of 'pay' does not keep its rounding"):
        certify_output(made.path, asking(**ASKED))


def test_an_output_of_another_masking_is_not_certified(made):
    other = asking(**{**PLAIN, "masked": [column("pay", masking="rounding", base=5), CAP]})
    with pytest.raises(
        CertificateError, match=r"V014 The column 'pay' was made with rounding, base 10, "
    ):
        certify_output(made.path, other)


def test_other_bounds_are_explored_with_the_masking(data):
    runs = explore_policy(asking(**ASKED), {DATASET: data}, {"k": [2, 4]})
    assert [run.outcome.classes for run in runs] == [2, 1]
    assert {len(run.outcome.measurements) for run in runs} == {3}


def without_masking(facts):
    facts["measurements"] = facts["measurements"][:1]


def with_too_many(facts):
    facts["measurements"][1]["achieved"] = 5


@pytest.mark.parametrize("change", [without_masking, with_too_many])
def test_a_certificate_that_contradicts_its_masking_is_none(made, change):
    document = json.loads((made.path.parent / "certificate.jsonld").read_text())
    change(document["pe:certificate"])
    with pytest.raises(CertificateError, match="V005"):
        read_certificate(json.dumps(document))


# Decisions


def decided(made, text, target=OUTPUT, certificate=None):
    found = certificate or made.certificate
    request = Request(
        assignee=ANALYST, action=READ, targets=(target,), purpose=expand_term("marketing")
    )
    return Decider([read_policy(text)], [found]).decide(request, World(time=NOON))


def changed(certificate, **values):
    """Return a certificate of a plan that masks otherwise."""
    steps = tuple(
        one.model_copy(update=values) if one.step == "mask" else one
        for one in certificate.plan.steps
    )
    plan = certificate.plan.model_copy(update={"steps": steps})
    return certificate.model_copy(update={"plan": plan})


def test_an_output_is_read_by_a_certificate_of_its_own_masking_alone(made):
    text = asking(**ASKED)
    assert decided(made, text).permitted
    first, second = made.plan.mask.columns
    fewer = changed(made.certificate, columns=(first,))
    other = changed(made.certificate, columns=(first.model_copy(update={"base": 5.0}), second))
    broken = made.certificate.model_copy(
        update={
            "measurements": tuple(
                one.model_copy(update={"achieved": 1}) if one.column == "pay" else one
                for one in made.certificate.measurements
            )
        }
    )
    for certificate in (fewer, other, broken):
        assert not decided(made, text, certificate=certificate).permitted


def test_a_masked_column_is_derived_from_its_column(made):
    found = decided(made, asking(**ASKED), f"{OUTPUT}/pay")
    assert found.permitted
    assert [one.sources for one in found.made_from] == [(f"{DATASET}/pay",)]


# What is made of it


def again(made, **parts):
    """Return what is made of a release in which columns were masked."""
    action = anonymize(method="k-anonymity", k=2, **parts)
    action = json.loads(json.dumps(action).replace(f"{DATASET}/", f"{OUTPUT}/"))
    rule = permission(action=action, target=OUTPUT, output=AGAIN)
    text = policy([rule], uid=f"{AGAIN}#policy")
    return apply_policy(text, {OUTPUT: made.path}, made.path.parent.parent / "two")


@pytest.mark.parametrize(
    ("parts", "use"),
    [
        ({"quasi": ["pay"]}, "generalised again"),
        ({"quasi": ["cap"], "insensitive": ["pay"]}, "generalised again"),
        ({"quasi": ["age"], "masked": [PAY]}, "generalised again"),
    ],
)
def test_masked_cells_are_not_read_as_values(made, parts, use):
    with pytest.raises(PlanError, match=f"M015 .*{use}"):
        again(made, **parts)


def test_beside_another_table_it_is_not_advised_to_keep_masked_cells(made, tmp_path):
    other = "http://x.org/Claims"
    (tmp_path / "b.csv").write_text("pid,zip\n20,1\n21,2\n40,1\n41,2\n")
    action = anonymize(
        method="k-anonymity", k=2, quasi=["zip"], insensitive=["pay"], joinOn=["cap"]
    )
    action = json.loads(json.dumps(action).replace(f"{DATASET}/zip", f"{other}/zip"))
    action = json.loads(json.dumps(action).replace(f"{DATASET}/", f"{OUTPUT}/"))
    action["refinement"][-1]["rightOperand"].append(f"{other}/pid")
    rule = permission(action=action, target=[OUTPUT, other], output=AGAIN)
    data = {OUTPUT: made.path, other: tmp_path / "b.csv"}
    with pytest.raises(PlanError) as caught:
        apply_policy(policy([rule], uid=f"{AGAIN}#policy"), data)
    assert {(one.code, one.hint) for one in caught.value.problems} == {
        ("M015", "Leave the column out, or redact it."),
        ("M015", "Use the data that it was made from."),
    }


def test_masked_cells_are_kept_and_known_for_what_they_are(data):
    made = applied(data, data.parent / "one" / "a.csv", **PLAIN, masked=[PAY], insensitive=["cap"])
    second = again(made, quasi=["cap"], insensitive=["pay", "age"])
    [before] = second.certificate.upstream
    assert ("pay", "rounding") in [(one.name, one.generalization) for one in before.generalised]
    assert len(rows_of(second)) == 4
    masked = column("pay", masking="rounding", base=5)
    with pytest.raises(PlanError, match=r"M015 .*'pay' of .* was masked by 'rounding': .* masked"):
        again(made, quasi=["cap"], masked=[masked])
    assert load_certificate(second.path).upstream == (before,)


def test_parts_and_totals_that_are_rounded_one_by_one_do_not_add_up():
    # Parts of 4 at most, with a total of 5 or more: that is narrower than 0 says of either.
    table = {"id": [1, 2], "pay": [4, 4], "cap": [4, 14], "all": [8, 18]}
    masked = [column(name, masking="rounding", base=10) for name in ("pay", "cap", "all")]
    made = applied(table, method="masking", insensitive=["id"], masked=masked)
    assert rows_of(made) == [(1, 0, 0, 10), (2, 0, 10, 20)]
    without = applied(table, method="masking", insensitive=["id"], masked=masked[:2])
    assert [one + other for _, one, other in rows_of(without)] == [0, 10]


# What is written about it


def test_another_base_is_a_change_that_goes_either_way():
    old, new = asking(**ASKED), asking(**ASKED).replace('"pe:base": 10', '"pe:base": 5')
    found = compare_policies(read_policy(old), read_policy(new)).changes
    assert found
    assert {(one.what[:6], one.tendency) for one in found} == {("masked", "either")}


def test_a_drawing_says_what_is_masked():
    text = draw_policy(read_policy(asking(**ASKED)), "mermaid").text
    assert "masked" in text
