"""Queries and requests on a release by buckets, which is two tables of one asset."""

import json

import pytest
from applying import applied, asking
from building import ANALYST, OUTPUT

from policy_engine import decide_request, query_data
from policy_engine.authoring.validating import check_path
from policy_engine.decision import Request
from policy_engine.errors import PolicyEngineError
from policy_engine.policy import Reading
from policy_engine.policy.model import READ

ASKED = {"method": "l-diversity", "k": 2, "l": 2, "sensitive": ["ill"], "quasi": ["age"]}
ASKED |= {"algorithm": "bucketization", "buckets": "distinct-l"}
TABLE = {"age": [1, 2, 3, 4], "ill": ["a", "b", "c", "d"]}
READER = "http://x.org/reader"
JOINED = 'SELECT age, ill FROM "quasi-identifiers" JOIN sensitive USING (bucket) ORDER BY age, ill'


@pytest.fixture
def made(tmp_path):
    return applied(TABLE, tmp_path / "out", **ASKED)


def asked(sql, made, *more, assignee=ANALYST, data=None, **options):
    given = {OUTPUT: data or made.path}
    policies = [asking(**ASKED), *more]
    proofs = options.pop("certificates", [made.certificate])
    return query_data(sql, policies, assignee, given, "marketing", certificates=proofs, **options)


def rows(result):
    return [tuple(row.values()) for row in result.table.to_pylist()]


def reading(*rules, kind="permission"):
    """Return a policy of rules, each a target with more parts."""
    whole = {
        "@context": "http://www.w3.org/ns/odrl.jsonld",
        "@type": "Set",
        "uid": "http://x.org/reading",
        "profile": "https://www.mosaicrown.eu/ns/mosaicrown/1/",
        kind: [{"assignee": READER, "action": "read", **one} for one in rules],
    }
    return json.dumps(whole)


def test_both_tables_are_joined_by_their_buckets(made):
    expected = [(1, "a"), (1, "b"), (2, "a"), (2, "b"), (3, "c"), (3, "d"), (4, "c"), (4, "d")]
    assert rows(asked(JOINED, made)) == expected
    in_memory = applied(TABLE, **ASKED)
    assert rows(asked(JOINED, in_memory, data=in_memory.tables)) == expected


def test_a_table_is_called_by_the_iri_of_the_output_too(made):
    found = asked(f'SELECT sum("count") FROM "{OUTPUT}/sensitive"', made)
    assert rows(found) == [(4,)]


def test_the_output_itself_is_not_a_table(made):
    with pytest.raises(PolicyEngineError, match="Q003 There is no table 'anonPeople'"):
        asked("SELECT * FROM anonPeople", made)


def test_nobody_reads_a_table_without_the_certificate_of_both(made):
    assert not asked("SELECT * FROM sensitive", made, certificates=[]).permitted
    assert not asked("SELECT * FROM sensitive", made, assignee=READER).permitted
    file = made.path / "quasi-identifiers.csv"
    file.write_text(file.read_text().replace("4,1", "5,1"))
    with pytest.raises(PolicyEngineError, match="V004"):
        asked("SELECT * FROM sensitive", made)


def test_columns_are_granted_by_the_iri_of_the_output(made):
    both = reading({"target": f"{OUTPUT}/ill"}, {"target": f"{OUTPUT}/age"})
    assert asked("SELECT ill FROM sensitive", made, both, assignee=READER).permitted
    assert not asked("SELECT ill, bucket FROM sensitive", made, both, assignee=READER).permitted
    # No rule grants both columns together.
    crossed = 'SELECT age, ill FROM "quasi-identifiers", sensitive'
    assert not asked(crossed, made, both, assignee=READER).permitted
    whole = reading({"target": OUTPUT})
    assert asked(JOINED, made, whole, assignee=READER).permitted


def test_a_prohibition_of_a_column_holds_in_its_table_alone(made):
    forbids = reading({"target": f"{OUTPUT}/ill", "assignee": ANALYST}, kind="prohibition")
    assert not asked(JOINED, made, forbids).permitted
    assert not asked("SELECT * FROM sensitive", made, forbids).permitted
    assert asked('SELECT age, bucket FROM "quasi-identifiers"', made, forbids).permitted


def test_a_condition_on_rows_of_one_table_permits_nothing_of_the_other(made):
    young = {"leftOperand": f"{OUTPUT}/age", "operator": "lt", "rightOperand": 3}
    some = reading(
        {"target": {"@type": "AssetCollection", "source": OUTPUT, "refinement": [young]}}
    )
    found = asked('SELECT age FROM "quasi-identifiers" ORDER BY age', made, some, assignee=READER)
    assert rows(found) == [(1,), (2,)]
    assert not asked("SELECT ill FROM sensitive", made, some, assignee=READER).permitted
    assert not asked(JOINED, made, some, assignee=READER).permitted


def request_of(made, column=""):
    [purpose] = made.plan.purposes
    return Request(assignee=ANALYST, action=READ, targets=(f"{OUTPUT}{column}",), purpose=purpose)


@pytest.mark.parametrize(
    ("column", "permitted"),
    [("", True), ("/age", True), ("/bucket", True), ("/count", True), ("/pay", False)],
)
def test_requests_name_the_output_or_its_columns(made, column, permitted):
    request = request_of(made, column)
    decision = decide_request([asking(**ASKED)], [made.path.parent], request)
    assert decision.permitted == permitted
    assert not decide_request([asking(**ASKED)], [], request).permitted


def test_a_certificate_of_classes_is_none_of_buckets(made, tmp_path):
    by_class = {name: one for name, one in ASKED.items() if name not in ("algorithm", "buckets")}
    other = applied(TABLE, tmp_path / "other", **by_class)
    request = request_of(made)
    assert decide_request([asking(**by_class)], [other.certificate], request).permitted
    assert not decide_request([asking(**ASKED)], [other.certificate], request).permitted
    assert not decide_request([asking(**by_class)], [made.certificate], request).permitted


def test_columns_of_a_request_are_those_of_both_tables(made):
    given = {OUTPUT: made.path}
    for name in ("age", "ill", "count"):
        request = request_of(made, f"/{name}")
        decision = decide_request([asking(**ASKED)], [made.certificate], request, data=given)
        assert decision.permitted
    pay = request_of(made, "/pay")
    assert not decide_request([asking(**ASKED)], [made.certificate], pay, data=given).permitted


def test_a_policy_is_validated_against_the_columns_of_both_tables(made, tmp_path):
    file = tmp_path / "reading.jsonld"
    for name, wrong in (("age", 0), ("count", 0), ("pay", 1)):
        file.write_text(reading({"target": f"{OUTPUT}/{name}"}))
        [checked] = check_path(file, Reading(), {OUTPUT: made.path})
        assert [one.code for one in checked.problems] == ["C005"] * wrong
