"""A file behind an https:// URL, fetched whole or not at all."""

import shutil
import ssl
from http.client import HTTPException, HTTPMessage
from pathlib import Path
from typing import IO
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, HTTPSHandler, Request, build_opener

from policy_engine.data.places.spelling import redacted, scheme
from policy_engine.errors import DataError

_SECONDS = 60  # without a byte


class _SecureRedirects(HTTPRedirectHandler):
    """Follows to https:// alone."""

    def redirect_request(
        self,
        req: Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: HTTPMessage,
        newurl: str,
    ) -> Request | None:
        if scheme(newurl) != "https":
            fp.close()
            raise URLError("it leads to a place without https")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def fetch_web_file(url: str, path: Path) -> None:
    """Write what a URL gives to a new file.

    Certificates are checked as those of the system are, and only https is followed. Raises
    DataError: C002 where there is no such file, C019 where it cannot be had, or not all of it.
    """
    if "@" in urlsplit(url).netloc:
        message = "A password in a URL is not sent. Give a URL that is signed, or a file."
        raise DataError.of("C019", message, source=redacted(url))
    opener = build_opener(HTTPSHandler(context=ssl.create_default_context()), _SecureRedirects())
    try:
        with opener.open(Request(url), timeout=_SECONDS) as answer, path.open("xb") as file:  # noqa: S310 (https)
            shutil.copyfileobj(answer, file)
            length = answer.headers.get("Content-Length")
        _check_whole(path, length)
    except HTTPError as error:
        error.close()
        code = "C002" if error.code in {404, 410} else "C019"
        message = f"The server does not give the file: it answers {error.code}."
        raise DataError.of(code, message, source=redacted(url)) from None
    except (URLError, HTTPException, OSError, ValueError) as error:
        message = f"The file cannot be fetched: {_reason(error)}."
        raise DataError.of("C019", message, source=redacted(url)) from None


def _check_whole(path: Path, length: str | None) -> None:
    if length is not None and int(length) != path.stat().st_size:
        raise URLError("it ended before all of the file was sent")


def _reason(error: Exception) -> str:
    cause = error.reason if isinstance(error, URLError) else error
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted ({cause.verify_message})"
    if isinstance(cause, TimeoutError):
        return f"nothing came for {_SECONDS} s"
    if isinstance(cause, OSError):
        return cause.strerror or type(cause).__name__
    return cause if isinstance(cause, str) else type(cause).__name__
