"""Serves the console with demo data: python scripts/console_demo.py [FOLDER] [--port N].

Starts the service in a folder and does, by calls of its API, what people would do on their first
day: two of them are made known, two policies published, a file uploaded for each, and a run started
and waited for. What the folder has already is left as it is. Meanwhile the pages are built, if
their sources have changed. Then links to sign in by are printed, and the service answers until it
is interrupted.
"""

import argparse
import json
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import HTTPCookieProcessor, OpenerDirector, Request, build_opener

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = (sys.executable, "-m", "policy_engine")
PAGES = ROOT / "policy_engine" / "service" / "pages" / "index.html"
FOLDER = "demo-console"
_PATIENCE = 300.0


@dataclass(frozen=True)
class DemoPerson:
    """Somebody who signs in, and what they would look at first."""

    name: str
    roles: tuple[str, ...]
    party: str
    interest: str


@dataclass(frozen=True)
class DemoPolicy:
    """A policy of the folder `policies/`, and the sample data that it is about."""

    file: str
    name: str
    sample: str
    iri: str


PEOPLE = (
    DemoPerson("Sam", ("steward",), "", "uploads data, plans and starts runs"),
    DemoPerson(
        "Mia",
        ("consumer",),
        "http://org/user",
        "asks and queries as an analyst",
    ),
)
STATISTICS = DemoPolicy(
    "visits-statistics.jsonld", "Statistics of visits", "visits", "http://example.com/Visits"
)
CUSTOMERS = DemoPolicy(
    "customer.jsonld", "Customers for marketing", "customer", "http://example.com/Customer"
)


class Calling:
    """Calls of the API in the name of who has signed in by a link."""

    def __init__(self, address: str, link: str) -> None:
        self._api = f"{address.rstrip('/')}/api/v1"
        self._opener: OpenerDirector = build_opener(HTTPCookieProcessor(CookieJar()))
        self._headers: dict[str, str] = {}
        self._opener.open(link).close()
        self._headers["X-CSRF-Token"] = self.call("GET", "/me")["csrf_token"]

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """Return the answer to a call. Raises SystemExit, with what the service says, for none."""
        content = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        sent = {"Content-Type": "application/json", **self._headers, **_named(headers)}
        request = Request(f"{self._api}{path}", content, sent, method=method)  # noqa: S310
        try:
            with self._opener.open(request) as answer:
                return json.load(answer)
        except HTTPError as error:
            raise SystemExit(f"{method} {path}: {json.load(error)['detail']}") from None

    def items(self, path: str) -> list[dict[str, Any]]:
        """Return the first page of a list: what the demo makes fits on it."""
        items: list[dict[str, Any]] = self.call("GET", path)["items"]
        return items


def _named(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}


def seed(calling: Any, rows: int) -> str:
    """Make what the folder lacks of the demo; return the run that is to be waited for."""
    for person in PEOPLE:
        _ensure_person(calling, person)
    _ensure_stewards(calling)
    _ensure_dataset(calling, STATISTICS, rows)
    _ensure_policy(calling, STATISTICS)
    dataset = _ensure_dataset(calling, CUSTOMERS, rows)
    policy = _ensure_policy(calling, CUSTOMERS)
    return _ensure_run(calling, policy, CUSTOMERS.iri, dataset)


def _ensure_person(calling: Any, person: DemoPerson) -> None:
    if all(one["name"] != person.name for one in calling.items("/people")):
        known = {"name": person.name, "roles": [*person.roles], "party": person.party}
        calling.call("POST", "/people", known)


def _ensure_stewards(calling: Any) -> None:
    """Have the owner name those who are to work for them: stewards see nothing of others."""
    for one in calling.call("GET", "/stewards"):
        if not one["is_yours"]:
            calling.call("PUT", f"/stewards/{one['id']}")


def _ensure_policy(calling: Any, policy: DemoPolicy) -> str:
    rows = [one for one in calling.items("/policies") if one["name"] == policy.name]
    text = (ROOT / "policies" / policy.file).read_text("utf-8")
    row = rows[0] if rows else None
    if row is None:
        row = calling.call("POST", "/policies", {"name": policy.name, "text": text})
    if row["published_version"] is None:
        tag = f'"{row["revision"]}"'
        calling.call("POST", f"/policies/{row['id']}:publish", {}, If_Match=tag)
    return str(row["id"])


