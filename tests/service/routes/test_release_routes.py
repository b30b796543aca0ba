import pytest
from building import ANALYST, DATASET, OUTPUT, people_policy
from served import API, code, person, signed_in
from test_dataset_routes import uploaded
from test_policy_routes import published

from policy_engine.api.applying import apply_policy
from policy_engine.service.runs.folders import RunFolders
from policy_engine.service.runs.kinds.settings import RELEASES
from policy_engine.service.store.base import now
from policy_engine.service.store.runs import StoredRun

PEOPLE = "name,age,city,disease\n" + "".join(
    f"p{i},{30 + i % 4},{'Ams' if i < 4 else 'Brx'},{'flu' if i % 2 else 'cold'}\n"
    for i in range(8)
)


@pytest.fixture
def owner(services):
    return signed_in(services, "owner", "steward", name="Owner")


def released(services, owner, tmp_path, run_id="run1", dataset="x"):
    """Return the identifier of a release, as a run that succeeded leaves it."""
    if not owner.get(f"{API}/policies").json()["items"]:
        published(owner, people_policy())
    [policy] = owner.get(f"{API}/policies").json()["items"]
    place = RunFolders(services.settings.folder).result(RELEASES, run_id)
    for one in ("release", "record"):
        (place / one).mkdir(parents=True)
    (tmp_path / "people.csv").write_text(PEOPLE)
    release = apply_policy(
        people_policy(),
        {DATASET: tmp_path / "people.csv"},
        place / "release",
        record=place / "record" / "record.json",
    )
    output = {"asset": OUTPUT, "file": release.certificate.file, "rows": 8}
    with services.database.writing() as session:
        run = StoredRun(
            id=run_id,
            kind="sanitise",
            owner_id=person(services, "steward"),
            settings={"policy": policy["id"], "version": 1, "datasets": {DATASET: dataset}},
            state="succeeded",
            attempts=3,
            result={"outputs": [output]},
            finished=now(),
        )
        session.add(run)
    return f"{run_id}-0"


@pytest.fixture
def analyst(services):
    return signed_in(services, "consumer", party=ANALYST)


def may_read(client):
    question = {"target": [OUTPUT], "purpose": "marketing"}
    return client.post(f"{API}/decisions", json=question).json()["effect"] == "permit"


@pytest.mark.one_in(2)
@pytest.mark.both_databases
def test_a_release_is_read_until_it_is_withdrawn(services, owner, analyst, tmp_path):
    published(owner, people_policy())
    assert not may_read(analyst)
    release = released(services, owner, tmp_path)
    assert may_read(analyst)
    sql = f'SELECT city, disease FROM "{OUTPUT}"'
    body = {"sql": sql, "purpose": "marketing"}
    assert len(analyst.post(f"{API}/queries", json=body).json()["rows"]) == 8
    path = f"{API}/releases/{release}"
    answer = owner.post(f"{path}:withdraw", json={"reason": "a wrong column"})
    assert (answer.json()["state"], answer.json()["reason"]) == ("withdrawn", "a wrong column")
    assert not may_read(analyst)
    assert code(analyst.post(f"{API}/queries", json=body)) == (422, "Q003")
    assert code(owner.post(f"{path}:withdraw", json={"reason": "again"})) == (409, "N004")


def test_a_release_is_measured_again(services, owner, tmp_path):
    release = released(services, owner, tmp_path)
    auditor = signed_in(services, "auditor")
    path = f"{API}/releases/{release}"
    verdict = auditor.post(f"{path}:verify").json()
    assert verdict["holds"], verdict
    assert {one["bound"] for one in verdict["measured"]} >= {"k"}
    assert auditor.get(f"{path}/certificate").json()["rows_out"] == 8


def test_a_release_whose_file_was_changed_is_read_by_nobody(services, owner, analyst, tmp_path):
    release = released(services, owner, tmp_path)
    [file] = (services.settings.folder / RELEASES / "run1" / "release").glob("*.csv")
    file.chmod(0o600)
    file.write_text(file.read_text().replace("flu", "cold"))
    verdict = signed_in(services, "auditor").post(f"{API}/releases/{release}:verify").json()
    assert not verdict["holds"]
    assert verdict["problems"][0]["code"] == "V004"
    assert not may_read(analyst)


def test_the_newest_release_of_an_asset_takes_the_place_of_earlier_ones(
    services, owner, analyst, tmp_path
):
    first = released(services, owner, tmp_path)
    second = released(services, owner, tmp_path, "run2")
    items = analyst.get(f"{API}/releases").json()["items"]
    assert [(one["id"], one["state"]) for one in items] == [
        (second, "available"),
        (first, "replaced"),
    ]
    assert may_read(analyst)
    owner.post(f"{API}/releases/{second}:withdraw", json={"reason": "wrong"})
    assert not may_read(analyst)


def test_releases_of_others_are_not_withdrawn(services, owner, tmp_path):
    release = released(services, owner, tmp_path)
    other = signed_in(services, "owner", name="Bob")
    answer = other.post(f"{API}/releases/{release}:withdraw", json={"reason": "x"})
    assert code(answer) == (404, "N003")
    assert code(other.get(f"{API}/releases/nothing")) == (404, "N003")


@pytest.mark.nightly
def test_columns_are_told_before_and_after_without_a_value(services, owner, analyst, tmp_path):
    published(owner, people_policy())
    dataset = uploaded(owner, PEOPLE.encode(), "people.csv", DATASET).json()["id"]
    address = f"{API}/releases/{released(services, owner, tmp_path, dataset=dataset)}:contrast"
    answer = owner.get(address)
    contrast = answer.json()
    assert (contrast["inputs"], contrast["output"]) == ([DATASET], OUTPUT)
    columns = {one["name"]: one for one in contrast["columns"]}
    assert columns["name"]["after"] is None
    assert columns["age"]["before"]["kind"] != columns["age"]["after"]["kind"]
    assert columns["disease"]["before"] == columns["disease"]["after"]
    assert not any(value in answer.text for value in ("Ams", "flu", "p1"))
    assert signed_in(services, "auditor").get(address).json() == contrast
    assert code(signed_in(services, "owner", name="Otto").get(address)) == (404, "N003")
    assert code(analyst.get(address)) == (403, "N002")


def test_columns_are_not_told_of_what_is_gone(services, owner, tmp_path):
    address = f"{API}/releases/{released(services, owner, tmp_path)}:contrast"
    assert code(owner.get(address)) == (404, "N003")
    assert code(owner.get(f"{API}/releases/nothing:contrast")) == (404, "N003")
