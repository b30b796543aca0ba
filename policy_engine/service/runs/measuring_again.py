"""Measures again what a run has left, in a process of its own that did not make it.

What is signed was measured, on the very output, by a process that the run had no part in: it has
its own memory, its own folders and its own machine code, and reads what was left as a file like any
other. It works on a copy: files that the run may still have open, or may name by a folder that it
could write, are not those that are signed.
"""

import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from policy_engine.errors import CertificateError, DataError, PolicyEngineError, ServiceError
from policy_engine.service.runs.checking_results import RECORD
from policy_engine.service.runs.folders import RunFolders
from policy_engine.service.runs.jobs import Job, RunInputs
from policy_engine.service.runs.kinds.sanitising import Sanitising
from policy_engine.service.runs.kinds.settings import kept_policy, known_owners
from policy_engine.service.runs.results import bounded_contents
from policy_engine.service.runs.signing_results import RELEASE

if TYPE_CHECKING:
    from policy_engine.certificate.certificate import Certificate

LEFT = "left"
"""What a job calls the folder of what the run has left."""
_UNKNOWN = "V006"
"""The code of what no output shows."""


class MeasuringAgain(Sanitising):
    """The settings of a run whose releases are measured again."""

    def carry_out(self, inputs: RunInputs) -> dict[str, Any]:
        """Copy what was left, and return which outputs were measured again in the copy.

        Their certificates are replaced by what was measured. Raises ServiceError (N022) for what is
        not what its policy asks for.
        """
        _copy(inputs.releases[LEFT], inputs.out)
        folder = inputs.out / RELEASE
        paths = sorted(folder.glob("*.jsonld")) if folder.is_dir() else []
        return {
            "outputs": [
                self._measure(path, content, inputs)
                for path, content in bounded_contents(paths).items()
            ]
        }

    def _measure(self, path: Path, content: bytes, inputs: RunInputs) -> dict[str, Any]:
        from policy_engine.certificate.certificate import read_certificate  # noqa: PLC0415 (slow)

        stated = read_certificate(content, path.name)
        view = {
            "asset": stated.plan.publish.asset,
            "file": stated.file,
            "rows": stated.rows_out,
            "certificate": path.name,
        }
        try:
            measured = self._again(stated, path.parent, inputs)
        except PolicyEngineError as error:
            why = error.problems[0]
            if isinstance(error, DataError) and why.code == _UNKNOWN:
                return {**view, "measured": False, "reason": why.message}
            if not isinstance(error, CertificateError | DataError):
                raise
            message = f"The certificate of {view['asset']} is not signed: measured again, "
            raise ServiceError.of("N022", f"{message}{why.code} {why.message}") from error
        for one in (path, inputs.shown / path.name):
            if one.exists():
                _replace(one, measured.to_jsonld().encode())
        return {**view, "rows": measured.rows_out, "measured": True}

    def _seed(self, stated: "Certificate", record: Path | None) -> int | None:
        """Return the seed by which models were made and attacked, if there was one.

        Raises ServiceError (N022) for one that the run was not given: it may be the one of many by
        which little was found.
        """
        from policy_engine.api.releasing import derive_seed  # noqa: PLC0415 (slow)
        from policy_engine.certificate.record import load_record  # noqa: PLC0415 (slow)

        plan, asset = stated.plan, stated.plan.publish.asset
        seed = load_record(record).seed if record and (plan.audits or plan.train) else None
        own = self.seed
        if seed is not None and (own is None or seed not in (own, derive_seed(own, asset))):
            message = f"The certificate of {asset} is not signed: its record has a seed that the "
            raise ServiceError.of("N022", f"{message}run was not given.")
        return seed

    def _again(self, stated: "Certificate", folder: Path, inputs: RunInputs) -> "Certificate":
        from policy_engine.api.certifying import certify_output  # noqa: PLC0415 (slow)

        name = stated.file or ""
        if not name or (folder / name).parent != folder:
            message = f"The certificate of {stated.plan.publish.asset} is not signed: "
            raise ServiceError.of("N022", f"{message}the output that it names is not beside it.")
        record = _opening(stated, folder.with_name(RECORD))
        return certify_output(
            # The certificate of a model is in the folder that has nothing but the two.
            folder if stated.plan.releases_model else folder / name,
            kept_policy(inputs.policy),
            self.data(inputs),
            asset=stated.plan.publish.asset,
            record=record,
            attempts=inputs.attempts,
            attack_seed=self._seed(stated, record),
            policies=[kept_policy(one) for one in inputs.others],
            owners=known_owners(inputs),
            purpose=self.purpose,
            engine=inputs.engine,
        )


def measuring_job(job: Job, folders: RunFolders) -> Job:
    """Return the job of measuring again what a run has left, whose folders are made.

    It shares with the run what the run could not write, and the ledger of models, which is a text
    under a key. Compiled kernels are its own: those that runs share may be the run's work. Raises
    OSError.
    """
    folder = job.folder / "again"
    again = job.model_copy(
        update={
            "kinds": __name__,
            "kind": KIND,
            "folder": folder,
            "kept": folder / "kept",
            "code": folders.code_of_measuring,
            "releases": {LEFT: job.out},
            "ledger": None,
            "ledger_key": None,
            "note": "",
            "parent": os.getpid(),
        }
    )
    folders.make(again)
    return again.model_copy(update={"files": folders.give(folder, job.files)})


def signed_names(summary: Mapping[str, Any]) -> list[str]:
    """Return the names of the certificates that were measured again. Raises KeyError, TypeError."""
    return [str(one["certificate"]) for one in summary["outputs"] if one["measured"] is True]


def told_outputs(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is told of a run whose outputs were measured again: which of them are signed."""
    keys = ("asset", "file", "rows", "reason")
    outputs = [
        {key: one[key] for key in keys if key in one} | {"signed": one["measured"] is True}
        for one in summary["outputs"]
    ]
    return {"outputs": outputs}


KIND = "measure-again"
KINDS: Mapping[str, type[MeasuringAgain]] = MappingProxyType({KIND: MeasuringAgain})


def _opening(certificate: "Certificate", folder: Path) -> Path | None:
    """Return the file of records that opens the commitment of a certificate, None for no file."""
    from policy_engine.certificate.record import find_opening_record, read_record  # noqa: PLC0415

    for path, content in bounded_contents(sorted(folder.glob("*.json"))).items():
        try:
            find_opening_record(read_record(content), certificate.commitment)
        except PolicyEngineError:
            continue
        return path
    return None


def _copy(source: Path, target: Path) -> None:
    """Copy files and folders. Raises OSError for anything else, as a link is."""
    for path in _entries(source):
        place = target / path.relative_to(source)
        if stat.S_ISDIR(path.lstat().st_mode):
            place.mkdir(mode=0o700, exist_ok=True)
        else:
            _copy_file(path, place)


def _entries(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        kind = path.lstat().st_mode
        if not (stat.S_ISDIR(kind) or stat.S_ISREG(kind)):
            raise OSError(f"{path.name!r} is not a file")
        yield path
        if stat.S_ISDIR(kind):
            yield from _entries(path)


def _copy_file(path: Path, place: Path) -> None:
    """Copy a file with its mode; a link that took its place meanwhile is not followed."""
    source = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(source, "rb") as file, place.open("xb") as copy:
        shutil.copyfileobj(file, copy)
        mode = stat.S_IMODE(os.fstat(source).st_mode)
        os.fchmod(copy.fileno(), mode)


def _replace(path: Path, content: bytes) -> None:
    new = path.with_name(f".{path.name}.measured")
    new.write_bytes(content)
    new.replace(path)
