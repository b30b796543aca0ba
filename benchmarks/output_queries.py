"""What it costs to answer a query whose output is checked, beside the same query unchecked.

    python benchmarks/output_queries.py [--quick]

A count and a total of 1,000,000 rows in 2,599 groups: the plain query; its answer with the evidence
of each cell and the verdict; and the whole, with the ledger of released answers, an empty one.
Without a unit of privacy each row is one; units are `one` row each, three on average anywhere
(`repeated`), or three in one group (`panel`). Times are the least of some runs, once everything is
compiled: seconds of the processor, and of the clock. It prints one object of JSON.
"""

import argparse
import json
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

from policy_engine.api.deciding import query_data
from policy_engine.decision.query.checking import checked_answer
from policy_engine.decision.query.checking.ledger_checks import AnswerLedger, RecordedAnswer
from policy_engine.policy import read_policy

TABLE, ASSIGNEE = "http://example.com/T", "http://example.com/researcher"
SQL = "SELECT place, COUNT(*) AS n, SUM(pay) AS s FROM T GROUP BY place"
GROUPS = 2_599
CHECK = ("pe:outputCheck", "sacro")


def policy_with(*parts):
    """Return a policy that lets the researcher read, or what passes a check."""
    refinements = [
        {"leftOperand": name, "operator": "eq", "rightOperand": value} for name, value in parts
    ]
    action = {"rdf:value": {"@id": "odrl:read"}}
    rule = {
        "assignee": ASSIGNEE,
        "target": TABLE,
        "action": [action | ({"refinement": refinements} if parts else {})],
    }
    contexts = [
        "http://www.w3.org/ns/odrl.jsonld",
        "https://www.mosaicrown.eu/ns/mosaicrown.jsonld",
    ]
    whole = {"@context": contexts, "@type": "Set", "uid": "http://example.com/policy"}
    return read_policy(json.dumps({**whole, "permission": [rule]}))


def people(rows, seed=1):
    """Return rows of places, pays, and units that have one row, or three here or there."""
    draws = np.random.default_rng(seed)
    return pa.table(
        {
            "one": draws.permutation(rows),
            "repeated": draws.integers(0, rows // 3, rows),
            "panel": np.arange(rows) // 3,
            "place": np.repeat(draws.integers(0, GROUPS, rows // 3 + 1), 3)[:rows],
            "pay": draws.lognormal(10, 1, rows),
        }
    )


def least_times(calls, runs):
    """Return the least processor and clock time of each call, in turn with the others."""
    spent = {name: [] for name in calls}
    for number in range(runs + 1):
        for name, call in calls.items():
            start = time.process_time(), time.perf_counter()
            call()
            if number:  # The first time, it compiles.
                took = time.process_time() - start[0], time.perf_counter() - start[1]
                spent[name].append(took)
    return {
        name: dict(zip(("cpu_s", "clock_s"), map(min, zip(*some, strict=True)), strict=True))
        for name, some in spent.items()
    }


class NoLedger(AnswerLedger):
    """Holds an answer against nothing: only for the time that the rest takes."""

    def check(self, gathered, verdict, rows, tables, near, use=None):  # noqa: ARG002
        """Return the verdict as it is."""
        return verdict, RecordedAnswer(self.scope)


def query_with(table, folder, *parts):
    """Answer the query under a policy, with a ledger of its own."""
    path = Path(tempfile.mkdtemp(dir=folder)) / "answers"
    return query_data(SQL, [policy_with(*parts)], ASSIGNEE, {TABLE: table}, output_ledger=path)


def evidence_only(table, folder, *parts):
    """Answer the query without holding the answer against a ledger."""
    check, checked_answer.AnswerLedger.check = AnswerLedger.check, NoLedger.check
    try:
        return query_with(table, folder, *parts)
    finally:
        AnswerLedger.check = check


def figures(rows, runs):
    """Return the times of the plain query and of each way to check it, and their ratios."""
    table, units = people(rows), ("rows", "one", "repeated", "panel")
    with tempfile.TemporaryDirectory() as folder:
        calls = {"plain": partial(query_with, table, folder)}
        for unit in units:
            parts = [CHECK] if unit == "rows" else [CHECK, unit_of(unit)]
            calls[f"{unit}, evidence"] = partial(evidence_only, table, folder, *parts)
            calls[f"{unit}, ledger"] = partial(query_with, table, folder, *parts)
        times = least_times(calls, runs)
    plain = times["plain"]["cpu_s"]
    more = {
        name: {
            **{what: round(value, 3) for what, value in one.items()},
            "of_plain": round(one["cpu_s"] / plain, 2),
        }
        for name, one in times.items()
    }
    return {"rows": rows, "groups": GROUPS, "times": more}


def unit_of(column):
    """Return the part of a policy that names the column of units."""
    return "pe:privacyUnit", {"@id": f"{TABLE}/{column}"}


def main():
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="100,000 rows, one run of each")
    is_quick = parser.parse_args().quick
    print(json.dumps(figures(100_000, 1) if is_quick else figures(1_000_000, 7), indent=2))


if __name__ == "__main__":
    main()
