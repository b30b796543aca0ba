"""k and diversity count persons where the policy names what tells them apart."""

import gzip
import json
from collections import Counter, defaultdict
from csv import DictReader

import pytest
from applying import applied, asking, measured, refused, rows_of
from building import ANALYST, DATASET, OUTPUT
from places import SHARED_DATA

from policy_engine import apply_policy, certify_output, decide_request, read_request
from policy_engine.errors import CertificateError, DataError

DIABETES = SHARED_DATA / "diabetes_130us.csv.gz"
TWO = {"age": [1, 2, 3, 4, 5, 6], "who": ["a", "a", "a", "b", "b", "b"]}
BY_PERSON = {"method": "k-anonymity", "quasi": ["age"], "privacyUnit": "who"}
DIVERSE = {**BY_PERSON, "method": "l-diversity", "sensitive": ["ill"]}


def test_six_rows_of_two_persons_are_not_3_anonymous(tmp_path):
    assert refused(TWO, tmp_path, k=3, **BY_PERSON) == ["R002"]
    with pytest.raises(DataError, match="The table has 2 persons, fewer than k, which is 3"):
        applied(TWO, k=3, **BY_PERSON)
    with pytest.raises(DataError, match="The table has 1 person, fewer than k, which is 2"):
        applied({"age": [1, 2], "who": ["a", "a"]}, k=2, **BY_PERSON)


def test_six_rows_of_two_persons_are_one_class_of_two():
    release = applied(TWO, k=2, **BY_PERSON)
    assert release.table.to_pydict() == {"age": ["[1 - 6]"] * 6}
    assert measured(release) == {("k", ""): 2}
    assert release.certificate.utility.average_class_size == 6


def test_a_person_may_have_rows_in_several_classes():
    table = {"age": [1, 1, 1, 9, 9, 9], "who": ["a", "b", "b", "a", "a", "c"]}
    release = applied(table, k=2, **BY_PERSON)
    assert Counter(release.table["age"].to_pylist()) == {"1": 3, "9": 3}
    assert measured(release) == {("k", ""): 2}


def test_a_cut_that_leaves_one_person_alone_is_not_made():
    table = {"age": [1, 1, 9, 9], "who": ["a", "b", "c", "c"]}
    assert set(applied(table, k=2, **BY_PERSON).table["age"].to_pylist()) == {"[1 - 9]"}


@pytest.mark.parametrize("nobody", [(None, None), (None, ""), (float("nan"), None)])
def test_rows_that_name_nobody_are_of_one_person(nobody):
    some = [7.0, 7.0] if isinstance(nobody[0], float) else ["a", "a"]
    table = {"age": [1, 2, 3, 4], "who": [*nobody, *some]}
    assert measured(applied(table, k=2, **BY_PERSON)) == {("k", ""): 2}
    with pytest.raises(DataError, match="2 persons"):
        applied(table, k=3, **BY_PERSON)


def test_the_unit_is_not_in_the_output(tmp_path):
    release = applied({**TWO, "who": ["Ann"] * 3 + ["Bob"] * 3}, tmp_path / "out", k=2, **BY_PERSON)
    assert release.table.column_names == ["age"]
    assert release.plan.drop.identifiers == ("who",)
    for file in (tmp_path / "out").iterdir():
        assert b"Ann" not in file.read_bytes()


def test_many_diseases_of_one_person_are_no_diversity(tmp_path):
    # Three persons have the flu, and one of them everything else: who knows that somebody is in
    # the class knows of the flu.
    table = {
        "age": [1] * 5,
        "who": ["a", "a", "a", "b", "c"],
        "ill": ["flu", "y", "z", "flu", "flu"],
    }
    assert refused(table, tmp_path, k=3, l=2, **DIVERSE) == ["R003"]


def test_diversity_counts_a_value_once_a_person():
    table = {"age": [1] * 6, "who": ["a", "a", "a", "a", "b", "c"], "ill": [*["flu"] * 4, "y", "z"]}
    release = applied(table, method="alpha-k-anonymity", alpha=0.4, k=3, **without(DIVERSE))
    assert measured(release) == {("k", ""): 3, ("alpha", "ill"): pytest.approx(1 / 3)}


def without(parts):
    return {name: value for name, value in parts.items() if name != "method"}


@pytest.mark.parametrize(
    "recoding",
    [
        {"algorithm": "full-domain"},
        {"algorithm": "full-domain", "maxSuppression": 0.5},
        {"dimensionality": "single"},
        {"partitioning": "relaxed"},
        {"partitioning": "relaxed", "polish": True},
        {"score": "span"},
        {"score": "entropy"},
    ],
)
def test_every_algorithm_counts_persons(recoding):
    table = {
        "age": [n % 23 for n in range(200)],
        "who": [f"p{n * n % 41}" for n in range(200)],
        "note": list(range(200)),
    }
    release = applied(table, k=4, insensitive=["note"], **BY_PERSON, **recoding)
    persons = defaultdict(set)
    for cell, note in rows_of(release):
        persons[cell].add(table["who"][note])
    assert measured(release)["k", ""] == min(map(len, persons.values())) >= 4


