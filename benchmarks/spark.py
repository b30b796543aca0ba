"""What the Spark engine costs on this machine, and how that grows with the rows and the parts.

    python benchmarks/spark.py [--quick] [--large] [--data FOLDER] [--json FILE]

One run of `apply` a line, start-up included, on `local[2]`. CPU seconds and memory are those of
the whole tree of processes: the driver in Python, the JVM, and the Python workers of the tasks.
--large adds ten million rows. --data names a folder in which the tables stay, and are found again.
Tables whose generators do not lie beside the project are named as missing.
"""

import argparse
import json
import math
import operator
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from anonymization import STRICT, written_policy
from local import COMMAND, ROOT, SHARED, cpu_of, machine

ON_SPARK = ("--engine", "spark", "--master", "local[2]")
PEERS = {
    # table, k: CPU seconds, GB and GCP of mosaicrown on Spark
    ("acs", 5): None,
    ("acs", 100): (108.5, 6.4, 0.096),
    ("hosp", 5): (267, None, None),
    ("hosp", 100): (54.8, 5.3, 0.144),
}
GOALS = {("acs", 5): 60, ("acs", 100): 50}
"""CPU seconds; memory is to stay below 3 GB in all."""
ROWS = {"hosp": 163_065, "acs": 1_000_000}
TICK, PAGE = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="the small table only")
    parser.add_argument("--large", action="store_true", help="ten million rows as well")
    parser.add_argument("--data", type=Path, help="a folder for the tables, kept")
    parser.add_argument("--json", type=Path, default=ROOT / "benchmarks" / "results" / "spark.json")
    options = parser.parse_args()
    figures = []
    with tempfile.TemporaryDirectory() as name:
        work = Work(Path(name), options.data or Path(name))
        for figure in measured(work, quick=options.quick, large=options.large):
            figures.append(figure)
            print("  ".join(f"{key} {value}" for key, value in figure.items()), flush=True)
    versions = {**machine(), "pyspark": version("pyspark"), "java": java()}
    report = {"machine": versions, "quick": options.quick, "figures": figures}
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(report, indent=2) + "\n")
    print(f"saved to {options.json}")


@dataclass(frozen=True)
class Work:
    """Folders for what runs leave behind, and for the tables."""

    folder: Path
    data: Path

    def table(self, name, rows, kind):
        """Return a table, made or found; None, and a line, where it cannot be had."""
        path = self.data / f"{name}-{rows}.{kind}"
        generator = SHARED / "peers" / f"gen_{name}.py"
        if path.exists():
            return path
        if not generator.exists():
            return print(f"MISSING: {generator}")
        if kind == "csv":
            subprocess.run([sys.executable, generator, str(rows), path], check=True, cwd=self.data)
            return path
        import pyarrow.csv
        import pyarrow.parquet

        source = self.table(name, rows, "csv")
        # As large files are: in groups of rows that tasks read apart.
        read = pyarrow.csv.read_csv(source)
        pyarrow.parquet.write_table(read, path, row_group_size=250_000)
        return path

    def command(self, table, k, path):
        """Return the command that applies a policy to a table."""
        iri = f"http://example.com/{table}"
        policy = written_policy(self.folder, iri, k, 0, STRICT, table)
        output = Path(tempfile.mkdtemp(dir=self.folder)) / f"anonymous{path.suffix}"
        data = ["--data", f"{iri}={path}", "--output", str(output)]
        return [*COMMAND, "apply", str(policy), *data, "--overwrite", "--format", "json"]


def measured(work, *, quick, large):
    """Yield all figures."""
    start = start_up(work)
    yield start
    tables = ("hosp",) if quick else ("hosp", "acs")
    for table, k in PEERS:
        if table in tables:
            yield from beside(work, table, k, runs=1 if quick else 2)
    if quick:
        return
    sizes = (1_000_000, 3_000_000, *([10_000_000] if large else ()))
    yield from growth(work, sizes, start["cpu_s"])
    for parts in (2, 4, 8, 16, 32):
        yield parting(work, parts)
    for rows, per_task in ((1_000_000, 500_000), (3_000_000, 500_000), (1_000_000, 10_000)):
        yield from stages(work, rows, per_task)


def start_up(work):
    """Cost of a table so small that nothing but the start and the stop of Spark costs anything."""
    path = work.folder / "tiny.csv"
    path.write_text("STATEFIP,AGE,EDUC,OCC,INCTOT\n" + "ST01,30,12,10,1000\n" * 10)
    spent = tree_of([*work.command("acs", 5, path), *ON_SPARK])
    return {"what": "apply to 10 rows", **spent.told()}


