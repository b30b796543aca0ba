"""Owners on the command line, and attacks by the names of outputs from end to end."""

import json

import pytest
from typer.testing import CliRunner

from policy_engine import apply_policy, decide_request, plan_policy, query_data, read_request
from policy_engine.cli import app
from policy_engine.cli.hints import format_error
from policy_engine.errors import (
    CertificateError,
    DataError,
    PlanError,
    PolicyEngineError,
    PolicyError,
)

HOSPITAL, EVE, ANN, DOCTOR = (f"http://e.org/{name}" for name in ("Hospital", "Eve", "Ann", "Doc"))
VISITS, MINE, SAFE = (f"http://e.org/{name}" for name in ("Visits", "Mine", "SafeVisits"))
CONTEXT = ["http://www.w3.org/ns/odrl.jsonld", "https://www.mosaicrown.eu/ns/mosaicrown.jsonld"]


def makes(source, output, k, assignee):
    """Return a permission to make an output in which each zip stands for k rows."""
    said = {"mosaicrown:method": "k-anonymity", "mosaicrown:k": k}
    lists = {"mosaicrown:quasi-identifier": "Zip", "pe:insensitive": "Diagnosis"}
    refinement = [
        *({"leftOperand": one, "operator": "eq", "rightOperand": at} for one, at in said.items()),
        *(
            {"leftOperand": one, "operator": "isAllOf", "rightOperand": [f"{source}/{name}"]}
            for one, name in lists.items()
        ),
    ]
    action = {"rdf:value": {"@id": "odrl:anonymize"}, "refinement": refinement}
    return {"target": source, "output": output, "assignee": assignee, "action": action}


def policy(name, assigner, *permissions, kind="Set"):
    uid, profile = f"http://e.org/policy/{name}", "https://www.mosaicrown.eu/ns/mosaicrown/1/"
    given = {"@context": CONTEXT, "@type": kind, "uid": uid, "profile": profile}
    return given | {"assigner": assigner, "permission": list(permissions)}


READS = {"uid": "http://e.org/r", "target": VISITS, "assignee": DOCTOR, "action": "read"}
SET = {
    "hospital": policy("hospital", HOSPITAL, makes(VISITS, SAFE, 4, ANN), READS),
    "column": policy("column", EVE, makes(MINE, f"{VISITS}/Diagnosis", 2, EVE)),
    "swap": policy("swap", EVE, makes(MINE, SAFE, 2, EVE)),
    "offer": policy("offer", EVE, makes(MINE, VISITS, 2, EVE), kind="Offer"),
    "thief": policy("thief", EVE, {**READS, "uid": "http://e.org/t", "assignee": EVE}),
}
OWNERS = {VISITS: HOSPITAL, MINE: EVE}


