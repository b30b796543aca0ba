"""Forgeries that whoever can write a folder could make: a trust file denies each of them."""

import hashlib
import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from building import ANALYST, DATASET, OUTPUT, PEOPLE, people_policy
from signing import key_of, trust_text

from policy_engine import (
    World,
    apply_policy,
    bundle_policies,
    decide_request,
    decider,
    query_data,
    read_request,
)
from policy_engine.api.signing import sign_policy_files
from policy_engine.certificate.beside import load_certificate
from policy_engine.errors import ArgumentError, CertificateError, TrustError
from policy_engine.policy import Hierarchy, load_policy
from policy_engine.policy.signing import sign_policies, signature_path
from policy_engine.trust.trust_file import read_trust

MARKETING = "https://www.mosaicrown.eu/ns/mosaicrown/1/marketing"
RAW = PEOPLE.replace("name,", "who,")


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """A folder with data, a signed policy, a signed release of it, and a trust file."""
    folder = tmp_path_factory.mktemp("signed")
    (folder / "people.csv").write_text(PEOPLE)
    (folder / "policy.jsonld").write_text(people_policy())
    key_of(1).write(folder / "key")
    data = {DATASET: folder / "people.csv"}
    sign_policy_files([folder / "policy.jsonld"], folder / "key")
    apply_policy(folder / "policy.jsonld", data, folder / "release", sign=folder / "key")
    (folder / "trust.json").write_text(trust_text())
    return folder


@pytest.fixture
def market(original, tmp_path):
    shutil.copytree(original, tmp_path / "market")
    return tmp_path / "market"


def decision(market, certificate="release", trust="trust.json", **options):
    request = read_request(ANALYST, "read", [OUTPUT], MARKETING)
    proofs = [market / certificate] if isinstance(certificate, str) else [certificate]
    trusted = market / trust if isinstance(trust, str) else trust
    return decide_request([market / "policy.jsonld"], proofs, request, trust=trusted, **options)


def denial(*parts, **options):
    made = decision(*parts, **options)
    assert not made.permitted
    assert made.signatures == "trusted"
    return made.reason


def certificate_file(market):
    return market / "release" / "certificate.jsonld"


def output_file(market):
    return next(path for path in (market / "release").iterdir() if path.suffix == ".csv")


def rewrite(market, **changes):
    """Write a certificate with other facts, which agrees with itself but for the proof."""
    document = json.loads(certificate_file(market).read_text())
    subject = document["credentialSubject"]
    subject["pe:certificate"] |= changes
    if "output_digest" in changes:
        subject["pe:sha256"] = changes["output_digest"]
    certificate_file(market).write_text(json.dumps(document))
    return document


def strip(document):
    """Return a certificate as if nobody had signed it."""
    return {"@context": document["@context"][1], **document["credentialSubject"]}


def test_what_is_signed_by_who_may_is_permitted(market):
    made = decision(market)
    assert made.permitted
    assert (made.signatures, made.notes) == ("trusted", ())
    assert decision(market, "release/certificate.jsonld").permitted
    assert decision(market, f"release/{output_file(market).name}").permitted


def test_a_certificate_binds_the_signature_of_its_policy(market):
    certificate = load_certificate(market / "release")
    [evidence] = certificate.signature.credential.evidence
    proof = json.loads((market / "policy.jsonld.signature").read_text())["proof"]
    assert evidence == {
        "type": "pe:PolicySignature",
        "id": "http://x.org/policy",
        "pe:policyDigest": certificate.plan.policy_digest,
        "pe:signedBy": key_of(1).public.did,
        "pe:proofValue": proof["proofValue"],
    }


def test_without_a_trust_file_the_answer_is_unsigned(market):
    made = decision(market, trust=None)
    assert made.permitted
    assert made.signatures == "unsigned"


