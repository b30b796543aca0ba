"""Keys that never leave a token: PKCS#11, named by URIs of RFC 7512."""

import contextlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, unquote_to_bytes

from policy_engine.errors import DataError, PolicyEngineError, TrustError
from policy_engine.trust.multikeys import PublicKey

_PIN = "POLICY_ENGINE_PIN"
_PATH_NAMES = {"token", "serial", "object", "id", "type"}
_QUERY_NAMES = {"module-path", "pin-source"}
_MOST_BYTES = 1_000


@dataclass(frozen=True, eq=False)
class TokenKey:
    """An Ed25519 key of a token, which signs for it; only its public half is known here."""

    _key: Any = field(repr=False)
    public: PublicKey

    def sign(self, message: bytes) -> bytes:
        """Return the signature that the token makes. Raises TrustError (Y001) where it does not."""
        from pkcs11 import Mechanism, PKCS11Error  # noqa: PLC0415 (an extra)

        try:
            return bytes(self._key.sign(message, mechanism=Mechanism.EDDSA))
        except PKCS11Error as error:
            raise _unusable(f"it does not sign ({type(error).__name__})") from None


def open_token(uri: str) -> TokenKey:
    """Return the key that a URI names: `pkcs11:token=NAME;object=KEY?module-path=FILE.so`.

    `pin-source` is `env:NAME` or the path of a file; without it the PIN is in POLICY_ENGINE_PIN. A
    PIN in the URI itself is refused, for all processes of a machine see command lines. Raises
    TrustError (Y001) for a URI or a token that cannot be used, DataError (C011) without the package
    python-pkcs11.
    """
    where, how = _parts(uri)
    try:
        import pkcs11  # noqa: PLC0415 (an extra)
    except ImportError:
        hint = "pip install 'policy-engine[tokens]'."
        raise DataError.of("C011", "python-pkcs11 is not installed.", hint) from None
    if "module-path" not in how:
        raise _unusable("its URI has no module-path")
    try:
        library = pkcs11.lib(how["module-path"])
        token = library.get_token(
            token_label=where.get("token"),
            token_serial=where["serial"].encode() if "serial" in where else None,
        )
        session = _session(token, _pin(how.get("pin-source", f"env:{_PIN}")))
        key = _object(session, pkcs11.ObjectClass.PRIVATE_KEY, where)
        public = _object(session, pkcs11.ObjectClass.PUBLIC_KEY, where)
        point = bytes(public[pkcs11.Attribute.EC_POINT])
    except (pkcs11.PKCS11Error, RuntimeError, OSError, KeyError, AttributeError) as error:
        raise _unusable(f"{type(error).__name__}") from None
    return TokenKey(key, _public_key(point))


def _session(token: Any, pin: str) -> Any:
    """Return a session; a process that has logged in needs no PIN for a second one."""
    from pkcs11 import UserAlreadyLoggedIn  # noqa: PLC0415 (an extra)

    try:
        return token.open(user_pin=pin)
    except UserAlreadyLoggedIn:
        return token.open()


def _object(session: Any, kind: Any, where: Mapping[str, str]) -> Any:
    identifier = unquote_to_bytes(where["id"]) if "id" in where else None
    return session.get_key(object_class=kind, label=where.get("object"), id=identifier)


def _public_key(point: bytes) -> PublicKey:
    """Return a key as tokens store it: its bytes, or these in an octet string of DER."""
    raw = point[2:] if point[:2] == b"\x04\x20" and len(point) == 34 else point
    try:
        return PublicKey(raw)
    except TrustError:
        raise _unusable("it is not of Ed25519") from None


def _parts(uri: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return the attributes of the path and of the query. Raises TrustError (Y001)."""
    path, _, query = uri.removeprefix("pkcs11:").partition("?")
    where, how = _attributes(path, ";"), _attributes(query, "&")
    if "pin-value" in {*where, *how}:
        raise _unusable("its URI holds a PIN, which others can see", "Give pin-source.")
    unknown = ({*where} - _PATH_NAMES) | ({*how} - _QUERY_NAMES)
    if unknown or not {"object", "id"} & {*where}:
        names = ", ".join(sorted(unknown)) or "neither object nor id"
        raise _unusable(f"its URI has {names[:80]}")
    return {name: value if name == "id" else unquote(value) for name, value in where.items()}, {
        name: unquote(value) for name, value in how.items()
    }


def _attributes(text: str, separator: str) -> dict[str, str]:
    pairs = [one.partition("=") for one in text.split(separator) if one]
    made = {name: value for name, _, value in pairs}
    if len(made) < len(pairs) or not all(re.fullmatch(r"[a-z-]+", name) for name in made):
        raise _unusable("its URI is not one of RFC 7512")
    return made


def _pin(source: str) -> str:
    """Return a PIN. Raises TrustError (Y001) where there is none; no error has it."""
    if source.startswith("env:"):
        pin = os.environ.get(source.removeprefix("env:"), "")
    else:
        pin = ""
        with contextlib.suppress(OSError, ValueError):
            pin = Path(source.removeprefix("file:")).read_bytes()[:_MOST_BYTES].decode().strip()
    if not pin:
        raise _unusable(f"there is no PIN in {source!r:.80}")
    return pin


def _unusable(reason: str, hint: str = "") -> PolicyEngineError:
    return TrustError.of("Y001", f"The key of the token cannot be used: {reason}.", hint)
