"""The manifest in an audit's folder: what is being done, and how far it is."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from policy_engine.audits.membership.settings import Settings
from policy_engine.audits.membership.shadows import Chunk
from policy_engine.data.atomic_file import write_file
from policy_engine.data.commitment import Commitment, new_nonce
from policy_engine.engines.engine import Progress
from policy_engine.engines.versions import version_of
from policy_engine.errors import AuditError, PolicyEngineError

State = Literal["running", "done", "interrupted", "cancelled", "failed"]
CANCELLED = "A018"
NAME, NONCE = "manifest.json", "manifest.nonce"


class Manifest(BaseModel):
    """An audit under way or at its end, as `manifest.json` in its folder.

    `data` commits to the digest of the records, once they are read: who has the nonce beside it
    can show that these were the records, and whoever has not can guess nothing. `models` are how
    many are trained and kept, of how many; `figures` is the sha-256 of the `audit.json` that
    this audit wrote, None while there is only that of an earlier one, or none. `resumed` counts
    how often an audit of the same settings, model and data was broken off here before. A process
    that is killed leaves it running, with the moment of the last chunk in `updated`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    kind: Literal["membership", "predictions", "fitted model", "trade-off"]
    state: State
    problems: tuple[str, ...] = ()
    started: str
    updated: str
    finished: str | None = None
    settings: Mapping[str, Any]
    model: str
    data: Commitment | None = None
    models: tuple[int, int] | None = None
    resumed: int = 0
    figures: str | None = None
    policy_engine: str


class ManifestKeeper:
    """Keeps the manifest of one run up to date; without a folder there is nothing to keep."""

    def __init__(self, folder: Path | None, manifest: Manifest) -> None:
        self._folder, self._now = folder, manifest
        self._earlier, self._nonce = (
            (_read_earlier(folder), _read_nonce(folder)) if folder else (None, "")
        )
        self._write()

    def set_records(self, digest: str) -> None:
        """Record which data is audited, and whether an interrupted audit is resumed."""
        earlier, facts = self._earlier, {"records": digest}
        is_recorded = (
            earlier and earlier.data and self._nonce and earlier.data.matches(facts, self._nonce)
        )
        goes_on = (
            is_recorded
            and earlier is not None
            and earlier.state != "done"
            and (earlier.kind, earlier.model, earlier.settings)
            == (self._now.kind, self._now.model, self._now.settings)
        )
        if self._folder and not is_recorded:
            self._nonce = new_nonce()
            write_file(self._folder / NONCE, self._nonce, private=True)
        resumed = earlier.resumed + 1 if goes_on and earlier else 0
        if self._folder:
            self._update(data=Commitment.make(facts, self._nonce), resumed=resumed)

    def count_models(self, chunk: Chunk) -> None:
        """Say how many models are trained and kept."""
        self._update(models=(chunk.done, chunk.total))

    def set_figures(self, figures: str) -> None:
        """Say which figures the audit found."""
        self._update(figures=sha256(figures.encode()).hexdigest())

    def end(self, state: State, *problems: str) -> None:
        """Say how the audit ended, with the codes of what went wrong."""
        self._update(state=state, problems=problems, finished=_now())

    def _update(self, **news: Any) -> None:
        self._now = self._now.model_copy(update={**news, "updated": _now()})
        self._write()

    def _write(self) -> None:
        if self._folder:
            text = json.dumps(self._now.model_dump(mode="json"), indent=1, ensure_ascii=False)
            write_file(self._folder / NAME, text + "\n")


@contextmanager
def keep_manifest(
    folder: Path | None, kind: str, settings: Settings, model: str
) -> Iterator[ManifestKeeper]:
    """Keep a manifest in a folder from now on, and say in it how what is done here ends.

    Raises OutputError (O002) where it cannot be written, before anything is done.
    """
    settings_json = json.loads(json.dumps(asdict(settings)))
    keeper = ManifestKeeper(
        folder,
        Manifest.model_validate(
            {
                "kind": kind,
                "state": "running",
                "started": _now(),
                "updated": _now(),
                "settings": settings_json,
                "model": model,
                "policy_engine": version_of("policy-engine"),
            }
        ),
    )
    try:
        yield keeper
    except KeyboardInterrupt:
        keeper.end("interrupted")
        raise
    except PolicyEngineError as error:
        codes = [one.code for one in error.problems]
        keeper.end("cancelled" if CANCELLED in codes else "failed", *codes)
        raise
    except BaseException:
        keeper.end("failed")
        raise
    keeper.end("done")


def cancellable(cancel: Callable[[], bool] | None, progress: Progress) -> Progress:
    """Return a progress that raises AuditError (A018) as soon as `cancel` says so."""
    if cancel is None:
        return progress

    def report(stage: str, done: int, total: int) -> None:
        progress(stage, done, total)
        if cancel():
            message = (
                "The audit was cancelled. Models that were trained and kept so far are not lost."
            )
            raise AuditError.of(
                CANCELLED, message, "Run it again with the same folder to continue."
            )

    return report


def _read_earlier(folder: Path) -> Manifest | None:
    try:
        return Manifest.model_validate_json((folder / NAME).read_bytes())
    except (OSError, ValidationError):
        return None


def _read_nonce(folder: Path) -> str:
    try:
        text = (folder / NONCE).read_text(encoding="ascii").strip()
        bytes.fromhex(text)
    except (OSError, ValueError):
        return ""
    return text


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
