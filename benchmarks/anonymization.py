"""How much the outputs lose and what they cost, beside the figures of other tools.

    python benchmarks/anonymization.py [--quick] [--live [PYTHON]] [--large] [--json FILE]

One run of `apply` a line, file to file: CSV in, CSV and certificate out, CPU seconds of the whole
process. The figures of other tools were measured on a machine of the same kind on another day;
with --live, anonypy, anjana and pycanon are run here as well, by the interpreter that has them.
--large adds ten million rows. Tables that do not lie beside the project are named as missing.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from local import COMMAND, ROOT, SHARED, cpu_of, machine

ADULT8 = "sex age race marital-status education native-country workclass occupation"
HOSP = "age zip3 los weight sex state admission"
TABLES = {
    "adult8": (ADULT8, "salary-class"),
    "adult4": ("age education-num race native-country", "income"),
    "hosp": (HOSP, "diagnosis"),
    "acs": ("STATEFIP AGE EDUC OCC", "INCTOT"),
    "acs10": ("STATEFIP AGE EDUC OCC", "INCTOT"),
}
STRICT = {}
RELAXED = {"pe:partitioning": "relaxed"}
POLISHED = {"pe:polish": True}
SPREAD = {"pe:partitioning": "relaxed", "pe:score": "span"}
RUNS = (
    # table, k, l, options, what is measured, the goal, the best of the others
    ("adult8", 5, 0, STRICT, "gcp", 0.029, ".0338 in 57.7 s (mosaicrown); sketch .0295"),
    ("adult8", 5, 0, POLISHED, "gcp", 0.029, ".0338 in 57.7 s (mosaicrown); sketch .0295"),
    ("adult8", 5, 0, RELAXED, "dm", 226_352, "226,352 (qiyuangong, relaxed)"),
    ("adult8", 3, 2, STRICT, "gcp", 0.062, ".0764 in 30 s (mosaicrown); sketch .0629"),
    ("adult8", 100, 0, STRICT, "gcp", 0.181, ".181 tight, C_avg 1.20 (ARX, local recoding)"),
    ("adult8", 100, 0, RELAXED, "c_avg", 1.20, ".181 tight, C_avg 1.20 (ARX, local recoding)"),
    ("adult4", 5, 0, STRICT, "gcp", 0.0053, ".0231 (mosaicrown); sketch .0053"),
    ("adult4", 5, 0, RELAXED, "dm", 1_500_000, "1.50e6 (qiyuangong, relaxed)"),
    ("adult4", 5, 0, SPREAD, "dm", 1_500_000, "1.50e6 (qiyuangong, relaxed)"),
    ("hosp", 5, 0, STRICT, "gcp", 0.028, ".0334 in 196 s (mosaicrown); sketch .0282"),
    ("hosp", 5, 0, RELAXED, "dm", 854_057, "854,057 (qiyuangong, relaxed)"),
    ("hosp", 100, 0, STRICT, "gcp", 0.114, ".128 in 11.3 s (mosaicrown); sketch .114"),
    ("acs", 5, 0, STRICT, "gcp", 0.012, ".0143 tight in 68 s, 3.5 GB (ARX); sketch .0122"),
    ("acs", 100, 0, STRICT, "gcp", 0.0569, ".0581 tight in 114 s (ARX); sketch .0569"),
    ("acs10", 5, 0, STRICT, "gcp", 1.0, ""),
)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="the small tables only")
    parser.add_argument(
        "--live", nargs="?", const=sys.executable, metavar="PYTHON", help="run other tools, too"
    )
    parser.add_argument("--large", action="store_true", help="ten million rows as well")
    default = ROOT / "benchmarks" / "results" / "anonymization.json"
    parser.add_argument("--json", type=Path, default=default)
    options = parser.parse_args()
    skipped = {"acs10"} if not options.large else set()
    skipped |= {"hosp", "acs", "acs10"} if options.quick else set()
    figures = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = {table: path_of(table, folder) for table in TABLES if table not in skipped}
        warm_up(paths, folder)
        for run in RUNS:
            if paths.get(run[0]):
                figures.append(measured(run, paths[run[0]], folder))
                print_line(figures[-1])
        if options.live:
            figures += live(paths, folder, options.live)
    report = {"machine": machine(), "quick": options.quick, "figures": figures}
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(report, indent=2) + "\n")
    print(f"saved to {options.json}")


def path_of(table, folder):
    """Return the table as CSV, made or found; None, and a line, where it cannot be had."""
    path = folder / f"{table}.csv"
    if table == "adult8":
        source = SHARED / "data" / "adult_arx.csv.gz"
        return source if source.exists() else print(f"MISSING: {source}")
    if table == "adult4":
        return training_rows(SHARED / "data" / "adult.csv.gz", path)
    generator = SHARED / "peers" / f"gen_{table.removesuffix('10')}.py"
    if not generator.exists():
        return print(f"MISSING: {generator}")
    rows = {"acs": ["1000000"], "acs10": ["10000000"], "hosp": ["163065"]}[table]
    subprocess.run([sys.executable, generator, *rows, str(path)], check=True, cwd=folder)
    return path


def training_rows(source, path):
    import csv
    import gzip

    if not source.exists():
        return print(f"MISSING: {source}")
    with gzip.open(source, "rt", newline="") as text, path.open("w", newline="") as out:
        rows = csv.DictReader(text)
        writer = csv.DictWriter(out, rows.fieldnames)
        writer.writeheader()
        writer.writerows(row for row in rows if row["split"] == "train")
    return path


def warm_up(paths, folder):
    """Compile the kernels before anything is measured."""
    path = next((path for path in paths.values() if path), None)
    for options in (STRICT, RELAXED, POLISHED):
        if path:
            measured(("adult8", 5, 2, options, "gcp", 1, ""), path, folder)


def measured(run, path, folder):
    """Apply a policy; return quality, cost and the goal."""
    table, k, least, options, what, goal, others = run
    iri = f"http://example.com/{table}"
    policy = written_policy(folder, iri, k, least, options, table)
    output = folder / "out" / "anonymous.csv"
    command = [*COMMAND, "apply", str(policy), "--data", f"{iri}={path}", "--output", str(output)]
    cpu, peak, printed = cpu_of([*command, "--overwrite", "--format", "json"])
    certificate = json.loads(printed)["certificate"]
    utility = certificate["utility"]
    figures = {
        "gcp": round(utility["global_certainty_penalty"], 4),
        "dm": utility["discernability"],
        "c_avg": round(utility["average_class_ratio"], 3),
    }
    return {
        "table": table,
        "k": k,
        "l": least,
        "options": options,
        **figures,
        "cpu_s": round(cpu, 2),
        "peak_mb": round(peak),
        "goal": f"{what} < {goal}",
        "reached": figures[what] < goal,
        "others": others,
    }


def written_policy(folder, iri, k, least, options, table):
    quasi, sensitive = TABLES[table]
    parts = {
        "mosaicrown:method": ("eq", "l-diversity" if least else "k-anonymity"),
        "mosaicrown:k": ("eq", k),
        **({"mosaicrown:l": ("eq", least)} if least else {}),
        "mosaicrown:quasi-identifier": ("isAllOf", [f"{iri}/{name}" for name in quasi.split()]),
        "mosaicrown:sensitive": ("isAllOf", [f"{iri}/{sensitive}"]),
        **{name: ("eq", value) for name, value in options.items()},
    }
    refinements = [
        {"leftOperand": name, "operator": operator, "rightOperand": value}
        for name, (operator, value) in parts.items()
    ]
    policy = json.loads((ROOT / "policies" / "adult.jsonld").read_text())
    policy["permission"][0]["target"] = iri
    policy["permission"][0]["action"][0]["refinement"] = refinements
    path = folder / "policy.jsonld"
    path.write_text(json.dumps(policy))
    return path


def print_line(figure):
    options = ", ".join(str(value) for value in figure["options"].values()) or "strict"
    name = f"{figure['table']} k={figure['k']}" + (f" l={figure['l']}" if figure["l"] else "")
    verdict = "reached" if figure["reached"] else "MISSED"
    print(
        f"{name:<18}{options:<16}GCP {figure['gcp']:<8}DM {figure['dm']:<12,}"
        f"C_avg {figure['c_avg']:<7}{figure['cpu_s']:>6} CPU s {figure['peak_mb']:>6} MB  "
        f"{figure['goal']}: {verdict}; others {figure['others'] or 'none'}",
        flush=True,
    )


def live(paths, folder, python):
    """Run the other tools that an interpreter has, on adult8 at k=5."""
    if not paths.get("adult8"):
        return []
    ours = measured(("adult8", 5, 0, STRICT, "gcp", 1, ""), paths["adult8"], folder)
    figures = []
    for tool, code in LIVE.items():
        found = subprocess.run([python, "-c", f"import {tool}"], capture_output=True, check=False)
        if found.returncode:
            print(f"NOT INSTALLED: {tool}")
            continue
        hierarchies = SHARED / "data" / "hierarchies" / "adult" / "adult_hierarchy_{}.csv"
        script = PROLOGUE.format(
            source=str(paths["adult8"]), quasi=ADULT8.split(), hierarchies=str(hierarchies)
        )
        released = str(folder / "out" / "anonymous.csv")
        start = time.perf_counter()
        cpu, peak, printed = cpu_of([python, "-W", "ignore", "-c", script + code, released])
        figures.append(
            {
                "tool": tool,
                "cpu_s": round(cpu, 2),
                "over_ours": round(cpu / ours["cpu_s"], 2),
                "wall_s": round(time.perf_counter() - start, 2),
                "peak_mb": round(peak),
                "printed": printed.strip(),
            }
        )
        print("  ".join(f"{key} {value}" for key, value in figures[-1].items()), flush=True)
    return figures


PROLOGUE = """
import sys
import pandas as pd
quasi = {quasi}
frame = pd.read_csv({source!r})
hierarchies = {hierarchies!r}
"""
LIVE = {
    "anonypy": """
