"""Several datasets are joined before they are anonymised, and the release says so."""

import json

import pytest
from building import permission, policy
from everyday import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from matched import (
    ANN,
    CLAIMS,
    CLAIMS_TEXT,
    EX,
    MATCHED,
    UNIVERSITY,
    VISITS,
    VISITS_TEXT,
    matching,
    nested_loop,
    rows,
    tables,
)
from truth import is_true

from policy_engine import (
    apply_policy,
    certify_output,
    compare_release,
    decide_request,
    explore_policy,
    plan_policy,
    read_request,
)
from policy_engine.certificate.beside import load_certificate
from policy_engine.certificate.record import load_record
from policy_engine.errors import CertificateError, DataError, PlanError
from policy_engine.plan.plan import Plan


def released(folder, source=None, **parts):
    given = parts.pop("data", None) or tables(folder)
    return apply_policy(source or matching(), given, folder / "out" / "m.csv", **parts)


def test_six_persons_of_both_tables_are_in_the_release(tmp_path):
    release = released(tmp_path)
    assert rows(release.path.read_text()) == rows(
        "Zip,Amount,Age,Diagnosis\n"
        "[20123 - 20124],30,[20 - 21],cold\n"
        "[20123 - 20124],40,[20 - 21],flu\n"
        "[20121 - 20122],10,[40 - 41],cold\n"
        "[20121 - 20122],20,[40 - 41],flu\n"
        "[20126 - 20127],60,[60 - 62],cold\n"
        "[20126 - 20127],70,[60 - 62],flu\n"
    )


def test_the_plan_says_what_is_joined_on_and_left_out(tmp_path):
    plan = plan_policy(matching(), tables(tmp_path))
    assert plan.assets == (CLAIMS, VISITS)
    assert [(one.on, one.columns) for one in plan.join.inputs] == [
        ("Insured", ("Zip", "Amount")),
        ("Patient", ("Age", "Diagnosis")),
    ]
    assert plan.drop.identifiers == ("Insured", "Patient")
    assert plan.drop.unmentioned == (f"{CLAIMS}/Agent", f"{VISITS}/Name")
    assert Plan.model_validate_json(plan.model_dump_json()) == plan
    swapped = matching(target=[CLAIMS, VISITS])
    assert plan_policy(swapped, tables(tmp_path)).steps == plan.steps


def test_a_plan_whose_inputs_are_not_those_of_its_join_is_none(tmp_path):
    told = json.loads(plan_policy(matching(), tables(tmp_path)).model_dump_json())
    told["steps"][2]["inputs"][0]["on"] = "Zip"
    with pytest.raises(ValueError, match="inputs of the join"):
        Plan.model_validate(told)


def test_the_record_holds_each_input_and_the_certificate_names_them(tmp_path):
    record = tmp_path / "record.json"
    release = released(tmp_path, record=record)
    found = load_record(record)
    assert [(one.asset, one.rows, one.unmentioned) for one in found.inputs] == [
        (CLAIMS, 8, ("Agent",)),
        (VISITS, 7, ("Name",)),
    ]
    assert (found.rows_in, release.certificate.rows_out) == (6, 6)
    told = json.loads(release.certificate.to_jsonld())
    assert told["prov:wasDerivedFrom"] == [{"@id": CLAIMS}, {"@id": VISITS}]
    assert "Claims/Agent" not in release.certificate.to_jsonld()
    assert load_certificate(release.path.parent) == release.certificate


def test_certify_measures_it_again_and_knows_its_inputs(tmp_path):
    record, data = tmp_path / "record.json", tables(tmp_path)
    out = released(tmp_path, record=record).path
    assert certify_output(out, matching(), data=data, record=record).holds
    data[VISITS].write_text(VISITS_TEXT.replace("Eve", "Eva"))
    with pytest.raises(CertificateError, match=r"V009 .*visits.csv"):
        certify_output(out, matching(), data=data, record=record)


def test_other_bounds_can_be_explored_and_no_original_compared(tmp_path):
    data = tables(tmp_path)
    runs = explore_policy(matching(), data, {"k": [2, 3]})
    assert [run.outcome.classes for run in runs] == [3, 2]
    out = released(tmp_path).path
    with pytest.raises(PlanError, match=r"M016 .*joined"):
        compare_release(data[VISITS], out)