@pytest.fixture
def made(tmp_path):
    """A folder with an input, a policy by person, and a release in `out/`."""
    rows = "".join(f"p{n % 7},{n},{'ABC'[n % 3]}\n" for n in range(30))
    (tmp_path / "in.csv").write_text(f"who,age,city\n{rows}")
    parts = {**BY_PERSON, "quasi": ["age", "city"]}
    (tmp_path / "policy.jsonld").write_text(asking(k=3, **parts))
    apply_policy(tmp_path / "policy.jsonld", {DATASET: tmp_path / "in.csv"}, tmp_path / "out")
    return tmp_path


def test_an_output_alone_does_not_tell_persons(made):
    with pytest.raises(DataError, match="V006 k counts distinct 'who'"):
        certify_output(made / "out", made / "policy.jsonld")


def test_an_output_with_its_input_is_made_again(made):
    data = {DATASET: made / "in.csv"}
    found = certify_output(made / "out", made / "policy.jsonld", data=data)
    first = json.loads((made / "out" / "certificate.jsonld").read_text())["pe:certificate"]
    assert found.output_digest == first["output_digest"]
    assert [one.achieved for one in found.measurements] == [first["measurements"][0]["achieved"]]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.parquet"])
@pytest.mark.parametrize("cells", ["text", "bounds"])
def test_an_output_of_any_shape_is_made_again(made, name, cells):
    data, file = {DATASET: made / "in.csv"}, made / "other" / name
    release = apply_policy(made / "policy.jsonld", data, file, cells=cells)
    found = certify_output(file, made / "policy.jsonld", data=data)
    assert found.output_digest == release.certificate.output_digest


def test_an_output_that_is_not_the_one_made_is_refused(made):
    file = made / "out" / "anonPeople.csv"
    head, *rows = file.read_text().splitlines()
    file.write_text("\n".join([head, *rows[::-1], ""]))
    with pytest.raises(CertificateError, match="V004"):
        certify_output(file, made / "policy.jsonld", data={DATASET: made / "in.csv"})


def test_an_output_of_persons_is_made_again_with_the_key_of_its_pseudonyms(made):
    key, text = b"k" * 32, asking(k=3, **{**BY_PERSON, "pseudonymize": ["city"]})
    (made / "names.jsonld").write_text(text)
    table = "who,age,city\n" + "".join(f"p{n % 7},{n},c{n}\n" for n in range(30))
    (made / "in.csv").write_text(table)
    data = {DATASET: made / "in.csv"}
    record, given = made / "record.json", {"data": data, "record": made / "record.json"}
    apply_policy(made / "names.jsonld", data, made / "names", key=key, record=record)
    certify_output(made / "names", made / "names.jsonld", key=key, **given)
    with pytest.raises(CertificateError, match="V004"):
        certify_output(made / "names", made / "names.jsonld", key=b"x" * 32, **given)
    with pytest.raises(DataError, match="V006 The pseudonyms are the release's own"):
        certify_output(made / "names", made / "names.jsonld", data=data, key=key)


def test_an_output_of_persons_with_pseudonyms_of_a_scope_is_made_again_without_its_record(made):
    asked = {**BY_PERSON, "pseudonymize": ["city"], "pseudonymScope": "cohort"}
    (made / "scope.jsonld").write_text(asking(k=3, **asked))
    table = "who,age,city\n" + "".join(f"p{n % 7},{n},c{n}\n" for n in range(30))
    (made / "in.csv").write_text(table)
    given = {"data": {DATASET: made / "in.csv"}, "key": b"k" * 32}
    apply_policy(made / "scope.jsonld", given["data"], made / "scope", key=given["key"])
    certify_output(made / "scope", made / "scope.jsonld", **given)


def test_a_certificate_by_persons_lets_the_analyst_read(made):
    request = read_request(ANALYST, "read", [OUTPUT], "mosaicrown:marketing")
    certificates = [made / "out"]
    assert decide_request([made / "policy.jsonld"], certificates, request).permitted
    assert not decide_request([made / "policy.jsonld"], [], request).permitted


def diabetes():
    if not DIABETES.exists():
        pytest.skip(f"{DIABETES} is not there: nothing is proved on it")
    with gzip.open(DIABETES, "rt", newline="") as file:
        return list(DictReader(file))


@pytest.mark.nightly
def test_encounters_of_hospitals_are_anonymous_by_patient(tmp_path):
    rows, k = diabetes()[:20_000], 5
    quasi = ["race", "gender", "age", "time_in_hospital"]
    table = {name: [row[name] for row in rows] for name in [*quasi, "patient_nbr", "encounter_id"]}
    release = applied(
        table,
        tmp_path / "out",
        method="k-anonymity",
        k=k,
        quasi=quasi,
        privacyUnit="patient_nbr",
        insensitive=["encounter_id"],  # only here, to find the patients of a class again
    )
    patient = {row["encounter_id"]: row["patient_nbr"] for row in rows}
    classes = defaultdict(list)
    for *cells, encounter in zip(*release.table.to_pydict().values(), strict=True):
        classes[tuple(cells)].append(patient[str(encounter)])
    fewest = min(len(set(patients)) for patients in classes.values())
    assert measured(release)["k", ""] == fewest >= k
    assert max(len(p) - len(set(p)) for p in classes.values()) > 0
    assert sum(map(len, classes.values())) == 20_000
