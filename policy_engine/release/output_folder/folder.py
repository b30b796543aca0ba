"""Writing a folder of outputs, deciding about them, and letting out what may leave."""

import hashlib
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex

from pydantic import BaseModel, ValidationError

from policy_engine.data.atomic_file import write_file
from policy_engine.data.chain.entries import canonical
from policy_engine.data.chain.hashing import HashChain
from policy_engine.data.chain.verification import Head
from policy_engine.data.keys import Key, read_chain_key
from policy_engine.errors import (
    LedgerError,
    OutputError,
    PolicyEngineError,
    Problem,
    did_you_mean,
    join_names,
)
from policy_engine.release.output_folder.model import (
    Decided,
    FolderEvidence,
    StepEntry,
    StoredFile,
    Submission,
    SubmittedOutput,
)
from policy_engine.release.output_folder.standings import (
    OutputStanding,
    check_acceptable,
    check_distinct,
    check_undecided,
    standings_of,
    unlogged_error,
)
from policy_engine.release.output_folder.steps import LOG, StepLog

OUTPUTS, EVIDENCE = "outputs.json", "evidence.json"
CHECKER_PAGE, RESEARCHER_PAGE = "checker.html", "researcher.html"


def stored_file(path: str, content: bytes) -> StoredFile:
    """Return what a folder says of a file."""
    return StoredFile(path=path, sha256=hashlib.sha256(content).hexdigest(), size=len(content))


def check_vacant(folder: Path) -> None:
    """Raise OutputError (O001) where there is something else than an empty folder, (O002) where a
    link leads nowhere."""
    if folder.is_symlink() and not folder.exists():
        message = f"{str(folder)!r} is a link that leads nowhere."
        raise OutputError.of("O002", message, "Give a path of which nothing is there yet.")
    try:
        is_vacant = not folder.exists() or (folder.is_dir() and not any(folder.iterdir()))
    except OSError as error:
        message = f"The folder cannot be used: {error.strerror or error}."
        raise OutputError.of("O002", message, source=str(folder)) from None
    if not is_vacant:
        message = f"{str(folder)!r} exists, and is not an empty folder."
        raise OutputError.of("O001", message, "Give another path.")


def write_folder(
    folder: Path,
    submission: Submission,
    evidence: FolderEvidence,
    files: Mapping[str, bytes],
    *,
    by: str,
    key: Key = None,
) -> StepEntry:
    """Write a folder of outputs, whole or not at all, and return the first step of its log.

    `files` are the contents by their paths in the folder. Raises OutputError (O001, O002) where
    there is something or it cannot be written.
    """
    check_vacant(folder)
    # What the folder says of its outputs has the digests of their files; pages are like it.
    pages = {path: content for path, content in files.items() if "/" not in path}
    parts = {OUTPUTS: _text(submission), EVIDENCE: _text(evidence), **pages}
    draft = folder.with_name(f".{folder.name}-{token_hex(8)}")
    try:
        _write_draft(draft, {**parts, **files})
        digests = {name: hashlib.sha256(text).hexdigest() for name, text in parts.items()}
        log = StepLog(draft, HashChain(read_chain_key(key)))
        first = log.begin(state="submitted", by=by, folder=folder.name, parts=digests)
        if folder.is_dir():
            folder.rmdir()
        draft.rename(folder)
    except OSError as error:
        message = f"The folder cannot be written: {error.strerror or error}."
        raise OutputError.of("O002", message, source=str(folder)) from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return first


def _write_draft(draft: Path, files: Mapping[str, bytes]) -> None:
    draft.mkdir(parents=True, mode=0o700)
    for path, content in files.items():
        (draft / path).parent.mkdir(exist_ok=True)
        write_file(draft / path, content, private=True)


def try_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    """Raise OutputError (O001, O002) where a folder with such files could not be written.

    For what has to be known before it counts: a ledger that outputs are recorded in, say.
    """
    check_vacant(folder)
    draft = folder.with_name(f".{folder.name}-{token_hex(8)}")
    try:
        _write_draft(draft, files)
    except OSError as error:
        message = f"The folder cannot be written: {error.strerror or error}."
        raise OutputError.of("O002", message, source=str(folder)) from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _text(part: BaseModel) -> bytes:
    return json.dumps(part.model_dump(mode="json"), indent=1, ensure_ascii=False).encode()


