"""What an attacker tries who knows all of a person but what is sensitive: guess, and compare."""

import hashlib
import re
from itertools import permutations, product

import pyarrow as pa
import pytest
from building import DATASET, anonymize, column, permission, policy

from policy_engine import apply_policy
from policy_engine.data.storage import manifest_digest
from policy_engine.engines.tables import table_digest

HEADER = "name,age,disease"
KNOWN = [("Ann", 20), ("Bob", 21), ("Cid", 22), ("Dan", 40), ("Eve", 41), ("Fay", 42)]
SECRET = ["flu", "cold", "flu", "gout", "cold", "acne"]
HEXADECIMAL = re.compile("[0-9a-f]{32,}")


def asking(**more):
    asked = {"method": "l-diversity", "quasi": ["age"], "k": 3, "l": 2, "sensitive": ["disease"]}
    wanted = {name: value for name, value in {**asked, **more}.items() if value}
    return policy([permission(action=anonymize(**wanted), output="http://x.org/out")])


def csv_text(diseases):
    rows = (f"{name},{age},{disease}" for (name, age), disease in zip(KNOWN, diseases, strict=True))
    return "\n".join([HEADER, *rows]) + "\n"


def table(diseases):
    names, ages = zip(*KNOWN, strict=True)
    return pa.table({"name": names, "age": ages, "disease": diseases})


def of_file(diseases):
    return hashlib.sha256(csv_text(diseases).encode()).hexdigest()


def of_folder(diseases):
    return manifest_digest({"part-0.csv": of_file(diseases)})


def of_frame(diseases):
    return table_digest(table(diseases))


def of_columns(diseases):
    return table_digest(table(diseases).select(["age", "disease"]))


def given(kind, folder):
    """Return the input, as a file, a folder of files, or a frame."""
    if kind == "frame":
        return table(SECRET)
    path = folder / "people.csv"
    if kind == "folder":
        path.mkdir()
    (path / "part-0.csv" if kind == "folder" else path).write_text(csv_text(SECRET))
    return path


def guesses():
    """Yield every way in which the values of the classes could belong to their persons."""
    halves = (sorted(set(permutations(SECRET[at : at + 3]))) for at in (0, 3))
    for first, second in product(*halves):
        yield (*first, *second)


def found(text):
    """Return the guesses of which a digest is told in a text."""
    told = set(HEXADECIMAL.findall(text))
    ways = (of_file, of_folder, of_frame, of_columns)
    return [guess for guess in guesses() if told & {way(guess) for way in ways}]


@pytest.mark.parametrize("kind", ["file", "folder", "frame"])
def test_no_guess_of_the_sensitive_values_can_be_told_by_a_certificate(kind, tmp_path):
    data, out = {DATASET: given(kind, tmp_path)}, tmp_path / "out"
    release = apply_policy(asking(), data, out, record=tmp_path / "record.json")
    text = (out / "certificate.jsonld").read_text()
    assert found(text) == found(release.certificate.to_jsonld()) == []
    # The attack works: what the owner alone keeps tells who has what.
    assert found((tmp_path / "record.json").read_text()) == [tuple(SECRET)]


def test_a_certificate_has_no_digests_but_those_of_the_policy_and_the_output(tmp_path):
    release = apply_policy(asking(), {DATASET: given("file", tmp_path)})
    certificate = release.certificate
    told = set(HEXADECIMAL.findall(certificate.to_jsonld()))
    released = {certificate.output_digest, certificate.plan.policy_digest}
    assert told == {*released, certificate.commitment.value}
    assert certificate.output_digest == table_digest(release.table)


def test_two_certificates_of_one_input_do_not_tell_that_it_is_one(tmp_path):
    data = {DATASET: given("file", tmp_path)}
    one, other = (apply_policy(asking(), data).certificate.commitment for _ in range(2))
    assert one.value != other.value


def test_a_taxonomy_is_told_of_by_its_name_alone(tmp_path):
    ages = tmp_path / "ages.csv"
    ages.write_text("".join(f"{age};{age // 10}0s;*\n" for _, age in KNOWN))
    asked = {"quasi": [column("age", generalization="taxonomy", taxonomy="ages.csv")]}
    data = {DATASET: given("file", tmp_path)}
    release = apply_policy(asking(**asked), data, taxonomies={"ages.csv": ages})
    [digest] = release.record.taxonomies.values()
    assert digest not in release.certificate.to_jsonld()
    assert release.certificate.plan.anonymize.taxonomies == {}


def test_whether_rows_were_suppressed_is_not_told():
    """Whoever knows all but one person would learn from a count whether that one was there."""
    asked = {"method": "k-anonymity", "quasi": ["age"], "l": 0, "sensitive": []}
    asked |= {"algorithm": "full-domain", "maxSuppression": 0.4}
    with_one, without = [20, 20, 20, 90], [20, 20, 20]
    told = []
    for ages in (with_one, without):
        release = apply_policy(asking(**asked), {DATASET: pa.table({"age": ages})})
        assert release.record.suppressed == len(ages) - 3
        certificate = release.certificate
        facts = certificate.model_dump(mode="json", exclude={"commitment", "time"})
        told.append(facts)
    assert told[0] == told[1]
