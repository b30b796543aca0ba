"""Synthetic rows, from the policy to the decision about who may read them."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest
from building import ANALYST, DATASET, OUTPUT
from synthesising import attacking, residents, synthesising
from typer.testing import CliRunner

from policy_engine import Request, apply_policy, certify_output, decide_request, terms
from policy_engine.certificate.certificate import read_certificate
from policy_engine.certificate.record import load_record
from policy_engine.cli import app
from policy_engine.data.catalog import make_catalog
from policy_engine.engines.local import LocalEngine
from policy_engine.errors import AuditError, CertificateError, DataError, OutputError, PlanError
from policy_engine.plan.making import make_plan
from policy_engine.policy import read_policy
from policy_engine.release.release import run_plan

COLUMNS = ("age", "wage", "town")
POLICY = synthesising(*COLUMNS, leafSize=20, rows=500, identifier=["name"])


@pytest.fixture(autouse=True)
def attempts(tmp_path, monkeypatch):
    """Attempts of one test are none of another."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "policy-engine" / "attempts" / "attempts.json"


@pytest.fixture
def place(tmp_path):
    # Wages as they are would be those of one person each, which the attack by rare values finds.
    table = residents()
    wages = [round(one, -2) for one in table["wage"].to_pylist()]
    table = table.set_column(table.column_names.index("wage"), "wage", [wages])
    pacsv.write_csv(table, tmp_path / "people.csv")
    return tmp_path / "people.csv"


def test_a_release_has_so_many_rows_of_the_named_columns_and_no_identifier(place, tmp_path):
    release = apply_policy(POLICY, {DATASET: place}, tmp_path / "out.csv")
    assert release.table.column_names == ["age", "wage", "town"]
    assert release.certificate.rows_out == release.table.num_rows == 500
    assert release.record.rows_in == 600
    assert release.certificate.holds
    assert "p1" not in (tmp_path / "out.csv").read_text()


def test_a_certificate_says_how_rows_were_made_up_and_that_nothing_is_promised(place, tmp_path):
    apply_policy(POLICY, {DATASET: place}, tmp_path / "out.csv", seed=7)
    text = (tmp_path / "certificate.jsonld").read_text()
    certificate = read_certificate(text)
    step = certificate.plan.synthesise
    assert (step.rows, step.synthesiser.leaf, step.columns) == (500, 20, ("age", "town", "wage"))
    assert "No formal guarantee is given" in json.loads(text)["pe:warning"]
    assert {"scikit-learn", "numpy", "python"} <= {*certificate.versions}
    assert "seed" not in text


def test_rows_follow_from_the_seed_which_is_kept_for_the_owner(place, tmp_path):
    tables, seeds = [], []
    for seed in (None, None, 7, 7):
        release = apply_policy(POLICY, {DATASET: place}, seed=seed)
        tables.append(release.table.to_pylist())
        seeds.append(release.record.seed)
    assert tables[0] != tables[1]
    assert tables[2] == tables[3]
    assert len({*seeds}) == 3
    assert seeds[2:] == [7, 7]
    again = apply_policy(POLICY, {DATASET: place}, seed=seeds[0], record=tmp_path / "r.json")
    assert again.table.to_pylist() == tables[0]
    assert load_record(tmp_path / "r.json").seed == seeds[0]


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
@pytest.mark.parametrize("kind", ["independent-marginals", "gaussian-copula"])
def test_every_generator_and_format_is_released(kind, name, place, tmp_path):
    policy = synthesising(*COLUMNS, synthesiser=kind, rows=50)
    release = apply_policy(policy, {DATASET: place}, tmp_path / name)
    assert all(one.achieved == 0 for one in release.certificate.measurements)
    assert len(release.certificate.measurements) == 3


def test_the_assignee_may_read_the_rows_and_nobody_the_input(place, tmp_path):
    apply_policy(POLICY, {DATASET: place}, tmp_path / "out.csv")
    proof = [tmp_path / "certificate.jsonld"]

    def may_read(target):
        request = Request(
            assignee=ANALYST,
            action=f"{terms.ODRL}read",
            targets=(target,),
            purpose=f"{terms.MOSAICROWN}marketing",
        )
        return decide_request([POLICY], proof, request).permitted

    assert may_read(OUTPUT)
    assert not may_read(DATASET)


