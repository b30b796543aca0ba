import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from applying import asking
from building import ANALYST, DATASET, OUTPUT, modules_loaded_by
from building import policy as text_of
from typer.testing import CliRunner

from policy_engine.cli import app, main
from policy_engine.errors import PolicyEngineError

DECIDE = ["decide", "--policy", "policy.jsonld", "--assignee", ANALYST, "--purpose", "marketing"]


@pytest.fixture
def run(people, monkeypatch):
    monkeypatch.chdir(people)

    def call(*arguments):
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return call


def apply(run, *more):
    return run(
        "apply", "policy.jsonld", "--data", f"{DATASET}=people.csv", "--output", "out", *more
    )


def test_validate_finds_the_columns_that_the_data_lacks(run, people):
    (people / "other.csv").write_text("ZIP,aeg,name\n")
    result = run("validate", "policy.jsonld", "--data", f"{DATASET}=people.csv")
    assert result.exit_code == 0
    result = run("validate", "policy.jsonld", "--data", f"{DATASET}=other.csv")
    assert result.exit_code == 1
    assert f"C005 {DATASET} has no column 'age'. Did you mean 'aeg'?" in result.output
    assert re.match(r"policy.jsonld:\d+:\d+: C005", result.output)
    found = run("validate", "policy.jsonld", "--data", f"{DATASET}=other.csv", "--format", "json")
    assert json.loads(found.output)[0]["problems"][0]["pointer"]


def test_decide_knows_the_columns_that_the_data_has(run, people):
    policy = json.loads((people / "policy.jsonld").read_text())
    rule = {"assignee": ANALYST, "target": DATASET, "action": "read"}
    policy["permission"] = [{"uid": "http://x.org/p", **rule}]
    policy["prohibition"] = [{"uid": "http://x.org/f", **rule, "target": f"{DATASET}/AGE"}]
    (people / "policy.jsonld").write_text(json.dumps(policy))
    data = ("--data", f"{DATASET}=people.csv")
    assert run(*DECIDE, "--target", f"{DATASET}/age", *data).exit_code == 1
    with pytest.raises(PolicyEngineError, match="C005") as caught:
        run(*DECIDE, "--target", f"{DATASET}/%20age", *data)
    assert caught.value.exit_code == 2


def test_validate_says_a_line_a_file(run):
    result = run("validate", "policy.jsonld", "policy.jsonld")
    assert result.exit_code == 0
    assert result.output == "policy.jsonld: valid\n" * 2


def test_validate_gives_every_problem_its_place(run, people):
    text = (people / "policy.jsonld").read_text().replace('"purpose"', '"purpos"')
    (people / "bad.jsonld").write_text(text.replace('"target"', '"targt"'))
    result = run("validate", "policy.jsonld", "bad.jsonld")
    assert result.exit_code == 1
    valid, first, second = result.output.splitlines()
    assert valid == "policy.jsonld: valid"
    assert first.startswith("bad.jsonld:12:7: L002 No context defines the key 'targt'")
    assert second.startswith("bad.jsonld:13:7: L002 ")


def test_validate_reports_plan_time_mistakes_and_missing_files(run, people):
    text = (people / "policy.jsonld").read_text()
    place = text.index("mosaicrown:k")
    (people / "low.jsonld").write_text(text[:place] + text[place:].replace(": 2", ": 1", 1))
    result = run("validate", "low.jsonld")
    assert (result.exit_code, "M003" in result.output) == (1, True)
    result = run("validate", "none.jsonld")
    assert (result.exit_code, "C002" in result.output) == (2, True)


def test_validate_hints_at_naming_the_profile(run, people):
    lines = (people / "policy.jsonld").read_text().splitlines()
    (people / "bare.jsonld").write_text("\n".join(x for x in lines if '"profile"' not in x))
    result = run("validate", "bare.jsonld")
    assert (result.exit_code, result.stdout) == (0, "bare.jsonld: valid\n")
    assert "H001" in result.stderr


def test_validate_names_the_section_that_a_problem_is_about(run, people):
    (people / "bad.jsonld").write_text('{"@type": "Set", "@type": "Set"}')
    lines = run("validate", "bad.jsonld").output.splitlines()
    assert lines[0].startswith("bad.jsonld:1:18: J002 The key '@type' appears twice")
    assert lines[0].endswith("[RFC 8259, section 4]")