@settings(max_examples=examples(8), deadline=None)
@given(st.randoms(use_true_random=False))
def test_rows_in_any_order_give_the_same_bytes(tmp_path_factory, random):
    def shuffled(text):
        head, *lines = text.splitlines()
        random.shuffle(lines)
        return "\n".join([head, *lines, ""])

    folder = tmp_path_factory.mktemp("shuffled")
    plain = released(tmp_path_factory.mktemp("plain")).path.read_bytes()
    given = tables(folder, shuffled(VISITS_TEXT), shuffled(CLAIMS_TEXT))
    assert released(folder, data=given).path.read_bytes() == plain


person = st.tuples(st.sampled_from(["", "1", "2", "3", "4", "5", "6"]), st.integers(20, 23))
ages = st.lists(person, min_size=1, max_size=7, unique_by=lambda one: one[0] or object())


@settings(max_examples=examples(25), deadline=None)
@given(ages, ages)
def test_a_release_is_true_of_the_rows_that_a_nested_loop_joins(tmp_path_factory, some, others):
    folder = tmp_path_factory.mktemp("joined")
    visits = "Patient,Age,Diagnosis\n" + "".join(f"{k},{a},d{k}\n" for k, a in some)
    claims = "Insured,Zip,Amount\n" + "".join(f"{k},{a},{k}\n" for k, a in others)
    pairs = nested_loop(rows(visits), rows(claims), ("Patient", "Insured"))
    source = matching(method="k-anonymity", l=None)
    data = tables(folder, visits, claims)
    if len(pairs) < 2:
        with pytest.raises(DataError, match="R002" if pairs else "R001"):
            released(folder, source, data=data)
        return
    release = released(folder, source, data=data)
    made = {row["Amount"]: row for row in rows(release.path.read_text())}
    assert sorted(made) == sorted(other["Amount"] for _, other in pairs)
    for one, other in pairs:
        row = made[other["Amount"]]
        assert row["Diagnosis"] == one["Diagnosis"]
        for name, value in (("Age", one["Age"]), ("Zip", other["Zip"])):
            assert is_true(row[name], value, {}, [value])
    classes = [(row["Age"], row["Zip"]) for row in made.values()]
    assert min(map(classes.count, classes)) >= 2


AGAIN = VISITS_TEXT + "1,Ann,22,cold\n"
COUNTED = {"privacyUnit": f"{VISITS}/Patient"}


def test_a_key_in_several_rows_is_refused_unless_persons_are_counted(tmp_path):
    data = tables(tmp_path, AGAIN)
    with pytest.raises(DataError, match=r"R012 .*Visits has several rows for 1 of the keys"):
        released(tmp_path, data=data)
    with pytest.raises(DataError, match="R012"):
        released(tmp_path, matching(privacyUnit=f"{VISITS}/Name"), data=data)
    release = released(tmp_path, matching(**COUNTED), data=data)
    assert release.certificate.rows_out == 7
    # Seven rows of six persons: Ann's two count once, so two persons are in every class.
    classes = [(row["Age"], row["Zip"]) for row in rows(release.path.read_text())]
    assert max(map(classes.count, classes)) >= 3
    assert not (tmp_path / "out" / ".policy-engine.lock").exists()


def test_keys_in_several_rows_of_both_tables_are_refused(tmp_path):
    data = tables(tmp_path, AGAIN, CLAIMS_TEXT + "2,20128,80,q\n")
    with pytest.raises(DataError, match=r"R012 .*Claims .* and so has .*Visits"):
        released(tmp_path, matching(**COUNTED), data=data)


def test_rows_without_a_partner_or_a_key_are_left_out_though_they_repeat(tmp_path):
    data = tables(tmp_path, VISITS_TEXT + "8,Gus,70,flu\n8,Gus,71,flu\n,Hal,72,flu\n")
    assert released(tmp_path, data=data).certificate.rows_out == 6


def test_tables_without_a_common_key_are_refused(tmp_path):
    claims = CLAIMS_TEXT.replace("\n", "\n00").removesuffix("00")
    with pytest.raises(DataError, match=r"R001 No key is in all of"):
        released(tmp_path, data=tables(tmp_path, claims=claims))


@pytest.mark.parametrize(
    ("role", "told"),
    [("identifier", None), ("redact", "REDACTED"), ("insensitive", "1")],
)
def test_a_key_is_released_in_the_role_that_it_is_given_alone(tmp_path, role, told):
    release = released(tmp_path, matching(**{role: [f"{VISITS}/Patient"]}))
    found = {row.get("Patient") for row in rows(release.path.read_text())}
    assert found == {None} if told is None else told in found or len(found) == 1
    assert all("Insured" not in row for row in rows(release.path.read_text()))


