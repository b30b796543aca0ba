"""A person in two spellings is one, wherever persons are counted, and nobody else changes."""

from functools import partial
from unicodedata import normalize

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from applying import applied, measured, refused
from asking_statistics import ROWS, UNITS, step_of, visits
from hypothesis import given
from hypothesis import strategies as st
from output_checked import RESEARCHER, TABLE, policy_with

from policy_engine.api.deciding import query_data
from policy_engine.audits.outputs.microdata import Microdata
from policy_engine.audits.utility.prediction import _held_out
from policy_engine.engines.masking.sampling import sample_table
from policy_engine.engines.person_spellings import known_persons, known_spellings
from policy_engine.engines.persons import person_marks, person_numbers
from policy_engine.engines.randomising.persons import record_weights
from policy_engine.engines.statistics.contributions import ABSENT
from policy_engine.engines.statistics.tallies import code_units, tally_table
from policy_engine.errors import DataError
from policy_engine.plan.randomisation import Randomisation
from policy_engine.plan.steps import Sample

KEY = b"0123456789abcdef0123456789abcdef"
CLEAN = ["996", "996", "996", "\u00e9a", "\u00e9a", "x"]
SPELT = ["996", "996 ", "\u3000996", "e\u0301a", "\u00e9a\t", "x"]
"""Three persons, and the same three in several spellings."""
ODD = st.text(st.sampled_from("aA9 \t\u3000\u00a0\u00e9e\u0301\u212a\u1e9b\u0323"), max_size=4)
BY_PERSON = {"method": "k-anonymity", "quasi": ["age"], "privacyUnit": "who"}


@given(st.lists(ODD, max_size=20))
def test_a_spelling_is_what_unicode_says_without_blanks_around(texts):
    expected = [normalize("NFC", one.strip()) or None for one in texts]
    assert known_spellings(pa.array(texts, pa.string())).to_pylist() == expected


def test_what_is_not_seen_and_no_blank_counts_as_a_letter():
    texts = [f"p{one}" for one in ("", "\u200b", "\ufeff", "\u180e", "\u2800", "\u034f", "\0")]
    assert known_spellings(pa.array(texts)).to_pylist() == texts


@given(st.lists(st.none() | ODD, max_size=20))
def test_persons_have_one_text_in_columns_of_any_kind(texts):
    expected = [(one and normalize("NFC", one.strip())) or None for one in texts]
    column = pa.chunked_array([texts[:7], texts[7:]], pa.string())
    for one in (column, column.cast(pa.large_string()), column.dictionary_encode()):
        known = known_persons(one)
        assert known.to_pylist() == expected
        assert pa.types.is_dictionary(known.type) == pa.types.is_dictionary(one.type)


@pytest.mark.parametrize(
    "column",
    [
        pa.chunked_array([["996", None, "\u00e9"], ["a  b", "Ann"]]),
        pa.chunked_array([["996", None], ["996"]]).dictionary_encode(),
        pa.chunked_array([[1, 2]]),
        pa.chunked_array([[1, None, 1]]).dictionary_encode(),
    ],
    ids=lambda column: str(column.type),
)
def test_columns_without_other_spellings_are_as_they_are(column):
    assert known_persons(column) is column


NOBODY = {
    "empty": ["p", "", "q", None],
    "blank": ["p", " ", "q", ""],
    "empty alone": ["", None, ""],
    "null in a dictionary": pa.DictionaryArray.from_arrays([0, 1, 2], pa.array(["p", None, "q"])),
    "nobody in a dictionary": pa.DictionaryArray.from_arrays([0, 1, 2], pa.array(["p", None, ""])),
    "once each": pa.DictionaryArray.from_arrays([0, 1, 2], pa.array(["p", "p", "q"])),
    "of large texts": pa.DictionaryArray.from_arrays(
        [0, 1, 2, None], pa.array(["p", "p", ""], pa.large_string())
    ),
    "of numbers": pa.DictionaryArray.from_arrays([0, 1, 2, 3], pa.array([5, 5, None, 6])),
    "of no numbers": pa.DictionaryArray.from_arrays([0, 1, 2, 3], pa.array([0.0, -0.0, np.nan, 6])),
}
PERSONS = (2, 2, 0, 2, 1, 2, 1, 2, 2)


@pytest.mark.parametrize(("column", "persons"), [*zip(NOBODY.values(), PERSONS, strict=True)])
def test_nobody_is_no_person_and_each_is_one_in_dictionaries(column, persons):
    data = Microdata.of(pa.table({"who": column, "row": range(len(column))}), "who")
    assert data.unit_count == persons
    assert len({*person_numbers([data.table["who"]], "who")[0].tolist()} - {-1}) == persons
    assert len({*code_units(data.table["who"]).codes.tolist()} - {ABSENT}) <= persons


BYTES = [pa.binary(), pa.large_binary(), pa.binary(2), pa.list_(pa.binary())]


