import json
import subprocess
import sys
from typing import get_args

import pytest
import typer
from places import POLICIES
from typer.testing import CliRunner

from policy_engine.cli.converting import Syntax, convert
from policy_engine.errors import DataError, OutputError, PolicyError, RequestError
from policy_engine.policy.syntax import detection
from policy_engine.policy.syntax.rdf import to_json_ld

CUSTOMER = POLICIES / "customer.jsonld"
TURTLE = """@prefix odrl: <http://www.w3.org/ns/odrl/2/> .
<http://e.x/p> a odrl:Set ; odrl:permission [ odrl:action odrl:read ; odrl:target <http://e.x/t> ] .
"""


def run(*arguments):
    app = typer.Typer()
    app.command()(convert)
    found = CliRunner().invoke(app, [str(one) for one in arguments], catch_exceptions=True)
    if found.exception and not isinstance(found.exception, SystemExit):
        raise found.exception
    return found


@pytest.fixture
def policy(tmp_path):
    path = tmp_path / "policy.ttl"
    path.write_text(TURTLE, "utf-8")
    return path


def test_command_offers_every_syntax():
    assert tuple(Syntax) == get_args(detection.Syntax)


def test_convert_prints_json_ld(policy):
    found = run(policy)
    assert found.exit_code == 0
    assert json.loads(found.stdout) == to_json_ld(TURTLE, "turtle").value


@pytest.mark.parametrize(
    ("to", "start"),
    [("turtle", "@prefix"), ("n-triples", "<http"), ("rdf-xml", "<?xml"), ("json-ld", "{")],
)
def test_convert_writes_the_syntax_that_is_asked_for(policy, to, start):
    assert run(policy, "--to", to).stdout.startswith(start)


@pytest.mark.parametrize(
    ("name", "start"), [("a.ttl", b"@prefix"), ("a.nt", b"<http"), ("a.rdf", b"<?x"), ("a", b"{")]
)
def test_convert_writes_the_syntax_that_the_output_is_named_for(policy, tmp_path, name, start):
    found = run(policy, "--output", tmp_path / name)
    assert (found.exit_code, found.stdout) == (0, "")
    assert (tmp_path / name).read_bytes().startswith(start)


def test_convert_writes_nothing_for_an_ending_that_says_nothing(policy, tmp_path):
    with pytest.raises(RequestError, match=r"U001 .* ends in \.jsonld"):
        run(policy, "--output", tmp_path / "a.turtle")
    assert not (tmp_path / "a.turtle").exists()
    assert run(policy, "--to", "turtle", "--output", tmp_path / "a.turtle").exit_code == 0


def test_convert_and_back_gives_what_json_ld_in_order_gives(tmp_path):
    run(CUSTOMER, "--output", tmp_path / "customer.ttl")
    run(tmp_path / "customer.ttl", "--output", tmp_path / "customer.rdf")
    assert run(tmp_path / "customer.rdf").stdout == run(CUSTOMER).stdout


def test_json_ld_in_order_stays_as_it_is(tmp_path):
    run(CUSTOMER, "--output", tmp_path / "once.jsonld")
    assert run(tmp_path / "once.jsonld").stdout == (tmp_path / "once.jsonld").read_text("utf-8")


def test_wrong_text_leaves_the_output_as_it_was(policy, tmp_path):
    policy.write_text("@prefix odrl: <http://www.w3.org/ns/odrl/2/> .\n<a", "utf-8")
    output = tmp_path / "out.jsonld"
    output.write_text("before", "utf-8")
    with pytest.raises(PolicyError, match=r"policy\.ttl:2:1: F001"):
        run(policy, "--output", output)
    assert output.read_text("utf-8") == "before"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["out.jsonld", "policy.ttl"]


def test_missing_input_and_output_over_the_input_are_refused(policy, tmp_path):
    with pytest.raises(DataError, match="C002"):
        run(tmp_path / "none.ttl")
    with pytest.raises(OutputError, match="O001"):
        run(policy, "--output", policy)
    with pytest.raises(OutputError, match="O002"):
        run(policy, "--output", tmp_path / "no" / "folder.ttl")
    assert policy.read_text("utf-8") == TURTLE


def test_what_the_syntax_cannot_say_is_told_at_its_place(policy, tmp_path):
    policy.write_text("<http://e.x/a>\n  <http://e.x/1> 1 .", "utf-8")
    with pytest.raises(PolicyError, match=r"policy\.ttl:2:3: F002"):
        run(policy, "--output", tmp_path / "out.rdf")
    assert not (tmp_path / "out.rdf").exists()


def test_json_ld_is_read_as_strictly_as_ever(tmp_path):
    path = tmp_path / "policy.jsonld"
    text = CUSTOMER.read_text("utf-8").replace('"target"', '"tarGet"')
    path.write_text(text, "utf-8")
    with pytest.raises(PolicyError, match="L002"):
        run(path, "--to", "turtle")


def test_context_of_ones_own_is_read(tmp_path):
    path, context = tmp_path / "policy.jsonld", tmp_path / "mine.jsonld"
    path.write_text('{"@context": "http://e.x/c", "@id": "http://e.x/a", "says": "b"}', "utf-8")
    context.write_text('{"@context": {"says": "http://e.x/says"}}', "utf-8")
    found = run(path, "--to", "n-triples", "--context", f"http://e.x/c={context}")
    assert found.stdout == '<http://e.x/a> <http://e.x/says> "b" .\n'


def test_command_loads_no_library_of_rdf():
    code = (
        "import sys; import policy_engine.cli.converting as c; import pathlib; import typer;"
        "a = typer.Typer(); a.command()(c.convert);"
        f"sys.argv = ['x', {str(CUSTOMER)!r}, '--to', 'rdf-xml']\n"
        "try: a()\nexcept SystemExit: pass\n"
        "print([m for m in ('rdflib', 'pyld', 'lxml', 'pandas') if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.splitlines()[-1] == "[]"


def test_convert_writes_the_short_form_by_its_ending(tmp_path):
    output = tmp_path / "customer.yaml"
    run(CUSTOMER, "--output", output)
    assert "quasi-identifier: [ZIP, BirthDate, TransactionTime]\n" in output.read_text()
