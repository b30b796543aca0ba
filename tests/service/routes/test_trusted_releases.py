"""A service with a trust file: what it does not cover permits nothing, and is told so."""

import json
import os
from contextlib import closing

import pytest
from asking_statistics import DAYS, ROWS, UNITS, VISITS, policy_text
from building import ANALYST, DATASET, OUTPUT, people_policy
from followed import until
from served import API, code, service, signed_in
from signing import key_of, trust_text
from test_dataset_routes import uploaded
from test_policy_routes import claimed, made, published
from test_release_routes import PEOPLE, may_read, released
from test_statistics_queries import TABLE, ask

from policy_engine.certificate.certificate import read_certificate
from policy_engine.errors import DataError, PolicyEngineError, TrustError
from policy_engine.policy import read_policy
from policy_engine.policy.signing import sign_policies
from policy_engine.service.runs.keeping import SupervisorKeeper
from policy_engine.service.runs.kinds.settings import RELEASES
from policy_engine.service.runs.limits import RunLimits
from policy_engine.service.runs.preparing import Preparation
from policy_engine.service.runs.queue import RunQueue
from policy_engine.service.runs.supervising import KINDS

POLICY = "http://x.org/policy"
ASKED = {"target": [OUTPUT], "purpose": "marketing"}


def trust_file(path, number=1, policies=(POLICY,)):
    """Write a trust file for the key of a number, and the policies that the service keeps."""
    entry = {"key": key_of(number).public.did, "outputs": ["*"]}
    new = path.with_name("new")
    new.write_text(trust_text(entry, **{"unsigned-policies": [*policies]}))
    os.replace(new, path)  # noqa: PTH105 (as an operator does: another file, of one moment)
    return path


@pytest.fixture
def market(tmp_path):
    trust = trust_file(tmp_path / "trust.json")
    with service(tmp_path / "kept", trust=trust) as services:
        owner = signed_in(services, "owner", "steward", name="Owner")
        analyst = signed_in(services, "consumer", party=ANALYST)
        published(owner, people_policy())
        yield services, owner, analyst, trust


def signed(services, number=1, run="run1"):
    [place] = (services.settings.folder / RELEASES / run / "release").glob("*.jsonld")
    certificate = read_certificate(place.read_bytes()).signed(key_of(number))
    place.chmod(0o600)
    place.write_text(certificate.to_jsonld())


def test_a_release_is_read_if_a_key_signed_it_that_may(market, tmp_path):
    services, owner, analyst, _ = market
    released(services, owner, tmp_path)
    answer = analyst.post(f"{API}/decisions", json=ASKED).json()
    assert (answer["effect"], answer["signatures"]) == ("deny", "trusted")
    assert "Y009" in answer["reason"]


def test_a_signed_release_is_decided_on_and_queried_until_the_file_says_otherwise(market, tmp_path):
    services, owner, analyst, trust = market
    released(services, owner, tmp_path)
    signed(services)
    answer = analyst.post(f"{API}/decisions", json=ASKED).json()
    assert (answer["effect"], answer["signatures"], answer["notes"]) == ("permit", "trusted", [])
    body = {"sql": f'SELECT city FROM "{OUTPUT}"', "purpose": "marketing"}
    assert len(analyst.post(f"{API}/queries", json=body).json()["rows"]) == 8
    trust_file(trust, number=2)
    assert not may_read(analyst)
    assert not analyst.post(f"{API}/queries", json=body).json().get("rows")
    trust_file(trust)
    assert may_read(analyst)


@pytest.mark.nightly
def test_statistics_with_noise_are_answered_under_policies_that_the_file_covers_alone(tmp_path):
    text = policy_text(UNITS, ROWS, DAYS, rule={"assignee": ["http://e.org/lab"]})
    trust = trust_file(tmp_path / "trust.json", policies=[read_policy(text).uid])
    with service(tmp_path / "kept", trust=trust) as services:
        owner = signed_in(services, "owner", name="Olga")
        published(owner, text)
        uploaded(owner, TABLE.encode(), "visits.csv", VISITS)
        lab = signed_in(services, "consumer", name="Laboratory", party="http://e.org/lab")
        assert ask(lab)["permitted"]
        trust_file(trust, policies=())
        denied = ask(lab, "SELECT COUNT(*) AS m FROM Visits")
        assert not denied.get("permitted")
        assert not denied.get("rows")
        assert len(lab.get(f"{API}/me/budgets").json()["items"]) == 1


