"""Data that is given for an output of a policy is what was certified, or vouched for."""

import pyarrow as pa
import pytest
from query_samples import ask, policy, rows, rule

from policy_engine.certificate.attestation import attest
from policy_engine.data.catalog import make_catalog
from policy_engine.decision.outputs import Output
from policy_engine.decision.query.outputs import check_certified
from policy_engine.engines.tables import table_digest
from policy_engine.errors import CertificateError

VISITS, TOTALS = "http://x.org/data/Visits", "http://x.org/data/Totals"
SUM = {
    "assignee": "http://x.org/maker",
    "target": VISITS,
    "action": "aggregate",
    "output": TOTALS,
}
MADE = policy([SUM, rule(TOTALS)])
READ = "SELECT n FROM Totals"


@pytest.fixture
def totals(tmp_path):
    file = tmp_path / "Totals.csv"
    file.write_text("zip,n\n1,20\n2,30\n")
    return file


def test_output_that_is_attested_is_read_as_it_was(totals):
    word = attest(MADE, totals, "http://x.org/maker", asset=TOTALS)
    given = make_catalog({TOTALS: totals})
    assert rows(READ, MADE, data=given, certificates=[word]) == [(20,), (30,)]
    assert rows(READ, MADE, data=given) is None
    totals.write_text("zip,n\n1,20\n2,31\n")
    with pytest.raises(CertificateError) as caught:
        ask(READ, MADE, data=given, certificates=[word])
    [problem] = caught.value.problems
    assert problem.code == "V004"
    assert problem.message.startswith("It is not the output that was attested: its sha-256 is ")
    assert caught.value.source == str(totals)


def test_table_in_memory_is_none_that_a_file_was_attested_as(totals):
    word = attest(MADE, totals, "http://x.org/maker", asset=TOTALS)
    table = pa.table({"zip": [1, 2], "n": [20, 30]})
    with pytest.raises(CertificateError, match="V004 It is not the output that was attested"):
        ask(READ, MADE, data=make_catalog({TOTALS: table}), certificates=[word])
    own = word.model_copy(update={"output_digest": table_digest(table)})
    given = make_catalog({TOTALS: table})
    assert rows(READ, MADE, data=given, certificates=[own]) == [(20,), (30,)]


def test_what_no_policy_makes_needs_no_certificate(totals):
    given = make_catalog({TOTALS: totals})
    assert rows(READ, policy([rule(TOTALS)]), data=given) == [(20,), (30,)]
    of_other = policy([{**SUM, "output": "http://x.org/data/Other"}, rule(TOTALS)])
    assert rows(READ, of_other, data=given) == [(20,), (30,)]


class Words:
    """A decider to which an output was certified, and of which nothing stands but what is told."""

    def __init__(self, known, standing):
        self.policies, self.known, self.standing, self.asked = [MADE], known, standing, []

    def output(self, policy, asset):
        assert (policy, asset) == (MADE, TOTALS)
        return self.known

    def valid_output(self, policy, asset, *given):
        assert (policy, asset) == (MADE, TOTALS)
        self.asked.append(given)
        return self.standing


def test_output_that_was_certified_and_does_not_stand_is_read_by_nobody(totals):
    word = attest(MADE, totals, "http://x.org/maker", asset=TOTALS)
    known = Output(MADE, TOTALS, None, None, attested=(word,))
    gone = Output(MADE, TOTALS, None, None, invalid_reason="Its input was taken back.")
    given = make_catalog({TOTALS: totals})
    decider, asked = Words(known, gone), ("world", word.output_digest, "history", "request")
    with pytest.raises(CertificateError) as caught:
        check_certified(given.datasets[0], given, decider, "world", "history", "request")
    [problem] = caught.value.problems
    said = "The output was certified, but nobody may read it. Its input was taken back."
    assert (problem.code, problem.message) == ("V004", said)
    assert (caught.value.source, decider.asked) == (str(totals), [asked])
    check_certified(given.datasets[0], given, Words(known, known), None, None, None)
    check_certified(given.datasets[0], given, Words(gone, gone), None, None, None)
