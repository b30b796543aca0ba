"""Random bits of rows, which decide which of several with equal quasi-identifiers goes where.

A rule that others know would tell the rows apart: of the rows in a class, those that were tied with
rows of another class are the ones that the rule puts last.
"""

import hashlib
from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.engines.masking.perturbing import KEY_BYTES, content_keys, masking_key

_ABOUT: Mapping[str, bytes] = MappingProxyType(
    {
        "local-suppression": b"policy-engine cells 1",
        "microaggregation": b"policy-engine classes 1",
        "probabilistic-k-anonymity": b"policy-engine permuted 1",
    }
)
"""What tells the secrets of algorithms, and of permuted values, from each other, and from those of
maskings and samples."""


def tie_secret(key: bytes | None, algorithm: str) -> bytes:
    """Return the secret by which an algorithm orders tied rows, or a method permutes values, 16
    bytes: from the owner's `key`, or one that is kept nowhere."""
    about = _ABOUT[algorithm]
    return hashlib.blake2b(about, key=masking_key(key), digest_size=KEY_BYTES).digest()


def row_words(table: pa.Table, secret: bytes) -> NDArray[np.uint64]:
    """Return random bits of every row, (rows,), by its content and a secret of `tie_secret`; rows
    of equal content have equal ones."""
    return content_keys(table, secret)[:, 0]
