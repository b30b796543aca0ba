import json
import re
from datetime import datetime

import pytest
from building import ANALYST, DATASET, OUTPUT, anonymize, permission, policy
from certifying import certified
from modelled import of_release

from policy_engine import terms
from policy_engine.api.applying import apply_policy
from policy_engine.api.certifying import certify_output
from policy_engine.api.planning import plan_policy
from policy_engine.certificate.beside import load_certificate
from policy_engine.certificate.certificate import (
    Certificate,
    MaskedColumn,
    check_digest,
    read_certificate,
)
from policy_engine.certificate.certifying import CertifiedRelease, check_bounds
from policy_engine.certificate.page import certificate_html
from policy_engine.certificate.shortcomings import file_figures, proven, shortcomings
from policy_engine.engines.engine import EarlyStop, StoredData
from policy_engine.engines.samples import SampleFigures
from policy_engine.errors import CertificateError, DataError, Problem
from policy_engine.kernels.estimates import Estimate, NotApplicable
from policy_engine.methods import Measurement
from policy_engine.methods.audits.membership_inference import AttackBound, AttackMeasurement
from policy_engine.methods.recoding import RecodingOptions
from policy_engine.plan.lineage import Maker
from policy_engine.plan.training import FileBounds, FilesMeasured
from policy_engine.policy import read_policy


@pytest.fixture
def certificate(released):
    return load_certificate(released / "release")


def test_a_certificate_holds_what_was_measured(certificate):
    assert certificate.holds
    found = [(m.bound, m.column, m.asked, m.achieved) for m in certificate.measurements]
    assert found == [("k", "", 2, 2), ("l", "disease", 2, 2)]
    assert {m.sense for m in certificate.measurements} == {"at least"}
    assert (certificate.rows_out, certificate.made_by) == (6, "owner")
    assert certificate.utility.classes == 3
    assert certificate.utility.average_class_ratio == 1
    assert certificate.utility.discernability == 4 + 4 + 4
    assert certificate.utility.perturbed == ()


def test_the_loss_of_a_release_can_be_checked_by_hand(certificate):
    # Ages 20-21, 40-41 and 60-61 of 20-61, and a city each: 1/41 for age, nothing for city.
    assert certificate.utility.column_losses == {"age": pytest.approx(1 / 41), "city": 0}
    assert certificate.utility.global_certainty_penalty == pytest.approx(1 / 41 / 2)


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ("age_low,age_high,city,disease", ""),
        ("age,city_low,city_high,disease", ""),
        ("age_low,city,disease", "The output contains 'age_low'"),
        ("age,age_low,age_high,city,disease", "The output contains 'age_high' and 'age_low'"),
        ("age,city,disease_low,disease_high", "The output lacks 'disease'"),
    ],
)
def test_two_columns_of_ends_are_one_quasi_identifier_and_no_other_column(people, columns, words):
    cells = ["1"] * (columns.count(",") + 1)
    rows = [",".join([*cells[:-1], disease]) for disease in ("1", "2")]
    (people / "made.csv").write_text("\n".join([columns, *rows]) + "\n")
    if not words:
        assert certify_output(people / "made.csv", people / "policy.jsonld").holds
        return
    with pytest.raises(CertificateError, match=f"V002 {words}"):
        certify_output(people / "made.csv", people / "policy.jsonld")


def test_a_certificate_comes_back_from_its_json_ld(certificate):
    assert read_certificate(certificate.to_jsonld()) == certificate


def test_provenance_names_what_was_used_and_what_was_made(certificate):
    document = json.loads(certificate.to_jsonld())
    assert (document["@id"], document["@type"]) == (OUTPUT, "prov:Entity")
    activity = document["prov:wasGeneratedBy"]
    assert activity["used"] == ["http://x.org/policy", DATASET]
    assert activity["@type"] == "prov:Activity"


