"""Runs that do little, or what no run should, and a supervisor of such runs."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from policy_engine.errors import DataError
from policy_engine.service.runs.kinds.settings import RELEASES, RunSettings

DISOBEDIENT = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("ready", flush=True)
time.sleep(600)
"""


class Waiting(RunSettings):
    """Waits, step by step, and leaves a file."""

    home = RELEASES

    seconds: float = 0.0
    steps: int = 4

    def carry_out(self, inputs):
        inputs.shown.mkdir()
        for step in range(self.steps):
            inputs.progress("waiting", step, self.steps)
            time.sleep(self.seconds / self.steps)
            with (inputs.kept / "steps.txt").open("a") as file:
                file.write(f"{step}\n")
        (inputs.shown / "result.txt").write_text("done")
        (inputs.out / "secret.txt").write_text("not shown")
        return {"steps": self.steps}


class Stubborn(RunSettings):
    """Does not end when it is asked to, and neither does what it started, in a group of its own."""

    def carry_out(self, inputs):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        command = [sys.executable, "-c", DISOBEDIENT]
        started = subprocess.Popen(command, start_new_session=True, stdout=subprocess.PIPE)
        started.stdout.readline()
        inputs.progress("being stubborn", started.pid, 0)
        time.sleep(600)


class Crashing(RunSettings):
    """Ends without an answer."""

    def carry_out(self, _inputs):
        os._exit(7)


class Refusing(RunSettings):
    """Finds that there is something wrong with its data."""

    def carry_out(self, _inputs):
        raise DataError.of("R002", "There are fewer rows than k.", "Give more.")


class Filling(RunSettings):
    """Writes a file that is too large."""

    megabytes: int = 4

    def carry_out(self, inputs):
        inputs.shown.mkdir()
        with (inputs.shown / "large.bin").open("wb") as file:
            for _ in range(self.megabytes):
                file.write(b"0" * 1_000_000)
                inputs.progress("writing", file.tell(), 0)
        return {}


class Hungry(RunSettings):
    """Takes more memory than there is for it."""

    def carry_out(self, _inputs):
        return {"length": len(bytearray(4_000_000_000))}


class Prying(RunSettings):
    """Reaches for the network, and for the files of others; tells what it got."""

    path: str

    def carry_out(self, inputs):
        attempts = {
            "connection": lambda: socket.create_connection(("127.0.0.1", 1), timeout=1),
            "reading": lambda: Path(self.path).read_bytes(),
            "listing": lambda: [*Path(self.path).parent.iterdir()],
            "writing": lambda: (inputs.out.parent.parent / "x").write_bytes(b""),
            "changing": lambda: [one.write_bytes(b"") for one in inputs.out.parent.glob("given/*")],
        }
        secrets = [name for name in os.environ if "PASSWORD" in name]
        return {"secrets": secrets, **{name: _outcome(one) for name, one in attempts.items()}}


class PryingOnSpark(Prying):
    """Reaches for more, as a run that a cluster carries out."""

    path: str
    port: int

    @property
    def is_distributed(self):
        return True

    def carry_out(self, inputs):
        with socket.create_server(("127.0.0.1", 0)) as own:
            mine = own.getsockname()[1]
            own_reach = _outcome(lambda: socket.create_connection(("127.0.0.1", mine), 1).close())
        others = _outcome(lambda: socket.create_connection(("127.0.0.1", self.port), 1).close())
        names = sorted(name for name in os.environ if name.startswith(("SPARK", "JAVA", "PRY")))
        told = {"names": names, "java": os.environ.get("JAVA_HOME"), "path": os.environ["PATH"]}
        reach = {"own": own_reach, "others": others, "master": inputs.engine.master}
        return {**super().carry_out(inputs), **told, **reach}


class Linking(RunSettings):
    """Leaves a link to a file of others as its result."""

    path: str

    def carry_out(self, inputs):
        inputs.shown.mkdir()
        (inputs.shown / "result.txt").symlink_to(self.path)
        return {}


def _outcome(attempt):
    try:
        attempt()
    except OSError as error:
        return type(error).__name__
    return "done"


KINDS = {
    "wait": Waiting,
    "stubborn": Stubborn,
    "crash": Crashing,
    "refuse": Refusing,
    "fill": Filling,
    "hunger": Hungry,
    "pry": Prying,
    "pry-on-spark": PryingOnSpark,
    "link": Linking,
}


def main():
    """Supervise such runs, as the service's own supervisor does its runs."""
    from policy_engine.service.runs.dataset_files import dataset_paths
    from policy_engine.service.runs.supervising import supervise
    from policy_engine.service.settings import ServiceSettings

    settings = ServiceSettings.model_validate_json(sys.stdin.buffer.readline())
    supervise(settings, dataset_paths, "cheap_kinds")


if __name__ == "__main__":
    main()
