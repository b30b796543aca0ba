"""Any JSON at all in the place of a certificate, or of a record: told with a code, never a bug."""

import copy
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import get_args

import pytest
from building import DATASET, OUTPUT, PEOPLE, people_policy
from everyday import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from modelled import of_release
from typer.testing import CliRunner

from policy_engine import apply_policy, certify_output, compare_release, plan_policy
from policy_engine.audits.gate import ModelFigures
from policy_engine.certificate.beside import load_certificate
from policy_engine.certificate.certificate import Certificate, read_certificate
from policy_engine.certificate.consistency import contradictions
from policy_engine.certificate.record import read_record
from policy_engine.certificate.shortcomings import shortcomings
from policy_engine.cli import app
from policy_engine.cli.tables.certificates import certificate_table
from policy_engine.decision import Decider, Request
from policy_engine.engines.engine import EarlyStop, Stage, StoredData
from policy_engine.errors import CertificateError, InternalError, PolicyEngineError, Problem
from policy_engine.kernels.estimates import Estimate, NotApplicable
from policy_engine.methods import Measurement
from policy_engine.methods.audits.membership_inference import AttackMeasurement
from policy_engine.methods.recoding import RecodingOptions
from policy_engine.plan.training import FileBounds, FilesMeasured
from policy_engine.policy import read_policy
from policy_engine.policy.model import READ

NUMBERS = st.sampled_from([0, -1, 3, 1.5, 1e308, 2**63, 10**30, 10**308, 10**399])
TEXTS = st.sampled_from(["", "x", "a/b", "../x", "\0", "memory", "table:x", "l-diversity", OUTPUT])
SCALARS = st.none() | st.booleans() | NUMBERS | TEXTS | st.text(max_size=5)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(TEXTS | st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)
CERTIFICATE, RECORD = "release/certificate.jsonld", "record.json"
NO_JSON = [
    *("", "[", "{", "nul", "{'a': 1}", "1 2", "\ufeff", '{"a": 1,}', "[" * 5_000, "9" * 5_000),
    *("NaN", "Infinity", "1e999", "-1e999", "-", '"\\ud800"', '{"\\udc00": 1}', '"\x01"'),
    *(b"\xff", b"\xef\xbb\xbf{}", '{"pe:certificate": {}, "pe:certificate": {}}', "{}\0", b"\0\1"),
    *("null", "3", "[]", "{}", '"x"', "true", '{"pe:certificate": null}', '{"pe:certificate": 3}'),
]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a folder with a release, its record, what they were made of, and their texts."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "people.csv").write_text(PEOPLE)
    (folder / "policy.jsonld").write_text(people_policy())
    data, record = {DATASET: folder / "people.csv"}, folder / "record.json"
    apply_policy(folder / "policy.jsonld", data, folder / "release", record=record)
    return folder


def certificate_of(folder):
    return json.loads((folder / CERTIFICATE).read_text())


def of_a_model(folder):
    """Return the certificate of a model, with attacks, as it would be."""
    plan = plan_policy(of_release()).public()
    reached = Estimate(value=0.5, low=0.4, high=0.6)
    [bound] = plan.audits[0].method.bounds
    attack = AttackMeasurement(attack="loss", bound=bound, reached=reached)
    told = ModelFigures(on_members=reached, on_others=reached, baseline=reached)
    proven = Measurement(bound="k", asked=plan.anonymize.k, achieved=6)
    facts = {
        "plan": plan,
        "attacks": (attack,),
        "utility": NotApplicable(reason="nothing was generalised"),
    }
    facts |= {"measurements": (proven,), "attempts": 1, "models": (told,), "unique_rows": None}
    made = load_certificate(folder / "release").model_copy(update=facts)
    return json.loads(made.to_jsonld())


def places(value, at=()):
    """Yield the way to every part of a JSON value but itself."""
    inside = value.items() if isinstance(value, dict) else enumerate(value)
    for name, part in inside:
        yield (*at, name)
        if isinstance(part, dict | list):
            yield from places(part, (*at, name))


def at(value, place):
    for name in place:
        value = value[name]
    return value


