"""After a release is withdrawn, nobody is permitted to read it."""

import json
import shutil
from datetime import UTC, datetime, timedelta

import pytest
from building import ANALYST, DATASET, OUTPUT, PEOPLE, people_policy
from signing import key_of, trust_text

from policy_engine import (
    DecisionLog,
    World,
    apply_policy,
    bundle_policies,
    certify_output,
    decide_request,
    decider,
    query_data,
    read_request,
    withdraw_release,
)
from policy_engine.api.signing import sign_policy_files
from policy_engine.certificate.withdrawals import statements_beside
from policy_engine.decision.log import last_entries
from policy_engine.errors import (
    ArgumentError,
    CertificateError,
    OutputError,
    PolicyEngineError,
    SignatureError,
)
from policy_engine.trust.status_lists import StatusList, load_status_list

MARKETING = "https://www.mosaicrown.eu/ns/mosaicrown/1/marketing"
LIST = "https://example.com/status/1"
REQUEST = read_request(ANALYST, "read", [OUTPUT], MARKETING)


@pytest.fixture(scope="module")
def listed(tmp_path_factory):
    """A folder with a signed policy, a signed release with an entry in a list, and a trust file."""
    folder = tmp_path_factory.mktemp("listed")
    (folder / "lists").mkdir()
    (folder / "people.csv").write_text(PEOPLE)
    (folder / "policy.jsonld").write_text(people_policy())
    for number in (1, 2):
        key_of(number).write(folder / f"key{number}")
    data, place = {DATASET: folder / "people.csv"}, f"{LIST}={folder / 'lists' / 'status.json'}"
    signed = {"sign": folder / "key1", "status_list": place}
    apply_policy(folder / "policy.jsonld", data, folder / "release", **signed)
    sign_policy_files([folder / "policy.jsonld"], folder / "key1")
    (folder / "trust.json").write_text(trust_text())
    return folder


@pytest.fixture
def market(listed, tmp_path):
    shutil.copytree(listed, tmp_path / "market")
    return tmp_path / "market"


def status_of(market):
    return market / "lists" / "status.json"


def decided(market, **options):
    return decide_request([market / "policy.jsonld"], [market / "release"], REQUEST, **options)


def withdrawn(market, key="key1", **options):
    return withdraw_release(market / "release", "an error in it", market / key, **options)


def trusting(market, *more):
    return {"trust": market / "trust.json", "status": [status_of(market), *more]}


def test_a_statement_says_since_when_though_the_status_list_is_not_given(market):
    withdrawn(market)
    made = decided(market, trust=market / "trust.json")
    assert f"Y015 {OUTPUT} is withdrawn since" in made.reason
    assert [one.asset for one in made.withdrawn] == [OUTPUT]


def test_what_is_not_withdrawn_is_permitted(market):
    assert decided(market, **trusting(market)).permitted
    assert decided(market, status=[status_of(market)]).permitted
    assert decided(market).permitted


def test_a_statement_beside_the_certificate_denies(market):
    done = withdrawn(market)
    assert done.statement == market / "release" / "certificate.jsonld.withdrawal"
    for options in ({}, trusting(market)):
        decision = decided(market, **options)
        assert not decision.permitted
        assert "Y015" in decision.reason
        assert [one.asset for one in decision.withdrawn] == [OUTPUT]


def test_a_copy_is_denied_by_a_statement_that_is_given(market):
    shutil.copytree(market / "release", market / "copy")
    done = withdrawn(market)
    proofs, policies = [market / "copy"], [market / "policy.jsonld"]
    assert decide_request(policies, proofs, REQUEST).permitted
    assert not decide_request(policies, proofs, REQUEST, status=[done.statement]).permitted
    assert not decider(policies, proofs, status=[done.statement]).decide(REQUEST).permitted


def test_a_copy_is_denied_by_the_list(market):
    shutil.copytree(market / "release", market / "copy")
    done = withdrawn(market, status_list=status_of(market), statement=market / "statement.json")
    assert done.is_listed
    for options in ({"status": [status_of(market)]}, trusting(market)):
        assert "Y015" in decided(market, **options).reason