def test_provenance_names_what_a_join_and_a_release_were_made_of_and_for_whom():
    first = derives_from(DATASET, OUTPUT)
    joined = certified(read_policy(joining(OUTPUT, CLAIMS)), first, made_by=MAKER)
    document = json.loads(joined.to_jsonld())
    [known, other] = document["prov:wasDerivedFrom"]
    assert known == {"@id": OUTPUT, "pe:sha256": first.output_digest}
    assert other == {"@id": CLAIMS}
    agent = document["prov:wasGeneratedBy"]["prov:wasAssociatedWith"]
    assert agent["prov:actedOnBehalfOf"] == {"@id": ANALYST, "@type": "prov:Agent"}
    again = json.loads(derives_from(OUTPUT, "http://x.org/again", first).to_jsonld())
    assert again["prov:wasDerivedFrom"] == [known]
    own = json.loads(first.to_jsonld())
    assert own["@context"]["xsd"] == "http://www.w3.org/2001/XMLSchema#"
    assert own["@context"]["endedAtTime"]["@type"] == "xsd:dateTime"
    assert own["prov:wasGeneratedBy"]["prov:wasAssociatedWith"]["pe:version"] == ""  # by hand
    assert "prov:wasDerivedFrom" not in own
    assert "prov:actedOnBehalfOf" not in own["prov:wasGeneratedBy"]["prov:wasAssociatedWith"]


CLAIMS, MAKER = "http://x.org/Claims", Maker(party=ANALYST, rules=("http://x.org/policy/1",))


def derives_from(source, output, *before):
    action = anonymize(method="k-anonymity", k=2, quasi=["age"])
    rule = permission(target=source, output=output, action=action)
    return certified(read_policy(policy([rule]).replace(f"{DATASET}/", f"{source}/")), *before)


def joining(*sources):
    """Return a policy that joins two datasets by the names of persons."""
    action = anonymize(method="k-anonymity", k=2, joinOn=["name"], quasi=["age"])
    rule = permission(target=list(sources), output="http://x.org/joined", action=action)
    text = policy([rule])
    keys = ", ".join(f'"{one}/name"' for one in sources)
    return text.replace(f'"{DATASET}/name"', keys).replace(f"{DATASET}/", f"{sources[0]}/")


def test_a_record_of_a_join_names_each_input_with_its_own_unmentioned_columns(tmp_path):
    (tmp_path / "people.csv").write_text("name,age,phone\nAnn,20,1\nBob,20,2\n")
    (tmp_path / "claims.csv").write_text("name,cost\nAnn,5\nBob,6\nCid,7\n")
    data = {DATASET: tmp_path / "people.csv", CLAIMS: tmp_path / "claims.csv"}
    record = apply_policy(joining(DATASET, CLAIMS), data).record
    assert [(one.asset, one.rows, one.unmentioned) for one in record.inputs] == [
        (CLAIMS, 3, ("cost",)),
        (DATASET, 2, ("phone",)),
    ]
    assert (record.rows_joined, record.rows_in) == (2, 2)


def test_provenance_is_valid_json_ld(certificate):
    from pyld import jsonld

    dropped = []
    [node] = jsonld.expand(json.loads(certificate.to_jsonld()), on_property_dropped=dropped.append)
    [activity] = node["http://www.w3.org/ns/prov#wasGeneratedBy"]
    assert {"@id": DATASET} in activity["http://www.w3.org/ns/prov#used"]
    [time] = activity["http://www.w3.org/ns/prov#endedAtTime"]
    assert time["@type"] == "http://www.w3.org/2001/XMLSchema#dateTime"
    assert datetime.fromisoformat(time["@value"]) == certificate.time
    [agent] = activity["http://www.w3.org/ns/prov#wasAssociatedWith"]
    assert agent["@type"] == ["http://www.w3.org/ns/prov#SoftwareAgent"]
    [version] = agent[f"{terms.PE}version"]
    assert version["@value"] == certificate.versions["policy-engine"]
    assert node[f"{terms.PE}sha256"] == [{"@value": certificate.output_digest}]
    assert dropped == []


def test_an_output_is_the_one_that_was_certified_or_it_is_told(certificate, released):
    output = StoredData.from_file(released / "release" / "anonPeople.csv")
    check_digest(certificate, output)
    with pytest.raises(
        CertificateError, match="V004 The certificate beside the output says that nothing"
    ):
        check_digest(certificate.as_refusal(), output)
    other = certificate.model_copy(update={"output_digest": "0" * 64})
    with pytest.raises(CertificateError, match="V004 The output is not the one") as told:
        check_digest(other, output)
    message = f"The output is not the one that was certified: its sha-256 is {output.digest}, "
    message += f"the certified one {'0' * 64}."
    assert told.value.problems == (Problem("V004", message),)
    assert told.value.source == output.location


