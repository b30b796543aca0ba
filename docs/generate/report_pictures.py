"""The pictures of pages in docs/pictures: `python docs/generate/report_pictures.py`.

It releases the made-up customers of the gallery, compares them, and takes pictures of the page, as
it is on a screen, in dark, and on a phone. It needs Playwright and a Chromium (`CHROMIUM` is its
path, else one on the path is taken).
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).parent.parent.parent
PICTURES = ROOT / "docs" / "pictures"
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
_COLOURS = 64
_VIEWS = {
    "comparison-risk.png": (1100, "light", "Records at risk", "Rows side by side"),
    "comparison-rows.png": (1100, "dark", "Rows side by side", "Loss"),
    "comparison-phone.png": (360, "dark", "Records at risk", "Rows side by side"),
}
"""The width and the colours of each picture, and the headings between which it is."""
_COMMANDS = (
    "example customer --output customer",
    "apply customer/customer.jsonld --data customer/customers.csv --output customer/release",
    "compare customer/customers.csv customer/release --report page.html",
)


def draw() -> None:
    """Draw the pictures anew. Raises CalledProcessError where a command fails."""
    PICTURES.mkdir(exist_ok=True)
    with TemporaryDirectory() as folder:
        for command in _COMMANDS:
            call = [sys.executable, "-m", "policy_engine", *command.split()]
            variables = os.environ | {"PYTHONPATH": str(ROOT)}
            subprocess.run(call, check=True, cwd=folder, env=variables)  # noqa: S603
        _take(Path(folder) / "page.html")
    for name in _VIEWS:
        with Image.open(PICTURES / name) as picture:
            picture.convert("RGB").quantize(_COLOURS).save(PICTURES / name, optimize=True)


def _take(page_file: Path) -> None:
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, _BROWSERS)), None)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for name, (width, colours, first, last) in _VIEWS.items():
            size = {"width": width, "height": 800}
            page = browser.new_page(viewport=size, color_scheme=colours)
            page.goto(page_file.as_uri())
            top, bottom = (_top(page, heading) for heading in (first, last))
            height = min(bottom - top, 3 * width)
            place = {"x": 0, "y": top - 12, "width": width, "height": height}
            page.screenshot(path=PICTURES / name, full_page=True, clip=place)
        browser.close()


def _top(page: Page, heading: str) -> float:
    box = page.get_by_role("heading", name=heading, exact=True, level=2).bounding_box()
    assert box is not None  # noqa: S101 (the page has all headings)
    return box["y"]


if __name__ == "__main__":
    draw()
