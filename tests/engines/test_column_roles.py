from datetime import date

import pyarrow as pa
import pytest

from policy_engine.engines.column_evidence import gather_evidence
from policy_engine.engines.column_roles import Telling, propose_role


def proposed(name, values):
    return propose_role(gather_evidence(name, pa.chunked_array([pa.array(values)])))


@pytest.mark.parametrize(
    ("name", "values", "role"),
    [
        ("own_telephone", ["yes", "no"] * 50, "other"),
        ("Provider Zip Code", ["36301", "36801"] * 50, "quasi-identifier"),
        ("admission_type_id", [1, 2, 3, 4] * 25, "quasi-identifier"),
        ("note", [f"text {n % 80}" for n in range(100)], "identifier"),
        ("claimRate", [0.5, 1.5] * 50, "sensitive"),
        ("Zip Code", [20_000 + n % 400 for n in range(600)], "quasi-identifier"),
        ("shoe size", [36, 37] * 50, "other"),
        ("Kundennummer", [50_000 + n % 60 * 13 for n in range(600)], "identifier"),
        ("Nachname", ["Koch", "Bauer", "Klein", "Wolf"] * 50, "identifier"),
        ("prénom", ["Anna", "Ben", "Clara", "Emma", "Max"] * 50, "identifier"),
        ("apellido", ["Ruiz", "Gil", "Vega", "Sanz"] * 50, "identifier"),
        ("氏名", ["佐藤", "鈴木", "高橋", "田中"] * 50, "identifier"),
        ("Hausarzt", ["Dr. Koch", "Dr. Klein", "Dr. Wolf", "Dr. Bauer"] * 50, "identifier"),
        ("numero_client", [1_000 + n % 60 * 7 for n in range(600)], "identifier"),
        ("steuer_id", [10**10 + n % 60 * 9_973 for n in range(600)], "identifier"),
        ("uid", [1_000 + n % 60 * 7 for n in range(600)], "identifier"),
        ("Geburtsdatum", [f"{n % 28 + 1:02}.01.1970" for n in range(600)], "quasi-identifier"),
        ("code postal", [f"{75_000 + n % 20}" for n in range(600)], "quasi-identifier"),
        ("Geschlecht", ["m", "w"] * 50, "quasi-identifier"),
        ("edad", [20 + n % 50 for n in range(600)], "quasi-identifier"),
        ("płeć", ["k", "m"] * 50, "quasi-identifier"),
        ("생년월일", [f"1970-{n % 12 + 1}" for n in range(600)], "quasi-identifier"),
        ("Diagnose", ["A", "B", "C"] * 50, "sensitive"),
        ("claim_date", [date(2024, 1, 1 + n % 28) for n in range(600)], "quasi-identifier"),
        ("diagnosis_year", [1990 + n % 30 for n in range(600)], "quasi-identifier"),
        ("civil_status", ["single", "married"] * 50, "quasi-identifier"),
        ("vote_precinct", [n % 30 for n in range(600)], "quasi-identifier"),
        ("class_teacher", ["Ms A", "Ms B", "Mr C", "Mr D"] * 50, "identifier"),
        ("loan_officer", ["Ann A", "Ben B", "Cid C", "Dan D"] * 50, "identifier"),
        ("status_user", [f"u{n % 40}" for n in range(600)], "identifier"),
        ("result_lat", [45 + n % 90 / 100 for n in range(600)], "quasi-identifier"),
        ("number_diagnoses", [n % 16 for n in range(600)], "other"),
        ("loan_status", ["paid", "due"] * 50, "sensitive"),
        ("party", ["left", "right", "green"] * 50, "sensitive"),
        ("party", [f"Surname{n % 40:c<3}" for n in range(600)], "other"),
        ("фамилия", ["Иванов", "Петров", "Сидоров", "Попов"] * 50, "identifier"),
        ("نام اسم", ["a", "b", "c", "d"] * 50, "identifier"),
        ("नाम", ["a", "b", "c", "d"] * 50, "identifier"),
        ("ชื่อ", ["a", "b", "c", "d"] * 50, "identifier"),
        ("Soyad\u0131", ["Kaya", "Demir", "Celik", "Sahin"] * 50, "identifier"),
        ("Επώνυμο", ["a", "b", "c", "d"] * 50, "identifier"),
    ],
)
def test_role_is_told_by_name_and_values(name, values, role):
    assert proposed(name, values).role.value == role


@pytest.mark.parametrize(
    ("name", "values", "is_doubtful"),
    [
        ("party", [f"Surname{n % 40}" for n in range(600)], True),
        ("անուն", ["Արամ", "Անի"] * 50, True),
        ("xyzzy", ["Ann", "Ben", "Cid", "Dan", "Eve"] * 3, True),
        ("xyzzy", ["a", "b", "c", "d", "e"] * 30, False),
        ("xyzzy", ["yes", "no", "maybe"] * 3, False),
    ],
)
def test_texts_that_may_be_names_are_doubtful(name, values, is_doubtful):
    assert proposed(name, values).is_doubtful == is_doubtful


def test_a_number_of_somebody_with_several_rows_tells_persons_apart():
    assert proposed("patient_nbr", [n // 2 for n in range(100)]).telling is Telling.SURELY
    assert proposed("email", [f"a{n // 2}@b.org" for n in range(100)]).telling is Telling.LIKELY
    assert proposed("surname", [f"A{n // 2}" for n in range(100)]).telling is Telling.PERHAPS
    assert proposed("patient_nbr", list(range(100))).telling is Telling.NO


@pytest.mark.parametrize(
    ("name", "values", "is_doubtful"),
    [
        ("xyz", [f"Mary {n % 40}" for n in range(600)], True),
        ("xyz", [1_000 + n % 60 * 7 for n in range(600)], True),
        ("xyz", [float(1_000 + n % 60 * 7) for n in range(600)], True),
        ("xyz amount", [1_000 + n % 60 * 7 for n in range(600)], False),
        ("xyz", [n % 7 for n in range(600)], False),
        ("xyz", [n % 60 / 7 for n in range(600)], False),
        ("xyz", ["a", "b", "c"] * 50, False),
    ],
)
def test_an_unknown_column_of_many_values_is_doubtful_unless_it_measures(name, values, is_doubtful):
    assert proposed(name, values).is_doubtful == is_doubtful


def test_separation_is_the_share_of_pairs_that_differ():
    column = pa.chunked_array([pa.array(["a", "a", "b", None])])
    evidence = gather_evidence("x", column)
    assert (evidence.distinct, evidence.missing, evidence.most_common) == (2, 1, 2)
    assert evidence.separation == pytest.approx(5 / 6)  # of six pairs, two a are alike
