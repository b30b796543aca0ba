"""Synthetic records are audited from the command line."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from policy_engine import audit_generative
from policy_engine.cli.commands import make_app
from policy_engine.errors import ArgumentError


def write(path, rows):
    path.write_text("age,job\n" + "".join(f"{age},{job}\n" for age, job in rows))


@pytest.fixture
def files(tmp_path):
    random = np.random.default_rng(0)
    people = [(20 + age, "abcd"[job]) for age, job in random.integers(0, [900, 4], (240, 2))]
    write(tmp_path / "members.csv", people[:80])
    write(tmp_path / "holdout.csv", people[80:160])
    write(tmp_path / "reference.csv", people[160:])
    write(tmp_path / "synthetic.csv", people[:40] + people[160:200])
    return [
        f"--{name}={tmp_path / name}.csv"
        for name in ("members", "holdout", "reference", "synthetic")
    ]


def run(*arguments):
    return CliRunner().invoke(make_app("audit"), ["audit", "generative", *arguments])


@pytest.mark.nightly
def test_the_verdict_comes_first_and_the_folder_has_figures_and_a_page(files, tmp_path):
    out, records = tmp_path / "audit", tmp_path / "own" / "scores.csv"
    records.parent.mkdir()
    told = run(*files, "--secret", "job", "--out", str(out), "--records", str(records))
    assert told.exit_code == 0, told.output
    text = " ".join(told.stdout.split())
    assert text.startswith("Members are told from others. The strongest attack, ")
    assert "not run: 'reconstruction'" in text
    figures = json.loads((out / "generative.json").read_text())
    found = {one["attack"]: one["auc"] for one in figures["attacks"]}
    assert found["exact-copies"]["low"] <= 0.75 <= found["exact-copies"]["high"]
    assert figures["verdict"].startswith("Members are told")
    page = (out / "generative.html").read_text()
    assert "density-ratio" in page
    assert "http" not in page.replace("http://www.w3.org", "")
    for file in (records, out / "generative.html", out / "generative.json"):
        assert file.stat().st_mode & 0o077 == 0
    assert len(records.read_text().splitlines()) == 161


def test_figures_are_printed_as_json(files):
    told = run(*files, "--attack", "nearest-sample", "--format", "json")
    audit = json.loads(told.stdout)
    assert [one["attack"] for one in audit["attacks"]] == ["nearest-sample"]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--attack", "nearest"], "A012"),
        (["--secret", "wage"], "A031"),
        (["--budget", "0"], "A033"),
        (["--samples", "0"], "A033"),
    ],
)
def test_mistakes_are_coded(files, arguments, code):
    told = run(*files, *arguments)
    assert told.exit_code != 0
    assert code in str(told.exception)


@pytest.mark.nightly
def test_a_pipeline_fails_where_an_attack_is_too_strong_or_none_was_made(files):
    one = ["--attack", "exact-copies"]
    assert run(*files, *one, "--fail-above", "0.9").exit_code == 0
    assert run(*files, *one, "--fail-above", "0.6").exit_code == 1
    assert run(*files, "--attack", "reconstruction").exit_code == 1


@pytest.mark.nightly
@pytest.mark.parametrize(
    "attacks", [["singling-out"], ["linkability"], ["linkability", "reconstruction"]]
)
def test_a_pipeline_fails_where_there_is_no_area_to_compare(files, attacks):
    arguments = [*files[:2], *files[3:], *(f"--attack={one}" for one in attacks)]
    told = run(*arguments, "--fail-above", "1")
    assert told.exit_code == 1
    assert "no area under the ROC curve was compared" in told.stderr
    assert run(*arguments).exit_code == 0


@pytest.mark.nightly
def test_several_models_are_fitted_and_the_headline_is_over_them(files, tmp_path):
    out = tmp_path / "audit"
    arguments = [*files[:3], "--generator", "sequential-trees", "--models", "3"]
    told = run(*arguments, "--attack", "nearest-sample", "--out", str(out))
    assert told.exit_code == 0, told.output
    text = " ".join(told.stdout.split())
    assert "(95% interval over 3 models" in text
    assert "Attacked were 3 models: figures of attacks are means over models" in text
    figures = json.loads((out / "generative.json").read_text())
    [attack] = figures["attacks"]
    assert len(figures["models"]) == attack["over_models"]["models"] == 3
    assert attack["auc"]["value"] == pytest.approx(attack["over_models"]["auc"]["mean"])
    assert "model by model" in (out / "generative.html").read_text()


@pytest.mark.nightly
@pytest.mark.usefixtures("files")
def test_several_models_are_given_by_repeating_their_options(tmp_path):
    lines = {one: (tmp_path / f"{one}.csv").read_text().splitlines() for one in SIDES}
    for side, every in lines.items():
        for place in (0, 1):
            part = [every[0], *every[1 + place :: 2]]
            (tmp_path / f"{side}{place}.csv").write_text("\n".join(part))
    options = [f"--{side}={tmp_path / side}{place}.csv" for side in SIDES for place in (0, 1)]
    told = run(*options, "--attack", "exact-copies", "--format", "json")
    audit = json.loads(told.stdout)
    assert audit["attacks"][0]["over_models"]["models"] == 2
    low = ["--attack", "exact-copies", "--fail-above"]
    assert run(*options, *low, "0.6").exit_code == 1
    assert run(*options, *low, "0.9").exit_code == 0
    assert "A034" in str(run(*options[1:], *low, "0.9").exception)


SIDES = ("members", "holdout", "synthetic")


@pytest.mark.nightly
def test_the_holdout_that_was_copied_is_told(files):
    swapped = [f"--holdout{files[0][9:]}", f"--members{files[1][9:]}", *files[2:]]
    told = run(*swapped, "--format", "json", "--fail-above", "0.7")
    audit = json.loads(told.stdout)
    assert audit["discloses"]
    assert audit["verdict"].startswith("Members and holdout are told apart, the other way round.")
    assert "more of the holdout than of the members" in audit["verdict"]
    assert told.exit_code == 1


def test_risks_that_are_not_named_are_listed(files):
    told = run(*files, "--secret", "job", "--attack", "exact-copies").stdout
    expected = "'singling-out', 'linkability' and 'inference', since only other attacks are named"
    assert expected in " ".join(told.split())


def test_nothing_is_written_beside_a_certified_release(files, tmp_path):
    (tmp_path / "synthetic_certificate.jsonld").write_text("{}")
    for option in ("--out", "--records"):
        told = run(*files[:2], *files[3:], option, str(tmp_path / "a" / "b"))
        assert "O001" in str(told.exception)
    assert not (tmp_path / "a").exists()


def test_something_that_was_made_is_needed(files):
    told = run(*files[:2])
    assert "A031" in str(told.exception)
    assert "Give synthetic records, or a model" in str(told.exception)


SAMPLER = """
import numpy as np

