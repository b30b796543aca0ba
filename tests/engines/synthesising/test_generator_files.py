"""Generators in files: what is written is what is read, and nothing else is."""

import hashlib
import io
import json
import zipfile
from datetime import UTC, date, datetime, time
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from everyday import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from synthesising import residents

from policy_engine import terms
from policy_engine.engines.synthesising.coding import learnt_table
from policy_engine.engines.synthesising.generator_files import read_generator, write_generator
from policy_engine.engines.synthesising.tables import fit
from policy_engine.errors import DataError
from policy_engine.methods.synthesiser import synthesiser_class

COLUMNS = ["age", "wage", "town"]
NOTATIONS = [*terms.synthesisers()]


def written(folder, table, notation="sequential-trees", **parameters):
    """Return the generator of a table, read from a folder where it was written."""
    synthesiser = synthesiser_class(notation)(**parameters)
    learnt = learnt_table(table).in_order()
    folder.mkdir(exist_ok=True)
    write_generator(folder, learnt, synthesiser, fit(learnt, synthesiser))
    return read_generator(folder)


def bytes_of(folder):
    return {one.name: one.read_bytes() for one in folder.iterdir()}


@pytest.mark.parametrize("notation", NOTATIONS)
def test_files_are_the_same_for_the_same_table_in_any_order(notation, tmp_path):
    table = residents(300).select(COLUMNS)
    order = np.random.default_rng(1).permutation(300)
    generator = written(tmp_path / "a", table, notation)
    written(tmp_path / "b", table, notation)
    assert bytes_of(tmp_path / "a") == bytes_of(tmp_path / "b")
    assert generator.columns == tuple(COLUMNS)
    assert generator.synthesiser == synthesiser_class(notation)()
    written(tmp_path / "c", table.take(order), notation)
    assert bytes_of(tmp_path / "a") == bytes_of(tmp_path / "c")


_LARGE = 5 * 10**17
NEAR_VALUES = {
    "identifier": lambda some: pa.array([_LARGE + one for one in some]),
    "unsigned": lambda some: pa.array([2**63 + one for one in some], pa.uint64()),
    "stamp": lambda some: pa.array([16 * 10**17 + one for one in some], pa.timestamp("ns")),
    "money": lambda some: pa.array(
        [Decimal(f"12345678901234567.{one:02d}") for one in some], pa.decimal128(30, 2)
    ),
    "long money": lambda some: pa.array(
        [Decimal(f"{10**40 + one}") for one in some], pa.decimal256(50, 2)
    ),
    "zero": lambda some: pa.array([0.0 if one % 2 else -0.0 for one in some]),
    "huge": lambda some: pa.array([[1e300, float("inf"), float("nan")][one % 3] for one in some]),
    "half": lambda some: pa.array(np.array([[0.0, -0.0, 1.0][one % 3] for one in some], "float16")),
}
"""Columns whose values are near enough to be the same, or out of order, as floats."""


@pytest.mark.one_in(3)
@pytest.mark.parametrize("notation", NOTATIONS)
@given(
    rows=st.lists(st.tuples(*[st.integers(0, 4)] * 2), min_size=2, max_size=12),
    data=st.data(),
    names=st.tuples(*[st.sampled_from([*NEAR_VALUES])] * 2),
)
@settings(max_examples=examples(40), deadline=None)
def test_files_tell_nothing_of_the_order_of_rows_with_values_that_floats_confuse(
    notation, rows, data, names, tmp_path_factory
):
    folder = tmp_path_factory.mktemp("generators")
    mixed = data.draw(st.permutations(rows))
    for name, some in (("a", rows), ("b", mixed)):
        first, second = zip(*some, strict=True)
        columns = {"x": NEAR_VALUES[names[0]](first), "y": NEAR_VALUES[names[1]](second)}
        written(folder / name, pa.table(columns), notation)
    assert bytes_of(folder / "a") == bytes_of(folder / "b")


def test_files_do_not_tell_which_cells_are_of_one_row(tmp_path):
    """Trees that split alike have the rows of a leaf in one order, if they keep any."""
    rows = {"a": [0, 0, 0, 0], "b": [3, 1, 2, 0], "c": [1, 3, 0, 2]}
    order = [2, 0, 3, 1]
    written(tmp_path / "a", pa.table(rows), leafSize=4)
    written(tmp_path / "b", pa.table(rows).take(order), leafSize=4)
    assert bytes_of(tmp_path / "a") == bytes_of(tmp_path / "b")


