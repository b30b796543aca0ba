"""Policies in folders and registries: which are in force, and why the others are not."""

import json
from datetime import UTC, datetime

import pytest
from policy_texts import CONTEXT, RULE, ex

from policy_engine.errors import DataError, PolicyError, RequestError
from policy_engine.policy import Reading
from policy_engine.policy.registry import is_registry, read_registry

MAY = datetime(2026, 5, 1, tzinfo=UTC)


def written(folder, name, uid="ex:policy", **keys):
    """Write a policy, and return its path."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    keys = {"permission": RULE, **keys}
    keys = {key: value for key, value in keys.items() if value}
    path.write_text(json.dumps({"@context": CONTEXT, "@type": "Set", "uid": uid, **keys}))
    return path


def registry(folder, *entries, name="registry.json"):
    path = folder / name
    path.write_text(json.dumps({"policies": list(entries)}, indent=1))
    return path


def entry(uid, version, file, **keys):
    return {"uid": ex(uid), "version": version, "file": file, **keys}


def collected(*sources, time=MAY):
    """Return the names of what is in force, and the notes."""
    found = Reading().in_force(*sources, time=time)
    return [(one.uid, one.permissions[0].targets[0].iri) for one in found], found.notes


def holds(uid, target="T"):
    return ex(uid), ex(target)


def version(target):
    return {"permission": {**RULE, "target": f"ex:{target}"}}


# -- folders ------------------------------------------------------------------------------------


def test_policies_of_a_folder_are_those_of_its_files_in_order(tmp_path):
    written(tmp_path, "b.jsonld", "ex:b")
    written(tmp_path, "a.jsonld", "ex:a")
    written(tmp_path, "inner/c.json", "ex:c")
    written(tmp_path, ".hidden.jsonld", "ex:d")
    (tmp_path / "readme.md").write_text("no policy")
    assert collected(tmp_path) == ([holds("a"), holds("b"), holds("c")], ())


def test_a_replaced_policy_is_skipped_with_a_note_and_the_others_hold(tmp_path):
    written(tmp_path, "a.jsonld", "ex:a")
    path = written(tmp_path, "b.jsonld", "ex:b", **{"dct:isReplacedBy": {"@id": "ex:a"}})
    found, [note] = collected(tmp_path)
    assert found == [holds("a")]
    assert note == f"{ex('b')} ({path}) is skipped: '{ex('a')}' replaced it."
    with pytest.raises(PolicyError, match=r"P012 The policy was replaced by 'http://e.org/a'"):
        Reading().policies(path)


def test_what_cannot_be_read_in_a_folder_is_an_error_with_its_file(tmp_path):
    written(tmp_path, "a.jsonld")
    (tmp_path / "b.jsonld").write_text("{")
    with pytest.raises(PolicyError, match=r"b\.jsonld:1:2: J001"):
        collected(tmp_path)
    written(tmp_path, "c.jsonld", "ex:c", permission={"target": "ex:T"})
    with pytest.raises(PolicyError) as error:
        collected(tmp_path)
    told = str(error.value)
    assert "b.jsonld', line 1: " in told
    assert "c.jsonld', line 1: The permission has no action" in told


def test_what_is_no_policy_in_a_folder_is_refused(tmp_path):
    (tmp_path / "a.jsonld").write_text(
        json.dumps({"@context": CONTEXT, "@graph": [{"uid": "ex:Ann", "belongsTo": "ex:B"}]})
    )
    with pytest.raises(PolicyError, match=r"a\.jsonld"):
        collected(tmp_path)


def test_a_folder_that_cannot_be_listed_is_an_error(tmp_path, monkeypatch):
    def refuse(_path):
        raise PermissionError(13, "Permission denied", str(tmp_path))

    monkeypatch.setattr("os.scandir", refuse)
    with pytest.raises(DataError, match="C003"):
        collected(tmp_path)


def test_policies_of_a_folder_inherit_from_one_another(tmp_path):
    written(tmp_path, "house.jsonld", "ex:house", target="ex:T", permission={"action": "read"})
    child = {"inheritFrom": "ex:house", "permission": {"action": "print"}}
    written(tmp_path, "ward.jsonld", "ex:ward", **child)
    assert collected(tmp_path)[0] == [holds("house"), holds("ward")]
    bare = {"permission": [], "prohibition": {"action": "sell"}}
    written(tmp_path, "house.jsonld", "ex:house", **bare)
    child["permission"] = {"action": "print", "target": "ex:U"}
    written(tmp_path, "ward.jsonld", "ex:ward", target="ex:U", **child)
    found, notes = collected(tmp_path)
    assert found == [holds("ward", "U")]
    assert notes == (f"{ex('house')} counts for those that inherit from it.",)


def test_what_is_inherited_from_a_replaced_policy_are_its_prohibitions(tmp_path):
    replaced = {"dct:isReplacedBy": {"@id": "ex:other"}}
    barred = {"target": "ex:T", "action": "sell"}
    written(tmp_path, "house.jsonld", "ex:house", prohibition=barred, **replaced)
    child = {"inheritFrom": "ex:house", "permission": {"action": "print", "target": "ex:U"}}
    written(tmp_path, "ward.jsonld", "ex:ward", **child)
    [ward] = Reading().in_force(tmp_path, time=MAY)
    assert [len(ward.permissions), len(ward.prohibitions)] == [1, 1]


# -- two of one uid -----------------------------------------------------------------------------


def test_a_policy_that_is_given_twice_is_one(tmp_path):
    one, other = written(tmp_path, "a.jsonld"), tmp_path / "b.jsonld"
    other.write_text(json.dumps(json.loads(one.read_text()), indent=3))
    found, [note] = collected(one, other)
    assert found == [holds("policy")]
    assert "given twice, and means the same" in note


def test_of_two_policies_of_one_uid_the_later_one_of_the_same_assigner_holds(tmp_path):
    def dated(name, day, target, assigner="ex:A"):
        keys = {"dct:modified": day, "assigner": assigner, **version(target)}
        return written(tmp_path, name, **keys)

    dated("a.jsonld", "2026-02-01", "U")
    dated("b.jsonld", "2026-01-01", "T")
    found, [note] = collected(tmp_path)
    assert found == [holds("policy", "U")]
    assert note.endswith("is skipped: the one of 2026-02-01T00:00:00+00:00 replaced it.")
    dated("a.jsonld", "2026-02-01", "U", "ex:B")
    with pytest.raises(RequestError, match="D002 Two policies have the uid"):
        collected(tmp_path)


def test_two_policies_of_one_uid_that_say_different_things_are_refused_with_their_files(tmp_path):
    written(tmp_path, "a.jsonld")
    written(tmp_path, "b.jsonld", **version("U"))
    with pytest.raises(RequestError, match=r"D002 .*a\.jsonld' and '.*b\.jsonld'"):
        collected(tmp_path)


# -- registries ---------------------------------------------------------------------------------


def test_the_newest_version_that_has_begun_holds(tmp_path):
    for number, target in (("1", "T"), ("2", "U"), ("10", "V")):
        written(tmp_path, f"{number}.jsonld", **version(target))
    path = registry(
        tmp_path,
        entry("policy", "2", "2.jsonld", **{"from": "2026-03-01"}),
        entry("policy", 1, "1.jsonld"),
        entry("policy", "10.0", "10.jsonld", **{"from": "2026-06-01T12:00:00+02:00"}),
    )
    for day, target in ((datetime(2026, 2, 1, tzinfo=UTC), "T"), (MAY, "U")):
        assert collected(path, time=day)[0] == [holds("policy", target)]
    found, notes = collected(tmp_path, time=datetime(2026, 6, 1, 10, tzinfo=UTC))
    assert found == [holds("policy", "V")]
    assert [note.removeprefix(f"{ex('policy')} ") for note in notes] == [
        "version 2 is skipped: version 10 replaced it.",
        "version 1 is skipped: version 10 replaced it.",
    ]
    _, notes = collected(path, time=MAY)
    assert "it holds from 2026-06-01T12:00:00+02:00 on" in notes[1]


@pytest.mark.parametrize("keys", [{"status": "withdrawn"}, {"until": "2026-04-01"}])
def test_a_version_that_ended_brings_no_older_one_back_and_voids_what_it_made(tmp_path, keys):
    made = {"permission": {**RULE, "output": "ex:Safe", "action": "anonymize"}}
    written(tmp_path, "1.jsonld")
    written(tmp_path, "2.jsonld", **made)
    path = registry(
        tmp_path, entry("policy", 1, "1.jsonld"), entry("policy", 2, "2.jsonld", **keys)
    )
    found = Reading().in_force(path, time=MAY)
    assert found == ()
    assert len(found.notes) == 2
    assert found.void == {ex("Safe"): ex("policy")}


def test_an_output_of_the_version_before_is_not_void_where_today_s_makes_it(tmp_path):
    made = {"permission": {**RULE, "output": "ex:Safe", "action": "anonymize"}}
    written(tmp_path, "1.jsonld", **made)
    written(tmp_path, "2.jsonld", **made)
    path = registry(tmp_path, entry("policy", 1, "1.jsonld"), entry("policy", 2, "2.jsonld"))
    assert Reading().in_force(path, time=MAY).void == {}


def test_a_version_that_is_over_need_not_be_there(tmp_path):
    written(tmp_path, "2.jsonld")
    path = registry(tmp_path, entry("policy", 1, "gone.jsonld"), entry("policy", 2, "2.jsonld"))
    found, notes = collected(path)
    assert found == [holds("policy")]
    assert "'gone.jsonld', which is in force no longer, cannot be read: C002." in notes
    path = registry(tmp_path, entry("policy", 1, "2.jsonld"), entry("policy", 2, "gone.jsonld"))
    with pytest.raises(DataError, match=r"C002 There is no file '.*gone\.jsonld'"):
        collected(path)


def test_a_registry_in_a_folder_names_every_policy_there(tmp_path):
    written(tmp_path, "1.jsonld")
    written(tmp_path, "inner/lost.jsonld", "ex:lost")
    registry(tmp_path, entry("policy", 1, "1.jsonld"))
    with pytest.raises(PolicyError, match=r"P020 The registry does not name the file '.*lost"):
        collected(tmp_path)


def test_a_file_of_a_registry_holds_what_its_entries_say(tmp_path):
    written(tmp_path, "1.jsonld")
    path = registry(tmp_path, entry("other", 1, "1.jsonld"))
    with pytest.raises(PolicyError) as error:
        collected(path)
    assert [one.message.partition(" hold")[2] for one in error.value.problems] == [
        f"s the policy {ex('policy')!r}, which has no entry.",
        f" the policy {ex('other')!r}.",
    ]


def test_a_registry_is_read_strictly_with_all_that_is_wrong_in_it():
    text = json.dumps(
        {
            "policies": [
                {"uid": "policy", "version": "1a", "file": "", "status": "gone"},
                {"uid": ex("p"), "version": 1},
                {"uid": ex("p"), "version": True, "file": "a", "until": "soon", "fil": 1},
                entry("p", 1, "a", **{"from": "2026-01-02", "until": "2026-01-01"}),
                entry("q", "1.0", "a"),
                entry("q", 1, "b"),
                "policy",
            ],
            "version": 1,
        },
        indent=1,
    )
    with pytest.raises(PolicyError) as error:
        read_registry(text, "registry.json")
    assert {problem.code for problem in error.value.problems} == {"P020"}
    assert [problem.place.pointer for problem in error.value.problems] == [
        *(f"/policies/0/{key}" for key in ("uid", "version", "file", "status")),
        *("/policies/1", "/policies/2/version", "/policies/2/until", "/policies/2/fil"),
        *("/policies/3/until", "/policies/5", "/policies/6", "/version"),
    ]


def test_a_policy_is_no_registry(tmp_path):
    assert not is_registry(written(tmp_path, "a.jsonld", **{"dct:title": '"policies"'}).read_text())
    assert is_registry('{"policies": []}')
    assert not is_registry('["policies"]')
    assert not is_registry('{"policies"')