def test_check_names_the_class_and_the_bound_that_broke(certificate):
    broken = certificate.measurements[0].model_copy(update={"achieved": 1, "worst": 7})
    short = certificate.model_copy(update={"measurements": (broken,)})
    with pytest.raises(CertificateError) as caught:
        check_bounds(CertifiedRelease(short, None))
    assert str(caught.value) == "V001 k must be at least 2, but is 1 in class 7 of the output."


@pytest.mark.parametrize(
    ("sense", "achieved", "words"),
    [
        ("at most", 0.125, "t of 'disease' must be at most 0.1, but is 0.125 in a class"),
        ("below", 0.1, "t of 'disease' must be below 0.1, but is 0.1 in a class"),
        ("at most", float("inf"), "t of 'disease' must be at most 0.1, but is inf in a class"),
    ],
)
def test_check_says_in_which_sense_a_bound_broke(certificate, sense, achieved, words):
    broken = Measurement(bound="t", column="disease", sense=sense, asked=0.1, achieved=achieved)
    with pytest.raises(CertificateError, match=f"V001 {words} of the output."):
        check_bounds(
            CertifiedRelease(certificate.model_copy(update={"measurements": (broken,)}), None)
        )


def test_check_says_how_many_cells_break_their_masking(certificate):
    broken = Measurement(bound="rounding", column="pay", sense="at most", asked=0, achieved=2)
    with pytest.raises(CertificateError) as told:
        check_bounds(
            CertifiedRelease(certificate.model_copy(update={"measurements": (broken,)}), None)
        )
    assert str(told.value) == "V001 2 cells of 'pay' do not keep its rounding."


def test_check_counts_the_attempts_at_a_model():
    plan = plan_policy(of_release(attempts=2))
    found = certified(read_policy(of_release(attempts=2)), plan=plan)
    for attempts, expected in ((2, []), (3, ["It took 3 attempts, but the policy allows 2."])):
        told = [*shortcomings(found.model_copy(update={"attempts": attempts}))]
        assert [one.message for one in told if "attempts" in one.message] == expected
        assert {one.code for one in told} <= {"V007"}


def test_what_was_not_measured_of_a_model_falls_short():
    found = certified(read_policy(of_release("DecisionTreeClassifier")))
    assert [*shortcomings(found)] == []
    silent = found.model_copy(update={"attacks": (), "files": None})
    *attacked, opened = shortcomings(silent)
    assert ({one.code for one in attacked}, opened.code) == ({"V007"}, "V011")
    assert opened.message == "The files of the model were not checked for what they reveal."


def test_check_forgives_what_rounding_alone_can_do(certificate):
    for sense, achieved in (("at most", 0.1 + 1e-12), ("at least", 0.1 - 1e-12)):
        near = Measurement(bound="t", sense=sense, asked=0.1, achieved=achieved)
        check_bounds(
            CertifiedRelease(certificate.model_copy(update={"measurements": (near,)}), None)
        )


@pytest.fixture
def found(people):
    made = apply_policy(people / "policy.jsonld", {DATASET: people / "people.csv"})
    return CertifiedRelease(made.certificate, made.record)


def changed(found, record=None, **facts):
    kept = found.record.model_copy(update=record or {})
    return CertifiedRelease(found.certificate.model_copy(update=facts), kept)


def test_check_counts_rows(found):
    check_bounds(found)
    none = "V003 The output has 5 rows, the input 6, of which 0 were suppressed."
    with pytest.raises(CertificateError) as told:
        check_bounds(changed(found, rows_out=5))
    assert str(told.value) == none
    check_bounds(changed(found, {"held_out": 1}, rows_out=5))
    with pytest.raises(CertificateError, match="6, of which 0 were suppressed and 2 kept"):
        check_bounds(changed(found, {"held_out": 2}, rows_out=5))


def test_rows_may_be_suppressed_up_to_the_limit(found):
    with pytest.raises(CertificateError, match=r"V003 1 rows are suppressed\. Allowed are 0\."):
        check_bounds(changed(found, {"suppressed": 1}, rows_out=5))
    limit = RecodingOptions(algorithm="full-domain", max_suppression=0.2)
    allowed = with_recoding(found.certificate, limit)
    check_bounds(changed(found, {"suppressed": 1}, rows_out=5, plan=allowed))
    with pytest.raises(CertificateError, match="V003 The output has 4 rows, the input 6, of which"):
        check_bounds(changed(found, {"suppressed": 1}, rows_out=4, plan=allowed))


