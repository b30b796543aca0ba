"""Signing in by a provider of identities: OpenID Connect, by a code with PKCE (RFC 7636)."""

import base64
import hashlib
import hmac
import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, Request, build_opener

from policy_engine.errors import PolicyEngineError, ServiceError
from policy_engine.service.identity.secrets import is_same

CALLBACK = "/sign-in/provider/callback"
ALGORITHMS = ("RS256", "PS256", "ES256", "ES384", "EdDSA")
"""How tokens may be signed: by keys of the provider alone, never by a secret that both know."""
_DISCOVERY = "/.well-known/openid-configuration"
_REQUIRED = ("iss", "sub", "aud", "exp", "iat")
_LEEWAY = 60
_PATIENCE = 10.0
_LARGEST = 2**20
_FRESH = 60.0
"""Seconds in which keys are not read again, whatever a token says that it was signed with."""
_LOOPBACK = ("127.0.0.1", "::1", "localhost")


class _NoRedirect(HTTPRedirectHandler):
    """A provider answers at the addresses that it has named, and sends nobody elsewhere."""

    def redirect_request(self, *_args: Any, **_named: Any) -> None:
        return None


@dataclass
class _Found:
    """What was read of a provider, and when its keys were."""

    document: Mapping[str, Any] = field(default_factory=dict)
    keys: list[dict[str, Any]] = field(default_factory=list)
    read: float = float("-inf")


@dataclass(frozen=True)
class IdentityProvider:
    """Who vouches for people: `issuer`, where this service is known as `client_id`.

    What identifies somebody there is a `claim` of theirs: `sub`, or `email` once it is verified.
    """

    issuer: str
    client_id: str
    client_secret: str = field(repr=False)
    redirect: str
    claim: str = "sub"
    _found: _Found = field(default_factory=_Found, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def address(self, secret: str) -> str:
        """Return where a browser goes to sign in, of which only it knows the secret.

        Raises ServiceError (N013) if the provider cannot be read.
        """
        challenge = hashlib.sha256(_derived(secret, "verifier").encode()).digest()
        query = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": self.redirect,
            "scope": "openid email" if self.claim == "email" else "openid",
            "state": _derived(secret, "state"),
            "nonce": _derived(secret, "nonce"),
            "code_challenge": base64.urlsafe_b64encode(challenge).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
        }
        place = self._place("authorization_endpoint")
        return f"{place}{'&' if '?' in place else '?'}{urlencode(query)}"

    def subject(self, secret: str, state: str, code: str, issuer: str) -> str:
        """Return who has signed in, as the provider's token says: `issuer` is who sent the browser
        back (RFC 9207), empty where that was not said.

        Raises ServiceError: N010 where the browser did not begin this, or the provider does not
        confirm it; N013 where the provider cannot be read.
        """
        is_ours = bool(secret) and is_same(state, _derived(secret, "state"))
        if not is_ours or issuer not in ("", self.issuer) or not code:
            raise _unconfirmed_error()
        claims = self._claims(self._token(secret, code))
        is_answer = is_same(str(claims.get("nonce", "")), _derived(secret, "nonce"))
        if not is_answer or claims.get("azp", self.client_id) != self.client_id:
            raise _unconfirmed_error()
        if self.claim == "email" and claims.get("email_verified") is not True:
            raise _unconfirmed_error()
        subject = claims.get(self.claim)
        if not isinstance(subject, str) or not subject:
            raise _unconfirmed_error()
        return subject

    def _token(self, secret: str, code: str) -> str:
        query = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.redirect,
            "client_id": self.client_id,
            "code_verifier": _derived(secret, "verifier"),
        }
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        if self.client_secret:
            pair = f"{quote(self.client_id, safe='')}:{quote(self.client_secret, safe='')}"
            headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
        place = self._place("token_endpoint")
        token = self._read(Request(place, urlencode(query).encode(), headers)).get("id_token")  # noqa: S310 (its scheme is checked)
        if not isinstance(token, str):
            raise _unconfirmed_error()
        return token

    def _claims(self, token: str) -> dict[str, Any]:
        """Return what a token says that the provider signed for this service, and that is valid."""
        import jwt  # noqa: PLC0415 (where it is used)

        try:
            header = jwt.get_unverified_header(token)
            if header.get("alg") not in ALGORITHMS:
                raise _unconfirmed_error()
            key = jwt.PyJWK(self._key(header))
            claims: dict[str, Any] = jwt.decode(
                token,
                key,
                algorithms=[*ALGORITHMS],
                audience=self.client_id,
                issuer=self.issuer,
                leeway=_LEEWAY,
                options={"require": [*_REQUIRED]},
            )
        except (jwt.PyJWTError, ValueError, TypeError, KeyError):  # a key may be anything
            raise _unconfirmed_error() from None
        return claims

    def _key(self, header: Mapping[str, Any]) -> dict[str, Any]:
        """Return the key that a token was signed with, read anew if it is not among those known."""
        with self._lock:
            for _ in range(2):
                for one in self._found.keys:
                    is_named = header.get("kid") in (None, one.get("kid"))
                    if is_named and one.get("use", "sig") == "sig":
                        return {"alg": header.get("alg"), **one}
                if time.monotonic() - self._found.read < _FRESH:
                    break
                keys = self._read(Request(self._place("jwks_uri"))).get("keys")  # noqa: S310 (its scheme is checked)
                self._found.keys = [one for one in keys or [] if isinstance(one, dict)]
                self._found.read = time.monotonic()
        raise _unconfirmed_error()

    def _place(self, name: str) -> str:
        """Return an address that the provider's own document names."""
        if not self._found.document:
            place = f"{self.issuer.rstrip('/')}{_DISCOVERY}"
            document = self._read(Request(place))  # noqa: S310 (its scheme is checked)
            if document.get("issuer") != self.issuer:
                raise _unreadable_error("its document is of another issuer")
            self._found.document = document
        named = self._found.document.get(name)
        if not isinstance(named, str) or not is_safe_address(named):
            raise _unreadable_error(f"its document names no {name} that begins with https://")
        return named

    def _read(self, request: Request) -> dict[str, Any]:
        """Return the object that the provider answers with."""
        opener: OpenerDirector = build_opener(_NoRedirect)
        try:
            with opener.open(request, timeout=_PATIENCE) as answer:
                value = json.loads(answer.read(_LARGEST))
        except HTTPError as error:
            error.close()
            if request.data is not None and error.code < 500:
                raise _unconfirmed_error() from None
            raise _unreadable_error(f"it answered with the status {error.code}") from None
        except (OSError, HTTPException, ValueError):
            raise _unreadable_error("it did not answer with JSON") from None
        if not isinstance(value, dict):
            raise _unreadable_error("it did not answer with an object")
        return value


def is_safe_address(address: str) -> bool:
    """Return whether nobody between reads what is sent to an address."""
    parts = urlsplit(address)
    is_here = parts.scheme == "http" and parts.hostname in _LOOPBACK
    return bool(parts.hostname) and (parts.scheme == "https" or is_here)


def _derived(secret: str, what: str) -> str:
    """Return one of the values that belong to a browser's secret, which tells nothing of it."""
    return hmac.digest(secret.encode(), f"oidc {what}".encode(), "sha256").hex()


def _unconfirmed_error() -> PolicyEngineError:
    message = "The provider of identities has not confirmed who you are, or not to this browser."
    return ServiceError.of("N010", message, "Begin to sign in again.")


def _unreadable_error(why: str) -> PolicyEngineError:
    return ServiceError.of("N013", f"The provider of identities cannot be read: {why}.")
