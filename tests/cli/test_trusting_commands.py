"""Commands that believe a certificate, or decide for a party, under a trust file or without."""

import json

import pytest
from building import ANALYST, DATASET, OUTPUT, anonymize, permission, policy
from signing import key_of, trust_text
from typer.testing import CliRunner

from policy_engine import trusted_proofs
from policy_engine.cli.commands import make_app
from policy_engine.errors import CertificateError, DeniedError, PolicyEngineError

MADE = "http://x.org/further"
UNSIGNED = "unsigned: signatures were not checked"


@pytest.fixture
def run(people, monkeypatch):
    monkeypatch.chdir(people)

    def call(*arguments, status=0):
        result = CliRunner().invoke(make_app(arguments[0]), [*map(str, arguments)])
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == status, result.output
        return result

    return call


@pytest.fixture
def market(run, people):
    """A signed policy and its signed release in `out`, a signed policy that makes more of that, and
    two trust files: one that covers all of it, and one for another key."""
    key_of(1).write(people / "key")
    rule = permission(
        uid="http://x.org/further/1",
        target=OUTPUT,
        action=anonymize(method="k-anonymity", k=2, quasi=[{"@id": f"{OUTPUT}/disease"}]),
        output=MADE,
    )
    (people / "further.jsonld").write_text(policy([rule], uid="http://x.org/further-policy"))
    for file in ("policy.jsonld", "further.jsonld"):
        run("sign", file, "--key", "key")
    data = ("--data", f"{DATASET}=people.csv")
    run("apply", "policy.jsonld", *data, "--output", "out", "--sign", "key")
    (people / "trust.json").write_text(trust_text())
    other = {"key": key_of(2).public.did, "policies": ["*"], "outputs": ["*"]}
    (people / "others.json").write_text(trust_text(other))
    return people


def further(command, *more):
    return (command, "further.jsonld", "--data", f"{OUTPUT}=out/anonPeople.csv", *more)


@pytest.mark.usefixtures("market")
@pytest.mark.parametrize("command", ["plan", "apply", "explore"])
def test_what_is_made_of_a_release_is_so_under_a_trust_file_that_covers_it(run, command):
    more = ("--output", "more") if command == "apply" else ()
    more += ("--k", "2") if command == "explore" else ()
    told = run(*further(command, "--trust", "trust.json", *more))
    assert "unsigned" not in told.output
    more += ("--overwrite",) if command == "apply" else ()
    assert run(*further(command, *more)).stdout.startswith(UNSIGNED)
    with pytest.raises(PolicyEngineError, match="Y009"):
        run(*further(command, "--trust", "others.json", *more))


def test_a_release_whose_certificate_beside_it_was_changed_is_not_built_upon(run, market):
    file = market / "out" / "certificate.jsonld"
    file.write_text(file.read_text().replace('"rows_out": 6', '"rows_out": 7'))
    for command in ("plan", "apply"):
        more = ("--output", "more") if command == "apply" else ()
        with pytest.raises(CertificateError, match=r"Y00[69]|V0"):
            run(*further(command, "--trust", "trust.json", *more))
    assert not (market / "more").exists()


def test_an_unsigned_policy_makes_nothing_under_a_trust_file(run, market):
    (market / "further.jsonld.signature").unlink()
    with pytest.raises(CertificateError, match=r"Y009.*further|Y009.*policy"):
        run(*further("plan", "--trust", "trust.json"))


def test_nothing_is_made_of_a_release_that_was_withdrawn(run, market):
    run("withdraw", "out", "--reason", "an error", "--key", "key")
    for trust in ((), ("--trust", "trust.json")):
        with pytest.raises(CertificateError, match="Y015"):
            run(*further("apply", "--output", "more", *trust))
    assert not (market / "more").exists()


def test_what_a_trust_file_names_as_an_output_is_no_plain_data_without_its_certificate(run, market):
    narrow = {"key": key_of(1).public.did, "policies": ["*"], "outputs": [OUTPUT, MADE]}
    (market / "narrow.json").write_text(trust_text(narrow))
    run(*further("plan", "--trust", "narrow.json"))
    (market / "out" / "certificate.jsonld").unlink()
    for command, *more in (["plan"], ["apply", "--output", "more", "--sign", "key"]):
        with pytest.raises(CertificateError, match="V013 The trust file names"):
            run(*further(command, "--trust", "narrow.json", *more))
    assert not (market / "more").exists()
    data = ("--data", f"{DATASET}=people.csv")
    run("plan", "policy.jsonld", *data, "--trust", "narrow.json")


@pytest.mark.parametrize("fault", ["of a stranger", "withdrawn"])
def test_an_output_is_not_certified_again_beside_an_input_that_does_not_count(run, market, fault):
    run(*further("apply", "--output", "more"), "--sign", "key", "--trust", "trust.json")
    again = ("certify", "more/further.csv", "--policy", "further.jsonld", "--trust", "trust.json")
    data = ("--data", f"{OUTPUT}=out/anonPeople.csv", "--write", "--sign", "key")
    run(*again, *data)
    if fault == "withdrawn":
        run("withdraw", "out", "--reason", "an error", "--key", "key")
    else:
        key_of(2).write(market / "key2")
        run("certify", "out", "--policy", "policy.jsonld", "--write", "--sign", "key2")
    with pytest.raises(CertificateError, match="Y015" if fault == "withdrawn" else "Y009"):
        run(*again, *data)


