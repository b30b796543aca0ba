"""What a certificate and a record take from a release, and what is measured on it as it lies."""

import platform
from dataclasses import replace
from datetime import UTC, datetime
from importlib.util import find_spec

import pytest
from applying import applied
from building import DATASET, column, people_policy
from modelled import of_raw, of_table

from policy_engine import apply_policy
from policy_engine.audits.gate import ModelFigures
from policy_engine.certificate.certifying import CertifiedRelease, certify, check_bounds
from policy_engine.data import storage
from policy_engine.engines.engine import EarlyStop, StoredData
from policy_engine.errors import CertificateError, InternalError, Problem
from policy_engine.kernels.estimates import Estimate, NotApplicable
from policy_engine.methods.audits.membership_inference import AttackBound, AttackMeasurement
from policy_engine.plan.lineage import Upstream
from policy_engine.plan.making import make_plan
from policy_engine.plan.training import FileBounds, FilesMeasured
from policy_engine.policy import read_policy
from policy_engine.release.attempts import Attempt
from policy_engine.release.release import Release

REACHED = Estimate(value=0.5, low=0.4, high=0.6)
ATTACK = AttackMeasurement(
    attack="loss", bound=AttackBound(measure="auc", asked=0.6), reached=REACHED
)
FILES = FilesMeasured(asked=FileBounds(smallest_leaf=10), smallest_leaf=10, rare_values=0)
BEFORE = Upstream(
    asset=DATASET,
    output_digest="1" * 64,
    certificate_digest="2" * 64,
    policy="http://x.org/first",
    policy_digest="3" * 64,
)
FACTS = {
    "approximated": ("age",),
    "ended": EarlyStop(seconds=1, stage="partitioning", left=2),
    "attacks": (ATTACK,),
    "models": (ModelFigures(on_members=REACHED, on_others=REACHED, baseline=REACHED),),
    "files": FILES,
    "upstream": (BEFORE,),
    "made_by": "owner",
}


def attempt(made):
    parts = dict.fromkeys(("data", "way", "seed", "asked"), "0" * 64)
    return Attempt(**parts, made=made * 64, time=datetime(2026, 1, 1, tzinfo=UTC))


@pytest.fixture
def made(people):
    """A release in a file, and its engine."""
    return apply_policy(people / "policy.jsonld", {DATASET: people / "people.csv"}, people / "out")


def certified(made, place="", **changes):
    facts = {"output": StoredData.from_file(made.path), **changes}
    return certify(made.release.model_copy(update=facts), made._engine, place)


def test_a_certificate_and_a_record_say_what_a_release_does(made):
    attempts = (attempt("a"), attempt("b"), attempt("a"))
    own = {"seed": 7, "salt": "5" * 64, "attempts": attempts, "held_out": 2, "suppressed": 3}
    before = datetime.now(UTC).replace(microsecond=0)
    found = certified(made, "/there/a.csv", **FACTS, **own)
    certificate, record = found.certificate, found.known_record
    assert {name: getattr(certificate, name) for name in FACTS} == FACTS
    assert certificate.attempts == 2  # the same was made twice
    assert before <= certificate.time <= datetime.now(UTC)
    assert (certificate.file, certificate.rows_out) == ("anonPeople.csv", 6)
    assert certificate.output_digest == record.release == storage.digest(made.path)
    assert record.opens(certificate.commitment)
    assert {name: getattr(record, name) for name in own} == own
    assert (record.place, record.engine) == ("/there/a.csv", "local")
    assert (record.input.asset, record.input.format) == (DATASET, "csv")
    assert record.input.digest == made.release.sources[0].digest
    lost = record.utility.discernability - certificate.utility.discernability
    assert lost == 3 * 9  # three rows of nine, which are in one class with all
    assert found.utility == record.utility


def test_attacks_are_those_of_one_attempt_at_least(made):
    assert certified(made).certificate.attempts == 0
    assert certified(made, attacks=(ATTACK,)).certificate.attempts == 1


def test_an_output_whose_input_is_unknown_has_no_record(made):
    found = certified(made, sources=())
    assert (found.record, found.certificate.commitment) == (None, None)
    assert found.utility == found.certificate.utility
    with pytest.raises(InternalError):
        found.known_record  # noqa: B018 (a property)


def test_of_a_model_the_table_that_it_learnt_from_is_measured_and_not_described(made):
    model = StoredData(location="/there/model", digest="4" * 64, rows=0)
    found = certified(made, output=model, sanitised=StoredData.from_file(made.path))
    certificate = found.certificate
    assert (certificate.file, certificate.output_digest) == ("model", "4" * 64)
    assert [one.achieved for one in certificate.measurements] == [2, 2]
    assert certificate.rows_out == 6
    reason = "the table that the model learnt from is not released"
    assert certificate.utility == NotApplicable(reason=reason)
    assert found.known_record.utility.classes == 3


