"""What is an output read together with what it is made from, by hand."""

import pytest
from building import permission
from building import policy as policy_text
from ruling import rule, where

from policy_engine.decision import Decider
from policy_engine.decision.closures import Closures
from policy_engine.decision.mixing import Mix, mixes, names_both
from policy_engine.policy import Hierarchy, read_policy
from policy_engine.terms import PE

RAW, SAFE, TOTALS, INNER = (f"http://x.org/{name}" for name in ("Raw", "Safe", "Totals", "Raw/Out"))
ARCHIVE = "http://x.org/archive"


def makes(source, output):
    made = permission(target=source, output=output, action="aggregate", purpose=None)
    return read_policy(policy_text([made], uid=f"{output}/policy"))


CHAIN = {SAFE: RAW, TOTALS: SAFE}


def mixed(*targets, asset=(), made=CHAIN):
    """Return what is mixed where Safe is made from Raw, and Totals from Safe."""
    policies = [makes(source, output) for output, source in made.items()]
    view = Decider(policies, hierarchy=Hierarchy(asset=asset)).view(Hierarchy())
    outputs = {output: None for target in targets for output in view.outputs(target)}
    return set(mixes(targets, outputs, view))


IN_ARCHIVE = ((RAW, ARCHIVE), (SAFE, ARCHIVE))


@pytest.mark.parametrize(
    ("targets", "asset", "expected"),
    [
        ([SAFE, RAW], (), {Mix(SAFE, RAW)}),
        ([f"{SAFE}/zip", f"{RAW}/zip"], (), {Mix(SAFE, RAW)}),
        ([f"{SAFE}/zip", f"{SAFE}/age"], (), set()),
        ([f"{RAW}/zip", f"{RAW}/age"], (), set()),
        ([TOTALS, f"{RAW}/age"], (), {Mix(TOTALS, RAW)}),
        ([TOTALS, SAFE], (), {Mix(TOTALS, SAFE)}),
        ([TOTALS, "http://x.org/Other"], (), set()),
        ([RAW], (), set()),
        ([ARCHIVE], (), set()),
        ([ARCHIVE], IN_ARCHIVE, {Mix(SAFE, RAW)}),
        ([ARCHIVE], IN_ARCHIVE[1:], set()),
        ([ARCHIVE, f"{RAW}/age"], IN_ARCHIVE[1:], {Mix(SAFE, RAW)}),
        ([SAFE, ARCHIVE], IN_ARCHIVE[:1], {Mix(SAFE, RAW)}),
    ],
    ids=str,
)
def test_an_output_is_mixed_with_what_it_is_made_from_near_or_far(targets, asset, expected):
    assert mixed(*targets, asset=asset) == expected


def test_what_lies_in_an_output_is_the_outputs_though_that_lies_in_its_input():
    inside = {INNER: RAW}
    assert mixed(INNER, made=inside) == mixed(f"{INNER}/zip", made=inside) == set()
    assert mixed(RAW, made=inside) == mixed(RAW, f"{RAW}/age", made=inside) == set()
    assert mixed(INNER, f"{RAW}/age", made=inside) == {Mix(INNER, RAW)}


OTHER, FAR = "http://x.org/Other", "http://x.org/Far"
SHARED = {SAFE: RAW, OTHER: RAW, TOTALS: SAFE, FAR: "http://x.org/Elsewhere"}


