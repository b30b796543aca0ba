"""What a certificate may be renewed for, and what an output does not tell."""

import pyarrow as pa
import pyarrow.csv
import pytest
from applying import asking
from building import ANALYST, DATASET, OUTPUT, anonymize, column, people_policy, permission, policy
from certifying import certified
from modelled import of_table
from typer.testing import CliRunner

from policy_engine import apply_policy, certify_output, decide_request, query_data
from policy_engine.certificate.beside import load_certificate
from policy_engine.certificate.certificate import read_certificate
from policy_engine.certificate.renewal import check_making, is_renewable, with_change
from policy_engine.cli import app
from policy_engine.decision import Request
from policy_engine.engines.engine import StoredData
from policy_engine.errors import CertificateError, DataError, Problem
from policy_engine.plan.making import make_plan
from policy_engine.policy import read_policy
from policy_engine.policy.model import READ
from policy_engine.terms import expand_term

KEY = b"0123456789abcdef0123456789abcdef"
TABLE = {
    "name": [f"person {number}" for number in range(12)],
    "age": [20, 20, 21, 30, 31, 31, 40, 42, 42, 50, 51, 53],
    "zip": [f"{number % 3}" for number in range(12)],
    "ill": ["flu", "cold"] * 6,
}
PLAIN = {"method": "k-anonymity", "k": 3, "quasi": ["age"], "insensitive": ["zip", "ill"]}
OPEN = {**PLAIN, "insensitive": ["name", "zip", "ill"]}
HIDDEN = {**PLAIN, "pseudonymize": ["name"]}
MASKED = {**PLAIN, "identifier": ["name"], "insensitive": ["ill"]}
TENS, HUNDREDS = (column("zip", masking="rounding", base=base) for base in (10, 100))
SUPPRESSING = {**PLAIN, "algorithm": "full-domain", "identifier": ["name"]}


def by(way, **settings):
    said = {f"pe:{name}": value for name, value in {"generalization": way, **settings}.items()}
    return {**PLAIN, "identifier": ["name"], "quasi": [{"@id": f"{DATASET}/age", **said}]}


def made(folder, parts, **given):
    """Return the path of a release of the table as an action asks."""
    pa.csv.write_csv(pa.table(TABLE), folder / "people.csv")
    data = {DATASET: folder / "people.csv"}
    return apply_policy(asking(**parts), data, folder / "out", key=KEY, **given).path


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("before", "now", "why"),
    [
        (OPEN, HIDDEN, "'name' has no pseudonyms"),
        (HIDDEN, {**HIDDEN, "pseudonymScope": "all"}, "have their own scope, .* the scope 'all'"),
        ({**HIDDEN, "pseudonymScope": "all"}, HIDDEN, "the scope 'all', .* their own scope"),
        (HIDDEN, {**PLAIN, "quasi": ["age", "name"], "k": 2}, "was masked"),
        (
            {**MASKED, "masked": [TENS]},
            {**MASKED, "insensitive": ["zip", "ill"]},
            "'zip' was made with .*10.*, but the policy asks for no masking",
        ),
        (
            {**MASKED, "masked": [TENS]},
            {**MASKED, "masked": [HUNDREDS]},
            "'zip' was made with .*10.*, but the policy asks for .*100",
        ),
        (by("range"), by("mean"), "was generalised by range, but the policy asks for mean"),
        (by("mean"), by("range"), "by mean"),
        (by("mean"), by("median"), "by mean"),
        (by("interval"), by("range"), "by interval"),
        (by("interval", fanout=2), by("interval", fanout=5), r"interval, .* \(fanout 5\)"),
        (
            {**PLAIN, "identifier": ["name"], "quasi": ["age", "zip"], "insensitive": ["ill"]},
            {**PLAIN, "identifier": ["name"]},
            "'zip' was generalised, but the policy takes its cells for values",
        ),
        (
            {**SUPPRESSING, "maxSuppression": 0.9},
            {**SUPPRESSING, "maxSuppression": 0.1},
            "Up to 0.9 of all rows may be suppressed, but the policy allows 0.1",
        ),
    ],
)
def test_what_an_output_does_not_tell_is_to_be_as_it_was_made(tmp_path, before, now, why):
    path = made(tmp_path, before)
    before_it = (tmp_path / "out/certificate.jsonld").read_bytes()
    for write in (False, True):
        with pytest.raises(CertificateError, match=f"V014 .*{why}"):
            certify_output(path, asking(**now), write=write)
    assert (tmp_path / "out/certificate.jsonld").read_bytes() == before_it


