"""Where outputs of a folder stand by its log, and what may still be decided about them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from policy_engine.errors import LedgerError, PolicyEngineError, Problem, join_names
from policy_engine.release.output_folder.model import (
    StepEntry,
    StoredFile,
    Submission,
    SubmittedOutput,
)


@dataclass(frozen=True)
class OutputStanding:
    """Where an output stands: what was decided last about it, if it was, and what may leave."""

    output: SubmittedOutput
    decision: StepEntry | None

    @property
    def word(self) -> str:
        """`released` by the rules, `accepted` or `rejected` by a checker, or still `open`."""
        if self.decision is not None:
            return self.decision.state
        return "open" if self.output.needs_checker else "released"

    @property
    def files(self) -> tuple[StoredFile, ...]:
        """What leaves if it does: more than by the rules alone, where a checker accepts that."""
        is_whole = self.word == "accepted" and bool(self.output.whole)
        return self.output.whole if is_whole else self.output.files


def standings_of(
    submission: Submission, entries: Sequence[StepEntry]
) -> tuple[OutputStanding, ...]:
    """Return where each output of a folder stands by its steps."""
    last = {one.decided.output: one for one in entries if one.decided is not None}
    return tuple(OutputStanding(one, last.get(one.name)) for one in submission.outputs)


def check_acceptable(output: SubmittedOutput, submission: Submission, *, is_recorded: bool) -> None:
    """Raise LedgerError (K028) for an output that is not to be accepted so."""
    if submission.question is None:
        return
    if not output.whole:
        message = "Nothing more of the answer may be let out than was: earlier answers forbid it."
        raise LedgerError.of("K028", message, "Reject it.")
    if not is_recorded:
        message = "The answer to a query is accepted with the ledger that earlier answers are in."
        raise LedgerError.of("K028", message, "Give the policy, the data and the ledger, too.")


def check_undecided(
    submission: Submission,
    name: str,
    entries: Sequence[StepEntry],
    *,
    accepts: bool,
    is_final: bool,
) -> None:
    """Raise LedgerError (K028) where nothing more may be decided about an output."""
    if any(one.state == "released" for one in entries):
        message = "The outputs of the folder were released: nothing more is decided."
        raise LedgerError.of("K028", message)
    word = {one.output.name: one for one in standings_of(submission, entries)}[name].word
    is_again = accepts and word == "accepted" and submission.question is not None
    if is_again or (is_final and word != "open"):
        raise LedgerError.of("K028", f"The output {name!r} is {word} already.", "Read it again.")


def check_distinct(files: Sequence[StoredFile], folder: Path) -> None:
    """Raise LedgerError (K028) where two files that leave have one name, whatever its case."""
    names = [Path(one.path).name.lower() for one in files]
    taken = sorted({one for one in names if names.count(one) > 1})
    if taken:
        message = f"Two outputs have a file of the same name: {join_names(taken)}."
        hint = "Reject one of them, or submit the outputs under other names."
        raise LedgerError.of("K028", message, hint, str(folder))


def unlogged_error(error: PolicyEngineError, folder: Path) -> PolicyEngineError:
    """Return the error of an answer that is in the ledger as accepted, and not in the folder."""
    message = (
        "The answer is in the ledger as accepted, and the folder could not be told: it stays as it "
        "was, and is not given out."
    )
    hint = "Later answers are judged as if it had been given out."
    return LedgerError(Problem("K027", message, hint), *error.problems, source=str(folder))
