"""Audits of releases without a certificate, as other tools write them."""

import numpy as np
import pandas as pd
import pytest

from policy_engine import audit_disclosure
from policy_engine.audits.disclosure.wording import notes
from policy_engine.data.csv_format import CsvFormat, csv_files_as
from policy_engine.errors import PolicyEngineError

ROWS = 100


@pytest.fixture
def persons():
    random = np.random.default_rng(4)
    pay = random.permutation(ROWS) * 10
    city = random.choice(["Bern", "Oslo", "Rome"], ROWS)
    return pd.DataFrame(
        {"row": range(ROWS), "age": random.permutation(ROWS), "pay": pay, "city": city}
    )


@pytest.fixture
def audit(tmp_path, persons):
    (tmp_path / "out").mkdir()

    def audited(release, original=persons, **asked):
        for name, table in (("in.csv", original), ("out/out.csv", release)):
            table.to_csv(tmp_path / name, index=False)
        attacks = asked.pop("attacks", ["distance-linkage"])
        return audit_disclosure(
            tmp_path / "in.csv", tmp_path / "out/out.csv", attacks=attacks, **asked
        )

    return audited


def noisy(persons, *names, deviation=2.0):
    random = np.random.default_rng(5)
    noise = {name: persons[name] + random.normal(0, deviation, len(persons)) for name in names}
    return persons.assign(**noise).round(2)


def linked(audit):
    return audit.attacks[-1].linked.value


def with_cell(table, name, cell):
    table = table.astype({name: object})
    table.loc[3, name] = cell
    return table


def figures(audit):
    return {one.measure: one.value for one in audit.risks}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("mark", ["NA", "*", ".", ""])
@pytest.mark.parametrize("where", ["original", "release"])
def test_one_mark_takes_no_numbers_from_an_intruder(persons, audit, mark, where):
    release = noisy(persons, "age", "pay")
    plain = audit(release, match=["row"], known=["age", "pay"])
    given = {"original": persons, "release": release}
    given[where] = with_cell(given[where], "age", mark)
    marked = audit(given["release"], given["original"], match=["row"], known=["age", "pay"])
    assert linked(marked) == pytest.approx(linked(plain), abs=0.03)
    assert {one.measure for one in marked.risks} == {one.measure for one in plain.risks}
    told = [(one.table, one.column, one.cells) for one in marked.missing_marks]
    assert told == ([(where, "age", 1)] if mark else [])


def test_cells_that_nobody_can_read_are_refused(persons, audit):
    with pytest.raises(PolicyEngineError, match=r"A027 1 cell of 'age' .* such as 'abc'"):
        audit(with_cell(persons, "age", "abc"), match=["row"])


@pytest.mark.nightly
def test_marks_of_a_population_and_a_holdout_are_missing(tmp_path, persons, audit):
    with_cell(persons, "age", "NA").to_csv(tmp_path / "all.csv", index=False)
    others = with_cell(persons, "age", ".").assign(pay=persons.pay + 5)
    others.drop(columns="row").to_csv(tmp_path / "others.csv", index=False)
    more = {"population": tmp_path / "all.csv", "holdout": tmp_path / "others.csv"}
    found = audit(persons.drop(index=3), match=["row"], known=["age", "pay"], **more)
    assert [one.table for one in found.missing_marks] == ["population", "holdout"]
    assert figures(found)["k-map"] == 1


def test_noise_is_no_class_where_no_row_is_matched(persons, audit):
    found = audit(noisy(persons, "pay"), known=["pay", "city"])
    assert [one.column for one in found.risks_not_run if one.measure == "classes"] == ["pay"]
    assert {one.known for one in found.risks if one.measure == "prosecutor-mean"} == {("city",)}
    assert {one.reason for one in found.not_run if "--same-order" in one.reason}


def test_true_numbers_are_classes_where_no_row_is_matched(persons, audit):
    assert figures(audit(persons, known=["pay"]))["prosecutor-mean"] == 1


def test_rows_in_the_same_order_are_linked(tmp_path, persons, audit):
    release, records = noisy(persons, "pay").drop(columns="row"), tmp_path / "records.csv"
    given = persons.drop(columns="row")
    found = audit(release, given, same_order=True, records=records)
    assert (found.paired, found.matched_by, found.same_order) == (ROWS, (), True)
    assert linked(found) == 1
    assert sorted(pd.read_csv(records).row) == [*range(1, ROWS + 1)]


