"""What a decision costs, beside a way that walks every rule, and what reading a policy costs.

    python benchmarks/decisions.py [--quick] [--json FILE] [--before FOLDER]

With `--before`, decisions and reading are measured in turn with the package of another checkout, in
processes of their own, and the fastest of three runs of each is shown with the ratio.

Policies are made up: a tenth of the rules prohibit, a third have constraints, parties, assets and
purposes have hierarchies. Requests are half such as a rule is for, half drawn at random. Each
figure is of warm decisions, explanation included, on one core; CPU is that of the thread. What is
read is such a policy, with the memory that it takes, and the texts that cost most: as many
permissions as prohibitions on one asset that never meet, or that all do, under the conflict
strategy `invalid`, and one node with as many properties.
"""

import argparse
import json
import os
import platform
import random
import resource
import statistics
import subprocess
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from policy_engine import terms
from policy_engine.decision import Decider, Request, World
from policy_engine.errors import PolicyError
from policy_engine.policy import (
    Action,
    Asset,
    Constraint,
    Hierarchy,
    Party,
    Policy,
    Rule,
    Value,
    read_policy,
)
from policy_engine.policy.syntax.limits import DEFAULT_LIMITS

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
ODRL = terms.ODRL
ACTIONS = [f"{ODRL}{name}" for name in ("read", "use", "write", "display")]
WORLD = World(time=datetime(2026, 6, 1, tzinfo=UTC), values={"spatial": ("http://geo/eu",)})
BOUNDS = [
    Constraint(f"{ODRL}dateTime", f"{ODRL}lt", (Value(datetime(2027, 1, 1, tzinfo=UTC)),)),
    Constraint(f"{ODRL}spatial", f"{ODRL}eq", (Value("http://geo/eu", type="@id"),)),
    Constraint(f"{ODRL}dateTime", f"{ODRL}gt", (Value(datetime(2026, 1, 1, tzinfo=UTC)),)),
]

SPECIAL = {
    "permissions that differ in purpose alone": 5_000,
    "prohibitions that differ in purpose alone": 5_000,
    "memberships that differ each time": 10_000,
    "the same, in a policy that they might void": 10_000,
}
"""Policies and worlds that are hard to index, and how many rules there are."""
READ = {
    "rules that never meet": (600, 1_200, 5_000),
    "rules that all clash": (600, 1_200, 5_000),
    "properties of one node": (10_000, 20_000),
}
"""What is read, and how many rules of each kind, or properties, there are."""


RUNS = 3


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer requests, smaller policies")
    parser.add_argument("--json", type=Path, default=ROOT / "benchmarks/results/decisions.json")
    parser.add_argument("--before", type=Path, help="another checkout, to be measured in turn")
    parser.add_argument("--part", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part:
        print(json.dumps(part(options.part, quick=options.quick)))
        return
    if options.before:
        beside(options)
        return
    sizes = (10, 1_000, 10_000) if options.quick else (10, 1_000, 10_000, 100_000)
    figures = []
    for rules in sizes:
        figures.append(measured(rules, 1_000 if options.quick else 10_000))
        print("  ".join(f"{key} {value:,}" for key, value in figures[-1].items()))
    special = []
    for kind, size in SPECIAL.items():
        special.append(hold(kind, size, 100 if options.quick else 1_000))
        print("  ".join(f"{key} {value}" for key, value in special[-1].items()))
    reading = [part(name, quick=options.quick) for name in parts(options.quick) if "read" in name]
    for one in reading:
        print("  ".join(f"{key} {value}" for key, value in one.items()))
    for kind, sizes in READ.items():
        for size in sizes[:1] if options.quick else sizes:
            reading.append(read(kind, size))
            print("  ".join(f"{key} {value}" for key, value in reading[-1].items()))
    report = {
        "machine": machine(),
        "quick": options.quick,
        "figures": figures,
        "special": special,
        "reading": reading,
    }
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(report, indent=2) + "\n")
    print(f"saved to {options.json}")


def parts(quick):
    """Return what is measured in turn with another checkout: what, and of how many rules."""
    sizes = (1_000, 10_000) if quick else (1_000, 10_000, 100_000)
    return [f"{what} {size}" for what in ("decide", "read") for size in sizes]


