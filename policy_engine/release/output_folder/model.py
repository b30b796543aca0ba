"""What a folder of outputs says of them, for everybody, and what of it is for checkers alone."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from policy_engine.data.chain.entries import ChainEntry, ChainRecord, Hash
from policy_engine.data.chain.verification import EntryKind

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.\- ]{0,99}$")]
Status = Literal["released", "suppressed", "refused", "review"]
Kind = Literal["table", "model", "file", "finished table", "answer"]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class StoredFile(_Part):
    """A file of an output: where it lies in the folder, and what it holds."""

    path: str
    sha256: Hash
    size: Annotated[int, Field(ge=0)]


class SubmittedOutput(_Part):
    """One output: what was asked for, and what the rules say of it, without any figure.

    `files` are as they may leave, cells that are not released left blank. In `whole` is what may
    leave once a checker has accepted it, where that is more: cells that a person has to decide
    about, or all of them if the researcher asks for an `exception`, and says why.
    """

    name: Name
    kind: Kind
    request: str
    status: Status
    verdict: Mapping[str, Any]
    files: tuple[StoredFile, ...]
    comments: tuple[str, ...] = ()
    exception: str = ""
    whole: tuple[StoredFile, ...] = ()

    @property
    def needs_checker(self) -> bool:
        """Whether it leaves only if a checker accepts it."""
        return self.status != "released" or bool(self.exception) or bool(self.whole)


class AskedQuestion(_Part):
    """The query that an answer is to, who asked it for which purpose, and about which dataset.

    `is_exception` says that all of the answer was asked for, not only what the rules leave to a
    person. `ledger` is the head of the ledger of earlier answers that it was judged against.
    """

    sql: str
    assignee: str
    purpose: str = ""
    dialect: str = "duckdb"
    dataset: str
    ledger: str
    is_exception: bool = False


class Submission(_Part):
    """All outputs of a session or of a command, by one check; `check` is its notation and version.

    `data` is the digest of the microdata, empty where there was none. An answer to a `question` is
    the only output of its folder.
    """

    format: Literal[1] = 1
    check: str
    policy: str = ""
    data: Annotated[str, StringConstraints(pattern=r"^[^\x00]*$")] = ""
    outputs: tuple[SubmittedOutput, ...]
    question: AskedQuestion | None = None

    def output(self, name: str) -> SubmittedOutput | None:
        """Return an output by its name."""
        return next((one for one in self.outputs if one.name == name), None)


class OutputEvidence(_Part):
    """What is known of one output, with figures: for owners and checkers alone.

    `cells` of the answer to a query, (rows, aggregates), are those that a checker may let out.
    """

    name: Name
    verdict: Mapping[str, Any]
    known: Mapping[str, Any] = {}
    attributes: Mapping[str, Any] = {}
    cells: tuple[tuple[bool, ...], ...] = ()


class FolderEvidence(_Part):
    """The evidence of all outputs of a folder, and the thresholds they are held against."""

    format: Literal[1] = 1
    check: Mapping[str, Any]
    outputs: tuple[OutputEvidence, ...]


class Decided(ChainRecord):
    """What a checker decided about an output, and why; `files` are the digests of its files."""

    output: str
    reason: str
    files: tuple[Hash, ...] = ()


class StepEntry(ChainEntry):
    """A step: outputs are submitted, one of them is accepted or rejected, some are released.

    `by` says who took it, and `folder`, of the first one, what the folder was called. `parts` are
    the digests of what the folder says of its outputs, and `released` the digests of the files that
    left, each with its name.
    """

    state: Literal["submitted", "accepted", "rejected", "released"]
    by: str
    folder: str | None = None
    parts: Mapping[str, Hash] | None = None
    decided: Decided | None = None
    released: Mapping[str, Hash] | None = None


STEPS = EntryKind(StepEntry, "log of the folder", "K027")
