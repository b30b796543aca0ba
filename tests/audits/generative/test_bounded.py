"""What a policy bounds of made-up rows, measured on those that were written, and the gate."""

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from synthesising import attacking, residents

from policy_engine.audits.generative.bounded import _Attackable, _material, measure_synthetic_audits
from policy_engine.audits.generative.gate import format_synthetic, synthetic_shortfalls
from policy_engine.data.catalog import MEMORY
from policy_engine.engines.synthesising.holding_out import split
from policy_engine.engines.synthesising.tables import SyntheticSource
from policy_engine.engines.tables import read_table, write_table
from policy_engine.errors import AuditError
from policy_engine.kernels.estimates import Estimate, NotApplicable
from policy_engine.methods.generative import DEFAULT_ATTACKS, GenerativeBound, GenerativeMeasurement
from policy_engine.plan.making import make_plan
from policy_engine.policy import read_policy

COLUMNS = ("age", "wage", "town")


def measured(made, rows=400, attack=("nearest-sample", "density-ratio"), table=None, **bounds):
    """Return what is measured of made-up rows, given those learnt and held out."""
    table = (table or residents(rows)).select(list(COLUMNS))
    source = SyntheticSource(*(one.table for one in split(table, 0.5, 3)), seed=3)
    written = SimpleNamespace(
        stored=SimpleNamespace(location=MEMORY),
        table=made(source.learnt),
        made_here=lambda: SimpleNamespace(engine_state=source),
    )
    plan = make_plan(read_policy(attacking(COLUMNS, attack=[*attack], **bounds)))
    found = [*measure_synthetic_audits(plan, written)]
    return {one.key: one for one in found}, plan.synthetic_audits


def copies(learnt):
    return learnt


def others(learnt):
    """Rows whose columns do not go together, of other persons."""
    return residents(learnt.num_rows, seed=99).select(list(COLUMNS))


BOUNDS = {"auc": 0.75, "tprAtFpr": 0.5, "fpr": 0.05, "setPValue": 0.001, "excessCopies": 0.2}


def test_copies_break_every_bound():
    found, steps = measured(copies, **BOUNDS)
    reached = {(key.attack, key.bound.measure): one.reached.value for key, one in found.items()}
    assert reached["nearest-sample", "auc"] > 0.95
    assert reached["exact-copies", "excessCopies"] > 0.9
    assert reached["nearest-sample", "setPValue"] < 1e-5
    broken = {one.key for one in found.values() if not one.holds}
    assert broken == {*found}
    sentences = [*synthetic_shortfalls([one.method for one in steps], [*found.values()])]
    assert len(sentences) == len(found) == 7
    assert sentences[0].startswith("auc at most 0.75 is required, but the attack nearest-sample")


def test_rows_that_keep_away_from_those_learnt_break_a_bound_on_the_rate():
    table = residents(400).select(list(COLUMNS))
    held_out = split(table, 0.5, 3)[1].table
    found, _ = measured(
        lambda _: held_out, table=table, attack=["exact-copies"], tprAtFpr=0.5, fpr=0.05
    )
    [rate] = found.values()
    assert rate.reached.value > 0.9
    assert not rate.holds


def test_rows_of_others_keep_every_bound():
    found, steps = measured(others, **BOUNDS)
    assert [*synthetic_shortfalls([one.method for one in steps], [*found.values()])] == []
    assert found
    assert all(one.holds for one in found.values())


def test_what_is_measured_is_what_the_plan_asks_for():
    found, [step] = measured(others, **BOUNDS)
    assert {*found} == {*step.method.keys}


@pytest.mark.nightly
def test_half_of_the_rows_held_out_are_references_where_an_attack_needs_some():
    with_ratio, _ = measured(copies, auc=0.75)
    assert {key.attack for key in with_ratio} == {"nearest-sample", "density-ratio"}
    alone, _ = measured(copies, attack=("nearest-sample",), auc=0.75)
    [one] = alone.values()
    ends = [found.reached.high - found.reached.low for found in (one, *with_ratio.values())]
    assert ends[0] <= min(ends[1:])  # against twice as many


def test_bounds_that_were_not_measured_do_not_hold():
    found, steps = measured(others, **BOUNDS)
    left = [one for one in found.values() if one.bound.measure != "setPValue"]
    sentences = [*synthetic_shortfalls([one.method for one in steps], left)]
    assert len(sentences) == 2
    assert "setPValue at least 0.001 holds for the attack nearest-sample was not" in sentences[0]