def test_a_release_whose_key_is_revoked_is_not_verified_to_hold(market, tmp_path):
    """What its certificate says may be true: nobody vouches for it any more."""
    services, owner, _, trust = market
    released(services, owner, tmp_path)
    [release] = owner.get(f"{API}/releases").json()["items"]
    address = f"{API}/releases/{release['id']}:verify"

    def codes():
        verdict = owner.post(address).json()
        return verdict["holds"], [one["code"] for one in verdict["problems"]]

    assert codes() == (False, ["Y009"])
    signed(services)
    assert codes() == (True, [])
    trust_file(trust, number=2)
    assert codes() == (False, ["Y009"])
    revoked = [{"key": key_of(1).public.did, "since": "2020-01-01T00:00:00Z"}]
    trust.write_text(trust_text(revoked=revoked))
    assert codes() == (False, ["Y010"])
    trust.write_text("{")
    assert codes() == (False, ["Y008"])


def test_a_trust_file_that_cannot_be_read_any_more_denies_everything_with_the_reason(
    market, tmp_path
):
    services, owner, analyst, trust = market
    released(services, owner, tmp_path)
    signed(services)
    assert may_read(analyst)
    for break_it in (lambda: trust.write_text("{"), trust.unlink):
        break_it()
        answer = analyst.post(f"{API}/decisions", json=ASKED).json()
        assert answer["effect"] == "deny"
        assert "The trust file cannot be read" in answer["reason"]
    trust_file(trust)
    assert may_read(analyst)


def test_a_policy_that_the_file_does_not_cover_is_not_published(market):
    _, owner, _, trust = market
    other = people_policy(uid="http://x.org/other").replace(OUTPUT, f"{OUTPUT}2")
    address, tag = made(owner, other, "other")
    answer = owner.post(f"{address}:publish", headers={"If-Match": tag})
    assert code(answer)[1] == "Y009", answer.text
    trust_file(trust, policies=["http://x.org/*"])
    assert owner.post(f"{address}:publish", headers={"If-Match": tag}).status_code == 200


def test_a_policy_that_is_not_covered_any_more_denies_everything(market, tmp_path):
    services, owner, analyst, trust = market
    released(services, owner, tmp_path)
    signed(services)
    trust_file(trust, policies=())
    answer = analyst.post(f"{API}/decisions", json=ASKED).json()
    assert answer["effect"] == "deny"
    assert "The policy http://x.org/policy is not signed" in answer["reason"]


def signature_of(text, number=1):
    return sign_policies([read_policy(text)], key_of(number))


@pytest.fixture
def signing_market(tmp_path):
    """A service whose trust file has a key for policies and outputs, and no unsigned policy."""
    trust = tmp_path / "trust.json"
    trust.write_text(trust_text())
    with service(tmp_path / "kept", trust=trust) as services:
        owner = signed_in(services, "owner", "steward", name="Owner")
        analyst = signed_in(services, "consumer", party=ANALYST)
        claimed(owner, people_policy())
        yield services, owner, analyst, trust


def posted(owner, signature, text=None):
    """Return the address of a policy that is sent with a signature, and what publishing it says."""
    asked = {"name": "people", "text": text or people_policy(), "signature": signature}
    made = owner.post(f"{API}/policies", json=asked)
    address = made.headers["location"]
    tag = {"If-Match": made.headers["etag"]}
    return address, owner.post(f"{address}:publish", headers=tag)


def test_a_policy_is_published_with_its_signature_and_decides_by_it(signing_market, tmp_path):
    services, owner, analyst, trust = signing_market
    signature = signature_of(people_policy())
    address, answer = posted(owner, signature)
    assert (answer.status_code, answer.json()["signature"]) == (200, signature)
    assert owner.get(f"{address}/versions/1").json()["signature"] == signature
    released(services, owner, tmp_path)
    signed(services)
    answer = analyst.post(f"{API}/decisions", json=ASKED).json()
    assert (answer["effect"], answer["signatures"]) == ("permit", "trusted")
    revoked = [{"key": key_of(1).public.did, "since": "2020-01-01T00:00:00Z"}]
    trust.write_text(trust_text(revoked=revoked))
    answer = analyst.post(f"{API}/decisions", json=ASKED).json()
    assert answer["effect"] == "deny"
    assert "Y010" in answer["reason"]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("signature", "expected"),
    [
        (None, "Y009"),
        (signature_of(people_policy(), 2), "Y009"),
        (signature_of(people_policy(uid="http://x.org/other")), "Y011"),
        (signature_of(people_policy()).replace(POLICY, f"{POLICY}2"), "Y006"),
        ("{}", "Y005"),
    ],
    ids=["nobody", "stranger", "another policy", "changed", "nothing"],
)
def test_a_policy_whose_signature_does_not_count_is_not_published(
    signing_market, signature, expected
):
    _, owner, *_ = signing_market
    _, answer = posted(owner, signature)
    assert code(answer)[1] == expected, answer.text


