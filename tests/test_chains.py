"""What is made of a release takes its cells for what they stand for, or is refused."""

import json

import pytest
from building import DATASET, OUTPUT, PEOPLE, anonymize, column, permission, policy

from policy_engine import apply_policy
from policy_engine.api import explore_policy, plan_policy
from policy_engine.certificate import load_certificate
from policy_engine.errors import PlanError

AGAIN, THRICE = "http://x.org/again", "http://x.org/thrice"


def step(target=DATASET, output=OUTPUT, method="k-anonymity", **roles):
    """Return a policy that anonymises a target, its columns named as those of the people."""
    bounds = {"k": 2} | ({"l": 2} if method == "l-diversity" else {})
    action = anonymize(method=method, **bounds, **roles)
    action = json.loads(json.dumps(action).replace(f"{DATASET}/", f"{target}/"))
    rule = permission(action=action, target=target, output=output)
    return policy([rule], uid=f"{output}#policy")


@pytest.fixture
def people(tmp_path):
    (tmp_path / "people.csv").write_text(PEOPLE)
    return tmp_path / "people.csv"


def released(people, name="one", target=DATASET, output=OUTPUT, cells="text", **roles):
    """Return what was made of a file, beside its certificate."""
    folder = people.parent / name
    return apply_policy(step(target, output, **roles), {target: people}, folder, cells=cells).path


FIRST = {"quasi": ["age", "city"], "insensitive": ["disease", "phone"]}


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        ({"quasi": ["age", "disease"]}, "'age' of .* was generalised: .* generalised again"),
        ({"quasi": ["disease"], "privacyUnit": "city"}, "'city' of .* taken for persons"),
        (
            {"quasi": ["disease"], "sensitive": ["city"], "method": "l-diversity"},
            "'city' of .* counted as values",
        ),
    ],
)
def test_generalised_columns_are_not_read_as_values(people, roles, message):
    made = released(people, **FIRST)
    again = step(OUTPUT, AGAIN, **roles)
    for done in (apply_policy, plan_policy, lambda *given: explore_policy(*given, {"k": (2,)})):
        with pytest.raises(PlanError, match=f"M015 The column {message}"):
            done(again, {OUTPUT: made})


@pytest.mark.parametrize(
    "roles",
    [
        {"quasi": ["disease"], "insensitive": ["age", "city"]},
        {"quasi": ["disease"], "identifier": ["age"], "redact": ["city"]},
        {"quasi": ["disease"], "sensitive": ["age"]},  # k-anonymity counts no sensitive values
        {"quasi": ["disease"], "sensitive": ["phone"], "method": "l-diversity"},
    ],
)
def test_what_a_release_kept_is_generalised_as_usual(people, roles):
    made = released(people, **FIRST)
    assert apply_policy(step(OUTPUT, AGAIN, **roles), {OUTPUT: made}).certificate.holds


def test_how_a_column_was_generalised_is_said(people):
    interval = [column("age", generalization="interval"), "city"]
    made = released(people, **{**FIRST, "quasi": interval})
    with pytest.raises(PlanError, match=r"'age' of .* was generalised by 'interval'"):
        apply_policy(step(OUTPUT, AGAIN, quasi=["age"]), {OUTPUT: made})


@pytest.mark.parametrize("end", ["age_low", "age_high"])
def test_the_ends_of_ranges_are_not_read_as_values(people, end):
    made = released(people, cells="bounds", **FIRST)
    with pytest.raises(PlanError, match=f"M015 The column '{end}'"):
        apply_policy(step(OUTPUT, AGAIN, quasi=[end]), {OUTPUT: made})


def test_representatives_are_values(people):
    made = released(people, **{**FIRST, "quasi": [column("age", generalization="mean"), "city"]})
    release = apply_policy(step(OUTPUT, AGAIN, quasi=["age"]), {OUTPUT: made})
    assert release.certificate.upstream[0].generalised[0].name == "city"


def test_what_was_generalised_stays_so_in_later_releases(people):
    made = released(people, **FIRST)
    again = released(made, "two", OUTPUT, AGAIN, quasi=["disease"], insensitive=["age", "city"])
    with pytest.raises(PlanError, match=r"'age' of .*again was generalised"):
        apply_policy(step(AGAIN, THRICE, quasi=["age"]), {AGAIN: again})
    [told] = load_certificate(again.parent).upstream
    assert [one.name for one in told.generalised] == ["age", "city"]
