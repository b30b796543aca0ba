"""Quasi-identifiers that are permuted within classes, from the policy to the release."""

from collections import Counter
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from applying import applied, asking, measured, refused
from building import DATASET
from everyday import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine import apply_policy, audit_disclosure, certify_output, compare_release
from policy_engine.certificate.certificate import read_certificate
from policy_engine.engines import permuting
from policy_engine.engines.local import LocalEngine
from policy_engine.errors import CertificateError, DataError, PlanError

ASKED = {"method": "probabilistic-k-anonymity", "k": 3, "quasi": ["age", "job"], "sensitive": ["x"]}
KEY = b"k" * 32
PEOPLE = {
    "age": [20, 21, 22, 40, 41, 42],
    "job": ["a", "b", "c", "d", "e", "f"],
    "x": ["1", "2", "3", "4", "5", "6"],
}


def people(rows, seed=0):
    random = np.random.default_rng(seed)
    return {
        "age": random.integers(18, 90, rows).tolist(),
        "job": random.choice([*"abcdefgh"], rows).tolist(),
        "x": [f"v{number}" for number in range(rows)],
    }


def by_x(release):
    columns = release.table.to_pydict()
    return {x: (age, job) for age, job, x in zip(*columns.values(), strict=True)}


def test_values_stay_in_their_class_and_move_within_it():
    made = applied(PEOPLE, **ASKED)
    rows = by_x(made)
    for own in ("123", "456"):
        before = [PEOPLE["x"].index(x) for x in own]
        assert {rows[x][0] for x in own} == {PEOPLE["age"][row] for row in before}
        assert {rows[x][1] for x in own} == {PEOPLE["job"][row] for row in before}
    assert measured(made) == {("linkProbability", ""): 1 / 3}


def test_columns_are_permuted_by_themselves():
    pairs = Counter(
        (age, job) for _ in range(20) for age, job in by_x(applied(PEOPLE, **ASKED)).values()
    )
    # Nine pairs in each class, and not only the three that persons have.
    assert len(pairs) == 18


@pytest.mark.nightly
def test_every_row_of_a_class_is_equally_likely_to_have_a_value():
    draws = 90
    places = Counter(by_x(applied(PEOPLE, **ASKED))["1"][0] for _ in range(draws))
    assert all(abs(times - draws / 3) < 5 * (draws * 2 / 9) ** 0.5 for times in places.values())
    assert set(places) == {20, 21, 22}


def test_types_are_those_of_the_input():
    table = pa.table({"age": pa.array([1, 2, None, 4], pa.int16()), "x": [1.5, 2.5, 3.5, 4.5]})
    made = applied(table, **{**ASKED, "k": 2, "quasi": ["age"]})
    assert made.table.schema.field("age").type == pa.int16()
    assert Counter(made.table["age"].to_pylist()) == Counter([1, 2, None, 4])


@settings(max_examples=examples(15), deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([2, 5, 9]))
def test_the_same_key_and_rows_give_the_same_release_in_any_order(seed, k):
    table = people(60, seed)
    made = applied(table, key=KEY, **{**ASKED, "k": k})
    order = np.random.default_rng(seed).permutation(60)
    again = applied(pa.table(table).take(order), key=KEY, **{**ASKED, "k": k})
    assert again.table.equals(made.table)


def test_without_a_key_every_release_is_drawn_anew():
    table = people(60)
    assert applied(table, **ASKED).table != applied(table, **ASKED).table


def test_the_order_of_rows_does_not_tell_their_classes():
    made, classes = applied(people(600), **ASKED), permuting.PermutedSource
    source = made._written.anonymized.engine_state
    assert isinstance(source, classes)
    neighbours = (np.diff(source.class_of) == 0).mean()
    likely = ((np.bincount(source.class_of) / 600) ** 2).sum()
    assert neighbours < likely + 5 * (likely / 600) ** 0.5


def test_the_order_of_rows_follows_from_what_is_released():
    made = applied(people(200), **ASKED)
    shown = made.table
    shuffled = shown.take(np.random.default_rng(3).permutation(200))
    order = permuting._order(shuffled, np.zeros(200, np.uint64))
    assert shuffled.take(order).equals(shown)


def test_equal_rows_move_by_themselves():
    table = {"age": [1] * 4 + [2] * 4, "x": ["same"] * 8}
    parts = {**ASKED, "k": 8, "quasi": ["age"]}
    assert Counter(applied(table, **parts).table["age"].to_pylist()) == {1: 4, 2: 4}


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_a_release_is_certified_by_its_data_and_its_key(tmp_path, name):
    data = tmp_path / "in" / "people.csv"
    data.parent.mkdir()
    pyarrow.csv.write_csv(pa.table(people(40)), data)
    output, policy = tmp_path / "out" / name, asking(**ASKED)
    output.parent.mkdir()
    made = apply_policy(policy, {DATASET: data}, output, key=KEY)
    again = certify_output(output, policy, {DATASET: data}, key=KEY)
    assert again.measurements == made.certificate.measurements
    for given_parts in ({}, {"data": {DATASET: data}}):
        with pytest.raises(DataError) as raised:
            certify_output(output, policy, **given_parts)
        assert raised.value.code == "V006"