class Sampler:
    def sample(self, n, *, label=None, seed):
        with open("asked.txt", "a") as file:
            file.write(f"{n}\\n")
        return np.random.default_rng(seed).random((n, 6, 7)) ** (1 + label)
"""


@pytest.fixture
def images(tmp_path, monkeypatch):
    random = np.random.default_rng(1)
    for name in ("members", "holdout"):
        labels = random.integers(0, 2, 60)
        pixels = random.random((60, 6, 7)) ** (1 + labels[:, None, None])
        np.savez(tmp_path / f"{name}.npz", features=pixels, labels=labels)
    (tmp_path / "some_sampler.py").write_text(SAMPLER)
    monkeypatch.chdir(tmp_path)
    return [f"--{name}={tmp_path / name}.npz" for name in ("members", "holdout")]


@pytest.mark.nightly
def test_a_model_is_sampled_and_goes_on_from_what_was_compared(images, tmp_path):
    model = ["--model", "some_sampler:Sampler", "--out", str(tmp_path / "audit")]
    short = run(*images, *model, "--samples", "1500")
    assert short.exit_code == 0, short.output
    assert short.stdout.startswith("Members are not told from others")
    assert "Single inference by samples: 1,000:" in short.stdout
    asked = np.loadtxt("asked.txt").sum()
    longer = run(*images, *model, "--samples", "3000", "--format", "json")
    audit = json.loads(longer.stdout)
    assert [one["samples"] for one in audit["growth"]] == [1000, 3000]
    # It was not begun anew: as many were drawn as before.
    assert np.loadtxt("asked.txt").sum() == 2 * asked
    assert audit["columns"] == []
    assert "Examples" in (tmp_path / "audit" / "generative.html").read_text()
    assert (tmp_path / "audit" / "samples.npz").stat().st_mode & 0o077 == 0


@pytest.mark.nightly
def test_another_model_begins_anew(images, tmp_path):
    options = [*images, "--model", "some_sampler:Sampler", "--out", str(tmp_path / "audit")]
    run(*options, "--samples", "1500")
    module = tmp_path / "another_sampler.py"
    module.write_text(SAMPLER.replace("(1 + label)", "(2 + label)"))
    options[3] = "another_sampler:Sampler"
    audit = json.loads(run(*options, "--samples", "3000", "--format", "json").stdout)
    assert [one["samples"] for one in audit["growth"]] == [1000, 3000]


@pytest.mark.nightly
def test_images_are_compared_in_the_space_that_is_named(images):
    options = ["--model", "some_sampler:Sampler", "--samples", "1000", "--format", "json"]
    attacks = ["--attack", "nearest-sample", "--attack", "epsilon-ball-10%"]
    audit = json.loads(run(*images, *options, *attacks, "--space", "pixels").stdout)
    assert [(one["attack"], one["space"]) for one in audit["attacks"]] == [
        *(("nearest-sample", "pixels"), ("epsilon-ball-10%", "pixels"))
    ]
    told = run(*images, *options, "--space", "encoded-rows")
    assert "A012 There is no space 'encoded-rows' for these records." in str(told.exception)


def test_scores_are_not_written_over_the_figures(files, tmp_path):
    out = tmp_path / "audit"
    told = run(*files, "--out", str(out), "--records", str(out / "generative.json"))
    assert told.exit_code != 0
    assert told.exception.code == "O001"


def test_a_negative_seed_is_refused_before_anything_is_drawn():
    with pytest.raises(ArgumentError, match="A seed is not negative"):
        audit_generative("m.csv", "h.csv", model=object(), seed=-1)


# -- persons with several records -----------------------------------------------------------------


@pytest.fixture
def visits(tmp_path):
    """Write tables in which each of 60 persons has three rows; the name is not released."""
    for number, side in enumerate(("members", "holdout", "synthetic")):
        generator = np.random.default_rng(number)
        rows = generator.normal(size=(180, 3)).round(3).tolist()
        named = [f"{side} {row // 3},{x},{y},{z}\n" for row, (x, y, z) in enumerate(rows)]
        (tmp_path / f"{side}.csv").write_text("who,x,y,z\n" + "".join(named))
    return tmp_path


def of_visits(visits, *more):
    sides = [("--members", "members"), ("--holdout", "holdout")]
    named = [part for option, side in sides for part in (option, str(visits / f"{side}.csv"))]
    return run(*named, "--privacy-unit", "who", *more)


@pytest.mark.nightly
def test_figures_are_of_persons_where_a_column_tells_them_apart(visits, tmp_path):
    synthetic, out = str(visits / "synthetic.csv"), tmp_path / "out"
    done = of_visits(visits, "--synthetic", synthetic, "--out", str(out))
    assert done.exit_code == 0, done.output
    assert "60 persons with 180 records are members" in " ".join(done.output.split())
    figures = json.loads((out / "generative.json").read_text())
    assert (figures["unit"], figures["members"]["persons"]) == ("who", 60)
    assert figures["columns"] == ["x", "y", "z"]
    assert "told apart by" in (out / "generative.html").read_text()


def test_persons_on_both_sides_are_refused(visits):
    (visits / "holdout.csv").write_text((visits / "members.csv").read_text())
    done = of_visits(visits, "--synthetic", str(visits / "synthetic.csv"))
    assert done.exception.problems[0].code == "A030"
    assert "60 persons of those who are of the holdout are" in str(done.exception)


@pytest.mark.nightly
def test_halves_that_models_are_fitted_on_are_of_persons(visits):
    options = ["--generator", "sequential-trees", "--models", "2", "--attack", "exact-copies"]
    done = of_visits(visits, *options, "--format", "json")
    assert done.exit_code == 0, done.output
    audit = json.loads(done.output)
    for one in audit["models"]:
        assert (one["members"]["persons"], one["members"]["records"]) == (60, 180)
        assert one["holdout"]["persons"] == 60
