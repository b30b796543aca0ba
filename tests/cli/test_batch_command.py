import json

from places import POLICIES
from typer.testing import CliRunner

from policy_engine.cli import app

REQUEST = {"assignee": "http://org/user", "target": "http://example.com/Customer", "id": 7}


def run(*arguments, text=None):
    command = ["batch-decide", "--policy", str(POLICIES / "customer.jsonld"), *arguments]
    return CliRunner().invoke(app, command, input=text)


def test_requests_of_a_file_are_answered_one_a_line(tmp_path):
    file = tmp_path / "requests.jsonl"
    file.write_text(f"{json.dumps(REQUEST)}\n\n{json.dumps(REQUEST)}\n")
    result = run(str(file))
    answers = [json.loads(line) for line in result.stdout.splitlines()]
    assert (result.exit_code, [one["line"] for one in answers]) == (0, [1, 3])
    assert {one["effect"] for one in answers} == {"deny"}


def test_a_line_that_is_no_request_ends_with_two():
    result = run(text=f"nope\n{json.dumps(REQUEST)}\n")
    first, second = map(json.loads, result.stdout.splitlines())
    assert (result.exit_code, first["error"]["code"], second["id"]) == (2, "D001", 7)
