import pytest

from policy_engine.engines import column_words as words


@pytest.mark.parametrize(
    ("name", "tokens"),
    [
        ("DrivAge", ["driv", "age"]),
        ("Prénom", ["prenom"]),
        ("Straße", ["strasse"]),
        ("płeć", ["plec"]),
        ("claim_date2", ["claim", "date", "2"]),
        ("生年月日", ["生年月日"]),
        ("전화 번호", ["전화", "번호"]),
    ],
)
def test_words_of_a_name_are_plain(name, tokens):
    assert words.tokens_in(name) == tokens


@pytest.mark.parametrize(
    ("fits", "word", "is_one"),
    [
        (words.is_identifier_word, "hausanschriftsadresse", True),
        (words.is_identifier_word, "携帯電話", True),
        (words.is_identifier_word, "age", False),
        (words.is_quasi_identifier_word, "rechnungsdatum", True),
        (words.is_sensitive_word, "monatsgehalt", True),
        (words.is_number_of_subject, "kundennummer", True),
        (words.is_number_of_subject, "rechnungsnummer", False),
        (words.is_number_of_subject, "patientid", True),
        (words.is_number_of_subject, "inpatient", False),
    ],
)
def test_compounds_are_told_by_their_endings(fits, word, is_one):
    assert fits(word) == is_one


def test_counts_begin_or_end_with_their_word():
    assert words.is_count(["number", "diagnoses"])
    assert not words.is_count(["number"])
