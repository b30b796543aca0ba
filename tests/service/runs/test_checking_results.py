"""What a run leaves is signed if it is of the run: its policy, plan, input and output."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from building import DATASET, PEOPLE, anonymize, people_policy, permission, policy
from runs_left import NAME, OLGA, carried_out, rewrite
from signing import key_of

from policy_engine.certificate.certificate import read_certificate
from policy_engine.engines.spark import hashing
from policy_engine.errors import ServiceError
from policy_engine.plan.lineage import Maker, Upstream
from policy_engine.policy import read_policy
from policy_engine.policy.signing import sign_policies
from policy_engine.service.runs.clusters import Cluster
from policy_engine.service.runs.jobs import KeptText
from policy_engine.service.runs.signing_results import sign_results


@pytest.fixture
def expected(tmp_path):
    return carried_out(tmp_path / "run", people_policy())


def signed(expected):
    out = expected.job.folder / "out"
    sign_results(out, [], key_of(1), expected.check, [NAME], expected.evidence)
    return read_certificate((out / "release" / NAME).read_bytes()).signature


def refused(expected, why):
    before = (expected.job.folder / "out" / "release" / NAME).read_bytes()
    with pytest.raises(ServiceError, match=f"N022.*{why}"):
        signed(expected)
    assert (expected.job.folder / "out" / "release" / NAME).read_bytes() == before


def test_the_certificate_of_a_run_is_signed(expected):
    assert signed(expected).credential.proof.key == key_of(1).public


def published_with(expected, signature):
    """Return what is expected of the run if its policy was published with a signature."""
    kept = expected.job.policy.model_copy(update={"signature": signature})
    return replace(expected, job=expected.job.model_copy(update={"policy": kept}))


def test_a_certificate_binds_the_signature_that_its_policy_was_published_with(expected):
    signature = sign_policies([read_policy(people_policy())], key_of(2))
    signed(published_with(expected, signature))
    [place] = (expected.job.folder / "out" / "release").glob("*.jsonld")
    [evidence] = json.loads(place.read_text())["evidence"]
    assert evidence["type"] == "pe:PolicySignature"
    assert evidence["pe:signedBy"] == key_of(2).public.did
    assert evidence["pe:proofValue"] == json.loads(signature)["proof"]["proofValue"]


def test_a_signature_of_another_policy_is_bound_by_no_certificate(expected):
    for text in (people_policy(uid="http://x.org/another"), None):
        signature = text and sign_policies([read_policy(text)], key_of(2))
        assert published_with(expected, signature).evidence == ()


def test_a_certificate_of_another_policy_is_not_signed(expected):
    other = people_policy(uid="http://x.org/another")
    kept = KeptText(name="policy", text=other, issuer=OLGA)
    job = expected.job.model_copy(update={"policy": kept})
    refused(replace(expected, job=job), "version of http://x.org/policy that the run is not about")


def test_a_certificate_with_another_plan_under_the_digest_of_the_policy_is_not_signed(tmp_path):
    """A run that was made with k 2 says that it is of the policy that asks for 3."""
    weak, strict = (
        policy(
            [
                permission(
                    uid="http://x.org/policy/1",
                    action=anonymize(method="k-anonymity", k=k, quasi=["age", "city"]),
                    output="http://x.org/anonPeople",
                )
            ]
        )
        for k in (2, 3)
    )
    made, asked = carried_out(tmp_path / "a", weak), carried_out(tmp_path / "b", strict)
    place = made.job.folder / "out" / "release" / NAME
    digests = [
        read_certificate(
            (one.job.folder / "out" / "release" / NAME).read_bytes()
        ).plan.policy_digest
        for one in (made, asked)
    ]
    place.write_text(place.read_text().replace(*digests))
    refused(replace(made, job=made.job.model_copy(update={"policy": asked.job.policy})), "prove")


def test_a_certificate_of_other_data_is_not_signed(expected, tmp_path):
    (tmp_path / "run" / "data1.csv").write_text(PEOPLE.replace("20,Rome", "22,Rome"))
    refused(expected, f"its input {DATASET} is not the data")
    settings = expected.settings.model_copy(update={"datasets": {"http://x.org/Else": "data1"}})
    refused(replace(expected, settings=settings), "from data that the run was not given")


def test_a_certificate_without_the_record_of_its_input_is_not_signed(expected):
    [record] = (expected.job.folder / "out" / "record").glob("*.json")
    record.rename(record.with_suffix(".aside"))
    refused(expected, "no record")


def test_a_certificate_of_another_output_is_not_signed(expected, tmp_path):
    [output] = (expected.job.folder / "out" / "release").glob("*.csv")
    content = output.read_text()
    output.write_text(PEOPLE)
    refused(expected, "the output beside it is another one")
    output.unlink()
    refused(expected, "not beside it")
    (tmp_path / "elsewhere.csv").write_text(content)
    output.symlink_to(tmp_path / "elsewhere.csv")
    refused(expected, "not beside it")


def on_spark(expected):
    """Return what is expected of the run if the service carries it out on a cluster."""
    cluster = Cluster(master="local[1]", heap=2**30)
    return replace(expected, job=expected.job.model_copy(update={"cluster": cluster}))


def plan_of(expected, **changes):
    place = expected.job.folder / "out" / "release" / NAME
    return read_certificate(place.read_bytes()).plan.model_copy(update=changes)


def test_what_a_run_says_of_its_engine_does_not_choose_what_is_checked(expected, tmp_path):
    (tmp_path / "run" / "data1.csv").write_text(PEOPLE.replace("20,Rome", "22,Rome"))
    rewrite(expected, {"engine": "spark"})
    refused(expected, "its record says that another engine")
    rewrite(expected, {"engine": "local"}, plan=plan_of(expected, engine="spark"))
    refused(expected, "it says that another engine")
    refused(on_spark(expected), "its record says that another engine")


def test_inputs_of_spark_are_checked_unless_they_are_too_large_for_a_task(
    expected, tmp_path, monkeypatch
):
    rewrite(expected, {"engine": "spark"}, plan=plan_of(expected, engine="spark"))
    refused(expected, "another engine")
    (tmp_path / "run" / "data1.csv").write_text(PEOPLE.replace("20,Rome", "22,Rome"))
    refused(on_spark(expected), f"its input {DATASET} is not the data")
    monkeypatch.setattr(hashing, "MOST_HASHED", 3)
    assert signed(on_spark(expected)).credential.proof.key == key_of(1).public


UPSTREAM = Upstream(
    asset=DATASET,
    output_digest="0" * 64,
    certificate_digest="1" * 64,
    policy="http://x.org/p0",
    policy_digest="2" * 64,
    inputs=("http://other.org/Raw",),
)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"upstream": (UPSTREAM,)}, "from releases that the run was not given"),
        ({"made_by": Maker(party="http://x.org/Eve", rules=("r",))}, "somebody else"),
        ({"time": datetime(2020, 1, 1, tzinfo=UTC)}, "at another time"),
        ({"time": datetime.now(UTC) + timedelta(hours=1)}, "at another time"),
    ],
)
def test_what_a_run_makes_up_of_its_making_is_not_signed(expected, changes, why):
    rewrite(expected, **changes)
    refused(expected, why)


def test_what_a_run_signed_itself_is_not_signed(expected):
    place = expected.job.folder / "out" / "release" / NAME
    status = {"type": "BitstringStatusListEntry", "id": "https://x.org/1#1"}
    status |= {"statusPurpose": "revocation", "statusListIndex": "1"}
    status |= {"statusListCredential": "https://x.org/1"}
    own = read_certificate(place.read_bytes()).signed(key_of(7), status=status)
    place.write_text(own.to_jsonld())
    refused(expected, "the run signed it itself")
