"""Whether values name a person: addresses, numbers with a checksum, sentences.

What such a value looks like is known by libraries: `python-stdnum` for numbers with a checksum,
`phonenumbers` for telephones, and Python's own for addresses.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from email.errors import MessageError
from email.headerregistry import Address
from importlib import import_module
from ipaddress import ip_address
from urllib.parse import urlsplit
from uuid import UUID

MOST_VALUES = 500
"""So many distinct values are looked at."""
_FEWEST = 10
"""Of fewer values, a number that happens to have a right checksum says nothing."""
_NEARLY_ALL = 0.95
_WORDS_OF_TEXT = 4
_NATIONAL_NUMBERS = (
    *("be.nn", "bg.egn", "br.cpf", "ca.sin", "ch.ssn", "cl.rut", "cn.ric", "cz.rc", "de.idnr"),
    *("dk.cpr", "ee.ik", "es.dni", "es.nie", "fi.hetu", "fr.nir", "gb.nhs", "gr.amka", "hr.oib"),
    *("ie.pps", "in_.aadhaar", "it.codicefiscale", "kr.rrn", "lt.asmens", "mx.curp", "nl.bsn"),
    *(
        "no.fodselsnummer",
        "pl.pesel",
        "pt.cc",
        "ro.cnp",
        "se.personnummer",
        "si.emso",
        "tr.tckimlik",
    ),
    *("za.idnr",),
)
"""Numbers of persons in which checksums are, by their modules of `stdnum`."""
_CARD_DIGITS = range(13, 20)
_TELEPHONE = re.compile(r"\+[\d ()./-]{7,}")


def kind_of_identifier(values: Sequence[str]) -> str:
    """Return what nearly all of some distinct values are that names a person; empty for nothing.

    At most `MOST_VALUES` of them are looked at, and fewer than ten say nothing.
    """
    texts = [value.strip() for value in values[:MOST_VALUES] if value.strip()]
    if len(texts) < _FEWEST:
        return ""
    for kind, fits in _KINDS:
        if _share(fits, texts) >= _NEARLY_ALL:
            return kind
    if _is_free_text(texts):
        return "free text"
    return _national_number(texts) if all(any(map(str.isdigit, text)) for text in texts) else ""


def _share(fits: Callable[[str], bool], texts: Sequence[str]) -> float:
    """Return the share of texts that fit; as soon as too many do not, less than is asked for."""
    most_misfits, misfits = len(texts) * (1 - _NEARLY_ALL), 0
    for text in texts:
        misfits += not fits(text)
        if misfits > most_misfits:
            return 0.0
    return 1 - misfits / len(texts)


def _is_address(text: str) -> bool:
    with suppress(MessageError, ValueError, IndexError):
        return "." in Address(addr_spec=text).domain
    return False


def _is_telephone(text: str) -> bool:
    if not _TELEPHONE.fullmatch(text):
        return False
    import phonenumbers  # noqa: PLC0415 (large, and only for these)

    with suppress(phonenumbers.NumberParseException):
        return bool(phonenumbers.is_valid_number(phonenumbers.parse(text)))
    return False


def _is_bank_account(text: str) -> bool:
    from stdnum import iban  # noqa: PLC0415

    return text[:2].isalpha() and bool(iban.is_valid(text))


def _is_card(text: str) -> bool:
    from stdnum import luhn  # noqa: PLC0415

    digits = text.replace(" ", "").replace("-", "")
    return digits.isdecimal() and len(digits) in _CARD_DIGITS and bool(luhn.is_valid(digits))


def _is_host(text: str) -> bool:
    with suppress(ValueError):
        return bool(ip_address(text))
    return False


def _is_link(text: str) -> bool:
    with suppress(ValueError):
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.netloc)
    return False


def _is_uuid(text: str) -> bool:
    with suppress(ValueError):
        return len(text) >= 32 and bool(UUID(text))
    return False


_KINDS: tuple[tuple[str, Callable[[str], bool]], ...] = (
    ("an e-mail address", _is_address),
    ("a telephone number", _is_telephone),
    ("a bank account (IBAN)", _is_bank_account),
    ("a payment card", _is_card),
    ("an address of the internet", _is_host),
    ("a link", _is_link),
    ("a unique identifier (UUID)", _is_uuid),
)


def _national_number(texts: Iterable[str]) -> str:
    listed = list(texts)
    for name in _NATIONAL_NUMBERS:
        module = import_module(f"stdnum.{name}")
        if _share(lambda text, module=module: bool(module.is_valid(text)), listed) >= _NEARLY_ALL:  # type: ignore[misc]
            return f"a national number ({name.partition('.')[0].rstrip('_').upper()})"
    return ""


def _is_free_text(texts: Sequence[str]) -> bool:
    """Tell whether texts are sentences: most of them with several words, and seldom alike."""
    words = sorted(len(text.split()) for text in texts)
    letters = sorted(len(text) for text in texts)
    return words[len(words) // 4] >= _WORDS_OF_TEXT and letters[len(letters) // 2] >= 25
