"""Whatever a policy asks for: a coded refusal, or a release that holds when measured anew."""

import datetime as dt
import re
from collections import defaultdict
from dataclasses import dataclass
from typing import get_args

import pyarrow as pa
import pytest
from building import DATASET, OUTPUT, anonymize, column, permission, policy
from dense import MEASURES, holds, worst
from everyday import examples
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from policy_engine.api.applying import apply_policy
from policy_engine.certificate.certificate import read_certificate
from policy_engine.data.cells import read_cell, write_range
from policy_engine.data.taxonomy import Taxonomy
from policy_engine.errors import DataError
from policy_engine.methods.recoding import Loss
from policy_engine.plan.plan import Plan
from policy_engine.policy import read_policy

TREE = "http://x.org/tree"
WORDS = Taxonomy(
    ("*", "fruit", "apple", "pear", "stone fruit", "plum", "cherry", "root", "beet"),
    (-1, 0, 1, 1, 1, 4, 4, 0, 7),
)
KEY = b"0123456789abcdef0123456789abcdef"
LISTED = sorted(WORDS.codes)

# Columns by kind: how values are drawn, their type, and the settings that they bear.
KINDS = {
    "integers": (
        st.integers(-3, 9),
        pa.int64(),
        [
            {"generalization": "interval", "fanout": 3},
            {"generalization": "interval", "precision": 2.5},
            *({"generalization": name} for name in ("range", "set", "mean", "median", "mode")),
            {},
        ],
    ),
    "dates": (
        st.dates(dt.date(1999, 11, 20), dt.date(2001, 3, 1)),
        pa.date32(),
        [{}, {"generalization": "calendar"}, {"generalization": "median"}],
    ),
    "codes": (
        st.text("AB", min_size=3, max_size=3),
        pa.string(),
        [
            {"generalization": "prefix"},
            {"generalization": "prefix", "mask": "#"},
            {"generalization": "mode"},
            {"order": "frequency"},
            {},
        ],
    ),
    "words": (
        st.sampled_from(LISTED),
        pa.string(),
        [
            {"generalization": "taxonomy", "taxonomy": {"@id": TREE}},
            {"generalization": "taxonomy", "taxonomy": {"@id": TREE}, "unlisted": "root"},
            {"order": "lexicographic"},
        ],
    ),
}
BOUNDS = {
    "k-anonymity": {},
    "l-diversity": {"l": st.integers(2, 3)},
    "entropy-l-diversity": {"l": st.integers(2, 3)},
    "recursive-l-diversity": {"l": st.integers(2, 3), "c": st.sampled_from([1, 2, 5])},
    "alpha-k-anonymity": {"alpha": st.sampled_from([0.5, 0.75, 0.9])},
    "t-closeness": {"t": st.sampled_from([0.125, 0.25, 0.5, 0.8])},
    "beta-likeness": {"beta": st.sampled_from([0.5, 1, 3])},
    "enhanced-beta-likeness": {"beta": st.sampled_from([0.5, 1, 3])},
    "delta-disclosure": {"delta": st.sampled_from([0.3, 0.7, 1.5])},
}
MONDRIAN = st.one_of(
    st.fixed_dictionaries(
        {},
        optional={
            "partitioning": st.sampled_from(["strict", "relaxed"]),
            "score": st.sampled_from(["span", "entropy", "loss"]),
            "polish": st.booleans(),
            "maxSuppression": st.sampled_from([0.1, 0.3]),
        },
    ),
    st.just({"dimensionality": "single"}),
).flatmap(lambda options: st.sampled_from([options, {**options, "missing": "wildcard"}]))
FULL_DOMAIN = st.fixed_dictionaries(
    {
        "algorithm": st.just("full-domain"),
        "maxSuppression": st.sampled_from([0, 0.2, 0.5]),
        "loss": st.sampled_from(get_args(Loss)),
    }
)