@dataclass(frozen=True)
class OutputFolder:
    """A folder of outputs that was read: nothing of it was changed since it was submitted."""

    folder: Path
    submission: Submission
    evidence: FolderEvidence
    log: StepLog

    @classmethod
    def read(cls, folder: Path, key: Key = None, expect: str = "") -> "OutputFolder":
        """Return a folder, whose log must still have a head that somebody kept: `expect`.

        Raises LedgerError (K027) for one that is none, or was changed, RequestError (U001) if what
        is expected is not a head.
        """
        if not (folder / LOG).is_file():
            message = f"{str(folder)!r} is not a folder of outputs: it has no {LOG}."
            raise LedgerError.of(
                "K027",
                message,
                "A session writes one as it ends.",
            )
        expected = Head.of(expect, "check review") if expect else None
        log = StepLog(folder, HashChain(read_chain_key(key)), expected)
        first = log.entries()[0]
        parts = dict(first.parts or {})
        texts = {name: _content(folder, name) for name in {OUTPUTS: "", EVIDENCE: "", **parts}}
        digests = {name: hashlib.sha256(text).hexdigest() for name, text in texts.items()}
        changed = [name for name in digests if parts.get(name) != digests[name]]
        if changed:
            raise _changed_error(folder, changed)
        try:
            submission = Submission.model_validate_json(texts[OUTPUTS])
            evidence = FolderEvidence.model_validate_json(texts[EVIDENCE])
        except ValidationError:
            message = "What the folder says of its outputs cannot be read."
            raise LedgerError.of("K027", message, source=str(folder)) from None
        return cls(folder, submission, evidence, log)

    def check_files(self) -> None:
        """Raise LedgerError (K027) if a file of any output was changed or is not there."""
        outputs = self.submission.outputs
        self._check_files([file for one in outputs for file in (*one.files, *one.whole)])

    def content(self, path: str, most: int = -1) -> bytes:
        """Return a file of the folder, or its first bytes. Raises LedgerError (K027) if it is not
        there."""
        return _content(self.folder, path, most)

    def standings(self) -> tuple[OutputStanding, ...]:
        """Return where each output stands."""
        return standings_of(self.submission, self.log.entries())

    def decide(
        self,
        name: str,
        *,
        accepts: bool,
        reason: str,
        by: str,
        is_own_allowed: bool = False,
        is_final: bool = False,
        record: Callable[[], None] | None = None,
    ) -> OutputStanding:
        """Record what a checker decides about an output, and return where it stands.

        What is accepted of the answer to a query is in a ledger first, as `record` does. Of several
        decisions the last one counts, unless they are `is_final`: then only an open output is
        decided about. Raises LedgerError (K027) if its files were changed, or the log cannot be
        written; (K028) for an output that is not there, of which nothing may be let out, or whose
        answer is in no ledger, or is accepted already; for a decision without a reason or a person,
        by who submitted the outputs, unless that `is_own_allowed`, or after outputs were released.
        """
        output = self._decidable(name, reason, by)
        if accepts:
            check_acceptable(output, self.submission, is_recorded=record is not None)
        entries: tuple[StepEntry, ...] = ()
        is_recorded = False
        try:
            with self.log.appending() as log:
                if by.strip() == log.entries[0].by and not is_own_allowed:
                    message = f"{by.strip()!r} submitted the outputs: another person decides."
                    raise LedgerError.of("K028", message)
                check_undecided(
                    self.submission, name, log.entries, accepts=accepts, is_final=is_final
                )
                if accepts and record is not None:
                    record()
                    is_recorded = True
                digests = tuple(one.sha256 for one in (*output.files, *output.whole))
                decided = Decided(output=name, reason=reason.strip(), files=digests)
                state = "accepted" if accepts else "rejected"
                log.add(state=state, by=by.strip(), decided=decided)
                entries = log.entries
        except PolicyEngineError as error:
            if is_recorded:
                raise unlogged_error(error, self.folder) from error
            raise
        standings = standings_of(self.submission, entries)
        return next(one for one in standings if one.output.name == name)

    def _decidable(self, name: str, reason: str, by: str) -> SubmittedOutput:
        """Return an output whose files are as they were. Raises LedgerError (K027, K028)."""
        output = self.submission.output(name)
        if output is None:
            names = [one.name for one in self.submission.outputs]
            message = f"There is no output {name!r}. There is {join_names(names or ['none'])}."
            raise LedgerError.of("K028", message, did_you_mean(name, names))
        if not reason.strip() or not by.strip():
            raise LedgerError.of("K028", "A decision names who takes it, and the reason.")
        self._check_files([*output.files, *output.whole])
        return output

    def release(self, to: Path, *, by: str, only: Sequence[str] = ()) -> dict[str, str]:
        """Copy what may leave to a new folder, all or nothing; return its files with digests.

        Rejected outputs stay. Raises LedgerError (K028) while one is still open, (K027) if a file
        was changed since it was submitted, and OutputError (O001, O002).
        """
        if to.exists() or to.is_symlink():
            noun = "exists" if to.exists() else "is a link that leads nowhere"
            message = f"The output {str(to)!r} {noun}."
            raise OutputError.of("O001", message, "Give another path.")
        if to.resolve().is_relative_to(self.folder.resolve()):
            message = f"{str(to)!r} is in the folder that is checked."
            raise OutputError.of("O002", message, "Give a path outside of it.")
        draft = to.with_name(f".{to.name}-{token_hex(8)}")
        try:
            with self.log.appending() as log:
                files = self._leaving(log.entries, only)
                released = self._copy(files, draft)
                log.add(state="released", by=by.strip() or "checker", released=released)
            # The log first: nothing is seen that it does not have. What is logged and not seen
            # after a crash is released again, which is logged, too.
            draft.rename(to)
        except OSError as error:
            message = f"The folder cannot be written: {error.strerror or error}."
            raise OutputError.of("O002", message, source=str(to)) from None
        finally:
            shutil.rmtree(draft, ignore_errors=True)
        return released

    def hand_out(self, *, by: str) -> dict[str, bytes]:
        """Return the files of all that may leave, by their names; that is logged the first time.

        Raises LedgerError (K027, K028) as `release` does.
        """
        with self.log.appending() as log:
            files = self._leaving(log.entries, ())
            digests = {Path(one.path).name: one.sha256 for one in files}
            if not any(one.state == "released" for one in log.entries):
                log.add(state="released", by=by.strip() or "checker", released=digests)
        return {Path(one.path).name: _content(self.folder, one.path) for one in files}

    def _leaving(self, entries: Sequence[StepEntry], only: Sequence[str]) -> list[StoredFile]:
        """Return the files that may leave. Raises LedgerError (K027, K028)."""
        standings = standings_of(self.submission, entries)
        chosen = [one for one in standings if not only or one.output.name in only]
        undecided = [one.output.name for one in chosen if one.word == "open"]
        if undecided:
            raise LedgerError(*map(_undecided, undecided), source=str(self.folder))
        files = [
            file for one in chosen if one.word in ("released", "accepted") for file in one.files
        ]
        if not files:
            raise LedgerError.of("K028", "No output of the folder may leave.")
        self._check_files(files)
        check_distinct(files, self.folder)
        return files

    def _copy(self, files: Sequence[StoredFile], draft: Path) -> dict[str, str]:
        """Copy files to a new folder, and return their digests by their names."""
        released = {}
        draft.mkdir(parents=True)
        for file in files:
            content = _content(self.folder, file.path)
            if hashlib.sha256(content).hexdigest() != file.sha256:
                raise _changed_error(self.folder, [file.path])
            name = Path(file.path).name
            (draft / name).write_bytes(content)
            released[name] = file.sha256
        return released

    def _check_files(self, files: Sequence[StoredFile]) -> None:
        changed = [
            one.path
            for one in files
            if hashlib.sha256(_content(self.folder, one.path)).hexdigest() != one.sha256
        ]
        if changed:
            raise _changed_error(self.folder, changed)


