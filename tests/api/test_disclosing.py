"""Attacks on releases, from two files to figures and a page."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest
from applying import asking
from building import DATASET, column

from policy_engine import apply_policy, audit_disclosure
from policy_engine.errors import PolicyEngineError

ROWS = 300
KEY = b"k" * 32


@pytest.fixture
def original(tmp_path):
    random = np.random.default_rng(5)
    table = pd.DataFrame(
        {
            "row": range(ROWS),
            "age": random.integers(20, 80, ROWS),
            "pay": random.permutation(ROWS) * 100 + 1000,
            "city": random.choice(["Bern", "Oslo", "Rome"], ROWS),
        }
    )
    table.to_csv(tmp_path / "in.csv", index=False)
    return tmp_path / "in.csv"


def released(original, **parts):
    policy = asking(**{"method": "masking", "insensitive": ["row"], **parts})
    folder = original.parent / "out"
    return apply_policy(policy, {DATASET: original}, folder / "a.csv", key=KEY).path


def linked(audit, attack):
    return [one.linked.value for one in audit.attacks if one.attack == attack]


MASKINGS = [
    {"masking": "rank-swapping", "p": 0.05},
    {"masking": "noise", "sdShare": 0.02},
    {"masking": "multiplicative-noise", "logSd": 0.02},
    {"masking": "rounding", "base": 200},
    {"masking": "random-rounding", "base": 200},
    {"masking": "microaggregation", "groupSize": 3},
    {"masking": "correlated-noise", "sdShare": 0.02},
    {"masking": "top-coding", "tail": 5},
]


@pytest.mark.nightly
@pytest.mark.one_in(8)
@pytest.mark.parametrize("masking", MASKINGS, ids=lambda one: one["masking"])
def test_who_knows_the_method_finds_persons_that_guessing_does_not(original, masking):
    audit = audit_disclosure(original, released(original, masked=[column("pay", **masking)]))
    assert (audit.known, audit.matched_by) == (("pay",), ("row",))
    [found] = linked(audit, "likelihood-linkage")
    assert found > 5 * audit.attacks[0].baseline == 5 * round(1 / ROWS, 9)
    assert all(one.linked.low <= one.linked.value <= one.linked.high for one in audit.attacks)


@pytest.mark.nightly
def test_windows_of_rank_swapping_are_no_worse_than_distances_alone(original):
    masked = [column(name, masking="rank-swapping", p=0.1) for name in ("age", "pay")]
    audit = audit_disclosure(original, released(original, masked=masked))
    pairs = zip(
        linked(audit, "distance-linkage"), linked(audit, "intersection-linkage"), strict=True
    )
    assert all(inside >= anywhere for anywhere, inside in pairs)


@pytest.mark.nightly
def test_drawn_categories_are_attacked_by_the_matrix_of_the_certificate(original):
    masked = [column("city", masking="pram", keep=0.9)]
    audit = audit_disclosure(original, released(original, masked=masked))
    # Who takes one of a hundred persons of the likeliest city finds one in a hundred.
    assert 0.005 < linked(audit, "likelihood-linkage")[0] < 0.02


@pytest.mark.nightly
def test_generalised_columns_are_attacked_by_the_values_of_their_cells(original):
    release = released(original, method="k-anonymity", k=10, quasi=["age", "pay"])
    audit = audit_disclosure(original, release)
    assert audit.methods == {"age": "a range or set of values", "pay": "a range or set of values"}
    # Nobody is found better than one of the ten rows of a class.
    assert 0 < max(one.linked.value for one in audit.attacks) <= 0.1


@pytest.mark.nightly
def test_an_untouched_file_of_any_tool_is_linked(original, tmp_path):
    (tmp_path / "other").mkdir()
    release = tmp_path / "other" / "b.csv"
    pd.read_csv(original).sample(frac=1, random_state=1).to_csv(release, index=False)
    audit = audit_disclosure(original, release, match=["row"], known=["pay", "city"])
    assert linked(audit, "distance-linkage") == [1, 1]
    assert [one.attack for one in audit.not_run] == [
        "mahalanobis-linkage",
        "intersection-linkage",
        "likelihood-linkage",
    ]


def test_the_order_of_rows_decides_nothing(original):
    release = released(original, masked=[column("age", masking="rounding", base=10)])
    first = audit_disclosure(original, release)
    pd.read_csv(original).sample(frac=1, random_state=2).to_csv(original, index=False)
    assert audit_disclosure(original, release) == first


def test_figures_and_a_page_are_written(original, tmp_path):
    release = released(original, masked=[column("age", masking="rounding", base=10)])
    audit = audit_disclosure(original, release, out=tmp_path / "audit")
    told = json.loads((tmp_path / "audit" / "disclosure.json").read_text())
    assert told == json.loads(audit.model_dump_json())
    assert set(told["attacks"][0]) >= {"attack", "known", "linked", "baseline"}
    assert "What the release discloses" in (tmp_path / "audit" / "disclosure.html").read_text()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"known": ["agee"]}, "C005"),
        ({"match": ["age"]}, "A023 The values of 'age' were changed"),
        ({"known": ["row"]}, "A023 Rows are matched by 'row'"),
        ({"match": ["city"]}, "C005"),
    ],
    ids=str,
)
def test_what_cannot_be_attacked_is_refused_and_nothing_is_written(original, tmp_path, given, said):
    release = released(original, masked=[column("age", masking="rounding", base=10)])
    with pytest.raises(PolicyEngineError, match=said):
        audit_disclosure(original, release, out=tmp_path / "audit", **given)
    assert not (tmp_path / "audit").exists()


def test_a_release_that_was_changed_is_refused(original):
    release = released(original, masked=[column("age", masking="rounding", base=10)])
    release.write_text(release.read_text().replace("20", "30"))
    with pytest.raises(PolicyEngineError, match="V004"):
        audit_disclosure(original, release)


@pytest.mark.nightly
def test_learned_distances_are_shown_with_what_is_proven(original, tmp_path):
    masked = [column(name, masking="noise", sdShare=0.02) for name in ("age", "pay")]
    named = ["learned-distance-linkage"]
    release = released(original, masked=masked)
    audit = audit_disclosure(original, release, attacks=named, seconds=1, out=tmp_path / "audit")
    assert len(audit.attacks) == 7
    assert all(one.learned.in_sample <= one.learned.bound for one in audit.attacks)
    page = (tmp_path / "audit" / "disclosure.html").read_text()
    assert "Best weighted mean" in page


@pytest.mark.nightly
def test_persons_never_in_the_original_are_a_second_baseline(original, tmp_path):
    table = pd.read_csv(original)
    release = released(original, masked=[column("pay", masking="noise", sdShare=0.001)])
    table.assign(pay=table["pay"] + 10**6).to_csv(tmp_path / "far.csv", index=False)
    table.drop(columns="row").to_csv(tmp_path / "same.csv", index=False)
    attacks = ["distance-linkage", "likelihood-linkage", "probabilistic-linkage"]
    alone = audit_disclosure(original, release, attacks=attacks)
    far, same = (
        audit_disclosure(original, release, attacks=attacks, holdout=tmp_path / f"{name}.csv")
        for name in ("far", "same")
    )
    assert (far.holdout, far.absent, alone.holdout) == ("far.csv", ROWS, None)
    # Nobody is nearly as rich; those who are as rich as those present look as if they were there.
    assert [one.holdout.value for one in far.attacks][0::2] == [0, 0]
    assert min(one.holdout.value for one in same.attacks) >= 0.95
    assert [one.linked for one in same.attacks] == [one.linked for one in alone.attacks]


def test_a_holdout_of_other_columns_is_refused(original, tmp_path):
    release = released(original, masked=[column("pay", masking="rounding", base=10)])
    (tmp_path / "other.csv").write_text("age\n1\n")
    empty = tmp_path / "none.csv"
    empty.write_text("pay\n")
    with pytest.raises(PolicyEngineError, match=r"none.csv: R001"):
        audit_disclosure(original, release, holdout=empty)
    with pytest.raises(PolicyEngineError, match=r"C005 .*other.csv.*'pay'"):
        audit_disclosure(original, release, holdout=tmp_path / "other.csv")


def test_the_most_exposed_rows_are_for_the_owner_alone(original, tmp_path):
    release = released(original, masked=[column("city", masking="pram", keep=0.9)])
    place = tmp_path / "records.csv"
    audit = audit_disclosure(original, release, records=place, known=["city"])
    assert place.stat().st_mode & 0o777 == 0o600
    rows = pd.read_csv(place)
    assert rows.columns.tolist() == ["row", *(one.attack for one in audit.attacks)]
    shares = rows.drop(columns="row").max(axis=1)
    assert (shares > 0).all()
    assert shares.is_monotonic_decreasing
    assert round(rows["distance-linkage"].sum() / ROWS, 4) == round(
        audit.attacks[0].linked.value, 4
    )
    # It is the owner's, and may be written again.
    audit_disclosure(original, release, records=place, known=["city"])


@pytest.mark.parametrize("where", ["out/records.csv", "in.csv", "open.csv"])
def test_single_records_are_not_written_where_others_may_read(original, tmp_path, where):
    release = released(original, masked=[column("city", masking="pram", keep=0.9)])
    (tmp_path / "open.csv").write_text("old")
    (tmp_path / "open.csv").chmod(0o644)
    before = original.read_text()
    with pytest.raises(PolicyEngineError, match="O001"):
        audit_disclosure(original, release, records=tmp_path / where)
    assert (tmp_path / "open.csv").read_text() == "old"
    assert (original.read_text(), len(list((tmp_path / "out").iterdir()))) == (before, 2)


def test_the_page_is_not_written_beside_the_release(original, tmp_path):
    (tmp_path / "share").mkdir()
    release = shutil.copy(original, tmp_path / "share" / "a.csv")
    with pytest.raises(PolicyEngineError, match="O001 Figures for the owner of the original would"):
        audit_disclosure(original, release, match=["row"], out=tmp_path / "share")


def test_an_original_and_its_release_in_the_wrong_order_are_told_of(original, tmp_path):
    (tmp_path / "share").mkdir()
    (tmp_path / "share" / "certificate.jsonld").write_text("{}")
    with pytest.raises(PolicyEngineError, match=r"C004 .* is the folder of a release\. The"):
        audit_disclosure(tmp_path / "share", original)


def test_what_is_wrong_with_a_second_release_names_its_file(original, tmp_path):
    second = tmp_path / "second.csv"
    table = pd.read_csv(original)
    table.assign(row=table["row"] + ROWS).to_csv(second, index=False)
    with pytest.raises(PolicyEngineError, match=r"second\.csv: A023 "):
        audit_disclosure(original, original, match=["row"], also=[second])


@pytest.mark.nightly
def test_a_second_release_adds_to_the_first(original, tmp_path):
    policy = asking(method="k-anonymity", k=3, quasi=["age", "pay"], insensitive=["row"])
    first = apply_policy(policy, {DATASET: original}, tmp_path / "one" / "a.csv").path
    policy = asking(method="k-anonymity", k=5, quasi=["pay", "age"], insensitive=["row"])
    second = apply_policy(policy, {DATASET: original}, tmp_path / "two" / "a.csv").path
    attacks = ["distance-linkage", "likelihood-linkage"]
    audit = audit_disclosure(original, first, also=[second], attacks=attacks, out=tmp_path / "out")
    alone, both = audit.together
    assert (alone.release, both.release) == ("one/a.csv", "two/a.csv")
    assert both.linked.value >= max(alone.linked.value, both.alone)
    assert (alone.least, alone.columns) == (3, ("age", "pay"))
    assert [one.release for one in audit.releases] == ["one/a.csv", "two/a.csv"]
    assert audit.releases[0].linked == audit.worst.linked
    page = (tmp_path / "out" / "disclosure.html").read_text()
    assert "Risk and utility of the releases" in page
    assert "With two/a.csv, a choice at random" in page


@pytest.mark.nightly
def test_noise_that_is_drawn_for_a_second_release_is_averaged_out(original, tmp_path):
    paths = []
    masked = [column(one, masking="noise", sdShare=0.3) for one in ("age", "pay")]
    policy = asking(method="masking", masked=masked, insensitive=["row"])
    for name, key in (("one", b"1" * 32), ("two", b"2" * 32)):
        path = tmp_path / name / "a.csv"
        paths.append(apply_policy(policy, {DATASET: original}, path, key=key).path)
    attacks, page = ["likelihood-linkage"], tmp_path / "out"
    audit = audit_disclosure(original, paths[0], also=paths[1:], attacks=attacks, out=page)
    alone, both = audit.together
    assert alone.joined == audit.worst.linked
    assert both.joined.low > alone.joined.value
    assert "Who joins the releases up to two/a.csv" in (page / "disclosure.html").read_text()


@pytest.mark.nightly
def test_shuffled_columns_are_attacked_by_how_ranks_move_when_they_are_shuffled_again(original):
    # Pay follows age closely, so that shuffling given age moves it little.
    table = pd.read_csv(original)
    table["pay"] = table["age"] * 100 + np.arange(ROWS) % 50
    table.to_csv(original, index=False)
    shuffled = column("pay", masking="shuffling", given={"@id": f"{DATASET}/age"})
    release = released(original, masked=[shuffled], insensitive=["row", "age"])
    audit = audit_disclosure(original, release, known=["pay"])
    [found] = linked(audit, "likelihood-linkage")
    assert found > 2 * audit.attacks[0].baseline
    assert audit_disclosure(original, release, known=["pay"]) == audit


def test_coded_tails_are_read_as_the_coding_makes_them(original):
    masked = [column("pay", masking="top-coding", tail=30, replacement="mean")]
    audit = audit_disclosure(original, released(original, masked=masked))
    # All others are as they were; of thirty in the tail, one is found.
    assert linked(audit, "likelihood-linkage") == [round((ROWS - 30 + 1) / ROWS, 5)]


def test_recoded_columns_are_read_by_the_values_below_a_label(original, tmp_path):
    tree = tmp_path / "city.csv"
    tree.write_text("Bern;south;any\nRome;south;any\nOslo;north;any\n")
    masked = [column("city", masking="recoding", taxonomy="city.csv", level=1)]
    policy = asking(method="masking", insensitive=["row"], masked=masked)
    trees = {"city.csv": tree}
    given = {DATASET: original}
    release = apply_policy(policy, given, tmp_path / "out" / "a.csv", taxonomies=trees).path
    audit = audit_disclosure(original, release, taxonomies=trees)
    assert (audit.known, audit.unread) == (("city",), ())
    # One person is found of each of the two labels.
    assert linked(audit, "likelihood-linkage") == [round(2 / ROWS, 5)]
    with pytest.raises(PolicyEngineError, match=r"C012 .*'city.csv'"):
        audit_disclosure(original, release)


@pytest.mark.nightly
def test_who_lacks_a_swapped_value_is_found_by_the_others(original):
    table = pd.read_csv(original)
    table["age"] = table["age"].where(table["row"] > 0).astype("Int64")
    table.to_csv(original, index=False)
    masked = [column(name, masking="rank-swapping", p=0.02) for name in ("pay", "age")]
    release = released(original, masked=masked)
    place = original.parent / "records.csv"
    audit_disclosure(original, release, known=["pay", "age"], records=place)
    rows = pd.read_csv(place).set_index("row")
    assert rows.loc[0, "intersection-linkage"] >= rows.loc[0, "distance-linkage"] == 1


def test_records_of_nobody_are_not_listed(original, tmp_path):
    (tmp_path / "other").mkdir()
    release, place = tmp_path / "other" / "b.csv", tmp_path / "records.csv"
    pd.read_csv(original).drop(columns="row").to_csv(release, index=False)
    with pytest.raises(PolicyEngineError, match="A023 Nobody's records can be listed"):
        audit_disclosure(original, release, known=["pay"], records=place)
    assert not place.exists()


def test_answers_to_queries_are_put_together_with_a_release(tmp_path):
    persons = pd.DataFrame(
        {"row": range(5), "age": [20, 21, 22, 40, 41], "pay": [1000, 2000, 3000, 4000, 5000]}
    )
    persons.to_csv(tmp_path / "in.csv", index=False)
    decades = persons.assign(age=["[20 - 29]"] * 3 + ["[40 - 49]"] * 2)
    decades.to_csv(tmp_path / "out.csv", index=False)
    log = "SELECT avg(pay) FROM staff WHERE age < 22;\nSELECT age FROM staff WHERE pay > 2000"
    (tmp_path / "log.sql").write_text(log)
    audit = audit_disclosure(
        tmp_path / "in.csv",
        tmp_path / "out.csv",
        known=["age"],
        match=["row"],
        answered=tmp_path / "log.sql",
        out=tmp_path / "page",
    )
    # Of 20 to 29 three persons, of whom two are below 22: the third earns what is left.
    [one] = audit.answered.answers
    assert (one.smallest, one.difference, one.beside) == (2, 1, "out.csv")
    assert (audit.answered.uniques, one.uniques, one.linked.value) == (0, 1, 0.6)
    assert [unused.query for unused in audit.answered.not_used] == [2]
    written = json.loads((tmp_path / "page" / "disclosure.json").read_text())
    assert "alone only together" in (tmp_path / "page" / "disclosure.html").read_text()
    assert written["answered"]["answers"][0]["columns"] == ["age"]
    page = (tmp_path / "page" / "disclosure.html").read_text()
    assert "What each answer adds" in page
    assert "Query 2 is not used, since it depends on" in page


def test_answers_need_to_know_whose_row_is_whose(tmp_path):
    persons = pd.DataFrame({"age": [20, 20, 30], "city": ["a", "a", "b"]})
    persons.to_csv(tmp_path / "in.csv", index=False)
    (tmp_path / "log.sql").write_text("SELECT count(*) FROM t")
    files = tmp_path / "in.csv", tmp_path / "in.csv"
    with pytest.raises(PolicyEngineError, match="A023 Answers cannot be put together"):
        audit_disclosure(*files, known=["age"], answered=tmp_path / "log.sql")
    with pytest.raises(PolicyEngineError, match="C002"):
        audit_disclosure(*files, known=["age"], same_order=True, answered=tmp_path / "none.sql")
    with pytest.raises(PolicyEngineError, match="M009"):
        audit_disclosure(*files, engine="spark", answered=tmp_path / "log.sql")
