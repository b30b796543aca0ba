"""Whole synthetic tables of any generator, and what their owner is told to doubt."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from synthesising import residents

from policy_engine import terms
from policy_engine.engines.synthesising.checking import foreign_cells
from policy_engine.engines.synthesising.tables import made_up, synthetic_table
from policy_engine.engines.tables import infer_types, read_table
from policy_engine.methods.synthesiser import synthesiser_class
from policy_engine.methods.synthesisers.sequential_trees import SequentialTrees
from policy_engine.plan.synthesis import Synthesis

GENERATORS = [synthesiser_class(one)() for one in terms.synthesisers()]
CELLS = st.one_of(st.none(), st.integers(-3, 3))
TEXTS = st.one_of(st.none(), st.sampled_from(["", "a", "b"]))


@pytest.mark.parametrize("settings", GENERATORS, ids=str)
@given(rows=st.lists(st.tuples(CELLS, TEXTS, CELLS), min_size=1, max_size=12), seed=st.integers(0))
def test_any_table_is_made_up_of_its_own_values(settings, rows, seed):
    kinds = pa.schema([("x", pa.int32()), ("y", pa.string()), ("z", pa.float64())])
    columns = dict(zip(kinds.names, zip(*rows, strict=True), strict=True))
    table = pa.table(columns, schema=kinds)
    made = synthetic_table(table, settings, 20, seed)
    assert (made.schema, made.num_rows) == (kinds, 20)
    assert foreign_cells(made, table, kinds.names) == (0, 0, 0)


def test_columns_are_published_in_another_order_than_they_are_drawn_in():
    synthesis = Synthesis(columns=("town", "age"), synthesiser=GENERATORS[0], rows=5)
    made = made_up(residents(), synthesis, ("age", "town"), 1)
    assert made.table.column_names == ["age", "town"]
    assert made.rows == made.table.num_rows == 5
    assert made.engine_state.learnt.column_names == ["town", "age"]
    assert (made.engine_state.learnt.num_rows, made.engine_state.held_out.num_rows) == (600, 0)


def test_a_share_of_the_rows_is_held_out_and_all_others_are_learnt():
    synthesis = Synthesis(columns=("name",), synthesiser=GENERATORS[0], rows=2_000)
    table = residents(50)
    made = made_up(table, synthesis, ("name",), 1, 0.3)
    learnt, held_out = (
        {*one["name"].to_pylist()} for one in (made.engine_state.learnt, made.engine_state.held_out)
    )
    assert (len(learnt), len(held_out)) == (35, 15)
    assert learnt | held_out == {*table["name"].to_pylist()}
    assert {*made.table["name"].to_pylist()} == learnt
    other = made_up(table, synthesis, ("name",), 2, 0.3).engine_state.held_out
    assert {*other["name"].to_pylist()} != held_out


def test_the_owner_is_told_of_leaves_that_split_nothing():
    def doubts(leaf):
        settings = SequentialTrees(leafSize=leaf)
        synthesis = Synthesis(columns=("age", "town"), synthesiser=settings, rows=9)
        return made_up(residents(60), synthesis, ("age", "town"), 1).doubts

    assert not any("Leaves" in one for one in doubts(30))
    assert doubts(31)[-1].startswith("Leaves of at least 31 rows do not split the 60 rows")


def test_the_owner_is_told_of_copies_and_of_columns_that_tell_persons():
    synthesis = Synthesis(columns=("name", "town"), synthesiser=GENERATORS[0], rows=1)
    table = pa.table({"name": ["Ann"], "town": ["Rome"]})
    copies, names = made_up(table, synthesis, ("name", "town"), 1).doubts
    assert copies.startswith("1 of the 1 row that were made up is the same as a row of the input.")
    assert names.startswith("Nearly every value of 'name' and 'town' is that of one row")
    ages = Synthesis(columns=("age", "wage"), synthesiser=GENERATORS[0], rows=3)
    [wages] = made_up(residents(), ages, ("age", "wage"), 1).doubts
    assert wages.startswith("Nearly every value of 'wage' is that of one row")
    towns = Synthesis(columns=("age", "town"), synthesiser=GENERATORS[0], rows=3)
    doubts = made_up(residents(), towns, ("age", "town"), 1).doubts
    assert not any("Nearly every" in one for one in doubts)


def test_what_is_text_in_the_table_is_text_in_made_up_rows(tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n1,1\n2,2\n3,unknown\n")
    synthesis = Synthesis(columns=("x", "y"), synthesiser=GENERATORS[0], rows=1)
    table = read_table(tmp_path / "t.csv")
    for seed in range(5):
        made = made_up(table, synthesis, ("x", "y"), seed).table
        assert infer_types(made).schema.types == [pa.int64(), pa.string()]
