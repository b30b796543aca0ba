"""The certificates of masked columns and samples, as people read them."""

from applying import applied, asking
from building import OUTPUT, column

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


def test_a_sample_is_proven_to_be_one():
    asked = {"method": "masking", "sampleSize": 2, "insensitive": ["id"]}
    made = applied({"id": range(5)}, **asked)
    policy, proof = read_policy(asking(**asked)), made.certificate
    [line] = Output.of(policy, OUTPUT, [proof], plan=proof.plan).proof_lines()
    assert line.startswith("certified: no bounds asked for, a sample of 2 rows; output sha-256 ")
