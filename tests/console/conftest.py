"""A service with its pages, and a browser in which its owner is signed in.

What is missing for it, a browser or the pages, is said by the tests that are skipped for it.
"""

import importlib.util
import os
import shutil
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from browsing import note_faults
from building import DATASET, OUTPUT, anonymize, column, permission, policy
from places import ROOT
from releasing import PEOPLE, Calling
from running_service import serving

import policy_engine

PAGES = Path(policy_engine.__file__).parent / "service" / "pages"
MASKING = "Masked people"
AXE = ROOT / "console" / "node_modules" / "axe-core" / "axe.min.js"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")


@pytest.fixture(scope="session")
def chromium():
    """A browser, driven by Playwright."""
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip("no Chromium here: on Debian, apt install chromium; or set CHROMIUM to one")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def served(tmp_path_factory):
    """The address of a service that runs, and a link that signs its owner in once."""
    if not (PAGES / "index.html").exists():
        pytest.skip("the pages are not built: scripts/build-pages builds them")
    pytest.importorskip("fastapi", reason="the service's libraries are not installed")
    with serving(tmp_path_factory.mktemp("service")) as told:
        yield told


@pytest.fixture(scope="session")
def owner(chromium, served):
    """What a browser keeps of having signed in."""
    context = chromium.new_context()
    context.new_page().goto(served[1])
    kept = context.storage_state()
    context.close()
    return kept


@pytest.fixture(scope="session")
def demo():
    """The program that serves the console with demo data."""
    path = ROOT / "scripts" / "console_demo.py"
    spec = importlib.util.spec_from_file_location("console_demo", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["console_demo"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["console_demo"]


@pytest.fixture
def customers(chromium, served, owner):
    """The identifier of the dataset that the templates of policies are about; none is in force."""
    context = chromium.new_context(base_url=served[0], storage_state=owner)
    calling = Calling(context)
    for one in calling.call("GET", "/policies?limit=200")["items"]:
        if one["published_version"] and one["name"] != MASKING:
            calling.call("POST", f"/policies/{one['id']}:withdraw", {"reason": "the next test"})
    iri = "http://example.com/Customer"
    datasets = calling.call("GET", "/datasets?limit=200")["items"]
    named = next((one for one in datasets if one["iri"] == iri), None)
    if named is None:
        named = calling.call("POST", "/datasets", {"name": "To be planned", "iri": iri})
    context.close()
    return named["id"]


@pytest.fixture(scope="session")
def masking(chromium, served, owner):
    """Calls of the owner, a policy in force that masks a column, and data that it is about."""
    calling = Calling(chromium.new_context(base_url=served[0], storage_state=owner))
    ages = column("age", masking="top-coding", tail=2, replacement="label")
    action = anonymize(method="masking", identifier=["name"], masked=[ages])
    text = policy([permission(uid="http://x.org/policy/1", action=action, output=OUTPUT)])
    dataset = calling.upload("People", DATASET, PEOPLE)
    return calling, calling.publish(MASKING, text), dataset


@pytest.fixture(scope="session")
def release(masking):
    """The identifier of a release, made of the data by the policy."""
    calling, chosen, dataset = masking
    return f"{calling.sanitise(chosen, DATASET, dataset)['id']}-0"


@pytest.fixture
def open_page(chromium, served, owner):
    """Opens a path in a window of its own; at the end, nothing may have gone wrong in any."""
    contexts, faults = [], []

    def opened(path, width=1280, scheme="light", *, signed_in=True):
        context = chromium.new_context(
            base_url=served[0],
            viewport={"width": width, "height": 900},
            color_scheme=scheme,
            storage_state=owner if signed_in else None,
        )
        contexts.append(context)
        page = context.new_page()
        note_faults(page, served[0], faults)
        page.goto(path, wait_until="networkidle")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert faults == []


@pytest.fixture(scope="session")
def accessibility():
    """Says what axe finds of a page that is serious, as (rule, what it is about)."""
    if not AXE.exists():
        pytest.skip("axe is not installed: scripts/build-pages installs it")
    script = AXE.read_text("utf-8")

    def serious(page):
        with _developer_tools(page) as tools:
            tools.send("Runtime.evaluate", {"expression": script})
        found = page.evaluate("async () => (await axe.run()).violations")
        grave = [one for one in found if one["impact"] in ("serious", "critical")]
        return [(one["id"], one["nodes"][0]["html"]) for one in grave]

    return serious


@contextmanager
def _developer_tools(page):
    """Scripts that come by this way are not the page's: its security policy lets none in."""
    tools = page.context.new_cdp_session(page)
    yield tools
    tools.detach()
