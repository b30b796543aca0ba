import pytest
from served import API, code, named, signed_in
from test_dataset_routes import created, uploaded

TABLE = b"name,zip,diagnosis\n" + b"".join(
    b"p%d,%d,%s\n" % (n, 20100 + n % 4, b"flu" if n % 2 else b"cold") for n in range(40)
)


@pytest.fixture
def owner(services):
    return signed_in(services, "owner", name="Olga")


@pytest.fixture
def dataset(owner):
    return f"{API}/datasets/{uploaded(owner, TABLE).json()['id']}"


def test_a_profile_proposes_roles_and_they_are_confirmed(owner, dataset):
    columns = owner.get(f"{dataset}:profile").json()["columns"]
    proposed = {one["name"]: one["proposed"] for one in columns}
    assert proposed == {"name": "identifier", "zip": "quasi-identifier", "diagnosis": "sensitive"}
    assert all(one["reason"] and one["role"] is None for one in columns)
    tag = owner.get(dataset).headers["etag"]
    change = {"roles": {"name": "identifier", "zip": "other"}}
    answer = owner.patch(dataset, json=change, headers={"If-Match": tag})
    roles = {one["name"]: one["role"] for one in answer.json()["columns"]}
    assert roles == {"name": "identifier", "zip": "other", "diagnosis": None}
    again = {one["name"]: one["role"] for one in owner.get(f"{dataset}:profile").json()["columns"]}
    assert again == roles
    assert code(owner.patch(dataset, json=change, headers={"If-Match": tag})) == (412, "N005")


def test_roles_are_of_columns_that_there_are(owner, dataset):
    tag = {"If-Match": owner.get(dataset).headers["etag"]}
    refused = owner.patch(dataset, json={"roles": {"zipp": "other"}}, headers=tag)
    assert code(refused) == (422, "N007")
    assert "'zip'" in refused.text
    refused = owner.patch(dataset, json={"roles": {"zip": "king"}}, headers=tag)
    assert code(refused) == (422, "N007")


@pytest.mark.nightly
def test_a_profile_tells_no_value(owner, dataset):
    text = owner.get(f"{dataset}:profile").text
    assert not any(one in text for one in ("20100", "flu", "p7"))


def preview(client, dataset, **body):
    return client.post(f"{dataset}:generalise", json=body)


@pytest.mark.nightly
def test_a_column_is_shown_at_each_height(owner, dataset):
    settings = {"generalization": "prefix"}
    levels = preview(owner, dataset, column="zip", settings=settings).json()["levels"]
    assert [one["group_count"] for one in levels][:2] == [4, 1]
    assert levels[1]["groups"] == [{"label": "2010*", "rows": 40}]


@pytest.mark.nightly
def test_a_taxonomy_may_be_larger_than_an_argument_of_a_program(owner, dataset):
    known = "".join(f"{20100 + n},south,all\n" for n in range(4))
    text = known + "".join(f"unlikely-value-{n},north,all\n" for n in range(9_000))
    settings = {"generalization": "taxonomy"}
    answer = preview(owner, dataset, column="zip", settings=settings, taxonomy=text)
    assert len(text) > 2**17
    assert answer.status_code == 200
    assert [one["group_count"] for one in answer.json()["levels"]][:2] == [4, 1]


@pytest.mark.nightly
def test_labels_are_for_the_owner_of_the_data_alone(services, owner, dataset):
    steward = signed_in(services, "steward", name="Sue")
    named(owner, steward)
    answer = preview(steward, dataset, column="zip")
    assert answer.json()["levels"][0]["group_count"] == 4
    assert "2010" not in answer.text


@pytest.mark.nightly
def test_a_taxonomy_is_given_as_text(owner, dataset):
    given = {"settings": {"generalization": "taxonomy"}, "taxonomy": "flu;viral\ncold;viral\n"}
    levels = preview(owner, dataset, column="diagnosis", **given).json()["levels"]
    assert levels[1]["groups"] == [{"label": "viral", "rows": 40}]


INAPPLICABLE = [
    ({"column": "nothing"}, "C005"),
    ({"column": "diagnosis", "settings": {"generalization": "interval"}}, "R006"),
    ({"column": "zip", "settings": {"generalization": "magic"}}, "N007"),
    ({"column": "zip", "settings": {"taxonomy": "/etc/passwd"}}, "N007"),
    ({"column": "zip", "taxonomy": "x", "taxonomy_name": "../x.csv"}, "N007"),
    ({"column": "diagnosis", "settings": {"generalization": "taxonomy"}}, "T011"),
]


@pytest.mark.nightly
def test_what_does_not_apply_is_refused(owner, dataset):
    for given, refusal in INAPPLICABLE:
        assert preview(owner, dataset, **given).json()["code"] == refusal


def test_without_a_file_there_is_nothing_to_look_at(owner):
    dataset = created(owner, "http://example.com/Empty")
    assert code(owner.get(f"{dataset}:profile")) == (409, "N004")
    other = signed_in(owner.app.state.services, "owner", name="Otto")
    assert code(other.get(f"{dataset}:profile")) == (404, "N003")
