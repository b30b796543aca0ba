"""Graphviz's `dot`, if installed: reads DOT, returns an SVG without links."""

import html
import re
import shutil
import subprocess

from policy_engine.errors import EngineError, InternalError, Problem

TIMEOUT = 60
"""The time limit of `dot`, in seconds."""

_COMMENT = re.compile("<!--.*?-->\n?", re.DOTALL)
_NAME = re.compile("<title>[^<]*</title>\n")
_LINK = re.compile('<a (?:xlink:href="#" )?xlink:title="([^"]*)">')
_ACTIVE = re.compile(r"<(?:a|script|image|foreignObject)\b")


def has_dot() -> bool:
    """Return whether `dot` is on the path."""
    return shutil.which("dot") is not None


def to_svg(text: str, title: str) -> str:
    """Return a DOT graph as an SVG with a title, with tooltips and without links.

    Raises EngineError (S001) if `dot` is missing, fails or takes too long.
    """
    program = shutil.which("dot")
    if program is None:
        raise _dot_error("The program 'dot' of Graphviz is not on the path.")
    try:
        result = subprocess.run(  # noqa: S603 (no shell, and the text comes by standard input)
            [program, "-Tsvg"],
            input=text.encode(),
            capture_output=True,
            timeout=TIMEOUT,
            check=True,
        )
    except subprocess.TimeoutExpired:
        raise _dot_error(f"The program 'dot' took more than {TIMEOUT} seconds.") from None
    except (OSError, subprocess.CalledProcessError) as error:
        status = getattr(error, "returncode", None) or getattr(error, "strerror", "")
        raise _dot_error(f"The program 'dot' failed ({status}).") from None
    return _clean(result.stdout.decode(), title)


def _clean(svg: str, title: str) -> str:
    """Return the SVG with its title, and with tooltips in place of links.

    All text of the graph is escaped in it, so anything that looks like markup is Graphviz's own.
    """
    svg = svg[svg.index("<svg ") :]
    for pattern, text in ((_COMMENT, ""), (_NAME, ""), (_LINK, r"<g><title>\1</title>")):
        svg = pattern.sub(text, svg)
    svg = svg.replace("</a>", "</g>")
    if _ACTIVE.search(svg):
        raise InternalError.of("X001", "The picture contains a link.")
    attributes, end, rest = svg.partition(">")
    return f'{attributes} role="img"{end}\n<title>{html.escape(title)}</title>{rest}'


def _dot_error(message: str) -> EngineError:
    return EngineError(Problem("S001", message, "Install Graphviz, or ask for Mermaid or DOT."))
