"""The demo that scripts/console serves: what its folder has, and that it is there once."""

import re
import signal
import subprocess
import sys

import pytest
from places import ROOT
from served import API, browser, service, signed_in

PROGRAM = ROOT / "scripts" / "console_demo.py"


@pytest.fixture
def services(tmp_path):
    with service(tmp_path) as opened:
        yield opened


class CallingHere:
    """Calls of an administrator that has all roles, without a socket."""

    def __init__(self, services):
        roles = ("owner", "steward", "consumer", "auditor", "administrator")
        self.client = signed_in(services, *roles, name="Owner")

    def call(self, method, path, body=None, **headers):
        content = {"content": body} if isinstance(body, bytes) else {"json": body}
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        answer = self.client.request(method, f"{API}{path}", headers=sent, **content)
        assert answer.is_success, answer.text
        return answer.json()

    def items(self, path):
        return self.call("GET", path)["items"]


@pytest.mark.nightly
def test_the_demo_has_two_policies_in_force_two_people_and_a_run_and_is_made_once(demo, services):
    calling = CallingHere(services)
    run = demo.seed(calling, rows=60)
    assert demo.seed(calling, rows=60) == run
    policies = calling.items("/policies")
    assert [one["published_version"] for one in policies] == [1, 1]
    assert [one["rows"] for one in calling.items("/datasets")] == [60, 60]
    assert {one["name"] for one in calling.items("/people")} == {"Owner", "Sam", "Mia"}
    assert [one["id"] for one in calling.items("/runs")] == [run]


@pytest.mark.nightly
def test_each_person_of_the_demo_gets_a_link_that_signs_in(demo, services):
    calling = CallingHere(services)
    demo.seed(calling, rows=60)
    names = []
    for line in demo.links(calling):
        client = browser(services)
        client.get(line.split()[-1], follow_redirects=False)
        names.append(client.get(f"{API}/me").json()["name"])
    assert names == ["Owner", "Sam", "Mia"]


@pytest.mark.nightly
def test_the_demo_is_served_until_it_is_interrupted(tmp_path):
    command = [sys.executable, PROGRAM, tmp_path / "kept", "--port", "0", "--no-build"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        shown = ""
        while "Ctrl-C" not in shown:
            shown += process.stdout.readline()
        process.send_signal(signal.SIGINT)
        process.wait(timeout=30)
    assert re.search(r"The console is at http://127\.0\.0\.1:\d+/ .* has succeeded", shown)
    assert process.returncode == 0