def test_a_file_called_json_asks_for_no_json(ended):
    assert ended("plan", "json").stdout == ""
    assert json.loads(ended("plan", "json", "--format", "json").stdout)["problems"]


def test_validate_in_json(run, people):
    (people / "bad.jsonld").write_text("{")
    result = run("validate", "policy.jsonld", "bad.jsonld", "--format", "json")
    good, bad = json.loads(result.output)
    assert (good["valid"], bad["valid"]) == (True, False)
    assert bad["problems"][0] | {"message": ""} == {
        "code": "J001",
        "message": "",
        "hint": "",
        "section": "RFC 8259, section 2",
        "line": 1,
        "column": 2,
        "pointer": "",
        "fix": None,
    }


def test_plan_shows_the_steps_and_writes_nothing(run, people):
    before = sorted(people.rglob("*"))
    result = run("plan", "policy.jsonld", "--data", f"{DATASET}=people.csv")
    assert result.exit_code == 0
    assert "l-diversity: k at least 2, l at least 2" in result.output
    assert "phone" in result.output
    assert "6 of 6 rows are unique on age and city before they are generalised" in result.output
    assert sorted(people.rglob("*")) == before


def test_plan_previews_what_leaving_rows_out_gains(run):
    Path("rows.csv").write_text(
        "age,pay\n" + "".join(f"{20 + row},{row % 3}\n" for row in range(9)) + "29,9000\n"
    )
    asked = asking(method="k-anonymity", k=3, quasi=["age", "pay"], maxSuppression=0.1)
    Path("outlier.jsonld").write_text(asked)
    arguments = ["plan", "outlier.jsonld", "--data", f"{DATASET}=rows.csv"]
    assert "suppression: 1 of 10 rows would be left out: loss" in run(*arguments).output
    found = json.loads(run(*arguments, "--format", "json").stdout)["left_out_rows"]
    assert (found["rows"], found["suppressed"]) == (10, 1)
    assert found["gain"]["suppressing"] < found["gain"]["without"]


def test_plan_takes_another_value_of_a_parameter(run):
    assert "k at least 20" in run("plan", "policy.jsonld", "--set", "k=20").stdout
    with pytest.raises(PolicyEngineError, match="Did you mean 'k'"):
        run("plan", "policy.jsonld", "--set", "kk=20")
    with pytest.raises(PolicyEngineError, match="NAME=VALUE"):
        run("plan", "policy.jsonld", "--set", "k")


def test_plan_in_json(run):
    result = run("plan", "policy.jsonld", "--format", "json")
    assert [step["step"] for step in json.loads(result.output)["steps"]] == [
        "read",
        "drop",
        "anonymize",
        "publish",
    ]


def test_apply_writes_certifies_and_says_what_was_left_out(run, people):
    result = apply(run)
    assert result.exit_code == 0
    assert "dropped, not released: name" in result.output
    assert "not mentioned, not released: phone" in result.output
    assert (people / "out" / "certificate.jsonld").exists()
    again = run("certify", "out", "--policy", "policy.jsonld")
    assert (again.exit_code, "holds" in again.output) == (0, True)


def test_apply_in_json_prints_nothing_else(run):
    summary = json.loads(apply(run, "--format", "json").stdout)
    assert summary["dropped"] == ["name"]
    assert (summary["rows_in"], summary["rows_suppressed"]) == (6, 0)
    assert summary["certificate"]["rows_out"] == 6


@pytest.mark.nightly
def test_a_record_is_kept_by_apply_and_opened_by_certify(run, people):
    result = apply(run, "--record", "record.json")
    assert "its record, for the owner alone: record.json" in result.output
    asked = ["certify", "out", "--policy", "policy.jsonld", "--record", "record.json"]
    result = run(*asked, "--data", f"{DATASET}=people.csv")
    assert result.exit_code == 0
    assert "the record opens the certificate, and is of the input given" in result.output
    assert "the input was not given to be compared" in run(*asked).output
    (people / "other.csv").write_text((people / "people.csv").read_text().replace("Ann", "Amy"))
    with pytest.raises(PolicyEngineError, match="V009") as caught:
        run(*asked, "--data", f"{DATASET}=other.csv")
    assert caught.value.exit_code == 1
    with pytest.raises(PolicyEngineError, match="O001 The record exists"):
        apply(run, "--record", "people.csv", "--overwrite")


