import datetime as dt
import gzip

import pandas as pd
import pyarrow as pa
import pytest
from building import DATASET, OUTPUT, anonymize, column, permission, policy

from policy_engine.api.applying import apply_policy
from policy_engine.api.certifying import certify_output
from policy_engine.data.catalog import make_catalog
from policy_engine.data.cells import read_cell
from policy_engine.engines.encoding import encode
from policy_engine.engines.reading_back import groups
from policy_engine.engines.tables import read_table
from policy_engine.errors import CertificateError, DataError
from policy_engine.plan.steps import Anonymize
from policy_engine.policy import read_policy


def asked(k=2, **parts):
    method = "l-diversity" if "l" in parts else "k-anonymity"
    action = anonymize(**{"method": method, "k": k, "quasi": ["q"], **parts})
    return read_policy(policy([permission(action=action, output=OUTPUT)]))


def read_back(values):
    columns = {"quasi-identifier": [{"name": "q"}]}
    step = Anonymize(columns=columns, methods={"k-anonymity": {"k": 2}})
    return groups(pa.table({"q": values}), step, {})


def released(columns, folder=None, **parts):
    table = columns if isinstance(columns, pa.Table) else pa.table(columns)
    return apply_policy(asked(**parts), {DATASET: table}, folder and folder / "out.csv")


@pytest.mark.parametrize(
    "kind",
    [pa.timestamp("us", "Europe/Rome"), pa.timestamp("us", "+05:30"), pa.timestamp("ns")],
    ids=str,
)
def test_timestamps_of_every_kind_are_released(kind):
    release = released({"q": pa.array([1, 2, 30, 41]).cast(kind)})
    assert 0 < release.certificate.utility.global_certainty_penalty < 0.5


@pytest.mark.parametrize("year", [1, 1500, 2500, 9998])
def test_timestamps_of_every_year_are_released(year):
    moments = [dt.datetime(year, 1, day) for day in (1, 2, 3, 4)]  # noqa: DTZ001
    release = released({"q": pa.array(moments, pa.timestamp("us"))})
    assert release.certificate.utility.global_certainty_penalty == pytest.approx(1 / 3)


def test_a_date_after_the_calendar_is_refused_as_data():
    with pytest.raises(DataError, match="R004"):
        encode(
            "q",
            pa.chunked_array([pa.array([3_000_000], pa.int32()).cast(pa.date32())]),
            numbers=False,
        )


@pytest.mark.parametrize(
    "values", [[2**53, 2**53, 2**53 + 1, 2**53 + 1], [-1.7e308, -1.7e308, 1.7e308, 1.7e308]]
)
def test_numbers_beyond_what_a_float_tells_apart_are_cut_and_priced(values):
    release = released({"q": values})
    assert release.certificate.utility.classes == 2
    assert release.certificate.utility.global_certainty_penalty == 0


def test_ranges_beyond_what_a_float_tells_apart_are_priced():
    release = released({"q": [2**53, 2**53 + 1]})
    assert release.certificate.utility.global_certainty_penalty == 1


def test_nan_is_written_as_missing(tmp_path):
    release = released({"q": [1, 1], "s": [float("nan"), 1.0]}, tmp_path, sensitive=["s"])
    assert release.path.read_text() == "q,s\n1,\n1,1\n"


def test_nan_in_a_file_is_no_sensitive_value(tmp_path):
    (tmp_path / "out.csv").write_text("q,s\n1,nan\n1,5\n")
    with pytest.raises(CertificateError, match="V001"):
        certify_output(tmp_path / "out.csv", asked(l=2, sensitive=["s"]))


def test_an_empty_text_is_the_same_sensitive_value_in_memory_and_in_a_file(tmp_path):
    with pytest.raises(DataError, match="R003"):
        released({"q": [1, 2], "s": ["", "a"]}, tmp_path, l=2, sensitive=["s"])


@pytest.mark.parametrize("values", [["1", "1.0"], [-0.0, 0.0], [float("nan"), None]])
def test_equal_values_written_differently_stand_in_the_same_order(tmp_path, values):
    one = released({"q": [1, 1], "s": pa.array(values)}, tmp_path / "1", sensitive=["s"])
    other = released({"q": [1, 1], "s": pa.array(values[::-1])}, tmp_path / "2", sensitive=["s"])
    assert one.path.read_bytes() == other.path.read_bytes()


def test_k_anonymity_asks_nothing_of_sensitive_values():
    table = {"q": [1, 1], "s": pa.array([None, None], pa.string())}
    assert released(table, sensitive=["s"]).certificate.holds


def test_infinite_values_that_are_kept_need_no_range():
    assert released({"q": [1, 1], "s": [float("inf"), 1.0]}, sensitive=["s"]).certificate.holds