@pytest.mark.parametrize(
    ("before", "now"),
    [
        (SUPPRESSING, {**SUPPRESSING, "maxSuppression": 0.1}),
        (by("range"), {**PLAIN, "identifier": ["name"]}),
        (by("mean"), by("mean", weight=3)),
        ({**PLAIN, "redact": ["name"]}, {**PLAIN, "insensitive": ["name", "zip", "ill"]}),
    ],
)
def test_what_is_as_it_was_made_is_renewed(tmp_path, before, now):
    path = made(tmp_path, before)
    renewed = certify_output(path, asking(**now), write=True)
    assert renewed.made_by == "owner"


def test_rows_that_were_left_out_are_told_by_the_record(tmp_path):
    path = made(tmp_path, {**SUPPRESSING, "maxSuppression": 0.9}, record=tmp_path / "r.json")
    again = {"record": tmp_path / "r.json", "write": True}
    assert certify_output(path, asking(**SUPPRESSING), **again).holds


def test_clear_text_is_no_pseudonym_and_no_mark_whatever_lies_beside_it(tmp_path):
    path = made(tmp_path, OPEN)
    (tmp_path / "out/certificate.jsonld").unlink()
    for hidden in ("pseudonymize", "redact"):
        parts = {**PLAIN, hidden: ["name"]}
        with pytest.raises(CertificateError, match="V002 The column 'name' must hold"):
            certify_output(path, asking(**parts))


def test_a_range_is_no_mean(tmp_path):
    path = made(tmp_path, by("range"))
    (tmp_path / "out/certificate.jsonld").unlink()
    for way in ("mean", "median", "mode"):
        with pytest.raises(
            CertificateError, match=f"V002 .*'age' holds a cell that is not a {way}"
        ):
            certify_output(path, asking(**by(way)))


def test_what_was_made_from_other_data_or_for_another_policy_is_not_renewed(tmp_path):
    path, asked = made(tmp_path, OPEN), asking(**OPEN)
    other = asked.replace('"http://x.org/policy"', '"http://x.org/other"')
    assert certify_output(path, other).holds
    with pytest.raises(CertificateError, match=r"V014 It was made for the policy http://x.org/p"):
        certify_output(path, other, write=True)
    elsewhere = asked.replace("http://x.org/People", "http://x.org/Folk")
    with pytest.raises(CertificateError, match=r"V014 It was made from http://x.org/People"):
        certify_output(path, elsewhere)


def test_what_was_not_anonymised_is_told_where_its_policy_asks_for_it_now():
    asked = read_policy(asking(**OPEN))
    plan = make_plan(asked)
    steps = tuple(one for one in plan.steps if one.step != "anonymize")
    before = certified(asked, plan=plan.model_copy(update={"steps": steps}))
    with pytest.raises(CertificateError) as told:
        check_making(before, plan, None, "out.csv", renews=False)
    [problem] = told.value.problems
    assert (problem.code, problem.message) == ("V014", "It was not anonymised.")