def test_apply_writes_the_ends_of_ranges_where_asked(run, people):
    assert apply(run, "--cells", "bounds").exit_code == 0
    text = (people / "out" / "anonPeople.csv").read_text()
    assert text.startswith("age_low,age_high,city,disease\n20,21,Rome,cold\n")
    assert run("certify", "out", "--policy", "policy.jsonld").exit_code == 0


def test_apply_takes_taxonomies_from_anywhere(run, people):
    text = (people / "policy.jsonld").read_text()
    city = '"http://x.org/People/city"'
    settings = ', "pe:generalization": "taxonomy", "pe:taxonomy": {"@id": "http://x.org/cities"}}'
    changed = text.replace(city, '{"@id": ' + city + settings)
    (people / "policy.jsonld").write_text(changed)
    (people / "t.csv").write_text("Rome;South\nOslo;North\nBern;North\n")
    with pytest.raises(PolicyEngineError, match="C012 No taxonomy is given for 'http://x"):
        apply(run)
    taxonomy = ["--taxonomy", "http://x.org/cities=t.csv"]
    assert apply(run, *taxonomy, "--record", "record.json").exit_code == 0
    record = json.loads((people / "record.json").read_text())
    assert list(record["taxonomies"]) == ["http://x.org/cities"]
    assert run("certify", "out", "--policy", "policy.jsonld", *taxonomy).exit_code == 0


def test_values_that_a_taxonomy_lacks_are_named_unless_they_are_to_be_quiet(run, people):
    (people / "towns.csv").write_text("Rome;*\n")
    text = (people / "policy.jsonld").read_text()
    city = {"@id": f"{DATASET}/city", "pe:generalization": "taxonomy", "pe:taxonomy": "towns.csv"}
    text = text.replace(f'"{DATASET}/city"', json.dumps(city))
    (people / "policy.jsonld").write_text(text)
    said = "R007 The taxonomy of 'city' lacks 2 of its values"
    for options, message in (
        ((), f"{said}: 'Bern' and 'Oslo'."),
        (("--quiet-values",), f"{said}."),
    ):
        with pytest.raises(PolicyEngineError) as caught:
            apply(run, *options)
        assert message in str(caught.value)


def test_apply_takes_the_key_of_pseudonyms_from_a_file(run, people):
    text = (people / "policy.jsonld").read_text()
    changed = text.replace("mosaicrown:identifier", "pe:pseudonymize")
    (people / "policy.jsonld").write_text(changed)
    with pytest.raises(PolicyEngineError, match="C013"):
        apply(run)
    (people / "key").write_text("k" * 32)
    assert apply(run, "--key", "key").exit_code == 0
    assert "Ann" not in (people / "out" / "anonPeople.csv").read_text()


def test_certify_fails_on_a_changed_output(run, people):
    apply(run)
    output = people / "out" / "anonPeople.csv"
    output.write_text(output.read_text().replace("[20 - 21]", "[20 - 22]", 1))
    with pytest.raises(PolicyEngineError, match="V001"):
        run("certify", "out/anonPeople.csv", "--policy", "policy.jsonld")


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("more", "status", "says"),
    [
        (["--target", OUTPUT, "--certificate", "out"], 0, "permit (unsigned):"),
        (["--target", DATASET, "--certificate", "out"], 1, "deny (unsigned):"),
        (["--target", OUTPUT], 1, "no certificate"),
    ],
    ids=["output", "input", "uncertified"],
)
def test_decide_answers_with_a_reason(run, more, status, says):
    apply(run)
    result = run(*DECIDE, *more)
    assert result.exit_code == status
    assert says in result.output


def test_decide_in_json(run):
    apply(run)
    result = run(*DECIDE, "--target", OUTPUT, "--certificate", "out", "--format", "json")
    decision = json.loads(result.output)
    assert decision["effect"] == "permit"
    assert decision["request"]["targets"] == [OUTPUT]


def test_decide_takes_hierarchies_from_files(run, people):
    facts = {
        "@context": "https://www.mosaicrown.eu/ns/mosaicrown.jsonld",
        "@id": "http://x.org/eve",
        "belongsTo": ANALYST,
    }
    (people / "people.jsonld").write_text(json.dumps(facts))
    apply(run)
    asked = [*DECIDE, "--target", OUTPUT, "--certificate", "out"]
    asked[asked.index(ANALYST)] = "http://x.org/eve"
    assert run(*asked).exit_code == 1
    assert run(*asked, "--hierarchy", "people.jsonld").exit_code == 0


