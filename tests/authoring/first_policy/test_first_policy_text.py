import yaml

from policy_engine.authoring.first_policy import PolicyNames, first_policy, slug
from policy_engine.engines.column_proposals import ProposedColumn
from policy_engine.policy import read_policy

COLUMNS = (
    ProposedColumn("name: full", "identifier", "It names.", "text"),
    ProposedColumn("Zip", "quasi-identifier", "It may be known.", "text", "prefix"),
    ProposedColumn("City", "quasi-identifier", "Known.", "text", "taxonomy", "Rome;*\n"),
    ProposedColumn("no", "sensitive", "It is nobody's business.", "text"),
    ProposedColumn("rest\n#1", "left out", "Nothing is known of it.", "text"),
)


def made(columns=COLUMNS):
    return first_policy(columns, 7, PolicyNames(dataset="people"), "people")


def test_policy_says_what_was_proposed_and_why():
    text = made().text
    assert yaml.safe_load(text)["quasi-identifier"] == {
        "Zip": "prefix",
        "City": {"generalization": "taxonomy", "taxonomy": "people-city.csv"},
    }
    assert "  Zip: prefix  # It may be known. (text)\n" in text
    assert "#   rest #1: Nothing is known of it. (text)\n" in text
    assert made().taxonomies == {"people-city.csv": "Rome;*\n"}


def test_policy_is_one_that_is_read():
    policy = read_policy(made().text, syntax="yaml")
    assert policy.uid == "http://example.com/policy/people"
    assert policy.permissions[0].output == "http://example.com/people-anonymous"


def test_without_a_sensitive_column_classes_are_only_large():
    text = made([one for one in COLUMNS if one.part != "sensitive"]).text
    assert "method: k-anonymity\nk: 7\nidentifier:" in text


def test_name_of_a_file_is_letters_and_digits():
    assert [slug("My Clients (2026)"), slug("../x"), slug("§")] == ["my-clients-2026", "x", "table"]


def test_what_is_kept_exact_is_bounded_and_warnings_are_comments():
    text = first_policy(COLUMNS, 7, PolicyNames(dataset="people"), "people", ["no unit."]).text
    assert yaml.safe_load(text)["maxUniqueKept"] == 0.05
    assert "# Look at this: no unit.\n" in text