def changed(table, place, name, value):
    values = table[name].to_pylist()
    values[place] = value
    index = table.schema.get_field_index(name)
    return table.set_column(index, name, pa.array(values, table.schema.field(name).type))


def code_after(change, rows=60):
    """Return the code of what is found where the table was changed before it was written."""
    engine_write = LocalEngine.write

    def write(engine, anonymized, destination):
        return engine_write(engine, replace(anonymized, table=change(anonymized)), destination)

    with patch.object(LocalEngine, "write", write), pytest.raises(CertificateError) as raised:
        applied(people(rows), **ASKED)
    return raised.value.code


def test_what_was_written_is_compared_with_the_classes_of_the_run():
    assert code_after(lambda made: changed(made.table, 3, "age", 999)) == "V001"
    assert code_after(lambda made: changed(made.table, 3, "x", "v999")) == "V003"
    assert code_after(lambda made: made.table.slice(1)) == "V003"


def test_values_that_were_not_permuted_are_found():
    def as_before(made):
        return made.engine_state.before.select(made.table.column_names)

    assert code_after(as_before, rows=600) == "V001"


def test_values_that_moved_to_another_class_are_found():
    def between_classes(made):
        class_of, ages = made.engine_state.class_of, made.table["age"].to_pylist()
        one = next(
            row for row in range(60) if class_of[row] != class_of[0] and ages[row] != ages[0]
        )
        return changed(changed(made.table, 0, "age", ages[one]), one, "age", ages[0])

    assert code_after(between_classes) == "V001"


@pytest.mark.one_in(2)
@pytest.mark.parametrize("k", [5, 20])
def test_attacks_link_at_most_about_one_in_k(tmp_path, k):
    data, output = tmp_path / "people.csv", tmp_path / "out" / "o.csv"
    pyarrow.csv.write_csv(pa.table(people(600)), data)
    applied(people(600), output, **{**ASKED, "k": k})
    audit = audit_disclosure(data, output, known=["age", "job"], match=["x"])
    assert len(audit.attacks) > 6
    assert all(one.linked.low < 1 / k for one in audit.attacks)


def test_the_owner_learns_how_many_rows_are_as_before_and_the_certificate_does_not_tell():
    made = applied(people(300), **ASKED)
    table = people(300)
    before = {x: (age, job) for age, job, x in zip(*table.values(), strict=True)}
    stayed = sum(by_x(made)[x] == pair for x, pair in before.items())
    assert made.record.moves.unmoved == stayed
    assert 0 < made.record.moves.expected < 300
    # In a class of two, to know that no row stayed is to know whose each is.
    assert "unmoved" not in made.certificate.to_jsonld()
    assert read_certificate(made.certificate.to_jsonld()) == made.certificate
    assert "this is not k-anonymity" in made.certificate.warning


def test_rare_extreme_values_are_told_without_naming_them():
    doubts = applied(PEOPLE, **ASKED).release.doubts
    assert len(doubts) == 1
    assert "greatest value of 'age'" in doubts[0]
    assert "42" not in doubts[0]
    many = {"age": [1, 1, 1, 2, 3, 3, 3], "x": list("abcdefg")}
    assert not applied(many, **{**ASKED, "quasi": ["age"]}).release.doubts


def test_too_few_rows_and_empty_texts_in_csv_are_refused(tmp_path):
    assert refused(people(2), tmp_path, **ASKED) == ["R002"]
    with pytest.raises(Exception, match="empty texts") as raised:
        applied({**PEOPLE, "job": ["", *"bcdef"]}, tmp_path / "out.csv", **ASKED)
    assert raised.value.code == "O002"


def test_classes_that_are_not_shown_are_not_compared(tmp_path):
    data = tmp_path / "people.csv"
    pyarrow.csv.write_csv(pa.table(people(40)), data)
    applied(people(40), tmp_path / "out" / "o.csv", **ASKED)
    with pytest.raises(PlanError, match="does not show"):
        compare_release(data, tmp_path / "out" / "o.csv")


LABEL = {"algorithm": "accuracy-guided", "label": f"{DATASET}/income"}


def test_accuracy_guided_classes_are_permuted():
    table = people(300)
    table["income"] = ["high" if age > 50 else "low" for age in table["age"]]
    made = applied(table, key=KEY, **{**ASKED, **LABEL, "k": 10})
    assert measured(made)["linkProbability", ""] <= 0.1
    rows = dict(zip(made.table["x"].to_pylist(), made.table["age"].to_pylist(), strict=True))
    income = dict(zip(table["x"], table["income"], strict=True))
    # Classes are cut where a model's predictions change, so ages still go with incomes.
    agree = [("high" if rows[x] > 50 else "low") == income[x] for x in rows]
    assert sum(agree) > 0.9 * 300
    assert sorted(rows.values()) == sorted(table["age"])
    assert made.certificate.label_figures.label == "income"