def test_a_certificate_of_nothing_does_not_hold(found):
    assert not found.certificate.model_copy(update={"output_digest": ""}).holds


def test_what_is_told_of_a_refused_release_is_nothing_of_an_output(found):
    made = found.certificate.model_copy(
        update={
            "ended": EarlyStop(seconds=1, stage="partitioning", left=1),
            "approximated": ("age",),
            "maskings": (MaskedColumn(column="age", masking="rounding", figures={}),),
            "class_figures": {"smallest": 2},
            "sample": SampleFigures(units="rows"),
            "tables": {"a.csv": "0" * 64},
            "models": (1,),
            "disclosures": (2,),
        }
    )
    told = made.as_refusal()
    assert (told.maskings, told.class_figures, told.sample) == ((), None, None)
    assert (told.tables, told.disclosures) == ({}, ())
    assert (told.output_digest, told.commitment, told.rows_out) == ("", None, 0)
    assert (told.measurements, told.models, told.ended, told.approximated) == ((), (), None, ())
    assert told.utility == NotApplicable(reason="nothing was released")
    assert (told.plan, told.time) == (made.plan, made.time)


def test_what_was_measured_attacked_and_found_in_files_is_told_in_one_line(certificate):
    reached = Estimate(value=0.5, low=0.4, high=0.6)
    attack = AttackMeasurement(
        attack="loss", bound=AttackBound(measure="auc", asked=0.6), reached=reached
    )
    files = FilesMeasured(asked=FileBounds(smallest_leaf=10), smallest_leaf=10, rare_values=0)
    told = certificate.model_copy(update={"attacks": (attack,), "files": files})
    assert proven(told) == (
        "k 2 (at least 2), l 2 (at least 2) of disease, "
        f"loss 0.5 (95% interval 0.4 to 0.6) ({attack.bound}), "
        "smallestLeaf 10 (at least 10), rareValues 0 (at most 0), "
        "checks of the files all (all passed)"
    )
    unfit = attack.model_copy(update={"unfit": "it ranks nobody"})
    assert "loss" not in proven(told.model_copy(update={"attacks": (unfit,)}))


@pytest.mark.parametrize(
    ("leaf", "rare", "broken", "expected"),
    [
        (10, 1, (), ["at least 10: 10, True", "at most 1: 1, True", "all passed: all, True"]),
        (
            9,
            2,
            ("x",),
            ["at least 10: 9, False", "at most 1: 2, False", "all passed: 1 broken, False"],
        ),
    ],
)
def test_files_of_a_model_are_told_with_what_is_asked_of_them(
    certificate, leaf, rare, broken, expected
):
    asked = FileBounds(smallest_leaf=10, rare_values=1)
    files = FilesMeasured(asked=asked, smallest_leaf=leaf, rare_values=rare, broken=broken)
    told = [*file_figures(certificate.model_copy(update={"files": files}))]
    assert [name for name, *_ in told] == ["smallestLeaf", "rareValues", "checks of the files"]
    assert [f"{asked}: {found}, {holds}" for _, asked, found, holds in told] == expected
    assert [*file_figures(certificate)] == []


@pytest.mark.parametrize(
    ("found", "figure", "holds"),
    [
        (None, "none found", False),
        (0, "none found", False),
        (2, "at least 2, as far as was searched", False),
        (3, "at least 3, as far as was searched", True),
    ],
)
def test_generators_that_were_found_are_told_as_far_as_was_searched(
    certificate, found, figure, holds
):
    asked = FileBounds(smallest_leaf=10, generators=3)
    files = FilesMeasured(asked=asked, smallest_leaf=10, rare_values=0, generators=found)
    [told] = [
        one
        for one in file_figures(certificate.model_copy(update={"files": files}))
        if one[0] == "generators"
    ]
    assert told == ("generators", "at least 3", figure, holds)


