import io
import pickle
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from policy_engine.data.table_files import read_header
from policy_engine.engines.array_files import read_arrays, write_arrays
from policy_engine.engines.carried import check_file_extras
from policy_engine.engines.tables import read_table
from policy_engine.errors import CertificateError, DataError, OutputError, PolicyEngineError

IMAGES = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)


def packed(table, kind="npz"):
    """Return the bytes of a table as a file of arrays."""
    file = io.BytesIO()
    write_arrays(file, pa.table(table), kind)
    return file.getvalue()


def codes(call, *arguments):
    with pytest.raises(PolicyEngineError) as error:
        call(*arguments)
    return [one.code for one in error.value.problems]


def test_an_npy_file_is_a_table_of_one_column(tmp_path):
    np.save(tmp_path / "a.npy", IMAGES)
    assert read_header(tmp_path / "a.npy") == ("npy", ("image",))
    table = read_arrays(tmp_path / "a.npy")
    assert table.schema.field("image").type == pa.list_(pa.list_(pa.uint8(), 4), 3)
    assert table["image"].to_pylist() == IMAGES.tolist()


def test_the_arrays_of_an_npz_file_are_columns(tmp_path):
    arrays = {
        "face": IMAGES.astype(">f4"),
        "flat": np.asfortranarray(IMAGES.reshape(2, 12)),
        "colours": np.zeros((2, 2, 2, 3), np.int64),
        "label": np.array(["é", ""]),
        "age": np.array([3, 4], ">i2"),
        "pay": np.array([0.5, np.nan]),
        "is": np.array([True, False]),
    }
    np.savez_compressed(tmp_path / "a.npz", **arrays)
    assert read_header(tmp_path / "a.npz") == ("npz", tuple(arrays))
    table = read_arrays(tmp_path / "a.npz")
    assert table.column_names == list(arrays)
    for name in ("face", "flat", "colours", "label", "age", "is"):
        assert table[name].to_pylist() == arrays[name].tolist()
    assert read_arrays(tmp_path / "a.npz", ("age", "label")).column_names == ["age", "label"]


OBJECTS = np.array([{"a": 1}], dtype=object)
UNUSABLE = {
    "objects": (OBJECTS, "C009"),
    "complex numbers": (np.zeros((1, 2, 2), complex), "C009"),
    "dates": (np.zeros((1, 2, 2), "M8[D]"), "C009"),
    "records": (np.zeros((1, 2, 2), [("a", "i4")]), "C009"),
    "truth values": (np.zeros((1, 2, 2), bool), "C009"),
    "a number": (np.zeros(()), "C009"),
    "numbers": (np.zeros(3), "C009"),
    "rows": (np.zeros((3, 2)), "C009"),
    "films": (np.zeros((1, 2, 2, 2, 2)), "C009"),
    "no pixels": (np.zeros((1, 0, 2)), "C009"),
}


@pytest.mark.parametrize("what", UNUSABLE)
def test_an_npy_file_is_refused_that_holds(what, tmp_path):
    array, code = UNUSABLE[what]
    np.save(tmp_path / "a.npy", array, allow_pickle=True)
    assert codes(read_arrays, tmp_path / "a.npy") == [code]


class Exploit:
    """An object that does harm when it is unpickled."""

    def __reduce__(self):
        return pytest.fail, ("unpickled",)


@pytest.mark.parametrize("ending", ["npy", "npz"])
def test_nothing_is_unpickled(ending, tmp_path):
    objects, place = np.array([Exploit()], dtype=object), tmp_path / f"a.{ending}"
    np.save(place, objects) if ending == "npy" else np.savez(place, a=objects)
    assert codes(read_arrays, place) == ["C009"]
    place.write_bytes(pickle.dumps(Exploit()))
    assert codes(read_header, place) == codes(read_arrays, place) == ["C010"]


def test_arrays_of_different_lengths_are_refused(tmp_path):
    np.savez(tmp_path / "a.npz", face=IMAGES, label=np.arange(3))
    with pytest.raises(DataError, match="2 of 'face', 3 of 'label'"):
        read_arrays(tmp_path / "a.npz", ("face",))


@pytest.mark.parametrize("cut", [1, 30, 100, 140])
@pytest.mark.parametrize("ending", ["npy", "npz"])
def test_a_file_that_is_cut_off_is_refused(ending, cut, tmp_path):
    place = tmp_path / f"a.{ending}"
    np.save(place, IMAGES) if ending == "npy" else np.savez(place, a=IMAGES)
    place.write_bytes(place.read_bytes()[:-cut])
    assert codes(read_arrays, place) == ["C010"]