@st.composite
def mutated(draw, document):
    """Draw a document with a part dropped, or in its place any value or another of its parts."""
    changed, ways = copy.deepcopy(document), list(places(document))
    for _ in range(draw(st.integers(1, 2))):
        *above, last = draw(st.sampled_from(ways))
        try:
            parent = at(changed, above)
            parent[last]
        except (LookupError, TypeError):
            continue  # gone with what was changed before
        what = draw(st.sampled_from(["drop", "value", "part"]))
        if what == "drop":
            del parent[last]
        elif isinstance(parent, dict) or last < len(parent):
            other = copy.deepcopy(at(document, draw(st.sampled_from(ways))))
            parent[last] = draw(VALUES) if what == "value" else other
    return changed


def in_agreement(document):
    """Return a certificate's text, what stands around its facts made to agree with them."""
    facts = json.dumps(document.get("pe:certificate"))
    try:
        return Certificate.model_validate_json(facts).to_jsonld()
    except ValueError:
        return json.dumps(document)


def read(text):
    """Return a certificate, None where the text is refused as it should be."""
    codes = refused(read_certificate, text)
    if codes:
        assert codes == {"V005"}
        return None
    found = read_certificate(text)
    assert read_certificate(found.to_jsonld()) == found
    return found


def use(certificate, folder):
    """Do with a certificate what is done with one without data."""
    assert certificate.holds == (not list(shortcomings(certificate)))
    certificate_table(certificate)
    policy = read_policy((folder / "policy.jsonld").read_text())
    request = Request(assignee="http://x.org/analyst", action=READ, targets=(OUTPUT,))
    Decider([policy], [certificate]).decide(request).model_dump_json()


@pytest.mark.parametrize("text", NO_JSON, ids=repr)
def test_what_is_no_json_is_no_certificate_and_no_record(text, tmp_path):
    for reader in (read_certificate, read_record):
        with pytest.raises(CertificateError, match="V005"):
            reader(text)
    raw = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    (tmp_path / "certificate.jsonld").write_bytes(raw)
    with pytest.raises(CertificateError, match="V005"):
        load_certificate(tmp_path)


@pytest.mark.parametrize("methods", [[], None, 3, "", {}, {"l-diversity": []}, {"x": {}}], ids=repr)
def test_methods_that_are_none_are_refused(methods, made):
    document = certificate_of(made)
    [step] = [s for s in document["pe:certificate"]["plan"]["steps"] if s["step"] == "anonymize"]
    step["methods"] = methods
    assert read(json.dumps(document)) is None


@pytest.mark.parametrize("order", [[], [0], [0, 1, 3], [1, 0, 2, 3], [0, 1, 2, 2, 3], [0, 0, 2, 3]])
def test_steps_that_are_no_plan_are_refused(order, made):
    document = certificate_of(made)
    plan = document["pe:certificate"]["plan"]
    plan["steps"] = [plan["steps"][number] for number in order]
    assert read(json.dumps(document)) is None


def both(field, **figures):
    """Return a change of the first measurement, or of the figures of the loss."""

    def change(facts):
        (facts["measurements"][0] if field == "k" else facts[field]).update(figures)

    return change


WRONG = {
    "k above rows": both("k", achieved=7),
    "k above the average class": both("k", achieved=3),
    "negative figure": both("k", achieved=-1),
    "l above rows": lambda facts: facts["measurements"][1].update(achieved=7),
    "no rows": lambda facts: facts.update(rows_out=0),
    "fewer rows than k": lambda facts: facts.update(rows_out=1),
    "no classes": both("utility", classes=0),
    "more classes than rows": both("utility", classes=7),
    "another average": both("utility", average_class_size=1.0),
    "another ratio": both("utility", average_class_ratio=2.0),
    "negative penalty": both("utility", global_certainty_penalty=-5.0),
    "penalty above 1": both("utility", column_losses={"age": 2, "city": 2}),
    "penalty is not the mean": both("utility", global_certainty_penalty=0.5),
    "loss of another column": both("utility", column_losses={"name": 0.0, "city": 0.0}),
    "no discernability": both("utility", discernability=0),
    "discernability above all rows": both("utility", discernability=37),
    "no utility": lambda facts: facts.update(utility={"reason": "x"}),
    "measured twice": lambda facts: facts["measurements"].append(
        {**facts["measurements"][0], "achieved": 2.0}
    ),
    "not measured": lambda facts: facts["measurements"].pop(),
    "another bound": both("k", asked=1),
    "approximated": lambda facts: facts.update(approximated=["nonsense"]),
    "approximated twice": lambda facts: facts.update(approximated=["age", "age"]),
    "attacked": lambda facts: facts.update(
        attacks=[
            {
                "attack": "loss",
                "bound": {"measure": "auc", "asked": 0.6},
                "reached": {"value": 0.5, "low": 0.4, "high": 0.6},
            }
        ]
    ),
    "future": lambda facts: facts.update(time="9999-01-01T00:00:00Z"),
    "no time zone": lambda facts: facts.update(time="2026-01-01T00:00:00"),
    "of nothing": lambda facts: facts.update(output_digest=""),
    **{
        f"file {name[:10]!r}": lambda facts, name=name: facts.update(file=name)
        for name in ("..", ".", "a/b", "a\\b", "\0", "x" * 5_000, "certificate.jsonld")
    },
}


