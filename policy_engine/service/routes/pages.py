"""The pages of the console, as they were built, and the document that loads them."""

import secrets
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from fastapi import APIRouter
from fastapi.responses import FileResponse, HTMLResponse, Response

import policy_engine.service
from policy_engine.service.identity.authorising import nothing_there

router = APIRouter(include_in_schema=False)

FOLDER = Path(policy_engine.service.__file__).parent / "pages"
_NONCE = "__CSP_NONCE__"
_FOREVER = {"Cache-Control": "public, max-age=31536000, immutable"}
_UNBUILT = """<!doctype html><html lang="en"><title>policy_engine</title>
<h1>policy_engine</h1><p>The service answers, but its pages are not built here.
In a clone, run <code>scripts/build-pages</code>; an installed package has them.</p></html>"""


@router.get("/assets/{name}")
def read_asset(name: str) -> Response:
    """Return a file of the pages; its name changes with its content."""
    path = assets().get(name)
    if path is None or not path.is_file():
        raise nothing_there()
    return FileResponse(path, headers=_FOREVER)


@router.get("/{page:path}")
def read_page(page: str) -> Response:
    """Return the document of the pages, whichever of them is meant."""
    if page.startswith(("api/", "assets/")):
        raise nothing_there()
    nonce = secrets.token_urlsafe(16)
    policy = (
        "default-src 'none'; script-src 'self'; connect-src 'self'; font-src 'self'; "
        f"img-src 'self' data:; style-src 'self' 'nonce-{nonce}'; base-uri 'none'; "
        "form-action 'self'; frame-ancestors 'none'"
    )
    headers = {"Content-Security-Policy": policy, "Cache-Control": "no-store"}
    return HTMLResponse(_document().replace(_NONCE, nonce), headers=headers)


def assets() -> dict[str, Path]:
    """Return the files of the pages by name: no other file is ever read.

    They may be built, or built anew, while the service runs.
    """
    folder = FOLDER / "assets"
    with suppress(FileNotFoundError):
        return _files_of(folder, folder.stat().st_mtime_ns)
    return {}


def _document() -> str:
    path = FOLDER / "index.html"
    with suppress(FileNotFoundError):
        return _text_of(path, path.stat().st_mtime_ns)
    return _UNBUILT


@lru_cache(maxsize=1)
def _files_of(folder: Path, _changed: int) -> dict[str, Path]:
    return {one.name: one for one in folder.iterdir()}


@lru_cache(maxsize=1)
def _text_of(path: Path, _changed: int) -> str:
    return path.read_text("utf-8")