def beside(work, table, k, runs):
    """Yield what both engines cost on a table, which is to give the same figures."""
    path = work.table(table, ROWS[table], "csv")
    if not path:
        return
    command = work.command(table, k, path)
    cpu, peak, printed = cpu_of(command)
    local = utility_of(printed)
    yield {
        "what": f"{table} k={k} local",
        "cpu_s": round(cpu, 1),
        "peak_mb": round(peak),
        "gcp": round(local["global_certainty_penalty"], 4),
    }
    for _ in range(runs):
        spent = tree_of([*command, *ON_SPARK])
        found = utility_of(spent.printed)
        yield {
            "what": f"{table} k={k} spark",
            **spent.told(),
            "gcp": round(found["global_certainty_penalty"], 4),
            "as_local": found == local,
            "goal_cpu_s": GOALS.get((table, k)),
            "mosaicrown": PEERS[table, k],
        }


def utility_of(printed):
    return json.loads(printed)["certificate"]["utility"]


def growth(work, sizes, start):
    """Yield the cost by rows, and the exponent by which it grows beyond the start."""
    found = {}
    for rows in sizes:
        path = work.table("acs", rows, "parquet")
        if not path:
            return
        memory = ("--conf", "spark.driver.memory=1g") if rows == max(sizes) else ()
        spent = tree_of([*work.command("acs", 5, path), *ON_SPARK, *memory])
        found[rows] = sum(spent.cpu.values()) - start
        yield {"what": f"acs {rows:,} k=5, Parquet", **spent.told(), "settings": memory[1:]}
    least, most = min(found), max(found)
    exponent = math.log(found[most] / found[least]) / math.log(most / least)
    yield {"what": f"growth beyond {start:.1f} CPU s", "exponent": round(exponent, 3)}


