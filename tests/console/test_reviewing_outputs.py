"""The pages of reviews: sent by who asks, decided by the owner, given to who asked."""

import io
import json
import shutil

import pytest
from output_checked import TABLE as DATA
from pyarrow import csv
from reviewed_answers import PEOPLE, TOTALS

from policy_engine.api.checking_outputs import check_tables

PARTY = "http://example.com/people/rita"
SHARES = "SELECT sector, SUM(gain) AS s FROM T GROUP BY sector"
SMALL = "SELECT region, COUNT(*) AS n FROM T GROUP BY region"
CHECK = [
    {"leftOperand": "pe:outputCheck", "operator": "eq", "rightOperand": "bundesbank"},
    {"leftOperand": "pe:privacyUnit", "operator": "eq", "rightOperand": {"@id": f"{DATA}/person"}},
    {"leftOperand": "pe:minUnits", "operator": "eq", "rightOperand": 5},
]
POLICY = {
    "@context": [
        "http://www.w3.org/ns/odrl.jsonld",
        "https://www.mosaicrown.eu/ns/mosaicrown.jsonld",
    ],
    "@type": "Set",
    "uid": "http://example.com/policy/gains",
    "permission": [
        {
            "uid": "http://example.com/policy/gains/read",
            "assignee": PARTY,
            "target": DATA,
            "action": [{"rdf:value": {"@id": "odrl:read"}, "refinement": CHECK}],
        }
    ],
}


@pytest.fixture(scope="module")
def gains(masking):
    """Calls of the owner of data of which only what passes output checks may be read."""
    calling = masking[0]
    file = io.BytesIO()
    csv.write_csv(PEOPLE, file)
    calling.upload("Gains", DATA, file.getvalue().decode())
    calling.publish("Gains", json.dumps(POLICY))
    person = {"name": "Rita", "roles": ["consumer"], "party": PARTY}
    return calling, calling.call("POST", "/people", person)["id"]


@pytest.fixture
def researcher(open_page, gains):
    """The page of access of somebody whom the policy lets ask."""
    calling, person = gains
    return open_page(calling.call("POST", f"/people/{person}:invite", {})["url"], signed_in=False)


def ask(page, sql):
    page.get_by_label("Query", exact=True).fill(sql)
    page.get_by_role("button", name="Run", exact=True).click()


def decide(page, verb, reason):
    page.get_by_role("button", name=f"{verb} …").click()
    page.get_by_label("Reason, for who asked").fill(reason)
    page.get_by_role("dialog").get_by_role("button", name=verb, exact=True).click()


def opened(open_page, sql, **options):
    page = open_page("/releases/reviews", **options)
    page.get_by_role("link", name=sql, exact=True).first.click()
    page.get_by_role("heading", name="Answer to a query").wait_for()
    return page


def test_an_answer_is_sent_accepted_by_keyboard_and_read_by_who_asked(open_page, researcher):
    ask(researcher, TOTALS)
    researcher.get_by_text("Sent for review.").wait_for()
    page = opened(open_page, TOTALS)
    held = page.get_by_role("region", name="If accepted: answer")
    assert held.get_by_role("row").nth(1).get_by_role("cell").last.inner_text() == "-10"
    button = page.get_by_role("button", name="Accept …")
    button.focus()
    page.keyboard.press("Enter")
    page.get_by_label("Reason, for who asked").fill("Losses are published.")
    page.keyboard.press("Enter")
    page.get_by_text("The output is accepted.").wait_for()
    page.get_by_text("Losses are published.").wait_for()
    assert button.count() == 0
    researcher.get_by_role("link", name="See where it stands").click()
    rows = researcher.get_by_role("region", name="The accepted answer").get_by_role("row")
    rows.nth(3).wait_for()
    assert rows.nth(1).get_by_role("cell").all_inner_texts() == ["a", "20", "-10"]
    assert rows.nth(3).get_by_role("cell").last.inner_text() == "left out"
    assert researcher.get_by_text("Evidence").count() == 0


def test_a_rejected_answer_is_told_with_the_reason_and_never_shown(open_page, researcher):
    ask(researcher, SHARES)
    researcher.get_by_text("Sent for review.").wait_for()
    decide(opened(open_page, SHARES), "Reject", "Too close to the firm.")
    researcher.goto("/releases/reviews")
    news = researcher.get_by_role("banner").get_by_role("img", name="of your reviews")
    news.wait_for()
    researcher.get_by_role("row", name=SHARES).get_by_text("new", exact=True).wait_for()
    researcher.get_by_role("link", name=SHARES, exact=True).click()
    researcher.get_by_text("Too close to the firm.").wait_for()
    news.wait_for(state="detached")
    assert researcher.get_by_role("region", name="The accepted answer").count() == 0


def test_what_is_left_out_is_asked_for_with_a_reason(open_page, researcher):
    ask(researcher, SMALL)
    researcher.get_by_text("Ask to have it reviewed").click()
    researcher.get_by_label("Why what is left out may be known").fill("The two are known.")
    researcher.get_by_role("button", name="Send for review").click()
    researcher.get_by_text("Sent for review.").wait_for()
    page = opened(open_page, SMALL)
    page.get_by_text("The two are known.").wait_for()
    page.get_by_text("Nothing more may be let out than the rules do.").wait_for()
    decide(page, "Accept", "They are.")
    page.get_by_text("Code K028.").wait_for()


def test_a_folder_that_was_made_elsewhere_is_sent_and_its_file_saved(
    open_page, researcher, tmp_path
):
    (tmp_path / "one.csv").write_text("region,n\nnorth,70\nsouth,44\n")
    check_tables(tmp_path / "one.csv", profile="sacro", out=tmp_path / "sent", by="rita")
    archive = shutil.make_archive(str(tmp_path / "sent"), "zip", tmp_path / "sent")
    researcher.goto("/releases/reviews")
    researcher.get_by_text("Send outputs that were made elsewhere").click()
    researcher.get_by_label("Data that the outputs are about").fill(DATA)
    researcher.get_by_label("Folder of outputs").set_input_files(archive)
    researcher.get_by_role("button", name="Send for review").click()
    researcher.get_by_role("heading", name="Outputs of an analysis").wait_for()
    page = open_page("/releases/reviews")
    page.get_by_role("link", name="one", exact=True).click()
    decide(page, "Accept", "Published.")
    page.get_by_text("The output is accepted.").wait_for()
    researcher.reload()
    with researcher.expect_download() as saved:
        researcher.get_by_role("link", name="Save one.csv").click()
    assert saved.value.suggested_filename == "one.csv"


@pytest.mark.parametrize("width", [320, 2560])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_pages_of_reviews_are_accessible(open_page, researcher, accessibility, width, scheme):
    sql = f"SELECT sector, region, SUM(gain) AS s{width}{scheme} FROM T GROUP BY sector, region"
    ask(researcher, sql)
    researcher.get_by_text("Sent for review.").wait_for()
    assert accessibility(researcher) == []
    page = opened(open_page, sql, width=width, scheme=scheme)
    page.get_by_text("Why cells are withheld, with figures").click()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert accessibility(page) == []
    page.get_by_role("button", name="Reject …").click()
    assert accessibility(page) == []
    page.goto("/releases/reviews")
    page.get_by_role("heading", name="Waiting for a decision").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert accessibility(page) == []
