"""What five people do in the console, each within a minute, on either kind of database.

With POLICY_ENGINE_PICTURES, a folder, the pages at the end of each flow are drawn there, which is
how `docs/generate/console_pictures.py` makes those of docs/service.md.
"""

import json
import os
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from browsing import note_faults
from postgres import postgres_server
from running_service import serving
from test_asking_for_access import add_person, link_for
from test_asking_for_access import ask as ask_whether
from test_uploading_data import upload
from test_writing_policies import ask as try_request
from test_writing_policies import replace_line

from policy_engine.service.settings import ServiceSettings
from policy_engine.service.store.database import Database

SALES = "http://example.com/Sales"
TOWNS = "town,amount\n" + "".join(
    f"{town},{10 + n}\n"
    for town, count in (("Ams", 40), ("Brx", 30), ("Ulm", 2))
    for n in range(count)
)
RESEARCH = {
    "@context": [
        "http://www.w3.org/ns/odrl.jsonld",
        "https://www.mosaicrown.eu/ns/mosaicrown.jsonld",
    ],
    "@type": "Set",
    "uid": "http://example.com/policy/sales",
    "permission": [
        {
            "uid": "http://example.com/policy/sales/counts",
            "assignee": "http://org/user",
            "target": SALES,
            "action": [
                {
                    "rdf:value": {"@id": "odrl:read"},
                    "refinement": [
                        {"leftOperand": "pe:outputCheck", "operator": "eq", "rightOperand": "sacro"}
                    ],
                }
            ],
        }
    ],
}


class Company:
    """People of a company that has used the service for a day, each in a browser of their own."""

    def __init__(self, chromium, address, links):
        self._chromium, self._address, self._links = chromium, address, links
        self._signed_in = {}
        self.faults = []

    def page(self, name, path, width=1280):
        """Open a page as somebody whose name is known."""
        if name not in self._signed_in:
            context = self._chromium.new_context(base_url=self._address)
            context.new_page().goto(self._links[name])
            self._signed_in[name] = context.storage_state()
            context.close()
        context = self._chromium.new_context(
            base_url=self._address,
            viewport={"width": width, "height": 900},
            storage_state=self._signed_in[name],
        )
        page = context.new_page()
        note_faults(page, self._address, self.faults)
        page.goto(path, wait_until="networkidle")
        return page

    def add(self, name, role):
        """Let somebody else sign in, whom the owner makes known."""
        people = self.page("Owner", "/people")
        add_person(people, name, role)
        self._links[name] = link_for(people, name)


@contextmanager
def _database(kind):
    """Return the options of a service that keeps its tables in a database of a kind."""
    if kind == "sqlite":
        yield ()
        return
    with postgres_server() as server, server.database(_bring_up_to_date) as url:
        yield ("--database", url)


def _bring_up_to_date(url):
    Database.open(ServiceSettings(folder=".", database=url).database_url).close()


@pytest.fixture(
    scope="module",
    params=["sqlite", pytest.param("postgresql", marks=pytest.mark.nightly)],
)
def company(request, chromium, demo, tmp_path_factory):
    """A company with the data of the demo, and with sales that are told in checked answers."""
    if not demo.PAGES.exists():
        pytest.skip("the pages are not built: scripts/build-pages builds them")
    folder = tmp_path_factory.mktemp("company")
    with _database(request.param) as options, serving(folder, *options) as (address, link):
        calling = demo.Calling(address, link)
        assert demo.wait_for(calling, demo.seed(calling, rows=300)) == "succeeded"
        sales = calling.call("POST", "/datasets", {"name": "Sales", "iri": SALES})
        demo._upload(calling, sales["id"], "sales.csv", TOWNS.encode())
        policy = {"name": "Counts of sales", "text": json.dumps(RESEARCH)}
        row = calling.call("POST", "/policies", policy)
        calling.call("POST", f"/policies/{row['id']}:publish", {}, If_Match=f'"{row["revision"]}"')
        links = dict(zip(("Owner", "Sam", "Mia"), _urls(demo, calling), strict=True))
        yield Company(chromium, address, links)


def _urls(demo, calling):
    return [line.split()[-1] for line in demo.links(calling)]


@pytest.fixture
def flow(company, accessibility, request):
    """What a flow ends with: it took less than a minute, and no page has anything wrong."""
    start = time.monotonic()
    shown = []
    yield shown.append
    assert time.monotonic() - start < 60
    for page in shown:
        assert accessibility(page) == []
        _draw(page, request.node.originalname)
        page.context.close()
    assert company.faults == []


def _draw(page, name):
    folder = os.environ.get("POLICY_ENGINE_PICTURES")
    if folder:
        path = Path(folder) / f"{name.removeprefix('test_').split('_')[0]}.png"
        page.mouse.move(0, 0)
        page.screenshot(path=path)


