"""What the engine promises, from a policy and a table to the bytes of the output."""

import csv
import datetime as dt
import math
from collections import defaultdict

import pyarrow as pa
import pytest
from building import DATASET, OUTPUT, anonymize, permission, policy
from everyday import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.api.applying import apply_policy
from policy_engine.api.certifying import certify_output
from policy_engine.data.cells import read_cell
from policy_engine.errors import CertificateError, DataError
from policy_engine.policy import read_policy

WORDS = ["", "a", "b, c", 'say "hi"', "{x}", "[1 - 2]", "x or missing", "y\nz", " q ", "é"]
LETTERS = st.text(
    st.characters(exclude_categories=["Cs", "Nd"], exclude_characters="\0"), max_size=2
)
NUMBERS = [float("nan"), -0.0, 0.0, 0.5, -2.25, 1e9]

# Columns by kind: how values are drawn, their type, and how their text in a cell is read.
KINDS = {
    "integers": (st.integers(-5, 5), pa.int64(), int),
    "floats": (st.sampled_from(NUMBERS) | st.floats(-10, 10, width=16), pa.float64(), float),
    "dates": (
        st.dates(dt.date(1930, 1, 1), dt.date(1931, 1, 1)),
        pa.date32(),
        dt.date.fromisoformat,
    ),
    "texts": (st.sampled_from(WORDS) | LETTERS, pa.string(), str),
    "constant": (st.just(7), pa.int64(), int),
}
SENSITIVE = ["s0", "s1"]


@st.composite
def requests(draw):
    """A table, the kinds of its quasi-identifiers by name, and bounds that it can hold."""
    rows = draw(st.integers(2, 24))
    kinds = draw(st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=3))
    names = {f"q{number}": kind for number, kind in enumerate(kinds)}
    columns = {name: draw(column(rows, *KINDS[kind][:2])) for name, kind in names.items()}
    for name in SENSITIVE:
        columns[name] = draw(column(rows, st.sampled_from(["x", "y", "z, {"]), pa.string()))
    most = min(len(set(columns[name].to_pylist()) - {None}) for name in SENSITIVE)
    k = draw(st.integers(2, min(rows, 4)))
    l = draw(st.integers(1, max(1, min(k, most))))  # noqa: E741
    secret = pa.array([f"secret{row}" for row in range(rows)])
    table = pa.table({"name": secret, **columns, "unmentioned": secret, "row": range(rows)})
    return table, names, k, l


def column(rows, values, kind):
    drawn = st.lists(st.none() | values, min_size=rows, max_size=rows)
    return drawn.map(lambda values: pa.array(values, kind))


def asked(names, k, l=1, **options):  # noqa: E741
    roles = {"identifier": ["name"], "quasi": list(names), "insensitive": ["row"], **options}
    if l > 1:
        action = anonymize(method="l-diversity", k=k, l=l, sensitive=SENSITIVE, **roles)
    else:
        action = anonymize(method="k-anonymity", k=k, **roles)
    return read_policy(policy([permission(action=action, output=OUTPUT)]))


def applied(request, output=None, **options):
    table, names, k, l = request  # noqa: E741
    return apply_policy(asked(names, k, l, **options), {DATASET: table}, output)


def classes(rows, names):
    found = defaultdict(list)
    for row in rows:
        found[tuple(row[name] for name in names)].append(row)
    return list(found.values())


def content(values):
    """What a cell over these values should say: the values in order, and if any is missing."""
    present = {value for value in values if not is_missing(value)}
    return sorted(present), len(values) > 0 and any(map(is_missing, values))


def is_missing(value):
    return value is None or (isinstance(value, float) and math.isnan(value))


def assert_cells_say_what_classes_hold(rows, inputs, names):
    for name, kind in names.items():
        for members in classes(rows, names):
            cell = read_cell(members[0][name])
            values, missing = content([inputs[name][int(row["row"])] for row in members])
            expected = values[:: len(values) - 1] if cell.is_range else values
            assert list(map(KINDS[kind][2], cell.values)) == expected
            assert cell.may_be_missing == missing


