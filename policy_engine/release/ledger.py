"""The ledger of an owner's attempts: all models and made-up rows attacked, released or not."""

import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from pydantic import BaseModel, ConfigDict, ValidationError

from policy_engine.data import storage
from policy_engine.data.commitment import Hexadecimal
from policy_engine.data.storage import Location
from policy_engine.errors import (
    AuditError,
    CertificateError,
    OutputError,
    PolicyEngineError,
    Problem,
)
from policy_engine.release.attempts import (
    DIGITS,
    AttackFigure,
    Attempt,
    AttemptedRelease,
    JudgedAttempts,
    OwnFigure,
    allow_any,
    number_after,
    pool_attempts,
    shares_records,
)
from policy_engine.release.locking import hold

_FOLDER = "policy-engine/attempts"
_LEDGER, _KEY, _HEAD = "attempts.json", "key", "head"
_KIND = "policy-engine attempts 4"
_FORMER = frozenset({"policy-engine attempts 2", "policy-engine attempts 3"})
"""Older ledgers, which identify records by their text and have no head."""
_PRIVATE = 0o600
_PRIVATE_FOLDER = 0o700


class _Page(BaseModel):
    """All attempts, in order, and an HMAC of them under the owner's key.

    `before` is the HMAC of the page that this one replaced in the file, empty for the first.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    kind: str = _KIND
    attempts: tuple[Attempt, ...] = ()
    before: str = ""
    mac: Hexadecimal


class Ledger:
    """The attempts of one owner, in a folder that nobody else may read.

    It is separate from releases, records and data, so that another output, a lost record or data
    read from elsewhere does not restart the count: by default it is in the folder for program state
    (`XDG_STATE_HOME`, else `~/.local/state`). The file `attempts.json` has every attempt, the file
    `key` has the key that names them and detects changes, the file `head` says which state is the
    last, which detects older copies. A ledger that cannot be read, was changed, is an older one, or
    lacks its key is an error (A019), never an empty ledger.
    """

    def __init__(self, folder: str | Path | None = None) -> None:
        self.folder = Path(folder) if folder is not None else _default_folder()

    def begin(self, model: AttemptedRelease, check: Callable[[int], None] = allow_any) -> int:
        """Record that an attempt began, and return its number; errors as in `AttemptHistory.begin`.

        It counts from now on, whether or not it completes.
        """
        with self._locked() as key:
            names = _ledger_names(model, key)
            attempts = names.renewed(self._read(key))
            before = [one for one in attempts if names.has_same_records(one)]
            repeats = [one for one in before if names.has_same_model(one)]
            stored = next((one for one in repeats if one.attacks), None)
            if stored is not None and not (stored.held or model.repeats):
                raise _refusal(stored, model)
            _check_limit(model, len({one.made for one in before} - {names.made}))
            number = number_after(_earlier_attempts(before, names))
            check(number)
            if not repeats:
                self._write((*attempts, names.attempt()), key)
        return number

    def judge(
        self, model: AttemptedRelease, attacks: Sequence[OwnFigure]
    ) -> JudgedAttempts[OwnFigure]:
        """Record the figures of an attempt, and judge it with those begun before it.

        Nobody else can add an attempt while its bounds are judged, and it is on the disk before
        anybody learns what its attacks reached. An attempt that was already judged keeps its
        answer. Raises OutputError (O002) if it cannot be written.
        """
        with self._locked() as key:
            names = _ledger_names(model, key)
            attempts: list[Attempt] = names.renewed(self._read(key))
            same_records = [one for one in attempts if names.has_same_records(one)]
            earlier: tuple[Attempt, ...] = _earlier_attempts(same_records, names)
            repeats = [one for one in attempts if names.has_same_model(one)]
            for one in repeats:
                if one.attacks and _without_pooled(one.attacks) == tuple(attacks):
                    return JudgedAttempts(
                        cast("tuple[OwnFigure, ...]", one.attacks),
                        _without_sketches((*earlier, one)),
                    )
            judged_attacks = pool_attempts(attacks, earlier, names.way)
            attempt = names.attempt(judged_attacks, held=not any(model.shortfalls(judged_attacks)))
            unfinished = next((one for one in repeats if not one.attacks), None)
            index: int = len(attempts) if unfinished is None else attempts.index(unfinished)
            self._write((*attempts[:index], attempt, *attempts[index + 1 :]), key)
        return JudgedAttempts(judged_attacks, _without_sketches((*earlier, attempt)))

    def check_apart(self, output: Location, destination: Location) -> None:
        """Raise OutputError (O002) if attempts would be in the folder of a release.

        That is beside the `output`, or below the folder that was its `destination`.
        """
        if storage.is_remote(output):
            return
        folder = storage.local_path(storage.parent(output)).resolve()
        ledger_folder = self.folder.resolve()
        if ledger_folder == folder or (destination != output and folder in ledger_folder.parents):
            message = f"Attempts are only for the owner, but {str(self.folder)!r} is in the "
            message += f"folder of the release, {str(folder)!r}."
            raise OutputError.of("O002", message, "Give a folder outside it: attempts=DIR.")

    # -- the files --------------------------------------------------------------------------------

    @contextmanager
    def _locked(self) -> Iterator[bytes]:
        """Lock the folder for this run, and yield the owner's key."""
        with self._writing():
            self.folder.mkdir(_PRIVATE_FOLDER, parents=True, exist_ok=True)
            hold_of_folder = hold(self.folder, lambda: None)
        try:
            yield self._key()
        finally:
            hold_of_folder.release()

    def _key(self) -> bytes:
        """Return the owner's key, created with an empty ledger if there is neither."""
        file = self.folder / _KEY
        if file.exists():
            try:
                key = bytes.fromhex(file.read_text(encoding="ascii").strip())
            except (ValueError, OSError):
                key = b""
            if len(key) != hashlib.sha256().digest_size:
                raise self._unreadable("its key is not valid")
            return key
        if (self.folder / _LEDGER).exists() and not self._is_empty():
            raise self._unreadable("its key is missing")
        key = secrets.token_bytes(hashlib.sha256().digest_size)
        self._write((), key)
        self._put(file, key.hex().encode())
        return key

    def _is_empty(self) -> bool:
        """Return whether the ledger has no attempts: its run was killed before writing the key."""
        try:
            return _Page.model_validate_json((self.folder / _LEDGER).read_bytes()).attempts == ()
        except (ValidationError, ValueError, OSError):
            return False

    def _read(self, key: bytes) -> tuple[Attempt, ...]:
        try:
            text = (self.folder / _LEDGER).read_bytes()
            page = _Page.model_validate_json(text)
        except FileNotFoundError:
            raise self._unreadable("it is missing, though its key is there") from None
        except (ValidationError, ValueError, OSError):
            raise self._unreadable("it is not a ledger of this version") from None
        if page.kind not in {_KIND, *_FORMER} or not hmac.compare_digest(
            page.mac, _mac_of(json.loads(text), key)
        ):
            raise self._unreadable("it was changed")
        self._check_last(page)
        return page.attempts

    def _check_last(self, page: _Page) -> None:
        """Raise AuditError (A019) for a page that is not the latest."""
        try:
            head = (self.folder / _HEAD).read_text(encoding="ascii").strip()
        except FileNotFoundError:
            if page.kind in _FORMER:
                return
            raise self._unreadable("its head is missing") from None
        except (ValueError, OSError):
            raise self._unreadable("its head is not valid") from None
        if page.mac == head:
            return
        if page.kind in _FORMER or page.before != head:
            raise self._unreadable("it is an older copy, or its head is")
        self._put(self.folder / _HEAD, page.mac.encode())  # a killed run did not

    def _write(self, attempts: Sequence[Attempt], key: bytes) -> None:
        page = _Page(attempts=tuple(attempts), before=self._current_mac(), mac="0" * 64)
        document = page.model_dump(mode="json")
        document["mac"] = _mac_of(document, key)
        self._put(self.folder / _LEDGER, json.dumps(document, indent=1).encode())
        self._put(self.folder / _HEAD, document["mac"].encode())

    def _current_mac(self) -> str:
        """Return the HMAC of the current page, empty if there is none."""
        try:
            return _Page.model_validate_json((self.folder / _LEDGER).read_bytes()).mac
        except FileNotFoundError:
            return ""

    def _put(self, file: Path, text: bytes) -> None:
        """Write a file completely, for its owner alone, in one durable step."""
        staged = file.with_name(f".{file.name}.{secrets.token_hex(8)}")
        with self._writing():
            handle = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _PRIVATE)
            try:
                with os.fdopen(handle, "wb") as opened:
                    opened.write(text)
                    opened.flush()
                    os.fsync(opened.fileno())
                staged.replace(file)
                storage.sync(self.folder)
            finally:
                staged.unlink(missing_ok=True)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Turn errors inside into OutputError (O002): what cannot be recorded is not attempted."""
        try:
            yield
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            message = f"Attempts cannot be kept in {str(self.folder)!r}: {reason}."
            raise OutputError.of("O002", message, "Give another folder: attempts=DIR.") from None

    def _unreadable(self, fault: str) -> PolicyEngineError:
        message = f"The attempts kept in {str(self.folder)!r} cannot be trusted: {fault}."
        hint = "Restore all its files: without them, no attempt can be counted."
        return AuditError.of("A019", message, hint)


def _default_folder() -> Path:
    state = os.environ.get("XDG_STATE_HOME", "")
    return (Path(state) if state else Path.home() / ".local" / "state") / _FOLDER


def _canonical(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def _mac(key: bytes, *parts: bytes) -> str:
    return hmac.new(key, b"\n".join(parts), hashlib.sha256).hexdigest()


def _mac_of(document: dict[str, Any], key: bytes) -> str:
    """Return the HMAC of a page as it was written, in any version."""
    return _mac(key, _canonical({name: one for name, one in document.items() if name != "mac"}))


class _Former(BaseModel):
    """The names of an attempt in ledgers before this version, in either of two ways."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    data: str
    way: str
    made: str


