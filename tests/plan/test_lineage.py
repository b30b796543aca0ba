"""What is made of a release remembers it, and stands as long as all that it was made from does."""

import json
import re
from datetime import UTC, datetime, timedelta

import pytest
from building import DATASET, OUTPUT, PEOPLE, anonymize, permission, policy

from policy_engine import apply_policy, attest_output, draw_policy, query_data
from policy_engine.api.certifying import certify_output
from policy_engine.certificate.beside import load_certificate
from policy_engine.certificate.certificate import read_certificate
from policy_engine.decision import Decider, Request, World
from policy_engine.decision.derivations import derivations
from policy_engine.errors import CertificateError
from policy_engine.policy import load_policy
from policy_engine.policy.owners import read_owners

AGAIN, READER = "http://x.org/again", "http://x.org/reader"
OWNER, MAKER, REGULATOR = (f"http://x.org/{name}" for name in ("owner", "maker", "regulator"))
OWNED = {
    DATASET: {"owner": OWNER, "regulators": [REGULATOR], "delegates": []},
    OUTPUT: {"owner": OWNER, "delegates": [MAKER], "regulators": [REGULATOR]},
}
NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)


def first(**parts):
    """Return the policy by which the owner makes a release of the people."""
    action = anonymize(method="k-anonymity", k=2, quasi=["age"], insensitive=["disease"])
    rule = permission(action=action, output=OUTPUT, assigner=OWNER, **parts)
    return policy([rule], uid="http://x.org/first")


def second(k=2):
    """Return the policy by which the release is made into a further one."""
    action = anonymize(method="k-anonymity", k=k, quasi=["disease"])
    action = json.loads(json.dumps(action).replace(f"{DATASET}/", f"{OUTPUT}/"))
    rule = permission(
        action=action, target=OUTPUT, output=AGAIN, assigner=MAKER, assignee=READER, purpose=None
    )
    return policy([rule], uid="http://x.org/second")


@pytest.fixture
def chain(tmp_path):
    """Return a folder with both policies, the release and what was made of it."""
    (tmp_path / "people.csv").write_text(PEOPLE)
    (tmp_path / "first.jsonld").write_text(first())
    (tmp_path / "second.jsonld").write_text(second())
    apply_policy(
        tmp_path / "first.jsonld", {DATASET: tmp_path / "people.csv"}, tmp_path / "one/safe.csv"
    )
    made_again(tmp_path)
    return tmp_path


def made_again(folder, **parts):
    data = {OUTPUT: folder / "one/safe.csv"}
    return apply_policy(folder / "second.jsonld", data, folder / "two", overwrite=True, **parts)


def asked(folder, *policies, certificates=("one", "two"), owners=OWNED, **world):
    """Return what is decided of reading what was made of the release."""
    decider = Decider(
        [load_policy(folder / f"{name}.jsonld") for name in policies],
        [load_certificate(folder / name) for name in certificates],
        owners=read_owners(owners),
    )
    request = Request(assignee=READER, action="http://www.w3.org/ns/odrl/2/read", targets=(AGAIN,))
    return decider.decide(request, World(**{"time": NOON, **world}))


def test_a_certificate_names_the_release_that_it_was_made_from(chain):
    one, two = (load_certificate(chain / name) for name in ("one", "two"))
    [upstream] = two.upstream
    assert (upstream.asset, upstream.output_digest) == (OUTPUT, one.output_digest)
    assert (upstream.policy, upstream.policy_digest) == (one.plan.policy, one.plan.policy_digest)
    told = json.loads(two.to_jsonld())["prov:wasDerivedFrom"]
    assert told == [{"@id": OUTPUT, "pe:sha256": one.output_digest}]
    assert read_certificate(two.to_jsonld()) == two
    assert one.upstream == ()


def test_a_row_added_between_two_steps_is_noticed(chain):
    with (chain / "one/safe.csv").open("a") as file:
        file.write("99,flu\n")
    with pytest.raises(CertificateError, match="V013"):
        made_again(chain)


