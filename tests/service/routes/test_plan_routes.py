from served import API, CUSTOMER, code, named, signed_in
from test_dataset_routes import uploaded
from test_policy_routes import made

IRI = "http://example.com/Customer"
COLUMNS = "CustomerID,FirstName,LastName,ZIP,BirthDate,TransactionTime,Amount,StoreCategory"
ROW = "1,Ada,L,12345,1990-01-01,2020-01-01 10:00:00,9.5,food"


def test_a_plan_says_what_would_be_done(services):
    client = signed_in(services, "owner")
    address, _ = made(client, CUSTOMER.read_text("utf-8"))
    dataset = uploaded(client, f"{COLUMNS},Note\n{ROW},x\n".encode(), iri=IRI).json()["id"]
    body = {"policy": address.rpartition("/")[2], "datasets": {IRI: dataset}}
    answer = client.post(f"{API}/plans", json=body)
    assert str(services.settings.folder) not in answer.text
    answer = answer.json()
    [plan] = answer["plans"]
    steps = {one["step"]: one for one in plan["steps"]}
    assert answer["version"] == 1
    assert steps["drop"]["unmentioned"] == ["Note"]
    unbound = client.post(f"{API}/plans", json={"policy": body["policy"]}).json()
    assert len(unbound["plans"]) == 1


def test_data_that_does_not_fit_is_refused_by_the_codes_of_the_library(services):
    client = signed_in(services, "owner")
    address, _ = made(client, CUSTOMER.read_text("utf-8"))
    dataset = uploaded(client, b"a,b\n1,2\n", iri=IRI).json()["id"]
    body = {"policy": address.rpartition("/")[2], "datasets": {IRI: dataset}}
    answer = client.post(f"{API}/plans", json=body)
    assert code(answer) == (422, "C005")


def test_policies_and_datasets_of_others_are_not_planned_with(services):
    address, _ = made(signed_in(services, "owner"), CUSTOMER.read_text("utf-8"))
    other = signed_in(services, "owner", name="Bob")
    policy = address.rpartition("/")[2]
    assert code(other.post(f"{API}/plans", json={"policy": policy})) == (404, "N003")
    own, _ = made(other, CUSTOMER.read_text("utf-8"))
    steward, third = (signed_in(services, one, name="Eve") for one in ("steward", "owner"))
    for one in (other, third):
        named(one, steward)
    dataset = uploaded(third, f"{COLUMNS}\n{ROW}\n".encode(), iri=IRI).json()["id"]
    body = {"policy": own.rpartition("/")[2], "datasets": {IRI: dataset}}
    assert code(other.post(f"{API}/plans", json=body)) == (404, "N003")
    assert code(steward.post(f"{API}/plans", json=body)) == (422, "M014")
