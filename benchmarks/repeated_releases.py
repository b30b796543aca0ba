"""What it costs to form classes together with those of an earlier release, and what it loses.

    python benchmarks/repeated_releases.py [--quick] [--k K] [--json FILE]

For every table, a first release by some quasi-identifiers, and a second one by others, made three
ways: without a ledger, looked at together with the first, and jointly with it. CPU seconds are of
one process, which read, wrote and measured the release; GCP is the global certainty penalty of the
second release. With --quick, only adult.
"""

import argparse
import gzip
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow.csv as pacsv
from local import SHARED

from policy_engine import apply_policy, short_policy

DATA = "http://example.com/People"
TABLES = {
    "adult": (
        ["age", "sex", "race", "native-country"],
        ["age", "education", "occupation", "workclass"],
        "salary-class",
    ),
    "acs": (["STATEFIP", "AGE"], ["AGE", "EDUC", "OCC"], "INCTOT"),
}
WAYS = ("alone", "looked at", "jointly")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="only adult")
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--json", type=Path, help="write the figures there as well")
    asked = parser.parse_args()
    rows = []
    print("table | rows | made | CPU s | ratio | GCP | classes | persons of fewer than k")
    for name in ["adult"] if asked.quick else TABLES:
        with tempfile.TemporaryDirectory() as folder:
            rows += measure(name, asked.k, Path(folder))
    if asked.json:
        asked.json.write_text(json.dumps(rows, indent=2) + "\n")


def measure(name, k, folder):
    """Return the figures of the three ways to release a table a second time."""
    first, second, sensitive = TABLES[name]
    table = read(name, folder)
    release(table.slice(0, 2000), "Warm", first, sensitive, k, folder / "warm", None)
    release(
        table.slice(0, 2000), "Warm", first, sensitive, k, folder / "warm2", folder / "w.ledger"
    )
    figures = []
    for way in WAYS:
        ledger = None if way == "alone" else folder / f"{way}.ledger"
        if ledger:
            release(table, "First", first, sensitive, k, folder / way / "first", ledger)
        more = {"composition": "intersected"} if way == "jointly" else {}
        start = time.process_time()
        made = release(
            table, "Second", second, sensitive, k, folder / way / "second", ledger, **more
        )
        seconds = time.process_time() - start
        utility, composition = made.certificate.utility, made.record.composition
        figures.append(
            {
                "table": name,
                "rows": table.num_rows,
                "k": k,
                "made": way,
                "cpu_seconds": round(seconds, 2),
                "gcp": round(utility.global_certainty_penalty, 4),
                "classes": utility.classes,
                "below": composition.together.below if composition else None,
                "ledger_bytes": ledger.stat().st_size if ledger else 0,
            }
        )
        show(figures[-1], figures[0])
    return figures


def show(one, alone):
    ratio = one["cpu_seconds"] / alone["cpu_seconds"]
    below = "-" if one["below"] is None else f"{one['below']:,}"
    cells = (one["table"], f"{one['rows']:,}", one["made"], one["cpu_seconds"], f"{ratio:.2f}")
    print(*cells, one["gcp"], f"{one['classes']:,}", below, sep=" | ", flush=True)


def read(name, folder):
    """Return a table: adult as it is shared, acs as it is generated."""
    if name == "adult":
        with gzip.open(SHARED / "data" / "adult_arx.csv.gz") as stream:
            return pacsv.read_csv(stream, parse_options=delimiter(SHARED / "data"))
    path = folder / "acs.csv"
    script = SHARED / "peers" / "gen_acs.py"
    subprocess.run([sys.executable, script, "1000000", path], check=True)
    return pacsv.read_csv(path)


def delimiter(folder):
    with gzip.open(folder / "adult_arx.csv.gz", "rt") as stream:
        return pacsv.ParseOptions(delimiter=";" if ";" in stream.readline() else ",")


def release(table, output, quasi, sensitive, k, folder, ledger, **more):
    """Return a release of a table, written as CSV."""
    policy = short_policy(
        policy=f"http://example.com/policy/{output}",
        target=DATA,
        assignee="http://example.com/Reader",
        purpose="http://example.com/Research",
        output=f"http://example.com/{output}",
        method="k-anonymity",
        k=k,
        quasi_identifier=quasi,
        sensitive=[sensitive],
        **more,
    )
    return apply_policy(policy, {DATA: table}, folder / "out.csv", ledger=ledger)


if __name__ == "__main__":
    main()