def _ensure_dataset(calling: Any, policy: DemoPolicy, rows: int) -> str:
    found = [one for one in calling.items("/datasets") if one["iri"] == policy.iri]
    described = {"name": f"Sample of {policy.sample.removesuffix('s')}s", "iri": policy.iri}
    row = found[0] if found else calling.call("POST", "/datasets", described)
    if row["digest"] is None:
        _upload(calling, row["id"], f"{policy.sample}.csv", _sample(policy.sample, rows))
    return str(row["id"])


def _sample(sample: str, rows: int) -> bytes:
    made = [*PROGRAM, "sample", sample, "--rows", str(rows), "--seed", "1"]
    return subprocess.run(made, check=True, capture_output=True, cwd=ROOT).stdout


def _upload(calling: Any, dataset: str, name: str, content: bytes) -> None:
    file = {"name": name, "size": len(content)}
    upload = calling.call("POST", f"/datasets/{dataset}/uploads", file)["id"]
    part = {"Content_Type": "application/offset+octet-stream", "Upload_Offset": "0"}
    calling.call("PATCH", f"/uploads/{upload}", content, **part)
    calling.call("POST", f"/uploads/{upload}:complete", {})


def _ensure_run(calling: Any, policy: str, iri: str, dataset: str) -> str:
    for one in calling.items("/runs?kind=sanitise"):
        if one["settings"]["policy"] == policy:
            return str(one["id"])
    wanted = {"kind": "sanitise", "policy": policy, "datasets": {iri: dataset}}
    return str(calling.call("POST", "/runs", wanted)["id"])


def wait_for(calling: Any, run: str) -> str:
    """Return the state that a run has come to its end in, or has after five minutes."""
    deadline, state = time.monotonic() + _PATIENCE, "queued"
    while state in ("queued", "running") and time.monotonic() < deadline:
        time.sleep(0.3)
        state = calling.call("GET", f"/runs/{run}")["state"]
    return state


def links(calling: Any) -> list[str]:
    """Return a line for each person: who they are, and a link by which they sign in once."""
    known = {one["name"]: one["id"] for one in calling.items("/people")}
    own = calling.call("GET", "/me")
    everything = "writes policies, and has all other roles"
    lines = []
    for one in (DemoPerson(own["name"], ("administrator",), "", everything), *PEOPLE):
        url = calling.call("POST", f"/people/{known[one.name]}:invite", {})["url"]
        lines.append(f"  {one.name}, {one.roles[0]}: {one.interest}\n    {url}")
    return lines


def building() -> "subprocess.Popen[bytes] | None":
    """Return the process that builds the pages; None if they are as their sources are."""
    files = (one for one in (ROOT / "console").rglob("*") if "node_modules" not in one.parts)
    generated = ROOT / "console" / "src" / "api" / "schema.ts"
    changed = max(one.stat().st_mtime for one in files if one.is_file() and one != generated)
    if PAGES.exists() and PAGES.stat().st_mtime >= changed:
        return None
    return subprocess.Popen([sys.executable, ROOT / "scripts" / "start.py", "build-pages"])


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve the demo until interrupted."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / FOLDER)
    parser.add_argument("--port", type=int, default=8642)
    parser.add_argument("--rows", type=int, default=2_000, help="rows of each sample")
    parser.add_argument("--no-build", action="store_true", help="leave the pages as they are")
    given = parser.parse_args(arguments)
    folder = str(given.folder.absolute())
    command = [*PROGRAM, "serve", "--folder", folder, "--port", str(given.port)]
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    builder = None if given.no_build else building()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        try:
            with suppress(KeyboardInterrupt):
                _serve(process, builder, given.rows)
        finally:
            for one in (process, builder):
                if one is not None:
                    one.terminate()


def _serve(
    process: "subprocess.Popen[str]", builder: "subprocess.Popen[bytes] | None", rows: int
) -> None:
    assert process.stdout  # noqa: S101 (it is a pipe)
    words = process.stdout.readline().split()
    if not words:  # it has said why, on its standard error
        raise SystemExit(process.wait())
    calling = Calling(words[0], words[-1])
    state = wait_for(calling, seed(calling, rows))
    if builder is not None and builder.wait():
        sys.stderr.write("The pages could not be built; the API answers all the same.\n")
    lines = "\n".join(links(calling))
    sys.stdout.write(
        f"\nThe console is at {words[0]} and its first run has {state}.\n"
        f"Each of these links signs in once, within 15 minutes:\n\n{lines}\n\nCtrl-C ends it.\n"
    )
    sys.stdout.flush()
    process.wait()


if __name__ == "__main__":
    main()