def test_attacks_that_do_not_apply_show_nothing():
    found, steps = measured(others, auc=0.75)
    reason = NotApplicable(reason="there are none")
    none = [one.model_copy(update={"reached": reason}) for one in found.values()]
    [sentence] = synthetic_shortfalls([one.method for one in steps], none)
    assert sentence == "Whether auc at most 0.75 holds is not shown by any attack: none applies."
    assert [
        *synthetic_shortfalls([one.method for one in steps], [none[0], [*found.values()][1]])
    ] == []
    assert format_synthetic(none[0]) == "no figure, since there are none"


def test_an_area_below_a_half_is_told_as_that_of_an_attack_turned_round():
    bound = GenerativeBound(measure="auc", asked=0.6)
    far = Estimate(value=0.3, low=0.25, high=0.35)
    one = GenerativeMeasurement(attack="x", bound=bound, reached=far)
    assert format_synthetic(one) == "0.3 (95% interval 0.25 to 0.35; up to 0.75 turned round)"
    assert not one.holds


@pytest.mark.parametrize("rows", [4, 12, 38])
def test_too_few_rows_show_nothing(rows):
    with pytest.raises(AuditError, match="Needed are at least 10 of each") as caught:
        measured(others, rows=rows, auc=0.75)
    assert caught.value.code == "A031"


def test_a_bound_that_so_few_rows_cannot_break_is_refused():
    with pytest.raises(AuditError, match="sets of 10 rows, whose least p-value") as caught:
        measured(others, rows=20, attack=("nearest-sample",), setPValue=5e-6)
    assert caught.value.code == "A021"


def test_at_most_ten_thousand_rows_of_a_side_are_attacked(monkeypatch):
    from policy_engine.audits.generative import bounded

    monkeypatch.setattr(bounded, "_MOST", 50)
    every = bounded._Attackable.of(np.arange(200), np.arange(200), None)
    some = every.some(np.arange(200), np.random.default_rng(1))
    assert len({*some.rows.tolist()}) == len(some.rows) == 50
    monkeypatch.setattr(bounded, "_MOST_ROWS", 60)
    twice = bounded._Attackable.of(np.arange(200), np.arange(200), np.arange(200) // 2)
    some = twice.some(np.arange(100), np.random.default_rng(1))
    assert sorted(np.bincount(some.group_of).tolist())[-30:] == [2] * 30


@pytest.mark.nightly
def test_copies_of_persons_with_several_equal_rows_are_found():
    found, _ = measured(copies, table=pa.concat_tables([residents(400)] * 6), **BOUNDS)
    assert not any(one.holds for one in found.values())


@pytest.mark.nightly
def test_values_that_are_those_of_one_row_are_found_where_nothing_goes_together():
    generator = np.random.default_rng(1)
    table = residents(1000).set_column(2, "wage", [generator.permutation(10**6)[:1000]])

    def shuffled(learnt):
        return pa.table({one: generator.permutation(learnt[one].to_numpy()) for one in COLUMNS})

    found, _ = measured(shuffled, attack=DEFAULT_ATTACKS, table=table, auc=0.65)
    assert [key.attack for key, one in found.items() if not one.holds] == ["rare-values"]


def test_a_holdout_with_rows_that_were_learnt_is_refused():
    table = pa.concat_tables([residents(200)] * 2)
    source = SyntheticSource(table.slice(0, 200), table.slice(200), seed=3)
    with pytest.raises(AuditError, match="200 rows held out equal rows") as caught:
        _material(source, source.learnt, has_references=False)
    assert caught.value.code == "A030"


def test_a_random_split_is_of_one_distribution_whatever_a_test_for_a_shift_finds(monkeypatch):
    from policy_engine.audits.generative import auditing

    shifted = Estimate(value=0.9, low=0.85, high=0.95)
    monkeypatch.setattr(auditing, "measured_shift", lambda _: shifted)
    found, _ = measured(others, attack=("nearest-sample",), auc=0.75)
    assert found


def bounded_copies(**columns):
    """Return what is reached where those learnt are released, and the columns tell all rows."""
    table = residents(400).select(list(COLUMNS))
    for name, values in columns.items():
        table = table.set_column(table.column_names.index(name), name, [values])
    return measured(copies, table=table, attack=DEFAULT_ATTACKS, auc=0.6, excessCopies=0.2)[0]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "wage",
    [
        pa.array(range(8_939_010_000_000_000_000, 8_939_010_000_000_000_400)),
        pa.array([f"31424133241423114{row:08d}" for row in range(400)]),
        pa.array(["0" * zeros + str(row) for row in range(1, 26) for zeros in range(16)]),
    ],
    ids=["19 digits", "25 digits", "zeros in front"],
)
def test_values_that_floats_do_not_tell_apart_are_copies_of_their_own_row_alone(wage):
    reached = {
        (key.attack, key.bound.measure): one for key, one in bounded_copies(wage=wage).items()
    }
    assert reached["exact-copies", "excessCopies"].reached.value == 1
    assert not reached["rare-values", "auc"].holds
    assert not any(one.holds for one in reached.values())


