"""Identifiers that are released in another form: keyed pseudonyms, or one mark for all."""

import hashlib
import hmac
import re
import secrets
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from policy_engine.engines.arrays import from_numpy, from_texts, unchunk
from policy_engine.engines.encoding import encode
from policy_engine.engines.person_spellings import known_spellings
from policy_engine.engines.reading_back import index_texts
from policy_engine.errors import CertificateError, DataError, PolicyEngineError
from policy_engine.kernels.grouping import Groups, distinct
from policy_engine.methods.columns import Columns

LEAST_KEY = 32
REDACTED = "REDACTED"
PSEUDONYM = r"^([0-9a-f]{64})?\z"
"""Matches a pseudonym, or the missing value in a file; valid in RE2 and in Java."""
_PSEUDONYM = re.compile("[0-9a-f]{64}", re.ASCII)


def check_key(key: bytes | None) -> bytes:
    """Return the key. Raises DataError (C013) where it is missing or shorter than 32 bytes."""
    if key is None:
        message = "The policy asks for pseudonyms, and no key is given."
        hint = "Give key=FILE, or set POLICY_ENGINE_KEY to the key itself."
        raise DataError.of("C013", message, hint)
    if len(key) < LEAST_KEY:
        message = f"The key has {len(key)} bytes. A key has at least {LEAST_KEY}."
        raise DataError.of("C013", message, "Make one: openssl rand -hex 32 > key.")
    return key


def new_salt() -> str:
    """Return 32 bytes of the system's randomness, as hexadecimal digits."""
    return secrets.token_hex(32)


def release_key(key: bytes | None, salt: str, scope: str = "") -> bytes:
    """Return the key of a release's pseudonyms, derived from its own salt or from a shared scope.

    It is the HMAC-SHA256, under the owner's key, of the salt or the scope (the expansion of HKDF,
    RFC 5869, section 2.3, with one block). The input begins with the byte 255, which no value in
    UTF-8 does. Raises DataError (C013) where the key is missing or
    shorter than 32 bytes.
    """
    about = b"scope\n" + scope.encode() if scope else b"salt\n" + bytes.fromhex(salt)
    return hmac.new(check_key(key), _DOMAIN + about, hashlib.sha256).digest()


_DOMAIN = b"\xffpolicy-engine pseudonyms 1\n"


def pseudonyms(name: str, column: pa.ChunkedArray, key: bytes) -> pa.ChunkedArray:
    """Return the HMAC-SHA256 of every value's text in UTF-8, as 64 hexadecimal digits.

    The same value under the same `release_key` is the same pseudonym in every column (RFC 2104).
    Texts are those by which persons are known: two spellings of one person have one pseudonym, for
    k counts pseudonyms. A missing value stays missing, and a blank one, which names nobody, is
    missing as well. Raises DataError (C009) where values have no text.
    """
    try:
        column = column.cast(pa.string())
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        message = f"The column {name!r} is of type {column.type}, which has no text to be hidden."
        raise DataError.of("C009", message) from None
    texts = unchunk(pc.dictionary_encode(column))
    persons = known_spellings(texts.dictionary).dictionary_encode()
    values = [
        hmac.new(key, value.encode(), hashlib.sha256).hexdigest()
        for value in persons.dictionary.to_pylist()
    ]
    indices = persons.indices.take(texts.indices)
    return pa.chunked_array([pa.DictionaryArray.from_arrays(indices, from_texts(values))])


def with_pseudonyms(table: pa.Table, columns: Columns, key: bytes | None, salt: str) -> pa.Table:
    """Return a table with pseudonyms in place of the identifiers that have them.

    Raises the errors of `release_key` and `pseudonyms`.
    """
    if not columns.pseudonymize:
        return table
    own_key = release_key(key, salt, columns.pseudonym_scope)
    for name in columns.pseudonymize:
        values = pseudonyms(name, table.column(name), own_key)
        index = table.schema.get_field_index(name)
        table = table.set_column(index, pa.field(name, values.type), values)
    return table