def test_a_certificate_that_lies_elsewhere_is_given(chain):
    certificate = load_certificate(chain / "one")
    (chain / "one/safe.csv").rename(chain / "safe.csv")
    data = {OUTPUT: chain / "safe.csv"}
    made = apply_policy(chain / "second.jsonld", data, certificates=[certificate])
    assert made.certificate.upstream[0].output_digest == certificate.output_digest


def test_a_certificate_of_something_else_is_refused(chain):
    certificate = load_certificate(chain / "two")
    with pytest.raises(CertificateError, match="No certificate is for the input"):
        made_again(chain, certificates=[certificate])


def test_a_release_is_not_given_as_other_data(chain):
    raw = {DATASET: chain / "one/safe.csv"}
    with pytest.raises(CertificateError, match="The certificate beside the input is for"):
        apply_policy(chain / "first.jsonld", raw, chain / "three")


def test_what_is_made_is_read_as_long_as_all_before_it_stands(chain):
    assert asked(chain, "first", "second").permitted


def test_withdrawing_the_policy_before_withdraws_what_was_made(chain):
    found = asked(chain, "second")
    assert not found.permitted
    way = f"{AGAIN} was made from {OUTPUT}, whose policy http://x.org/first is not among those"
    assert found.reason == f"{way} in force."


def test_withdrawing_the_certificate_before_withdraws_what_was_made(chain):
    found = asked(chain, "first", "second", certificates=["two"])
    assert not found.permitted
    assert "for which no certificate valid" in found.reason


def test_changing_the_policy_before_withdraws_what_was_made(chain):
    text = (chain / "first.jsonld").read_text()
    (chain / "first.jsonld").write_text(text.replace('"rightOperand": 2', '"rightOperand": 3'))
    assert "for an earlier version of the policy" in asked(chain, "first", "second").reason


def test_writing_the_policy_before_otherwise_withdraws_nothing(chain):
    text = json.loads((chain / "first.jsonld").read_text())
    (chain / "first.jsonld").write_text(json.dumps(dict(reversed(text.items()))))
    assert asked(chain, "first", "second").permitted


def test_renewing_the_certificate_before_withdraws_nothing(chain):
    now = load_certificate(chain / "one")
    before = now.model_copy(update={"time": now.time - timedelta(hours=1)})
    (chain / "one/certificate.jsonld").write_text(before.to_jsonld())
    made_again(chain)
    certify_output(chain / "one/safe.csv", chain / "first.jsonld", write=True)
    assert load_certificate(chain / "one") != before
    assert asked(chain, "first", "second").permitted


def test_what_was_made_before_its_certificate_was_known_is_read_by_nobody(chain):
    (chain / "one/safe.csv").rename(chain / "safe.csv")
    data = {OUTPUT: chain / "safe.csv"}
    apply_policy(chain / "second.jsonld", data, chain / "two", overwrite=True)
    (chain / "safe.csv").rename(chain / "one/safe.csv")
    assert "whose certificate was not given" in asked(chain, "first", "second").reason


def test_what_was_made_ends_with_the_permission_to_make_what_is_before_it(chain):
    until = {"leftOperand": "dateTime", "operator": "lt", "rightOperand": "2026-07-01T00:00:00Z"}
    (chain / "first.jsonld").write_text(first(constraint=until))
    data = {DATASET: chain / "people.csv"}
    apply_policy(chain / "first.jsonld", data, chain / "one/safe.csv", overwrite=True)
    made_again(chain)
    assert asked(chain, "first", "second").permitted
    late = asked(chain, "first", "second", time="2026-08-01T00:00:00Z")
    assert not late.permitted
    assert f"{AGAIN} was made from {OUTPUT}, which may no longer be made" in late.reason
    assert asked(chain, "first", "second", time="2026-06-30T00:00:00Z").permitted


# -- prohibitions of others reach what is derived -------------------------------------------------


def barring(folder, assigner, target=DATASET, **parts):
    rule = {"target": target, "action": "read", "assigner": assigner, **parts}
    text = policy([], [rule], uid="http://x.org/bar", profile=None, conflict="prohibit")
    (folder / "bar.jsonld").write_text(text)
    return asked(folder, "first", "second", "bar")


EXEMPT = {"leftOperand": "pe:derived", "operator": "eq", "rightOperand": "exempt"}