@settings(deadline=None, max_examples=examples(16, times=65))
@given(requests())
def test_every_class_holds_the_bounds(request):
    _, names, k, l = request  # noqa: E741
    for members in classes(applied(request).table.to_pylist(), names):
        assert len(members) >= k
        for name in SENSITIVE if l > 1 else ():
            assert len({row[name] for row in members} - {None}) >= l


@settings(deadline=None, max_examples=examples(16, times=65))
@given(requests())
def test_every_row_is_released_and_no_column_that_the_policy_does_not_release(request):
    table, names, _, l = request  # noqa: E741
    released = applied(request).table
    assert released.column_names == [*names, *(SENSITIVE if l > 1 else ()), "row"]
    assert sorted(released.column("row").to_pylist()) == list(range(table.num_rows))
    assert "secret" not in str(released.to_pydict())


@settings(deadline=None, max_examples=examples(16, times=65))
@given(requests())
def test_a_cell_says_what_its_class_holds_and_no_more(request):
    table, names, _, _ = request
    rows = applied(request).table.to_pylist()
    assert_cells_say_what_classes_hold(rows, table.to_pydict(), names)


@settings(deadline=None, max_examples=examples(16, times=65))
@given(requests())
def test_kept_values_stay_with_their_row(request):
    table, _, _, l = request  # noqa: E741
    for row in applied(request).table.to_pylist() if l > 1 else ():
        assert [row[name] for name in SENSITIVE] == [
            table.column(name)[row["row"]].as_py() for name in SENSITIVE
        ]


@settings(deadline=None, max_examples=examples(16, times=65))
@given(requests())
def test_a_csv_file_is_released_by_the_same_rules(tmp_path_factory, request):
    table, names, k, l = request  # noqa: E741
    folder = tmp_path_factory.mktemp("csv")
    inputs = written(table, folder / "data.csv")
    release = apply_policy(asked(names, k, l), {DATASET: folder / "data.csv"}, folder / "out.csv")
    with release.path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert sorted(int(row["row"]) for row in rows) == list(range(table.num_rows))
    assert min(map(len, classes(rows, names))) >= k
    read = {name: "texts" if is_text(inputs[name]) else kind for name, kind in names.items()}
    assert_cells_say_what_classes_hold(rows, inputs, read)


def written(table, path):
    """Write a CSV file with Python's own writer; return the values as they lie in it."""
    values = {name: table.column(name).to_pylist() for name in table.column_names}
    inputs = {
        name: [None if is_missing(value) or value == "" else value for value in column]
        for name, column in values.items()
    }
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        writer.writerow(inputs)
        writer.writerows(zip(*inputs.values(), strict=True))
    return inputs


def is_text(values):
    return any(isinstance(value, str) for value in values)


@settings(deadline=None, max_examples=examples(16, times=65))
@given(
    requests(),
    st.randoms(use_true_random=False),
    st.sampled_from(["csv", "parquet"]),
    st.sampled_from(
        [
            {},
            {"score": "span"},
            {"partitioning": "relaxed"},
            {"polish": True},
            {"partitioning": "relaxed", "polish": True},
            {"dimensionality": "single"},
            {"algorithm": "full-domain", "maxSuppression": 0.2},
            {"partitioning": "relaxed", "maxSuppression": 0.2},
        ]
    ),
)
def test_the_output_is_the_same_bytes_in_any_order_of_the_input(
    tmp_path_factory, request, random, ending, options
):
    table, names, k, l = request  # noqa: E741
    order = sorted(range(table.num_rows), key=lambda _: random.random())
    folder = tmp_path_factory.mktemp("order")
    for place, one in (("one", table), ("other", table.take(order))):
        applied((one, names, k, l), folder / place / f"out.{ending}", **options)
    one, other = [(folder / place / f"out.{ending}").read_bytes() for place in ("one", "other")]
    assert one == other