def _content(folder: Path, name: str, most: int = -1) -> bytes:
    """Return a file of the folder, or its first bytes.

    Raises LedgerError (K027) if it is not there, or elsewhere.
    """
    path = folder / name
    is_special = path.exists() and not path.is_file()
    if is_special or path.is_symlink() or not path.resolve().is_relative_to(folder.resolve()):
        raise LedgerError.of("K027", f"{name!r} is not a file in the folder.", source=str(folder))
    try:
        with path.open("rb") as file:
            return file.read(most)
    except OSError as error:
        message = f"{name!r} cannot be read: {error.strerror or error}."
        raise LedgerError.of("K027", message, source=str(folder)) from None


def _changed_error(folder: Path, names: Sequence[str]) -> LedgerError:
    verb = "was" if len(names) == 1 else "were"
    message = f"{join_names(names)} {verb} changed after the outputs were submitted."
    return LedgerError(Problem("K027", message, "Submit the outputs again."), source=str(folder))


def _undecided(name: str) -> Problem:
    message = f"Nobody has decided about the output {name!r}."
    return Problem("K028", message, "`check accept` and `check reject` decide, with a reason.")


def digest_of(text: object) -> str:
    """Return the SHA-256 of the canonical JSON of a value, in hexadecimal."""
    return hashlib.sha256(canonical(text)).hexdigest()