def test_raw_data_under_recomputed_digests(market):
    """What passes where nobody looks at signatures."""
    output_file(market).write_text(RAW)
    digest = hashlib.sha256(RAW.encode()).hexdigest()
    document = rewrite(market, output_digest=digest)
    assert "Y006" in denial(market)
    certificate_file(market).write_text(json.dumps(strip(document)))
    assert decision(market, trust=None).permitted
    assert "Y009" in denial(market)


def test_raw_data_beside_the_certificate_as_it_was_signed(market):
    output_file(market).write_text(RAW)
    assert "V004" in denial(market)


@pytest.mark.parametrize("name", ["other.csv", ""])
def test_a_certificate_that_names_another_file(market, name):
    document = rewrite(market, file=name)
    output_file(market).rename(market / "release" / "raw.csv")
    assert "Y006" in denial(market)
    certificate_file(market).write_text(json.dumps(strip(document)))
    assert "Y009" in denial(market)


def test_a_certificate_whose_table_is_deleted(market):
    output_file(market).unlink()
    assert decision(market, trust=None).permitted
    assert "Y012" in denial(market)
    assert "Y012" in denial(market, "release/certificate.jsonld")


@pytest.mark.parametrize("names", [["rows_out"], ["rows_in", "rows_out"]])
@pytest.mark.parametrize("rows", [None, 0, 1_000_000])
def test_a_certificate_with_other_numbers_of_rows(market, rows, names):
    document = rewrite(market, **dict.fromkeys(names, rows))
    denial(market)
    certificate_file(market).write_text(json.dumps(strip(document)))
    denial(market)


def test_a_certificate_that_is_copied_elsewhere(market):
    for other in ("empty", "raw"):
        (market / other).mkdir()
        shutil.copy(certificate_file(market), market / other)
    (market / "raw" / output_file(market).name).write_text(RAW)
    assert "Y012" in denial(market, "empty")
    assert "V004" in denial(market, "raw")


def test_a_certificate_without_its_proof(market):
    document = json.loads(certificate_file(market).read_text())
    certificate_file(market).write_text(json.dumps(strip(document)))
    assert decision(market, trust=None).permitted
    assert "Y009" in denial(market)


def test_a_certificate_by_somebody_else(market):
    certificate = load_certificate(market / "release").unsigned().signed(key_of(2))
    certificate_file(market).write_text(certificate.to_jsonld())
    assert decision(market, trust=None).permitted
    assert "Y009" in denial(market)


def test_a_certificate_of_a_key_that_signs_others(market):
    trust = read_trust(
        trust_text({"key": key_of(1).public.did, "policies": ["*"], "outputs": ["http://y.org/*"]})
    )
    assert "may not sign certificates" in denial(market, trust=trust)


def test_a_certificate_of_a_revoked_key(market):
    revoked = [{"key": key_of(1).public.did, "since": "2020-01-01T00:00:00Z"}]
    assert "Y010" in denial(market, trust=read_trust(trust_text(revoked=revoked)))


def test_a_certificate_that_is_not_valid_any_more(market):
    plain = load_certificate(market / "release").unsigned()
    ended = plain.signed(key_of(1), valid_until=plain.time - timedelta(seconds=1))
    certificate_file(market).write_text(ended.to_jsonld())
    assert "Y007" in denial(market)
    strange = plain.signed(key_of(9), valid_until=plain.time - timedelta(seconds=1))
    certificate_file(market).write_text(strange.to_jsonld())
    assert "Y009" in denial(market), "who signed it is first"


def test_a_policy_that_nobody_signed(market):
    signature_path(market / "policy.jsonld").unlink()
    assert "Y009" in denial(market)
    kept = read_trust(
        trust_text(
            {"key": key_of(1).public.did, "outputs": ["*"]},
            **{"unsigned-policies": ["http://x.org/policy"]},
        )
    )
    assert decision(market, trust=kept).permitted, "who decides says that it is theirs"


def test_a_policy_that_was_changed_after_it_was_signed(market):
    text = (market / "policy.jsonld").read_text()
    (market / "policy.jsonld").write_text(text.replace('"marketing"', '"http://x.org/any"'))
    assert "Y011" in denial(market)


