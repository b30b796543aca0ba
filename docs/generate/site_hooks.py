"""What the site needs beside the pages of docs/: anchors, and files of the checkout linked to."""

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
"""The checkout that the pages are of."""

PAGES = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
}
"""Which files beside docs/ have a page of the site, and which."""

_FENCE = re.compile(r"^( *)```(\w+)(?: (.*))?$", re.MULTILINE)
_LINK = re.compile(r"\]\(((?:\.\./)+[^)#\s]*)(#[^)]*)?\)")


def anchor(heading: str, separator: str = "-") -> str:
    """Return the anchor of a heading, as the hosts of repositories make it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", separator)


def on_files(files: Any, config: Any) -> Any:
    """Add the pages of files beside docs/, and, as text, every other file that a page links to."""
    from mkdocs.structure.files import File  # noqa: PLC0415

    pages = [(one.src_uri, one.content_string) for one in files.documentation_pages()]
    for name, page in PAGES.items():
        if page != "index.md":
            text = inside((ROOT / name).read_text(encoding="utf-8"))
            pages.append((f"../{name}", text))
            files.append(File.generated(config, page, content=text))
    for path in sorted({path for uri, text in pages for path in _linked(uri, text)}):
        file = File.generated(config, f"source/{path}.txt", abs_src_path=str(ROOT / path))
        files.append(file)
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Return the text of a page, with links out of docs/ led to what the site has, and each block
    of code named by its file where it says one: what else tests read there is for them alone.
    """
    folder = page.file.src_uri
    depth = "../" * folder.count("/")

    def led(link: re.Match[str]) -> str:
        target = _target(folder, link[1])
        if target is None:
            return link[0]
        heading = "" if target == "README.md" else link[2] or ""  # the first page has others
        return f"]({depth}{PAGES.get(target, f'source/{target}.txt')}{heading})"

    return _FENCE.sub(_shown, _LINK.sub(led, markdown))


def _shown(fence: re.Match[str]) -> str:
    file = re.search(r"\bfile=(\S+)", fence[3] or "")
    title = f' title="{file[1]}"' if file else ""
    return f"{fence[1]}```{fence[2].replace('jsonld', 'json')}{title}"


def inside(text: str) -> str:
    """Return the text of a file beside docs/ with its links as those of a page in docs/ are."""
    return re.sub(r"\]\((?!\w+:|#)([^)]+)\)", lambda link: f"]({_from_docs(link[1])})", text)


def _from_docs(target: str) -> str:
    return target.removeprefix("docs/") if target.startswith("docs/") else f"../{target}"


def _linked(uri: str, text: str) -> set[str]:
    targets = {_target(uri, link[1]) for link in _LINK.finditer(text)}
    return {one for one in targets if one and one not in PAGES}


def _target(uri: str, link: str) -> str | None:
    """Return the file of the checkout that a page links to, where it is not one of docs/."""
    path = (ROOT / "docs" / uri).parent.joinpath(link).resolve()
    if not path.is_file() or path.is_relative_to(ROOT / "docs"):
        return None
    return path.relative_to(ROOT).as_posix()
