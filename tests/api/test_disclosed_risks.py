"""Risks of releases besides attacks, from files to figures, words and a page."""

import json

import numpy as np
import pandas as pd
import pytest
from applying import asking
from building import DATASET, column

from policy_engine import apply_policy, audit_disclosure
from policy_engine.audits.disclosure.wording import verdict
from policy_engine.errors import PolicyEngineError

PERSONS = 600


@pytest.fixture
def population(tmp_path):
    random = np.random.default_rng(6)
    table = pd.DataFrame(
        {
            "age": random.integers(20, 80, PERSONS),
            "city": random.choice(["Bern", "Oslo", "Rome"], PERSONS),
            "pay": random.normal(4000, 500, PERSONS).round(),
            "weight": 3.0,
        }
    )
    table["ill"] = np.where(table.age > 50, "gout", random.choice(["flu", "cold"], PERSONS))
    table.to_csv(tmp_path / "everybody.csv", index=False)
    return tmp_path / "everybody.csv"


@pytest.fixture
def original(population):
    pd.read_csv(population).iloc[::3].to_csv(population.parent / "in.csv", index=False)
    return population.parent / "in.csv"


def released(original, **parts):
    asked = {"method": "k-anonymity", "k": 5, "quasi": ["age", "city"], "sensitive": ["ill"]}
    policy = asking(**(parts if "method" in parts else {**asked, **parts}))
    folder = original.parent / "out"
    return apply_policy(policy, {DATASET: original}, folder / "a.csv", key=b"k" * 32).path


def figures(audit):
    return {one.measure: one for one in audit.risks}


def reasons(audit):
    return {one.measure: one.reason for one in audit.risks_not_run}


@pytest.mark.nightly
def test_classes_are_measured_where_no_row_can_be_matched(original):
    audit = audit_disclosure(original, released(original))
    assert (audit.attacks, audit.paired, audit.matched_by) == ((), 0, ())
    assert {one.reason for one in audit.not_run} == {
        "no columns that are published as they are tell rows apart, and none are named"
    }
    found = figures(audit)
    assert found["prosecutor-largest"].value <= 1 / 5
    assert found["prosecutor-mean"].baseline == 1 / 200
    assert found["sample-uniques"].value == 0


@pytest.mark.nightly
def test_a_population_with_values_of_its_own_is_counted_in_generalised_cells(original, population):
    audit = audit_disclosure(original, released(original), population=population)
    found = figures(audit)
    assert found["k-map"].value >= 5
    assert found["journalist-largest"].value == pytest.approx(1 / found["k-map"].value)
    assert found["marketer"].value < found["prosecutor-mean"].value
    assert found["marketer"].baseline == pytest.approx(1 / PERSONS)


def test_numbers_of_a_population_are_rounded_as_those_of_the_release(original, population):
    masked = [column("age", masking="rounding", base=20)]
    release = released(original, method="masking", masked=masked)
    found = figures(audit_disclosure(original, release, population=population))
    assert found["k-map"].value > 20
    assert found["presence-largest"].value < 1


def test_a_population_is_recoded_as_the_release_is(original, population, tmp_path):
    (tmp_path / "t.csv").write_text("Bern;Swiss;*\nOslo;Norse;*\nRome;Latin;*\nLima;Latin;*\n")
    table = pd.read_csv(population)
    table.loc[1, "city"] = "Lima"
    table.to_csv(population, index=False)
    named = {"http://x.org/t": tmp_path / "t.csv"}
    masked = [column("city", masking="recoding", level=1, taxonomy="http://x.org/t")]
    policy = asking(method="masking", masked=masked)
    release = apply_policy(
        policy, {DATASET: original}, tmp_path / "out" / "a.csv", taxonomies=named
    )
    audit = audit_disclosure(original, release.path, population=population, taxonomies=named)
    counts = table.city.replace("Lima", "Rome").value_counts()
    assert figures(audit)["k-map"].value == counts.min()


@pytest.mark.parametrize("replacement", ["threshold", "label", "mean"])
def test_tails_of_a_population_are_coded_as_those_of_the_release(original, population, replacement):
    masked = [column("age", masking="top-coding", threshold=60.0, replacement=replacement)]
    release = released(original, method="masking", masked=masked)
    audit = audit_disclosure(original, release, population=population)
    if replacement == "mean":
        reason = "which cell of 'age' others would have depends on the original"
        assert reasons(audit)["k-map"] == reason
    else:
        highest = 60 if replacement == "threshold" else 61
        everybody, ours = (
            pd.read_csv(one).age.clip(upper=highest) for one in (population, original)
        )
        assert figures(audit)["k-map"].value == everybody.value_counts()[ours].min()
        assert figures(audit)["presence-largest"].value < 1


def test_the_original_is_the_population_of_a_sample(original):
    policy = asking(method="masking", insensitive=["age", "city"], sampleShare=0.5)
    release = apply_policy(policy, {DATASET: original}, original.parent / "s.csv", key=b"k" * 32)
    found = figures(audit_disclosure(original, release.path, known=["age", "city"]))
    assert found["k-map"].value >= 1
    assert found["individual-mean"].detail == "by the share that was sampled"
    assert found["marketer"].value < found["prosecutor-mean"].value