def test_a_policy_by_somebody_else(market):
    key_of(2).write(market / "other")
    sign_policy_files([market / "policy.jsonld"], market / "other", overwrite=True)
    assert "Y009" in denial(market)


def test_a_signature_of_a_policy_that_is_damaged(market):
    place = signature_path(market / "policy.jsonld")
    place.write_text(place.read_text()[:-40])
    assert "Y005" in denial(market)


def test_one_policy_that_nobody_signed_denies_all(market):
    """Its prohibitions may have been others when it was written."""
    (market / "more.jsonld").write_text(
        people_policy(uid="http://x.org/more").replace(OUTPUT, f"{OUTPUT}2")
    )
    request = read_request(ANALYST, "read", [OUTPUT], MARKETING)
    policies = [market / "policy.jsonld", market / "more.jsonld"]
    made = decide_request(policies, [market / "release"], request, trust=market / "trust.json")
    assert not made.permitted
    assert "http://x.org/more is not signed" in made.reason


def test_a_trust_file_with_a_mistake_is_an_error(market):
    (market / "trust.json").write_text(trust_text(revokd=[]))
    with pytest.raises(TrustError):
        decision(market)


def test_a_certificate_that_is_given_as_a_value_was_not_seen_beside_its_output(market):
    made = decision(market, load_certificate(market / "release"))
    assert made.permitted
    assert made.notes == (f"{OUTPUT} was not seen: only its certificate was.",)


def test_a_bundle_keeps_the_signatures(market):
    bundle = bundle_policies([market / "policy.jsonld"], [market / "release"])
    request = read_request(ANALYST, "read", [OUTPUT], MARKETING)
    signed = decider(bundle, trust=market / "trust.json").decide(request)
    assert (signed.permitted, signed.signatures) == (True, "trusted")
    assert "was not seen" in signed.notes[0]
    assert decider(bundle).decide(request).signatures == "unsigned"
    other = read_trust(trust_text({"key": key_of(2).public.did, "outputs": ["*"]}))
    assert not decider(bundle, trust=other).decide(request).permitted


def test_the_policies_of_a_folder_are_signed_one_by_one(market, tmp_path):
    (tmp_path / "policies").mkdir()
    for name in ("policy.jsonld", "policy.jsonld.signature"):
        shutil.copy(market / name, tmp_path / "policies")
    assert load_policy(tmp_path / "policies" / "policy.jsonld")
    request = read_request(ANALYST, "read", [OUTPUT], MARKETING)
    policies, trust = [tmp_path / "policies"], market / "trust.json"
    assert decide_request(policies, [market / "release"], request, trust=trust).permitted
    bundle = bundle_policies(policies, [market / "release"])
    assert decider(bundle, trust=trust).decide(request).permitted
    assert Path(tmp_path / "policies" / "policy.jsonld.signature").is_file()


def policy_with(folder, **more):
    """Change the policy of a folder by more members, as whoever writes the folder could."""
    document = json.loads((folder / "policy.jsonld").read_text())
    changed = document | more
    (folder / "policy.jsonld").write_text(json.dumps(changed))


def test_a_policy_that_is_gone_from_a_file_that_was_signed_with_it_is_noted(market):
    policies = market / "policies.jsonld"
    first = json.loads((market / "policy.jsonld").read_text())
    context = first.pop("@context")
    rule = {"assignee": ANALYST, "target": OUTPUT, "action": "read"}
    other = {"@type": "Set", "uid": "http://x.org/other", "prohibition": [rule]}
    policies.write_text(json.dumps({"@context": context, "@graph": [first, other]}))
    sign_policy_files([policies], market / "key")
    request = read_request(ANALYST, "read", [OUTPUT], MARKETING)
    places, trust = ([policies], [market / "release"], request), market / "trust.json"
    assert decide_request(*places, trust=trust).notes == ()
    policies.write_text(json.dumps({"@context": context, "@graph": [first]}))
    [note] = decide_request(*places, trust=trust).notes
    said = "The signature beside 'policies.jsonld' is also of 'http://x.org/other': not given."
    assert note == said


