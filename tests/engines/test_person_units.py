import pyarrow as pa

from policy_engine.engines.column_evidence import gather_evidence
from policy_engine.engines.column_roles import Telling
from policy_engine.engines.person_units import UnitCandidate, are_rows_repeated, person_unit

TABLE = pa.table(
    {
        "key": [n % 50 for n in range(500)],
        "few": [n % 5 for n in range(500)],
        "row": list(range(500)),
        "age": [n % 50 for n in range(500)],
        "zip": [n % 50 * 3 for n in range(500)],
        "day": [n % 7 for n in range(500)],
    }
)
EVIDENCE = {name: gather_evidence(name, TABLE.column(name)) for name in TABLE.column_names}


def unit(**tellings):
    candidates = [UnitCandidate(EVIDENCE[name], telling) for name, telling in tellings.items()]
    return person_unit(TABLE, candidates, ["age", "zip", "day"])


def test_unit_repeats_and_has_the_most_values():
    assert unit(key=Telling.LIKELY, few=Telling.LIKELY, row=Telling.SURELY) == "key"
    assert unit(key=Telling.LIKELY, few=Telling.SURELY) == "few"
    assert unit(row=Telling.SURELY) is None


def test_unit_that_is_only_perhaps_one_has_the_same_known_values_in_all_its_rows():
    assert unit(key=Telling.PERHAPS) == "key"
    assert unit(few=Telling.PERHAPS) is None


def test_values_that_seldom_repeat_are_judged_by_those_that_do():
    titles = pa.table({"title": [n % 450 for n in range(500)], "a": range(500), "b": range(500)})
    candidate = UnitCandidate(gather_evidence("title", titles.column("title")), Telling.PERHAPS)
    assert person_unit(titles, [candidate], ["a", "b"]) is None


def test_rows_are_repeated_where_they_are_alike_more_often_than_by_chance():
    assert are_rows_repeated(TABLE, EVIDENCE, ["age", "zip"])
    assert not are_rows_repeated(TABLE, EVIDENCE, ["few", "day"])
    assert not are_rows_repeated(TABLE, EVIDENCE, ["row", "age"])
