"""From a table to an accepted release with `init`: six tables that nobody tuned for.

    python benchmarks/first_policies.py [--quick] [--install] [--output FILE]

Each table is taken from ../shared/data, `init --yes` proposes a policy, and `apply` carries it out,
both in processes of their own. It prints a table and saves JSON: the seconds of processor of each,
and of both by the clock, what the columns were proposed to be, k, what the release loses, and how
many rows are unique on what it keeps exact. A table that is missing is said to be.

With `--install`, the first table is done in an environment that is made for it, from this source by
pip, where nothing was compiled before: what that takes, and what the commands take then.
"""

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa

from policy_engine.engines.tables import read_table

ROOT = Path(__file__).parents[1]
DATA = ROOT.parent / "shared" / "data"
TABLES = (
    *("german_credit.csv", "lending_club_2007_2011.csv.gz", "diabetes_130us.csv.gz"),
    *("fr_motor_mtpl2.parquet", "eu_health_insurance.csv.gz", "ipps_drg_fy2011.csv.gz"),
)
CHOSEN = {
    "german_credit": "personal_status age job housing employment foreign_worker",
    "lending_club_2007_2011": "annual_inc emp_length home_ownership zip_code addr_state issue_d",
    "diabetes_130us": "race gender age admission_type_id discharge_disposition_id",
    "fr_motor_mtpl2": "Area VehPower VehAge DrivAge VehBrand Region Density",
    "eu_health_insurance": "relation gender age_at_inception policy_years",
    "ipps_drg_fy2011": "Provider City,Provider State,Provider Zip Code",
}
"""The quasi-identifiers that a careful person would choose: what others may know of a person."""


def spent(command, folder, python=sys.executable, environment=None):
    """Return the seconds of processor and of the clock that a command took in a folder, and what it
    printed. Raises where it fails."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        [str(python), "-m", *command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}: {done.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return round(cpu, 1), round(time.perf_counter() - start, 1), done.stdout


def unique_share(release, names):
    """Return the share of rows that nobody else shares the values of some columns with."""
    if not names:
        return 0.0
    counts = release.group_by(names).aggregate([([], "count_all")])["count_all"]
    alone = sum(1 for one in counts.to_pylist() if one == 1)
    return round(alone / release.num_rows, 4)


def tried(path):
    """Return what `init` proposes for a table, and what comes of it."""
    name = path.name.partition(".")[0]
    with tempfile.TemporaryDirectory() as folder:
        asked = ["policy_engine", "init", str(path), "--yes", "--json"]
        looking, looked, answer = spent(asked, folder)
        proposed = json.loads(answer)
        arguments = ("--data", str(path), "--output", "release", "--format", "json")
        making, made_in, said = spent(
            ["policy_engine", "apply", proposed["policy"], *arguments], folder
        )
        made = json.loads(said)
        release = read_table(Path(folder) / made["output"])
        parts = {}
        for one in proposed["columns"]:
            parts.setdefault(one["part"], []).append(one["name"])
        kept = parts.get("sensitive", [])
        careful = CHOSEN[name].split("," if "," in CHOSEN[name] else None)
        generalised = parts["quasi-identifier"]
        return {
            "table": name,
            "rows": release.num_rows,
            "commands": 2,
            "questions": 0,
            "init_cpu_s": looking,
            "apply_cpu_s": making,
            "clock_s": round(looked + made_in, 1),
            "k": proposed["k"],
            "loss": made["certificate"]["utility"]["global_certainty_penalty"],
            "released": len(generalised) + len(kept),
            "generalised": generalised,
            "kept": kept,
            "careful": careful,
            "careful_generalised": sum(one in generalised for one in careful),
            "careful_exact": sum(one in kept for one in careful),
            "unique_on_kept": unique_share(as_texts(release), kept),
        }


def from_nothing(path):
    """Return what it takes to install the engine for a first table, and what its commands take
    where nothing was compiled before."""
    with tempfile.TemporaryDirectory() as folder:
        home = {**os.environ, "HOME": folder, "XDG_CACHE_HOME": f"{folder}/cache"}
        home.pop("PYTHONPATH", None)
        home.pop("NUMBA_CACHE_DIR", None)
        python = Path(folder) / "environment" / "bin" / "python"
        making, made_in, _ = spent(["venv", str(python.parents[1])], folder)
        install = ["pip", "install", "--quiet", str(ROOT)]
        cpu, clock, _ = spent(install, folder, python, home)
        init = ["policy_engine", "init", str(path), "--yes", "--output", "first.yaml"]
        apply = ["policy_engine", "apply", "first.yaml", "--data", str(path), "--output", "release"]
        first = [spent(one, folder, python, home) for one in (init, apply)]
        again = [spent([*init[:-1], "again.yaml"], folder, python, home)]
        again += [spent([*apply[:-1], "again"], folder, python, home)]
        return {
            "install_cpu_s": round(making + cpu, 1),
            "install_clock_s": round(made_in + clock, 1),
            "first_cpu_s": round(sum(one[0] for one in first), 1),
            "first_clock_s": round(sum(one[1] for one in first), 1),
            "again_cpu_s": round(sum(one[0] for one in again), 1),
        }


def as_texts(table):
    """Return a table whose columns can all be grouped by."""
    plain = [
        column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
        for column in table.columns
    ]
    return pa.table(plain, names=table.column_names)


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--quick", action="store_true")
    arguments.add_argument("--install", action="store_true")
    arguments.add_argument("--output", type=Path, default=Path("first_policies.json"))
    options = arguments.parse_args()
    results = []
    print("table                        rows  init s  apply s   k   loss careful  unique")
    for name in TABLES[:1] if options.quick else TABLES:
        if not (DATA / name).exists():
            print(f"{name}: missing, not tried", file=sys.stderr)
            continue
        one = tried(DATA / name)
        results.append(one)
        careful = f"{one['careful_generalised']} of {len(one['careful'])}"
        print(
            f"{one['table']:24} {one['rows']:8,} {one['init_cpu_s']:7} {one['apply_cpu_s']:8} "
            f"{one['k']:3} {one['loss']:6.3f} {careful:8} {one['unique_on_kept']:.2%}"
        )
    document = {"machine": platform.processor() or platform.machine(), "tables": results}
    if options.install:
        document["from_nothing"] = from_nothing(DATA / TABLES[0])
        print("from nothing:", document["from_nothing"])
    options.output.write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