@dataclass(frozen=True)
class Request:
    """A table, what is asked for it, and how its cells are to be written."""

    table: pa.Table
    quasi: dict[str, dict[str, object]]
    sensitive: dict[str, dict[str, object]]
    methods: tuple[str, ...]
    values: dict[str, object]
    options: dict[str, object]
    unit: str
    cells: str

    def policy(self, **changed):
        roles = {
            "quasi": [column(name, **how) for name, how in self.quasi.items()],
            "sensitive": [column(name, **how) for name, how in self.sensitive.items()],
            "insensitive": ["row"],
            "pseudonymize": ["nick"] if "nick" in self.table.column_names else [],
        }
        given = {name: names for name, names in roles.items() if names}
        given |= {"privacyUnit": self.unit} if self.unit else {}
        # Two releases of one table are compared, byte by byte too.
        given |= {"pseudonymScope": "tests"} if "pseudonymize" in given else {}
        methods = list(self.methods) if len(self.methods) > 1 else self.methods[0]
        action = anonymize(method=methods, **{**self.values, **self.options, **changed}, **given)
        return read_policy(policy([permission(action=action, output=OUTPUT)]))

    def apply(self, table=None, **changed):
        data, known = {DATASET: self.table if table is None else table}, {TREE: WORDS}
        asked = self.policy(**changed)
        return apply_policy(asked, data, taxonomies=known, key=KEY, cells=self.cells)

    def bounds(self, name):
        """Return the bounds asked for a sensitive column: name, figure and what it goes with."""
        how = {"distance": "variational", "l": self.values.get("l"), **self.sensitive[name]}
        how["taxonomy"] = WORDS
        names = dict(zip(BOUNDS, ["", *MEASURES], strict=True))
        for method in self.methods:
            if names[method]:
                figure = list(BOUNDS[method])[-1]
                yield names[method], self.values[figure], how


@st.composite
def requests(draw, methods=BOUNDS, units=("", "", "who")):
    count = draw(st.integers(4, 16))
    kinds = draw(st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=3))
    columns, quasi = {}, {}
    for number, kind in enumerate(kinds):
        values, arrow, settings_of = KINDS[kind]
        gaps = draw(st.sampled_from([st.nothing(), st.none()]))
        columns[f"q{number}"] = pa.array(draw(several(gaps | values, count)), arrow)
        weight = draw(st.sampled_from([1, 0.5] if number == 0 else [1, 0.5, 0]))
        quasi[f"q{number}"] = {**draw(st.sampled_from(settings_of)), "weight": weight}
    methods = tuple(
        draw(st.lists(st.sampled_from(sorted(methods)), min_size=1, max_size=3, unique=True))
    )
    given = {name: value for method in methods for name, value in BOUNDS[method].items()}
    values = {"k": draw(st.integers(2, 3)), **{name: draw(v) for name, v in given.items()}}
    values["k"] = max(values["k"], values.get("l", 0))
    sensitive = {f"s{number}": draw(DISTANCE) for number in range(draw(st.integers(1, 2)))}
    for name in sensitive:
        gaps = draw(st.sampled_from([st.nothing(), st.none()]))
        columns[name] = pa.array(draw(several(gaps | st.sampled_from(LISTED[:3]), count)))
    unit = draw(st.sampled_from(units))
    columns["who"] = pa.array(draw(several(st.sampled_from("abcdefgh"), count)))
    if draw(st.booleans()):
        columns["nick"] = pa.array([f"nick{row}" for row in range(count)])
    table = pa.table({**columns, "row": range(count)})
    cells = draw(st.sampled_from(["text", "bounds"]))
    return Request(
        table, quasi, sensitive, methods, values, draw(MONDRIAN | FULL_DOMAIN), unit, cells
    )


def several(values, count):
    return st.lists(values, min_size=count, max_size=count)


DISTANCE = st.sampled_from(
    [{}, {"distance": "ordered"}, {"distance": "hierarchical", "taxonomy": {"@id": TREE}}]
)


def released(request, **changed):
    """Return the release; give the example up where what is asked for is rightly refused."""
    try:
        return request.apply(**changed)
    except DataError as error:
        refusal = error
    assert {problem.code for problem in refusal.problems} <= {"R002", "R003"}, refusal
    assert not is_bearable(request, changed.get("k", request.values["k"])), refusal
    return reject()


def is_bearable(request, k):
    rows = request.table.to_pylist()
    persons = {person(request, row) for row in rows}
    return len(persons) >= k and not broken(request, [rows], rows, slack=-1e-7)


def broken(request, classes, table, slack=1e-7):
    """Return the bounds on sensitive values that classes do not hold, with the worst figures."""
    found = []
    for name in request.sensitive:
        for bound, asked, how in request.bounds(name):
            pairs = [[(person(request, row), row[name]) for row in rows] for rows in classes]
            everyone = [(person(request, row), row[name]) for row in table]
            figure = worst(bound, pairs, everyone, how)
            if not holds(bound, asked, figure, slack):
                found.append((bound, name, asked, figure))
    return found


def person(request, row):
    return row[request.unit] if request.unit else row["row"]


def in_classes(request, release):
    """Return the rows of the input that were released, by the cells that they got."""
    ends = [name + end for name in request.quasi for end in ("", "_low", "_high")]
    names = [name for name in ends if name in release.table.column_names]
    inputs, found = request.table.to_pylist(), defaultdict(list)
    for row in release.table.to_pylist():
        found[tuple(row[name] for name in names)].append(inputs[row["row"]])
    return list(found.values())


