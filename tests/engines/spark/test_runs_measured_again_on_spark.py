"""What the service signs of a run on Spark was measured again, part by part, on a copy."""

import shutil
from dataclasses import replace

import pytest
from building import people_policy
from runs_left import NAME, carried_out, measured, raw_rows, rewrite
from signing import key_of

from policy_engine.certificate.certificate import read_certificate
from policy_engine.certificate.verifying import data_digest
from policy_engine.errors import ServiceError
from policy_engine.service.runs.measuring_again import signed_names
from policy_engine.service.runs.signing_results import sign_results

pytestmark = pytest.mark.usefixtures("few_rows")


@pytest.fixture(scope="module")
def made(cluster, tmp_path_factory):
    return carried_out(tmp_path_factory.mktemp("spark") / "run", people_policy(), engine=cluster)


@pytest.fixture
def left(made, tmp_path):
    """What a run on Spark has left, for a test to change."""
    folder = shutil.copytree(made.job.folder, tmp_path / "run")
    files = {"data1": folder / "data1.csv"}
    return replace(made, job=made.job.model_copy(update={"folder": folder, "files": files}))


@pytest.mark.nightly  # each of a dozen readings of CSV is a job; the one below is soon refused
def test_a_release_of_spark_is_measured_and_signed_in_a_copy(left, cluster):
    again, summary = measured(left, cluster)
    before, after = (one.job.folder / "out" / "release" for one in (left, again))
    assert [one.name.split("-")[0] for one in (before / "anonPeople.csv").glob("*.csv")] == ["part"]
    assert data_digest(after / "anonPeople.csv") == data_digest(before / "anonPeople.csv")
    assert signed_names(summary) == [NAME]
    sign_results(again.job.out, [], key_of(1), again.check, signed_names(summary))
    certificate = read_certificate((after / NAME).read_bytes())
    assert certificate.signature.credential.proof.key == key_of(1).public
    assert certificate.plan.engine == "spark"


def test_raw_rows_in_a_part_of_spark_are_not_signed(left, cluster):
    output = left.job.folder / "out" / "release" / "anonPeople.csv"
    [part] = output.glob("part-*")
    part.write_text(raw_rows())
    (output / f".{part.name}.crc").unlink()
    digest = data_digest(output)
    rewrite(left, {"release": digest}, output_digest=digest)
    certificate = read_certificate((output.parent / NAME).read_bytes())
    left.check(certificate, output.parent)  # by the certificate alone, all is as it should be
    with pytest.raises(ServiceError, match=r"N022.*measured again, V001 k must be"):
        measured(left, cluster)
