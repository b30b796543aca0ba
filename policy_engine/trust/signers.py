"""Private keys: made, read from where they are kept, and never shown."""

import contextlib
import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from policy_engine.data.atomic_file import write_file
from policy_engine.errors import OutputError, PolicyEngineError, TrustError
from policy_engine.trust.multikeys import PublicKey
from policy_engine.trust.proofs import Signer

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

KeySource = str | Path | Signer
"""The file of a private key; `env:NAME`, `fd:NUMBER` or `pkcs11:...` (RFC 7512); or what signs."""
_MOST_BYTES = 10_000
_KEPT = "Give its file, env:NAME or fd:NUMBER; and make another key, for this one may be in a log."
_MAKE = "Make one: policy-engine key new --output KEY."


@dataclass(frozen=True, eq=False)
class PrivateKey:
    """An Ed25519 private key in this process. It is in no text of it, and cannot be pickled."""

    _key: "Ed25519PrivateKey" = field(repr=False)
    public: PublicKey

    @classmethod
    def new(cls) -> "PrivateKey":
        """Return a key of the system's randomness."""
        from cryptography.hazmat.primitives.asymmetric import ed25519  # noqa: PLC0415

        return cls.of(ed25519.Ed25519PrivateKey.generate())

    @classmethod
    def of(cls, key: "Ed25519PrivateKey") -> "PrivateKey":
        """Return a key of the library that signs."""
        return cls(key, PublicKey(key.public_key().public_bytes_raw()))

    def sign(self, message: bytes) -> bytes:
        """Return the signature of a message (RFC 8032, section 5.1.6), of 64 bytes."""
        return self._key.sign(message)

    def write(self, path: Path) -> None:
        """Write the key to a new file that only its owner can read, as PKCS #8 in PEM (RFC 8410).

        Raises OutputError (O001, O002) where there is anything, or no file can be written.
        """
        from cryptography.hazmat.primitives import serialization  # noqa: PLC0415

        if os.path.lexists(path):  # an open file too, such as /dev/stdout
            message = f"A new key takes a new file, and {str(path)!r} exists."
            raise OutputError.of("O001", message, "Give another path.")
        text = self._key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        write_file(path, text, overwrite=False, private=True)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a private key stays in its process")


def read_signer(source: KeySource) -> Signer:
    """Return what signs with a private key, which is given, or read from where it is kept.

    A file, `env:NAME` and `fd:NUMBER` hold PKCS #8 in PEM, as `openssl genpkey -algorithm ed25519`
    makes it, too. Raises TrustError: Y001 for a key that cannot be read, Y002 for a file that
    others may read; DataError (C011) without the package that a token needs.
    """
    if not isinstance(source, str | Path):
        return source
    text = str(source)
    if "-----" in text or "\n" in text:
        raise given_itself()
    if isinstance(source, str) and text.startswith("pkcs11:"):
        from policy_engine.trust.tokens import open_token  # noqa: PLC0415 (few have one)

        return open_token(text)
    if isinstance(source, str) and text.startswith("env:"):
        return _parsed(_environment(text.removeprefix("env:")), text)
    if isinstance(source, str) and text.startswith("fd:"):
        return _parsed(_descriptor(text.removeprefix("fd:"), text), text)
    return _parsed(_file(Path(source)), text)


def given_itself() -> PolicyEngineError:
    """Return the error (Y001) of a key that was given itself: it has nothing of the key, for what
    is said of it is read by others."""
    return _unusable("it was given itself, and not where it is kept", "", _KEPT)


def _environment(name: str) -> bytes:
    try:
        return os.environ[name].encode()
    except KeyError:
        raise _unusable(f"there is no variable {name!r}", f"env:{name}") from None


def _descriptor(number: str, source: str) -> bytes:
    if not number.isascii() or not number.isdigit():
        raise _unusable("a descriptor is a number", source)
    try:
        with os.fdopen(int(number), "rb", closefd=False) as stream:
            return stream.read(_MOST_BYTES + 1)
    except (OSError, OverflowError):
        raise _unusable("the descriptor cannot be read", source) from None


def _file(path: Path) -> bytes:
    """Return what a file holds that its owner alone may read. Raises TrustError (Y001, Y002)."""
    try:
        with path.open("rb") as stream:
            mode = os.fstat(stream.fileno()).st_mode
            if stat.S_ISREG(mode) and mode & 0o077 and os.name == "posix":
                message = f"Others may read the private key: its mode is {stat.S_IMODE(mode):04o}."
                hint = "Replace it, if somebody may have; otherwise chmod 600 the file."
                raise TrustError.of("Y002", message, hint, str(path))
            return stream.read(_MOST_BYTES + 1)
    except FileNotFoundError:
        raise _unusable("there is no such file", str(path), _MAKE) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "its name is not allowed"
        raise _unusable(reason, str(path)) from None


def _parsed(content: bytes, source: str) -> PrivateKey:
    """Return the key of a PEM text; no error has any of it, nor what led to the error."""
    from cryptography.hazmat.primitives import serialization  # noqa: PLC0415 (slow to import)
    from cryptography.hazmat.primitives.asymmetric import ed25519  # noqa: PLC0415

    key: Any = None
    if len(content) <= _MOST_BYTES:
        # Whatever a library says of a text that is no key may quote it.
        with contextlib.suppress(Exception):
            key = serialization.load_pem_private_key(content.strip() + b"\n", password=None)
    if not isinstance(key, ed25519.Ed25519PrivateKey):
        reason = "it is not an Ed25519 private key in PEM, without a passphrase"
        raise _unusable(reason, source, _MAKE) from None
    return PrivateKey.of(key)


def _unusable(reason: str, source: str, hint: str = "") -> PolicyEngineError:
    return TrustError.of("Y001", f"The private key cannot be read: {reason}.", hint, source)