def test_spellings_that_only_made_up_rows_have_among_those_attacked_are_no_other_code(monkeypatch):
    from policy_engine.audits.generative import bounded

    monkeypatch.setattr(bounded, "_MOST", 50)
    towns = residents(400)["town"].to_pylist()
    for row in range(0, 400, 40):
        towns[row] = towns[row].upper()
    table = residents(400).select(list(COLUMNS)).set_column(2, "town", [towns])
    found, _ = measured(copies, table=table, attack=("nearest-sample",), auc=0.6)
    assert found


@pytest.mark.one_in(3)
@pytest.mark.parametrize("kind", [pa.timestamp("s"), pa.time32("s"), pa.float16()])
def test_files_that_have_no_such_type_are_attacked(tmp_path, kind):
    values = pa.array(np.arange(400, dtype="f2") if kind == pa.float16() else range(400), kind)
    table = residents(400).select(list(COLUMNS)).set_column(1, "wage", [values])

    def written(learnt):
        write_table(learnt, tmp_path / "x.parquet")
        return read_table(tmp_path / "x.parquet")

    found, _ = measured(written, table=table, attack=("exact-copies",), auc=0.6)
    assert not any(one.holds for one in found.values())


# -- persons with several rows --------------------------------------------------------------------


def visits(people=300, seed=1):
    """Return a table in which each person has from 1 to 4 rows, of about one age and wage."""
    generator = np.random.default_rng(seed)
    rows = generator.integers(1, 5, people)
    person = np.repeat(np.arange(people), rows)
    age = np.repeat(generator.integers(20, 80, people), rows) + generator.random(len(person))
    return pa.table({"person": person, "age": age, "wage": generator.random(len(person))})


def of_persons(made, table):
    """Return what is measured of made-up rows, where persons are told apart."""
    persons = table["person"].to_numpy()
    sides = split(table.select(["age", "wage"]), 0.5, 3, persons)
    numbers = [one.persons for one in sides]
    source = SyntheticSource(*(one.table for one in sides), 3, *numbers)
    written = SimpleNamespace(
        stored=SimpleNamespace(location=MEMORY),
        table=made(source.learnt),
        made_here=lambda: SimpleNamespace(engine_state=source),
    )
    policy = attacking(("age", "wage"), unit="person", attack=["exact-copies"], excessCopies=0.2)
    plan = make_plan(read_policy(policy))
    [one] = measure_synthetic_audits(plan, written)
    return one, source


def test_a_person_is_found_by_any_of_the_rows():
    table = visits()

    def one_row_each(learnt):
        ages = np.floor(learnt["age"].to_numpy())
        return learnt.take(np.unique(ages, return_index=True)[1])

    one, source = of_persons(one_row_each, table)
    made = one_row_each(source.learnt)
    copied = {*made["age"].to_pylist()}
    ages = source.learnt["age"].to_pylist()
    owners = {p for p, age in zip(source.learnt_persons, ages, strict=True) if age in copied}
    members = len({*source.learnt_persons.tolist()})
    assert one.reached.value == pytest.approx(len(owners) / members, abs=0.0006)


def test_persons_of_whom_no_row_is_copied_are_not_found():
    one, source = of_persons(lambda _: visits(seed=9).select(["age", "wage"]), visits())
    assert one.holds
    assert len({*source.held_out_persons.tolist()}) > 100


def test_persons_on_both_sides_are_refused():
    table = visits().select(["age", "wage"])
    persons = np.arange(table.num_rows) % 90
    half = table.num_rows // 2
    source = SyntheticSource(
        table.slice(0, half), table.slice(half), 3, persons[:half], persons[half:]
    )
    with pytest.raises(AuditError, match="90 persons of the rows held out had rows") as caught:
        _material(source, source.learnt, "person", has_references=False)
    assert caught.value.code == "A030"


def test_persons_with_an_equal_row_count_as_one():
    ages = [*range(40), *range(40)]  # persons 0 and 1 share the row 0, 2 and 3 the row 2, and so on
    persons = np.array([*range(40), *(one ^ 1 for one in range(40))])
    learnt = _Attackable.of(np.arange(80), np.array(ages), persons)
    assert (learnt.size, len(learnt.rows)) == (20, 40)