def test_a_certificate_is_a_table_of_a_page(certificate):
    reached = Estimate(value=0.5, low=0.4, high=0.6)
    bound = AttackBound(measure="auc", asked=0.6)
    attack = AttackMeasurement(attack="loss", bound=bound, reached=reached)
    files = FilesMeasured(asked=FileBounds(smallest_leaf=10), smallest_leaf=12, rare_values=0)
    changes = {"attacks": (attack,), "files": files, "rows_out": 1_234}
    page = certificate_html(certificate.model_copy(update=changes))
    cells = re.findall(r"<t[hd][^>]*>([^<]*)</t[hd]>", page)
    assert f"{OUTPUT}: 1,234 rows" in page
    assert "<td>12</td>" in page  # beside figures with words
    assert cells == [
        *("measure", "asked", "achieved"),
        *("k", "at least 2", "2"),
        *("l of disease", "at least 2", "2"),
        *("loss", str(bound), "0.5 (95% interval 0.4 to 0.6)"),
        *("smallestLeaf", "at least 10", "12"),
        *("rareValues", "at most 0", "0"),
        *("checks of the files", "all passed", "all"),
        *("unique on what is kept exact", "", "0 of 6 rows (0.00%): disease"),
        *("unique on quasi-identifiers", "", "0 of 6 rows (0.00%)"),
    ]


def with_recoding(certificate, recoding):
    asked = certificate.plan.anonymize.model_copy(update={"recoding": recoding})
    steps = [asked if step.step == "anonymize" else step for step in certificate.plan.steps]
    return certificate.plan.model_copy(update={"steps": tuple(steps)})


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "PolicyError"),
        ("{}", "KeyError"),
        ("[]", "TypeError"),
        ('{"pe:certificate": {}}', "ValidationError"),
        ("\xff", "PolicyError"),
        ("[" * 9999, "PolicyError"),
    ],
)
def test_what_is_no_certificate_is_refused(text, error):
    with pytest.raises(CertificateError) as told:
        read_certificate(text, "c.jsonld")
    message = f"The text is not a certificate of this version ({error})."
    assert (told.value.problems, told.value.source) == ((Problem("V005", message),), "c.jsonld")


SAYS_MORE = "The certificate contradicts itself, or has fields that certificates do not have."
IMPOSSIBLE = "The certificate contradicts itself. Its output has no rows."


@pytest.mark.parametrize(
    ("changes", "more", "message"),
    [
        ({}, {"@id": "http://x.org/other"}, SAYS_MORE),
        ({}, {"note": "mine"}, SAYS_MORE),
        ({"rows_out": 0}, {}, IMPOSSIBLE),
    ],
)
def test_what_a_certificate_cannot_say_is_told_with_its_source(certificate, changes, more, message):
    document = json.loads(certificate.model_copy(update=changes).to_jsonld())
    with pytest.raises(CertificateError) as told:
        read_certificate(json.dumps({**document, **more}), "c.jsonld")
    assert (told.value.problems, told.value.source) == ((Problem("V005", message),), "c.jsonld")


def test_a_certificate_that_commits_to_no_input_says_of_none_that_it_was_used(certificate):
    silent = certificate.model_copy(update={"commitment": None})
    document = json.loads(silent.to_jsonld())
    assert document["prov:wasGeneratedBy"]["used"] == ["http://x.org/policy"]
    assert read_certificate(silent.to_jsonld()) == silent
    refused = json.loads(certificate.as_refusal().to_jsonld())
    assert "pe:sha256" not in refused


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"@id": "http://x.org/anonPeople"', '"@id": "http://x.org/other"'),
        ('"file": "anonPeople.csv"', '"file": "../../people.csv"'),
        ('"rows_out": 6', '"rows_out": 6, "rows_out": 7'),
        ('"pe:certificate": {', '"pe:more": 1, "pe:certificate": {'),
    ],
    ids=["outside-and-inside", "path", "twice", "more"],
)
def test_a_certificate_that_contradicts_itself_is_refused(certificate, old, new):
    text = certificate.to_jsonld()
    assert old in text
    with pytest.raises(CertificateError, match="V005"):
        read_certificate(text.replace(old, new, 1))


def test_a_certificate_gives_away_no_path(released):
    text = (released / "release" / "certificate.jsonld").read_text()
    assert str(released) not in text
    assert "people.csv" not in text
    assert "phone" not in text


def test_a_certificate_of_another_file_is_refused(released):
    output = released / "release" / "anonPeople.csv"
    output.write_text(output.read_text().replace("flu", "cold", 1))
    with pytest.raises(CertificateError, match="V004"):
        load_certificate(released / "release")


def test_no_certificate_is_told(tmp_path):
    with pytest.raises(DataError, match="C002"):
        load_certificate(tmp_path)


def test_who_asked_is_in_the_plan(certificate):
    assert isinstance(certificate, Certificate)
    assert certificate.plan.assignees == (ANALYST,)