def test_values_of_every_type_are_got_back(tmp_path):
    rows = {
        "number": pa.array([2, None, 1], pa.int8()),
        "float": [0.1, float("nan"), 1e-300],
        "truth": [True, False, None],
        "day": [date(2020, 2, 29), None, date(1, 1, 1)],
        "hour": [time(1, 2, 3, 4), time(0), None],
        "stamp": pa.array([1, None, -7 * 10**10], pa.timestamp("ms")),
        "zoned": [datetime(2020, 1, 1, 12, tzinfo=UTC), None, datetime(1999, 1, 1, tzinfo=UTC)],
        "money": [Decimal("1.50"), Decimal("-0.05"), None],
        "text": ["a", "", "ä\n\"'"],
        "coded": pa.array(["x", "y", None]).dictionary_encode(),
    }
    table = pa.table(rows)
    drawn = written(tmp_path, table, "independent-marginals").sample(200, seed=1)
    for name in table.column_names:
        own, made = ({*map(str, one.column(name).to_pylist())} for one in (table, drawn))
        assert own == made
        assert drawn.column(name).type in (table.column(name).type, pa.string())


def test_columns_whose_values_no_text_tells_are_refused(tmp_path):
    table = pa.table({"a": [1, 2], "code": [b"\xff", b"\xfe"], "other": [b"x", b"y"]})
    with pytest.raises(DataError) as caught:
        written(tmp_path, table, "independent-marginals")
    assert [one.code for one in caught.value.problems] == ["C009", "C009"]
    assert "'code'" in caught.value.problems[0].message


def packed_as(folder, packed):
    """Put bytes in the place of the arrays, with the digest that is theirs."""
    (folder / "generator.npz").write_bytes(packed)
    described(folder, sha256=hashlib.sha256(packed).hexdigest())


def with_marks(packed, *changes):
    """Return an archive with bytes changed at some places of every entry, by its two headers."""
    content = bytearray(packed)
    for mark, place, value in changes:
        start = content.find(mark)
        while start >= 0:
            content[start + place] = value
            start = content.find(mark, start + 4)
    return bytes(content)


def changed(folder, change, *, is_signed=True):
    """Change the arrays of a generator, and its description so that the digest is theirs."""
    path = folder / "generator.npz"
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files}
    change(arrays)
    packed = io.BytesIO()
    np.savez(packed, **arrays)
    path.write_bytes(packed.getvalue())
    if is_signed:
        described(folder, sha256=hashlib.sha256(packed.getvalue()).hexdigest())


def described(folder, **changes):
    path = folder / "generator.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def refused(folder):
    with pytest.raises(DataError) as caught:
        read_generator(folder)
    return caught.value.code


def replaced(name, value):
    return lambda arrays: arrays.update({name: np.array(value)})


def as_bytes(values):
    return np.frombuffer(json.dumps(values).encode(), np.uint8)


@pytest.mark.parametrize(
    "change",
    [
        replaced("counts_0", [1.0, 2.0]),
        replaced("counts_0", [[1], [2]]),
        replaced("counts_0", [1, 2, 3]),
        replaced("counts_0", [-1, 3]),
        replaced("counts_0", [0, 0]),
        replaced("values_0", as_bytes(["1", "1"])),
        replaced("values_0", as_bytes([None, "1"])),
        replaced("values_0", as_bytes(["1", "x"])),
        replaced("values_0", as_bytes([1, 2])),
        replaced("values_0", as_bytes([])),
        replaced("values_0", as_bytes({"1": 2})),
        replaced("values_0", [1, 2]),
        replaced("values_0", b"[".ljust(9)),
        lambda arrays: arrays.pop("counts_1"),
        lambda arrays: arrays.pop("values_1"),
    ],
)
def test_arrays_of_no_generator_are_refused(change, tmp_path):
    table = pa.table({"a": [1, 1, 2], "b": ["x", "y", "x"]})
    written(tmp_path, table, "independent-marginals")
    changed(tmp_path, lambda _: None)
    read_generator(tmp_path)
    changed(tmp_path, change)
    assert refused(tmp_path) == "C017"


@pytest.mark.parametrize(
    "changes",
    [
        {"format": "policy-engine generator 2"},
        {"sha256": "0" * 64},
        {"synthesiser": {"synthesiser": "os.system"}},
        {"synthesiser": {"synthesiser": "sequential-trees", "leaf": 0}},
        {"synthesiser": "independent-marginals"},
        {"columns": []},
        {"columns": [{"name": "a", "type": "int64"}] * 2},
        {"columns": [{"name": "a", "type": "list<item: int64>"}, {"name": "b", "type": "string"}]},
        {"columns": [{"name": "a", "type": "decimal128(99, 1)"}, {"name": "b", "type": "string"}]},
        {"columns": 7},
    ],
)
def test_descriptions_of_no_generator_are_refused(changes, tmp_path):
    written(tmp_path, pa.table({"a": [1, 1, 2], "b": ["x", "y", "x"]}), "independent-marginals")
    described(tmp_path, **changes)
    assert refused(tmp_path) == "C017"


