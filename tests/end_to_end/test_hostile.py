"""What attackers and careless users give: a coded error and nothing written, or a true release."""

import csv
import io
from collections import Counter
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from applying import applied, asking, measured, refused, rows_of
from building import DATASET, column

from policy_engine import apply_policy, certify_output
from policy_engine.data.cells import read_cell
from policy_engine.errors import PolicyEngineError

ANONYMOUS = {"method": "k-anonymity", "k": 2}
RECODINGS = [
    {},
    {"algorithm": "full-domain"},
    {"algorithm": "full-domain", "maxSuppression": 0.9},
    {"dimensionality": "single"},
    {"partitioning": "relaxed", "polish": True, "missing": "wildcard"},
]
GENERALIZATIONS = [
    *("range", "set", "prefix", "interval", "calendar", "mean", "median", "mode", None),
]


def how(generalization, **settings):
    """Return the column `it`, generalised in a way, or by its type."""
    chosen = {"generalization": generalization} if generalization else {}
    return column("it", **chosen, **settings)


def said(cell):
    """Return the values that a cell stands for."""
    return read_cell(cell).values  # noqa: PD011 (no frame)


# Too little


@pytest.mark.parametrize("k", [5, 10**9, 10**30])
@pytest.mark.parametrize("recoding", RECODINGS)
def test_no_table_is_as_large_as_a_huge_k(k, recoding, tmp_path):
    asked = {**ANONYMOUS, "k": k, "quasi": ["it"], **recoding}
    assert refused({"it": [1, 2, 3, 4]}, tmp_path, **asked) == ["R002"]


@pytest.mark.parametrize("recoding", RECODINGS)
def test_one_row_is_nobodys_crowd(recoding, tmp_path):
    assert refused({"it": [1]}, tmp_path, quasi=["it"], **ANONYMOUS, **recoding) == ["R002"]
    empty = pa.table({"it": pa.array([], pa.int64())})
    assert refused(empty, tmp_path, quasi=["it"], **ANONYMOUS, **recoding) == ["R001"]


@pytest.mark.one_in(5)
@pytest.mark.parametrize("recoding", RECODINGS)
@pytest.mark.parametrize("generalization", GENERALIZATIONS)
def test_a_column_without_a_value_stays_without(generalization, recoding):
    table = pa.table({"it": pa.nulls(4, pa.string())})
    asked = {"quasi": [how(generalization)], **ANONYMOUS, **recoding}
    assert applied(table, **asked).table["it"].to_pylist() == [None] * 4


MODELS = {
    "l-diversity": {"l": 2},
    "entropy-l-diversity": {"l": 2},
    "recursive-l-diversity": {"l": 2, "c": 1},
    "t-closeness": {"t": 0.1},
    "alpha-k-anonymity": {"alpha": 0.5},
    "beta-likeness": {"beta": 1},
    "enhanced-beta-likeness": {"beta": 1},
    "delta-disclosure": {"delta": 1},
}


@pytest.mark.parametrize("model", MODELS)
def test_no_model_holds_of_a_column_without_a_value(model, tmp_path):
    table = pa.table({"it": [1, 2, 3, 4], "ill": pa.nulls(4)})
    asked = {"method": model, "k": 2, "quasi": ["it"], "sensitive": ["ill"], **MODELS[model]}
    assert refused(table, tmp_path, **asked) == ["R003"]


@pytest.mark.parametrize(
    "model", ["l-diversity", "entropy-l-diversity", "recursive-l-diversity", "alpha-k-anonymity"]
)
def test_no_bound_is_proposed_where_none_would_do(model):
    table = {"it": [1, 2, 3, 4], "ill": ["flu"] * 4}
    asked = {"method": model, "k": 2, "quasi": ["it"], "sensitive": ["ill"], **MODELS[model]}
    with pytest.raises(PolicyEngineError) as caught:
        applied(table, **asked)
    assert [problem.hint for problem in caught.value.problems] == [""]


# Odd texts


TEXTS = [
    *("é", "e\u0301", "李", "\U0001f600", "\u202eabc", "a\0b", "\ufeff", "\u2028", "ß", "ẞ", "İ"),
    *("\u200b", " ", "\t", "\n", "\r\n", '"', "'", "a,b", "{a}", "{a, b}", "[1 - 2]", "[1 - 1]"),
    *(" or missing", "x or missing", "*", "**", "NaN", "null", "None", "", "-", "=cmd()", "\\"),
]


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.parquet"])
@pytest.mark.parametrize("k", [3, 20])
def test_any_text_is_a_cell_that_is_read_back(name, k, tmp_path):
    asked = {"method": "k-anonymity", "k": k, "quasi": [how("set")], "insensitive": ["row"]}
    table = {"it": TEXTS * 3, "row": list(range(3 * len(TEXTS)))}
    release = applied(table, tmp_path / name, **asked)
    for cell, row in rows_of(release):
        assert table["it"][row] in said(cell)
    found = certify_output(release.path, asking(**asked))
    assert found.measurements == release.certificate.measurements
    assert found.utility == release.certificate.utility