def test_what_is_withdrawn_is_the_output_that_is_there(run, market):
    (market / "out" / "anonPeople.csv").write_text("age,city,disease\n")
    for place in ("out", "out/anonPeople.csv"):
        with pytest.raises(CertificateError, match="V004"):
            run("withdraw", place, "--reason", "an error", "--key", "key")
    (market / "out" / "anonPeople.csv").unlink()
    with pytest.raises(CertificateError, match="V004 The output that the certificate names is not"):
        run("withdraw", "out", "--reason", "an error", "--key", "key")
    run("withdraw", "out/certificate.jsonld", "--reason", "an error", "--key", "key")


@pytest.mark.usefixtures("market")
def test_a_party_is_asked_about_under_the_trust_file(run):
    """The analyst may read the release, and asks whether it may be trained on."""
    audit = ("audit", "membership", "--data", "people.csv", "--label", "disease", "--as", ANALYST)
    audit += ("--target", OUTPUT, "--policy", "policy.jsonld", "--certificate", "out")
    audit += ("--purpose", "marketing")
    with pytest.raises(DeniedError, match="D007") as denied:
        run(*audit, "--trust", "others.json")
    assert "Y009" in str(denied.value)
    with pytest.raises(DeniedError, match="D007") as denied:
        run(*audit, "--trust", "trust.json")
    assert "Y009" not in str(denied.value)


@pytest.mark.usefixtures("market")
def test_a_trust_file_without_anything_to_ask_it_about_is_a_mistake(run):
    audit = ("audit", "membership", "--data", "people.csv", "--label", "disease")
    with pytest.raises(PolicyEngineError, match="--trust is for --as PARTY"):
        run(*audit, "--trust", "trust.json")


def test_a_variable_names_the_trust_file_of_all_commands(run, market, monkeypatch):
    monkeypatch.setenv("POLICY_ENGINE_TRUST", str(market / "others.json"))
    for arguments in (further("plan"), READING["graph"]):
        with pytest.raises(PolicyEngineError, match="Y009"):
            run(*arguments)
    run(*further("plan", "--trust", "trust.json"))
    audit = ("audit", "membership", "--data", "people.csv", "--label", "none")
    with pytest.raises(PolicyEngineError) as refused:
        run(*audit)
    assert "--trust" not in str(refused.value)


READING = {
    "graph": ("graph", "policy.jsonld", "--certificate", "out", "--format", "mermaid"),
    "diff": ("diff", "policy.jsonld", "policy.jsonld", "--certificate", "out"),
    "test": ("test", "tests.yaml"),
    "bundle": ("bundle", "policy.jsonld", "--certificate", "out", "--output", "b", "--overwrite"),
}


@pytest.mark.parametrize("command", READING.values(), ids=READING)
def test_commands_that_read_certificates_believe_those_that_are_covered(run, market, command):
    test = {"name": "reads", "request": {"assignee": ANALYST, "action": "read", "target": OUTPUT}}
    test["request"]["purpose"] = "marketing"
    suite = {"policies": ["policy.jsonld"], "certificates": ["out"]}
    (market / "tests.yaml").write_text(json.dumps(suite | {"tests": [test | {"expect": "permit"}]}))
    told = run(*command)
    first = told.stdout if command[0] != "graph" else told.stderr.removeprefix("note: ")
    assert first.startswith(UNSIGNED)
    assert "unsigned" not in run(*command, "--trust", "trust.json").output
    with pytest.raises(CertificateError, match="Y009"):
        run(*command, "--trust", "others.json")
    run("withdraw", "out", "--reason", "an error", "--key", "key")
    with pytest.raises(CertificateError, match="Y015"):
        run(*command)


def test_an_audit_believes_the_certificate_that_is_covered(run, market):
    """By the certificate, the intruder knows how the release was made."""
    audit = ("audit", "disclosure", "people.csv", "out", "--known", "age", "--known", "city")
    told = run(*audit)
    assert told.output.startswith(UNSIGNED)
    told = run(*audit, "--format", "json")
    assert told.stderr.startswith(f"note: {UNSIGNED}")
    assert UNSIGNED not in run(*audit, "--trust", "trust.json").output
    with pytest.raises(CertificateError, match="Y009"):
        run(*audit, "--trust", "others.json")
    (market / "out" / "certificate.jsonld").unlink()
    audit = (*audit[:3], "out/anonPeople.csv", *audit[4:])
    assert UNSIGNED not in run(*audit).output
    assert UNSIGNED not in run(*audit, "--trust", "others.json").output


def test_an_audit_believes_the_promise_of_the_records_beside_it_alone(run, market):
    records = ("--members", "people.csv", "--holdout", "people.csv", "--synthetic")
    audit = ("audit", "generative", *records, "out/anonPeople.csv")
    with pytest.raises(CertificateError, match="Y009"):
        run(*audit, "--trust", "others.json")
    (market / "out" / "anonPeople.csv").chmod(0o600)
    (market / "out" / "anonPeople.csv").write_text("age,city,disease\n1,Rome,flu\n")
    with pytest.raises(CertificateError, match="V004"):
        run(*audit)


def test_proofs_that_are_trusted_all_count(market):
    [proof] = trusted_proofs([market / "out"], market / "trust.json")
    assert proof.plan.publish.asset == OUTPUT
    [output] = (market / "out").glob("*.csv")
    output.unlink()
    with pytest.raises(CertificateError, match=r"Y012|V00|C00"):
        trusted_proofs([market / "out"], market / "trust.json")