def parting(work, parts):
    """Cost of a million rows in so many partitions."""
    path = work.table("acs", 1_000_000, "csv")
    size = -(-path.stat().st_size // parts)
    conf = ("--conf", f"spark.sql.files.maxPartitionBytes={size}")
    spent = tree_of([*work.command("acs", 5, path), *ON_SPARK, *conf])
    return {"what": f"acs 1M k=5, {parts} partitions", **spent.told()}


STAGED = """
import json, sys, time
from policy_engine import apply_policy
from policy_engine.engines.spark.engine import SparkEngine

policy, iri, data, output, rows, conf = sys.argv[1:]
told = []
def progress(stage, *_):
    told.append((stage, time.time()))
conf = json.loads(conf)
engine = SparkEngine(master="local[2]", conf=conf, rows_per_task=int(rows))
apply_policy(policy, {iri: data}, output, overwrite=True, engine=engine, progress=progress)
print(json.dumps(told))
"""


def stages(work, rows, per_task=500_000):
    """Yield seconds, jobs, tasks, their seconds and bytes shuffled, by stage of a run."""
    path = work.table("acs", rows, "parquet")
    if not path:
        return
    policy = written_policy(work.folder, "http://example.com/acs", 5, 0, STRICT, "acs")
    with tempfile.TemporaryDirectory() as log:
        conf = {"enabled": "true", "compress": "false", "dir": Path(log).as_uri()}
        conf = {f"spark.eventLog.{name}": value for name, value in conf.items()}
        places = [str(policy), "http://example.com/acs", str(path), f"{log}/anonymous.parquet"]
        arguments = [*places, str(per_task), json.dumps(conf)]
        spent = tree_of([sys.executable, "-c", STAGED, *arguments])
        events = [json.loads(line) for file in Path(log).rglob("events_*") for line in file.open()]
    what = f"acs {rows:,} k=5, {per_task:,} rows a task"
    yield {"what": what, **spent.told()}
    for stage, seconds, found in by_stage(json.loads(spent.printed), events):
        yield {"what": f"{what}: {stage}", "seconds": round(seconds, 1), **found}


def by_stage(told, events):
    """Yield every stage, its seconds, and the sums over the tasks of the jobs that it started."""
    first = {}
    for stage, moment in told:
        first.setdefault(stage, moment)
    ends = [*list(first.values())[1:], max(event.get("Timestamp", 0) for event in events) / 1000]
    sums, stage_of = defaultdict(lambda: defaultdict(float)), {}
    for event in events:
        if event["Event"] == "SparkListenerJobStart":
            moment = event["Submission Time"] / 1000
            stage = [stage for stage in first if first[stage] <= moment or stage == "reading"][-1]
            stage_of |= dict.fromkeys(event["Stage IDs"], stage)
            sums[stage]["jobs"] += 1
    for event in events:
        if event["Event"] == "SparkListenerTaskEnd" and event.get("Task Metrics"):
            add(sums[stage_of.get(event["Stage ID"], "")], event["Task Metrics"])
    for (stage, begun), end in zip(first.items(), ends, strict=True):
        yield stage, end - begun, {name: round(n, 1) for name, n in sums[stage].items()}


def add(sums, metrics):
    sums["tasks"] += 1
    sums["task_s"] += metrics["Executor Run Time"] / 1000
    sums["jvm_cpu_s"] += metrics["Executor CPU Time"] / 1e9
    sums["shuffled_mb"] += metrics["Shuffle Write Metrics"]["Shuffle Bytes Written"] / 1e6
    sums["spilled_mb"] += metrics["Disk Bytes Spilled"] / 1e6


@dataclass(frozen=True)
class Spent:
    """What a tree of processes cost: CPU seconds and largest resident bytes by kind, the largest
    of all together, seconds, and what the first of them printed."""

    cpu: dict[str, float]
    peaks: dict[str, int]
    peak: int
    wall: float
    printed: str

    def told(self):
        """Return the figures; those of the driver, the JVM and the workers stand in this order."""
        kinds = ("driver", "jvm", "workers")
        return {
            "cpu_s": round(sum(self.cpu.values()), 1),
            "of_it": [round(self.cpu[kind], 1) for kind in kinds],
            "wall_s": round(self.wall, 1),
            "peak_mb": self.peak >> 20,
            "peaks": [self.peaks[kind] >> 20 for kind in kinds],
        }


def tree_of(command):
    """Run a command; return what it and all that it starts cost.

    Memory that processes share counts for each of them.
    """
    start = time.perf_counter()
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        found, is_over = Polled(process.pid), threading.Event()
        thread = threading.Thread(target=found.poll, args=(is_over,))
        thread.start()
        printed = process.stdout.read()
        is_over.set()
        thread.join()
    if process.returncode:
        raise SystemExit(f"{command} failed with {process.returncode}: {printed}")
    cpu = defaultdict(float)
    for (kind, _), seconds in found.cpu.items():
        cpu[kind] += seconds
    return Spent(cpu, found.peaks, found.peak, time.perf_counter() - start, printed)


class Polled:
    """What /proc says of a process and its descendants, asked ten times a second."""

    def __init__(self, root):
        self.root, self.cpu, self.peaks, self.peak = root, {}, defaultdict(int), 0

    def poll(self, is_over):
        """Ask until it is over."""
        while not is_over.wait(0.1):
            resident = defaultdict(int)
            for process in tree(self.root):
                for kind, seconds, memory in self.of_process(process):
                    self.cpu[kind, process] = seconds
                    # A JVM that forks is there twice for a moment, and has its memory once.
                    together = max if kind == "jvm" else operator.add
                    resident[kind] = together(resident[kind], memory)
            for kind, memory in resident.items():
                self.peaks[kind] = max(self.peaks[kind], memory)
            self.peak = max(self.peak, sum(resident.values()))

    def of_process(self, process):
        """Yield the kind, the CPU seconds and the resident bytes of a process, if it is there."""
        try:
            text = Path(f"/proc/{process}/stat").read_text()
        except (FileNotFoundError, ProcessLookupError):
            return
        name, _, rest = text.partition("(")[2].rpartition(")")
        fields = rest.split()
        is_python = name.startswith(("python", "policy"))
        kind = "driver" if process == self.root else "workers" if is_python else "jvm"
        yield kind, (int(fields[11]) + int(fields[12])) / TICK, int(fields[21]) * PAGE


def tree(root):
    """Yield a process and its descendants."""
    yield root
    for file in Path(f"/proc/{root}/task").glob("*/children"):
        try:
            children = file.read_text().split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        for child in children:
            yield from tree(int(child))


def java():
    """Return the version of Java, as it says it."""
    ran = subprocess.run(["java", "-version"], capture_output=True, text=True, check=True)
    return ran.stderr.partition('"')[2].partition('"')[0]


if __name__ == "__main__":
    main()