def hierarchy(folder, *rows):
    """Write an ARX hierarchy; return it by the name that `BY_TAXONOMY` has for it."""
    text = io.StringIO()
    csv.writer(text, delimiter=";", lineterminator="\n").writerows(rows)
    (folder / "it.csv").write_text(text.getvalue())
    return {"it.csv": folder / "it.csv"}


BY_TAXONOMY = {"quasi": [how("taxonomy", taxonomy="it.csv")], **ANONYMOUS}
LABELS = [
    *("{a, b}", "{a}", "{}", "{", "[1 - 2]", "[1 - 1]", "[", " or missing", "x or missing", '"'),
    *('"quoted"', "*", "a, b", "1", "1.0", "2020-01-01", "NaN", "\\", "é", "  "),
]


@pytest.mark.one_in(15)
@pytest.mark.parametrize("recoding", [{}, {"algorithm": "full-domain"}])
@pytest.mark.parametrize("label", LABELS)
def test_any_label_of_a_taxonomy_is_a_cell_that_is_read_back(label, recoding, tmp_path):
    files = hierarchy(tmp_path, ("p", label, "all"), ("q", label, "all"), ("r", "v", "all"))
    table = {"it": ["p", "q", "r", "r", None, None]}
    release = applied(table, tmp_path / "out", taxonomies=files, **BY_TAXONOMY, **recoding)
    cells = Counter(said(cell) for cell in release.table["it"].to_pylist())
    assert cells[label,] == cells[()] == 2
    found = certify_output(release.path, asking(**BY_TAXONOMY, **recoding), taxonomies=files)
    assert found.utility == release.certificate.utility


@pytest.mark.parametrize("label", LABELS)
def test_any_leaf_of_a_taxonomy_is_a_cell_that_is_read_back(label, tmp_path):
    files = hierarchy(tmp_path, (label, "u", "all"), ("q", "u", "all"), ("r", "v", "all"))
    release = applied({"it": [label, label, "r", "r"]}, taxonomies=files, **BY_TAXONOMY)
    cells = Counter(said(cell) for cell in release.table["it"].to_pylist())
    assert cells[label,] == 2


def test_an_empty_label_is_refused(tmp_path):
    files = hierarchy(tmp_path, ("p", "", "all"), ("q", "", "all"))
    assert refused({"it": ["p", "q"]}, tmp_path, taxonomies=files, **BY_TAXONOMY) == ["T005"] * 2


@pytest.mark.parametrize("given", [42, b"p;*", ["p"]])
def test_what_is_no_taxonomy_is_refused(given, tmp_path):
    table = {"it": ["p", "q"]}
    assert refused(table, tmp_path, taxonomies={"it.csv": given}, **BY_TAXONOMY) == ["C012"]
    assert refused(table, tmp_path, taxonomies=given, **BY_TAXONOMY) == ["U002"]


# Many columns, many texts


@pytest.mark.nightly
@pytest.mark.parametrize("recoding", [{}, {"score": "span"}])
def test_200_quasi_identifiers_are_anonymous(recoding):
    table = {f"c{n}": [(n * 7919 + row * row) % 9 for row in range(40)] for n in range(200)}
    release = applied(table, quasi=list(table), **ANONYMOUS, **recoding)
    assert min(Counter(rows_of(release)).values()) == measured(release)["k", ""] >= 2


def test_a_lattice_too_large_is_refused(tmp_path):
    table = {f"c{n}": list(range(4)) for n in range(200)}
    asked = {"quasi": list(table), **ANONYMOUS, "algorithm": "full-domain"}
    assert refused(table, tmp_path, **asked) == ["R010"]
    with pytest.raises(PolicyEngineError, match="The lattice has more than 10\\^15 nodes"):
        applied(table, **asked)


def test_a_set_too_long_to_be_read_is_refused(tmp_path):
    table = {"it": [f"text number {n}" for n in range(10_000)]}
    asked = {"method": "k-anonymity", "k": 10_000, "quasi": ["it"]}
    assert refused(table, tmp_path, **asked) == ["R005"]


# Odd tables