def test_a_certificate_that_is_not_there_is_not_renewed(people, tmp_path):
    (tmp_path / "p.jsonld").write_text(people_policy())
    path = apply_policy(
        tmp_path / "p.jsonld", {DATASET: people / "people.csv"}, tmp_path / "out"
    ).path
    path.write_text(path.read_text() + path.read_text().splitlines()[1] + "\n")
    (path.parent / "certificate.jsonld").unlink()
    with pytest.raises(DataError, match=r"C002 There is no certificate beside .* to renew"):
        certify_output(path, tmp_path / "p.jsonld", write=True)
    asked = ["certify", str(path), "--policy", str(tmp_path / "p.jsonld"), "--write"]
    done = CliRunner().invoke(app, asked)
    assert (done.exception.code, done.exception.exit_code) == ("C002", 2)
    assert not (path.parent / "certificate.jsonld").exists()


@pytest.fixture
def unmade(tmp_path):
    """Return the policy, an output that holds it and that nobody made, and what certify gives."""
    rows = [f"{'0' * 63}{n},[20 - 30],1,{ill}" for n, ill in enumerate(("flu", "cold", "flu"))]
    path = tmp_path / "fake/anonPeople.csv"
    path.parent.mkdir()
    path.write_text("\n".join(("name,age,zip,ill", *rows, "")))
    (tmp_path / "p.jsonld").write_text(asking(**HIDDEN))
    return tmp_path / "p.jsonld", path, certify_output(path, tmp_path / "p.jsonld")


def decided(source, *certificates, target=OUTPUT):
    asked = Request(
        assignee=ANALYST, action=READ, targets=(target,), purpose=expand_term("marketing")
    )
    return decide_request([source], certificates, asked)


def test_what_was_measured_and_not_made_is_read_by_nobody(unmade):
    source, path, found = unmade
    assert found.holds
    assert not found.tells_making
    denied = decided(source, found)
    assert not denied.permitted
    assert "does not say how it was made" in denied.reason
    assert "policy-engine apply" in denied.reason
    given = {"data": {OUTPUT: path}, "purpose": "marketing", "certificates": [found]}
    result = query_data("SELECT ill FROM anonPeople", [source], ANALYST, **given)
    assert (result.permitted, result.table) == (False, None)


def test_a_copy_is_not_certified_as_made_for_another_policy(tmp_path):
    asked = asking(**OPEN)
    path = made(tmp_path, OPEN)
    (tmp_path / "out/certificate.jsonld").unlink()
    mine = asked.replace("http://x.org/policy", "http://x.org/mine").replace("People", "Folk")
    assert not decided(mine, certify_output(path, mine), target="http://x.org/anonFolk").permitted


def test_what_is_not_renewed_for_a_policy_is_not_certified_as_made_for_it(tmp_path):
    path, asked = made(tmp_path, OPEN), asking(**OPEN)
    other = asked.replace('"http://x.org/policy"', '"http://x.org/other"')
    assert decided(asked, certify_output(path, asked)).permitted
    found = certify_output(path, other)
    assert found.holds
    assert not decided(other, found).permitted


def test_what_was_measured_alone_is_not_renewed_and_is_no_certificate_of_an_input(unmade):
    source, path, found = unmade
    (path.parent / "certificate.jsonld").write_text(found.to_jsonld())
    assert certify_output(path, source).made_by is None
    with pytest.raises(CertificateError, match="V016 Its certificate does not say how"):
        certify_output(path, source, write=True)
    assert load_certificate(path.parent) == found
    action = anonymize(method="k-anonymity", k=2, quasi=["zip"], insensitive=["ill"])
    rule = permission(action=action, target=OUTPUT, output="http://x.org/again")
    again = policy([rule], uid="http://x.org/second").replace(f"{DATASET}/", f"{OUTPUT}/")
    with pytest.raises(CertificateError, match="V016 The input is"):
        apply_policy(again, {OUTPUT: path})


