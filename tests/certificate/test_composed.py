"""What a certificate says of earlier releases of the same persons."""

import json
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from policy_engine import PolicyEngineError, certify_output
from policy_engine.certificate.certificate import read_certificate
from policy_engine.certificate.shortcomings import shortcomings

sys.path.insert(0, str(Path(__file__).parents[1] / "release" / "composition"))
from repeated_releases import asking, released

PEOPLE = pa.table({"age": [1, 2, 3, 7, 8, 9], "zip": [1, 5, 9, 2, 6, 8]})
ASKED = {"k": 3, "sensitive": ()}
JOINT = asking("ByZip", ["zip"], **ASKED, composition="intersected")


@pytest.fixture
def made(tmp_path):
    ledger = tmp_path / "releases.ledger"
    released(asking("ByAge", ["age"], **ASKED), PEOPLE, ledger)
    return released(JOINT, PEOPLE, ledger, tmp_path / "out" / "out.csv")


def test_a_certificate_tells_the_bound_and_no_figures(made):
    told = json.loads(made.certificate.to_jsonld())["pe:certificate"]["composition"]
    assert told == {"bound": "intersected", "releases": 1}
    assert made.record.composition.together.least == 3
    assert made.record.opens(made.certificate.commitment)


def test_what_no_output_shows_is_taken_from_the_certificate_of_its_making(made):
    assert certify_output(made.path, JOINT).composition == made.certificate.composition


def test_an_output_alone_does_not_show_that_it_was_made_jointly(made):
    (made.path.parent / "certificate.jsonld").unlink()
    with pytest.raises(PolicyEngineError, match="V014"):
        certify_output(made.path, JOINT)


def test_a_certificate_without_the_bound_that_is_asked_for_falls_short(made):
    without = made.certificate.model_copy(update={"composition": None})
    assert "V014" in [one.code for one in shortcomings(without)]


def test_a_bound_that_is_not_asked_for_is_a_contradiction(made):
    text = made.certificate.to_jsonld().replace('"intersected"', '"m-invariant"', 1)
    with pytest.raises(PolicyEngineError, match="V005"):
        read_certificate(text)