class _Names(BaseModel):
    """The names of an attempt in the ledger: see `Attempt`."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    data: str
    way: str
    seed: str
    made: str
    asked: str
    records: tuple[str, ...]
    former: _Former

    def renewed(self, attempts: Sequence[Attempt]) -> list[Attempt]:
        """Return attempts, those on this exact data under their current instead of former names.

        From then on, they count for this data in whatever form it is written.
        """
        return [self._renewed(one) if one.data == self.former.data else one for one in attempts]

    def _renewed(self, one: Attempt) -> Attempt:
        names = {"data": self.data, "records": self.records}
        if one.way == self.former.way:
            names["way"] = self.way
        if one.made == self.former.made:
            names["made"] = self.made
        return one.model_copy(update=names)

    def has_same_records(self, one: Attempt) -> bool:
        """Return whether an attempt is on the same records, or mostly the same."""
        return self.data == one.data or shares_records(self.records, one.records)

    def has_same_model(self, one: Attempt) -> bool:
        """Return whether an attempt is of the same model, attacked and bounded in the same way."""
        return (self.made, self.asked) == (one.made, one.asked)

    def attempt(self, attacks: Sequence[AttackFigure] = (), *, held: bool = False) -> Attempt:
        """Return the current attempt, without figures if it has just begun."""
        now = datetime.now(UTC).replace(microsecond=0)
        names = self.model_dump(exclude={"former"})
        return Attempt(**names, time=now, held=held, attacks=tuple(attacks))


def _ledger_names(model: AttemptedRelease, key: bytes) -> _Names:
    data = _mac(key, b"data", model.data.encode())
    way = _mac(key, b"way", model.way.encode())
    seed = _mac(key, b"seed", str(model.seed).encode())
    audits = _canonical([one.model_dump(mode="json") for one in model.audits])
    return _Names(
        data=data,
        way=way,
        seed=seed,
        made=_mac(key, b"made", way.encode(), seed.encode(), model.exactly.encode()),
        asked=_mac(key, b"asked", audits),
        records=tuple("".join(_sketch_name(one, key) for one in each) for each in model.records),
        former=_former_names(model, seed, key),
    )


def _former_names(model: AttemptedRelease, seed: str, key: bytes) -> _Former:
    data = _mac(key, b"data", model.former.encode())
    way = _mac(key, b"way", data.encode(), model.way.encode())
    model_name = _mac(key, b"made", way.encode(), seed.encode(), model.exactly.encode())
    return _Former(data=data, way=way, made=model_name)


def _sketch_name(digest: int, key: bytes) -> str:
    return _mac(key, b"record", f"{digest:x}".encode())[:DIGITS]


def _without_sketches(attempts: Sequence[Attempt]) -> tuple[Attempt, ...]:
    """Return attempts without sketches, as the owner's record has them."""
    return tuple(one.model_copy(update={"records": ()}) for one in attempts)