@pytest.fixture
def market(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, given in SET.items():
        (tmp_path / f"{name}.jsonld").write_text(json.dumps(given, indent=1))
    (tmp_path / "owners.json").write_text(json.dumps(OWNERS))
    for name, ill in (("visits", "gout"), ("mine", "cold")):
        rows = [f"{100 + n % 2},{'flu' if n % 3 else ill}\n" for n in range(8)]
        (tmp_path / f"{name}.csv").write_text("Zip,Diagnosis\n" + "".join(rows))
    return tmp_path


def run(*arguments):
    """Run a command; return its exit code and all that it said."""
    result = CliRunner().invoke(app, [str(one) for one in arguments])
    if isinstance(result.exception, PolicyEngineError):
        return result.exception.exit_code, format_error(result.exception)
    return result.exit_code, f"{result.stdout}{result.stderr}"


def policies(*names):
    return [part for name in names for part in ("--policy", f"{name}.jsonld")]


@pytest.mark.one_in(4)
@pytest.mark.usefixtures("market")
@pytest.mark.parametrize("owners", [[], ["--owners", "owners.json"]])
@pytest.mark.parametrize("name", ["column", "swap"])
def test_an_output_that_takes_the_name_of_anothers_asset_is_refused_everywhere(name, owners):
    code, said = run("validate", "hospital.jsonld", f"{name}.jsonld", *owners)
    assert (code, f"{name}.jsonld:" in said, "hospital.jsonld, line" in said) == (
        1,
        True,
        name == "swap" or not owners,
    )
    assert "P019" in said
    both, asks = policies("hospital", name), ("--assignee", EVE)
    code, said = run("decide", *both, *asks, "--target", f"{VISITS}/Diagnosis", *owners)
    assert (code, "P019" in said) == (2, True)
    sql, data = "SELECT Diagnosis FROM Visits", ("--data", f"{VISITS}=visits.csv")
    code, said = run("query", sql, *both, *asks, *data, *owners)
    assert (code, "P019" in said) == (2, True)


@pytest.mark.usefixtures("market")
def test_a_column_that_eve_certified_of_her_own_data_stays_shut():
    """Her policy alone is valid, and its certificate holds: the data that is asked is not hers."""
    apply_policy(SET["column"], {MINE: "mine.csv"}, "stolen")
    asked = ("SELECT Diagnosis FROM Visits", [SET["column"]], EVE, {VISITS: "visits.csv"})
    with pytest.raises(PolicyError, match="which data is given for"):
        query_data(*asked, certificates=["stolen"])
    request = read_request(EVE, "read", [f"{VISITS}/Diagnosis"])
    with pytest.raises(PolicyError, match="P019"):
        decide_request([SET["column"]], ["stolen"], request, owners=OWNERS)
    with pytest.raises(PolicyError, match="P019"):
        decide_request([SET["hospital"], SET["column"]], ["stolen"], request)


@pytest.mark.usefixtures("market")
def test_a_release_is_not_swapped_for_another_of_the_same_name():
    apply_policy(SET["hospital"], {VISITS: "visits.csv"}, "release")
    apply_policy(SET["swap"], {MINE: "mine.csv"}, "swapped")
    request = read_request(ANN, "read", [SAFE])
    assert decide_request([SET["hospital"]], ["release"], request, owners=OWNERS).permitted
    with pytest.raises(PolicyError, match="an output of"):
        decide_request([SET["hospital"], SET["swap"]], ["release", "swapped"], request)
    asked = ("SELECT Zip FROM SafeVisits", [SET["hospital"]], ANN)
    certified = {"certificates": ["release", "swapped"], "owners": OWNERS}
    assert query_data(*asked, {SAFE: "release/SafeVisits.csv"}, **certified).table.num_rows == 8
    with pytest.raises(CertificateError, match="V004"):
        query_data(*asked, {SAFE: "swapped/SafeVisits.csv"}, **certified)
    with pytest.raises(CertificateError, match="V004"):
        query_data(*asked, {SAFE: "visits.csv"}, **certified)


def test_any_release_that_a_certificate_of_the_policy_names_is_read(market):
    for name in ("first", "second"):
        rows = "".join(f"{100 + n % 2},{name}\n" for n in range(8))
        (market / "visits.csv").write_text(f"Zip,Diagnosis\n{rows}")
        apply_policy(SET["hospital"], {VISITS: "visits.csv"}, name)
    for name in ("first", "second"):
        data = {SAFE: f"{name}/SafeVisits.csv"}
        sql = "SELECT DISTINCT Diagnosis FROM SafeVisits"
        found = query_data(sql, [SET["hospital"]], ANN, data, certificates=["first", "second"])
        assert found.table.to_pydict() == {"Diagnosis": [name]}


@pytest.mark.usefixtures("market")
def test_an_offer_locks_nobody_out():
    both = policies("hospital", "offer")
    assert run("validate", "hospital.jsonld", "offer.jsonld")[0] == 0
    for owners in ([], ["--owners", "owners.json"]):
        assert run("decide", *both, "--assignee", DOCTOR, "--target", VISITS, *owners)[0] == 0


@pytest.mark.usefixtures("market")
def test_a_strangers_permission_is_told_not_to_count():
    both = policies("hospital", "thief")
    asks = ("--assignee", EVE, "--target", VISITS)
    assert run("decide", *both, *asks)[0] == 0
    code, said = run("decide", *both, *asks, "--owners", "owners.json")
    assert (code, f"{EVE} does not own {VISITS}" in said) == (1, True)
    found = json.loads(
        run("decide", *both, *asks, "--owners", "owners.json", "--format", "json")[1]
    )
    assert found["near_misses"][0]["missing"] == [f"{EVE} does not own {VISITS}"]
    code, said = run("validate", "hospital.jsonld", "thief.jsonld", "--owners", "owners.json")
    assert (code, "W003" in said) == (0, True)


@pytest.mark.usefixtures("market")
def test_a_query_is_decided_by_who_owns_its_tables():
    asks = ("SELECT Zip FROM Visits", *policies("thief"), "--assignee", EVE)
    data = ("--data", f"{VISITS}=visits.csv")
    assert run("query", *asks, *data)[0] == 0
    code, said = run("query", *asks, *data, "--owners", "owners.json")
    assert (code, "does not own" in said) == (1, True)


def test_what_is_not_owned_is_not_transformed(market):
    data = ("--data", f"{VISITS}=visits.csv")
    (market / "eves.json").write_text(json.dumps({VISITS: EVE}))
    assert run("plan", "hospital.jsonld", "--owners", "owners.json")[0] == 0
    code, said = run("plan", "hospital.jsonld", *data, "--owners", "eves.json")
    assert (code, f"M014 permission /permission/0 of {SET['hospital']['uid']}" in said) == (1, True)
    made = ("apply", "hospital.jsonld", *data, "--output", "release")
    code, said = run(*made, "--owners", "eves.json")
    assert (code, "M014" in said, (market / "release").exists()) == (1, True, False)
    assert run(*made, "--owners", "owners.json")[0] == 0


def test_a_delegate_transforms_what_the_owner_lets_him_grant():
    lets = {"target": VISITS, "action": "grantUse", "assignee": EVE}
    theirs = policy("theirs", EVE, makes(VISITS, "http://e.org/Eves", 2, ANN))
    with pytest.raises(PlanError, match="M014"):
        plan_policy(theirs, owners=OWNERS)
    both = [theirs, policy("lets", HOSPITAL, lets)]
    text = {"@context": CONTEXT, "@graph": [{**one} for one in both]}
    for one in text["@graph"]:
        del one["@context"]
    assert plan_policy(text, owners=OWNERS).publish.asset == "http://e.org/Eves"


@pytest.mark.parametrize("command", ["validate", "plan", "decide", "query"])
def test_owners_that_cannot_be_understood_end_a_command_with_two(market, command):
    (market / "bad.json").write_text('{"Visits": "Hospital"}')
    rest = {
        "validate": ("hospital.jsonld",),
        "plan": ("hospital.jsonld",),
        "decide": (*policies("hospital"), "--assignee", ANN, "--target", VISITS),
        "query": ("SELECT 1", *policies("hospital"), "--assignee", ANN, "--data", "visits.csv"),
    }[command]
    code, said = run(command, *rest, "--owners", "bad.json")
    assert (code, "D004" in said) == (2, True)


@pytest.mark.usefixtures("market")
def test_a_column_is_anothers_in_any_case_of_its_name():
    data = {VISITS: "visits.csv"}
    rule = {"target": VISITS, "assignee": DOCTOR, "action": "read"}
    asked = ("SELECT zip FROM Visits", [policy("reads", HOSPITAL, rule)], DOCTOR, data)
    assert query_data(*asked, owners=OWNERS).permitted
    assert not query_data(*asked, owners={**OWNERS, f"{VISITS}/ZIP": EVE}).permitted
    with pytest.raises(DataError, match="C005"):
        query_data(*asked, owners={**OWNERS, f"{VISITS}/Zipp": EVE})


@pytest.mark.usefixtures("market")
def test_who_may_read_the_inputs_reads_an_output_that_its_owner_made_of_them():
    """What is another's is opened by his own rules alone, though others may read its inputs."""
    made, owners = "http://e.org/Eves", {**OWNERS, VISITS: {"owner": HOSPITAL, "delegates": EVE}}
    theirs = policy("theirs", EVE, makes(VISITS, made, 2, ANN))
    apply_policy(theirs, {VISITS: "visits.csv"}, "made", owners=owners)
    request = read_request(DOCTOR, "read", [made])
    for issuer, permitted in ((HOSPITAL, False), (EVE, True)):
        both = [theirs, policy("reads", issuer, READS)]
        assert decide_request(both, ["made"], request).permitted
        assert decide_request(both, ["made"], request, owners=owners).permitted == permitted
