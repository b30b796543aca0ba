from building import ANALYST, DATASET, OUTPUT
from served import API, code, signed_in
from test_dataset_routes import created
from test_release_routes import released


def owner_of(services):
    return signed_in(services, "owner", "steward", name="Owner")


def test_a_release_tells_what_it_was_made_from_and_who_may_read_it(services, tmp_path):
    owner = owner_of(services)
    release = released(services, owner, tmp_path)
    view = owner.get(f"{API}/releases/{release}/lineage").json()
    [policy] = owner.get(f"{API}/policies").json()["items"]
    assert view["iri"] == OUTPUT
    assert view["made_from"] == [{"iri": DATASET, "dataset": "x"}]
    assert (view["policy"], view["version"], view["run"]) == (policy["id"], 1, "run1")
    assert view["made"] == []
    assert {one["assignee"] for one in view["readers"]} == {ANALYST}


def test_a_dataset_tells_what_was_made_of_it(services, tmp_path):
    owner = owner_of(services)
    release = released(services, owner, tmp_path)
    dataset = created(owner, DATASET)
    view = owner.get(f"{dataset}/lineage").json()
    assert [one["id"] for one in view["made"]] == [release]
    assert view["made_from"] == []
    assert view["readers"] == []
    other = signed_in(services, "owner", name="Otto")
    assert code(other.get(f"{dataset}/lineage")) == (404, "N003")


def test_consumers_see_of_readers_themselves_alone(services, tmp_path):
    release = released(services, owner_of(services), tmp_path)
    address = f"{API}/releases/{release}/lineage"
    analyst = signed_in(services, "consumer", party=ANALYST)
    stranger = signed_in(services, "consumer", name="Bob", party="http://example.com/people/bob")
    assert {one["assignee"] for one in analyst.get(address).json()["readers"]} == {ANALYST}
    assert stranger.get(address).json()["readers"] == []


def test_a_release_that_is_not_there_has_no_lineage(services):
    assert code(owner_of(services).get(f"{API}/releases/x-0/lineage")) == (404, "N003")