def part(name, *, quick):
    what, size = name.split()
    return (
        usual_reading(int(size)) if what == "read" else cpu_of(int(size), 500 if quick else 5_000)
    )


def beside(options):
    """Measure both checkouts in turn, and print the best of each with their ratio."""
    rows = []
    for name in parts(options.quick):
        runs = {"before": [], "now": []}
        for _ in range(RUNS):
            for which, folder in (("before", options.before), ("now", ROOT)):
                runs[which].append(in_process(name, folder, quick=options.quick))
        best = {
            which: {key: min(run[key] for run in some) for key in some[0]}
            for which, some in runs.items()
        }
        for key, now in best["now"].items():
            row = {"what": name, "figure": key, "before": best["before"][key], "now": now}
            row["ratio"] = round(now / row["before"], 2) if row["before"] else None
            rows.append(row)
            print("  ".join(f"{key} {value}" for key, value in row.items()))
    options.json.parent.mkdir(parents=True, exist_ok=True)
    report = {"machine": machine(), "quick": options.quick, "rows": rows}
    options.json.write_text(json.dumps(report, indent=2) + "\n")


def in_process(name, folder, *, quick):
    command = [sys.executable, __file__, "--part", name, *(["--quick"] if quick else [])]
    done = subprocess.run(
        command,
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(folder.resolve())},
    )
    return json.loads(done.stdout.splitlines()[-1])


def usual_reading(rules):
    """Return the CPU milliseconds that a rule of a policy takes to be read, and the memory."""
    draw = random.Random(rules)
    text = json.dumps(usual(rules, draw), indent=1)
    small = json.dumps(usual(10, draw))
    limits = DEFAULT_LIMITS._replace(bytes=10**9, values=10**9)
    read_policy(small, limits=limits)
    earlier = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    policy = read_policy(text, limits=limits)
    spent = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert len(policy.rules) == rules
    return {
        "ms a rule": round(spent / rules * 1e3, 3),
        "s": round(spent, 2),
        "MB": peak // 1024,
        "MB more": (peak - earlier) // 1024,
    }


