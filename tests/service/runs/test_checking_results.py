"""What a run leaves is signed if it is of the run: its policy, plan, input and output."""

from dataclasses import replace

import pytest
from building import DATASET, PEOPLE, anonymize, people_policy, permission, policy
from signing import key_of

from policy_engine.certificate.certificate import read_certificate
from policy_engine.errors import ServiceError
from policy_engine.service.runs.checking_results import ExpectedResult
from policy_engine.service.runs.jobs import Job, KeptText, RunInputs
from policy_engine.service.runs.kinds.sanitising import Sanitising
from policy_engine.service.runs.limits import RunLimits
from policy_engine.service.runs.signing_results import sign_results

OLGA = "http://example.com/olga"
SETTINGS = Sanitising(policy="p1", datasets={DATASET: "data1"})
NAME = "certificate.jsonld"


def carried_out(folder, text, rows=PEOPLE, settings=SETTINGS):
    """Return what is expected of a run, once it was carried out in a folder."""
    names = ("out", "kept", "scratch", "attempts")
    folders = {name: folder / name for name in names}
    for one in folders.values():
        one.mkdir(parents=True)
    (folder / "data1.csv").write_text(rows)
    kept = KeptText(name="policy", text=text, issuer=OLGA)
    given = {"files": {"data1": folder / "data1.csv"}, "policy": kept, "owners": {DATASET: OLGA}}
    settings.carry_out(RunInputs(**given, **folders))
    limits = RunLimits(memory=0, file=0, seconds=0)
    places = {"folder": folder, "kept": folder, "attempts": folder, "code": folder}
    about = {"kinds": "", "kind": "sanitise", "settings": {}, "limits": limits, "parent": 0}
    return ExpectedResult(Job(**given, **places, **about), settings)


@pytest.fixture
def expected(tmp_path):
    return carried_out(tmp_path / "run", people_policy())


def signed(expected):
    out = expected.job.folder / "out"
    sign_results(out, [], key_of(1), expected.check)
    return read_certificate((out / "release" / NAME).read_bytes()).signature


def refused(expected, why):
    before = (expected.job.folder / "out" / "release" / NAME).read_bytes()
    with pytest.raises(ServiceError, match=f"N022.*{why}"):
        signed(expected)
    assert (expected.job.folder / "out" / "release" / NAME).read_bytes() == before


def test_the_certificate_of_a_run_is_signed(expected):
    assert signed(expected).credential.proof.key == key_of(1).public


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