settled = settings(
    deadline=None, max_examples=examples(12, times=50), suppress_health_check=[HealthCheck.too_slow]
)


@settled
@given(requests())
def test_a_release_holds_every_bound_when_measured_by_the_definitions(request):
    release = released(request)
    classes = in_classes(request, release)
    kept = [row for rows in classes for row in rows]
    assert (
        min(len({person(request, row) for row in rows}) for rows in classes) >= request.values["k"]
    )
    assert broken(request, classes, kept) == []
    for name in request.sensitive:
        for bound, asked, how in request.bounds(name):
            pairs = [[(person(request, row), row[name]) for row in rows] for rows in classes]
            everyone = [pair for one in pairs for pair in one]
            [measured] = [
                m for m in release.certificate.measurements if (m.bound, m.column) == (bound, name)
            ]
            assert measured.asked == asked
            assert measured.achieved == pytest.approx(worst(bound, pairs, everyone, how), abs=1e-9)


@settled
@given(requests(["delta-disclosure"]) | requests(units=["who"]))
def test_bounds_that_two_classes_break_together_hold_where_their_cells_are_equal(request):
    release = released(request)
    classes = in_classes(request, release)
    assert broken(request, classes, [row for rows in classes for row in rows]) == []


@settled
@given(requests())
def test_rows_are_released_once_and_suppressed_within_the_limit(request):
    release = released(request)
    rows = release.table.column("row").to_pylist()
    limit = request.options.get("maxSuppression", 0) * request.table.num_rows
    assert len(set(rows)) == len(rows) == release.certificate.rows_out
    assert request.table.num_rows - len(rows) == release.record.suppressed <= limit
    assert not {"who"} & set(release.table.column_names)
    for row in release.table.to_pylist():
        source = request.table.slice(row["row"], 1).to_pylist()[0]
        assert all(row[name] == source[name] for name in request.sensitive)
        assert re.fullmatch("[0-9a-f]{64}", row.get("nick", "0" * 64))


@settled
@given(requests(), st.randoms(use_true_random=False))
def test_the_order_of_the_input_never_matters(request, random):
    order = list(range(request.table.num_rows))
    random.shuffle(order)
    release = released(request)
    assert request.apply(request.table.take(order)).table.equals(release.table)


@settled
@given(requests())
def test_every_value_is_in_its_cell(request):
    release = released(request)
    inputs = request.table.to_pylist()
    for row in release.table.to_pylist():
        for name, how in request.quasi.items():
            if how.get("generalization") in ("mean", "median", "mode"):
                continue
            value = inputs[row["row"]][name]
            if name in row:
                assert is_in(value, read_cell(row[name]), how), (value, row[name])
            else:
                ends = [row[f"{name}_low"], row[f"{name}_high"]]
                cell = read_cell(None if ends[0] is None else write_range(*map(str, ends)))
                assert cell.may_be_missing or is_in(value, cell, how)


def is_in(value, cell, how):
    """Tell whether a cell may stand for a value, by what its words mean."""
    if value is None or cell.values in (("*",), (str(value),)):
        return value is not None or cell.may_be_missing
    if cell.is_range:
        kind = dt.date.fromisoformat if isinstance(value, dt.date) else float
        return kind(cell.values[0]) <= value <= kind(cell.values[1])
    return str(value) in cell.values or cell.values[0] in wider(value, how)


def wider(value, how):
    """Yield the names of everything, but ranges and sets, that a value may be generalised to."""
    if how.get("generalization") == "prefix":
        yield from (value[:kept].ljust(len(value), how.get("mask", "*")) for kept in range(3))
    elif how.get("generalization") == "taxonomy":
        yield from ancestors(value)
    elif how.get("generalization") == "calendar":
        year = f"{value:%Y}"
        yield from (f"{value:%Y-%m}", f"{year}-Q{(value.month + 2) // 3}", year)
        yield from (f"{year[:3]}0s", f"{year[:2]}xx")


def ancestors(label):
    node = WORDS.leaves[WORDS.codes[label]]
    while node >= 0:
        yield WORDS.labels[node]
        node = WORDS.parents[node]


@settled
@given(requests())
def test_a_plan_and_a_certificate_come_back_from_their_json(request):
    release = released(request)
    assert Plan.model_validate_json(release.plan.model_dump_json()) == release.plan
    text = release.certificate.to_jsonld()
    assert read_certificate(text).to_jsonld() == text


@settled
@given(requests())
def test_what_holds_for_a_greater_k_holds_for_a_smaller_one(request):
    release = released(request, k=request.values["k"] + 1)
    units = [len({person(request, row) for row in rows}) for rows in in_classes(request, release)]
    assert min(units) > request.values["k"]
    assert released(request).certificate.holds