def redacted_column(rows: int) -> pa.ChunkedArray:
    """Return a column with the mark `REDACTED` in every row."""
    return pa.chunked_array(
        [
            pa.DictionaryArray.from_arrays(
                from_numpy(np.zeros(rows, np.int32)), from_texts([REDACTED])
            )
        ]
    )


def check_hidden(name: str, column: pa.ChunkedArray, *, is_redacted: bool) -> None:
    """Raise CertificateError (V002) where a column holds anything but pseudonyms, or the mark."""
    _, texts = index_texts(name, column)
    if is_redacted and texts != [REDACTED]:
        raise not_hidden_error(name, is_redacted=True)
    if not is_redacted and not all(_PSEUDONYM.fullmatch(text) for text in texts if text):
        raise not_hidden_error(name, is_redacted=False)


def not_hidden_error(name: str, *, is_redacted: bool) -> PolicyEngineError:
    """Return the error (V002) of a column that is not hidden as the policy asks."""
    expected = (
        f"{REDACTED!r} in every row" if is_redacted else "pseudonyms, of 64 hexadecimal digits"
    )
    message = f"The column {name!r} must hold {expected}, but holds other values."
    return CertificateError.of("V002", message, "Make the release again: policy-engine apply.")


def check_unlinked(name: str, column: pa.ChunkedArray, groups: Groups, k: int) -> None:
    """Raise CertificateError where pseudonyms show that a class does not hide a person among k.

    R008 where the same pseudonym is in two classes: the same person is in both. V001 where a class
    has fewer than k pseudonyms, unless persons are counted by a privacy unit: its rows belong to
    fewer than k persons. Rows of a class without a pseudonym count as one person together, as those
    without a person do.
    """
    codes = encode(name, column, numbers=False, is_generalised=False).values()
    present = codes >= 0
    pairs = distinct(codes[present].astype(np.int64) * groups.count + groups.class_of[present])
    people = pairs // groups.count
    linked_count = len(people) - len(distinct(people))
    if linked_count:
        raise linked_pseudonyms_error(name, linked_count)
    pseudonym_counts = np.bincount(pairs % groups.count, minlength=groups.count)
    pseudonym_counts[groups.class_of[~present]] += 1  # Once for all rows: they may be of one.
    if groups.persons is None and pseudonym_counts.min() < k:
        raise too_few_pseudonyms_error(name, int(pseudonym_counts.min()), k)


def joining_columns(table: pa.Table, names: Sequence[str]) -> tuple[str, ...]:
    """Return the columns of pseudonyms, of these names, in which several rows have the same."""

    def is_joining(name: str) -> bool:
        codes = encode(name, table.column(name), numbers=False, is_generalised=False).values()
        present = codes[codes >= 0].astype(np.int64)
        return len(distinct(present)) < len(present)

    return tuple(name for name in names if is_joining(name))


def check_apart(table: pa.Table, names: Sequence[str]) -> None:
    """Raise CertificateError (R016) where pseudonyms join rows that audits attack one by one."""
    for name in joining_columns(table, names):
        message = (
            f"The pseudonyms of {name!r} join rows of one person, which an intruder looks for all "
            "at once. The audits that the policy asks for look for single rows."
        )
        hint = "Drop the column, or release one row of each person."
        raise CertificateError.of("R016", message, hint)


def linked_pseudonyms_error(name: str, count: int) -> PolicyEngineError:
    """Return the error (R008) of pseudonyms that are in several classes."""
    message = (
        f"{count} pseudonyms of {name!r} are in more than one class, which links the rows "
        "of one person: the classes no longer hide them."
    )
    hint = "Drop the column, or name it as privacyUnit."
    return CertificateError.of("R008", message, hint)


def too_few_pseudonyms_error(name: str, count: int, k: int) -> PolicyEngineError:
    """Return the error (V001) of a class with too few pseudonyms."""
    message = (
        f"k must be at least {k}, but a class has only {count} different pseudonyms of "
        f"{name!r}: its rows belong to fewer than k persons."
    )
    hint = "Drop the column, or name it as privacyUnit."
    return CertificateError.of("V001", message, hint)
