"""What the page on the command line says of reports and of JSON, against what is printed."""

import re

import pytest
from places import ROOT

from policy_engine.audits.utility.model import Comparison
from policy_engine.certificate.attestation import Attestation
from policy_engine.certificate.certificate import Certificate
from policy_engine.decision import Decision
from policy_engine.decision.compliance import compliance_report
from policy_engine.decision.duties import Due

PAGE = (ROOT / "docs" / "command-line.md").read_text("utf-8")
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text("utf-8")


def test_the_example_of_a_compliance_report_is_what_is_written(tmp_path):
    policy, request, world, report = re.findall(
        r"^```turtle\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL
    )
    files = []
    for name, text in (("study", policy), ("request", request), ("world", world)):
        files.append(tmp_path / f"{name}.ttl")
        files[-1].write_text(text)
    assert compliance_report(*files).to_turtle() == report


@pytest.mark.parametrize(
    ("command", "model"),
    [("compare", Comparison), ("decide", Decision), ("duties", Due), ("attest", Attestation)],
)
def test_the_fields_of_what_a_command_prints_are_listed(command, model):
    [row] = re.findall(rf"^\| `{command}` \| (.*) \|$", PAGE, re.MULTILINE)
    printed = [name for name, field in model.model_fields.items() if not field.exclude]
    assert re.findall(r"`(\w+)`", row) == printed


def test_the_fields_of_a_certificate_are_listed():
    table = ARCHITECTURE.split("### The fields of a certificate")[1].split("\n\n")[2]
    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == [*Certificate.model_fields]