def test_a_new_text_of_a_draft_needs_a_signature_of_its_own(signing_market):
    _, owner, *_ = signing_market
    address, answer = posted(owner, signature_of(people_policy()))
    text = people_policy().replace("marketing", "statistical")
    made = owner.put(
        f"{address}/draft", json={"text": text}, headers={"If-Match": answer.headers["etag"]}
    )
    assert made.json()["signature"] is None
    tag = {"If-Match": made.headers["etag"]}
    assert code(owner.post(f"{address}:publish", headers=tag))[1] == "Y009"
    signature = signature_of(text)
    made = owner.put(f"{address}/draft", json={"text": text, "signature": signature}, headers=tag)
    tag = {"If-Match": made.headers["etag"]}
    assert owner.post(f"{address}:publish", headers=tag).json()["signature"] == signature


def test_without_a_trust_file_a_signature_is_kept_if_it_is_of_the_text(tmp_path):
    with service(tmp_path) as services:
        owner = signed_in(services, "owner", "steward", name="Owner")
        claimed(owner, people_policy())
        _, answer = posted(owner, signature_of(people_policy(uid="http://x.org/other")))
        assert code(answer)[1] == "Y011"
        _, answer = posted(owner, signature_of(people_policy()))
        assert answer.json()["state"] == "published"


def test_a_trust_file_with_a_mistake_stops_the_start(tmp_path):
    (tmp_path / "trust.json").write_text(json.dumps({"trust": 1, "keys": [], "kyes": []}))
    for path, error, expected in (
        ("trust.json", TrustError, "Y008"),
        ("absent.json", DataError, "C003"),
    ):
        with pytest.raises(error) as refused, service(tmp_path / "kept", trust=tmp_path / path):
            pass
        assert refused.value.code == expected


@pytest.mark.nightly
def test_what_a_run_releases_is_signed_by_the_supervisor_and_read_under_the_trust_file(tmp_path):
    """A whole run, in processes of their own, of a policy that was signed, too."""
    trust = tmp_path / "trust.json"
    trust.write_text(trust_text())
    key_of(1).write(tmp_path / "key")
    with service(tmp_path / "kept", trust=trust, sign=str(tmp_path / "key")) as services:
        owner = signed_in(services, "owner", "steward", name="Owner")
        analyst = signed_in(services, "consumer", party=ANALYST)
        claimed(owner, people_policy())
        posted(owner, signature_of(people_policy()))
        data = uploaded(owner, PEOPLE.encode(), "people.csv", DATASET).json()["id"]
        [policy] = owner.get(f"{API}/policies").json()["items"]
        asked = {"kind": "sanitise", "policy": policy["id"], "datasets": {DATASET: data}}
        address = owner.post(f"{API}/runs", json=asked).headers["location"]
        with closing(SupervisorKeeper(services.settings)) as keeper:
            keeper.start()
            run = until(lambda: ended_run(owner, address), 600)
        assert run["state"] == "succeeded", run
        assert may_read(analyst)
        [release] = analyst.get(f"{API}/releases").json()["items"]
        verdict = owner.post(f"{API}/releases/{release['id']}:verify").json()
        assert verdict["holds"], verdict
        [place] = (services.settings.folder / RELEASES).glob("*/release/*.jsonld")
        [evidence] = json.loads(place.read_text())["evidence"]
        assert evidence["pe:signedBy"] == key_of(1).public.did


def test_a_run_is_given_the_trust_file_and_the_signature_of_its_policy(signing_market):
    services, owner, _, trust = signing_market
    signature = signature_of(people_policy())
    posted(owner, signature)
    data = uploaded(owner, PEOPLE.encode(), "people.csv", DATASET).json()["id"]
    [policy] = owner.get(f"{API}/policies").json()["items"]
    asked = {"kind": "sanitise", "policy": policy["id"], "datasets": {DATASET: data}}
    owner.post(f"{API}/runs", json=asked)
    holding = RunQueue(services.database, "here.1").claim()
    limits = RunLimits(memory=2**30, file=2**30, seconds=9)
    folders, path_of = services.runs.folders, services.datasets.path
    preparation = Preparation(
        services.database, folders, path_of, limits, KINDS, trust=services.settings.trust
    )
    job = preparation.job(holding)
    assert (job.trust, job.policy.signature) == (trust.read_text(), signature)
    for content, wrong in (("{", "Y008"), (None, "C003")):
        trust.unlink() if content is None else trust.write_text(content)
        with pytest.raises(PolicyEngineError, match=wrong) as refused:
            preparation.job(holding)
        assert str(trust.parent) not in str(refused.value)


def ended_run(client, address):
    run = client.get(address).json()
    return run if run["state"] not in ("queued", "running") else None
