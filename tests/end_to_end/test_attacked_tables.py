"""Tables that are attacked before anybody sees them, from the policy to who may read them."""

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from applying import applied, asking, rows_of
from attacked import NOISY, attacked, bounded, by, known
from building import ANALYST, DATASET, OUTPUT, column

from policy_engine import apply_policy, audit_disclosure, certify_output, query_data
from policy_engine.audits.disclosure.gate import disclosure_shortfalls
from policy_engine.audits.disclosure.wording import notes
from policy_engine.certificate.certificate import read_certificate
from policy_engine.certificate.page import certificate_html
from policy_engine.cli.tables.certificates import certificate_table
from policy_engine.cli.tables.plans import plan_table
from policy_engine.errors import CertificateError, DataError
from policy_engine.kernels.estimates import Estimate, NotApplicable

ROWS = 300
KEY = b"k" * 32
EXACT = [column("pay", masking="rounding", base=1)]
CLASSES = {"method": "k-anonymity", "k": 5, "quasi": ["age", "pay"]}


@pytest.fixture
def table():
    random = np.random.default_rng(5)
    ages, pays = random.integers(20, 80, ROWS), random.permutation(ROWS) * 100 + 1000
    return pa.table({"id": [f"p{row}" for row in range(ROWS)], "age": ages, "pay": pays})


@pytest.fixture
def data(table, tmp_path):
    pyarrow.csv.write_csv(table, tmp_path / "in.csv")
    return tmp_path / "in.csv"


def figures(release):
    return {one.attack: (one.known, one.reached) for one in release.certificate.disclosures}


def broken(table, *refinements, **parts):
    """Return the sentences by which a release is refused."""
    with pytest.raises(CertificateError) as caught:
        apply_policy(attacked(*refinements, **parts), {DATASET: table}, key=KEY)
    assert {one.code for one in caught.value.problems} == {"V019"}
    return [one.message for one in caught.value.problems]


def test_the_figures_of_the_certificate_are_those_of_the_audit(data):
    policy = attacked(bounded(0.9), known("age", "pay"), masked=NOISY, **WITH_AGE)
    made = apply_policy(policy, {DATASET: data}, data.parent / "out" / "a.csv", key=KEY)
    audit = audit_disclosure(data, made.path, known=["age", "pay"], match=["id"])
    for attack, (names, reached) in figures(made).items():
        found = [one for one in audit.attacks if one.attack == attack]
        worst = max(found, key=lambda one: one.linked.high, default=None)
        assert isinstance(reached, Estimate) == (worst is not None)
        if worst:
            assert (names, reached) == (worst.known, worst.linked.rounded(3))


WITH_AGE = {"method": "masking", "insensitive": ["id", "age"]}


def test_swapped_texts_are_attacked_by_their_ranks():
    random = np.random.default_rng(1)
    table = pa.table({x: [f"{x}{one:05d}" for one in random.permutation(90)] for x in "SP"})
    masked = [column(x, masking="rank-swapping", p=0.03, order="lexicographic") for x in "SP"]
    told = broken(table, bounded(0.4), method="masking", masked=masked)
    for attack in ("distance", "intersection", "likelihood"):
        assert f"the attack {attack}-linkage" in "".join(told)


def test_a_bound_that_is_broken_lets_nothing_be_written_and_says_by_how_much(data):
    before = sorted(data.parent.rglob("*"))
    with pytest.raises(CertificateError) as caught:
        apply_policy(attacked(bounded(0.01)), {DATASET: data}, data.parent / "out" / "a.csv")
    assert sorted(data.parent.rglob("*")) == before
    first = caught.value.problems[0]
    assert first.code == "V019"
    told = "linked at most 0.01 is required, but the attack distance-linkage "
    assert first.message.startswith(told)
    assert "The end of its interval is 0.0" in first.message


def test_a_figure_within_the_bound_does_not_show_it_where_its_interval_does_not(table):
    few = table.slice(0, 10)
    masked = [column("pay", masking="rounding", base=1_000_000)]
    [told] = broken(few, bounded(0.15), by("distance-linkage"), method="masking", masked=masked)
    assert "distance-linkage may link more: 0.1 (95% interval" in told
    assert "10 records show no such bound; 23 may." in told


