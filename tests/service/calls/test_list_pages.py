import pytest
from served import API, code, signed_in


def test_a_list_is_read_page_by_page_each_item_once(services):
    client = signed_in(services, "owner")
    made = [
        client.post(f"{API}/policies", json={"name": str(i), "text": ""}).json()["id"]
        for i in range(5)
    ]
    seen, cursor = [], ""
    while cursor is not None:
        page = client.get(f"{API}/policies", params={"limit": 2, "cursor": cursor}).json()
        assert len(page["items"]) <= 2
        seen += [one["id"] for one in page["items"]]
        cursor = page["next"]
    assert seen == made[::-1]


@pytest.mark.parametrize("cursor", ["x", "bm90IGpzb24=", "WzEsIDJd", "é"])
def test_a_cursor_that_no_list_gave_is_refused(services, cursor):
    answer = signed_in(services, "owner").get(f"{API}/policies", params={"cursor": cursor})
    assert code(answer) == (422, "N007")


@pytest.mark.parametrize("limit", [0, 201, -1, "x"])
def test_pages_have_some_items_and_not_too_many(services, limit):
    answer = signed_in(services, "owner").get(f"{API}/policies", params={"limit": limit})
    assert code(answer) == (422, "N007")