def usual(rules, draw):
    """Return a policy in JSON-LD: as many rules, of which three quarters have constraints."""
    users = [f"http://org/user/{n}" for n in range(max(rules // 10, 10))]
    tables = [f"http://org/data/{n}" for n in range(max(rules // 20, 10))]
    moments = [{"@value": f"202{n}-01-01T00:00:00Z", "@type": "xsd:dateTime"} for n in (6, 7)]
    bounds = [
        {"leftOperand": "dateTime", "operator": "lt", "rightOperand": moments[1]},
        {"leftOperand": "spatial", "operator": "eq", "rightOperand": {"@id": "http://geo/eu"}},
        {"leftOperand": "dateTime", "operator": "gt", "rightOperand": moments[0]},
    ]
    kinds = {"permission": [], "prohibition": []}
    for n in range(rules):
        column = f"/column{draw.randrange(10)}" if draw.random() < 0.5 else ""
        one = {
            "uid": f"http://org/rule/{n}",
            "assignee": draw.choice(users),
            "target": draw.choice(tables) + column,
            "action": draw.choice(["read", "use", "modify", "display"]),
        }
        if draw.random() < 0.5:
            one["purpose"] = f"http://org/purpose/{draw.randrange(50)}"
        constraints = draw.sample(bounds, draw.choice([0, 0, 1, 2]))
        kinds["prohibition" if n % 10 == 9 else "permission"].append(
            one | ({"constraint": constraints} if constraints else {})
        )
    contexts = [
        "http://www.w3.org/ns/odrl.jsonld",
        "https://www.mosaicrown.eu/ns/mosaicrown.jsonld",
    ]
    profile = "https://www.mosaicrown.eu/ns/mosaicrown/1/"
    return {
        "@context": contexts,
        "@type": "Set",
        "uid": "http://org/p",
        "profile": profile,
        **kinds,
    }


def cpu_of(rules, asked):
    """Return the CPU microseconds of decisions, and of decisions from JSON to JSON."""
    policy, requests = market(rules, asked, random.Random(rules))
    decider = Decider([policy])
    texts = [request.model_dump_json() for request in requests]

    def through_json(text):
        return decider.decide(Request.model_validate_json(text), WORLD).model_dump_json()

    figures = {}
    for name, ask, given in (
        ("", lambda request: decider.decide(request, WORLD), requests),
        ("JSON ", through_json, texts),
    ):
        for one in given:
            ask(one)
        times = []
        for one in given:
            start = time.thread_time_ns()
            ask(one)
            times.append((time.thread_time_ns() - start) / 1_000)
        times.sort()
        figures[f"{name}median us"] = round(statistics.median(times), 1)
        figures[f"{name}p99 us"] = round(times[int(len(times) * 0.99)], 1)
    return figures


def machine():
    return {
        "date": time.strftime("%Y-%m-%d"),
        "cores": os.cpu_count(),
        "machine": platform.machine(),
        "python": platform.python_version(),
        **{name: version(name) for name in ("policy-engine", "pydantic")},
    }


def measured(rules, asked):
    policy, requests = market(rules, asked, random.Random(rules))
    start = time.process_time()
    decider = Decider([policy])
    built = time.process_time() - start
    for request in requests:
        decider.decide(request, WORLD)
    times, permits = [], 0
    started = time.process_time()
    for request in requests:
        start = time.perf_counter()
        permits += decider.decide(request, WORLD).permitted
        times.append(time.perf_counter() - start)
    spent = time.process_time() - started
    naive = walked(policy, requests, decider)
    times.sort()
    median = statistics.median(times)
    return {
        "rules": rules,
        "build s": round(built, 3),
        "median us": round(median * 1e6, 1),
        "p99 us": round(times[int(len(times) * 0.99)] * 1e6, 1),
        "a second": round(len(requests) / spent),
        "permitted": round(permits / len(requests), 2),
        "walking us": round(naive * 1e6, 1),
        "times faster": round(naive / median, 1),
    }


def hold(kind, size, asked):
    """Return what decisions cost where rules, or worlds, are hard to tell apart."""
    decider, cases = special(kind, size, asked, random.Random(size))
    decider.decide(*cases[0])
    times, permits = [], 0
    for request, world in cases:
        start = time.perf_counter()
        permits += decider.decide(request, world).permitted
        times.append(time.perf_counter() - start)
    return {
        "special": kind,
        "rules": size,
        "median us": round(statistics.median(times) * 1e6, 1),
        "permitted": round(permits / asked, 2),
    }


def special(kind, size, asked, draw):
    """Return a decider, and requests each with the world that it is asked in."""
    if kind.endswith("purpose alone"):
        which = kind.partition("s that")[0]
        purposes = [f"http://org/purpose/{n}" for n in range(size)]
        one = {"targets": (Asset("http://org/data"),), "actions": (Action(ACTIONS[0]),)}
        rules = [Rule(which, **one, uid=f"http://org/rule/{p}", purposes=(p,)) for p in purposes]
        whole = [Rule("permission", **one)] if which == "prohibition" else []
        requests = [
            Request(
                assignee="http://org/ann",
                action=ACTIONS[0],
                targets=("http://org/data",),
                purpose=draw.choice(purposes),
            )
            for _ in range(asked)
        ]
        return Decider([whole_policy([*whole, *rules])]), [(one, WORLD) for one in requests]
    policy, requests = market(size, asked, draw)
    if "void" in kind:
        # Prohibitions of what nobody may do else, so that nothing clashes but by what is added.
        others = [replace(one, targets=(Asset(f"urn:x:{one.uid}"),)) for one in policy.prohibitions]
        policy = replace(policy, conflict="invalid", prohibitions=tuple(others))
    worlds = [
        WORLD.model_copy(
            update={
                "memberships": Hierarchy(
                    party=((one.assignee, f"http://org/group/{draw.randrange(size // 100)}"),),
                    asset=((f"http://org/new/{n}", "http://org/lake/1"),),
                )
            }
        )
        for n, one in enumerate(requests)
    ]
    return Decider([policy]), list(zip(requests, worlds, strict=True))


def whole_policy(rules, **parts):
    usual = {"uid": "http://org/policy", "type": f"{ODRL}Set", "conflict": "prohibit"}
    kinds = {
        f"{kind}s": tuple(one for one in rules if one.kind == kind)
        for kind in ("permission", "prohibition")
    }
    return Policy(**{**usual, "digest": "0" * 64, **kinds, **parts})


def read(kind, size):
    """Return the CPU seconds that reading a made-up text takes, and how many problems it has."""
    text = json.dumps(hard(kind, size))
    start = time.process_time()
    try:
        problems = len(read_policy(text).hints)
    except PolicyError as error:
        problems = len(error.problems)
    spent = time.process_time() - start
    return {"read": kind, "size": size, "cpu s": round(spent, 2), "problems": problems}


def hard(kind, size):
    base = {"@context": "http://www.w3.org/ns/odrl.jsonld", "@type": "Set", "uid": "http://org/p"}
    rule = {"target": "http://org/data", "action": "read"}
    if kind == "properties of one node":
        many = {f"http://purl.org/dc/terms/{n}": "x" for n in range(size)}
        return {**base, "permission": {**rule, **many}}

    def rules(operator):
        bound = {"leftOperand": "dateTime", "operator": operator, "rightOperand": "2030-01-01"}
        meet = {} if kind == "rules that all clash" else {"constraint": bound}
        return [{**rule, **meet} for _ in range(size)]

    return {**base, "permission": rules("lt"), "prohibition": rules("gteq")}


def walked(policy, requests, decider):
    """Return the seconds that a request takes where every rule is walked; both must agree."""
    import naive

    few = requests[: max(2, min(100, 50_000 // len(policy.rules)))]
    start = time.perf_counter()
    effects = [naive.decide([policy], request, WORLD)[0] for request in few]
    spent = (time.perf_counter() - start) / len(few)
    if effects != [decider.decide(request, WORLD).effect for request in few]:
        raise SystemExit("the decider and the slow way disagree")
    return spent


def market(rules, asked, draw):
    users = [f"http://org/user/{n}" for n in range(max(rules // 10, 10))]
    groups = [f"http://org/group/{n}" for n in range(max(rules // 100, 5))]
    tables = [f"http://org/data/{n}" for n in range(max(rules // 20, 10))]
    purposes = [f"http://org/purpose/{n}" for n in range(50)]
    hierarchy = Hierarchy(
        party=(
            *((user, draw.choice(groups)) for user in users),
            *((group, f"http://org/unit/{draw.randrange(5)}") for group in groups),
        ),
        asset=tuple((table, f"http://org/lake/{draw.randrange(10)}") for table in tables),
        purpose=tuple((purposes[n], purposes[n // 3]) for n in range(1, 50)),
    )
    made = [rule(n, users + groups * 3, tables, purposes, draw) for n in range(rules)]
    policy = whole_policy(made, hierarchy=hierarchy)
    return policy, [request(policy, users, tables, purposes, draw) for _ in range(asked)]


def rule(number, parties, tables, purposes, draw):
    column = f"/column{draw.randrange(10)}" if draw.random() < 0.5 else ""
    return Rule(
        "prohibition" if number % 10 == 9 else "permission",
        targets=(Asset(draw.choice(tables) + column),),
        actions=(Action(draw.choice(ACTIONS)),),
        uid=f"http://org/rule/{number}",
        assignees=(Party(draw.choice(parties)),),
        purposes=(draw.choice(purposes),) if draw.random() < 0.5 else (),
        constraints=tuple(draw.sample(BOUNDS, draw.choice([0, 0, 1, 2]))),
    )


def request(policy, users, tables, purposes, draw):
    if draw.random() < 0.5:
        like = draw.choice(policy.permissions)
        return Request(
            assignee=like.assignees[0].iri,
            action=like.actions[0].iri,
            targets=(like.targets[0].iri,),
            purpose=like.purposes[0] if like.purposes else draw.choice(purposes),
        )
    return Request(
        assignee=draw.choice(users),
        action=draw.choice(ACTIONS),
        targets=(f"{draw.choice(tables)}/column1",),
        purpose=draw.choice(purposes),
    )


if __name__ == "__main__":
    main()