@settings(deadline=None, max_examples=examples(16, times=65))
@given(requests())
def test_an_output_is_certified_again_as_it_was(tmp_path_factory, request):
    _, names, k, l = request  # noqa: E741
    path = tmp_path_factory.mktemp("again") / "out.csv"
    certificate = applied(request, path).certificate
    again = certify_output(path, asked(names, k, l))
    assert again.measurements == certificate.measurements
    assert again.utility == certificate.utility
    assert 0 <= again.utility.global_certainty_penalty <= 1


@pytest.mark.parametrize("rows", [0, 1, 2])
def test_a_table_too_small_is_refused_and_nothing_written(tmp_path, rows):
    table = pa.table({"name": ["a"] * rows, "q0": range(rows), "row": range(rows)})
    with pytest.raises(DataError, match="R001" if rows == 0 else "R002"):
        apply_policy(asked(["q0"], 3), {DATASET: table}, tmp_path / "release")
    assert list(tmp_path.iterdir()) == []


# What follows tampers with a release of two classes of three rows: q0 is [0 - 2] and [3 - 5].


@pytest.fixture
def output(tmp_path):
    texts = {"s0": ["x", "y", "x"] * 2, "s1": ["x", "y", "z"] * 2, "name": ["a"] * 6}
    table = pa.table({"q0": range(6), "row": range(6), **texts})
    return applied((table, ["q0"], 3, 2), tmp_path / "release").path


def tampered(output, change, *, keep_certificate=False):
    lines = output.read_text().splitlines()
    output.write_text("\n".join(change(lines)) + "\n")
    if not keep_certificate:
        (output.parent / "certificate.jsonld").unlink()
    with pytest.raises(CertificateError) as caught:
        certify_output(output, asked(["q0"], 3, 2))
    return [str(problem) for problem in caught.value.problems]


def replaced(old, new, first, last):
    return lambda lines: [
        line.replace(old, new) if first <= number <= last else line
        for number, line in enumerate(lines)
    ]


def test_the_release_to_be_tampered_with_is_as_said(output):
    assert output.read_text().splitlines()[:2] == ["q0,row,s0,s1", "[0 - 2],0,x,x"]
    assert certify_output(output, asked(["q0"], 3, 2)).holds


@pytest.mark.parametrize("line", [1, 3, 6])
def test_a_row_removed_from_its_class_is_found(output, line):
    problem = tampered(output, lambda lines: lines[:line] + lines[line + 1 :])[0]
    assert problem.startswith("V001 k must be at least 3, but is 2 in class ")


def test_a_range_narrowed_in_one_row_is_found(output):
    problems = tampered(output, replaced("[0 - 2]", "[0 - 1]", 1, 1))
    assert [problem[:4] for problem in problems] == ["V001"] * 3


def test_sensitive_values_made_uniform_are_found(output):
    [problem] = tampered(output, replaced("y", "x", 1, 3))
    assert problem.startswith("V001 l of 's0' must be at least 2, but is 1 in class 0")


def test_sensitive_values_removed_are_found(output):
    [problem] = tampered(output, replaced(",y,", ",,", 1, 3))
    assert problem.startswith("V001 l of 's0' must be at least 2, but is 1 in class 0")


def test_a_column_added_is_found(output):
    [problem] = tampered(output, lambda lines: [f"{line},name" for line in lines])
    assert problem == "V002 The output contains 'name', which the policy does not release."


def test_a_column_removed_is_found(output):
    [problem] = tampered(output, lambda lines: [line.rpartition(",")[0] for line in lines])
    assert problem == "V002 The output lacks 's1', which the policy releases."


def test_a_cell_made_unreadable_is_found(output):
    [problem] = tampered(output, replaced("[0 - 2]", "{0", 1, 3))
    assert problem.startswith("V002 The column 'q0' holds a cell")


@pytest.mark.parametrize(
    "change",
    [
        replaced("[0 - 2]", "[0 - 1]", 1, 3),
        replaced("x", "w", 1, 6),
        lambda lines: [*lines, lines[-1]],
        lambda lines: [lines[0], *lines[:0:-1]],
    ],
)
def test_a_change_within_the_bounds_is_found_by_the_digest(output, change):
    [problem] = tampered(output, change, keep_certificate=True)
    assert problem.startswith("V004 The output is not the one that was certified")