@pytest.mark.parametrize(
    ("some", "others", "is_told"),
    [
        ("identifier", "insensitive", True),
        ("privacyUnit", "insensitive", True),
        ("pseudonymize", "insensitive", True),
        ("identifier", "pseudonymize", True),
        ("identifier", "redact", False),
        ("privacyUnit", "identifier", False),
        ("insensitive", "insensitive", False),
    ],
)
def test_keys_that_are_joined_have_one_role(some, others, is_told):
    one, other = f"{VISITS}/Patient", f"{CLAIMS}/Insured"
    roles = {others: [other], some: one if some == "privacyUnit" else [one]}
    roles |= {some: [one, other]} if some == others else {}
    try:
        plan_policy(matching(**roles))
    except PlanError as error:
        found = [one.message for one in error.problems if one.code == "M016"]
    else:
        found = []
    assert any("what one of them tells, both do" in one for one in found) == is_told


def keyed(setting, **parameters):
    """Return how both keys are masked: the first by the parameters, the second by a setting."""
    one, other = f"{VISITS}/Patient", f"{CLAIMS}/Insured"
    first = {"@id": one, **{f"pe:{name}": value for name, value in parameters.items()}}
    return [first, {"@id": other, **{f"pe:{name}": value for name, value in setting.items()}}]


@pytest.mark.parametrize(
    ("first", "second", "is_told"),
    [
        # What is not above 100 is told by the one, and what is not below it by the other.
        (
            {"masking": "top-coding", "threshold": 100},
            {"masking": "bottom-coding", "threshold": 100},
            True,
        ),
        ({"masking": "rounding", "base": 10}, {"masking": "rounding", "base": 7}, True),
        ({"masking": "rounding", "base": 10}, {"masking": "rounding", "base": "1e1"}, False),
        ({"masking": "rounding", "base": 0.5}, {"masking": "rounding", "base": "0.50"}, False),
    ],
)
def test_keys_that_are_joined_have_one_masking(first, second, is_told):
    source = matching(masked=keyed(second, **first))
    if not is_told:
        assert len(plan_policy(source).mask.columns) == 2
        return
    with pytest.raises(PlanError, match=r"masked otherwise .*what one of them tells") as caught:
        plan_policy(source)
    assert [one.code for one in caught.value.problems] == ["M016"]


@pytest.mark.parametrize(
    "masking",
    [
        {"masking": "noise", "sdShare": 0.5},
        {"masking": "rank-swapping", "p": 0.1},
        {"masking": "random-rounding", "base": 10},
    ],
    ids=lambda one: one["masking"],
)
def test_keys_that_are_joined_are_not_both_drawn_at_random(masking):
    """The mean of two draws is nearer to the value than either."""
    with pytest.raises(
        PlanError, match=r"M016 .* each by draws of its own. Rows are joined on both"
    ):
        plan_policy(matching(masked=keyed(masking, **masking)))
    assert plan_policy(matching(masked=keyed(masking, **masking)[:1])).mask


def test_identifiers_of_one_name_in_both_tables_are_left_out(tmp_path):
    visits, claims = VISITS_TEXT, CLAIMS_TEXT.replace("Agent", "Name")
    both = [f"{VISITS}/Name", f"{CLAIMS}/Name"]
    data = tables(tmp_path, visits, claims)
    release = released(tmp_path, matching(identifier=both), data=data)
    assert release.plan.drop.identifiers == ("Name", "Insured", "Patient")
    kept = matching(identifier=both[:1], insensitive=both[1:])
    assert "Name" in released(tmp_path, kept, data=data, overwrite=True).plan.publish.columns


SAFE = f"{EX}Safe"


@pytest.fixture
def safe(tmp_path):
    """A release of visits by age, with the data of all that is joined, and the folder of both."""
    first = matching(
        uid="first",
        target=[VISITS],
        output=SAFE,
        method="k-anonymity",
        l=None,
        joinOn=None,
        sensitive=None,
        quasi=[f"{VISITS}/Age"],
        insensitive=[f"{VISITS}/Patient", f"{VISITS}/Diagnosis"],
    )
    data = tables(tmp_path)
    made = apply_policy(first, {VISITS: data.pop(VISITS)}, tmp_path / "safe" / "s.csv")
    return {SAFE: made.path, **data}