WHY = {
    "k above rows": "k cannot be 7 in 6 rows.",
    "k above the average class": "6 rows cannot form 3 classes of 3 or more.",
    "negative figure": "k cannot be -1 in 6 rows.",
    "l above rows": "l cannot be 7 in 6 rows.",
    "no rows": "Its output has no rows.",
    "fewer rows than k": "k cannot be 2 in 1 rows.",
    "no classes": "6 rows cannot form 0 classes.",
    "more classes than rows": "6 rows cannot form 7 classes.",
    "another average": "The average class size must be 2: 6 rows in 3 classes.",
    "another ratio": "The average class size must be 1 times k.",
    "negative penalty": "Its certainty penalty is not the mean of its columns' losses.",
    "penalty above 1": "The loss of a column is not between 0 and 1.",
    "penalty is not the mean": "Its certainty penalty is not the mean of its columns' losses.",
    "loss of another column": "It does not give exactly one loss for each quasi-identifier.",
    "no discernability": "The discernability of 3 classes cannot be 0.",
    "discernability above all rows": "The discernability of 3 classes cannot be 37.",
    "no utility": "It gives another reason than there is for not telling how much was lost.",
    "measured twice": "It does not have exactly one measurement for each bound of its plan.",
    "not measured": "It does not have exactly one measurement for each bound of its plan.",
    "another bound": "It does not have exactly one measurement for each bound of its plan.",
    "attacked": "It has figures of attacks that its plan does not run.",
    "future": "It was made in the future, at 9999-01-01T00:00:00+00:00.",
    "no time zone": "Its time has no time zone.",
    "of nothing": "It has no output, but has measurements of one.",
}


@pytest.mark.parametrize("name", WRONG)
def test_a_certificate_that_no_release_can_have_is_refused(made, name):
    document = certificate_of(made)
    WRONG[name](document["pe:certificate"])
    with pytest.raises(CertificateError, match="V005") as told:
        read_certificate(in_agreement(document), "c.jsonld")
    assert told.value.source == "c.jsonld"
    if name in WHY:
        message = f"The certificate contradicts itself. {WHY[name]}"
        assert told.value.problems[0].message == message


@pytest.mark.parametrize(
    ("algorithm", "polish", "stages"),
    [
        ("mondrian", False, ["partitioning"]),
        ("mondrian", True, ["partitioning", "polishing"]),
        ("full-domain", False, ["searching the lattice"]),
    ],
)
def test_a_search_is_ended_in_a_stage_that_its_plan_has(made, algorithm, polish, stages):
    found = load_certificate(made / "release")
    asked = found.plan.anonymize
    recoding = RecodingOptions(algorithm=algorithm, polish=polish)
    steps = tuple(
        asked.model_copy(update={"recoding": recoding}) if one == asked else one
        for one in found.plan.steps
    )
    plan = found.plan.model_copy(update={"steps": steps})

    def possible(plan):
        return [
            stage
            for stage in get_args(Stage)
            if not any(
                "but its plan has no such search" in one
                for one in contradictions(
                    found.model_copy(
                        update={"plan": plan, "ended": EarlyStop(seconds=1, stage=stage, left=1)}
                    )
                )
            )
        ]

    assert possible(plan) == stages
    leaving = recoding.model_copy(update={"max_suppression": 0.1})
    changed = asked.model_copy(update={"recoding": leaving})
    steps = tuple(changed if one.step == asked.step else one for one in plan.steps)
    more = ["leaving rows out"] if algorithm == "mondrian" else []
    assert possible(plan.model_copy(update={"steps": steps})) == [*stages, *more]
    assert possible(plan.model_copy(update={"engine": "spark"})) == []
    for more in (plan_policy(of_release()).train, *plan_policy(of_release()).audits):
        assert possible(plan.model_copy(update={"steps": (*steps, more)})) == []


