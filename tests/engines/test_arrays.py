import numpy as np
import pyarrow as pa
import pytest
from building import DATASET, modules_loaded_by
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.engines.arrays import from_numpy, from_texts, to_numpy


@pytest.mark.parametrize(
    "values", [[1, 2, 3], [1.5, -0.0], [True, False, True], [], [2**62]], ids=str
)
def test_arrays_come_back_as_they_went(values):
    array = pa.array(values, None if values else pa.int64())
    assert to_numpy(array).tolist() == values
    assert from_numpy(np.array(values, dtype=to_numpy(array).dtype)).equals(array)


def test_slices_are_taken_as_slices():
    assert to_numpy(pa.array([1, 2, 3, 4])[1:3]).tolist() == [2, 3]


@given(st.lists(st.tuples(st.integers(0, 9), st.booleans()), max_size=40))
def test_what_the_mask_hides_is_missing(rows):
    values = np.array([value for value, _ in rows], dtype=np.int32)
    missing = np.array([hidden for _, hidden in rows], dtype=np.bool_)
    expected = [None if hidden else value for value, hidden in rows]
    assert from_numpy(values, missing).to_pylist() == expected


@given(st.lists(st.text()))
def test_texts_are_kept(texts):
    array = from_texts(texts)
    array.validate(full=True)
    assert array.to_pylist() == texts


@pytest.mark.nightly
def test_a_run_from_file_to_file_imports_no_pandas(people):
    asked = ["apply", "policy.jsonld", "--data", f"{DATASET}=people.csv", "--output", "out"]
    loaded = modules_loaded_by(*asked, cwd=people)
    assert "pyarrow" in loaded
    assert "pandas" not in loaded