def test_a_certificate_says_whether_its_making_is_known(unmade):
    source, path, found = unmade
    text = found.to_jsonld()
    assert '"made_by": null' in text
    assert read_certificate(text) == found
    with pytest.raises(CertificateError, match="V005"):
        read_certificate(text.replace('    "made_by": null,\n', ""))
    done = CliRunner().invoke(app, ["certify", str(path), "--policy", str(source)])
    assert done.exit_code == 0
    assert "not known, measured alone" in done.stdout
    assert "by this certificate nobody may read it" in done.stdout


# -- every change, told whole ---------------------------------------------------------------------

AGES = [column("age", generalization="interval", fanout=5)]
OTHER = "http://x.org/Other"


def certificate_of(parts, dataset=DATASET, **more):
    return certified(read_policy(policy_of(parts, dataset, **more)))


def policy_of(parts, dataset=DATASET, output=OUTPUT, uid="http://x.org/policy", keys=()):
    """Return the policy of an action on a dataset, or on two that are joined by the name."""
    target = [dataset, OTHER] if keys else dataset
    rule = permission(action=anonymize(**parts), target=target, output=output)
    text = policy([rule], uid=uid).replace(f"{DATASET}/", f"{dataset}/")
    for key in keys:
        text = text.replace(f'"{dataset}/{key}"', f'"{dataset}/{key}", "{OTHER}/{key}"')
    return text


def changes(before, now, record=None, *, renews=False):
    """Return what is told of a release that was made as one policy says, by another."""
    found = []
    try:
        check_making(before, make_plan(read_policy(now)), record, "out.csv", renews=renews)
    except CertificateError as error:
        found = [(error.source, one.code, one.message, one.hint) for one in error.problems]
    said = ("out.csv", "V014", "Make the release again: policy-engine apply.")
    assert all((source, code, hint) == said for source, code, _, hint in found)
    return [message for _, _, message, _ in found]


@pytest.mark.parametrize(
    ("before", "now", "told"),
    [
        (PLAIN, PLAIN, []),
        (PLAIN, {**PLAIN, "k": 2}, []),
        (OPEN, HIDDEN, ["The column 'name' has no pseudonyms."]),
        (HIDDEN, OPEN, []),
        (
            HIDDEN,
            {**HIDDEN, "pseudonymScope": "all"},
            ["Its pseudonyms have their own scope, but the policy asks for the scope 'all'."],
        ),
        (
            {**HIDDEN, "pseudonymScope": "all"},
            {**HIDDEN, "pseudonymScope": "one"},
            [("Its pseudonyms have the scope 'all', but the policy asks for the scope 'one'.")],
        ),
        ({**HIDDEN, "pseudonymScope": "all"}, {**HIDDEN, "pseudonymScope": "all"}, []),
        (
            HIDDEN,
            {**PLAIN, "quasi": ["age", "name"]},
            ["The column 'name' was masked, but the policy takes its cells for values."],
        ),
        (
            {**PLAIN, "redact": ["name"]},
            {**PLAIN, "quasi": ["age", "name"]},
            ["The column 'name' was masked, but the policy takes its cells for values."],
        ),
        (
            PLAIN,
            {**PLAIN, "quasi": AGES},
            [
                (
                    "The column 'age' was generalised by its type, but the policy asks for "
                    "interval (fanout 5)."
                )
            ],
        ),
        (
            {**PLAIN, "quasi": [column("age", generalization="mean")]},
            PLAIN,
            ["The column 'age' was generalised by mean, but the policy asks for its type."],
        ),
        (
            {**PLAIN, "quasi": [column("age", generalization="interval", fanout=5, precision=10)]},
            {**PLAIN, "quasi": [column("age", generalization="interval", weight=2)]},
            [
                (
                    "The column 'age' was generalised by interval (fanout 5, precision 10.0), but "
                    "the policy asks for interval."
                ),
            ],
        ),
        (
            {**PLAIN, "quasi": [column("age", generalization="set", order="frequency")]},
            {**PLAIN, "quasi": AGES},
            [
                (
                    "The column 'age' was generalised by set, but the policy asks for interval "
                    "(fanout 5)."
                )
            ],
        ),
        (PLAIN, {**PLAIN, "quasi": [column("age", generalization="set")]}, []),
        ({**PLAIN, "quasi": [column("age", generalization="range")]}, PLAIN, []),
        (
            {**PLAIN, "quasi": [column("age", order="frequency")]},
            {**PLAIN, "quasi": [column("age", weight=2)]},
            [],
        ),
        (
            {**PLAIN, "quasi": ["age", "zip"], "insensitive": ["ill"]},
            PLAIN,
            ["The column 'zip' was generalised, but the policy takes its cells for values."],
        ),
        (
            {**PLAIN, "quasi": ["age", "zip"], "insensitive": ["ill"]},
            {**PLAIN, "insensitive": ["ill"]},
            [],
        ),
        (PLAIN, {**PLAIN, "quasi": ["age", "zip"], "insensitive": ["ill"]}, []),
        (
            {**SUPPRESSING, "maxSuppression": 0.5},
            SUPPRESSING,
            [
                (
                    "Up to 0.5 of all rows may be suppressed, but the policy allows 0. Only its "
                    "record says how many were."
                )
            ],
        ),
        (
            {**SUPPRESSING, "maxSuppression": 0.5},
            {**SUPPRESSING, "maxSuppression": 0.5},
            [],
        ),
        (
            {**MASKED, "insensitive": ["zip", "ill"]},
            {**MASKED, "masked": [TENS]},
            [
                (
                    "The column 'zip' was made with no masking, but the policy asks for rounding, "
                    "base 10."
                )
            ],
        ),
        ({**MASKED, "masked": [TENS]}, {**MASKED, "masked": [TENS]}, []),
        ({**MASKED, "masked": [TENS]}, MASKED, []),
        (MASKED, {**MASKED, "masked": [TENS]}, []),
        (
            {**OPEN, "quasi": AGES},
            {**HIDDEN, "quasi": ["age"]},
            [
                (
                    "The column 'age' was generalised by interval (fanout 5), but the policy asks "
                    "for its type."
                ),
                "The column 'name' has no pseudonyms.",
            ],
        ),
    ],
    ids=range(26),
)
def test_every_change_of_what_the_cells_mean_is_told(before, now, told):
    assert changes(certificate_of(before), policy_of(now)) == told


