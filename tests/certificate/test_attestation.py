"""Outputs that no engine can certify, and the persons who vouch for them."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from building import MOSAICROWN, ODRL
from language_examples import OF_RULES
from typer.testing import CliRunner

from policy_engine import terms
from policy_engine.api.deciding import attest_output, decide_request, query_data
from policy_engine.certificate.attestation import (
    attest,
    check_attested,
    load_attestation,
    read_attestation,
)
from policy_engine.cli import app
from policy_engine.data import storage
from policy_engine.decision.requests import read_request
from policy_engine.errors import CertificateError, DataError, Problem, RequestError
from policy_engine.policy import read_policy
from policy_engine.policy.attestable import attestable

E = "http://example.com/"
MADE = {"uid": "ex:p#sum", "assignee": "ex:Ann", "target": "ex:Visits", "action": "aggregate"}
METHOD = [
    {"leftOperand": "mosaicrown:method", "operator": "eq", "rightOperand": "k-anonymity"},
    {"leftOperand": "mosaicrown:k", "operator": "eq", "rightOperand": 2},
    {
        "leftOperand": "mosaicrown:quasi-identifier",
        "operator": "isAllOf",
        "rightOperand": [f"{E}Visits/Zip"],
    },
]


def text(*rules):
    return json.dumps(
        {
            "@context": [ODRL, MOSAICROWN, {"ex": E}],
            "@type": "Set",
            "uid": "ex:p",
            "profile": "https://www.mosaicrown.eu/ns/mosaicrown/1/",
            "permission": [*rules],
        }
    )


SUM = text({**MADE, "output": "ex:Totals"})


@pytest.fixture
def totals(tmp_path):
    file = tmp_path / "totals.csv"
    file.write_text("Zip,n\n1,20\n2,30\n")
    return file


def asked(party="Ann", target="Totals"):
    return read_request(E + party, "read", [E + target])


def is_permitted(policy, proofs, party="Ann", target="Totals"):
    return decide_request([read_policy(policy)], proofs, asked(party, target)).permitted


def test_the_example_of_the_documentation_is_read_once_somebody_attests_its_output(totals):
    example = {**OF_RULES["odrl:output"], "target": "ex:Visits", "assignee": "ex:Ann"}
    policy = text(example)
    assert not is_permitted(policy, [])
    word = attest_output(policy, totals, f"{E}Eve", evidence="report 7")
    decision = decide_request([policy], [word], asked())
    assert decision.permitted
    assert decision.derivation[-1].startswith(
        f"attested by {E}Eve by 'report 7', and not certified"
    )
    assert not is_permitted(policy, [word], "Bob")
    assert not is_permitted(policy, [word], target="Visits")


def test_an_attestation_is_of_one_policy_as_it_is_and_of_one_output(totals):
    word = attest_output(SUM, totals, f"{E}Eve")
    assert is_permitted(SUM, [word])
    others = [
        text({**MADE, "output": "ex:Totals", "purpose": "statistical"}),
        text({**MADE, "output": "ex:Sums"}),
    ]
    assert not any(is_permitted(one, [word]) for one in others)


def made(action, output="ex:Totals", **parts):
    return {**MADE, "uid": f"ex:p#{output}", "action": action, "output": output, **parts}


ANONYMIZE = {"rdf:value": {"@id": "odrl:anonymize"}, "refinement": METHOD}


@pytest.mark.parametrize(
    "rules",
    [
        [made(ANONYMIZE)],
        [made("use")],
        [made({"uid": "ex:hide", "includedIn": "anonymize"})],
        [made("aggregate"), {**made(ANONYMIZE), "uid": "ex:p#2"}],
        [made(["aggregate", {"uid": "ex:teach", "includedIn": "pe:train"}])],
    ],
    ids=["anonymize", "use", "kind of anonymize", "also anonymized", "kind of train"],
)
def test_what_is_or_may_be_anonymised_or_trained_is_never_attested(totals, rules):
    policy = read_policy(text(*rules))
    assert attestable(policy) == {}
    with pytest.raises(CertificateError, match=r"V012 .*has no output.* to attest"):
        attest_output(policy, totals, f"{E}Eve")
    word = attest_output(SUM, totals, f"{E}Eve")
    forged = word.model_copy(update={"policy_digest": policy.digest})
    assert not decide_request([policy], [forged], asked()).permitted


def test_one_of_several_outputs_is_named(totals):
    policy = text(made("aggregate"), made("derive", "ex:Sums"))
    with pytest.raises(CertificateError, match=r"V012 .*several outputs to attest.*Totals.*Sums"):
        attest_output(policy, totals, f"{E}Eve")
    assert attest_output(policy, totals, f"{E}Eve", asset="ex:Sums").asset == f"{E}Sums"
    with pytest.raises(RequestError, match="D001 The person who attests must be named by an IRI"):
        attest_output(policy, totals, "Eve", asset="ex:Sums")


@pytest.mark.parametrize(
    ("rules", "asset", "told"),
    [
        ([made(ANONYMIZE)], "", "no output to attest, nor any that can be attested."),
        (
            [made(ANONYMIZE)],
            "ex:Sums",
            "no output 'ex:Sums' to attest, nor any that can be attested.",
        ),
        (
            [made("aggregate")],
            "ex:Sums",
            f"no output 'ex:Sums' to attest. Allowed are '{E}Totals'.",
        ),
        (
            [made("aggregate"), made("derive", "ex:Sums")],
            "",
            f"several outputs to attest. Allowed are '{E}Totals' and '{E}Sums'.",
        ),
    ],
)
def test_what_can_be_attested_instead_is_told(totals, rules, asset, told):
    with pytest.raises(CertificateError) as error:
        attest(read_policy(text(*rules)), totals, f"{E}Eve", asset=asset)
    [problem] = error.value.problems
    assert (problem.code, problem.message) == ("V012", f"{E}p has {told}")
    assert problem.hint.startswith(
        "Anonymised data and trained models are certified when they are made"
    )


def test_an_attestation_is_json_ld_that_says_who_made_it_when(totals):
    from pyld import jsonld

    word, dropped = attest(read_policy(SUM), totals, f"{E}Eve"), []
    [node] = jsonld.expand(json.loads(word.to_jsonld()), on_property_dropped=dropped.append)
    assert (node["@id"], dropped) == (f"{E}Totals", [])
    assert node["@type"] == ["http://www.w3.org/ns/prov#Entity"]
    assert node[f"{terms.PE}attestation"][0]["@value"]["evidence"] == ""
    assert node["http://www.w3.org/ns/prov#wasAttributedTo"] == [{"@id": f"{E}Eve"}]
    [time] = node["http://www.w3.org/ns/prov#generatedAtTime"]
    assert time["@type"] == "http://www.w3.org/2001/XMLSchema#dateTime"
    assert datetime.fromisoformat(time["@value"]) == word.time


def test_an_attestation_is_written_and_read_and_goes_with_its_file(totals):
    file = totals.with_name("word.json")
    word = attest_output(SUM, totals, f"{E}Eve", file=file)
    assert load_attestation(file) == word == read_attestation(file.read_bytes())
    assert is_permitted(SUM, [file])
    totals.write_text("Zip,n\n1,1\n")
    with pytest.raises(CertificateError, match=r"V004 It is not the output that was attested"):
        is_permitted(SUM, [file])


def test_an_attestation_away_from_its_file_is_read_alone(totals, tmp_path):
    word = attest_output(SUM, totals, f"{E}Eve", file=totals.with_name("word.json"))
    (tmp_path / "elsewhere").mkdir()
    away = totals.with_name("word.json").rename(tmp_path / "elsewhere" / "word.json")
    assert load_attestation(away) == word


def test_an_attestation_that_cannot_be_read_is_told(totals, monkeypatch):
    file = totals.with_name("word.json")
    attest_output(SUM, totals, f"{E}Eve", file=file)

    def unreadable(_path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", unreadable)
    with pytest.raises(DataError) as told:
        load_attestation(file)
    problem = Problem("C003", "The attestation cannot be read: Permission denied.")
    assert (told.value.problems, told.value.source) == ((problem,), str(file))


def test_an_attestation_is_found_by_its_output_and_by_the_folder(totals, monkeypatch):
    monkeypatch.chdir(totals.parent)
    attest_output(SUM, totals, f"{E}Eve", file=totals.with_name("totals.csv.attestation.json"))
    places = (totals, totals.parent, Path(), totals.name)
    assert all(is_permitted(SUM, [place]) for place in places)
    totals.with_name("other.csv").write_text("Zip,n\n1,1\n")
    with pytest.raises(CertificateError, match="V005"):
        is_permitted(SUM, ["other.csv"])
    totals.write_text("Zip,n\n1,1\n")
    for place in places:
        with pytest.raises(CertificateError, match=r"totals\.csv.*V004"):
            is_permitted(SUM, [place])
    totals.unlink()
    with pytest.raises(DataError, match="C002 There is no certificate"):
        is_permitted(SUM, [totals])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "The text is not an attestation of this version (PolicyError)."),
        ("{}", "The text is not an attestation of this version (KeyError)."),
        ("[]", "The text is not an attestation of this version (TypeError)."),
        (
            '{"pe:attestation": {}}',
            "The text is not an attestation of this version (ValidationError).",
        ),
    ],
)
def test_a_text_that_is_no_attestation_is_told_with_its_source(text, why):
    with pytest.raises(CertificateError) as told:
        read_attestation(text, "word.json")
    assert (told.value.problems, told.value.source) == ((Problem("V005", why),), "word.json")


def test_a_word_says_what_was_vouched_for_by_whom_when_and_by_what(totals):
    policy = read_policy(text(made(["aggregate", "derive"])))
    before = datetime.now(UTC)
    word = attest(policy, totals, "https://example.com/Eve", asset=f"{E}Totals", evidence="report")
    assert (word.policy, word.policy_digest) == (policy.uid, policy.digest)
    assert (word.asset, word.file, word.evidence) == (f"{E}Totals", "totals.csv", "report")
    assert word.by == "https://example.com/Eve"
    assert [one.rpartition("/")[2] for one in word.actions] == ["aggregate", "derive"]
    assert word.output_digest == storage.digest(totals)
    assert before <= word.time <= datetime.now(UTC)
    said = f"attested by {word.by}{{}}, and not certified; output sha-256 {word.output_digest}"
    assert word.summary() == said.format(" by 'report'")
    assert word.model_copy(update={"evidence": ""}).summary() == said.format("")


def test_what_cannot_be_read_is_not_attested(totals):
    with pytest.raises(DataError, match=r"nowhere\.csv: C003 The file cannot be read: No such"):
        attest(read_policy(SUM), totals.with_name("nowhere.csv"), f"{E}Eve")
    with pytest.raises(RequestError) as told:
        attest(read_policy(SUM), totals, "Eve")
    problem = Problem("D001", "The person who attests must be named by an IRI. Given: 'Eve'.")
    assert told.value.problems == (problem,)


@pytest.mark.parametrize("time", ["2026-01-01T00:00:00", "2999-01-01T00:00:00Z"])
def test_the_time_of_a_word_has_a_zone_and_has_come(totals, time):
    word = attest(read_policy(SUM), totals, f"{E}Eve")
    stated = word.time.isoformat()
    assert read_attestation(word.to_jsonld()) == word
    with pytest.raises(CertificateError, match="V005"):
        read_attestation(word.to_jsonld().replace(stated, time).replace(stated[:-6], time))


def test_a_file_is_an_attestation_only_where_it_says_so(totals):
    for path in (totals, totals.parent, totals.with_name("nowhere.json")):
        assert load_attestation(path) is None
    word = attest_output(SUM, totals, f"{E}Eve", file=totals.with_name("word.json"))
    own = word.model_copy(update={"file": ""})
    totals.with_name("word.json").write_text(own.to_jsonld())
    assert load_attestation(totals.with_name("word.json")) == own
    totals.with_name("word.json").write_text(word.to_jsonld() + "{")
    with pytest.raises(CertificateError, match=r"word\.json: V005"):
        load_attestation(totals.with_name("word.json"))


def test_an_output_is_attested_where_one_of_the_words_is_of_it(totals):
    word = attest(read_policy(SUM), totals, f"{E}Eve")
    other = word.model_copy(update={"output_digest": "0" * 64})
    check_attested([other, word], word.output_digest, "totals.csv")
    with pytest.raises(CertificateError) as told:
        check_attested([other, other], word.output_digest, "totals.csv")
    message = f"It is not the output that was attested: its sha-256 is {word.output_digest}."
    assert told.value.problems == (Problem("V004", message),)
    assert told.value.source == "totals.csv"


@pytest.mark.parametrize(
    "change",
    [
        lambda it: it["pe:attestation"].update(by=f"{E}Bob"),
        lambda it: it["pe:attestation"].pop("output_digest"),
        lambda it: it["pe:attestation"].update(time="2999-01-01T00:00:00Z"),
        lambda it: it.update(more="said"),
    ],
)
def test_a_text_that_contradicts_itself_is_no_attestation(totals, change):
    document = json.loads(attest_output(SUM, totals, f"{E}Eve").to_jsonld())
    change(document)
    with pytest.raises(CertificateError) as told:
        read_attestation(json.dumps(document), "word.json")
    [problem] = told.value.problems
    assert (problem.code, problem.hint, told.value.source) == ("V005", "", "word.json")
    contradicts = "The attestation contradicts itself, or has fields that attestations do not have."
    no_word = "The text is not an attestation of this version (ValidationError)."
    assert problem.message in (contradicts, no_word)


def test_a_query_reads_the_file_that_was_attested_and_no_other(totals):
    word, sql = attest_output(SUM, totals, f"{E}Eve"), "SELECT n FROM Totals ORDER BY n"
    given = {f"{E}Totals": totals}
    assert not query_data(sql, [SUM], f"{E}Ann", given).permitted
    result = query_data(sql, [SUM], f"{E}Ann", given, certificates=[word])
    assert result.table.column("n").to_pylist() == [20, 30]
    totals.write_text("Zip,n\n1,1\n")
    with pytest.raises(CertificateError, match="V004"):
        query_data(sql, [SUM], f"{E}Ann", given, certificates=[word])


def test_attest_writes_what_decide_takes(totals, monkeypatch):
    monkeypatch.chdir(totals.parent)
    (totals.parent / "p.jsonld").write_text(SUM)
    run = CliRunner().invoke
    done = run(app, ["attest", "p.jsonld", "--output", "totals.csv", "--by", "ex:Eve"])
    assert done.exit_code == 0
    assert done.stdout.splitlines()[-1] == "written: totals.csv.attestation.json"
    ask = ["decide", "--policy", "p.jsonld", "--assignee", "ex:Ann", "--target", "ex:Totals"]
    assert run(app, ask).exit_code == 1
    word = ["--certificate", "totals.csv.attestation.json"]
    permitted = run(app, [*ask, *word])
    assert permitted.exit_code == 0
    assert "attested by http://example.com/Eve, and not certified" in permitted.stdout


@pytest.mark.nightly
def test_what_was_attested_is_read_by_nobody_without_its_policy_nor_what_was_made_of_it(totals):
    def issued(uid, **rule):
        policy = json.loads(text({**MADE, "uid": f"{uid}#1", **rule}))
        return read_policy(json.dumps({**policy, "uid": uid, "assigner": "ex:Owner"}))

    names = ["ex:Totals", "ex:Sums", "ex:Visits"]
    first = issued("ex:first", output="ex:Totals")
    then = issued("ex:again", target="ex:Totals", output="ex:Sums")
    reads = issued("ex:reads", assignee="ex:Bob", target=names, action="read")
    proofs = [attest_output(one, totals, f"{E}Owner") for one in (first, then)]
    stated = {f"{E}{name}": f"{E}Owner" for name in ("Visits", "Totals", "Sums")}
    for owners in (None, stated):
        for target in ("Totals", "Sums"):
            given = {"certificates": proofs, "request": asked("Bob", target), "owners": owners}
            assert decide_request([reads, first, then], **given).permitted
            found = decide_request([reads, then], **given)
            assert not found.permitted
            assert f"{E}first" in found.reason
            assert "is not in force" in found.reason
        assert decide_request([reads], proofs, asked("Bob", "Visits"), owners=owners).permitted
    sql, data = "SELECT n FROM Totals", {f"{E}Totals": totals}
    assert not query_data(sql, [reads], f"{E}Bob", data, certificates=proofs).permitted


# -- whose word counts ----------------------------------------------------------------------------


def test_where_owners_are_stated_the_word_of_those_alone_counts_whose_the_output_is(totals):
    cid = {"uid": "ex:Cid", "belongsTo": "ex:Staff"}
    issued = {"assigner": "ex:Owner", "assignee": ["ex:Ann", "ex:Staff"], "output": "ex:Totals"}
    policy = text({**MADE, **issued}, {**MADE, "uid": "ex:p#other", "assignee": cid})
    for who in ("Owner", "Ann", "Cid", "Eve"):
        word = attest_output(policy, totals, f"{E}{who}")
        assert decide_request([policy], [word], asked()).permitted
        found = decide_request([policy], [word], asked(), owners={f"{E}Visits": f"{E}Owner"})
        assert found.permitted == (who != "Eve")
    assert f"The attestation of {E}Eve does not count" in found.reason
    stated = {
        f"{E}Visits": f"{E}Owner",
        f"{E}Totals": {"owner": f"{E}Owner", "delegates": f"{E}Eve"},
    }
    assert decide_request([policy], [word], asked(), owners=stated).permitted