@pytest.mark.one_in(12)
@pytest.mark.parametrize(
    ("assigner", "target", "parts", "is_permitted"),
    [
        (REGULATOR, DATASET, {}, False),
        (REGULATOR, f"{DATASET}/disease", {}, False),
        (REGULATOR, f"{DATASET}/age", {}, True),  # the second release has no ages
        (REGULATOR, f"{DATASET}/name", {}, True),
        (REGULATOR, DATASET, {"constraint": EXEMPT}, True),
        (REGULATOR, DATASET, {"assignee": "http://x.org/other"}, True),
        (OWNER, DATASET, {}, True),  # the owner made the release of what he prohibits
        (OWNER, OUTPUT, {}, False),  # and somebody else made something of the release
        (MAKER, OUTPUT, {}, True),
        ("http://x.org/stranger", DATASET, {}, True),
    ],
)
def test_whose_prohibitions_reach_what_is_derived(chain, assigner, target, parts, is_permitted):
    assert asked(chain, "first", "second").permitted
    found = barring(chain, assigner, target, **parts)
    assert found.permitted is is_permitted, found.reason


def test_the_reason_names_the_way_by_which_a_prohibition_reaches(chain):
    found = barring(chain, REGULATOR)
    assert found.reason.endswith(
        f"prohibits it: {OUTPUT} was made from {DATASET}: {AGAIN} was made from {OUTPUT}."
    )


# -- what is drawn of it --------------------------------------------------------------------------


def drawn(folder, *policies, certificates=("one", "two"), form="dot", **world):
    """Return the lines of a picture of what was made from what, from the edges on."""
    return draw_policy(
        [load_policy(folder / f"{name}.jsonld") for name in policies],
        form,
        [load_certificate(folder / name) for name in certificates],
        owners=world.pop("owners", OWNED),
        world=World(**{"time": NOON, **world}),
    ).text


def test_what_was_made_from_what_is_drawn_near_and_far(chain):
    text = drawn(chain, "first", "second", form="mermaid")
    near, far = (load_certificate(chain / name).output_digest[:12] for name in ("one", "two"))
    assert text.count("wasDerivedFrom") == 2
    assert f"sha-256 {near}…" in text
    assert far not in text  # nothing is made from that
    assert "no longer valid" not in text


def test_releases_before_are_known_without_their_certificates(chain):
    two = load_certificate(chain / "two")
    decider = Decider([load_policy(chain / "second.jsonld")], [two])
    again, before = derivations(decider)
    assert (again.asset, again.digest) == (AGAIN, two.output_digest)
    assert [(one.asset, one.digest) for one in again.sources] == [
        (OUTPUT, two.upstream[0].output_digest)
    ]
    assert (before.asset, before.sources) == (OUTPUT, ())
    assert before.end_reason == (
        f"{OUTPUT}, whose policy http://x.org/first is not among those in force."
    )
    assert again.end_reason == f"{AGAIN} was made from {before.end_reason}"


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("policies", "certificates", "why"),
    [
        (["second"], ["one", "two"], "is not among those in force"),
        (["first"], ["one", "two"], "http://x.org/second is not among those in force"),
        (["first", "second"], ["two"], "for which no certificate"),
    ],
)
@pytest.mark.parametrize("form", ["dot", "mermaid"])
def test_what_is_withdrawn_is_drawn_with_the_reason(chain, policies, certificates, why, form):
    text = drawn(chain, *policies, certificates=certificates, form=form)
    text = re.sub(r"</?\w[^>]*>|#58;", lambda found: ":" * (found[0] == "#58;") or " ", text)
    assert "no longer valid" in text
    assert why in " ".join(text.replace("&#10;", " ").split())


def test_what_ended_or_was_replaced_is_drawn_so(chain):
    until = {"leftOperand": "dateTime", "operator": "lt", "rightOperand": "2026-07-01T00:00:00Z"}
    (chain / "first.jsonld").write_text(first(constraint=until))
    data = {DATASET: chain / "people.csv"}
    apply_policy(chain / "first.jsonld", data, chain / "one/safe.csv", overwrite=True)
    made_again(chain)
    assert "no longer valid" not in drawn(chain, "first", "second")
    late = drawn(chain, "first", "second", time="2026-08-01T00:00:00Z")
    assert late.count(">no longer valid<") == 2  # the release, and what was made from it
    text = (chain / "first.jsonld").read_text()
    (chain / "first.jsonld").write_text(text.replace('"rightOperand": 2', '"rightOperand": 3'))
    assert drawn(chain, "first", "second").count(">no longer valid<") == 2


