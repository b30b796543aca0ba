from pathlib import Path

from policy_engine import terms
from policy_engine.methods.output_checks.parameters import THRESHOLDS, OutputCheck
from policy_engine.methods.output_checks.profile import OutputProfile
from policy_engine.methods.output_checks.profiles import PROFILES

PAGE = Path(__file__).parents[3] / "docs" / "output-checking.md"
COLUMNS = ("dwb-2015", "sacro", "abs", "bundesbank", "iab", "statcan", "fsrdc")
PUBLISHED = {
    "minUnits": (10, 10, 10, 5, 20, 5, 3),
    "maxGroupShare": (0.9, None, None, None, None, None, None),
    "maxModeShare": (0.9, 1.0, None, None, None, None, None),
    "maxLargestShare": (0.5, None, 0.5, None, None, None, None),
    "maxTwoLargestShare": (None, 0.9, 0.67, 0.85, None, None, None),
    "pPercent": (None, 0.1, None, None, None, None, None),
    "minDegreesOfFreedom": (10, 10, None, None, None, None, None),
    "unitsBeyondPercentile": (None, 10, None, None, None, None, 5),
    "percentileLadder": (
        *(None, None, None, None),
        "0.5:20 0.25:40 0.1:80 0.05:200 0.01:400",
        "0.1:20 0.01:400",
        "0.01:11",
    ),
    "zerosDisclosive": (False, True, False, False, False, False, False),
    "roundBase": (None, 5, None, None, None, None, None),
    "significantDigits": (None, None, None, None, None, None, 4),
}
"""The thresholds of the profiles, in the order of the columns: those of the institutions' rules."""


def test_profiles_are_those_of_the_vocabulary():
    known = terms.instances(f"{terms.PE}OutputProfile").values()
    assert sorted(str(one.facts["notation"]) for one in known) == sorted(PROFILES)


def test_every_profile_says_where_it_comes_from():
    assert all(one.source and one.version for one in PROFILES.values())


def test_thresholds_are_those_that_are_published():
    facts = {name: OutputCheck(profile=PROFILES[name]).facts() for name in COLUMNS}
    found = {term: tuple(facts[name].get(term) for name in COLUMNS) for term in THRESHOLDS}
    assert found == PUBLISHED


def test_every_field_of_a_profile_is_a_threshold_or_says_what_it_is():
    words = {"notation", "version", "source"}
    assert {*OutputProfile.model_fields} == {*THRESHOLDS.values(), *words}


def test_page_for_owners_has_every_threshold_of_every_profile():
    lines = [[one.strip(" `") for one in line.split("|")[1:-1]] for line in _table()]
    assert tuple(lines[0]) == ("term", *COLUMNS)
    told = {name.removeprefix("pe:"): tuple(values) for name, *values in lines[2:]}
    assert told == {term: tuple(map(_written, values)) for term, values in PUBLISHED.items()}


def _table():
    rest = PAGE.read_text().split("| term | `dwb-2015`", 1)[1].split("\n\n", 1)[0]
    return f"| term | `dwb-2015`{rest}".splitlines()


def _written(value):
    return "" if value is None else str(value).lower()
