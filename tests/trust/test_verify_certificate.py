import ast
import shutil
import struct
import subprocess
import sys
from io import BytesIO
from pathlib import Path

import pytest
import rfc8785
from building import DATASET, PEOPLE, people_policy
from hypothesis import given
from hypothesis import strategies as st
from pyarrow.csv import read_csv
from signing import key_of, trust_text

from policy_engine import apply_policy, load_policy
from policy_engine.certificate import verifying
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


@pytest.mark.parametrize("key", [1, 2])
def test_the_file_alone_says_whether_a_certificate_is_valid(key, tmp_path):
    release = apply_policy(
        load_policy(people_policy()),
        {DATASET: read_csv(BytesIO(PEOPLE.encode()))},
        tmp_path / "out",
    )
    certificate = tmp_path / "out" / "certificate.jsonld"
    certificate.write_text(release.certificate.signed(key_of(key)).to_jsonld())
    (tmp_path / "trust.json").write_text(trust_text())
    shutil.copy(SOURCE, tmp_path / "alone.py")
    output = tmp_path / "out" / release.certificate.file
    program = [sys.executable, "-I", "alone.py", certificate, "--output", output]
    done = subprocess.run(
        [*program, "--trust", "trust.json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    assert (done.returncode, done.stdout.split()[0]) == (
        (0, "valid") if key == 1 else (1, "refused:")
    )


def test_who_verifies_reads_less_than_300_lines():
    assert len(Path(verifying.__file__).read_text().splitlines()) < 300
