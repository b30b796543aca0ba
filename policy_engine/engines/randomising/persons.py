"""Persons whose answers are the same again: who they are, and which record is answered for.

What a person's answer follows from is one record alone, so that epsilon is that of the person. It
is drawn by the owner's key among those of the person's records that differ: a record that is there
twice tells nothing, and while the records stay the same, so does what is answered for.
"""

import hashlib
import hmac

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.engines.arrays import from_texts, to_numpy, unchunk, value_type
from policy_engine.engines.identifiers import check_key
from policy_engine.engines.person_spellings import encoded_persons
from policy_engine.engines.randomising.values import values_of
from policy_engine.engines.row_keys import row_keys
from policy_engine.engines.statistics.row_cells import encoded, has_texts, texts_of
from policy_engine.engines.value_words import dictionary_indices
from policy_engine.errors import DataError, PolicyEngineError
from policy_engine.kernels.local_privacy.words import memoised_words
from policy_engine.plan.randomisation import Randomisation

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

_DOMAIN = b"\xffpolicy-engine randomising 1\n"
_KEY_BYTES = 16


def memory_key(key: bytes | None) -> bytes:
    """Return the key by which persons answer alike again, 16 bytes, derived from the owner's.

    Raises DataError (C013) where there is none of 32 bytes or more.
    """
    if key is None:
        message = "Persons are to answer alike in every release, and no key is given."
        hint = "Give key=FILE, or set POLICY_ENGINE_KEY to the key itself."
        raise DataError.of("C013", message, hint)
    return hmac.new(check_key(key), _DOMAIN, hashlib.sha256).digest()[:_KEY_BYTES]


def person_words(persons: pa.ChunkedArray, secret: bytes) -> tuple[Words, Bools]:
    """Return the hashes of the persons of rows, (rows, 2), and which rows have one, (rows,).

    Persons count by their texts, so that 5 is the person "5" of a file of texts, in whatever
    spelling (`known_persons`). A value that is missing, empty or blank names nobody. Raises
    DataError (C009) for a type without text.
    """
    if not has_texts(value_type(persons.type)):
        return row_keys([persons], secret), to_numpy(unchunk(persons).is_valid())
    codes = encoded(encoded_persons(persons))
    texts = [*(text or "" for text in texts_of(codes.dictionary)), ""]
    words = row_keys([from_texts(texts)], secret)
    is_person = np.array([bool(text.strip()) for text in texts])
    rows = dictionary_indices(codes)
    return words[rows], is_person[rows]


def record_words(
    table: pa.Table, persons: Words, randomisation: Randomisation, secret: bytes
) -> Ints:
    """Return random words for the records of persons, (rows, 2), the same for records of a person
    that hold the same: the record with the smallest first word, and second one, is answered for.

    They are signed, as integers are in the tables of a cluster.
    """
    label = randomisation.label_of_records
    words = memoised_words(persons, _held(table, randomisation), secret, label, 2)
    return words.view(np.int64)


def answered_records(table: pa.Table, randomisation: Randomisation, secret: bytes) -> Ints:
    """Return the places of the records that are answered for, one of each person, (persons,).

    Raises DataError (R001) where no record is of a person.
    """
    persons, is_person = person_words(table.column(randomisation.unit), secret)
    words = record_words(table, persons, randomisation, secret)
    order = np.lexsort((words[:, 1], words[:, 0], *persons.T))
    order = order[is_person[order]]
    if not len(order):
        raise no_persons_error()
    sorted_persons = persons[order]
    is_first = np.ones(len(order), dtype=np.bool_)
    is_first[1:] = (sorted_persons[1:] != sorted_persons[:-1]).any(axis=1)
    return np.asarray(order[is_first])


def no_persons_error() -> PolicyEngineError:
    """Return the error (R001) of a table without persons."""
    message = "No row of the table has a person, and each answer is one person's."
    return DataError.of("R001", message, "Give the column of persons, or leave out privacyUnit.")


def record_weights(table: pa.Table, randomisation: Randomisation) -> Floats:
    """Return by how much the records of a table count, (rows,): those of each person that differ
    alike, and all of a person as 1."""
    nobody = bytes(_KEY_BYTES)
    persons, is_person = person_words(table.column(randomisation.unit), nobody)
    held = _held(table, randomisation).astype(np.uint64)
    _, records, repeats = np.unique(
        np.concatenate([persons, held], axis=1), axis=0, return_inverse=True, return_counts=True
    )
    _, owners = np.unique(persons, axis=0, return_inverse=True)
    shares = 1 / repeats[records.reshape(-1)]
    different_records = np.bincount(owners.reshape(-1), weights=shares)
    return np.asarray(np.where(is_person, shares / different_records[owners.reshape(-1)], 0.0))


def _held(table: pa.Table, randomisation: Randomisation) -> Ints:
    """Return what each record holds as it counts for the randomisers, (rows, columns)."""
    columns = sorted(randomisation.columns, key=lambda one: one.name)
    return np.stack([values_of(table.column(one.name), one) for one in columns], axis=1)