def test_an_output_of_another_asset_or_policy_or_from_other_data_is_told():
    made = certificate_of(PLAIN)
    again = "http://x.org/again"
    named = f"It is certified as {OUTPUT}, but the policy makes {again}."
    assert changes(made, policy_of(PLAIN, output=again)) == [named]
    read = f"It was made from {DATASET}, but the policy reads {OTHER}."
    assert changes(made, policy_of(PLAIN, OTHER)) == [read]
    mine = policy_of(PLAIN, uid="http://x.org/mine")
    issued = (
        "It was made for the policy http://x.org/policy, but the given policy is http://x.org/mine."
    )
    assert changes(made, mine) == []
    assert changes(made, mine, renews=True) == [issued]


def test_inputs_are_joined_as_they_were():
    joined = {**PLAIN, "joinOn": ["name"]}
    made = certificate_of(joined, keys=["name"])
    assert changes(made, policy_of(joined, keys=["name"])) == []
    read = f"It was made from {OTHER} and {DATASET}, but the policy reads {DATASET}."
    assert changes(made, policy_of(PLAIN)) == [read]
    other = {**PLAIN, "joinOn": ["pid"]}
    told = ["Its inputs were not joined in the way that the policy asks for."]
    assert changes(made, policy_of(other, keys=["pid"])) == told


class Rows:
    """What a record says of the rows of a release."""

    def __init__(self, rows, suppressed, **cells):
        self.rows_used, self.suppressed = rows, suppressed
        self.suppressed_cells = cells


