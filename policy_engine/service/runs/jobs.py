"""What the process of a run is told, and what it answers."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict

from policy_engine.service.runs.clusters import Cluster
from policy_engine.service.runs.limits import RunLimits

if TYPE_CHECKING:
    from policy_engine.engines.spark.engine import SparkEngine

RESULT, PROBLEMS, PROGRESS, REMARK = "result", "problems", "progress", "remark"
Report = Callable[[str, int, int], None]
"""Called with the name of a stage, and how far it is: as all verbs report their progress."""
Tell = Callable[[str, Any], None]
"""Called with one of these names, and what it is."""


class KeptText(BaseModel):
    """A text of a policy, what it is called, the party that issued it, and the credential by which
    somebody signed it, if anybody did."""

    model_config = ConfigDict(frozen=True)

    name: str
    text: str
    issuer: str
    signature: str | None = None


class Job(BaseModel):
    """A run, with all that its process needs: it has no database and no other files, and no network
    but what it needs to reach its `cluster`, if it has one.

    `kinds` is the module that has the kinds of runs. The `folder` is that of this attempt; what is
    in `kept` stays from one attempt to the next. `files` are those of datasets and `releases` the
    folders of runs that made one, each by its identifier.
    """

    model_config = ConfigDict(frozen=True)

    kinds: str
    kind: str
    settings: dict[str, Any]
    folder: Path
    kept: Path
    attempts: Path
    code: Path
    """Where machine code of kernels is kept for later runs."""
    policy: KeptText | None = None
    others: tuple[KeptText, ...] = ()
    """The other policies in force."""
    owners: dict[str, str] = {}
    """The parties that own datasets, by the IRI of each."""
    trust: str | None = None
    """The text of the trust file: what it does not cover is not carried out."""
    files: dict[str, Path] = {}
    releases: dict[str, Path] = {}
    ledger: Path | None = None
    """The ledger that is charged, and the file of its key, where budget may be spent."""
    ledger_key: Path | None = None
    limits: RunLimits
    cluster: Cluster | None = None
    note: str = ""
    """What is said of where it is carried out."""
    parent: int

    @property
    def given(self) -> Path:
        """The folder of the inputs, which the run cannot change."""
        return self.folder / "given"

    @property
    def out(self) -> Path:
        """The folder that becomes the result: `shown` in it is for who may read runs."""
        return self.folder / "out"

    @property
    def scratch(self) -> Path:
        """A folder for what nobody needs afterwards."""
        return self.folder / "scratch"


@dataclass(frozen=True)
class RunInputs:
    """What a run works with: the job's, as files and folders of its own."""

    files: Mapping[str, Path]
    releases: Mapping[str, Path] = field(default_factory=dict)
    policy: KeptText | None = None
    others: tuple[KeptText, ...] = ()
    owners: Mapping[str, str] = field(default_factory=dict)
    trust: str | None = None
    out: Path = Path()
    kept: Path = Path()
    scratch: Path = Path()
    attempts: Path = Path()
    ledger: Path | None = None
    ledger_key: Path | None = None
    engine: "Literal['local'] | SparkEngine" = "local"
    """The engine of verbs that take one."""
    progress: Report = lambda _stage, _done, _total: None

    @property
    def shown(self) -> Path:
        """The folder of what those see who may read runs: no data, and no records."""
        return self.out / SHOWN


SHOWN = "shown"


def written(name: str, what: Any) -> bytes:
    """Return a line by which the process of a run tells something."""
    return json.dumps({name: what}).encode() + b"\n"
