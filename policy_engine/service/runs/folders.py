"""Where the files of runs are: those of an attempt, what stays between attempts, and results."""

import os
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from policy_engine.service.files.folder import linked
from policy_engine.service.runs.jobs import Job
from policy_engine.service.runs.results import sweep

_OUTPUT = "output.txt"
LEDGER_KEY = "budgets"
"""What the key of the ledger of budgets is called."""


@dataclass(frozen=True)
class RunFolders:
    """The folders of runs below that of the service."""

    root: Path

    def attempt(self, run_id: str, token: int) -> Path:
        """Return the folder of an attempt, which is removed when it ends."""
        return self._of(run_id) / str(token)

    def kept(self, run_id: str) -> Path:
        """Return the folder of what later attempts go on from."""
        return self._of(run_id) / "kept"

    def output(self, run_id: str) -> Path:
        """Return the file of what the processes of a run printed, for operators alone."""
        return self._of(run_id) / _OUTPUT

    def result(self, home: str, run_id: str) -> Path:
        """Return the folder of what a run left."""
        return self.root / home / run_id

    @property
    def attempts(self) -> Path:
        """The folder of the ledger of models that were attacked."""
        return self.root / "attempts"

    @property
    def ledger(self) -> Path:
        """The ledger of budgets, in a folder of its own: writing it makes files beside it."""
        return self.root / "budgets" / "ledger.sqlite"

    @property
    def code(self) -> Path:
        """The folder of compiled kernels, which runs share."""
        return self.root / "code"

    @property
    def code_of_measuring(self) -> Path:
        """The folder of the compiled kernels by which results are measured again: no run writes
        it."""
        return self.root / "code-of-measuring"

    @property
    def lock(self) -> Path:
        """The file that the one supervisor of the folder has locked."""
        return self._runs / "supervisor.lock"

    def beat(self) -> None:
        """Note that the supervisor works, in a file of which no more room is taken than before.

        What is noted is the time since the machine began, which nobody sets.
        """
        self._beat.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        place = os.open(self._beat, os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            os.pwrite(place, f"{time.monotonic():020.3f}".encode("ascii"), 0)
        finally:
            os.close(place)

    def seconds_since_beat(self) -> float | None:
        """Return for how long the supervisor has shown no sign of life.

        None where none has worked in this folder since the machine began.
        """
        try:
            seconds = time.monotonic() - float(self._beat.read_text("ascii"))
        except (OSError, ValueError):
            return None
        return seconds if seconds >= 0 else None

    def make(self, job: Job) -> None:
        """Make the folders of an attempt, and put its inputs there. Raises OSError."""
        sweep(job.folder)
        for one in (job.given, job.out, job.scratch, job.kept, job.attempts, job.code):
            one.mkdir(mode=0o700, parents=True, exist_ok=True)

    def give(self, job_folder: Path, files: Mapping[str, Path]) -> dict[str, Path]:
        """Return where the files of an attempt are: they stay there if a dataset is deleted."""
        folder = job_folder / "given"
        for one in folder.glob("*"):  # what an earlier try at this left
            one.unlink()
        named = {one: folder / "".join((one, *path.suffixes)) for one, path in files.items()}
        return {one: linked(path, named[one]) for one, path in files.items()}

    def clear(self, run_id: str, *, keeps: bool) -> None:
        """Remove what attempts at a run left, unless another one `keeps` on from there."""
        folder = self._of(run_id)
        if folder.is_dir():
            for one in folder.iterdir():
                if one.name.startswith(".") or one.name.isdigit():
                    shutil.rmtree(one, ignore_errors=True)
            if not keeps:
                shutil.rmtree(self.kept(run_id), ignore_errors=True)

    def forget_result(self, run_id: str) -> None:
        """Remove the result of a run that nobody was to see."""
        for home in ("releases", "results"):
            sweep(self.result(home, run_id))

    def _of(self, run_id: str) -> Path:
        return self._runs / run_id

    @property
    def _beat(self) -> Path:
        return self._runs / "supervisor.beat"

    @property
    def _runs(self) -> Path:
        return self.root / "runs"