def test_a_generator_that_goes_beyond_the_input_releases_nothing(place, tmp_path, monkeypatch):
    """What is measured is what was written: here other rows than were made up."""
    write = LocalEngine.write

    def write_others(self, anonymized, destination):
        other = residents().select(["age", "wage", "town"]).slice(0, 500)
        ages = pa.array([999] * 500)
        object.__setattr__(anonymized, "table", other.set_column(0, "age", ages))
        return write(self, anonymized, destination)

    monkeypatch.setattr(LocalEngine, "write", write_others)
    with pytest.raises(CertificateError, match="500 cells of 'age' lie outside of what the input"):
        apply_policy(POLICY, {DATASET: place}, tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


def test_too_few_rows_release_nothing(place, tmp_path, monkeypatch):
    write = LocalEngine.write

    def write_fewer(self, anonymized, destination):
        object.__setattr__(anonymized, "table", anonymized.table.slice(1))
        return write(self, anonymized, destination)

    monkeypatch.setattr(LocalEngine, "write", write_fewer)
    with pytest.raises(CertificateError) as caught:
        apply_policy(POLICY, {DATASET: place}, tmp_path / "out.csv")
    assert caught.value.code == "V003"
    assert "499 rows" in str(caught.value)


def test_nothing_in_a_table_shows_that_it_was_made_up(place, tmp_path):
    apply_policy(POLICY, {DATASET: place}, tmp_path / "out.csv")
    with pytest.raises(DataError) as caught:
        certify_output(tmp_path / "out.csv", POLICY, {DATASET: place})
    assert caught.value.code == "V006"


def test_a_certificate_of_other_rows_contradicts_itself(place, tmp_path):
    release = apply_policy(POLICY, {DATASET: place}, tmp_path / "out.csv")
    other = release.certificate.model_copy(update={"rows_out": 501})
    with pytest.raises(CertificateError, match="It has 501 rows, and its plan makes 500"):
        read_certificate(other.to_jsonld())
    unknown = release.certificate.model_copy(update={"made_by": None})
    with pytest.raises(CertificateError, match="does not say how its rows were made up"):
        read_certificate(unknown.to_jsonld())


def test_columns_of_lists_are_refused():
    table = pa.table({"age": [[1], [2]], "town": ["a", "b"]})
    with pytest.raises(DataError) as caught:
        apply_policy(synthesising("age", "town"), {DATASET: table})
    assert caught.value.code == "C009"


def test_the_command_line_plans_and_applies(place, tmp_path):
    (tmp_path / "p.jsonld").write_text(POLICY)
    runner = CliRunner()
    shown = runner.invoke(app, ["plan", str(tmp_path / "p.jsonld"), "--data", str(place)])
    assert shown.exit_code == 0, shown.output
    assert "no formal guarantee" in shown.output
    arguments = ["apply", str(tmp_path / "p.jsonld"), "--data", str(place), "--seed", "3"]
    done = runner.invoke(app, [*arguments, "--output", str(tmp_path / "o" / "out.csv")])
    assert done.exit_code == 0, done.output
    assert "made up by" in done.output
    assert "learnt from" in done.output


def test_empty_texts_are_not_written_where_they_would_be_missing(tmp_path):
    table = pa.table({"age": [1, 2, 3], "town": ["", "", ""]})
    with pytest.raises(OutputError, match="cannot tell the empty texts of 'town'") as caught:
        apply_policy(synthesising("age", "town"), {DATASET: table}, tmp_path / "out.csv")
    assert caught.value.code == "O002"
    apply_policy(synthesising("age", "town"), {DATASET: table}, tmp_path / "out.parquet")


# -- attacks as a gate ----------------------------------------------------------------------------

BOUNDS = {"auc": 0.75, "tprAtFpr": 0.5, "fpr": 0.05, "excessCopies": 0.2}
GOOD = attacking(COLUMNS, rows=200, leaf=40, **BOUNDS)
LEAKING = attacking(COLUMNS, rows=2_000, leaf=1, **BOUNDS)


@pytest.mark.nightly
def test_rows_are_released_that_attacks_do_not_tell_from_others(place, tmp_path):
    release = apply_policy(GOOD, {DATASET: place}, tmp_path / "out.csv", seed=1)
    certificate = read_certificate((tmp_path / "certificate.jsonld").read_text())
    assert certificate == release.certificate
    assert len(certificate.synthetic_attacks) == 11
    assert all(one.holds for one in certificate.synthetic_attacks)
    assert "a random 50% of all, which it never saw" in certificate.warning
    assert (release.record.rows_in, release.record.held_out) == (600, 300)
    again = apply_policy(GOOD, {DATASET: place}, seed=1)
    assert again.certificate.synthetic_attacks == certificate.synthetic_attacks


def test_the_record_has_how_many_rows_were_held_out_where_equal_ones_are_together():
    table = pa.concat_tables([residents(101)] * 3)
    policy = attacking(COLUMNS, leaf=40, excessCopies=0.9)
    record = apply_policy(policy, {DATASET: table}, seed=1).record
    assert (record.rows_in, record.held_out) == (303, 153)  # in threes, nearest to 152


def test_a_negative_seed_is_refused(place):
    with pytest.raises(PlanError, match="A seed is not negative") as caught:
        apply_policy(GOOD, {DATASET: place}, seed=-1)
    assert caught.value.code == "M003"


@pytest.mark.nightly
def test_rows_that_leak_are_not_released_and_a_certificate_says_so(place, tmp_path):
    with pytest.raises(CertificateError) as caught:
        apply_policy(LEAKING, {DATASET: place}, tmp_path / "out.csv", seed=1)
    assert {one.code for one in caught.value.problems} == {"V007"}
    assert not (tmp_path / "out.csv").exists()
    refusal = read_certificate((tmp_path / "certificate.jsonld").read_text())
    assert (refusal.output_digest, refusal.rows_out) == ("", 0)
    assert len(refusal.synthetic_attacks) == 11
    assert not refusal.holds
    with pytest.raises(CertificateError):
        apply_policy(LEAKING, {DATASET: place}, seed=1)


@pytest.mark.nightly
def test_rows_with_numbers_beyond_floats_are_not_released_as_they_are(tmp_path):
    lines = [f"{8_939_010_000_000_000_000 + row},{'abcde'[row % 5]}" for row in range(400)]
    (tmp_path / "in.csv").write_text("\n".join(["account,illness", *lines]) + "\n")
    policy = attacking(("account", "illness"), rows=800, leaf=1, auc=0.65, excessCopies=0.1)
    with pytest.raises(CertificateError) as caught:
        apply_policy(policy, {DATASET: tmp_path / "in.csv"}, tmp_path / "out.csv", seed=5)
    assert {one.code for one in caught.value.problems} == {"V007"}
    assert any("exact-copies" in one.message for one in caught.value.problems)


@pytest.mark.nightly
def test_the_generator_learns_nothing_of_what_is_held_out(place, monkeypatch):
    from policy_engine.engines.synthesising import tables

    sizes = []
    learn = tables.learnt_table
    monkeypatch.setattr(
        tables, "learnt_table", lambda one: sizes.append(one.num_rows) or learn(one)
    )
    apply_policy(attacking(COLUMNS, leaf=40, auc=0.75, holdoutShare=0.25), {DATASET: place}, seed=1)
    assert {*sizes} == {450}


def test_who_may_read_is_decided_by_the_attacks_that_the_policy_asks_for(place, tmp_path):
    apply_policy(GOOD, {DATASET: place}, tmp_path / "out.csv", seed=1)

    def may_read(policy):
        request = Request(
            assignee=ANALYST,
            action=f"{terms.ODRL}read",
            targets=(OUTPUT,),
            purpose=f"{terms.MOSAICROWN}marketing",
        )
        return decide_request([policy], [tmp_path], request).permitted

    assert may_read(GOOD)
    assert not may_read(attacking(COLUMNS, rows=200, leaf=40, **{**BOUNDS, "auc": 0.51}))


@pytest.mark.nightly
def test_figures_that_no_plan_asks_for_contradict_the_certificate(place, tmp_path):
    release = apply_policy(GOOD, {DATASET: place}, tmp_path / "out.csv", seed=1)
    [first, *others] = release.certificate.synthetic_attacks
    attacks = (first.model_copy(update={"attack": "guessing"}), *others)
    other = release.certificate.model_copy(update={"synthetic_attacks": attacks})
    with pytest.raises(CertificateError, match="attacks on made-up rows that its plan does not"):
        read_certificate(other.to_jsonld())
    fewer = release.certificate.model_copy(update={"synthetic_attacks": tuple(others)})
    assert not read_certificate(fewer.to_jsonld()).holds
    below = first.reached.model_copy(update={"low": -0.5})
    attacks = (first.model_copy(update={"reached": below}), *others)
    other = release.certificate.model_copy(update={"synthetic_attacks": attacks})
    with pytest.raises(CertificateError, match="No figure is below 0: auc"):
        read_certificate(other.to_jsonld())


def test_too_few_rows_to_hold_some_out_are_refused():
    policy = attacking(("age",), auc=0.75, holdoutShare=0.1)
    with pytest.raises(DataError, match="Of 3 rows, 0 would be held out") as caught:
        apply_policy(policy, {DATASET: residents(3)})
    assert caught.value.code == "R001"


@pytest.mark.nightly
def test_the_command_line_says_what_attacks_reached(place, tmp_path):
    (tmp_path / "p.jsonld").write_text(GOOD)
    arguments = ["apply", str(tmp_path / "p.jsonld"), "--data", str(place), "--seed", "1"]
    done = CliRunner().invoke(app, [*arguments, "--output", str(tmp_path / "o" / "out.csv")])
    assert done.exit_code == 0, done.output
    for words in ("auc of nearest-sample", "attacked against", "300 of 600 rows"):
        assert words in done.output


# -- persons with several rows --------------------------------------------------------------------


def visits(people=300):
    """Return a table in which each person has three rows, of one age and other wages."""
    one = residents(people)
    three = pa.concat_tables([one, *(residents(people, seed) for seed in (2, 3))])
    ages = [*one["age"].to_pylist()] * 3
    wages = [round(wage, -2) + place / 1000 for place, wage in enumerate(three["wage"].to_pylist())]
    columns = {"name": one["name"].to_pylist() * 3, "age": ages, "wage": wages}
    return pa.table({**columns, "town": three["town"].to_pylist()})


BY_TOWNS = attacking(("town",), leaf=40, unit="name", identifier=["name"], auc=0.9)


def test_persons_are_learnt_or_held_out_with_all_their_rows(tmp_path):
    policy = attacking(
        ("age", "wage"), leaf=40, unit="name", attack=["nearest-sample"], auc=0.9, excessCopies=0.5
    )
    release = apply_policy(policy, {DATASET: visits()}, tmp_path / "out.csv", seed=1)
    assert release.table.column_names == ["age", "wage"]
    assert release.record.held_out == 450
    certificate = read_certificate((tmp_path / "certificate.jsonld").read_text())
    assert "tell the persons, by 'name', whose rows it learnt from" in certificate.warning
    assert certificate.plan.unit == "name"
    # 150 persons on a side: rows would give an interval that is narrower.
    [area] = [one.reached for one in certificate.synthetic_attacks if one.bound.measure == "auc"]
    assert area.high - area.low > 0.12


def test_persons_whom_equal_rows_link_are_refused():
    with pytest.raises(DataError, match="persons are linked by rows") as caught:
        apply_policy(BY_TOWNS, {DATASET: visits()}, seed=1)
    assert caught.value.code == "R001"


def test_rows_that_name_nobody_are_left_out_and_told():
    table = visits()
    every = enumerate(table["name"].to_pylist())
    names = [None if place % 10 == 0 else one for place, one in every]
    table = table.set_column(0, "name", pa.array(names))
    policy = attacking(("age", "wage"), leaf=40, unit="name", attack=["nearest-sample"], auc=0.9)
    release = apply_policy(policy, {DATASET: table}, seed=1)
    assert (release.record.rows_in, release.record.suppressed) == (900, 90)
    assert "90 rows name nobody and were left out: of 'name' they have no value." in (
        release.release.doubts
    )
    table = table.set_column(0, "name", pa.array([None] * 900, pa.string()))
    with pytest.raises(DataError, match="No row of the table names a person") as caught:
        apply_policy(policy, {DATASET: table}, seed=1)
    assert caught.value.code == "R001"


# -- attempts -------------------------------------------------------------------------------------


def kept(attempts):
    return json.loads(attempts.read_text())["attempts"]


@pytest.mark.nightly
def test_attempts_are_counted_and_judged_together(place, attempts):
    first = apply_policy(GOOD, {DATASET: place}, seed=1)
    assert first.certificate.attempts == 1
    assert {one.pooled for one in first.certificate.synthetic_attacks} == {None}
    second = apply_policy(GOOD, {DATASET: place}, seed=2)
    assert second.certificate.attempts == len(second.record.attempts) == 2
    areas = [one for one in second.certificate.synthetic_attacks if one.bound.measure == "auc"]
    assert all(one.pooled > one.reached.high for one in areas)
    again = apply_policy(GOOD, {DATASET: place}, seed=1)
    assert again.certificate.attempts == 1  # the same answer
    assert again.certificate.synthetic_attacks == first.certificate.synthetic_attacks
    assert len(kept(attempts)) == 2


def other_files(place):
    """Yield the same persons written otherwise: in another order, twice, with a column renamed,
    changed, or left out of what is made up."""
    table = pacsv.read_csv(place)
    order = np.random.default_rng(3).permutation(table.num_rows)
    yield table.take(order), COLUMNS
    yield pa.concat_tables([table, table]), COLUMNS
    yield table.slice(30), COLUMNS
    names = ["salary" if one == "wage" else one for one in table.column_names]
    yield table.rename_columns(names), ("age", "salary", "town")
    wage = table.column_names.index("wage")
    raised = [one + 7 for one in table["wage"].to_pylist()]
    yield table.set_column(wage, "wage", [raised]), COLUMNS


@pytest.mark.nightly
def test_no_other_file_seed_share_or_setting_begins_anew(place):
    # Columns that tell persons apart: sketches are of those.
    table = pacsv.read_csv(place).to_pydict()
    generator = np.random.default_rng(1)
    table |= {name: (generator.random(600) * 1e6).round().tolist() for name in ("x", "y")}
    pacsv.write_csv(pa.table(table), place)
    columns = (*COLUMNS, "x", "y")
    more = {"leaf": 40, "attack": ["nearest-sample"], "auc": 0.95}
    plans = [(place, attacking(columns, **more))]
    for data, names in other_files(place):
        plans.append((data, attacking((*names, "x", "y"), **more)))
    plans.append((place, attacking(columns, **{**more, "leaf": 41})))
    plans.append((place, attacking(columns, holdoutShare=0.4, **more)))
    plans.append((place, attacking(columns, rows=150, **more)))
    plans.append((place, attacking(("age", "town", "x", "y"), **more)))
    plans.append((place, attacking(columns, unit="name", **more)))
    plans.append((place, attacking(columns, synthesiser="gaussian-copula", **{**more, "leaf": 5})))
    counts = [
        apply_policy(policy, {DATASET: data}, seed=seed).certificate.attempts
        for seed, (data, policy) in enumerate(plans)
    ]
    assert counts == [*range(1, len(plans) + 1)]


@pytest.mark.nightly
def test_other_persons_begin_anew(place):
    apply_policy(GOOD, {DATASET: place}, seed=1)
    people = residents(600, seed=77)
    wages = [round(one, -2) for one in people["wage"].to_pylist()]
    people = people.set_column(people.column_names.index("wage"), "wage", [wages])
    other = apply_policy(GOOD, {DATASET: people}, seed=1)
    assert other.certificate.attempts == 1


@pytest.mark.nightly
def test_what_was_refused_is_not_made_again_and_is_told_with_the_earlier_attempts(place, tmp_path):
    def refused(seed, **more):
        with pytest.raises(CertificateError) as caught:
            apply_policy(LEAKING, {DATASET: place}, seed=seed, **more)
        return caught.value

    assert "It was already made" not in refused(1).problems[0].hint
    assert "It was already made from this seed, and refused" in refused(1).problems[0].hint
    with pytest.raises(CertificateError, match="with the earlier attempts"):
        apply_policy(LEAKING, {DATASET: place}, tmp_path / "out.csv", seed=2)
    refusal = read_certificate((tmp_path / "certificate.jsonld").read_text())
    assert refusal.attempts == 2
    assert "It was already made" not in refused(1, report=tmp_path / "why").problems[0].hint


@pytest.mark.nightly
def test_a_policy_may_allow_so_many_attempts(place):
    once = attacking(COLUMNS, rows=200, leaf=40, attempts=1, **BOUNDS)
    apply_policy(once, {DATASET: place}, seed=1)
    with pytest.raises(AuditError, match="Rows, or their generator, were made of") as caught:
        apply_policy(once, {DATASET: place}, seed=2)
    assert caught.value.code == "A020"


def test_what_has_too_few_rows_for_attacks_is_no_attempt(attempts):
    with pytest.raises(AuditError, match="A031"):
        apply_policy(GOOD, {DATASET: residents(30)}, seed=1)
    assert not attempts.exists()


@pytest.mark.nightly
def test_attempts_contradict_a_certificate_that_does_not_count_them(place):
    release = apply_policy(GOOD, {DATASET: place}, seed=1)
    other = release.certificate.model_copy(update={"attempts": 3})
    with pytest.raises(CertificateError, match="do not match its number of attempts"):
        read_certificate(other.to_jsonld())
    none = release.certificate.model_copy(update={"attempts": 0})
    with pytest.raises(CertificateError, match="gives no number of attempts"):
        read_certificate(none.to_jsonld())


@pytest.mark.nightly
def test_without_a_history_rows_are_judged_alone(place):
    plan = make_plan(read_policy(GOOD), make_catalog({DATASET: place}))
    for _ in range(2):
        release, _ = run_plan(plan, LocalEngine(), seed=1)
        assert release.attempts == ()
        assert {one.pooled for one in release.synthetic_attacks} == {None}
