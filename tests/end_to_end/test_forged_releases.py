"""What somebody who can write the folder of a release may try, by the command line under a trust
file: nothing of it is permitted, read, certified or compared."""

import hashlib
import json
import shutil

import pytest
from building import ANALYST, DATASET, OUTPUT, PEOPLE, people_policy
from signing import key_of, trust_text
from typer.testing import CliRunner

from policy_engine import apply_policy
from policy_engine.api.signing import sign_policy_files
from policy_engine.certificate.certificate import read_certificate
from policy_engine.cli.commands import make_app

CERTIFICATE, TABLE = "out/certificate.jsonld", "out/anonPeople.csv"
ASKING = ["--assignee", ANALYST, "--purpose", "marketing"]
GIVEN = ["--policy", "policy.jsonld", "--certificate", "out"]
DATA = ["--data", f"{OUTPUT}={TABLE}"]
READING = ["query", "SELECT * FROM anonPeople", "--policy", "policy.jsonld", *ASKING]
COMMANDS = {
    "decide": [
        "decide",
        "--policy",
        "policy.jsonld",
        "--certificate",
        "out",
        "--target",
        OUTPUT,
        *ASKING,
    ],
    "query of a folder": [*READING, "--certificate", "out", "--data", f"{OUTPUT}=out"],
    "query of a file": [*READING, "--certificate", "out", "--data", f"{OUTPUT}={TABLE}"],
    "query by the certificate": [
        *READING,
        "--certificate",
        CERTIFICATE,
        "--data",
        f"{OUTPUT}={TABLE}",
    ],
    "certify": ["certify", "out", "--policy", "policy.jsonld"],
    "compare": ["compare", "people.csv", "out", "--no-classifier", "--policy", "policy.jsonld"],
    "verify": ["verify", CERTIFICATE, "--output", TABLE],
}
RAW = hashlib.sha256(PEOPLE.encode()).hexdigest()


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """A signed release of people by a signed policy, with a trust file."""
    folder = tmp_path_factory.mktemp("original")
    (folder / "people.csv").write_text(PEOPLE)
    (folder / "policy.jsonld").write_text(people_policy())
    (folder / "trust.json").write_text(trust_text())
    key_of(1).write(folder / "key")
    sign_policy_files([folder / "policy.jsonld"], folder / "key")
    data = {DATASET: folder / "people.csv"}
    apply_policy(folder / "policy.jsonld", data, folder / "out", sign=folder / "key")
    (folder / "key").unlink()
    for one in (folder / "out").iterdir():
        one.chmod(0o600)
    return folder


@pytest.fixture
def folder(original, tmp_path, monkeypatch):
    """A copy of the release, in the folder that commands are run in."""
    shutil.copytree(original, tmp_path / "copy")
    monkeypatch.chdir(tmp_path / "copy")
    return tmp_path / "copy"


def run(arguments):
    words = [*arguments, "--trust", "trust.json"]
    return CliRunner().invoke(make_app(arguments[0]), words)


def rewritten(folder, *, is_stripped=True, **changes):
    """Write other facts into the certificate: as it is, or without its signature."""
    document = json.loads((folder / CERTIFICATE).read_text())
    subject = document["credentialSubject"]
    subject["pe:certificate"] |= changes
    if "output_digest" in changes:
        subject["pe:sha256"] = changes["output_digest"]
    if is_stripped:
        document = {"@context": document["@context"][1], **subject}
    (folder / CERTIFICATE).write_text(json.dumps(document))


def both_digests(folder, *, is_stripped):
    rewritten(folder, is_stripped=is_stripped, output_digest=RAW)


def signed_by_a_stranger(folder):
    certificate = read_certificate((folder / CERTIFICATE).read_bytes()).unsigned()
    forged = certificate.model_copy(update={"output_digest": RAW}).signed(key_of(7))
    (folder / CERTIFICATE).write_text(forged.to_jsonld())


def table_deleted(folder):
    (folder / TABLE).unlink()


def copied_elsewhere(folder):
    """Beside raw rows in a folder of another name, which then takes the place of the release."""
    (folder / "else").mkdir()
    (folder / CERTIFICATE).rename(folder / "else" / "certificate.jsonld")
    shutil.rmtree(folder / "out")
    (folder / "else").rename(folder / "out")
    (folder / TABLE).write_text(PEOPLE)


def link_to_raw_rows(folder):
    (folder / TABLE).unlink()
    (folder / TABLE).symlink_to(folder / "people.csv")


FORGERIES = {
    "both digests recomputed": lambda one: both_digests(one, is_stripped=False),
    "both digests, unsigned": lambda one: both_digests(one, is_stripped=True),
    "both digests, by a stranger": signed_by_a_stranger,
    "another file": lambda one: rewritten(one, is_stripped=False, file="x.csv"),
    "another file, unsigned": lambda one: rewritten(one, file="x.csv"),
    "no file": lambda one: rewritten(one, is_stripped=False, file=""),
    "no file, unsigned": lambda one: rewritten(one, file=""),
    "rows_in null": lambda one: rewritten(one, rows_in=None),
    "rows_in null, signed before": lambda one: rewritten(one, is_stripped=False, rows_in=None),
    "the table deleted": table_deleted,
    "copied elsewhere": copied_elsewhere,
    "a link": link_to_raw_rows,
    "the certificate deleted": lambda one: (one / CERTIFICATE).unlink(),
}
"""What is done to the folder; but where the table is deleted, raw rows are in its place."""


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", [one for one in COMMANDS if one != "compare"])
def test_the_release_itself_is_permitted(folder, name):
    result = run(COMMANDS[name])
    assert result.exit_code == 0, result.output
    assert folder.exists()


@pytest.mark.one_in(2)
@pytest.mark.parametrize("forgery", FORGERIES)
def test_no_command_believes_a_forgery(folder, forgery):
    is_gone = forgery == "the table deleted"
    if not is_gone:
        (folder / TABLE).write_text(PEOPLE)
    FORGERIES[forgery](folder)
    before = {path: path.read_bytes() for path in (folder / "out").iterdir()}
    for name, command in COMMANDS.items():
        result = run(command)
        assert result.exit_code == 1, (name, result.output)
        assert result.exception is None or not _is_our_bug(result.exception), name
        assert "permit" not in result.stdout.split("\n")[0].split(":")[0], name
        assert "Rome" not in result.output, name
    assert {path: path.read_bytes() for path in (folder / "out").iterdir()} == before


def _is_our_bug(error):
    from policy_engine.errors import InternalError, PolicyEngineError

    return not isinstance(error, SystemExit | PolicyEngineError) or isinstance(error, InternalError)


def test_a_copy_of_the_release_under_another_name_is_not_it(folder):
    """The certificate goes with its output: both may be anywhere, but together."""
    shutil.copytree(folder / "out", folder / "moved")
    moved = [one.replace("out", "moved") if one == "out" else one for one in COMMANDS["decide"]]
    assert run(moved).exit_code == 0
    (folder / "moved" / "anonPeople.csv").rename(folder / "moved" / "anonPeople2.csv")
    assert run(moved).exit_code == 1
