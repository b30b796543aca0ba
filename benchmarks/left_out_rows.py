"""What it gains to leave rows out of classes, on skewed tables, and what it costs.

    python benchmarks/left_out_rows.py [--k K] [--compare]

One row for every table and greatest share: how many rows were left out, the loss without and with
it, and the CPU seconds of the release; with --compare, which takes minutes, also the median error
of the counting queries of `compare`, which know nothing of that loss (rows left out are missing in
every count).
"""

import argparse
import gzip
import tempfile
import time
from pathlib import Path

import pyarrow.csv as pacsv
from local import SHARED

from policy_engine import apply_policy, compare_release
from policy_engine.kernels.estimates import NotApplicable

DATA = "http://example.com/People"
TABLES = {
    "adult": (
        "adult.csv.gz",
        "age workclass education marital-status occupation race sex hours-per-week native-country",
    ),
    "lending club": (
        "lending_club_119k.csv.gz",
        "loan_amnt annual_inc dti revol_bal open_acc emp_length",
    ),
    "hospital charges": (
        "ipps_drg_fy2011.csv.gz",
        "Total_Discharges Average_Covered_Charges Average_Total_Payments Average_Medicare_Payments",
    ),
}
SHARES = (0, 0.001, 0.01, 0.05)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--compare", action="store_true", help="count the rows of queries, too")
    asked = parser.parse_args()
    print("table | at most | left out | loss without | with | CPU s | error of counts")
    for name, (file, columns) in TABLES.items():
        if not (SHARED / "data" / file).exists():
            print(name, "| missing:", SHARED / "data" / file)
            continue
        table = read(file, columns.split())
        with tempfile.TemporaryDirectory() as folder:
            measure(table, name, asked, Path(folder))


def measure(table, name, asked, folder):
    original = folder / "original.csv"
    pacsv.write_csv(table, original)
    # Compiles what is not compiled yet.
    release(table.slice(0, 1000), asked.k, 0.01, folder / "first" / "out.csv")
    for share in SHARES:
        start = time.process_time()
        made = release(table, asked.k, share, folder / str(share) / "out.csv")
        seconds = time.process_time() - start
        error = count_error(original, made.path) if asked.compare else "-"
        print(name, f"{share:.1%}", *figures(made.record, seconds), error, sep=" | ", flush=True)


def count_error(original, release):
    queries = compare_release(original, release, classifier=False).queries
    return queries.reason if isinstance(queries, NotApplicable) else f"{queries.median:.4f}"


def read(file, columns):
    """Return some columns of a table, blanks in names written as underscores."""
    with gzip.open(SHARED / "data" / file) as stream:
        table = pacsv.read_csv(stream)
    return table.rename_columns(
        [name.strip().replace(" ", "_") for name in table.column_names]
    ).select(columns)


def release(table, k, share, folder):
    quasi = [{"@id": f"{DATA}/{name}"} for name in table.column_names]
    parameters = {"mosaicrown:method": "k-anonymity", "mosaicrown:k": k, "pe:maxSuppression": share}
    refinement = [
        {"leftOperand": name, "operator": "eq", "rightOperand": value}
        for name, value in parameters.items()
    ]
    refinement.append(
        {"leftOperand": "mosaicrown:quasi-identifier", "operator": "isAllOf", "rightOperand": quasi}
    )
    action = {"rdf:value": {"@id": "odrl:anonymize"}, "refinement": refinement}
    policy = {
        "@context": [
            "http://www.w3.org/ns/odrl.jsonld",
            "https://www.mosaicrown.eu/ns/mosaicrown.jsonld",
        ],
        "@type": "Set",
        "uid": "http://example.com/policy",
        "permission": {
            "uid": "http://example.com/policy/anonymize",
            "target": DATA,
            "action": action,
            "output": "http://example.com/anonPeople",
        },
    }
    return apply_policy(policy, {DATA: table}, folder)


def figures(record, seconds):
    """Return the figures of a release as texts."""
    losses = (record.gain.without, record.gain.suppressing) if record.gain else ()
    texts = [f"{one:.4f}" for one in losses] or ["-", "-"]
    return f"{record.suppressed:,}", *texts, f"{seconds:.1f}"


if __name__ == "__main__":
    main()
