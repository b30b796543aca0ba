"""Runs carry out the policies that the trust file of the service covers, and no others."""

from dataclasses import replace

import pytest
from building import DATASET, OUTPUT, PEOPLE, people_policy
from signing import key_of, trust_text

from policy_engine.errors import CertificateError
from policy_engine.policy import read_policy
from policy_engine.policy.signing import sign_policies
from policy_engine.service.runs.jobs import KeptText, RunInputs
from policy_engine.service.runs.kinds import KINDS

OLGA = "http://example.com/olga"
OTHER = people_policy(uid="http://x.org/other").replace(OUTPUT, f"{OUTPUT}2")
SIGNER = key_of(1).public.did


def kept(text, key=1, of=None):
    """Return a policy as it is kept, with the signature of a policy by the key of a number."""
    signature = sign_policies([read_policy(of or text)], key_of(key)) if key else None
    return KeptText(name="policy", text=text, issuer=OLGA, signature=signature)


@pytest.fixture
def given(tmp_path):
    (tmp_path / "data1.csv").write_text(PEOPLE)
    folders = {name: tmp_path / name for name in ("out", "kept", "scratch", "attempts")}
    for one in folders.values():
        one.mkdir()
    files = {"data1": tmp_path / "data1.csv"}
    policy, trust = kept(people_policy()), trust_text()
    return RunInputs(files=files, policy=policy, owners={DATASET: OLGA}, trust=trust, **folders)


def carry_out(given, kind="sanitise", **changes):
    settings = KINDS[kind](policy="p1", datasets={DATASET: "data1"})
    return settings.carry_out(replace(given, **changes))


def test_policies_are_carried_out_by_the_signatures_that_they_were_published_with(given):
    summary = carry_out(given, others=(kept(OTHER),))
    assert summary["outputs"][0]["rows"] == 6


@pytest.mark.parametrize(
    ("policy", "code"),
    [
        (kept(people_policy(), key=None), "Y009"),
        (kept(people_policy(), key=2), "Y009"),
        (kept(people_policy(), of=OTHER), "Y009"),
        (kept(people_policy(), of=people_policy().replace("marketing", "statistical")), "Y011"),
    ],
    ids=["nobody", "stranger", "another policy", "another text"],
)
def test_a_policy_that_nobody_who_may_has_signed_is_not_carried_out(given, policy, code):
    with pytest.raises(CertificateError, match=code):
        carry_out(given, policy=policy)
    assert [*(given.out / "release").iterdir()] == []


def test_what_another_policy_prohibits_may_have_been_changed_where_it_is_not_covered(given):
    with pytest.raises(CertificateError, match=r"Y009.*http://x\.org/other"):
        carry_out(given, others=(kept(OTHER, key=None),))


def test_policies_that_the_file_takes_unsigned_are_carried_out(given):
    trust = trust_text({"key": SIGNER, "outputs": ["*"]}, **{"unsigned-policies": ["http://x.*"]})
    policy = kept(people_policy(), key=None)
    assert carry_out(given, policy=policy, trust=trust)["outputs"][0]["rows"] == 6


@pytest.mark.parametrize("kind", ["sanitise", "explore"])
def test_data_under_the_name_of_a_release_are_not_taken_for_data_without_a_history(given, kind):
    trust = trust_text({"key": SIGNER, "policies": ["*"], "outputs": [DATASET]})
    with pytest.raises(CertificateError, match="V013"):
        carry_out(given, kind, trust=trust)


def test_settings_are_not_tried_of_a_policy_that_is_not_covered(given):
    with pytest.raises(CertificateError, match="Y009"):
        carry_out(given, "explore", policy=kept(people_policy(), key=2))


def test_a_policy_of_a_revoked_key_is_not_carried_out(given):
    trust = trust_text(revoked=[{"key": SIGNER, "since": "2026-01-01T00:00:00Z"}])
    with pytest.raises(CertificateError, match="Y010"):
        carry_out(given, trust=trust)