@pytest.mark.parametrize(
    ("suppressed", "told"),
    [(0, []), (2, []), (3, ["3 rows were suppressed, but the policy allows 0.2 of all rows."])],
)
def test_the_record_says_how_many_rows_were_left_out(suppressed, told):
    made = certificate_of({**SUPPRESSING, "maxSuppression": 0.9})
    asked = policy_of({**SUPPRESSING, "maxSuppression": 0.2})
    assert changes(made, asked, Rows(10, suppressed)) == told


def capped(*shares):
    """Return an action that suppresses cells of age and zip, of each a share at most."""
    pairs = zip(("age", "zip"), shares, strict=True)
    quasi = [column(name, maxSuppression=one) if one else name for name, one in pairs]
    return {**PLAIN, "algorithm": "local-suppression", "quasi": quasi, "insensitive": ["ill"]}


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        ({}, []),
        ({"age": 10, "zip": 2}, []),
        ({"zip": 3}, ["3 cells of 'zip' were suppressed, but the policy allows 0.2 of all."]),
    ],
)
def test_the_record_says_how_many_cells_were_suppressed(cells, told):
    for before in (capped(None, None), capped(None, 0.9)):
        made, asked = certificate_of(before), policy_of(capped(None, 0.2))
        assert changes(made, asked, Rows(10, 0, **cells)) == told


@pytest.mark.parametrize(
    ("before", "told"),
    [
        (0.2, []),
        (0.1, []),
        (0.5, ["Up to 0.5 of the cells of 'zip' may be suppressed, but the policy allows 0.2."]),
        (None, ["Up to 1 of the cells of 'zip' may be suppressed, but the policy allows 0.2."]),
    ],
)
def test_without_the_record_as_many_cells_may_be_suppressed_as_were_allowed(before, told):
    made, asked = certificate_of(capped(None, before)), policy_of(capped(None, 0.2))
    found = [f"{one} Only its record says how many were." for one in told]
    assert changes(made, asked) == found
    assert changes(made, policy_of(capped(None, None))) == []


def test_what_does_not_tell_its_making_is_asked_nothing_unless_it_is_renewed():
    made = certificate_of(PLAIN).model_copy(update={"made_by": None})
    plan = make_plan(read_policy(policy_of(HIDDEN, OTHER)))
    check_making(made, plan, None, "out.csv", renews=False)
    with pytest.raises(CertificateError) as told:
        check_making(made, plan, None, "out.csv", renews=True)
    message = "Its certificate does not say how it was made: the output was only measured."
    hint = "Make it with policy-engine apply, or give the certificate it was published with."
    assert told.value.problems == (Problem("V016", message, hint),)
    assert told.value.source == "out.csv"


def test_who_made_an_output_is_known_for_its_policy_and_with_its_record():
    made, plan = certificate_of(PLAIN), make_plan(read_policy(policy_of(PLAIN)))
    other = make_plan(read_policy(policy_of(PLAIN, uid="http://x.org/mine")))
    audited = make_plan(read_policy(of_table()))
    record = Rows(10, 0)
    assert is_renewable(made, plan, None)
    assert not is_renewable(made, other, record)
    assert not is_renewable(made.model_copy(update={"made_by": None}), plan, record)
    assert is_renewable(made, audited, record)
    assert not is_renewable(made, audited, None)


def test_what_is_wrong_with_an_output_that_was_changed_is_told_with_that():
    made = certificate_of(PLAIN)
    same, other = StoredData("a.csv", made.output_digest), StoredData("a.csv", "0" * 64)
    short = CertificateError.of("V001", "k is 1.")
    assert with_change(short, None, other) is short
    assert with_change(short, made, same) is short
    both = with_change(short, made, other)
    assert [one.code for one in both.problems] == ["V001", "V004"]
    assert both.source == "a.csv"
    sourced = CertificateError.of("V001", "k is 1.", "", "b.csv")
    assert with_change(sourced, made, other).source == "b.csv"
    changed = CertificateError.of("V004", "It was changed.")
    assert with_change(changed, made, other) is changed