def test_a_table_that_hides_everybody_stays_as_it_is():
    table = {"age": [1] * 10 + [2] * 10, "x": [*map(str, range(20))], "income": ["a", "b"] * 10}
    made = applied(table, **{**ASKED, **LABEL, "k": 10, "quasi": ["age"]})
    assert measured(made) == {("linkProbability", ""): 0.1}
    before = sorted(zip(table["age"], table["x"], strict=True))
    shown = made.table.to_pydict()
    assert sorted(zip(shown["age"], shown["x"], strict=True)) == before


VISITS = {
    "who": [person for person in range(6) for _ in range(1 + person % 3)],
    "age": [20 + person for person in range(6) for _ in range(1 + person % 3)],
    "job": ["abcdef"[person] for person in range(6) for _ in range(1 + person % 3)],
    "x": [f"{person}{row}" for person in range(6) for row in range(1 + person % 3)],
}
BY_PERSONS = {**ASKED, "privacyUnit": "who"}


def test_all_rows_of_a_person_get_the_values_of_one_person():
    made = applied(VISITS, key=KEY, **BY_PERSONS)
    assert measured(made) == {("linkProbability", ""): 1 / 3}
    rows = by_x(made)
    ages = {x[0]: set() for x in rows}
    for x, (age, _) in rows.items():
        ages[x[0]].add(age)
    assert all(len(of_person) == 1 for of_person in ages.values())
    assert {age for of_person in ages.values() for age in of_person} == set(range(20, 26))
    assert {next(iter(ages[who])) for who in "012"} == {20, 21, 22}
    assert "who" not in made.table.column_names


@pytest.mark.nightly
def test_every_person_is_equally_likely_to_have_the_values_of_another():
    draws = 90
    places = Counter(by_x(applied(VISITS, **BY_PERSONS))["20"][0] for _ in range(draws))
    assert set(places) == {20, 21, 22}
    assert all(abs(times - draws / 3) < 5 * (draws * 2 / 9) ** 0.5 for times in places.values())


def test_rows_of_a_person_in_any_order_give_the_same_release():
    table = pa.table(VISITS)
    made = applied(table, key=KEY, **BY_PERSONS)
    order = np.random.default_rng(2).permutation(len(table))
    assert applied(table.take(order), key=KEY, **BY_PERSONS).table.equals(made.table)


def test_persons_with_different_quasi_identifiers_are_refused(tmp_path):
    table = {**VISITS, "age": [*range(20, 20 + len(VISITS["who"]))]}
    assert refused(table, tmp_path, **BY_PERSONS) == ["R020"]
    with pytest.raises(DataError, match="4 persons of 'who' have rows with different"):
        applied(table, **BY_PERSONS)


def test_rare_extremes_are_those_of_persons():
    table = {"who": [*"aaabcd"], "age": [1, 1, 1, 2, 2, 2], "x": [*"123456"]}
    doubts = applied(table, **{**BY_PERSONS, "quasi": ["age"], "k": 2}).release.doubts
    assert [one[:22] for one in doubts] == ["Fewer than 2 persons h"]


def test_rows_of_a_person_that_were_split_are_found():
    def split(made):
        ages = made.table["age"].to_pylist()
        first = next(row for row in range(12) if made.engine_state.persons[row] == 2)
        return changed(made.table, first, "age", next(age for age in ages if age != ages[first]))

    engine_write = LocalEngine.write

    def write(engine, anonymized, destination):
        return engine_write(engine, replace(anonymized, table=split(anonymized)), destination)

    with patch.object(LocalEngine, "write", write), pytest.raises(CertificateError) as raised:
        applied(VISITS, **BY_PERSONS)
    assert raised.value.code == "V001"


DIVERSE = {
    **ASKED,
    "method": ["probabilistic-k-anonymity", "l-diversity", "t-closeness"],
    "l": 2,
    "t": 0.6,
    "sensitive": ["ill"],
    "insensitive": ["x"],
}


def test_classes_are_diverse_too():
    table = {**people(120), "ill": ["flu", "cold", "flu"] * 40}
    made = applied(table, **DIVERSE)
    found = measured(made)
    assert found["linkProbability", ""] <= 1 / 3
    assert found["l", "ill"] == 2
    assert found["t", "ill"] <= 0.6
    assert made.certificate.holds
    # By the classes of the run, which the release does not show.
    source = made._written.anonymized.engine_state
    ill = np.array(source.before["ill"].to_pylist())
    classes = [set(ill[source.class_of == one]) for one in set(source.class_of.tolist())]
    assert min(map(len, classes)) == 2


def test_a_table_that_is_not_diverse_is_refused(tmp_path):
    assert refused({**people(60), "ill": ["flu"] * 60}, tmp_path, **DIVERSE) == ["R003"]


def test_the_order_of_rows_does_not_follow_from_what_is_hidden():
    table = {**people(60), "name": [f"n{row}" for row in range(60)]}
    parts = {**ASKED, "redact": ["name"], "k": 5}
    made = applied(table, key=KEY, **parts)
    other = applied({**table, "name": [*reversed(table["name"])]}, key=KEY, **parts)
    for one in (made, other):
        shown = one.table.drop_columns(["name"])
        assert shown.take(permuting._order(shown, np.zeros(60, np.uint64))).equals(shown)