@pytest.mark.parametrize(
    ("targets", "asset", "expected"),
    [
        ([SAFE, OTHER], (), {Mix(SAFE, OTHER, RAW)}),
        ([f"{SAFE}/zip", f"{OTHER}/age"], (), {Mix(SAFE, OTHER, RAW)}),
        ([TOTALS, OTHER], (), {Mix(TOTALS, OTHER, RAW)}),
        ([TOTALS, SAFE], (), {Mix(TOTALS, SAFE)}),
        ([SAFE, FAR], (), set()),
        ([RAW], (), set()),
        ([ARCHIVE], ((SAFE, ARCHIVE), (OTHER, ARCHIVE)), {Mix(SAFE, OTHER, RAW)}),
        ([ARCHIVE], ((SAFE, ARCHIVE),), set()),
        (
            [SAFE, FAR],
            (("http://x.org/Elsewhere", RAW),),
            {Mix(SAFE, FAR, "http://x.org/Elsewhere")},
        ),
    ],
    ids=str,
)
def test_outputs_of_one_input_are_mixed_with_each_other(targets, asset, expected):
    assert mixed(*targets, asset=asset, made=SHARED) == expected


def test_an_output_of_two_inputs_is_mixed_with_that_of_each():
    both = {SAFE: RAW, OTHER: FAR, TOTALS: [RAW, FAR]}
    assert mixed(SAFE, OTHER, TOTALS, made=both) == {
        Mix(SAFE, TOTALS, RAW),
        Mix(OTHER, TOTALS, FAR),
    }


def test_outputs_of_a_column_and_of_all_of_its_table_are_mixed():
    assert mixed(SAFE, OTHER, made={SAFE: f"{RAW}/zip", OTHER: RAW}) == {Mix(SAFE, OTHER, RAW)}


def test_an_output_that_is_not_read_hides_no_mix_of_those_that_are():
    made = {INNER: RAW, SAFE: FAR, OTHER: FAR}
    assert mixed(RAW, SAFE, OTHER, made=made) == {Mix(SAFE, OTHER, FAR)}


def test_of_many_outputs_of_one_input_each_is_to_be_named():
    many = {f"http://x.org/out{n}": RAW for n in range(50)}
    found = mixed(*many, made=many)
    assert {one.output for one in found} | {one.source for one in found} == {*many}
    assert len(found) == 49


MIX, BESIDE = Mix(SAFE, RAW), Mix(SAFE, OTHER, RAW)
WITHIN = Mix(INNER, RAW)


@pytest.mark.parametrize(
    ("mix", "named", "targets", "is_named"),
    [
        (MIX, [SAFE, RAW], [SAFE, RAW], True),
        (MIX, [SAFE, RAW], [f"{SAFE}/zip", f"{RAW}/zip"], True),
        (MIX, [f"{SAFE}/zip", f"{RAW}/zip"], [f"{SAFE}/zip", f"{RAW}/zip"], True),
        (MIX, [f"{SAFE}/zip", RAW], [SAFE, RAW], False),
        (MIX, [SAFE], [SAFE, RAW], False),
        (MIX, [RAW], [SAFE, RAW], False),
        (MIX, [SAFE, RAW], [SAFE, RAW, FAR], False),
        (MIX, [SAFE, RAW, FAR], [SAFE, RAW, FAR], True),
        (MIX, [ARCHIVE], [SAFE, RAW], False),
        (MIX, [], [SAFE, RAW], False),
        (BESIDE, [SAFE, OTHER], [SAFE, OTHER], True),
        (BESIDE, [SAFE, RAW], [SAFE, OTHER], False),
        (WITHIN, [INNER], [INNER], False),
        (WITHIN, [INNER, f"{RAW}/zip"], [INNER, f"{RAW}/zip"], True),
    ],
    ids=str,
)
def test_a_rule_names_a_mix_by_an_asset_on_either_side(mix, named, targets, is_named):
    jointly = where("jointly", "isAnyOf", *named, prefix=PE)
    made = rule("permission", constraints=(jointly,) if named else ())
    known = Closures(Hierarchy(asset=(*IN_ARCHIVE, (INNER, RAW))))
    assert names_both(made, mix, targets, known) == is_named


def test_a_mix_is_told_in_words():
    assert str(MIX) == f"{SAFE} is made from {RAW}"
    assert str(BESIDE) == f"{SAFE} and {OTHER} are both made from {RAW}"