def test_a_bound_below_guessing_is_told_of(table):
    [told] = broken(table.slice(0, 20), bounded(0.01), by("distance-linkage"))
    assert told.endswith("Guessing alone links 0.05 of 20 records.")


@pytest.mark.parametrize(
    "parts",
    [
        {"method": "masking", "masked": EXACT},
        {"method": "masking", "masked": EXACT, "sampleShare": 0.5},
        {"method": "masking", "masked": EXACT, "pseudonymize": ["id"]},
        {"method": ["masking", "k-anonymity"], "k": 5, "quasi": ["age"], "masked": EXACT},
        {
            "method": ["masking", "k-anonymity"],
            "k": 5,
            "quasi": ["age"],
            "masked": EXACT,
            "algorithm": "full-domain",
            "maxSuppression": 0.2,
        },
    ],
    ids=["masked", "sampled", "pseudonyms", "classes", "suppressed"],
)
def test_rows_with_a_value_of_their_own_are_all_linked_whatever_becomes_of_the_others(table, parts):
    [told] = broken(table, bounded(0.9), known("pay"), by("distance-linkage"), **parts)
    assert "distance-linkage links 1 (95% interval" in told


def test_whose_row_is_whose_decides_nothing_of_the_release(data):
    parts = {"method": "masking", "masked": NOISY, "insensitive": ["id"], "sampleShare": 0.5}
    with_attack = apply_policy(attacked(bounded(0.9), **parts), {DATASET: data}, key=KEY)
    without = applied(data, key=KEY, **parts)
    assert rows_of(with_attack) == rows_of(without)


def test_the_order_of_rows_decides_no_figure(table):
    random = np.random.default_rng(1)
    policy = attacked(bounded(0.9))
    one = apply_policy(policy, {DATASET: table}, key=KEY)
    other = apply_policy(policy, {DATASET: table.take(random.permutation(ROWS))}, key=KEY)
    assert figures(one) == figures(other)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("cells", ["text", "bounds"])
def test_classes_are_attacked_too(data, cells):
    policy = attacked(bounded(0.5), **CLASSES)
    made = apply_policy(policy, {DATASET: data}, data.parent / "out" / "a.csv", cells=cells)
    [names, reached] = figures(made)["likelihood-linkage"]
    assert names in (("age", "pay"), ("pay",), ("age",))
    assert 1 / ROWS < reached.value <= 1 / 5


@pytest.mark.parametrize("sample", [{}, {"sampleShare": 0.8}], ids=["all", "sampled"])
@pytest.mark.parametrize("replacement", ["threshold", "mean"])
def test_values_that_coding_leaves_as_they_are_are_linked(table, replacement, sample):
    fractions = pa.array(np.random.default_rng(2).normal(1000, 300, ROWS).round(2))
    table = table.set_column(2, "pay", fractions)
    masked = [column("pay", masking="top-coding", tail=20, replacement=replacement)]
    [told] = broken(
        table,
        *(bounded(0.5), by("likelihood-linkage")),
        **{"method": "masking", "masked": masked, **sample},
    )
    share = float(told.split("links ")[1].split()[0])
    assert share > 0.9


@pytest.mark.nightly
def test_what_columns_are_masked_given_need_not_be_known(table):
    given = {"@id": f"{DATASET}/age"}
    masked = [column("pay", masking="shuffling", given=given)]
    parts = {"method": "masking", "masked": masked, "insensitive": ["age"]}
    made = apply_policy(attacked(bounded(0.5), **parts), {DATASET: table}, key=KEY)
    assert figures(made)["likelihood-linkage"][0] == ("pay",)


@pytest.mark.parametrize(
    "parts",
    [
        {"quasi": [column("pay", generalization="mean")]},
        {"quasi": ["age", "pay"], "algorithm": "microaggregation"},
    ],
    ids=["mean", "microaggregation"],
)
def test_who_knows_that_cells_are_means_takes_the_nearest(data, parts):
    policy = attacked(bounded(0.5), method="k-anonymity", k=5, **parts)
    found = figures(apply_policy(policy, {DATASET: data}, key=KEY))
    assert found["likelihood-linkage"][1].value > 0.1


