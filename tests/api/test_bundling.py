import json

import pytest
from applying import asking
from building import ANALYST, DATASET, OUTPUT, column

from policy_engine import (
    PolicyEngineError,
    Request,
    apply_policy,
    bundle_policies,
    decider,
    load_bundle,
)
from policy_engine.api.bundling import strange_proofs
from policy_engine.errors import DataError

READING = "http://www.w3.org/ns/odrl/2/read"
MARKETING = "https://www.mosaicrown.eu/ns/mosaicrown/1/marketing"
READ = "action: read\nassignee: http://ex.com/A\n"


def simple(folder, name, target="http://ex.com/T", text=""):
    file = folder / name
    file.write_text(f"policy: http://ex.com/{file.stem}\ntarget: {target}\n{READ}{text}", "utf-8")
    return file


def reads(bundle, target="http://ex.com/T", assignee="http://ex.com/A", **more):
    asked = Request(assignee=assignee, action=READING, targets=[target])
    return decider(bundle, **more).decide(asked).permitted


def test_certificates_are_in_the_bundle(released):
    policy = released / "policy.jsonld"
    bundle = bundle_policies([policy], [released / "release"])
    asked = Request(assignee=ANALYST, action=READING, targets=[OUTPUT], purpose=MARKETING)
    assert decider(bundle).decide(asked).permitted
    assert not decider(bundle_policies([policy])).decide(asked).permitted
    assert not strange_proofs(bundle)


def test_certificates_without_their_policy_are_named(released):
    bundle = bundle_policies([simple(released, "p.yaml")], [released / "release"])
    assert strange_proofs(bundle) == [OUTPUT]


def test_a_bundle_answers_as_its_files_do(tmp_path):
    file = simple(tmp_path, "p.yaml")
    bundle_policies([file], file=tmp_path / "b")
    file.unlink()
    bundle = load_bundle(tmp_path / "b")
    assert reads(bundle)
    assert not reads(bundle, assignee="http://ex.com/B")


def test_what_policies_are_read_and_decided_with_is_in_the_bundle(tmp_path):
    file = simple(tmp_path, "p.yaml")
    groups = tmp_path / "groups.jsonld"
    groups.write_text(
        json.dumps(
            {
                "@context": "http://www.w3.org/ns/odrl.jsonld",
                "@graph": [{"@id": "http://ex.com/B", "partOf": "http://ex.com/A"}],
            }
        )
    )
    owners = tmp_path / "owners.json"
    owners.write_text('{"http://ex.com/T": "http://ex.com/owner"}')
    assert reads(bundle_policies([file], hierarchies=[groups]), assignee="http://ex.com/B")
    owned = bundle_policies([file], owners=owners)
    assert not reads(owned)  # nobody known issued the rule
    with pytest.raises(PolicyEngineError, match="has its own"):
        decider(owned, owners=owners)


def test_folders_and_registries_are_packed_with_their_files(tmp_path):
    folder = tmp_path / "all"
    (folder / "more").mkdir(parents=True)
    simple(folder, "p.yaml")
    simple(folder / "more", "q.yaml", "http://ex.com/U")
    bundle = bundle_policies([folder])
    assert reads(bundle)
    assert reads(bundle, "http://ex.com/U")
    entries = [
        {"uid": "http://ex.com/p", "version": 1, "file": "p.yaml", "status": "withdrawn"},
        {"uid": "http://ex.com/q", "version": 1, "file": "more/q.yaml"},
        {
            "uid": "http://ex.com/gone",
            "version": 1,
            "file": "g.yaml",
            "status": "withdrawn",
            "outputs": [],
        },
    ]
    registry = folder / "registry.json"
    registry.write_text(json.dumps({"policies": entries}))
    for source in (folder, registry):
        bundle = bundle_policies([source])
        assert not reads(bundle)
        assert reads(bundle, "http://ex.com/U")


def test_two_files_of_one_name_are_both_packed(tmp_path):
    (tmp_path / "other").mkdir()
    files = [simple(tmp_path, "p.yaml"), tmp_path / "other" / "p.yaml"]
    text = files[0].read_text("utf-8").replace("/p\n", "/q\n").replace("/T\n", "/U\n")
    files[1].write_text(text, "utf-8")
    bundle = bundle_policies(files)
    assert reads(bundle)
    assert reads(bundle, "http://ex.com/U")


def test_a_registry_that_names_a_file_outside_is_refused(tmp_path):
    (tmp_path / "all").mkdir()
    simple(tmp_path, "p.yaml")
    registry = tmp_path / "all" / "registry.json"
    entry = {"uid": "http://ex.com/p", "version": 1, "file": "../p.yaml"}
    registry.write_text(json.dumps({"policies": [entry]}))
    with pytest.raises(PolicyEngineError, match="outside of its folder"):
        bundle_policies([registry])


def test_nothing_is_written_of_what_cannot_be_read(tmp_path):
    bad = tmp_path / "p.yaml"
    bad.write_text("policy: http://ex.com/p\ntargte: x\n")
    with pytest.raises(PolicyEngineError):
        bundle_policies([bad], file=tmp_path / "b")
    assert not (tmp_path / "b").exists()


def test_a_file_that_is_there_stays(tmp_path):
    file = simple(tmp_path, "p.yaml")
    (tmp_path / "b").write_text("mine")
    with pytest.raises(PolicyEngineError, match="O001"):
        bundle_policies([file], file=tmp_path / "b")
    bundle_policies([file], file=tmp_path / "b", overwrite=True)
    assert load_bundle(tmp_path / "b").digest == bundle_policies([file]).digest
    with pytest.raises(PolicyEngineError, match="C018"):
        load_bundle(tmp_path / "b", digest="0" * 64)


def test_taxonomies_in_a_bundle_are_those_of_releases(tmp_path):
    file = simple(tmp_path, "p.yaml")
    taxonomy = tmp_path / "towns.csv"
    taxonomy.write_text("Rome;Italy;*\nBonn;Germany;*\n")
    bundle = bundle_policies([file], taxonomies={"towns": taxonomy}, file=tmp_path / "b")
    [loaded] = load_bundle(tmp_path / "b").taxonomies().items()
    assert (loaded[0], loaded[1].digest) == ("towns", bundle.taxonomies()["towns"].digest)
    rows = {"town": ["Rome", "Bonn"] * 2}
    town = column("town", generalization="taxonomy", taxonomy="towns")
    asked = asking(method="k-anonymity", k=4, quasi=[town])
    release = apply_policy(asked, {DATASET: rows}, taxonomies=dict([loaded]))
    assert release.table.column("town").to_pylist() == ["*"] * 4


def test_a_taxonomy_that_is_none_is_not_packed(tmp_path):
    taxonomy = tmp_path / "towns.csv"
    taxonomy.write_text("Rome;Italy;*\nRome;Spain;*\n")
    with pytest.raises(DataError):
        bundle_policies([simple(tmp_path, "p.yaml")], taxonomies={"towns": taxonomy})
