"""The trust file: whose signatures count for what, since when and until when."""

import hashlib
from codecs import BOM_UTF8
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from policy_engine.data.table_files import unreadable_file
from policy_engine.errors import Place, Problem, SignatureError, TrustError, did_you_mean
from policy_engine.trust.canonical_json import read_document
from policy_engine.trust.multikeys import PublicKey, read_public_key
from policy_engine.trust.proofs import read_time
from policy_engine.trust.rotations import Rotation, read_rotation

VERSION = 1
_KEYS = {"trust", "keys", "rotations", "revoked", "unsigned-policies"}
_OF_KEY = {"key", "name", "from", "until", "policies", "outputs", "datasets"}
_OF_REVOKED = {"key", "since", "reason"}
_SCOPES = ("policies", "outputs", "datasets")
_FORKED = (
    "Only one of them succeeds it. If somebody else may have the key, enter it under 'revoked'."
)
_BEGINNING = datetime(1, 1, 1, tzinfo=UTC)
_END = datetime(9999, 12, 31, tzinfo=UTC)


@dataclass(frozen=True)
class TrustedKey:
    """What one key may sign: policies by their uids; certificates by their outputs and the datasets
    that these are made from, all of which have to be among those named. Nothing where it says
    nothing. A name that ends with `*` stands for all that begin as it does."""

    key: PublicKey
    name: str = ""
    since: datetime = _BEGINNING
    until: datetime = _END
    policies: tuple[str, ...] = ()
    outputs: tuple[str, ...] | None = None
    datasets: tuple[str, ...] | None = None

    def holds_at(self, time: datetime) -> bool:
        """Tell whether what was signed at a time counts."""
        return self.since <= time < self.until

    def covers_certificate(self, output: str, datasets: Sequence[str]) -> bool:
        """Tell whether a certificate of an output that is made from datasets is its to sign."""
        if self.outputs is None and self.datasets is None:
            return False
        of_output = self.outputs is None or _is_among(output, self.outputs)
        of_all = self.datasets is None or (
            bool(datasets) and all(_is_among(one, self.datasets) for one in datasets)
        )
        return of_output and of_all

    def covers_policy(self, uid: str) -> bool:
        """Tell whether a policy is its to sign."""
        return _is_among(uid, self.policies)


@dataclass(frozen=True)
class Revocation:
    """That a key is no longer trusted for anything it ever signed, since a time."""

    key: PublicKey
    since: datetime
    reason: str = ""


@dataclass(frozen=True)
class Trust:
    """Whose signatures count for what.

    A key that succeeds another by a `rotation` may sign what that one may, from then on, unless
    either is revoked. Whoever has a revoked key can date what they sign as they like: all that it
    ever signed is void. `digest` is the sha-256 of the file, empty where there is none.
    """

    keys: tuple[TrustedKey, ...] = ()
    rotations: tuple[Rotation, ...] = ()
    revoked: tuple[Revocation, ...] = ()
    unsigned_policies: tuple[str, ...] = ()
    source: str = field(default="", compare=False)
    digest: str = field(default="", compare=False)

    def certificate_refusal(
        self, key: PublicKey, signed: datetime, output: str, datasets: Sequence[str], now: datetime
    ) -> Problem | None:
        """Return why a key's signature of a certificate does not count, None if it does."""
        what = f"certificates of {output}"
        if datasets:
            what += f" made from {', '.join(datasets)}"
        return self._refusal(
            key, signed, now, what, lambda one: one.covers_certificate(output, datasets)
        )

    def policy_refusal(
        self, key: PublicKey, signed: datetime, uid: str, now: datetime
    ) -> Problem | None:
        """Return why a key's signature of a policy does not count, None if it does."""
        return self._refusal(
            key, signed, now, f"the policy {uid}", lambda one: one.covers_policy(uid)
        )

    def names_output(self, asset: str) -> bool:
        """Return whether an asset is among the outputs that keys may sign for, by its own name and
        not by a pattern: data of that name has to have its certificate."""
        return any(asset in (one.outputs or ()) for one in self.keys)

    def accepts_unsigned(self, uid: str) -> bool:
        """Tell whether a policy counts though nobody signed it: who decides keeps it."""
        return _is_among(uid, self.unsigned_policies)

    def _refusal(
        self, key: PublicKey, signed: datetime, now: datetime, what: str, covers: Any
    ) -> Problem | None:
        since = self._revoked_since(key)
        # A time before now may be asked about; what is known by now of a key counts all the same.
        if since is not None and since <= max(now, datetime.now(UTC)):
            message = f"{key.did} is revoked since {since:%Y-%m-%dT%H:%M:%SZ}."
            return Problem("Y010", message, "What it signed has to be signed again by another key.")
        entries = [*self._entries(key)]
        covering = [one for one in entries if covers(one)]
        if any(one.holds_at(signed) for one in covering):
            return None
        if covering:
            message = f"{key.did} may sign {what}, but not at {signed:%Y-%m-%dT%H:%M:%SZ}."
        elif entries:
            message = f"{key.did} may not sign {what}."
        else:
            message = f"{key.did}, which signed it, is not a key that is trusted."
        hint = "" if not self.source else f"See {self.source!r}."
        return Problem("Y009", message, hint)

    def _entries(self, key: PublicKey) -> Iterator[TrustedKey]:
        """Yield what a key may sign, by itself and by the keys that it succeeds."""
        yield from (one for one in self.keys if one.key == key)
        for entry in self.keys:
            since = self._passed_on(entry, key) if entry.key != key else None
            if since is not None:
                yield replace(entry, key=key, since=since, until=_END)

    def _passed_on(self, entry: TrustedKey, key: PublicKey) -> datetime | None:
        """Return since when another key may sign what an entry says, None where it may not.

        A key passes on what it may sign when it vouches for the next one, and not its end. By a
        statement from before it may sign anything it passes on nothing. Of several statements of
        one pair the earliest one that passes it on counts, wherever it is in the file.
        """
        holder, since, until = entry.key, entry.since, entry.until
        passed = set[PublicKey]()
        while holder != key:
            passed.add(holder)
            statements = [
                one
                for one in self.rotations
                if one.old == holder and one.new not in passed and since <= one.since < until
            ]
            if not statements or self._revoked_since(holder) is not None:
                return None
            first = min(statements, key=lambda one: one.since)
            holder, since, until = first.new, first.since, _END
        return since

    def _revoked_since(self, key: PublicKey) -> datetime | None:
        return min((one.since for one in self.revoked if one.key == key), default=None)