def test_a_release_in_memory_is_attacked_again_where_it_is_written(table, tmp_path):
    made = apply_policy(attacked(bounded(0.5)), {DATASET: table}, key=KEY)
    written = made.write(tmp_path / "out" / "a.csv")
    assert figures(written) == figures(made)
    assert figures(made)


# -- certified again --------------------------------------------------------------------------


def certified(made, policy, data=None, **options):
    return certify_output(made.path, policy, data, **options).disclosures


def test_rows_that_match_by_what_is_published_give_the_figures_again(data):
    policy = attacked(bounded(0.5))
    made = apply_policy(policy, {DATASET: data}, data.parent / "out" / "a.csv")
    assert certified(made, policy, {DATASET: data}) == made.certificate.disclosures


@pytest.mark.nightly
def test_rows_that_do_not_match_give_the_figures_again_by_the_key(data):
    policy = attacked(bounded(0.5), method="masking", masked=NOISY)
    made = apply_policy(policy, {DATASET: data}, data.parent / "out" / "a.csv", key=KEY)
    assert certified(made, policy, {DATASET: data}, key=KEY) == made.certificate.disclosures
    with pytest.raises(DataError, match="V006 How 'pay' was masked follows from the key"):
        certified(made, policy, {DATASET: data})


def test_classes_give_the_figures_again_without_a_key(data):
    policy = attacked(bounded(0.5), **CLASSES)
    made = apply_policy(policy, {DATASET: data}, data.parent / "out" / "a.csv")
    assert certified(made, policy, {DATASET: data}) == made.certificate.disclosures


def test_without_the_input_nobody_can_tell(data):
    masked = [column("pay", masking="rounding", base=10_000)]
    policy = attacked(bounded(0.5), method="masking", masked=masked, insensitive=["id"])
    made = apply_policy(policy, {DATASET: data}, data.parent / "out" / "a.csv")
    with pytest.raises(DataError, match=r"V006 .* does not show whose row each is"):
        certified(made, policy)


def test_figures_that_are_not_found_again_are_refused(data):
    policy = attacked(bounded(0.9), by("distance-linkage"))
    made = apply_policy(policy, {DATASET: data}, data.parent / "out" / "a.csv", key=KEY)
    [one] = made.certificate.disclosures
    reached = Estimate(value=0.0, low=0.0, high=0.013)
    changes = {"disclosures": (one.model_copy(update={"reached": reached}),)}
    told = made.certificate.model_copy(update=changes)
    (made.path.parent / "certificate.jsonld").write_text(told.to_jsonld())
    with pytest.raises(CertificateError, match="V018 The certificate says that linked of distance"):
        certified(made, policy, {DATASET: data})


def test_an_output_of_which_more_are_linked_is_not_certified(data):
    lax, strict = attacked(bounded(0.9)), attacked(bounded(0.01))
    made = apply_policy(lax, {DATASET: data}, data.parent / "out" / "a.csv")
    with pytest.raises(CertificateError, match=r"V019 linked at most 0\.01 is required"):
        certified(made, strict, {DATASET: data})


# -- read -------------------------------------------------------------------------------------


@pytest.fixture
def made(data):
    policy = attacked(bounded(0.5))
    return apply_policy(policy, {DATASET: data}, data.parent / "out" / "a.csv", key=KEY)


def printed(table_):
    from rich.console import Console

    console = Console(width=200)
    with console.capture() as capture:
        console.print(table_)
    return capture.get()


def test_the_plan_and_the_certificate_tell_of_the_attacks(made):
    assert "record-linkage: linked at most 0.5" in printed(plan_table(made.plan))
    told = printed(certificate_table(made.certificate))
    assert "linked by distance-linkage" in told
    assert "What is bounded is how many records" in " ".join(told.split())
    assert "likelihood-linkage" in certificate_html(made.certificate)
    assert "linked at most 0.5" in repr(made)


