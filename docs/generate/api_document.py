"""The API as OpenAPI: `python docs/generate/api_document.py > console/openapi.json`.

The types of the console's calls are made of it when its pages are built.
"""

import json
import sys
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from policy_engine.service.app import make_app
from policy_engine.service.services import Services
from policy_engine.service.settings import ServiceSettings


def document() -> str:
    """Return the OpenAPI document of a service, as JSON that is easy to compare."""
    with TemporaryDirectory() as folder:
        settings = ServiceSettings(folder=Path(folder))
        with closing(Services.open(settings)) as services:
            answers = make_app(services).openapi()
    return json.dumps(answers, indent=1, sort_keys=True) + "\n"


if __name__ == "__main__":
    sys.stdout.write(document())
