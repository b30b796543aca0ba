import json

import pytest
from attacked import attacked, bounded, known
from building import DATASET, column, people_policy
from typer.testing import CliRunner

from policy_engine.cli.commands import make_app

MASKED = [column("pay", masking="rank-swapping", p=0.05)]


@pytest.fixture
def files(tmp_path):
    rows = "".join(f"{row},{37 * row % 101}\n" for row in range(1, 101))
    (tmp_path / "in.csv").write_text("id,pay\n" + rows)
    parts = {"method": "masking", "masked": MASKED, "insensitive": ["id"]}
    (tmp_path / "policy.jsonld").write_text(attacked(bounded(0.3), known("pay"), **parts))
    return tmp_path


def run(files, *arguments):
    given = (str(files / "policy.jsonld"), "--data", f"{DATASET}={files / 'in.csv'}")
    return CliRunner().invoke(make_app("explore"), ["explore", *given, *arguments])


@pytest.mark.nightly
def test_the_cheapest_setting_is_told_below_the_table(files):
    told = run(files, "--vary", "pay:p=.02,.5", "--draws", "1")
    assert told.exit_code == 0, told.output
    assert "What attacks on a release reach" in told.output
    assert "What a release would lose" not in told.output
    words = " ".join(told.output.split())
    assert "pay:p = 0.5 is the cheapest setting that keeps what the policy bounds" in words


@pytest.mark.nightly
def test_runs_are_printed_as_json(files):
    told = run(files, "--vary", "p=.02,.5", "--draws", "2", "--format", "json")
    near, far = json.loads(told.stdout)
    assert [one["setting"] for one in (near, far)] == [{"p": 0.02}, {"p": 0.5}]
    assert [near["is_cheapest"], far["is_cheapest"]] == [False, True]
    assert len(far["outcome"]["draws"]) == 2
    assert far["outcome"]["risk"]["keeps_bounds"] is True
    assert far["outcome"]["loss"]["measure"] == "il1s"


@pytest.mark.nightly
def test_the_map_is_drawn_as_a_page_and_a_picture(files):
    page, picture = files / "map.html", files / "map.svg"
    told = run(
        *(files, "--vary", "p=.02,.5", "--draws", "1"),
        *("--report", str(page), "--chart", str(picture)),
    )
    assert told.exit_code == 0, told.output
    text = page.read_text()
    assert "bound of the policy: 30%" in text
    assert "cheapest that keeps the bound" in text
    assert "p = 0.5 is the cheapest setting" in text
    assert "http" not in text.replace("http://www.w3.org/", "")
    assert "p = 0.02" in picture.read_text()


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--vary", "p"], "U001 --vary is NAME=X,X,... or COLUMN:NAME=X,X,.... 'p' was given."),
        (["--vary", "p="], "U001 --vary is"),
        (["--vary", "p=x"], "U001 --vary takes numbers, separated by commas. 'x' was given."),
        (["--vary", "p=.1", "--vary", "p=.2"], "U001 Values of 'p' are given twice."),
        (["--vary", "k=2", "--k", "3"], "U001 Values of 'k' are given twice."),
        (
            ["--vary", "q=.1"],
            "M004 What the policy makes has no parameter 'q'. It has 'p' and 'pay:p'.",
        ),
        (["--vary", "p=2"], "M003 'pay': p is not allowed to be 2."),
        (["--vary", "p=nan"], "M003 'pay': p is not allowed to be nan."),
        (["--vary", "p=inf"], "M003 'pay': p is not allowed to be infinite."),
        (["--draws", "0"], "M003 draws is not allowed to be 0."),
        (["--report", "map.svg"], "O002 The ending of 'map.svg' is not known."),
        (["--chart", "map.html"], "O002 The ending of 'map.html' is not known."),
    ],
)
def test_what_cannot_be_explored_is_one_error_and_nothing_is_written(files, arguments, message):
    told = run(files, *arguments)
    assert told.exit_code in (1, 2)
    assert message in " ".join(f"{told.output} {told.exception}".split())
    assert sorted(one.name for one in files.iterdir()) == ["in.csv", "policy.jsonld"]


@pytest.mark.nightly
def test_no_page_is_written_over_the_input(files):
    (files / "in.html").write_text((files / "in.csv").read_text())
    (files / "link.html").symlink_to(files / "in.csv")
    told = run(files, "--draws", "1", "--report", str(files / "link.html"))
    assert told.exit_code != 0
    assert (files / "in.csv").read_text() == (files / "in.html").read_text()


def test_a_page_is_replaced_where_the_policy_is_read_from_a_stream(files):
    (files / "map.html").write_text("old")
    given = ["explore", "-", "--data", f"{DATASET}={files / 'in.csv'}", "--draws", "1"]
    told = CliRunner().invoke(
        make_app("explore"),
        [*given, "--report", str(files / "map.html")],
        input=(files / "policy.jsonld").read_text(),
    )
    assert told.exit_code == 0, told.output
    assert "What settings risk" in (files / "map.html").read_text()


def test_k_is_explored_without_attacks_as_before(people):
    (people / "policy.jsonld").write_text(people_policy())
    given = ["explore", str(people / "policy.jsonld"), "--data", str(people / "people.csv")]
    told = CliRunner().invoke(make_app("explore"), [*given, "--k", "2,3"])
    assert "What a release would lose" in told.output
    assert "What attacks on a release reach" not in told.output


@pytest.mark.parametrize(
    ("values", "options", "status"),
    [("2,1000", [], 0), ("0", [], 1), ("1000", ["--format", "json"], 1)],
)
def test_the_status_is_one_where_no_setting_can_be_released(people, values, options, status):
    (people / "policy.jsonld").write_text(people_policy())
    given = ["explore", str(people / "policy.jsonld"), "--data", str(people / "people.csv")]
    made = CliRunner().invoke(make_app("explore"), [*given, "--k", values, *options])
    assert made.exit_code == status
    assert "k" in made.output