def test_the_duty_is_fulfilled_by_the_certificate(made):
    def is_read(asked):
        policies, given = [attacked(bounded(asked))], {OUTPUT: made.path}
        by_certificate = {"purpose": "marketing", "certificates": [made.path.parent]}
        sql = "SELECT id, pay FROM anonPeople"
        return query_data(sql, policies, ANALYST, given, **by_certificate).permitted

    assert is_read(0.5)
    assert not is_read(0.2)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"attack": "distance-linkage"', '"attack": "some-linkage"'),
        ('"records": 300', '"records": 3000'),
        ('"pay"', '"id"'),
    ],
)
def test_figures_that_no_such_release_has_are_refused(made, old, new):
    text = made.certificate.to_jsonld()
    head, mark, facts = text.rpartition('"disclosures"')
    assert old in facts
    with pytest.raises(CertificateError, match="V005"):
        read_certificate(head + mark + facts.replace(old, new, 1))


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"known": ()}, "It does not say by which columns likelihood-linkage"),
        (
            {"reached": NotApplicable(reason="no")},
            "likelihood-linkage does not apply, and it always",
        ),
        ({"reached": Estimate(value=0.023, low=0.022, high=0.024)}, "300 records give no interval"),
    ],
    ids=["columns", "not applicable", "narrow"],
)
def test_figures_that_no_attack_reaches_are_refused(made, changes, said):
    likelihood = next(one for one in made.certificate.disclosures if one.name.startswith("like"))
    other = made.certificate.model_copy(
        update={"disclosures": (likelihood.model_copy(update=changes),)}
    )
    with pytest.raises(CertificateError, match=f"V005 .*{said}"):
        read_certificate(other.to_jsonld())


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("part", "said"),
    [
        ({"high": 0.5}, "the upper end of linked of distance-linkage is 0.5"),
        ({"low": 0.0}, "the lower end of linked of distance-linkage is 0;"),
        (None, "does not tell what the attack distance-linkage reaches"),
    ],
    ids=["upper", "lower", "none"],
)
def test_ends_of_intervals_and_attacks_left_out_are_not_found_again(made, data, part, said):
    distance, *others = made.certificate.disclosures
    changed = (
        ()
        if part is None
        else (distance.model_copy(update={"reached": distance.reached.model_copy(update=part)}),)
    )
    other = made.certificate.model_copy(update={"disclosures": (*changed, *others)})
    (made.path.parent / "certificate.jsonld").write_text(other.to_jsonld())
    with pytest.raises(CertificateError, match=f"V018 .*{said}"):
        certified(made, attacked(bounded(0.5)), {DATASET: data})


def test_two_duties_with_one_bound_need_a_figure_each(made):
    certificate = made.certificate
    [step] = certificate.plan.disclosures
    assert not [*disclosure_shortfalls([step], certificate.disclosures)]
    sentences = [*disclosure_shortfalls([step, step], certificate.disclosures)]
    assert len(sentences) == len(step.method.attacks)


def test_a_certificate_that_lacks_a_figure_does_not_hold(made):
    certificate = made.certificate
    assert certificate.holds
    one_less = certificate.model_copy(update={"disclosures": certificate.disclosures[1:]})
    assert not one_less.holds
    assert certificate.as_refusal().disclosures == ()


def test_rows_that_a_pseudonym_joins_are_not_attacked_one_by_one(table):
    persons = table.set_column(0, "id", pa.array([f"p{row // 2}" for row in range(ROWS)]))
    parts = {"method": "masking", "masked": EXACT, "pseudonymize": ["id"], "insensitive": ["age"]}
    with pytest.raises(CertificateError) as caught:
        apply_policy(attacked(bounded(0.999), **parts), {DATASET: persons}, key=KEY)
    assert [one.code for one in caught.value.problems] == ["R016"]


@pytest.mark.parametrize(("rows", "joined"), [(1, ()), (2, ("id",))])
def test_an_audit_tells_which_pseudonyms_join_rows(table, tmp_path, rows, joined):
    persons = table.set_column(0, "id", pa.array([f"p{row // rows}" for row in range(ROWS)]))
    pyarrow.csv.write_csv(persons.slice(0, 40), tmp_path / "in.csv")
    policy = asking(method="masking", masked=EXACT, pseudonymize=["id"], insensitive=["age"])
    made = apply_policy(policy, {DATASET: tmp_path / "in.csv"}, tmp_path / "out", key=KEY)
    audit = audit_disclosure(tmp_path / "in.csv", made.path)
    assert audit.joined_by == joined
    assert any("one by one" in one for one in notes(audit)) == bool(joined)