def test_a_list_is_fetched_from_where_the_operator_says(market, monkeypatch):
    fetched = []

    def fetch(url, file):
        fetched.append(url)
        shutil.copy(status_of(market), file)

    monkeypatch.setattr("policy_engine.data.places.web_files.fetch_web_file", fetch)
    options = {"trust": market / "trust.json", "status": [LIST]}
    assert decided(market, **options).permitted
    withdrawn(market, status_list=status_of(market), statement=market / "statement.json")
    assert "Y015" in decided(market, **options).reason
    assert fetched == [LIST, LIST]
    status_of(market).unlink()
    with pytest.raises(FileNotFoundError):
        decided(market, **options)


def test_the_log_says_since_when(market):
    withdrawn(market)
    decision = decided(market, log=market / "log.jsonl")
    [entry] = last_entries(DecisionLog.open(market / "log.jsonl").path, 1)
    [logged] = entry.decided.withdrawn
    assert (logged.asset, logged.since) == (OUTPUT, decision.withdrawn[0].since.isoformat())


def test_under_a_trust_file_a_list_that_was_not_given_denies(market):
    decision = decided(market, trust=market / "trust.json")
    assert "Y014" in decision.reason
    assert LIST in decision.reason


def test_a_list_of_somebody_else_does_not_count(market):
    own = load_status_list(status_of(market).read_bytes())
    forged = StatusList(LIST, allotted=own.allotted).signed_text(key_of(2))
    (market / "forged.json").write_text(forged)
    for more in ({}, {"trust": market / "trust.json"}):
        decision = decided(market, status=[market / "forged.json"], **more)
        assert "Y014" in decision.reason
    with pytest.raises(SignatureError, match="Y014"):
        decided(market, status=[status_of(market), market / "forged.json"])


def test_what_one_version_of_a_list_says_was_withdrawn_was(market):
    old = market / "old.json"
    shutil.copy(status_of(market), old)
    withdrawn(market, status_list=status_of(market), statement=market / "s.json")
    for order in ([old, status_of(market)], [status_of(market), old]):
        assert not decided(market, status=order).permitted


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"type": 1}'])
def test_a_status_that_cannot_be_read_denies(market, text):
    (market / "status").write_text(text)
    with pytest.raises(SignatureError, match="Y005"):
        decided(market, status=[market / "status"])
    with pytest.raises(PolicyEngineError, match="C002"):
        decided(market, status=[market / "none"])


def test_a_permission_on_the_asset_by_itself_does_not_bring_it_back(market):
    """A policy that only lets it be read, as if nobody had made it."""
    policy = market / "plain.yaml"
    text = f"policy: http://ex.com/plain\ntarget: {OUTPUT}\naction: read\nassignee: {ANALYST}\n"
    policy.write_text(text)
    withdrawn(market)
    assert not decide_request([policy], [market / "release"], REQUEST).permitted


def test_a_statement_is_not_overwritten(market):
    withdrawn(market)
    with pytest.raises(OutputError, match="O001"):
        withdrawn(market)


def test_another_key_does_not_sign_the_list(market):
    before = status_of(market).read_bytes()
    with pytest.raises(SignatureError, match="Y014"):
        withdrawn(market, "key2", status_list=status_of(market))
    assert status_of(market).read_bytes() == before
    assert decided(market).permitted


def test_an_unsigned_release_is_withdrawn_by_a_statement_alone(released):
    key_of(1).write(released / "key")
    path = released / "lists.json"
    path.write_text(StatusList(LIST).signed_text(key_of(1)))
    with pytest.raises(SignatureError, match="Y014"):
        withdraw_release(released / "release", "why", released / "key", status_list=path)
    assert withdraw_release(released / "release", "why", released / "key").asset == OUTPUT
    asked = [released / "policy.jsonld"], [released / "release"], REQUEST
    assert not decide_request(*asked).permitted


def test_a_folder_without_a_certificate_has_nothing_to_withdraw(market):
    with pytest.raises(CertificateError, match="V015"):
        withdraw_release(market / "lists", "why", market / "key1")


def test_a_list_in_the_folder_of_the_release_is_refused(market):
    data = {DATASET: market / "people.csv"}
    options = {"sign": market / "key1", "status_list": market / "again" / "status.json"}
    with pytest.raises(OutputError, match="O001"):
        apply_policy(market / "policy.jsonld", data, market / "again", **options)
    with pytest.raises(ArgumentError, match="U002"):
        apply_policy(market / "policy.jsonld", data, status_list=status_of(market))
    assert not (market / "again").exists()


