"""Rows as perturbations get them, for tests of single maskings."""

import numpy as np
import pyarrow as pa

from policy_engine.kernels.moments import Moments, exponents
from policy_engine.methods.perturbation import ColumnFacts, MaskedRows


def words_for(values, number=1, seed=3):
    """Return random words for rows, (rows, number)."""
    random = np.random.default_rng(seed)
    return random.integers(0, 2**64, (len(values), number), dtype=np.uint64)


def facts_of(values):
    """Return the facts of columns of numbers or ranks, (rows, columns)."""
    moments = Moments.of(values * 1.0, exponents(values * 1.0))
    return ColumnFacts(len(values), moments, roundings=(0.0,) * values.shape[1])


def rows_of(values, words=None, given=None):
    """Return rows with one column, (rows,), or several, (rows, columns)."""
    values = values.reshape(len(values), -1)
    words = words_for(values, values.shape[1]) if words is None else words
    given = np.zeros((len(values), 0), np.int64) if given is None else given
    return MaskedRows(values, given, words, facts_of(values))


def categories(codes, labels, words=None):
    """Return rows with the codes of categories, (rows,)."""
    counts = np.bincount(codes, minlength=len(labels)).astype(np.int64)
    facts = ColumnFacts(len(codes), labels=pa.array(labels), counts=counts)
    words = words_for(codes) if words is None else words
    return MaskedRows(codes[:, None], np.zeros((len(codes), 0), np.int64), words, facts)
