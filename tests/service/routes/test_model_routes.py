import numpy as np
import pytest
from model_files import DESCRIPTION, PICKLE, keras, layer, npz, skops
from served import API, code, named, signed_in
from sklearn.linear_model import LogisticRegression
from test_dataset_routes import send, uploaded

from policy_engine.service.runs.dataset_files import dataset_paths

IRI = "http://example.com/Records"
ROWS = b"a,b,label,member\n" + b"".join(
    b"%d,%d,%d,%d\n" % (n, n % 3, n % 2, n < 20) for n in range(40)
)


def model_file():
    records = np.array([(n, n % 3) for n in range(20)], dtype=float)
    return skops(LogisticRegression().fit(records, np.arange(20) % 2))


def made(client, content, name="model.npz", **given):
    """Return the answer to an upload of a new model, all of which has come, and its address."""
    model = client.post(f"{API}/models", json={"name": "net", **given}).headers["location"]
    file = {"name": name, "size": len(content)}
    upload = client.post(f"{model}/uploads", json=file).headers["location"]
    assert send(client, upload, content[:9]).json()["offset"] == min(9, len(content))
    assert client.get(upload).json()["offset"] == min(9, len(content))
    send(client, upload, content[9:], 9)
    return client.post(f"{upload}:complete", json={}), model


@pytest.fixture
def owner(services):
    return signed_in(services, "owner", "steward", name="Olga")


@pytest.mark.nightly
@pytest.mark.both_databases
def test_a_model_comes_in_parts_is_listed_changed_and_taken_away(services, owner):
    content = model_file()
    answer, model = made(owner, content, settings={"classes": ["0", "1"]})
    view = answer.json()
    assert (view["kind"], view["settings"]["classes"]) == ("skops", ["0", "1"])
    assert [one["id"] for one in owner.get(f"{API}/models").json()["items"]] == [view["id"]]
    tag = owner.get(model).headers["etag"]
    changed = {"settings": {"features": ["a", "b"], "outputs": "probabilities"}}
    answer = owner.patch(model, json=changed, headers={"If-Match": tag})
    assert answer.json()["settings"]["features"] == ["a", "b"]
    assert code(owner.patch(model, json=changed, headers={"If-Match": tag})) == (412, "N005")
    path = services.models.owned.path(view["id"])
    assert path.read_bytes() == content
    assert owner.delete(model).status_code == 204
    assert code(owner.get(model)) == (404, "N003")
    assert not path.exists()


NO_MODELS = [
    (PICKLE, "A015"),
    (npz(weights=np.array([{}], dtype=object)), "A014"),
    (keras(layer("Lambda")), "A015"),
    (keras(layer(), weights=bytes(200 * 2**20)), "N008"),
    (b'{"name": "os.system"}', "A009"),
]


@pytest.mark.nightly
def test_code_and_what_is_not_a_model_are_refused_by_content(owner):
    for content, refusal in NO_MODELS:
        answer, model = made(owner, content)
        assert (answer.status_code < 500, answer.json()["code"]) == (True, refusal)
        assert owner.get(model).json()["kind"] is None


def test_models_are_of_their_owners_and_of_those_who_work_for_them(services, owner):
    _, model = made(owner, DESCRIPTION)
    stranger, steward = (signed_in(services, *one) for one in (["owner", "steward"], ["steward"]))
    for call in (stranger.get(model), stranger.delete(model), steward.get(model)):
        assert code(call) == (404, "N003")
    assert stranger.get(f"{API}/models").json()["items"] == []
    named(owner, steward)
    assert steward.get(model).json()["kind"] == "description"
    assert signed_in(services, "auditor").get(model).status_code == 200
    mine = owner.get(f"{API}/me").json()["id"]
    assert code(stranger.post(f"{API}/models", json={"name": "n", "owner": mine})) == (404, "N003")


@pytest.mark.nightly
def test_an_audit_uses_models_by_their_identifiers(services, owner):
    named(owner, owner)
    data = uploaded(owner, ROWS, "records.csv", IRI).json()["id"]
    fitted = made(owner, model_file(), settings={"features": ["a", "b"]})[0].json()["id"]
    recipe = made(owner, DESCRIPTION)[0].json()["id"]
    about = {"data": data, "label": "label", "members": "member"}

    def ask(**settings):
        asked = {"kind": "audit-membership", "settings": {**about, **settings}}
        return owner.post(f"{API}/runs", json=asked)

    run = ask(fitted=fitted, description=recipe).json()
    assert run["settings"]["features"] == ["a", "b"]
    assert code(ask(fitted=recipe)) == (409, "N004")
    assert code(ask(description=fitted)) == (409, "N004")
    assert code(ask(fitted="nothing")) == (404, "N003")
    path_of = dataset_paths(services.settings, services.database)
    assert path_of(fitted).suffix == ".skops"
    assert path_of(data).suffix == ".csv"


@pytest.mark.nightly
def test_a_model_of_another_owner_is_not_audited(services, owner):
    _, model = made(owner, model_file())
    other = signed_in(services, "owner", "steward", name="Otto")
    named(other, other)
    data = uploaded(other, ROWS, "records.csv", IRI).json()["id"]
    about = {"data": data, "label": "label", "members": "member", "fitted": model[-20:]}
    asked = {"kind": "audit-membership", "settings": about}
    assert code(other.post(f"{API}/runs", json=asked)) == (404, "N003")