@pytest.mark.parametrize("kind", BYTES, ids=str)
def test_bytes_and_lists_name_no_person(tmp_path, kind):
    """Bytes have no letters: padded ones of one person were several, in queries and sessions."""
    who = [b"p ", b" p", b"pp", b"q "]
    column = pa.array([[one] for one in who] if pa.types.is_list(kind) else who, kind)
    table = pa.table({"id": column, "part": ["a"] * 4})
    check = ("pe:outputCheck", "eq", "sacro"), ("pe:privacyUnit", "eq", {"@id": f"{TABLE}/id"})
    asked = partial(query_data, output_ledger=tmp_path / "ledger")
    for ask in (
        lambda: asked(
            "SELECT COUNT(*) AS n FROM T", [policy_with(*check)], RESEARCHER, {TABLE: table}
        ),
        lambda: Microdata.of(table, "id"),
        lambda: known_persons(table["id"].dictionary_encode() if kind == BYTES[0] else table["id"]),
        lambda: applied(pa.table({"age": [1] * 4, "who": column}), k=2, **BY_PERSON),
    ):
        with pytest.raises(DataError, match="C009"):
            ask()


def test_spellings_of_narrow_dictionaries_are_read_however_many_they_are():
    kind = pa.dictionary(pa.int8(), pa.string())
    chunks = [pa.array([f"p{place}{one} " for one in range(90)]).cast(kind) for place in "ab"]
    assert known_persons(pa.chunked_array(chunks)).to_pylist()[::90] == ["pa0", "pb0"]


def test_k_is_not_met_by_one_person_in_several_spellings(tmp_path):
    table = {"age": [1] * 6, "who": SPELT}
    assert refused(table, tmp_path, k=4, **BY_PERSON) == ["R002"]
    assert measured(applied(table, k=3, **BY_PERSON)) == {("k", ""): 3}


def spelt_people(rows=60):
    """Return ages, and persons of two rows each of whom the second is padded."""
    random = np.random.default_rng(2)
    who = [f"p{one // 2}{' ' * (one % 2)}" for one in range(rows)]
    return {"age": random.integers(20, 30, rows), "row": np.arange(rows), "who": who}


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_each_class_of_a_file_has_k_persons_as_python_counts_them(tmp_path, suffix):
    table, path = pa.table(spelt_people()), tmp_path / f"people.{suffix}"
    (pacsv.write_csv if suffix == "csv" else pq.write_table)(table, path)
    release = applied(str(path), k=4, insensitive=["row"], **BY_PERSON)
    who = table.column("who").to_pylist()
    persons = {}
    for one in release.table.to_pylist():
        persons.setdefault(one["age"], set()).add(who[int(one["row"])].strip())
    assert len(persons) > 1
    assert min(map(len, persons.values())) == measured(release)["k", ""] >= 4


def test_pseudonyms_count_persons_and_not_spellings(tmp_path):
    asked = {"method": "k-anonymity", "quasi": ["age"], "pseudonymize": ["who"], "key": KEY}
    table = {"age": [1] * 6, "who": SPELT}
    assert refused(table, tmp_path, k=4, **asked) == ["V001"]
    assert len(set(applied(table, k=3, **asked).table.column("who").to_pylist())) == 3


@pytest.mark.parametrize(
    ("who", "k"), [(["  ", None], 2), (["p", "", None], 3), (["p", "", " ", ""], 3)]
)
@pytest.mark.parametrize("asked", ["privacyUnit", "pseudonymize"])
def test_rows_of_nobody_are_one_person_together_for_k_of_persons_and_pseudonyms(
    tmp_path, who, k, asked
):
    more = {"privacyUnit": "who"} if asked == "privacyUnit" else {"pseudonymize": ["who"]}
    more |= {"method": "k-anonymity", "quasi": ["age"], "key": KEY}
    table = pa.table({"age": [1] * len(who), "who": pa.array(who, pa.string())})
    assert refused(table, tmp_path, k=k, **more) == ["R002" if asked == "privacyUnit" else "V001"]
    if k > 2:
        assert applied(table, k=2, **more).table.num_rows == len(who)


def test_blank_identifiers_have_no_pseudonym():
    asked = {"method": "k-anonymity", "quasi": ["age"], "pseudonymize": ["who"], "key": KEY}
    found = applied({"age": [1] * 4, "who": ["p", "", "q", "\t"]}, k=2, **asked).table["who"]
    assert found.null_count == 2
    assert len(found.unique().drop_null()) == 2


def test_permuted_persons_have_k_persons_in_their_class(tmp_path):
    asked = {**BY_PERSON, "method": "probabilistic-k-anonymity", "insensitive": ["row"]}
    table = {"age": [1] * 6, "row": range(6), "who": SPELT}
    assert refused(table, tmp_path, k=4, **asked) == ["R002"]
    assert [*measured(applied(table, k=3, **asked)).values()] == [pytest.approx(1 / 3)]