def test_a_masking_is_measured_cell_by_cell_on_the_output(tmp_path):
    masked = [column("pay", masking="rounding", base=10)]
    parts = {"method": "k-anonymity", "k": 2, "quasi": ["age"], "masked": masked}
    made = applied({"age": [20, 20, 30, 30], "pay": [11, 22, 33, 44]}, tmp_path / "a.csv", **parts)
    for pay, broken in (("10", 0), ("11", 1)):
        made.path.write_text(made.path.read_text().replace("10", pay))
        found = certified(made).certificate.measurements
        assert [(one.bound, one.column, one.achieved) for one in found] == [
            ("k", "", 2),
            ("rounding", "pay", broken),
        ]


@pytest.mark.parametrize("location", ["memory", "table:people"])
def test_a_table_in_memory_or_in_a_catalog_has_no_file(people, location):
    made = apply_policy(people / "policy.jsonld", {DATASET: people / "people.csv"})
    output = replace(made.release.output, location=location)
    release = made.release.model_copy(update={"output": output})
    assert certify(release, made._engine, "", made._written).certificate.file == ""


@pytest.fixture
def trained():
    """A release of a model that learnt from the records as they are."""
    model = StoredData("/there/model", "4" * 64, 9)
    plan = make_plan(read_policy(of_raw()))
    return Release(
        plan=plan, output=model, sources=(StoredData("/there/people.csv", "5" * 64, 12),)
    )


def test_where_nothing_is_generalised_nothing_is_lost_or_measured(trained):
    found = certify(trained, None)
    certificate = found.certificate
    assert certificate.utility == NotApplicable(reason="nothing was generalised")
    assert found.utility == certificate.utility
    assert (certificate.measurements, certificate.rows_out) == ((), 9)
    assert found.known_record.taxonomies == {}
    assert found.known_record.input.location == "/there/people.csv"


def test_a_certificate_names_the_versions_of_what_made_it(made, trained):
    usual = {"policy-engine", "numpy", "numba", "pyarrow", "python"}
    versions = certified(made).certificate.versions
    assert versions.keys() == usual
    assert versions["python"] == platform.python_version()
    on_spark = made.release.plan.model_copy(update={"engine": "spark"})
    assert certified(made, plan=on_spark).certificate.versions.keys() == usual | {"pyspark"}
    audited = made.release.model_copy(
        update={
            "plan": make_plan(read_policy(of_table())),
            "output": StoredData.from_file(made.path),
        }
    )
    for release, engine in ((trained, None), (audited, made._engine)):
        packages = certify(release, engine).certificate.versions.keys() - usual
        assert "scikit-learn" in packages
        assert ("keras" in packages) == (find_spec("keras") is not None)


@pytest.mark.parametrize(
    ("columns", "messages"),
    [
        (
            "age,city,phone,name,disease",
            ["The output contains 'name' and 'phone', which the policy does not release."],
        ),
        ("disease", ["The output lacks 'age' and 'city', which the policy releases."]),
        (
            "age,phone,disease",
            [
                "The output contains 'phone', which the policy does not release.",
                "The output lacks 'city', which the policy releases.",
            ],
        ),
        (
            "age_low,city,disease",
            [
                "The output contains 'age_low', which the policy does not release.",
                "The output lacks 'age', which the policy releases.",
            ],
        ),
    ],
)
def test_an_output_of_other_columns_is_told_with_all_of_them(made, columns, messages):
    path = made.path
    path.write_text(f"{columns}\n" + ",".join("1" * (columns.count(",") + 1)) + "\n")
    with pytest.raises(CertificateError) as told:
        certified(made, output=StoredData.from_file(path))
    assert told.value.problems == tuple(Problem("V002", one) for one in messages)
    assert told.value.source == str(path)


def test_every_bound_that_falls_short_is_told_with_the_rows_that_were_lost(made):
    found = certified(made)
    short = [one.model_copy(update={"achieved": 1}) for one in found.certificate.measurements]
    facts = {"measurements": tuple(short), "rows_out": 5}
    broken = CertifiedRelease(found.certificate.model_copy(update=facts), found.record)
    with pytest.raises(CertificateError) as told:
        check_bounds(broken, "a.csv")
    assert [one.code for one in told.value.problems] == ["V001", "V001", "V003"]
    assert told.value.source == "a.csv"
    check_bounds(found)


def test_a_column_that_every_row_has_alike_has_lost_nothing(people):
    rows = "".join(f"P{n},30,Rome,{ill},1\n" for n, ill in enumerate(("flu", "cold", "flu")))
    (people / "people.csv").write_text("name,age,city,disease,phone\n" + rows)
    made = apply_policy(people_policy(), {DATASET: people / "people.csv"})
    assert made.certificate.utility.global_certainty_penalty == pytest.approx(0)