def test_a_policy_that_is_said_to_be_replaced_is_another_one(market):
    """Its prohibitions would be gone with it."""
    policy_with(market, **{"dct:isReplacedBy": "urn:nothing"})
    other = "policy: http://ex.com/plain\ntarget: {}\naction: read\nassignee: {}\n"
    (market / "plain.yaml").write_text(other.format(OUTPUT, ANALYST))
    sign_policy_files([market / "plain.yaml"], market / "key")
    trust = json.loads(trust_text())
    trust["keys"][0]["policies"] = ["*"]
    (market / "trust.json").write_text(json.dumps(trust))
    request = read_request(ANALYST, "read", [OUTPUT], MARKETING)
    policies = [market / "policy.jsonld", market / "plain.yaml"]
    made = decide_request(policies, [], request, trust=market / "trust.json")
    assert not made.permitted
    assert "Y011" in made.reason


def test_a_redated_policy_is_another_one(market):
    policy_with(market, **{"dct:modified": "2030-01-01"})
    assert "Y011" in denial(market)


def test_a_good_certificate_elsewhere_does_not_vouch_for_another_output(market):
    shutil.copytree(market / "release", market / "copy")
    (market / "release" / "anonPeople.csv").write_text(RAW)
    request = read_request(ANALYST, "read", [OUTPUT], MARKETING)
    proofs = [market / "release", market / "copy"]
    options = {"trust": market / "trust.json"}
    made = decide_request([market / "policy.jsonld"], proofs, request, **options)
    assert not made.permitted
    unsigned = load_certificate(market / "copy").unsigned()
    both = decide_request(
        [market / "policy.jsonld"], [unsigned, market / "copy"], request, **options
    )
    assert "Y009" in both.reason


def test_a_refused_certificate_still_says_that_an_output_was_made(market):
    """It denied what was made under a policy that is not in force; a trust must not permit that."""
    other = "policy: http://ex.com/plain\ntarget: {}\naction: read\nassignee: {}\n"
    (market / "plain.yaml").write_text(other.format(OUTPUT, ANALYST))
    sign_policy_files([market / "plain.yaml"], market / "key")
    trust = json.loads(trust_text())
    trust["keys"][0]["policies"] = ["*"]
    (market / "trust.json").write_text(json.dumps(trust))
    request = read_request(ANALYST, "read", [OUTPUT], MARKETING)
    unsigned = load_certificate(market / "release").unsigned()
    for trusting in (None, market / "trust.json"):
        made = decide_request([market / "plain.yaml"], [unsigned], request, trust=trusting)
        assert not made.permitted


def test_a_compiled_decider_keeps_its_trust(market):
    compiled = decider([market / "policy.jsonld"], [market / "release"])
    with pytest.raises(ArgumentError, match="U002"):
        query_data(
            "SELECT 1 FROM anonPeople",
            [market / "policy.jsonld"],
            ANALYST,
            {OUTPUT: market / "release"},
            compiled=compiled,
            trust=market / "trust.json",
        )


def effects(compiled, *moments):
    request = read_request(ANALYST, "read", [OUTPUT], MARKETING)
    return [compiled.decide(request, World(time=one)).effect for one in moments]


def test_a_compiled_decider_answers_by_what_is_valid_at_the_moment_of_the_request(market):
    plain = load_certificate(market / "release").unsigned()
    now = datetime.now(UTC)
    ending = plain.signed(key_of(1), valid_until=now + timedelta(days=1))
    certificate_file(market).write_text(ending.to_jsonld())
    parts = ([market / "policy.jsonld"], [market / "release"])
    compiled = decider(*parts, trust=market / "trust.json")
    moments = [now, now + timedelta(days=2), now, now - timedelta(days=2)]
    assert effects(compiled, *moments) == ["permit", "deny", "permit", "deny"]
    one = compiled.as_of(World(time=now + timedelta(days=2)))
    assert one is compiled.as_of(World(time=now + timedelta(days=3)))
    assert compiled.as_of(World(time=now)) is compiled