@pytest.mark.parametrize(
    ("change", "asked", "said"),
    [
        (lambda t: t, {}, "Rows can be matched by 'row', 'age' or 'pay': --match row."),
        (lambda t: t.drop(columns=["row", "age", "pay"]), {}, "nothing tells rows apart.*--same-o"),
        (
            lambda t: t[["row"]].rename(columns={"row": "x"}),
            {},
            "No column of the original.*has 'x'",
        ),
        (lambda t: pd.concat([t, t[:5]]), {}, "The release has 105 rows, and the original 100"),
        (
            lambda t: pd.concat([t, t[:5]]),
            {"match": ["row"]},
            "The release has 105 rows, and the or",
        ),
        (lambda t: t[["row"]] + 5000, {}, "lacks 100 of the 100 values of 'row'"),
        (lambda t: t.replace({"row": {1: 500}}), {"match": ["row"]}, "'row' that 1 row of the rel"),
        (lambda t: t[:9], {"same_order": True}, "The original has 100 rows, and the release 9"),
        (lambda t: t, {"same_order": True, "match": ["row"]}, "both by columns and by their order"),
    ],
)
def test_files_that_do_not_belong_together_are_told_apart(persons, audit, change, asked, said):
    with pytest.raises(PolicyEngineError, match=f"A023 .*{said}"):
        audit(change(persons), persons, **asked)


def test_columns_that_the_release_lacks_are_named(persons, audit):
    found = audit(persons.drop(columns="age"), match=["row"])
    assert found.lacking == ("age",)