def test_numbers_with_an_exponent_out_of_reach_are_refused():
    with pytest.raises(DataError, match="R004"):
        encode("q", pa.chunked_array([["1.234567890123456e9999999", "1"]]), numbers=True)


@pytest.mark.parametrize(
    "values",
    [pa.array([b"a"]), pa.array([dt.timedelta(1)]), pa.array([pa.MonthDayNano([1, 2, 3])])],
    ids=str,
)
def test_encode_refuses_types_without_an_order_in_a_dictionary_too(values):
    if not pa.types.is_interval(values.type):
        values = pa.DictionaryArray.from_arrays(pa.array([0]), values)
    with pytest.raises(DataError, match="C009"):
        encode("q", pa.chunked_array([values]), numbers=False)


def test_encode_of_chunks_with_missing_values_in_their_dictionaries():
    chunk = pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["a", None]))
    column = encode("q", pa.chunked_array([chunk, chunk]), numbers=False)
    assert column.codes.tolist() == [1, 0, 1, 0]


def test_a_gzip_whose_first_bytes_are_damaged_is_refused(tmp_path):
    packed = bytearray(gzip.compress(b"a,b\n" + b"1,2\n" * 99, mtime=0))
    packed[10:13] = b"\xff\xff\xff"
    (tmp_path / "a.csv.gz").write_bytes(packed)
    for read in (read_table, lambda path: make_catalog({DATASET: path})):
        with pytest.raises(DataError, match="C003"):
            read(tmp_path / "a.csv.gz")


def test_an_ending_in_capitals_is_read(tmp_path):
    (tmp_path / "A.CSV.GZ").write_bytes(gzip.compress(b"a,b\n1,2\n"))
    assert read_table(tmp_path / "A.CSV.GZ").num_rows == 1


def test_a_ragged_row_after_a_very_long_cell_is_named(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1," + "x" * 200_000 + "\n3\n")
    with pytest.raises(DataError, match=r"C007 Line 3|C010"):
        read_table(tmp_path / "a.csv")


def test_bytes_below_the_header_are_not_blamed_on_it(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"a,b\n1,\xff\n")
    assert make_catalog({DATASET: tmp_path / "a.csv"}).dataset(DATASET).columns == ("a", "b")


def test_an_open_quote_is_refused(tmp_path):
    (tmp_path / "a.csv").write_text('a,b\n1,"2\n3,4\n')
    with pytest.raises(DataError, match=r"C010|C007"):
        read_table(tmp_path / "a.csv")


@pytest.mark.parametrize("cell", [" or missing", "{a, a}", "[5 - 5]"])
def test_cells_that_are_never_written_are_refused(cell):
    with pytest.raises(ValueError, match="not a"):
        read_cell(cell)


def test_a_range_upside_down_is_refused():
    with pytest.raises(CertificateError, match="V002"):
        read_back(["[5 - 3]", "[1 - 2]"])


@pytest.mark.parametrize("values", [[[1], [1]], [b"\xff", b"\xff"]])
def test_cells_that_are_no_text_are_refused(values):
    with pytest.raises(CertificateError, match="V002"):
        read_back(values)


@pytest.mark.parametrize("cell", ["[1 - 1e100001]"])
def test_bounds_that_are_no_numbers_are_refused_as_the_outputs_fault(cell):
    with pytest.raises(CertificateError, match="V002"):
        read_back([cell])


def test_a_pandas_frame_leaves_its_index_behind():
    frame = pd.DataFrame({"age": [20.0]}, index=["Ann"])
    assert make_catalog({DATASET: frame}).dataset(DATASET).columns == ("age",)


def test_a_set_beyond_all_use_is_refused_before_anything_is_written(tmp_path):
    names = [f"{'x' * 90}{n}" for n in range(2000)]
    kinds = ["b", *["a"] * 1999]
    with pytest.raises(DataError, match="R005"):
        released({"q": names, "s": kinds}, tmp_path / "out", l=2, sensitive=["s"])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("generalization", ["range", "set", "prefix", "interval", "median", "mode"])
@pytest.mark.parametrize("algorithm", ["mondrian", "full-domain"])
def test_a_column_that_is_missing_everywhere_is_released(generalization, algorithm):
    quasi = [column("q", generalization=generalization)]
    table = {"q": pa.array([None, None], pa.string())}
    release = released(table, quasi=quasi, algorithm=algorithm)
    assert release.table.column("q").to_pylist() == [None, None]
    assert release.certificate.utility.global_certainty_penalty in (0, None)


def test_no_message_quotes_a_value():
    frame = pd.DataFrame({"q": [1, "SSN-123"], "s": ["a", "b"]})
    with pytest.raises(DataError, match="C010") as caught:
        make_catalog({DATASET: frame})
    assert "SSN" not in str(caught.value)