def test_owner_mends_a_policy_tries_it_and_publishes_it(company, flow):
    page = company.page("Owner", "/policies")
    page.get_by_role("link", name="Customers for marketing").click()
    page.get_by_text("The policy is valid.").wait_for()
    replace_line(page, '"target"', '"targett": "http://example.com/Customer",')
    page.locator(".cm-lintRange-error", has_text="targett").wait_for()
    page.get_by_role("button", name='Fix: "target"').click()
    page.get_by_text("The policy is valid.").wait_for()
    replace_line(page, '"10"', '"rightOperand": {"@value": "8", "@type": "xsd:integer"}')
    page.keyboard.press("Control+s")
    page.get_by_text("Draft saved as version 2.").wait_for()
    try_request(page, "http://org/user", "anonymize", "http://example.com/Customer", "marketing")
    page.get_by_text("permits it").wait_for()
    page.get_by_role("button", name="Publish …").click()
    page.get_by_role("dialog").get_by_role("button", name="Publish").click()
    page.get_by_text("Version 2 is published.").wait_for()
    flow(page)


def test_steward_uploads_data_confirms_roles_and_starts_a_run(company, flow, demo):
    page = company.page("Sam", "/data")
    page.get_by_role("link", name="Sample of customers").click()
    upload(page, "customers.csv", demo._sample("customer", 200).decode())
    page.locator("dl.facts dd", has_text="200").wait_for(timeout=60_000)
    page.get_by_text("Proposed:").first.wait_for(timeout=60_000)
    page.get_by_role("button", name="Confirm the roles of").click()
    page.get_by_text("The roles of all columns are confirmed.").wait_for(timeout=60_000)
    page.get_by_role("combobox", name="Policy").select_option(
        label="Customers for marketing, version 2"
    )
    page.get_by_role("button", name="Show the plan").click()
    page.get_by_role("button", name="Start a run that does this").click()
    page.get_by_text("succeeded", exact=True).wait_for(timeout=60_000)
    page.go_back()
    page.get_by_text("Confirmed.").first.wait_for(timeout=60_000)
    page.get_by_text("Looking at the columns").first.wait_for(state="detached", timeout=60_000)
    flow(page)


def test_engineer_starts_audits_cancels_one_and_compares_two(company, flow):
    page = company.page("Sam", "/runs/new?kind=audit-membership")
    page.get_by_label("Data", exact=True).select_option(label="Sample of visits")
    page.get_by_role("button", name="Start").click()
    page.get_by_role("button", name="Cancel: Attack a model").click()
    page.get_by_text("cancelled", exact=True).wait_for(timeout=60_000)
    for values in ("k: 5, 10", "k: 20"):
        page = company.page("Sam", "/runs/new?kind=explore")
        page.get_by_label("Policy", exact=True).select_option(
            label="Customers for marketing, version 2"
        )
        page.get_by_label("Sample of customers").check()
        page.get_by_label("Vary").fill(values)
        page.get_by_role("button", name="Start").click()
        page.get_by_text("succeeded", exact=True).wait_for(timeout=60_000)
    page.get_by_role("combobox", name="Compare with").select_option(index=1)
    page.get_by_role("heading", name="Two runs compared").wait_for()
    page.locator(".chart .dot").nth(2).wait_for()
    flow(page)


def test_analyst_asks_for_access_and_queries_what_may_be_told(company, flow):
    page = company.page("Mia", "/access")
    page.get_by_text("Ask an owner for access").click()
    page.get_by_label("Data to read").fill(SALES)
    page.get_by_label("For the purpose").fill("marketing")
    page.get_by_role("button", name="Ask", exact=True).click()
    page.get_by_text("The owner is asked.").wait_for()
    owner = company.page("Owner", "/access")
    owner.get_by_role("button", name="Grant").click()
    owner.get_by_label("Note for who asked").fill("Counts alone, as the policy says.")
    owner.get_by_role("dialog").get_by_role("button", name="Grant", exact=True).click()
    owner.get_by_text("granted", exact=True).wait_for()
    page.reload()
    page.get_by_text("Counts alone, as the policy says.").wait_for()
    page.get_by_role("textbox", name="Query", exact=True).fill(
        "SELECT town, COUNT(*) AS sales FROM Sales GROUP BY town"
    )
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_text("left out:").wait_for(timeout=60_000)
    cells = page.get_by_role("region", name="Answer").get_by_role("cell").all_inner_texts()
    # How many sales there are counts as known: beside both others, it would tell Ulm's.
    assert cells == ["Ams", "40", "Brx", "left out", "Ulm", "left out"]
    page.get_by_role("region", name="Answer").scroll_into_view_if_needed()
    flow(page)


def test_auditor_opens_a_denial_and_verifies_the_log(company, flow):
    asking = company.page("Mia", "/access")
    ask_whether(asking, SALES, "marketing")
    asking.get_by_role("status").first.wait_for()
    ask_whether(asking, "http://example.com/Customer", "marketing")
    asking.get_by_text("Deny").wait_for()
    company.add("Vera", "Auditor")
    page = company.page("Vera", "/decisions")
    page.get_by_label("Outcome").select_option("deny")
    page.get_by_role("region", name="Decisions").get_by_role("link").first.click()
    page.get_by_role("heading", name="Decision ").wait_for()
    page.get_by_text("Whatever no rule permits is denied.").wait_for()
    page.get_by_role("link", name="Decisions").last.click()
    page.get_by_label("Outcome").select_option("deny")
    page.get_by_role("button", name="Verify the log").click()
    page.get_by_text("The log is as it was written.").wait_for()
    with page.expect_download():
        page.get_by_role("link", name="Export the log").click()
    flow(page)