NONE = NotApplicable(reason="nobody is ranked")


@pytest.mark.parametrize(
    ("attempts", "attack", "why"),
    [
        (1, {}, ""),
        (2, {"pooled": 0.5}, ""),
        (2, {"reached": NONE}, ""),
        (0, {}, "no number of attempts"),
        (1, {"pooled": 0.5}, "do not match its number of attempts"),
        (2, {}, "do not match its number of attempts"),
        (2, {"reached": NONE, "pooled": 0.5}, "do not match its number of attempts"),
        (1, {"attack": "nosuch"}, "attacks that its plan does not run"),
    ],
)
def test_figures_of_attacks_are_those_of_the_attempts(made, attempts, attack, why):
    found = Certificate.model_validate(of_a_model(made)["pe:certificate"])
    attacks = tuple(one.model_copy(update=attack) for one in found.attacks)
    told = [*contradictions(found.model_copy(update={"attempts": attempts, "attacks": attacks}))]
    assert bool(told) == bool(why)
    assert why in " ".join(told)


def test_figures_that_are_no_counts_may_be_above_the_rows_and_all_columns_perturbed(made):
    found = load_certificate(made / "release")
    high = tuple(Measurement(bound=bound, asked=1, achieved=7) for bound in ("beta", "delta"))
    told = " ".join(contradictions(found.model_copy(update={"measurements": high})))
    assert "cannot be" not in told
    none = {"column_losses": {}, "perturbed": ("age", "city"), "global_certainty_penalty": None}
    cut = found.model_copy(update={"approximated": ("age", "city")})
    assert [*contradictions(cut)] == []
    lost = found.utility.model_copy(update=none)
    assert [*contradictions(found.model_copy(update={"utility": lost}))] == []


def test_nothing_lies_beside_a_model_and_its_certificate(made, tmp_path):
    model = tmp_path / "model"
    model.mkdir()
    (model / "weights").write_text("1")
    facts = {"file": "model", "output_digest": StoredData.from_folder(model).digest}
    certified = Certificate.model_validate(of_a_model(made)["pe:certificate"])
    certified = certified.model_copy(update=facts)
    (tmp_path / "certificate.jsonld").write_text(certified.to_jsonld())
    assert load_certificate(tmp_path) == certified
    for name in ("more.csv", "other.csv"):
        (tmp_path / name).touch()
    with pytest.raises(CertificateError) as told:
        load_certificate(tmp_path)
    message = "The certificate is for the folder 'model' and does not cover 'more.csv' and "
    hint = "Remove it: a released model needs a folder of its own."
    assert told.value.problems == (Problem("V004", f"{message}'other.csv' beside it.", hint),)
    assert told.value.source == str(tmp_path / "certificate.jsonld")
    (model / "weights").unlink()
    model.rmdir()
    assert load_certificate(tmp_path / "certificate.jsonld") == certified
    with pytest.raises(CertificateError) as told:
        load_certificate(tmp_path)
    message = "The model 'model' is not beside its certificate."
    assert told.value.problems == (Problem("V004", message),)
    assert told.value.source == str(tmp_path / "certificate.jsonld")


def test_a_model_is_told_of_where_one_was_attacked_and_no_attack_twice(made):
    found = Certificate.model_validate(of_a_model(made)["pe:certificate"])
    [none] = contradictions(found.model_copy(update={"models": ()}))
    assert "the accuracy of the attacked model" in none
    [twice] = contradictions(found.model_copy(update={"attacks": found.attacks * 2}))
    assert "several figures for one bound" in twice
    table = load_certificate(made / "release")
    for change in ({"models": found.models}, {"attempts": 1}):
        [wrong] = contradictions(table.model_copy(update=change))
        assert "although nothing is attacked" in wrong
    bounds = FileBounds(smallest_leaf=99)
    files = FilesMeasured(asked=bounds, smallest_leaf=99, rare_values=0)
    [other] = contradictions(found.model_copy(update={"files": files}))
    assert "figures of a model's files that its plan does not ask for" in other


def test_certificates_of_tables_models_and_nothing_are_read(made):
    data = {DATASET: made / "people.csv"}
    for held in (apply_policy(made / "policy.jsonld", data), None):
        found = held.certificate if held else load_certificate(made / "release").as_refusal()
        assert read_certificate(found.to_jsonld()) == found
    for kind in (certificate_of, of_a_model):
        assert read(json.dumps(kind(made))) is not None