import anonypy
for name in quasi:
    if name != "age":
        frame[name] = frame[name].astype("category")
rows = pd.DataFrame(anonypy.Preserver(frame, quasi, "salary-class").anonymize_k_anonymity(k=5))
loss = 0.0
for name in quasi:
    if name == "age":
        ends = rows[name].astype(str).str.extract(r"(\\d+)(?:-(\\d+))?").astype(float)
        width = (ends[1].fillna(ends[0]) - ends[0]) / (frame["age"].max() - frame["age"].min())
    else:
        cells = rows[name].map(lambda cell: cell if isinstance(cell, str) else ",".join(cell))
        count = cells.str.count(",") + 1
        width = (count / frame[name].nunique()).where(count > 1, 0.0)
    loss += (width * rows["count"]).sum()
kept = int(rows["count"].sum())
print(f"GCP {loss / kept / len(quasi):.4f}, {kept:,} of {len(frame):,} rows")
""",
    "anjana": """
from anjana.anonymity import k_anonymity
levels = {}
for name in quasi:
    table = pd.read_csv(hierarchies.format(name), sep=";", header=None, dtype=str)
    values = table.set_index(0).loc[frame[name].astype(str)]
    levels[name] = {0: frame[name].values} | {h: values[h].values for h in table.columns[1:]}
release = k_anonymity(frame, [], quasi, 5, 5, levels)
classes = release.groupby(quasi).size()
print(f"{len(release):,} of {len(frame):,} rows in {len(classes):,} classes, k {classes.min()}")
""",
    "pycanon": """
from pycanon import anonymity
release = pd.read_csv(sys.argv[1], dtype=str, keep_default_na=False)
print("measured on our release: k", anonymity.k_anonymity(release, quasi), end=", ")
print("l", anonymity.l_diversity(release, quasi, ["salary-class"]), end=", ")
print("t", round(anonymity.t_closeness(release, quasi, ["salary-class"]), 4))
""",
}


if __name__ == "__main__":
    main()