def test_who_owns_what_is_drawn_and_which_rules_do_not_count(chain):
    text = drawn(chain, "first", form="mermaid", certificates=())
    assert text.count('|"owns"|') == 2
    assert text.count('|"regulates"|') == 2
    assert "does not count" not in text
    other = {DATASET: "http://x.org/other"}
    text = drawn(chain, "first", form="mermaid", certificates=(), owners=other)
    assert "does not count" in text


def test_what_was_made_ends_with_the_leave_to_make_what_is_before_it(chain):
    assert asked(chain, "first", "second").permitted
    others = {DATASET: {"owner": "http://x.org/other"}, OUTPUT: {**OWNED[OUTPUT]}}
    found = asked(chain, "first", "second", owners=others)
    assert not found.permitted
    assert found.reason == (
        f"{AGAIN} was made from {OUTPUT}, which may no longer be made: "
        f"{OWNER} does not own {DATASET}."
    )


@pytest.mark.parametrize("order", [("two", "three"), ("three", "two")])
def test_a_query_reads_the_data_whose_own_certificate_stands_in_whatever_order(chain, order):
    rows = (chain / "one/safe.csv").read_text()
    (chain / "copy.csv").write_text(f"{rows}[20-30],added\n[20-30],added\n")
    apply_policy(chain / "second.jsonld", {OUTPUT: chain / "copy.csv"}, chain / "three")
    policies = [chain / "first.jsonld", chain / "second.jsonld"]
    proofs = [chain / name for name in ("one", *order)]

    def counted(name):
        [file] = (chain / name).glob("*.csv")
        sql = "select count(*) as n from again"
        found = query_data(sql, policies, READER, {AGAIN: file}, certificates=proofs, owners=OWNED)
        return found.table["n"].to_pylist()

    assert counted("two") == [len(rows.splitlines()) - 1]
    with pytest.raises(
        CertificateError, match=r"V004 .* nobody may read it.* whose certificate was not given"
    ):
        counted("three")


def test_a_query_for_a_purpose_reads_what_was_certified(chain):
    (chain / "first.jsonld").write_text(first(purpose=None))
    data = {DATASET: chain / "people.csv"}
    apply_policy(chain / "first.jsonld", data, chain / "one/safe.csv", overwrite=True)
    made_again(chain)
    barring(chain, REGULATOR, action="anonymize", purpose="http://x.org/advertising")
    policies = [chain / f"{name}.jsonld" for name in ("first", "second", "bar")]
    [file] = (chain / "two").glob("*.csv")

    def counted(data):
        sql, purpose = "select count(*) as n from again", "http://x.org/research"
        proofs = [chain / "one", chain / "two"]
        given = {"certificates": proofs, "owners": OWNED, "purpose": purpose}
        return query_data(sql, policies, READER, {AGAIN: data}, **given).table["n"].to_pylist()

    rows, other = file.read_text(), chain / "other.csv"
    assert counted(file) == [len(rows.splitlines()) - 1]
    other.write_text(f"{rows}added\n")
    with pytest.raises(CertificateError, match="V004"):
        counted(other)


def test_rows_added_to_what_was_attested_are_noticed(chain):
    derive = {"target": DATASET, "action": "derive", "output": OUTPUT}
    (chain / "first.jsonld").write_text(policy([derive], uid="http://x.org/first", profile=None))
    (chain / "one/certificate.jsonld").unlink()
    word = attest_output(chain / "first.jsonld", chain / "one/safe.csv", "http://x.org/Eve")
    made = made_again(chain, certificates=[word])
    assert [one.output_digest for one in made.certificate.upstream] == [word.output_digest]
    with (chain / "one/safe.csv").open("a") as file:
        file.write("99,flu\n")
    with pytest.raises(CertificateError, match="V013"):
        made_again(chain, certificates=[word])