def _earlier_attempts(attempts: Sequence[Attempt], names: _Names) -> tuple[Attempt, ...]:
    """Return the attempts at other models, up to the first attempt at this one."""
    models = [one.made for one in attempts]
    end = models.index(names.made) if names.made in models else len(models)
    return tuple(attempts[:end])


def _without_pooled(attacks: Sequence[AttackFigure]) -> tuple[AttackFigure, ...]:
    """Return attack figures without those of earlier attempts."""
    return tuple(one.model_copy(update={"pooled": None}) for one in attacks)


def _check_limit(model: AttemptedRelease, before: int) -> None:
    """Raise AuditError (A020) if a policy allows no more attempts on its data."""
    allowed = min((one.attempts for one in model.audits if one.attempts), default=None)
    if allowed is not None and before >= allowed:
        times = "once" if before == 1 else f"{before} times"
        made = "A model of these records, or of most of them, was made"
        hint = "Train on other records: another model of these counts too."
        if model.is_of_rows:
            made = "Rows, or their generator, were made of these records, or of most of them,"
            hint = "Give other records: whatever is made up of these counts too."
        message = f"{made} and attacked {times}. "
        message += f"The policy allows {allowed} {'attempt' if allowed == 1 else 'attempts'}."
        raise AuditError.of("A020", message, hint)


def _refusal(stored: Attempt, model: AttemptedRelease) -> PolicyEngineError:
    """Return the error that an attempt got before: the same bounds fall short."""
    when = f"It was already made from this seed, and refused, at {stored.time.isoformat()}."
    sentences = model.shortfalls(stored.attacks)
    return CertificateError(*(Problem("V007", sentence, when) for sentence in sentences))
