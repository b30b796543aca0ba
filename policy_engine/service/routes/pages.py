"""The pages of the console, as they were built, and the document that loads them."""

import secrets
from functools import cache
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
    if path is None:
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


@cache
def assets() -> dict[str, Path]:
    """Return the files of the pages by name: no other file is ever read."""
    folder = FOLDER / "assets"
    return {one.name: one for one in folder.iterdir()} if folder.is_dir() else {}


@cache
def _document() -> str:
    path = FOLDER / "index.html"
    return path.read_text("utf-8") if path.is_file() else _UNBUILT