def test_a_policy_that_is_signed_for_a_time_is_refused_by_a_compiled_decider_afterwards(market):
    now = datetime.now(UTC)
    text = sign_policies(
        [load_policy(market / "policy.jsonld")],
        key_of(1),
        time=now - timedelta(days=1),
        valid_until=now + timedelta(days=1),
    )
    signature_path(market / "policy.jsonld").write_text(text)
    parts = ([market / "policy.jsonld"], [market / "release"])
    compiled = decider(*parts, trust=market / "trust.json")
    assert effects(compiled, now, now + timedelta(days=2)) == ["permit", "deny"]
    made = compiled.decide(
        read_request(ANALYST, "read", [OUTPUT], MARKETING), World(time=now + timedelta(days=2))
    )
    assert "Y007" in made.reason


def test_a_revocation_to_come_counts_from_its_moment_on_in_a_compiled_decider(market):
    since = datetime.now(UTC) + timedelta(days=1)
    revoked = [{"key": key_of(1).public.did, "since": since.isoformat()}]
    trust = read_trust(trust_text(revoked=revoked))
    compiled = decider([market / "policy.jsonld"], [market / "release"], trust=trust)
    moments = [since - timedelta(seconds=1), since, since - timedelta(seconds=1)]
    assert effects(compiled, *moments) == ["permit", "deny", "permit"]


def test_what_a_compiled_decider_was_made_at_does_not_outlive_its_moment(market):
    """Made in the past, for instance to look at it, and asked now."""
    plain = load_certificate(market / "release").unsigned()
    ended = plain.signed(key_of(1), valid_until=datetime.now(UTC) - timedelta(seconds=1))
    certificate_file(market).write_text(ended.to_jsonld())
    past = datetime.now(UTC) - timedelta(seconds=2)
    parts = ([market / "policy.jsonld"], [market / "release"])
    compiled = decider(*parts, trust=market / "trust.json", time=past)
    made = compiled.decide(read_request(ANALYST, "read", [OUTPUT], MARKETING))
    assert not made.permitted
    assert "Y007" in made.reason


def test_a_decision_says_what_it_believes_that_nobody_signs(market):
    made = decision(
        market, world=World(memberships=Hierarchy(party=((ANALYST, "http://x.org/all"),)))
    )
    assert made.notes == ("Believed as given, for nobody signs it: the state of the world.",)
    made = decision(
        market,
        hierarchy=Hierarchy(party=((ANALYST, "http://x.org/all"),)),
        owners={DATASET: "http://x.org/owner"},
    )
    assert made.notes == ("Believed as given, for nobody signs it: hierarchies, owners.",)
    assert decision(market, world=World(time=datetime.now(UTC))).notes == ()
    assert (
        decision(
            market, trust=None, hierarchy=Hierarchy(party=((ANALYST, "http://x.org/all"),))
        ).notes
        == ()
    )


def test_a_query_by_a_decider_from_before_a_certificate_began_reads_what_was_certified_alone(
    market,
):
    """It was refused when the decider was made, and so nothing had to be compared with it."""
    policies, release = [market / "policy.jsonld"], market / "release"
    begin = load_certificate(release).signature.credential.valid_from
    compiled = decider(policies, [release], trust=market / "trust.json", time=begin - timedelta(1))
    assert compiled.as_of().decide(read_request(ANALYST, "read", [OUTPUT], MARKETING)).permitted

    def asked(data):
        return query_data(
            "SELECT * FROM anonPeople",
            policies,
            ANALYST,
            {OUTPUT: data},
            MARKETING,
            compiled=compiled,
        )

    assert asked(output_file(market)).permitted
    (market / "raw.csv").write_text(output_file(market).read_text().replace("flu", "cold"))
    with pytest.raises(CertificateError, match="V004"):
        asked(market / "raw.csv")