FRAMES = {
    "mixed": pd.DataFrame({"it": [1, "a", 2.5, None]}),
    "two of one name": pd.DataFrame([[1, 2], [3, 4]], columns=["it", "it"]),
    "numbered": pd.DataFrame([[1, 2], [3, 4]]),
    "periods": pd.DataFrame({"it": pd.period_range("2020", "2023", freq="Y")}),
    "spans": pd.DataFrame({"it": pd.to_timedelta([1, 2, 3, 4], unit="D")}),
    "lists": pd.DataFrame({"it": [[1], [2], [3], [4]]}),
    "bytes": pd.DataFrame({"it": [b"a", b"b"] * 2}),
    "complex": pd.DataFrame({"it": [1j, 2j]}),
    "infinite": pd.DataFrame({"it": [1, 2, np.inf, -np.inf]}),
    "no columns": pd.DataFrame(index=[1, 2]),
    "structs": pl.DataFrame({"it": [{"a": 1}, {"a": 2}]}),
    "128 bits": pl.DataFrame({"it": [1, 2**100]}, schema={"it": pl.Int128}),
    "an array": np.array([1, 2]),
    "nothing": None,
    "a number": 3,
}


@pytest.mark.parametrize("frame", FRAMES)
def test_a_table_that_cannot_be_used_is_refused(frame, tmp_path):
    [code] = refused(FRAMES[frame], tmp_path, quasi=["it"], **ANONYMOUS)
    assert code in {"C005", "C009", "C010", "R004"}


READ = {
    "categories": pd.DataFrame({"it": pd.Categorical(["a", "b", None, "a"], ["z", "b", "a"])}),
    "integers": pd.DataFrame({"it": pd.array([1, 2, None, 4], dtype="Int64")}),
    "large integers": pd.DataFrame({"it": np.array([2**64 - 1, 2**63, 1, 2], dtype="u8")}),
    "half floats": pd.DataFrame({"it": np.array([1, 2, 3, 4], dtype="f2")}),
    "decimals": pd.DataFrame({"it": [Decimal("1.10"), Decimal("2.2"), None, Decimal(3)]}),
    "an enumeration": pl.DataFrame({"it": ["a", "b", "a", None]}, schema={"it": pl.Enum("ba")}),
    "missing in a dictionary": pa.table(
        {"it": pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 0]), pa.array(["a", None]))}
    ),
}


@pytest.mark.parametrize("frame", READ)
def test_a_table_of_an_odd_kind_is_anonymous(frame):
    release = applied(READ[frame], quasi=["it"], **ANONYMOUS)
    assert min(Counter(release.table["it"].to_pylist()).values()) == 2


@pytest.mark.parametrize("kind", [pa.list_(pa.int64()), pa.struct([("a", pa.int64())])])
def test_what_has_no_text_has_no_pseudonym(kind, tmp_path):
    table = pa.table({"it": [1, 2], "name": pa.nulls(2, kind)})
    asked = {"quasi": ["it"], "pseudonymize": ["name"], **ANONYMOUS}
    assert refused(table, tmp_path, key=b"k" * 32, **asked) == ["C009"]


@pytest.mark.parametrize("key", [42, bytearray(b"k" * 32)])
def test_what_is_no_key_is_refused(key, tmp_path):
    asked = {"quasi": ["it"], "pseudonymize": ["name"], **ANONYMOUS}
    assert refused({"it": [1, 2], "name": ["a", "b"]}, tmp_path, key=key, **asked) == ["U002"]


def test_a_style_of_cells_that_is_not_known_is_refused(tmp_path):
    assert refused({"it": [1, 2]}, tmp_path, cells="html", quasi=["it"], **ANONYMOUS) == ["M003"]


def test_numbers_written_as_texts_in_memory_are_texts(tmp_path):
    numbers = ["1", "2", "10", "11"]
    assert rows_of(applied({"it": numbers}, quasi=["it"], **ANONYMOUS))[0] == ("{1, 10}",)
    assert refused({"it": numbers}, tmp_path, quasi=[how("range")], **ANONYMOUS) == ["R006"]
    (tmp_path / "in.csv").write_text("it\n1\n2\n10\n11\n")
    release = apply_policy(asking(quasi=["it"], **ANONYMOUS), {DATASET: tmp_path / "in.csv"})
    assert rows_of(release)[0] == ("[1 - 2]",)


# Interrupted


@pytest.mark.parametrize("stop", [KeyboardInterrupt, MemoryError, SystemExit])
@pytest.mark.parametrize("stage", ["encoding", "partitioning", "writing", "verifying"])
def test_a_run_that_is_interrupted_leaves_nothing(stop, stage, tmp_path):
    def progress(told, _done, _total):
        if told == stage:
            raise stop

    with pytest.raises(stop):
        applied({"it": [1, 2]}, tmp_path / "out", progress=progress, quasi=["it"], **ANONYMOUS)
    assert not list(tmp_path.rglob("*"))
