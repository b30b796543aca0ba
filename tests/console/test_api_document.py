"""The document that the types of the console's calls are made of."""

import pytest
from places import ROOT


def test_the_document_is_that_of_the_service():
    pytest.importorskip("fastapi", reason="the service's libraries are not installed")
    import api_document

    hint = "run: python docs/generate/api_document.py > console/openapi.json"
    assert (ROOT / "console" / "openapi.json").read_text("utf-8") == api_document.document(), hint