@pytest.mark.nightly
def test_methods_come_from_the_vocabulary(run):
    listing = json.loads(run("methods", "--format", "json").output)
    assert [*listing] == ["methods", "shared", "columns", "maskings", "trainings", "audits"]
    own = listing["methods"]["l-diversity"]["parameters"]
    assert [one["name"] for one in own] == ["mosaicrown:k", "mosaicrown:l", "mosaicrown:sensitive"]
    assert own[1]["type"] == "an integer from 2"
    assert listing["methods"]["l-diversity"]["engines"] == own[1]["engines"] == ["local", "spark"]
    assert {one["name"]: one["engines"] for one in listing["shared"]}["pe:polish"] == ["local"]
    of = {one["name"]: one["of"] for one in listing["shared"]}
    assert of["mosaicrown:quasi-identifier"] == of["pe:algorithm"] == "every privacy model"
    assert of["pe:privacyUnit"] == of["pe:sampleShare"] == "every method"
    assert of["pe:insensitive"] == of["mosaicrown:identifier"] == "every method"
    needed = [one["name"] for one in listing["methods"]["masking"]["parameters"]]
    assert needed == ["pe:masked", "pe:sampleShare", "pe:sampleSize"]
    audits = listing["audits"]["membership-inference"]["parameters"]
    assert {one["name"]: one["default"] for one in audits}["pe:shadowModels"] == "10"
    of_training = listing["trainings"]["train"]["parameters"]
    assert of_training[-1]["name"] == "pe:privacyUnit"
    printed = run("methods").output
    assert "pe:maxSuppression" in printed
    assert "pe:tprAtFpr" in printed
    assert printed.count("spark: default only") == 4
    assert "A column under mosaicrown:quasi-identifier" in printed


def test_sample_prints_or_writes_the_same_bytes(run, people):
    printed = run("sample", "customer", "--rows", "20", "--seed", "7").output
    run("sample", "customer", "--rows", "20", "--seed", "7", "--output", "s.csv")
    assert (people / "s.csv").read_text() == printed


def test_names_that_look_like_markup_are_printed_as_they_are(run, people):
    (people / "[b]x.csv").write_text("a,b[/b]\n[/red],2\n")
    result = run("show", "[b]x.csv")
    assert all(text in result.output for text in ("[b]x.csv", "b[/b]", "[/red]"))


def test_show_prints_the_first_rows(run):
    result = run("show", "people.csv", "--rows", "2")
    assert "Ann" in result.output
    assert "Cid" not in result.output


def test_data_is_split_where_the_path_exists(run, people):
    (people / "a=b.csv").write_bytes((people / "people.csv").read_bytes())
    result = run("plan", "policy.jsonld", "--data", f"{DATASET}=a=b.csv", "--format", "json")
    assert json.loads(result.output)["steps"][0]["location"] == "a=b.csv"


@pytest.mark.parametrize(
    "arguments",
    [
        ["plan", "policy.jsonld", "--data", ""],
        ["plan", "policy.jsonld", "--data", f"{DATASET}=x.csv", "--data", f"{DATASET}=y.csv"],
        ["validate", "policy.jsonld", "--context", "http://x.org/c=people.csv"],
    ],
    ids=["no-iri", "twice", "no-context"],
)
def test_arguments_that_cannot_be_understood_are_told(run, arguments):
    with pytest.raises(PolicyEngineError):
        run(*arguments)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["plan", "policy.jsonld", "--data", ""], "U001 --data is IRI=PATH"),
        (["plan", "policy.jsonld", "--taxonomy", "stores"], "U001 --taxonomy is NAME=FILE"),
        (
            ["validate", "policy.jsonld", "--context", "http://x.org/c"],
            "U001 --context is URL=FILE",
        ),
        ([*DECIDE, "--target", DATASET, "--log-key", "key"], "U001 --log-key is for a log"),
    ],
    ids=["data", "taxonomy", "context", "log-key"],
)
def test_an_option_is_told_as_the_help_has_it(run, arguments, says):
    with pytest.raises(PolicyEngineError, match=says):
        run(*arguments)


def command(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "policy_engine", *arguments],
        check=False,
        capture_output=True,
        text=True,
        **options,
    )


@pytest.fixture
def ended(people, monkeypatch, capsys):
    """Return what runs the command line as its own process would, in this one."""
    monkeypatch.chdir(people)
    monkeypatch.setattr(signal, "signal", lambda *_: None)

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["policy-engine", *arguments])
        with pytest.raises(SystemExit) as end:
            main()
        printed = capsys.readouterr()
        return subprocess.CompletedProcess(arguments, end.value.code, printed.out, printed.err)

    return call