def of_safe(**parts):
    """Return the policy that joins the release of visits with claims."""
    source = matching(**{"quasi": [f"{CLAIMS}/Zip"], **parts})
    return json.loads(json.dumps(source).replace(VISITS, SAFE))


def test_a_release_that_is_joined_is_known_by_its_certificate(safe, tmp_path):
    release = apply_policy(of_safe(), safe, tmp_path / "again" / "a.csv")
    [told] = release.certificate.upstream
    assert (told.asset, [one.name for one in told.generalised]) == (SAFE, ["Age"])
    told = json.loads(release.certificate.to_jsonld())["prov:wasDerivedFrom"]
    assert [(one["@id"], "pe:sha256" in one) for one in told] == [(SAFE, True), (CLAIMS, False)]
    head, *lines = safe[SAFE].read_text().splitlines()
    safe[SAFE].write_text("\n".join([head, *lines[1:], ""]))
    with pytest.raises(CertificateError, match="V013"):
        apply_policy(of_safe(), safe, tmp_path / "none")


@pytest.mark.parametrize(
    ("parts", "use", "advice"),
    [
        (
            {"quasi": [f"{VISITS}/Age"]},
            "generalised again",
            "anew, leave the column out, or redact",
        ),
        ({"joinOn": [f"{VISITS}/Age", f"{CLAIMS}/Insured"]}, "joined on", "made from anew"),
        ({"insensitive": [f"{VISITS}/Age"]}, "released beside the columns of another", "redact it"),
    ],
)
def test_what_a_release_generalised_is_no_value_of_a_join(safe, tmp_path, parts, use, advice):
    with pytest.raises(PlanError, match=f"M015 .*'Age' .*{use}") as caught:
        apply_policy(of_safe(**parts), safe, tmp_path / "none")
    hints = [one.hint for one in caught.value.problems if use in one.message]
    assert [advice in hint for hint in hints] == [True]
    assert "insensitive" not in hints[0]


@pytest.mark.parametrize("role", ["redact", "identifier", "pseudonymize"])
def test_what_a_release_generalised_is_left_out_redacted_or_pseudonymised_in_a_join(safe, role):
    assert "Age" in str(plan_policy(of_safe(**{role: [f"{VISITS}/Age"]}), safe).steps)


def test_a_name_that_another_release_generalised_is_a_value_here(safe, tmp_path):
    claims = CLAIMS_TEXT.replace("Zip", "Age")
    safe[CLAIMS].write_text(claims)
    source = of_safe(quasi=[f"{CLAIMS}/Age"])
    assert apply_policy(source, safe, tmp_path / "again").certificate.holds


# -- who may read it ------------------------------------------------------------------------------


def reads(release, *rules, who=ANN, what=(MATCHED,), sources=None, **parts):
    rest = [json.loads(policy(rules, uid=f"{EX}rest"))] if rules else []
    request = read_request(who, "read", list(what))
    given = [*(sources or [matching()]), *rest]
    return decide_request(given, [release.certificate], request, **parts)


def lets(target, who=ANN, uid="lets"):
    return permission(uid=f"{EX}{uid}", assignee=who, target=target, action="read", purpose=None)


def test_it_is_read_by_its_assignee_and_by_who_may_read_all_inputs_together(tmp_path):
    release = released(tmp_path)
    assert reads(release, who=UNIVERSITY).permitted
    assert not reads(release).permitted
    for some in ([lets(VISITS)], [lets(VISITS), lets(CLAIMS, uid="too")]):
        assert not reads(release, *some).permitted
    assert reads(release, lets([VISITS, CLAIMS])).permitted
    columns = [f"{VISITS}/{name}" for name in ("Age", "Diagnosis", "Patient")]
    columns += [f"{CLAIMS}/{name}" for name in ("Zip", "Amount")]
    assert not reads(release, lets(columns)).permitted
    assert reads(release, lets([*columns, f"{CLAIMS}/Insured"])).permitted


def test_it_is_not_read_side_by_side_with_either_input(tmp_path):
    release = released(tmp_path)
    every = lets([VISITS, CLAIMS, MATCHED])
    assert reads(release, every).permitted
    for source in (VISITS, CLAIMS):
        assert "pe:jointly" in reads(release, every, what=[MATCHED, source]).reason
