"""What runs of the service leave, made in this process, and measured again."""

import hashlib
from dataclasses import replace
from datetime import UTC, datetime

from building import DATASET, PEOPLE

from policy_engine.certificate.certificate import read_certificate
from policy_engine.certificate.record import load_record
from policy_engine.service.runs.checking_results import ExpectedResult
from policy_engine.service.runs.clusters import Cluster
from policy_engine.service.runs.folders import RunFolders
from policy_engine.service.runs.jobs import Job, KeptText, RunInputs
from policy_engine.service.runs.kinds.sanitising import Sanitising
from policy_engine.service.runs.limits import RunLimits
from policy_engine.service.runs.measuring_again import KIND, KINDS, measuring_job

OLGA = "http://example.com/olga"
SETTINGS = Sanitising(policy="p1", datasets={DATASET: "data1"})
NAME = "certificate.jsonld"


def carried_out(folder, text, rows=PEOPLE, settings=SETTINGS, engine="local", **more):
    """Return what is expected of a run, once an engine carried it out in a folder."""
    names = ("out", "kept", "scratch", "attempts")
    folders = {name: folder / name for name in names}
    for one in folders.values():
        one.mkdir(parents=True)
    (folder / "data1.csv").write_text(rows)
    kept = KeptText(name="policy", text=text, issuer=OLGA)
    given = {
        "files": {"data1": folder / "data1.csv"},
        "policy": kept,
        "owners": dict.fromkeys(settings.datasets, OLGA),
        **more,
    }
    began = datetime.now(UTC)
    settings.carry_out(RunInputs(**given, **folders, engine=engine))
    limits = RunLimits(memory=0, file=0, seconds=0)
    places = {"folder": folder, "kept": folder, "attempts": folder, "code": folder}
    about = {"kinds": "", "kind": "sanitise", "settings": {}, "limits": limits, "parent": 0}
    about["cluster"] = None if engine == "local" else Cluster(master="local[2]", heap=2**30)
    return ExpectedResult(Job(**given, **places, **about), settings, began)


def rewrite(expected, in_record=None, **changes):
    """Have the run leave another certificate, and another record that opens its commitment."""
    out = expected.job.folder / "out"
    [path], place = (out / "record").glob("*.json"), out / "release" / NAME
    record = load_record(path).model_copy(update=in_record or {})
    path.write_text(record.to_json())
    changes["commitment"] = record.commitment
    place.write_text(read_certificate(place.read_bytes()).model_copy(update=changes).to_jsonld())


def measured(expected, engine="local"):
    """Measure again what a run has left; return what is expected of that job, and its summary."""
    job = measuring_job(expected.job, RunFolders(expected.job.folder / "service"))
    inputs = RunInputs(
        files=job.files,
        releases=job.releases,
        policy=job.policy,
        owners=job.owners,
        out=job.out,
        scratch=job.scratch,
        attempts=job.attempts,
        engine=engine,
    )
    settings = KINDS[KIND].model_validate(expected.settings.model_dump())
    return replace(expected, job=job), settings.carry_out(inputs)


def forge(expected, rows):
    """Have the run leave other rows, and a certificate whose digest and record are of them."""
    [output] = (expected.job.folder / "out" / "release").glob("*.csv")
    output.chmod(0o600)
    output.write_text(rows)
    digest = hashlib.sha256(rows.encode()).hexdigest()
    rewrite(expected, {"release": digest}, output_digest=digest)


def raw_rows():
    """Return the columns that the policy releases, of the rows as they are in the input."""
    rows = [line.split(",")[1:4] for line in PEOPLE.splitlines()]
    return "".join(f"{','.join(one)}\n" for one in rows)