@pytest.mark.nightly
def test_a_mistake_is_a_coded_line_and_never_a_traceback(people):
    result = command("apply", "none.jsonld", "--data", "a=b", "--output", "out", cwd=people)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == "C002 There is no file 'none.jsonld'.\n"


def test_a_question_that_cannot_be_asked_is_not_answered_with_no(people, ended):
    (people / "bad.jsonld").write_text("{}")
    asked = ["--policy", "bad.jsonld", "--assignee", ANALYST, "--target", DATASET]
    result = ended("decide", *asked, "--format", "json")
    assert result.returncode == 2
    assert json.loads(result.stdout)["problems"][0]["code"] == "P001"
    result = ended("certify", "people.csv", "--policy", "bad.jsonld")
    assert (result.returncode, result.stdout) == (2, "")


@pytest.mark.parametrize(
    "arguments",
    [
        ["certify", "a" * 300, "--policy", "policy.jsonld"],
        ["show", "b" * 300 + ".csv"],
        ["apply", "policy.jsonld", "--data", f"{DATASET}=people.csv", "--output", "c" * 300],
        ["validate", "d" * 300],
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_name_that_no_disk_takes_is_told(ended, arguments):
    result = ended(*arguments)
    assert result.returncode == 2
    assert re.search(r"[A-Z]\d{3} ", result.stdout + result.stderr)
    assert "X001" not in result.stderr


@pytest.mark.nightly
def test_names_of_files_queries_and_parties_are_utf_8_in_an_ascii_locale(tmp_path):
    rule = {"target": "http://x.org/B", "action": "read", "assignee": "http://x.org/Ánn"}
    (tmp_path / "pölicy.jsonld").write_text(text_of([rule]), encoding="utf-8")
    (tmp_path / "bücher.csv").write_text("Größe\n7\n", encoding="utf-8")
    line = ["query", 'SELECT "Größe" FROM B', "--policy", "pölicy.jsonld"]
    line += ["--assignee", "http://x.org/Ánn"]
    line += ["--data", "http://x.org/B=bücher.csv", "--output", "größe.csv"]
    ascii_ = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    result = command(*line, cwd=tmp_path, env={**os.environ, **ascii_}, encoding="utf-8")
    assert result.returncode == 0, result.stderr
    assert "1 row written: größe.csv" in result.stderr
    assert (tmp_path / "größe.csv").read_text(encoding="utf-8") == "Größe\n7\n"


def test_our_own_bug_is_told_as_one(people):
    code = (
        "import policy_engine.plan.products as p, sys\n"
        "p.check_plannable = lambda policy: 1 / 0\n"
        "sys.argv = ['policy-engine', 'validate', 'policy.jsonld']\n"
        "from policy_engine.cli import main; main()\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True, cwd=people
    )
    assert result.returncode == 2
    assert result.stderr.startswith("X001 This is a bug in the engine: ZeroDivisionError.")


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "arguments",
    [
        ["validate", "policy.jsonld"],
        ["validate", "policy.jsonld", "--format", "json"],
        ["methods"],
    ],
)
def test_an_answer_that_nobody_reads_is_not_a_denial(people, arguments):
    command = [sys.executable, "-m", "policy_engine", *arguments]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=people
    ) as run:
        run.stdout.close()
        assert run.stderr.read() == b""
    assert run.returncode == 141


@pytest.mark.one_in(6)
@pytest.mark.parametrize(
    "arguments",
    [
        ["validate", "policy.jsonld"],
        ["validate", "policy.jsonld", "--format", "json"],
        ["methods"],
        ["sample", "customer", "--rows", "5000"],
        ["--version"],
        ["--help"],
    ],
)
def test_an_answer_that_cannot_be_written_is_told(people, arguments):
    if not Path("/dev/full").exists():
        pytest.skip("there is no device that is always full")
    command = [sys.executable, "-m", "policy_engine", *arguments]
    with Path("/dev/full").open("w") as full:
        run = subprocess.run(
            command, check=False, stdout=full, stderr=subprocess.PIPE, text=True, cwd=people
        )
    assert run.stderr.startswith("O002 What the command answers cannot be written: No space left")
    assert (run.returncode, len(run.stderr.splitlines())) == (2, 1)