def test_a_clock_may_be_ahead_by_hours(made):
    soon = datetime.now(UTC).replace(microsecond=0) + timedelta(hours=13)
    found = load_certificate(made / "release").model_copy(update={"time": soon})
    assert read_certificate(found.to_jsonld()) == found


@pytest.mark.parametrize("file", ["", "nosuch.csv"])
def test_a_certificate_is_not_read_beside_an_output_that_it_does_not_speak_of(made, tmp_path, file):
    found = load_certificate(made / "release").model_copy(update={"file": file})
    (tmp_path / "certificate.jsonld").write_text(found.to_jsonld())
    assert load_certificate(tmp_path) == found
    (tmp_path / "anonPeople.csv").write_text("a file that nobody verified")
    with pytest.raises(CertificateError, match="V004"):
        load_certificate(tmp_path)


def refused(function, *args, **more):
    """Return the codes with which something is refused, none where it is not."""
    try:
        function(*args, **more)
    except InternalError:
        raise
    except PolicyEngineError as error:
        return {problem.code for problem in error.problems}
    return set()


@settings(deadline=None, max_examples=examples(60, times=50))
@given(VALUES)
def test_any_json_is_refused(value):
    assert refused(read_certificate, json.dumps(value)) == {"V005"}
    assert refused(read_certificate, json.dumps({"pe:certificate": value})) == {"V005"}
    assert refused(read_record, json.dumps(value)) == {"V005"}


@pytest.mark.nightly
@settings(deadline=None, max_examples=examples(60, times=50))
@given(st.data())
def test_a_mutated_certificate_is_refused_or_used(made, data):
    kind = data.draw(st.sampled_from([certificate_of, of_a_model]))
    document = data.draw(mutated(kind(made)))
    for text in (json.dumps(document), in_agreement(document)):
        found = read(text)
        if found is not None:
            use(found, made)


@settings(deadline=None, max_examples=examples(40, times=50))
@given(st.data())
def test_a_mutated_record_is_refused_or_opens_nothing_else(made, data):
    true = json.loads((made / "record.json").read_text())
    text = json.dumps(data.draw(mutated(true)))
    if not refused(read_record, text):
        found, kept = read_record(text), read_record(json.dumps(true))
        assert found.opens(kept.commitment) == (found.without_earlier() == kept)


@settings(deadline=None, max_examples=examples(30, times=50))
@given(st.data())
def test_a_text_with_other_bytes_is_refused_or_read(made, data):
    file, reader = data.draw(
        st.sampled_from([(CERTIFICATE, read_certificate), (RECORD, read_record)])
    )
    raw = bytearray((made / file).read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    assert refused(reader, bytes(raw)) <= {"V005"}


@settings(deadline=None, max_examples=examples(6, times=50))
@given(st.data())
def test_certify_and_compare_refuse_with_a_code(made, data):
    """A mutated certificate lies beside the output, and a mutated record is to open it."""
    certificate = data.draw(mutated(certificate_of(made)))
    record = data.draw(mutated(json.loads((made / RECORD).read_text())))
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "anonPeople.csv").write_bytes((made / "release/anonPeople.csv").read_bytes())
        (folder / "certificate.jsonld").write_text(in_agreement(certificate))
        (folder / "record.json").write_text(json.dumps(record))
        for given_one in (None, folder / "record.json"):
            refused(certify_output, folder, made / "policy.jsonld", record=given_one)
            refused(compare_release, made / "people.csv", folder, record=given_one, queries=1)


@settings(deadline=None, max_examples=examples(10, times=50))
@given(st.data())
def test_decide_refuses_with_a_code(made, data):
    with TemporaryDirectory() as name:
        file = Path(name) / "certificate.jsonld"
        file.write_text(in_agreement(data.draw(mutated(certificate_of(made)))))
        args = ["decide", "--policy", str(made / "policy.jsonld"), "--certificate", str(file)]
        args += ["--assignee", "http://x.org/analyst", "--action", "read", "--target", OUTPUT]
        result = CliRunner().invoke(app, [*args, "--purpose", "marketing"])
    assert isinstance(result.exception, PolicyEngineError | SystemExit | None)
    assert not isinstance(result.exception, InternalError)
