import pytest

from policy_engine.data.text_encodings import foreign_words, is_western, marked_encoding


@pytest.mark.parametrize(
    "text",
    [
        "Müller wohnt in Zürich, 20 °C, 30 m², 5 €",
        "Élodie à Besançon, l\u2019été, œuvre",
        "Muñoz, São João, Ångström, smørrebrød på bær",
    ],
)
def test_letters_of_western_europe_are_windows_1252(text):
    assert is_western(foreign_words(text.encode("cp1252")))


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Dvořák", "cp1250"),
        ("Genève", "cp1252"),  # or Genčve
        ("Wałęsa, Łódź", "cp1250"),
        ("Kovács Győző", "iso8859-2"),
        ("Иван Петров", "cp1251"),
        ("Γιώργος", "cp1253"),
        ("García, Peña", "mac_roman"),
        ("Köln, Straße", "cp850"),
        ("東京 大阪", "shift_jis"),
        ("北京市", "gbk"),
        ("Ömer Şahin", "cp1254"),
        ("Bērziņš, Jānis", "cp1257"),
        ("Müller", "utf-8"),
        ("", "ascii"),
    ],
)
def test_what_could_be_of_another_encoding_is_not(text, encoding):
    assert not is_western(foreign_words(text.encode(encoding)))


def test_a_mark_names_its_encoding():
    marks = {marked_encoding("a".encode(name)) for name in ("utf-16", "utf-8-sig", "utf-8")}
    assert marks == {"utf-16", "utf-8", ""}
    assert marked_encoding("a".encode("utf-32")) == "utf-32"