@pytest.mark.nightly
def test_a_closed_pipe_is_no_traceback(people):
    shell = f"{sys.executable} -m policy_engine sample customer --rows 50000 | head -1"
    result = subprocess.run(
        ["bash", "-c", shell], check=False, capture_output=True, text=True, cwd=people
    )
    assert result.stderr == ""


def test_validation_loads_no_heavy_library(people):
    loaded = modules_loaded_by("validate", "policy.jsonld", cwd=people)
    heavy = {"numpy", "pyarrow", "numba", "pandas", "polars", "rdflib", "pyspark", "tensorflow"}
    assert "policy_engine.policy" in loaded
    assert not loaded & (heavy | {"rich.console", "pyld"})


@pytest.mark.nightly
def test_a_decision_loads_nothing_that_is_compiled(people):
    loaded = modules_loaded_by(*DECIDE, "--target", OUTPUT, cwd=people)
    assert "policy_engine.decision" in loaded
    assert not loaded & {"pyarrow", "numba", "scipy", "pandas", "rdflib"}


@pytest.mark.nightly
def test_a_terminated_run_leaves_nothing(people):
    code = (
        "import os, signal\n"
        "from policy_engine.engines import tables\n"
        "write = tables.write_table\n"
        "def killed(table, path):\n"
        "    write(table, path)\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
        "tables.write_table = killed\n"
        "import sys\n"
        f"sys.argv = 'policy-engine apply policy.jsonld --data {DATASET}=people.csv "
        "--output out'.split()\n"
        "from policy_engine.cli import main; main()\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True, cwd=people
    )
    assert result.returncode == 143, result.stderr
    assert sorted(path.name for path in people.iterdir()) == ["people.csv", "policy.jsonld"]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "command",
    [
        ("sample", "customer", "--rows", "3"),
        ("hierarchy", "suggest", "people.csv", "age"),
        ("convert", "policy.jsonld"),
    ],
)
def test_a_file_that_may_have_been_edited_is_replaced_only_where_that_is_asked(
    run, people, command
):
    file = people / "out.json"
    for _ in range(2):
        assert run(*command, "--output", file).exit_code == 0
    made = file.read_bytes()
    file.write_text("edited")
    with pytest.raises(PolicyEngineError, match="O001"):
        run(*command, "--output", file)
    assert file.read_text() == "edited"
    assert run(*command, "--output", file, "--overwrite").exit_code == 0
    assert file.read_bytes() == made


def test_show_takes_the_folder_of_a_release_and_no_other(run, people):
    apply(run)
    [released] = (people / "out").glob("*.csv")
    assert released.name in run("show", "out").output
    (people / "empty").mkdir()
    with pytest.raises(PolicyEngineError, match=r"C002 'empty' is a folder.* Give a file in it"):
        run("show", "empty")


def test_compare_says_that_the_original_comes_first(run, people):
    apply(run)
    for release in ("out", *(people / "out").glob("*.csv")):
        with pytest.raises(PolicyEngineError, match=r"C002 .* The original comes first"):
            run("compare", release, "people.csv")
    with pytest.raises(PolicyEngineError, match="Give policy=POLICY"):
        run("compare", "people.csv", "people.csv")
    with pytest.raises(PolicyEngineError, match=r"C002 There is no file 'nosuch\.csv'"):
        run("compare", "people.csv", "nosuch.csv")


def test_a_target_without_a_classifier_is_refused(run):
    with pytest.raises(PolicyEngineError, match="M004 The target is 'age', and no classifier"):
        run("compare", "people.csv", "out", "--target", "age", "--no-classifier")


def test_a_page_of_a_comparison_ends_in_html(run, people):
    apply(run)
    with pytest.raises(PolicyEngineError, match=r"O002 The ending of 'page\.pdf' is not known"):
        run("compare", "people.csv", "out", "--report", "page.pdf")
    assert not (people / "page.pdf").exists()


def test_hierarchy_suggest_names_the_nearest_column(run):
    with pytest.raises(PolicyEngineError, match=r"C005 .* Did you mean 'age'"):
        run("hierarchy", "suggest", "people.csv", "ages")


def test_one_method_is_listed_by_its_name(ended):
    printed = ended("methods", "rank-swapping")
    assert printed.stdout.startswith("rank-swapping: ")
    assert "k-anonymity" not in printed.stdout
    refused = ended("methods", "rank-swaping")
    assert (refused.returncode, "rank-swapping" in refused.stderr) == (2, True)
