import unicodedata
from time import process_time
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine import terms


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("http://localhost:8000/ns/mosaicrown/k", f"{terms.MOSAICROWN}k"),
        (f"{terms.ODRL}neg", f"{terms.ODRL}neq"),
        ("http://x.org/neg", "http://x.org/neg"),
    ],
)
def test_canonical_mends_old_and_misprinted_names(old, new):
    assert terms.canonical(old) == new


@pytest.mark.parametrize(
    ("name", "one"),
    [
        *(("%41%6e%6E", "Ann"), ("a%2fb", "a%2Fb"), ("a%20b", "a%20b"), ("%2e%2E/x", "x")),
        *((f"N{form}e", "N%C3%A9e") for form in ("\u00e9", "e\u0301", "%c3%a9", "e%CC%81")),
        *(("N%65%CC%81e", "N%C3%A9e"), ("Ne%cc%81e", "N%C3%A9e"), ("%FF%C3", "%FF%C3")),
        # An accent joins no escape that stays, whose last letter it stands behind.
        *(("%3D%CC%8C", "%3D%CC%8C"), ("%2F\u0307", "%2F%CC%87")),
        *((f"{form}\u0338", "%E2%89%A0") for form in ("=", "%3D")),
        *(("<%CC%B8", "%E2%89%AE"), ("%3C%CC%B8", "%E2%89%AE")),
        *(("100%", "100%25"), ("%%341", "%2541"), ("\ud800", "%ED%A0%80")),
    ],
)
def test_canonical_takes_one_of_the_spellings_of_a_name(name, one):
    assert terms.canonical(f"http://x.org/{name}") == f"http://x.org/{one}"
    assert terms.canonical(f"http://x.org/{one}") == f"http://x.org/{one}"


@given(st.lists(st.sampled_from([*"%4C3=/?#< DKe.", "%3D", "%CC", "%B8", "\u0338", "\u0301"])))
def test_canonical_of_what_is_canonical_is_itself(parts):
    iri = terms.canonical("http://x.org/" + "".join(parts))
    assert terms.canonical(iri) == iri


_PIECES = st.sampled_from(
    [
        *("http", "HTTPS", "URN", "file", "odrl", "ODRL", "read", "neg", ":", "//", "/", "?", "#"),
        *("@", "[", "]", ".", "..", "/./", "/../", ":80", ":443", ":", "%", "%34%31", "%3a", "%2F"),
        *(
            "x\u00e4mple",
            "X\u00c4",
            "%C3%84",
            "%c3%a4",
            "xn--a",
            "\u0130",
            "\u03a3",
            "\u212a",
            "\u1e9e",
        ),
        *(
            "<",
            "=",
            "%3c",
            "%B8",
            "%CC",
            "\u0301",
            "\u0338",
            "\xa0",
            "%C2%A0",
            " ",
            "\ud800",
            "A",
            "z",
        ),
    ]
)
_NAMES = st.lists(st.one_of(_PIECES, st.characters().map(str)), max_size=12).map("".join)


@given(st.one_of(_NAMES, _NAMES.map("http://{}".format)))
def test_names_that_are_read_twice_are_those_read_once(name):
    assert terms.canonical(terms.canonical(name)) == terms.canonical(name)
    assert terms.expand_term(terms.expand_term(name)) == terms.expand_term(name)
    assert terms.canonical(terms.expand_term(name)) == terms.expand_term(name)


@pytest.mark.parametrize(
    ("iri", "one"),
    [
        ("http://ex\u00e4mple.com/T", "http://ex%C3%A4mple.com/T"),
        ("http://EX\u00c4mple.com/T", "http://ex%C3%A4mple.com/T"),
        ("http://ex%c3%84mple.com/T", "http://ex%C3%A4mple.com/T"),
        ("HTTP://a%3db.org/%%34%31", "http://a%3Db.org/%2541"),
        ("http://x.org:80:80/a", "http://x.org:80:80/a"),
        *((f"http://x.org{port}/a", "http://x.org/a") for port in ("", ":", ":80")),
        *((f"HTTPS://[::1]{port}", "https://[::1]") for port in ("", ":", ":443")),
        ("<%b8:\u00c4", "%3C%B8:%C3%84"),
        ("|\u0301:", "%7C%CC%81:"),
        ("a%C2%A0", "a\xa0"),
        *(
            (f"http://a.org/X{blank}", f"http://a.org/X{quote(blank)}")
            for blank in ("\xa0", "\u2003", "\u2028", "\u3000")
        ),
    ],
)
def test_canonical_takes_one_of_the_spellings_of_an_iri(iri, one):
    assert terms.canonical(iri) == one
    assert terms.canonical(one) == one