def test_weights_tell_of_the_population(original):
    release = released(original, insensitive=["weight"])
    audit = audit_disclosure(original, release, weights="weight")
    found = figures(audit)
    assert found["individual-mean"].baseline == pytest.approx(1 / PERSONS)
    assert found["individual-largest"].value < found["prosecutor-largest"].value


@pytest.mark.nightly
def test_columns_masked_at_random_make_no_classes(original):
    masked = [column("pay", masking="noise", sdShare=0.5)]
    audit = audit_disclosure(original, released(original, masked=masked))
    assert figures(audit)["prosecutor-mean"].known == ("age", "city")
    said = "knowing a value does not tell the published cell (noise): see the linkage figures"
    assert [one.reason for one in audit.risks_not_run if one.column == "pay"] == [said]


@pytest.mark.nightly
def test_columns_of_other_tools_that_look_masked_make_no_classes(original, tmp_path):
    table = pd.read_csv(original).assign(row=range(200))
    table.to_csv(original, index=False)
    random = np.random.default_rng(8)
    rounded = (table.age // 10) * 10
    table.assign(pay=table.pay + random.normal(size=200), age=rounded).to_csv(
        tmp_path / "b.csv", index=False
    )
    audit = audit_disclosure(original, tmp_path / "b.csv", match=["row"], known=["age", "pay"])
    assert figures(audit)["prosecutor-mean"].known == ("age",)


def test_the_worst_comes_first_in_words_with_its_baseline_and_interval(original):
    audit = audit_disclosure(original, released(original))
    guessed = figures(audit)["attribute-inference"]
    low, high = f"{guessed.low:.1%}", f"{guessed.high:.1%}"
    assert verdict(audit).startswith(
        "An intruder who knows age and city, and guesses 'ill' from the release, is right "
        f"for {guessed.value:.1%} ({low} to {high}) of the persons. The likeliest value of the "
        f"whole release is right for {guessed.baseline:.1%}. An intruder who knows age and city, "
        "and that the person is in the release, finds "
    )
    assert verdict(audit).endswith("Guessing finds 0.5%.")


def test_figures_and_pictures_are_written(original, population, tmp_path):
    out = tmp_path / "audit"
    audit = audit_disclosure(original, released(original), population=population, out=out)
    told = json.loads((out / "disclosure.json").read_text())
    assert told["risks"][0]["measure"] == "prosecutor-mean"
    assert set(told["risks"][0]) >= {"measure", "known", "value", "baseline"}
    assert [one["measure"] for one in told["distributions"]] == ["prosecutor", "journalist"]
    page = (out / "disclosure.html").read_text()
    assert "Risk of records" in page
    assert all(one.measure in page for one in audit.risks)
    assert "population-uniques" in page


def test_a_population_without_the_release_is_refused_with_its_cells(original, population):
    pd.read_csv(population).query("city != 'Rome'").to_csv(population, index=False)
    with pytest.raises(PolicyEngineError) as error:
        audit_disclosure(original, released(original), population=population)
    assert {one.code for one in error.value.problems} == {"A024"}
    assert "The population does not contain the release: " in str(error.value)


def test_values_that_a_population_lacks_are_named(original, population, tmp_path):
    pd.read_csv(original).to_csv(tmp_path / "b.csv", index=False)
    pd.read_csv(population).query("city != 'Rome'").to_csv(population, index=False)
    said = "Nobody in the population has a value of 'city' that was released: Rome"
    with pytest.raises(PolicyEngineError, match=said):
        audit_disclosure(original, tmp_path / "b.csv", known=["city"], population=population)


def test_all_that_is_wrong_is_said_at_once(original, population):
    table = pd.read_csv(population).drop(columns="city").astype({"age": object})
    table.loc[0, "age"] = "2o"
    table.to_csv(population, index=False)
    asked = {"sensitive": ["illl"], "population": population, "weights": "w", "threshold": 2}
    with pytest.raises(PolicyEngineError) as error:
        audit_disclosure(original, released(original), **asked)
    codes = [one.code for one in error.value.problems]
    assert sorted(codes) == ["A024", "A025", "C005", "C005", "C005", "C005"]
    assert "cannot be read as those of the original: '2o'" in str(error.value)


@pytest.mark.parametrize("cell", ["0", "-1", "inf", "", "many"])
def test_weights_that_are_no_numbers_above_zero_are_refused(original, cell):
    release = released(original, insensitive=["weight"])
    text = release.read_text()
    other = original.parent / "other.csv"
    other.write_text(text[: text.rindex("3")] + cell + text[text.rindex("3") + 3 :])
    with pytest.raises(PolicyEngineError, match=r"A025 1 row of 'weight' has no weight"):
        audit_disclosure(original, other, known=["city"], weights="weight")


def test_weights_of_more_persons_than_there_can_be_are_refused(original):
    release = released(original, insensitive=["weight"])
    other = original.parent / "other.csv"
    head, _, tail = release.read_text().rpartition("3")
    other.write_text(f"{head}1e308{tail[2:]}")
    with pytest.raises(PolicyEngineError, match=r"A025 The rows stand for 1e\+15 persons or more"):
        audit_disclosure(original, other, known=["city"], weights="weight")


def test_more_rows_than_the_original_has_are_refused(original, population):
    with pytest.raises(PolicyEngineError, match="A023 The release has 600 rows"):
        audit_disclosure(original, population, known=["city"])