def load_trust(source: "str | Path | Trust") -> Trust:
    """Return the trust in a file.

    Raises TrustError (Y008) with everything that is wrong with it, DataError (C002, C003) where it
    cannot be read.
    """
    if isinstance(source, Trust):
        return source
    path = Path(source)
    try:
        text = path.read_bytes()
    except OSError as error:
        raise unreadable_file(path, error) from None
    return read_trust(text, str(path))


def read_trust(text: str | bytes, source: str = "") -> Trust:
    """Return the trust that a JSON text states. Raises TrustError (Y008) with every problem."""
    content = text.encode() if isinstance(text, str) else text
    if content.startswith(BOM_UTF8):
        message = "The trust file cannot be read: it begins with a byte order mark."
        raise TrustError.of("Y008", message, "Save it as UTF-8 without one.", source)
    try:
        document = read_document(text, source)
    except SignatureError as error:
        message = error.problems[0].message.replace("signed document", "trust file")
        raise TrustError.of("Y008", message, "", source) from None
    reader = _TrustReader()
    trust = reader.read(document, source)
    if reader.problems:
        raise TrustError(*reader.problems, source=source)
    return replace(trust, digest=hashlib.sha256(content).hexdigest())


class _TrustReader:
    """Reads a trust file, and collects what is wrong with it."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def read(self, document: Mapping[str, Any], source: str) -> Trust:
        """Return the trust as far as it can be understood."""
        self._check_names(document, _KEYS, {"trust", "keys"}, "")
        version = document.get("trust")
        if version != VERSION or type(version) is not int:  # neither true nor 1.0
            self._add("/trust", f"The version is not {VERSION}.")
        keys = tuple(
            filter(None, (self._key(*one) for one in self._objects(document, "keys", _OF_KEY)))
        )
        revoked = tuple(
            filter(
                None,
                (self._revoked(*one) for one in self._objects(document, "revoked", _OF_REVOKED)),
            )
        )
        rotations = tuple(filter(None, map(self._rotation, *self._listed(document, "rotations"))))
        self._check_single(rotations, {one.key for one in revoked})
        return Trust(
            keys, rotations, revoked, self._names(document, "unsigned-policies", "") or (), source
        )

    def _key(self, pointer: str, entry: Mapping[str, Any]) -> TrustedKey | None:
        key = self._public_key(entry, pointer)
        scopes = {name: self._names(entry, name, pointer) for name in _SCOPES}
        if not any(name in entry for name in _SCOPES):
            self._add(pointer, f"It may sign nothing. One of {', '.join(_SCOPES)} says what.")
        since = self._time(entry, "from", pointer) or _BEGINNING
        until = self._time(entry, "until", pointer) or _END
        if until <= since:
            self._add(f"{pointer}/until", "It ends before it begins.")
        name = self._text(entry, "name", pointer)
        if key is None:
            return None
        policies = scopes["policies"] or ()
        return TrustedKey(key, name, since, until, policies, scopes["outputs"], scopes["datasets"])

    def _revoked(self, pointer: str, entry: Mapping[str, Any]) -> Revocation | None:
        key, since = self._public_key(entry, pointer), self._time(entry, "since", pointer)
        if since is None and "since" not in entry:
            self._add(pointer, "It lacks 'since'.")
        reason = self._text(entry, "reason", pointer)
        return None if key is None or since is None else Revocation(key, since, reason)

    def _rotation(self, pointer: str, statement: Any) -> Rotation | None:
        if not isinstance(statement, dict):
            self._add(pointer, "It is not a statement of `policy-engine key rotate`.")
            return None
        try:
            return read_rotation(statement)
        except SignatureError as error:
            self._add(pointer, error.problems[0].message)
            return None

    def _check_single(self, rotations: Sequence[Rotation], revoked: Collection[PublicKey]) -> None:
        """Add a problem for each key that has several successors: whoever stole it may have made
        one, dated as they liked. A key that is revoked has none."""
        successors: dict[PublicKey, set[PublicKey]] = {}
        for one in rotations:
            successors.setdefault(one.old, set()).add(one.new)
        for old, new in successors.items():
            if len(new) > 1 and old not in revoked:
                self._add("/rotations", f"{old.did} vouches for {len(new)} next keys.", _FORKED)

    def _listed(self, document: Mapping[str, Any], name: str) -> tuple[list[str], list[Any]]:
        value = document.get(name, [])
        if not isinstance(value, list):
            self._add(f"/{name}", "It is not a list.")
            return [], []
        return [f"/{name}/{number}" for number in range(len(value))], value

    def _objects(
        self, document: Mapping[str, Any], name: str, allowed: set[str]
    ) -> Iterator[tuple[str, Mapping[str, Any]]]:
        for pointer, entry in zip(*self._listed(document, name), strict=True):
            if isinstance(entry, dict):
                self._check_names(entry, allowed, {"key"}, pointer)
                yield pointer, entry
            else:
                self._add(pointer, "It is not an object.")

    def _public_key(self, entry: Mapping[str, Any], pointer: str) -> PublicKey | None:
        name = entry.get("key")
        if "key" not in entry:
            return None
        try:
            return read_public_key(name if isinstance(name, str) else "")
        except TrustError as error:
            self._add(f"{pointer}/key", error.problems[0].message)
            return None

    def _time(self, entry: Mapping[str, Any], name: str, pointer: str) -> datetime | None:
        if name not in entry:
            return None
        time = read_time(entry[name])
        if time is None:
            message = f"{entry[name]!r:.60} is not a time such as 2026-01-01T00:00:00Z."
            self._add(f"{pointer}/{name}", message)
        return time

    def _text(self, entry: Mapping[str, Any], name: str, pointer: str) -> str:
        text = entry.get(name, "")
        if not isinstance(text, str):
            self._add(f"{pointer}/{name}", "It is not text.")
        return text if isinstance(text, str) else ""

    def _names(self, entry: Mapping[str, Any], name: str, pointer: str) -> tuple[str, ...] | None:
        if name not in entry:
            return None
        listed = entry[name]
        if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
            self._add(f"{pointer}/{name}", "It is not a list of IRIs.")
            return ()
        for number, one in enumerate(listed):
            if not one or "*" in one[:-1]:
                message = f"{one!r:.80} is neither an IRI nor the beginning of some, with one *."
                self._add(f"{pointer}/{name}/{number}", message)
        return tuple(listed)

    def _check_names(
        self, entry: Mapping[str, Any], allowed: set[str], needed: Iterable[str], pointer: str
    ) -> None:
        for name in entry:
            if name not in allowed:
                self._add(pointer, f"It has {name!r:.60}.", did_you_mean(name, allowed))
        for name in needed:
            if name not in entry:
                self._add(pointer, f"It lacks {name!r}.")

    def _add(self, pointer: str, message: str, hint: str = "") -> None:
        where = f"At {pointer}: " if pointer else ""
        self.problems.append(Problem("Y008", f"{where}{message}", hint, Place(pointer)))


def _is_among(name: str, patterns: Sequence[str]) -> bool:
    return any(name.startswith(one[:-1]) if one.endswith("*") else name == one for one in patterns)
