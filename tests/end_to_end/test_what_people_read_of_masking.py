"""The certificates of masked columns and samples, as people read them."""

from types import SimpleNamespace

from applying import applied, asking
from building import DATASET, OUTPUT, column

from policy_engine import certify_output
from policy_engine.cli.tables.certificates import certificate_table
from policy_engine.decision.outputs import Output
from policy_engine.policy import read_policy


def shown(made):
    names, _, values, _ = certificate_table(made.certificate).columns
    return dict(zip(names.cells, values.cells, strict=True))


def test_figures_are_words_and_numbers():
    tail = [column("pay", masking="top-coding", threshold=98_150)]
    made = applied({"pay": [*range(10), 98_150, 99_000, 99_001]}, method="masking", masked=tail)
    told = shown(made)["top-coding of pay"]
    assert "most extreme value left 98,150" in told
    assert "rows coded 2" in told
    assert "extremeLeft" in made.certificate.maskings[0].figures


def test_figures_that_only_rows_show_are_told_as_not_verified(tmp_path):
    asked = {"method": "masking", "masked": [column("pay", masking="noise", sdShare=0.5)]}
    data = tmp_path / "in.csv"
    data.write_text("pay\n" + "\n".join(map(str, range(100))) + "\n")
    made = applied(data, tmp_path / "out" / "a.csv", **asked)
    assert "not verified" not in shown(made)["noise of pay"]
    again = certify_output(made.path, asking(**asked), {DATASET: data})
    told = shown(SimpleNamespace(certificate=again))["noise of pay"]
    assert told.endswith("; not measured, and so not verified: share unchanged, correlation")


def test_a_sample_is_proven_to_be_one():
    asked = {"method": "masking", "sampleSize": 2, "insensitive": ["id"]}
    made = applied({"id": range(5)}, **asked)
    policy, proof = read_policy(asking(**asked)), made.certificate
    [line] = Output.of(policy, OUTPUT, [proof], plan=proof.plan).proof_lines()
    assert line.startswith("certified: no bounds asked for, a sample of 2 rows; output sha-256 ")


def test_of_a_sample_with_suppressed_rows_no_figures_are_shown():
    asked = {
        "method": "k-anonymity",
        "k": 2,
        "quasi": ["a"],
        "algorithm": "full-domain",
        "maxSuppression": 0.2,
    }
    made = applied({"a": [*range(7)] * 5}, **asked, sampleSize=20)
    assert shown(made)["sampled"] == "rows, some of them suppressed"
