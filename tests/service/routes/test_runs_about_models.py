from contextlib import closing

import pytest
from followed import ended
from model_files import DESCRIPTION
from served import API, named, signed_in
from test_dataset_routes import uploaded
from test_model_routes import IRI, ROWS, made, model_file

from policy_engine.service.runs import kinds
from policy_engine.service.runs.dataset_files import dataset_paths
from policy_engine.service.runs.folders import RunFolders
from policy_engine.service.runs.keeping import SupervisorKeeper
from policy_engine.service.runs.limits import RunLimits
from policy_engine.service.runs.preparing import Preparation
from policy_engine.service.runs.queue import RunQueue

ABOUT = {"label": "label", "members": "member", "attacks": ["loss"]}


@pytest.fixture
def owner(services):
    client = signed_in(services, "owner", "steward")
    named(client, client)
    return client


def asked(owner, **settings):
    """Return the answer to who has an audit made of a model."""
    data = uploaded(owner, ROWS, "records.csv", IRI).json()["id"]
    settings = {**ABOUT, "data": data, **settings}
    return owner.post(f"{API}/runs", json={"kind": "audit-membership", "settings": settings})


@pytest.mark.nightly
def test_the_process_of_a_run_is_given_the_file_of_a_model(services, owner):
    model = made(owner, DESCRIPTION)[0].json()["id"]
    assert asked(owner, description=model).status_code == 202
    path_of = dataset_paths(services.settings, services.database)
    limits = RunLimits(memory=1, file=1, seconds=1)
    folders = RunFolders(services.settings.folder)
    preparation = Preparation(services.database, folders, path_of, limits, kinds.__name__)
    job = preparation.job(RunQueue(services.database, "here.1").claim())
    assert job.files[model].read_bytes() == DESCRIPTION


@pytest.mark.nightly
def test_an_uploaded_model_is_audited_by_a_process_and_its_figures_are_read(services, owner):
    fitted = made(owner, model_file(), settings={"features": ["a", "b"]})[0].json()["id"]
    answer = asked(owner, fitted=fitted)
    with closing(SupervisorKeeper(services.settings)) as keeper:
        keeper.start()
        run = ended(services, answer.json()["id"], 120)
    assert (run.state, run.problems) == ("succeeded", [])
    audit = owner.get(f"{answer.headers['location']}/artefacts/audit.json").json()
    assert (audit["fitted"]["kind"], audit["records"]) == ("skops", 40)
    assert audit["target_train"]["records"] == 20
    assert [one["attack"] for one in audit["attacks"]] == ["loss", "label-only"]