@given(
    st.text("abcXYZ09.-\u00e4\u03c3", min_size=1), st.text("aB9-._~\u00e9/", max_size=9), st.data()
)
def test_canonical_is_the_same_however_an_iri_is_escaped(host, path, data):
    def one(letter):
        raw = "".join(f"%{byte:02x}" for byte in letter.encode())
        return data.draw(st.sampled_from([letter, raw, raw.upper()]))

    def spelt(text):
        return "/".join("".join(map(one, step)) for step in text.split("/"))

    start = data.draw(st.sampled_from(["http", "HTTP"]))
    cased = "".join(data.draw(st.sampled_from([letter, letter.upper()])) for letter in host)
    port = data.draw(st.sampled_from(["", ":80"]))
    iri = f"{start}://{spelt(cased)}{port}/{spelt(path)}"
    assert terms.canonical(iri) == terms.canonical(f"http://{host}/{path}")


def test_names_shorten_and_expand():
    assert terms.compact(f"{terms.ODRL}read") == "odrl:read"
    assert terms.expand("odrl:read") == f"{terms.ODRL}read"
    assert terms.expand("http://x.org/a") == terms.compact("http://x.org/a") == "http://x.org/a"


def test_in_full_knows_the_terms_of_the_contexts():
    assert terms.expand_term("read") == f"{terms.ODRL}read"
    assert terms.expand_term("marketing") == f"{terms.MOSAICROWN}marketing"
    assert terms.expand_term("nonsense") == "nonsense"


@pytest.mark.parametrize(
    ("iri", "name"), [("http://x.org/a/b", "b"), ("http://x.org/a#b", "b"), ("odrl:read", "read")]
)
def test_local_name(iri, name):
    assert terms.local_name(iri) == name


def test_the_slips_of_the_published_context_are_mended():
    context = terms.bundled_contexts()["http://www.w3.org/ns/odrl.jsonld"]["@context"]
    assert context["neq"] == "odrl:neq"
    assert context["industry"] == "odrl:industry"
    assert context["dataType"]["@id"] == "odrl:dataType"


def test_actions_lead_to_use_or_transfer():
    read = terms.vocabulary()[f"{terms.ODRL}read"]
    assert read.iris("includedIn") == (f"{terms.ODRL}use",)


@pytest.mark.parametrize(
    ("iri", "one"),
    [
        ("file:/data/./T/a", "file:/data/T/a"),
        ("file:/data/x/../T", "file:/data/T"),
        ("FILE:/data/%2e/T", "file:/data/T"),
        ("file:/.//T", "file:/.//T"),
        ("urn:a:b", "urn:a:b"),
    ],
)
def test_dot_segments_lead_nowhere_without_a_host_either(iri, one):
    assert terms.canonical(iri) == one


@pytest.mark.parametrize("blank", [" ", "\n", "\x7f", "\x85", "\ufffe", "\U000e0001", "\ud800"])
def test_name_with_a_character_that_no_iri_has_is_a_problem(blank):
    assert terms.name_problem(f"http://a.org/X{blank}")[0] == "F001"


@pytest.mark.parametrize("name", ["X\xa0", "X\u2003", "X\u3000", "\ue000", "\U0001f600", "\uac00"])
def test_name_with_a_character_of_rfc_3987_is_no_problem(name):
    assert terms.name_problem(f"http://a.org/{name}") is None


@pytest.mark.parametrize("mark", ["\u0301", "%CC%81", "\u0f73"])
def test_name_with_more_than_thirty_marks_in_a_row_is_a_problem(mark):
    assert terms.name_problem(f"http://a.org/e{30 * mark}X{mark}") is None
    assert terms.name_problem(f"http://a.org/e{31 * mark}")[0] == "J003"


def test_name_that_is_too_long_is_a_problem():
    assert terms.name_problem("ex:T", 4) is None
    assert terms.name_problem("ex:T", 3)[0] == "J003"


def test_long_runs_of_marks_take_linear_time():
    start = process_time()
    name = terms.canonical("http://a.org/" + 50_000 * "\u0301\u0316")
    assert process_time() - start < 5
    assert name == terms.canonical("http://a.org/" + 50_000 * "\u0316" + 50_000 * "\u0301")


@given(st.text(st.sampled_from("ae\u0301\u0316\u0344\u0f73\u1e69\uac00\u11a8"), min_size=30))
def test_runs_of_marks_are_composed_as_by_unicode(text):
    assert terms.compose(text) == unicodedata.normalize("NFC", text)


def test_who_logs_in_keeps_the_case_and_the_host_does_not():
    assert terms.canonical("HTTP://Alice@H.org:80/x") == "http://Alice@h.org/x"
