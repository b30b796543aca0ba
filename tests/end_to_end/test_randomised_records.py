"""Tables under local differential privacy, from the policy to the estimates."""

import json

import pyarrow as pa
import pyarrow.csv as pacsv
import pytest
from building import ANALYST, DATASET, OUTPUT
from randomising import DAYS, SEX, TOWN, randomising

import policy_engine
from policy_engine import (
    Request,
    apply_policy,
    certify_output,
    decide_request,
    estimate_answers,
    terms,
)
from policy_engine.certificate.certificate import read_certificate
from policy_engine.errors import CertificateError, DataError, PlanError

POLICY = randomising(SEX, TOWN, DAYS, epsilon="6")
KEY = b"\x07" * 32


def visits(rows=600):
    return pa.table(
        {
            "who": [f"p{row}" for row in range(rows)],
            "sex": ["F", "M", "F"] * (rows // 3),
            "town": ["a", "b"] * (rows // 2),
            "days": [row % 15 for row in range(rows)],
        }
    )


@pytest.fixture
def place(tmp_path):
    pacsv.write_csv(visits(), tmp_path / "visits.csv")
    return tmp_path / "visits.csv"


def test_a_release_has_an_answer_for_each_record_and_nothing_else(place, tmp_path):
    release = apply_policy(POLICY, {DATASET: place}, tmp_path / "answers.csv")
    assert release.table.column_names == ["days", "sex", "town"]
    assert release.certificate.rows_out == 600
    assert release.certificate.holds
    assert {one.column for one in release.certificate.randomised} == {"days", "sex", "town"}
    estimates = estimate_answers(tmp_path / "answers.csv", original=place)
    assert [column.name for column in estimates.columns] == ["days", "sex", "town"]
    assert estimates.columns[1].figures[0].truth == pytest.approx(2 / 3)


def test_estimates_of_a_release_in_memory_are_those_of_its_file(place, tmp_path):
    release = apply_policy(POLICY, {DATASET: place}, tmp_path / "answers.parquet")
    one, other = estimate_answers(release), estimate_answers(tmp_path / "answers.parquet")
    assert one.columns == other.columns
    compared = policy_engine.compare_release(place, tmp_path / "answers.parquet")
    shared = policy_engine.compare_release(place, tmp_path / "answers.parquet", shareable=True)
    assert compared.original.rows == 600
    assert (shared.original, shared.columns) == (None, other.columns)


def test_a_certificate_says_nothing_that_follows_from_values():
    """Of two inputs with other values, everything but the output and the commitment is the same."""
    other = visits().set_column(1, "sex", pa.array([None] * 600, pa.string()))
    facts = []
    for table in (visits(), other):
        certificate = apply_policy(POLICY, {DATASET: table}).certificate
        told = certificate.model_dump(mode="json")
        for name in ("output_digest", "commitment", "time"):
            told.pop(name)
        facts.append(told)
    assert facts[0] == facts[1]


def test_warnings_and_progress_say_nothing_that_follows_from_values():
    said = []
    strange = visits().set_column(3, "days", pa.array(["?"] * 600))
    for table in (visits(), strange):
        steps = []
        release = apply_policy(
            POLICY, {DATASET: table}, progress=lambda *one, steps=steps: steps.append(one)
        )
        said.append((steps, release.release.doubts))
    assert said[0] == said[1]


def test_a_certificate_is_read_again_and_not_with_other_figures(place, tmp_path):
    release = apply_policy(POLICY, {DATASET: place}, tmp_path / "answers.csv")
    text = release.certificate.to_jsonld()
    assert read_certificate(text) == release.certificate
    document = json.loads(text)
    facts = document["pe:certificate"]
    changes = [
        {"randomised": [{**facts["randomised"][0], "epsilon": 1}, *facts["randomised"][1:]]},
        {"randomised": facts["randomised"][1:]},
        {"measurements": [{**facts["measurements"][0], "achieved": 1}, *facts["measurements"][1:]]},
        {"made_by": None},
    ]
    for change in changes:
        document["pe:certificate"] = {**facts, **change}
        with pytest.raises(CertificateError, match="V005"):
            read_certificate(json.dumps(document))


def test_a_table_alone_is_never_certified(place, tmp_path):
    """The answers of another program, or the values themselves, may look alike."""
    apply_policy(POLICY, {DATASET: place}, tmp_path / "answers.csv")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "x.csv").write_bytes((tmp_path / "answers.csv").read_bytes())
    for given in ({}, {"data": {DATASET: place}}):
        for output in (tmp_path / "answers.csv", tmp_path / "other" / "x.csv"):
            with pytest.raises(DataError, match="V006"):
                certify_output(output, POLICY, **given)


def test_who_may_read_the_answers(place, tmp_path):
    apply_policy(POLICY, {DATASET: place}, tmp_path / "answers.csv")
    for target, permitted in ((OUTPUT, True), (f"{OUTPUT}/sex", True), (DATASET, False)):
        request = Request(
            assignee=ANALYST,
            action=f"{terms.ODRL}read",
            targets=(target,),
            purpose=f"{terms.MOSAICROWN}marketing",
        )
        decision = decide_request([POLICY], [tmp_path], request)
        assert decision.permitted == permitted


def test_the_same_persons_answer_alike_by_the_owners_key(place):
    policy = randomising(SEX, TOWN, privacyUnit="who")
    first, again, other = (
        sorted(map(str, apply_policy(policy, {DATASET: place}, key=key).table.to_pylist()))
        for key in (KEY, KEY, b"\x08" * 32)
    )
    assert first == again != other
    with pytest.raises(DataError, match="C013 Persons are to answer alike"):
        apply_policy(policy, {DATASET: place})


def test_neither_plan_nor_certificate_tells_how_many_records_a_person_has():
    policy = randomising(SEX, TOWN, privacyUnit="who")
    facts = []
    for times in (1, 7):
        table = pa.concat_tables([visits()] * times)
        release = apply_policy(policy, {DATASET: table}, key=KEY)
        assert release.certificate.measurements[0].achieved == 2
        told = release.certificate.model_dump(mode="json")
        for name in ("output_digest", "commitment", "time"):
            told.pop(name)
        facts.append(told)
        figure = estimate_answers(release, original=table).columns[0].figures[0]
        assert figure.truth == pytest.approx(2 / 3)
    assert facts[0] == facts[1]
    assert facts[0]["rows_out"] == 600


def test_what_is_not_randomised_has_no_answers_to_estimate(place):
    with pytest.raises(CertificateError, match="V006"):
        estimate_answers(place)
    rounded = {"@id": f"{DATASET}/days", "pe:masking": "rounding", "pe:base": 5}
    masking = randomising(epsilon="", method="masking", masked=[rounded])
    release = apply_policy(masking, {DATASET: visits()})
    with pytest.raises(PlanError, match="randomises no records"):
        estimate_answers(release)


def test_a_column_that_the_data_lacks_is_named(place):
    lacking = {**SEX, "@id": f"{DATASET}/gender"}
    with pytest.raises(DataError, match="C005"):
        apply_policy(randomising(lacking), {DATASET: place})
