import ast
import struct
import sys
from pathlib import Path

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.trust import verify_certificate

SOURCE = Path(verify_certificate.__file__)


def test_it_needs_nothing_but_cryptography():
    tree = ast.parse(SOURCE.read_text())
    imported = {
        (node.module or "") if isinstance(node, ast.ImportFrom) else name.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in node.names
    }
    roots = {name.split(".")[0] for name in imported}
    assert roots - sys.stdlib_module_names == {"cryptography"}


@given(st.integers(0, 2**64 - 1))
def test_numbers_are_written_as_by_the_library(bits):
    number = struct.unpack(">d", bits.to_bytes(8, "big"))[0]
    if number - number != 0:
        with pytest.raises(verify_certificate.RefusedError):
            verify_certificate.canonical(number)
    else:
        assert verify_certificate.canonical(number).encode() == rfc8785.dumps(number)


@pytest.mark.parametrize(
    "number",
    [0.0, -0.0, 1.0, 0.1, 1e20, 1e21, 123456789012345680000.0, 1.5e300, 5e-324, 1e-6, 1e-7, 12.5],
)
def test_numbers_at_the_edges_of_their_forms(number):
    for one in (number, -number):
        assert verify_certificate.canonical(one).encode() == rfc8785.dumps(one)


@given(st.dictionaries(st.text(), st.text() | st.booleans() | st.none() | st.integers(-5, 5)))
def test_objects_are_written_as_by_the_library(document):
    try:
        expected = rfc8785.dumps(document)
    except (rfc8785.CanonicalizationError, UnicodeEncodeError):
        with pytest.raises(verify_certificate.RefusedError):
            verify_certificate.canonical(document)
    else:
        assert verify_certificate.canonical(document).encode() == expected