def test_a_file_with_bytes_behind_its_array_is_refused(tmp_path):
    np.save(tmp_path / "a.npy", IMAGES)
    with (tmp_path / "a.npy").open("ab") as file:
        file.write(b"more")
    assert codes(read_arrays, tmp_path / "a.npy") == ["C010"]


def test_an_archive_with_other_files_is_refused(tmp_path):
    with ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("readme.txt", "hello")
    assert codes(read_header, tmp_path / "a.npz") == ["C010"]


@given(st.binary(max_size=200))
def test_a_damaged_header_is_refused(tmp_path_factory, noise):
    place = tmp_path_factory.getbasetemp() / "damaged.npy"
    place.write_bytes(b"\x93NUMPY\x01\x00" + len(noise).to_bytes(2, "little") + noise)
    assert codes(read_arrays, place)[0] in ("C009", "C010")


def archive_bytes():
    file = io.BytesIO()
    np.savez_compressed(file, image=IMAGES, label=np.array(["a", "bb"]))
    return file.getvalue()


WHOLE = archive_bytes()


@given(st.lists(st.tuples(st.integers(0, len(WHOLE) - 1), st.integers(0, 255)), min_size=1))
def test_a_damaged_archive_is_refused_or_read_as_it_was(tmp_path_factory, changes):
    damaged, place = bytearray(WHOLE), tmp_path_factory.getbasetemp() / "damaged.npz"
    for at, byte in changes:
        damaged[at] = byte
    place.write_bytes(damaged)
    for call in (read_header, read_table):
        try:
            call(place)
        except PolicyEngineError as error:
            assert error.problems[0].code[0] == "C"  # noqa: PT017 (it may be read as well)


KINDS = st.sampled_from([np.uint8, np.float16, np.int16, np.int64, np.float32, np.float64])


@given(hnp.arrays(KINDS, hnp.array_shapes(min_dims=1, max_dims=4, max_side=4)))
def test_what_is_written_is_what_is_read(tmp_path_factory, array):
    place = tmp_path_factory.getbasetemp() / "written.npz"
    np.savez(place, a=array)
    table = read_arrays(place)
    place.write_bytes(packed(table))
    with np.load(place) as archive:
        assert archive["a"].dtype == array.dtype
        assert np.array_equal(archive["a"], array, equal_nan=array.dtype.kind == "f")


def test_the_same_columns_are_the_same_bytes_and_carry_nothing_else(tmp_path):
    table = {"a": [1, 2], "b": ["x", "yy"], "c": [0.5, None]}
    (tmp_path / "a.npz").write_bytes(packed(table))
    assert packed(table) == packed(table)
    check_file_extras(tmp_path / "a.npz")
    with ZipFile(tmp_path / "a.npz", "a", ZIP_DEFLATED) as archive:
        archive.comment = b"written by Bob"
    assert codes(check_file_extras, tmp_path / "a.npz") == ["V002"]
    np.save(tmp_path / "b.npy", IMAGES)
    check_file_extras(tmp_path / "b.npy")


def test_a_file_with_times_of_writing_carries_more_than_its_arrays(tmp_path):
    np.savez(tmp_path / "a.npz", a=np.arange(3))
    with pytest.raises(CertificateError, match="times of writing"):
        check_file_extras(tmp_path / "a.npz")


UNWRITABLE = {
    "missing images": ({"image": pa.array([None], pa.list_(pa.list_(pa.uint8())))}, "npz"),
    "missing numbers": ({"a": pa.array([1, None])}, "npz"),
    "missing texts": ({"a": ["a", None]}, "npz"),
    "decimals": ({"a": pa.array([1], pa.decimal128(9, 2))}, "npz"),
    "texts that numpy cuts": ({"a": ["a\0"]}, "npz"),
    "ragged images": ({"a": [[[1], [2]], [[3]]]}, "npz"),
    "a name that zip cuts": ({"a\0": [1]}, "npz"),
    "two columns in one array": ({"image": [[[1]]], "b": [1]}, "npy"),
    "another name": ({"photo": [[[1]]]}, "npy"),
    "numbers in an array of images": ({"image": [1]}, "npy"),
}


@pytest.mark.parametrize("what", UNWRITABLE)
def test_a_column_is_refused_that_no_array_can_hold(what):
    columns, kind = UNWRITABLE[what]
    with pytest.raises(OutputError, match="O002"):
        packed(columns, kind)
