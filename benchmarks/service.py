"""How fast the service answers, over the loopback and for a bounded time.

    python benchmarks/service.py [--quick] [--workers N] [--json FILE]
        [--database postgresql://USER@HOST/NAME]

Starts `policy-engine serve` in a folder of its own and calls it from this process, which takes its
share of the same cores. Beside each time stands the time of the processor that the service took for
it, which other work on the machine changes less.
"""

import argparse
import asyncio
import gzip
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from itertools import count, islice, repeat
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests")]

from followed import cheap, steward  # noqa: E402
from served import API, CUSTOMER, service  # noqa: E402

from policy_engine.decision.log import DecisionLog  # noqa: E402
from policy_engine.decision.model import Decision, Request  # noqa: E402
from policy_engine.service.runs.queue import RunQueue  # noqa: E402
from policy_engine.service.store.runs import StoredRun  # noqa: E402

TEXT = CUSTOMER.read_text("utf-8")
OUTPUT, PARTY = "http://example/anonCustomer", "http://org/user"
NOTED = re.compile(rb'"done":(\d{9,}),')
TICKS = os.sysconf("SC_CLK_TCK")


class Served:
    """A service that runs in a process of its own, and a key of who may do everything."""

    def __init__(self, folder, database, workers=1):
        command = [sys.executable, "-m", "policy_engine", "serve", "--port", "0", "--runs", "0"]
        given = ["--folder", str(folder), *(["--database", database] if database else [])]
        given += ["--workers", str(workers)]
        began = time.monotonic()
        self.process = subprocess.Popen(
            [*command, *given], stdout=subprocess.PIPE, text=True, cwd=ROOT
        )
        words = self.process.stdout.readline().split()
        self.host, self.port = urlsplit(words[0]).hostname, urlsplit(words[0]).port
        self.page = self.get("/")
        self.seconds_to_page = time.monotonic() - began
        self.cpu_to_page = self.cpu()
        self.headers = {"Content-Type": "application/json", **self._sign_in(words[-1])}

    def _sign_in(self, link):
        answer = self.ask("GET", link.split(str(self.port), 1)[1], None, {})
        headers = {"Cookie": answer.getheader("set-cookie").split(";")[0]}
        token = json.loads(self.ask("GET", f"{API}/me", None, headers).read())["csrf_token"]
        sent = {"name": "all", "roles": ["owner", "steward", "consumer", "auditor"]}
        headers |= {"X-CSRF-Token": token, "Content-Type": "application/json"}
        key = json.loads(self.ask("POST", f"{API}/keys", sent, headers).read())["key"]
        return {"Authorization": f"Bearer {key}"}

    def ask(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection(self.host, self.port)
        content = None if body is None else json.dumps(body)
        connection.request(method, path, content, self.headers if headers is None else headers)
        return connection.getresponse()

    def get(self, path):
        return self.ask("GET", path, None, {}).read()

    def call(self, method, path, body=None, **headers):
        answer = self.ask(method, f"{API}{path}", body, {**self.headers, **headers})
        value = json.loads(answer.read())
        assert answer.status < 300, value
        return value

    def cpu(self):
        """Return the seconds of the processor that all processes of the service have taken."""
        stats = (Path(f"/proc/{one}/stat").read_text() for one in self.processes())
        fields = (one.rpartition(")")[2].split() for one in stats)
        return sum(int(one[11]) + int(one[12]) for one in fields) / TICKS

    def memory(self):
        """Return the MB that are resident, of all processes of the service."""
        texts = (Path(f"/proc/{one}/status").read_text() for one in self.processes())
        return sum(int(re.search(r"VmRSS:\s+(\d+)", one)[1]) for one in texts) / 1024

    def processes(self):
        """Return the processes of the service."""
        tasks = Path(f"/proc/{self.process.pid}/task").glob("*/children")
        return [self.process.pid, *(int(one) for task in tasks for one in task.read_text().split())]


@contextmanager
def serving(database, workers=1):
    with tempfile.TemporaryDirectory() as folder:
        served = Served(folder, database, workers)
        while len(served.processes()) < workers:
            time.sleep(0.1)
        time.sleep(5 if workers > 1 else 0)  # until all of them answer
        try:
            yield served, Path(folder)
        finally:
            served.process.send_signal(signal.SIGTERM)
            served.process.wait()


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


async def _client(served, requests, end, times):
    reader, writer = await asyncio.open_connection(served.host, served.port)
    while time.monotonic() < end:
        request = next(requests)
        began = time.monotonic()
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 2"), head[:200]
        length = int(re.search(rb"(?i)content-length: (\d+)", head)[1])
        await reader.readexactly(length)
        times.append(time.monotonic() - began)
    writer.close()


def _requests(served, path, bodies):
    """Yield calls with one body after another."""
    lines = [f"POST {API}{path} HTTP/1.1", f"Host: 127.0.0.1:{served.port}"]
    lines += [f"{name}: {value}" for name, value in served.headers.items()]
    for body in bodies:
        yield "\r\n".join([*lines, f"Content-Length: {len(body)}", "", ""]).encode() + body


def load(served, path, bodies, clients, seconds):
    """Return calls a second, the median and the 99th percentile in ms, and CPU ms a call."""
    requests = _requests(served, path, bodies)
    times, before, began = [], served.cpu(), time.monotonic()

    async def all_clients():
        end = time.monotonic() + seconds
        await asyncio.gather(*(_client(served, requests, end, times) for _ in range(clients)))

    asyncio.run(all_clients())
    taken = time.monotonic() - began
    return {
        "per_s": len(times) / taken,
        "p50_ms": percentile(times, 0.5) * 1e3,
        "p99_ms": percentile(times, 0.99) * 1e3,
        "cpu_ms": (served.cpu() - before) / len(times) * 1e3,
    }


def check_policies(served, seconds):
    """The text of the customers' policy and one with eight of its rules, again and again, as who
    looks at a page sends it, and changed each time, as who types does."""
    for text in (TEXT.encode(), _large().encode()):
        size = f"{len(text) / 1000:.0f} kB"
        other = (text.replace(b'"10"', b'"%d"' % i) for i in count(10))  # another k
        same = repeat(text)
        yield f"check, {size}, the same", load(served, "/policies:check", same, 10, seconds)
        yield f"check, {size}, another", load(served, "/policies:check", other, 10, seconds)


def _large():
    policy = json.loads(TEXT)
    [rule] = policy["permission"]
    numbered = [
        {**rule, "uid": f"{rule['uid']}/{i}", "output": f"{rule['output']}{i}"} for i in range(8)
    ]
    return json.dumps({**policy, "permission": numbered}, indent=1)


def publish(served):
    served.call("POST", "/datasets", {"name": "customers", "iri": "http://example.com/Customer"})
    policy = served.call("POST", "/policies", {"name": "customers", "text": TEXT})
    tag = {"If-Match": f'"{policy["revision"]}"'}
    served.call("POST", f"/policies/{policy['id']}:publish", {}, **tag)


def decide(served, seconds):
    publish(served)
    asked = {"assignee": PARTY, "action": "read", "target": [OUTPUT], "purpose": "marketing"}
    body = json.dumps(asked).encode()
    yield "decisions, 10 clients", load(served, "/decisions", repeat(body), 10, seconds)
    yield "decisions, 1 client", load(served, "/decisions", repeat(body), 1, seconds)


async def _listen(served, state, lags, ready):
    reader, writer = await asyncio.open_connection(served.host, served.port, limit=2**20)
    key = served.headers["Authorization"]
    asked = [f"GET {API}/events HTTP/1.1", f"Host: 127.0.0.1:{served.port}"]
    writer.write("\r\n".join([*asked, f"Authorization: {key}", "", ""]).encode())
    await reader.readuntil(b"the stream has begun")
    ready.append(1)
    rest = b""
    while time.time() < state["end"]:
        rest += await reader.read(2**16)
        now = time.time()
        lags.extend(now - int(sent) / 1000 for sent in NOTED.findall(rest))
        rest = rest[-100:] if NOTED.search(rest[-100:]) is None else b""
    writer.close()


def stream(served, folder, database, streams, runs, seconds):
    """Progress says when it was noted; who hears of it compares that with their own clock."""
    ready, lags, state = [], [], {"end": time.time() + 600}

    def progress(queue, holdings):
        while len(ready) < streams:
            time.sleep(0.1)
        state["end"] = time.time() + seconds
        while time.time() < state["end"]:
            for one in holdings:
                queue.note_progress(one, "reading", int(time.time() * 1000), 2**60)
                time.sleep(0.5 / len(holdings))

    async def all_streams():
        await asyncio.gather(*(_listen(served, state, lags, ready) for _ in range(streams)))

    with service(folder, database=database) as services:
        actor = steward(services)
        for _ in range(runs):
            cheap(services).create(actor, "wait", {})
        queue = RunQueue(services.database, "here.1")
        holdings = [queue.claim() for _ in range(runs)]
        before, began = served.cpu(), time.monotonic()
        thread = threading.Thread(target=progress, args=(queue, holdings))
        thread.start()
        asyncio.run(all_streams())
        thread.join()
    return {
        "streams": streams,
        "events": len(lags),
        "lag_p50_ms": percentile(lags, 0.5) * 1e3,
        "lag_p95_ms": percentile(lags, 0.95) * 1e3,
        "cpu_share": (served.cpu() - before) / (time.monotonic() - began),
        "memory_mb": served.memory(),
    }


def list_runs(served, folder, database, number):
    with service(folder, database=database) as services:
        owner = steward(services).id
        with services.database.writing() as session:
            session.add_all(
                StoredRun(kind="sanitise", owner_id=owner, settings={}, state="failed", attempts=3)
                for _ in range(number)
            )
    for name, path in (
        ("first page of 50", "/runs"),
        ("first page of 200", "/runs?limit=200"),
        ("by a state", "/runs?state=succeeded"),
        ("by a kind", "/runs?kind=explore"),
    ):
        yield f"{number} runs, {name}", read(served, path)


def list_log(served, folder, number):
    """Fill the log of decisions, and read it from its end."""
    log = DecisionLog.open(folder / "decisions.sqlite", folder / "keys" / "decisions.key")
    entries = (_decision(one) for one in range(number))
    while some := [*islice(entries, 5_000)]:
        with log.transaction() as transaction:
            for one in some:
                transaction.append(one)
    for name, path in (
        ("last 50", "/decisions"),
        ("denied", "/decisions?effect=deny"),
        ("one asker of 500", "/decisions?assignee=http://org/person/7"),
        ("an asker of none", "/decisions?assignee=http://org/nobody"),
    ):
        yield f"log of {number}, {name}", read(served, path)


def _decision(number):
    person, action = f"http://org/person/{number % 500}", "http://www.w3.org/ns/odrl/2/read"
    asked = Request(assignee=person, action=action, targets=(OUTPUT,), purpose="marketing")
    effect = "deny" if number % 3 else "permit"
    return Decision(effect=effect, request=asked, reason="Because.")


def read(served, path):
    """Return how long a call takes, the slowest of twenty too, and CPU ms a call."""
    times, before = [], served.cpu()
    for _ in range(20):
        began = time.monotonic()
        served.call("GET", path)
        times.append(time.monotonic() - began)
    cpu = (served.cpu() - before) / len(times)
    return {"p50_ms": percentile(times, 0.5) * 1e3, "p99_ms": max(times) * 1e3, "cpu_ms": cpu * 1e3}


def first_page(served):
    """What a browser loads first: the document, and the scripts and styles that it names."""
    names = re.findall(r'(?:src|href)="(/assets/[^"]+)"', served.page.decode())
    bodies = [served.page, *(served.get(one) for one in names)]
    return {
        "seconds": served.seconds_to_page,
        "cpu_s": served.cpu_to_page,
        "files": len(bodies),
        "kb": sum(map(len, bodies)) / 1000,
        "compressed_kb": sum(len(gzip.compress(one)) for one in bodies) / 1000,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--database", default="")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    seconds, streams, number = (3, 50, 1_000) if given.quick else (10, 500, 10_000)
    results = {}

    def note(name, figures):
        results[name] = figures
        print(f"{name:30}", "  ".join(f"{key} {value:,.1f}" for key, value in figures.items()))

    with serving(given.database, given.workers) as (served, folder):
        note("start to first page", first_page(served))
        for one in check_policies(served, seconds):
            note(*one)
        for one in decide(served, seconds):
            note(*one)
        for one in list_runs(served, folder, given.database, number):
            note(*one)
        for one in list_log(served, folder, 10 * number):
            note(*one)
        note("events", stream(served, folder, given.database, streams, 20, seconds))
    if given.json:
        given.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