def in_tens(values, form):
    tens = [value // 10 * 10 for value in values]
    return [form.format(ten, ten + 9, ten + 10) for ten in tens]


@pytest.mark.parametrize("form", ["[{0} - {1}]", "[{0}, {2}[", "{0}-{1}", "[{0},{2})"])
def test_ranges_are_as_telling_in_every_spelling(persons, audit, form):
    release = persons.assign(age=in_tens(persons.age, form), pay=in_tens(persons.pay, form))
    found = audit(release, match=["row"], known=["pay", "age"])
    assert linked(found) == 1
    assert figures(found)["prosecutor-mean"] == 1
    assert found.methods["age"] == "not known; ranges or sets of values as they are spelled"


def test_persons_of_a_population_are_counted_in_ranges(tmp_path, persons, audit):
    everybody = pd.concat([persons, persons.assign(age=persons.age + 0.5)])
    everybody.to_csv(tmp_path / "all.csv", index=False)
    release = persons.assign(age=in_tens(persons.age, "[{0}, {2}["))
    found = figures(audit(release, known=["age"], population=tmp_path / "all.csv"))
    assert (found["prosecutor-mean"], found["k-map"], found["marketer"]) == (0.1, 20, 0.05)


def test_suppressed_cells_may_be_anybody_of_a_population(tmp_path, persons, audit):
    persons.to_csv(tmp_path / "all.csv", index=False)
    release = with_cell(with_cell(persons, "age", "*"), "pay", "NA")
    found = audit(release, known=["age", "pay"], population=tmp_path / "all.csv")
    assert figures(found)["k-map"] == 1
    assert figures(found)["marketer"] == pytest.approx((99 + 1 / 100) / 100)


def test_ranges_that_are_not_the_persons_own_are_masked(persons, audit):
    release = persons.assign(age=in_tens(persons.age.sample(frac=1, random_state=3), "[{0} - {1}]"))
    found = audit(release, match=["row"], known=["age", "city"])
    assert [one.column for one in found.risks_not_run if one.measure == "classes"] == ["age"]


def test_labels_are_read_by_a_taxonomy_alone(tmp_path, persons, audit):
    release = persons.assign(city=persons.city.replace({"Bern": "north", "Oslo": "north"}))
    found = audit(release, match=["row"], known=["age", "city"], sensitive=["city"])
    assert [one.known for one in found.attacks] == [("age",)]
    assert (found.unread, found.not_run) == (("city",), ())
    without, classes = notes(found)[-2:]
    assert without.startswith("The attacks were made without 'city': cells there are labels that")
    assert classes == (
        "By 'city', classes are those of an intruder who knows what the labels stand for."
    )
    alone = audit(release, match=["row"], known=["city"])
    assert alone.attacks == ()
    [reason] = {one.reason for one in alone.not_run}
    assert reason.startswith("cells of 'city' are labels that the original lacks")
    assert notes(alone)[-1] == classes
    (tmp_path / "city.csv").write_text("Bern;north;any\nOslo;north;any\nRome;south;any\n")
    trees = {"city": tmp_path / "city.csv"}
    read = audit(release, match=["row"], known=["city"], taxonomies=trees)
    assert (linked(read), read.unread) == (0.02, ())


def test_a_taxonomy_of_a_column_that_nobody_has_is_refused(tmp_path, persons, audit):
    (tmp_path / "zone.csv").write_text("Bern;any\n")
    trees = {"zone": tmp_path / "zone.csv"}
    with pytest.raises(PolicyEngineError, match=r"C005.*'zone'"):
        audit(persons, match=["row"], known=["city"], taxonomies=trees)


def test_categories_in_another_case_or_between_blanks_are_the_same(persons, audit):
    release = persons.assign(city=" " + persons.city.str.upper())
    found = audit(release, match=["row"], known=["age", "city"])
    same = audit(persons, match=["row"], known=["age", "city"])
    assert linked(found) == linked(same)
    assert found.unread == ()


def test_categories_that_two_values_might_be_are_labels(persons, audit):
    both = persons.assign(city=persons.city.replace("Oslo", "bern"))
    release = both.assign(city=both.city.str.upper())
    assert audit(release, original=both, match=["row"], known=["age", "city"]).unread == ("city",)


def test_suppressed_cells_do_not_hide_that_records_are_alone(persons, audit):
    found = audit(with_cell(persons, "age", "*"), match=["row"], known=["age"])
    [one] = [one for one in found.risks if one.measure == "sample-uniques"]
    assert one.value == 0
    assert one.detail.endswith("no other record has the very cells of 100.0%")
    assert f"Of sample-uniques: {one.detail} of the records." in notes(found)


@pytest.mark.parametrize(("mark", "name"), [(";", "semicolons"), ("\t", "tabs")])
def test_cells_that_are_not_separated_by_commas_are_told(tmp_path, persons, mark, name):
    persons.to_csv(tmp_path / "in.csv", index=False)
    persons.to_csv(tmp_path / "out.csv", index=False, sep=mark)
    with (
        csv_files_as(CsvFormat(delimiter=","), tmp_path / "out.csv"),
        pytest.raises(PolicyEngineError, match=rf"A023.*these seem to be by {name}"),
    ):
        audit_disclosure(tmp_path / "in.csv", tmp_path / "out.csv", known=["age"])


def test_a_holdout_of_persons_who_are_there_is_refused(tmp_path, persons, audit):
    persons[:7].to_csv(tmp_path / "h.csv", index=False)
    asked = {"match": ["row"], "known": ["age", "pay"], "holdout": tmp_path / "h.csv"}
    with pytest.raises(
        PolicyEngineError, match="A028 7 persons of the holdout are in the original"
    ):
        audit(noisy(persons, "pay"), **asked)


@pytest.mark.nightly
def test_persons_of_a_holdout_who_are_like_somebody_there_are_counted(tmp_path, persons, audit):
    others = persons.assign(row=persons.row + 500, city=persons.city.replace("Bern", "Lima"))
    others.to_csv(tmp_path / "h.csv", index=False)
    asked = {"match": ["row"], "known": ["age", "pay"], "holdout": tmp_path / "h.csv"}
    found = audit(noisy(persons, "pay"), **asked)
    assert (found.absent, found.alike, found.equal) == (ROWS, ROWS, 0)
    others.drop(columns="row").to_csv(tmp_path / "h.csv", index=False)
    found = audit(noisy(persons, "pay"), **asked)
    assert (found.alike, found.equal) == (ROWS, (persons.city != "Bern").sum())
    others.assign(pay=-1).to_csv(tmp_path / "h.csv", index=False)
    assert audit(noisy(persons, "pay"), **asked).alike == 0