def test_each_release_has_a_place_of_its_own(market):
    data = {DATASET: market / "people.csv"}
    options = {"sign": market / "key1", "status_list": status_of(market)}
    made = apply_policy(market / "policy.jsonld", data, **options)
    entry = made.certificate.signature.credential.status
    assert entry["statusListIndex"] == "1"
    assert json.loads(status_of(market).read_text())["credentialSubject"]["pe:allotted"] == 2


def test_a_statement_beside_an_output_that_is_a_folder_denies(market):
    (market / "spark").mkdir()
    done = withdrawn(market, statement=market / "spark" / "x.withdrawal")
    (market / "spark" / "people.parquet").mkdir()
    beside = dict(statements_beside(market / "spark" / "people.parquet"))
    assert [*beside] == [str(done.statement)]


def test_a_withdrawn_release_is_not_bundled(market):
    withdrawn(market)
    with pytest.raises(CertificateError, match="Y015"):
        bundle_policies([market / "policy.jsonld"], [market / "release"])


def test_a_query_of_data_beside_a_statement_is_denied(market):
    shutil.copytree(market / "release", market / "copy")
    withdrawn(market)
    assert not queried(market, certificates=[market / "copy"]).decision.permitted


def queried(market, **options):
    """Return the answer to a query of the release, of proofs that are elsewhere or compiled."""
    data, sql = {OUTPUT: market / "release"}, "SELECT COUNT(*) AS n FROM anonPeople"
    return query_data(sql, [market / "policy.jsonld"], ANALYST, data, MARKETING, **options)


def test_a_query_by_what_was_compiled_before_a_statement_lay_beside_the_data_is_denied(market):
    shutil.copytree(market / "release", market / "copy")
    parts = [market / "policy.jsonld"], [market / "copy"]
    deciders = [decider(*parts), decider(*parts, **trusting(market))]
    assert all(queried(market, compiled=one).permitted for one in deciders)
    withdrawn(market)
    for one in deciders:
        for more in ({}, {"certificates": [market / "copy"]}):
            answer = queried(market, compiled=one, **more)
            assert "Y015" in answer.decision.reason


@pytest.mark.parametrize("is_trusting", [False, True])
def test_what_a_list_said_when_proofs_were_read_is_not_forgotten_for_another(market, is_trusting):
    old = market / "old.json"
    shutil.copy(status_of(market), old)
    withdrawn(market, status_list=status_of(market), statement=market / "s.json")
    more = trusting(market) if is_trusting else {"status": [status_of(market)]}
    proofs = decider([market / "policy.jsonld"], [market / "release"], **more).proofs
    assert not queried(market, certificates=proofs).permitted
    assert not queried(market, certificates=proofs, status=[old]).permitted


def test_a_list_that_lies_in_the_folder_is_none_that_somebody_named(market):
    shutil.copy(status_of(market), market / "release" / "old.withdrawal")
    with pytest.raises(SignatureError, match="Y005"):
        decided(market, trust=market / "trust.json")


def test_a_certificate_that_is_signed_again_keeps_its_place(market):
    withdrawn(market, status_list=status_of(market), statement=market / "s.json")
    certify_output(
        market / "release", policy=market / "policy.jsonld", write=True, sign=market / "key1"
    )
    assert "Y015" in decided(market, status=[status_of(market)]).reason


def test_a_list_that_is_not_valid_any_more_says_nothing_to_a_compiled_decider(market):
    until = datetime.now(UTC) + timedelta(hours=1)
    own = load_status_list(status_of(market).read_bytes())
    status_of(market).write_text(own.signed_text(key_of(1), valid_until=until))
    trust, status = market / "trust.json", [status_of(market)]
    parts = [market / "policy.jsonld"], [market / "release"]
    for trusting in (trust, None):
        compiled = decider(*parts, trust=trusting, status=status)
        assert compiled.decide(REQUEST).permitted
        late = compiled.decide(REQUEST, World(time=until))
        assert not late.permitted
        assert "Y014" in late.reason