@pytest.mark.parametrize("name", ["generator.json", "generator.npz"])
def test_files_that_are_missing_or_something_else_are_refused(name, tmp_path):
    written(tmp_path, pa.table({"a": [1, 2]}), "independent-marginals")
    (tmp_path / name).write_bytes(b"\x80\x04cposix\nsystem\n")
    assert refused(tmp_path) == "C017"
    (tmp_path / name).unlink()
    assert refused(tmp_path) == "C002"


def test_objects_are_never_unpickled(tmp_path):
    written(tmp_path, pa.table({"a": [1, 2]}), "independent-marginals")
    changed(tmp_path, lambda arrays: arrays.update(counts_0=np.array([{}, {}], dtype=object)))
    assert refused(tmp_path) == "C017"


def test_arrays_that_are_cut_off_are_refused(tmp_path):
    written(tmp_path, pa.table({"a": [1, 2]}), "independent-marginals")
    path = tmp_path / "generator.npz"
    path.write_bytes(path.read_bytes()[:-30])
    described(tmp_path, sha256=hashlib.sha256(path.read_bytes()).hexdigest())
    assert refused(tmp_path) == "C017"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("counts_0.npy", b"x")
    described(tmp_path, sha256=hashlib.sha256(path.read_bytes()).hexdigest())
    assert refused(tmp_path) == "C017"


LOCAL, CENTRAL = b"PK\x03\x04", b"PK\x01\x02"


@pytest.mark.parametrize(
    "changes",
    [
        [(LOCAL, 6, 1), (CENTRAL, 8, 1)],  # encrypted
        [(LOCAL, 6, 64), (CENTRAL, 8, 64)],  # strongly
        *([(LOCAL, 8, kind), (CENTRAL, 10, kind)] for kind in (12, 14, 99)),  # packed otherwise
        [(CENTRAL, 6, 255)],  # by a later version
    ],
)
def test_archives_of_another_kind_are_refused(changes, tmp_path):
    written(tmp_path, pa.table({"a": [1, 2]}), "independent-marginals")
    packed_as(tmp_path, with_marks((tmp_path / "generator.npz").read_bytes(), *changes))
    assert refused(tmp_path) == "C017"


def with_header(text):
    """Return the bytes of an array that is described by a text, and has no numbers."""
    header = text.encode() + b" " * (63 - (len(text) + 10) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header


@pytest.mark.parametrize(
    "content",
    [
        with_header("{'descr': '<i8', 'fortran_order': False, 'shape': (1000000000000000,), }"),
        with_header(f"{{'descr': '<i8', 'fortran_order': False, 'shape': ({10**22},), }}"),
        with_header("{'descr': '<i8', 'fortran_order': False, 'shape': (-1,), }"),
        with_header("{'descr': ((("),
        with_header("{'descr': '|O', 'fortran_order': False, 'shape': (0,), }"),
        b"",
    ],
)
def test_arrays_that_are_not_what_they_say_are_refused(content, tmp_path):
    written(tmp_path, pa.table({"a": [1, 2]}), "independent-marginals")
    packed = io.BytesIO((tmp_path / "generator.npz").read_bytes())
    values = zipfile.ZipFile(packed).read("values_0.npy")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("values_0.npy", values)
        archive.writestr("counts_0.npy", content)
    packed_as(tmp_path, packed.getvalue())
    assert refused(tmp_path) == "C017"


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", ["values_0", "extra"])
def test_arrays_that_are_too_large_or_unknown_are_not_unpacked(name, tmp_path, monkeypatch):
    written(tmp_path, pa.table({"a": [1, 2]}), "independent-marginals")
    large = np.full(70_000_000, ord(" "), np.uint8)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("counts_0.npy", b"")
        for one in {"values_0", name}:
            archive.writestr(f"{one}.npy", large.tobytes() if one == name else b"")
    packed_as(tmp_path, packed.getvalue())
    monkeypatch.delattr(zipfile.ZipFile, "read")
    assert refused(tmp_path) == "C017"


@pytest.mark.parametrize("name", ["a\0", "a\x1b[31m", "a\ud800", 7])
def test_names_that_steer_a_terminal_are_refused(name, tmp_path):
    written(tmp_path, pa.table({"a": [1, 2]}), "independent-marginals")
    described(tmp_path, columns=[{"name": name, "type": "int64"}])
    assert refused(tmp_path) == "C017"
