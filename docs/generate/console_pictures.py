"""The pictures of the console in docs/pictures: `python docs/generate/console_pictures.py`.

The flows of tests/console draw them as they go. They need the pages, Playwright and a Chromium.
"""

import os
import subprocess
import sys
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).parent.parent.parent
PICTURES = ROOT / "docs" / "pictures"
_FLOWS = ("tests/console/test_five_flows.py", "-k", "sqlite")
_COLOURS = 96
"""Colours that a page needs, at a third of the size."""


def draw() -> None:
    """Draw the pictures anew. Raises CalledProcessError where a flow fails."""
    PICTURES.mkdir(exist_ok=True)
    variables = os.environ | {"POLICY_ENGINE_PICTURES": str(PICTURES)}
    subprocess.run([sys.executable, "-m", "pytest", *_FLOWS], check=True, cwd=ROOT, env=variables)  # noqa: S603
    for path in PICTURES.glob("*.png"):
        with Image.open(path) as picture:
            picture.convert("RGB").quantize(_COLOURS).save(path, optimize=True)


if __name__ == "__main__":
    draw()