def test_a_sample_has_all_rows_of_a_person_or_none():
    table = pa.table({"who": [f"p{one // 3}{' ' * (one % 3)}" for one in range(300)]})
    sampled, evidence = sample_table(table, Sample(sampleShare=0.5, unit="who"), KEY)
    assert (evidence.units_in, evidence.rows) == (100, 3 * evidence.units)
    assert len({one.strip() for one in sampled.column("who").to_pylist()}) == evidence.units


def test_statistics_bound_what_one_person_adds_in_whatever_spellings():
    spelt = tally_table(
        visits(*[(who, "f", 1) for who in SPELT]), step_of(UNITS, ROWS), None, KEY[:16]
    )
    clean = tally_table(
        visits(*[(who, "f", 1) for who in CLEAN]), step_of(UNITS, ROWS), None, KEY[:16]
    )
    assert spelt == clean
    assert list(spelt.units) == [3]
    assert sum(map(int, spelt.sums[-1])) == 5  # two rows of a person at most


def test_records_of_a_person_in_several_spellings_count_as_one():
    column = {"name": "sex", "randomiser": "k-ary-randomised-response", "categories": ("F", "M")}
    one = Randomisation(columns=[column], epsilon="6", unit="who", dataset="http://x.org/Visits")
    cells = [
        pa.table({"who": who, "sex": ["F", "M", "F", "F", "F", "M"]}) for who in (SPELT, CLEAN)
    ]
    spelt, clean = (record_weights(table, one).tolist() for table in cells)
    assert spelt == clean == [0.25, 0.5, 0.25, 0.5, 0.5, 1.0]


def test_persons_of_tables_that_generators_learn_from_are_not_those_of_others():
    spelt, clean = pa.chunked_array([SPELT]), pa.chunked_array([CLEAN])
    numbers = person_numbers([spelt, clean], "who")
    assert numbers[0].tolist() == numbers[1].tolist() == [0, 0, 0, 1, 1, 2]
    marks = [one.tolist() for one in person_marks([spelt, clean], "who")]
    assert marks[0] == marks[1]


def test_rows_of_a_person_are_learnt_from_together_or_not():
    table = pa.table({"who": SPELT * 20})
    held_out = [_held_out(table, "who", seed).reshape(20, 6) for seed in range(20)]
    assert all((one[:, :3] == one[0, 0]).all() for one in held_out)


def test_sessions_count_persons_and_not_spellings():
    data = Microdata.of(pa.table({"who": SPELT, "row": range(6)}), "who")
    assert data.unit_count == 3
    assert data.units.tolist() == [0, 0, 0, 2, 2, 1]
    assert data.has_repeats


@pytest.mark.one_in(3)
@pytest.mark.parametrize("nobody", [["", None], ["", "", " "], [None]])
def test_answers_count_no_persons_whom_nobody_names(tmp_path, nobody):
    """Nine persons are too few whatever rows of nobody there are beside them."""
    who = [*(f"p{one}" for one in range(40)), *(f"q{one}" for one in range(9)), *nobody]
    parts = ["a"] * 40 + ["b"] * (len(who) - 40)
    table = pa.table({"id": pa.array(who, pa.string()), "part": parts})
    check = ("pe:outputCheck", "eq", "sacro"), ("pe:privacyUnit", "eq", {"@id": f"{TABLE}/id"})
    for number, count in enumerate(("COUNT(DISTINCT id)", "COUNT(*)")):
        made = query_data(
            f"SELECT part, {count} AS n FROM T GROUP BY part",
            [policy_with(*check)],
            RESEARCHER,
            {TABLE: table},
            output_ledger=tmp_path / str(number),
        )
        cells = {one["part"]: one["n"] for one in made.table.to_pylist()}
        assert cells.get("b") is None


@pytest.mark.one_in(2)
@pytest.mark.parametrize("kind", [pa.string(), pa.dictionary(pa.int32(), pa.string())])
def test_answers_to_queries_count_persons_and_not_spellings(tmp_path, kind):
    """Twelve rows of one person are no cell of twelve: it is left out, as that of one row is."""
    who = [f"p{one}" for one in range(40)] + [f"{' ' * one}q{' ' * (one % 2)}" for one in range(12)]
    table = {"id": pa.array(who).cast(kind), "part": ["a"] * 40 + ["b"] * 12}
    check = ("pe:outputCheck", "eq", "sacro"), ("pe:privacyUnit", "eq", {"@id": f"{TABLE}/id"})

    def answer(sql, ledger):
        path = tmp_path / ledger
        made = query_data(
            sql, [policy_with(*check)], RESEARCHER, {TABLE: pa.table(table)}, output_ledger=path
        )
        return made.table.to_pylist()

    by_part = "SELECT part, {} AS n FROM T GROUP BY part ORDER BY part"
    for number, count in enumerate(("COUNT(DISTINCT id)", "COUNT(*)")):
        cells = {one["part"]: one["n"] for one in answer(by_part.format(count), f"{number}")}
        assert cells.get("b") is None
    assert answer("SELECT COUNT(DISTINCT id) AS n FROM T", "whole") == [{"n": 41}]
