"""Policies in folders and registries: which are in force, and why the others are not."""

import json
from datetime import UTC, datetime

import pytest
from policy_texts import CONTEXT, RULE, ex

from policy_engine.errors import DataError, PolicyError, RequestError
from policy_engine.policy import PolicyText, Reading
from policy_engine.policy.collecting.registry import is_registry, read_registry

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
    found = Reading().policies_in_force(*sources, time=time)
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


def test_policies_in_the_short_form_are_read_from_a_folder_and_tests_of_them_are_not(tmp_path):
    written(tmp_path, "a.jsonld", "ex:a")
    text = "policy: http://e.org/b\ntarget: http://e.org/T\naction: read\n"
    (tmp_path / "b.yaml").write_text(text)
    (tmp_path / "b-tests.yaml").write_text("policies: b.yaml\ntests: []\n")
    assert collected(tmp_path) == ([holds("a"), holds("b")], ())


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
    [ward] = Reading().policies_in_force(tmp_path, time=MAY)
    assert [len(ward.permissions), len(ward.prohibitions)] == [1, 1]


# -- two of one uid -----------------------------------------------------------------------------


def test_a_policy_that_is_given_twice_is_one(tmp_path):
    one, other = written(tmp_path, "a.jsonld"), tmp_path / "b.jsonld"
    other.write_text(json.dumps(json.loads(one.read_text()), indent=3))
    found, [note] = collected(one, other)
    assert found == [holds("policy")]
    assert "given twice, and means the same" in note


@pytest.mark.parametrize("names", [("a.jsonld", "b.jsonld"), ("b.jsonld", "a.jsonld")])
def test_of_texts_that_mean_the_same_one_that_was_replaced_speaks_for_all(tmp_path, names):
    one, other = names
    copy = written(tmp_path, one)
    gone = written(tmp_path, other, **{"dct:isReplacedBy": {"@id": "ex:new"}})
    found, notes = collected(tmp_path)
    why = f"by {gone}, which means the same, '{ex('new')}' replaced it"
    assert found == []
    assert {*notes} == {
        f"{ex('policy')} ({gone}) is skipped: '{ex('new')}' replaced it.",
        f"{ex('policy')} ({copy}) is skipped: {why}.",
    }


def test_a_parent_is_replaced_where_any_text_that_means_the_same_says_so(tmp_path):
    barred = {"prohibition": {"target": "ex:T", "action": "sell"}}
    written(tmp_path, "a.jsonld", "ex:house", **barred)
    replaced = {"dct:isReplacedBy": {"@id": "ex:other"}}
    written(tmp_path, "b.jsonld", "ex:house", **barred, **replaced)
    child = {"inheritFrom": "ex:house", "permission": {"action": "print", "target": "ex:U"}}
    written(tmp_path, "ward.jsonld", "ex:ward", **child)
    [ward] = Reading().policies_in_force(tmp_path, time=MAY)
    assert [len(ward.permissions), len(ward.prohibitions)] == [1, 1]


def test_a_text_that_means_the_same_as_one_that_a_registry_withdrew_is_over_too(tmp_path):
    written(tmp_path, "listed/1.jsonld")
    path = registry(tmp_path / "listed", entry("policy", 1, "1.jsonld", status="withdrawn"))
    found, notes = collected(path, written(tmp_path, "copy.jsonld"))
    assert found == []
    assert notes[-1].endswith(f"copy.jsonld) is skipped: by {path} it is no longer in force.")


def test_a_version_that_means_the_same_as_an_earlier_one_is_in_force(tmp_path):
    written(tmp_path, "1.jsonld")
    written(tmp_path, "2.jsonld")
    path = registry(
        tmp_path,
        entry("policy", 1, "1.jsonld", status="replaced"),
        entry("policy", 2, "2.jsonld"),
    )
    assert collected(path)[0] == [holds("policy")]


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


@pytest.mark.parametrize("inherits", ["inheritFrom", "inherit\\u0046rom"])
@pytest.mark.parametrize("apart", [True, False])
def test_nobody_replaces_anothers_policy_by_inheriting_from_it(tmp_path, inherits, apart):
    """Nor one that names nobody: only who the texts themselves name are compared."""
    house = written(tmp_path, "house.jsonld", "ex:house", assigner="ex:A")
    mine = written(tmp_path, "a.jsonld", assigner="ex:A", **{"dct:modified": "2026-01-01"})
    keys = {"dct:modified": "2026-05-01", "inheritFrom": "ex:house", **version("U")}
    hers = written(tmp_path, "b.jsonld", **keys)
    hers.write_text(hers.read_text().replace("inheritFrom", inherits))
    reading = Reading(parents=[house] if apart else [])
    given = (house, mine, hers) if apart else (tmp_path,)
    with pytest.raises(RequestError, match="D002 Two policies have the uid"):
        reading.policies_in_force(*given, time=MAY)


def test_of_two_policies_of_one_uid_that_name_nobody_neither_replaces_the_other(tmp_path):
    written(tmp_path, "a.jsonld", **{"dct:modified": "2026-01-01"})
    written(tmp_path, "b.jsonld", **{"dct:modified": "2026-05-01"}, **version("U"))
    with pytest.raises(RequestError, match="D002"):
        collected(tmp_path)


def test_nobody_takes_the_place_of_a_parent_that_was_replaced(tmp_path):
    """The prohibitions of the parent would be lost to its children."""
    replaced = {"dct:isReplacedBy": {"@id": "ex:other"}, "assigner": "ex:A"}
    written(tmp_path, "house.jsonld", "ex:house", prohibition=RULE, permission=None, **replaced)
    written(tmp_path, "ward.jsonld", "ex:ward", inheritFrom="ex:house", **version("U"))
    written(tmp_path, "hers.jsonld", "ex:house", assigner="ex:B")
    with pytest.raises(RequestError, match="D002 Two policies have the uid"):
        collected(tmp_path)


@pytest.mark.parametrize(
    ("assigner", "issuers"), [("ex:A", {ex("A")}), ("ex:B", set()), (None, set())]
)
def test_what_lies_beside_a_policy_speaks_for_its_assigner_where_it_is_his_too(
    tmp_path, assigner, issuers
):
    written(tmp_path, "house.jsonld", "ex:house", assigner=assigner, assignee="ex:Eve")
    ward = {"inheritFrom": "ex:house", "assigner": "ex:A", **version("U")}
    written(tmp_path, "ward.jsonld", "ex:ward", **ward)
    _, found = Reading().policies_in_force(tmp_path, time=MAY)
    assert [rule.issued_by for rule in found.permissions] == [issuers, issuers]
    given = Reading(parents=[tmp_path / "house.jsonld"])
    _, found = given.policies_in_force(tmp_path, time=MAY)
    assert [rule.issued_by for rule in found.permissions] == [{ex("A")}] * 2
    [alone] = given.policies_in_force(tmp_path / "ward.jsonld", time=MAY)
    assert alone.permissions == found.permissions


def test_two_policies_of_one_uid_that_say_different_things_are_refused_with_their_files(tmp_path):
    written(tmp_path, "a.jsonld")
    written(tmp_path, "b.jsonld", **version("U"))
    with pytest.raises(RequestError, match=r"D002 .*a\.jsonld:1' and '.*b\.jsonld:1'"):
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
    found = Reading().policies_in_force(path, time=MAY)
    assert found == ()
    assert len(found.notes) == 2
    assert [outputs(one) for one in found.ended] == [[""], [ex("Safe")]]


def outputs(policy):
    return [rule.output for rule in policy.permissions]


def test_of_a_version_that_is_over_what_it_made_is_known_by_its_text_or_stated(tmp_path):
    written(tmp_path, "2.jsonld", assigner="ex:A")
    gone = {"status": "replaced"}
    path = registry(
        tmp_path, entry("policy", 1, "gone.jsonld", **gone), entry("policy", 2, "2.jsonld")
    )
    told = r"P020 What was made under http://e.org/policy version 1 is void, and nobody knows"
    with pytest.raises(PolicyError, match=told):
        collected(path)
    (tmp_path / "gone.jsonld").write_text("{")
    with pytest.raises(PolicyError, match=told):
        collected(path)
    (tmp_path / "gone.jsonld").unlink()
    gone["outputs"] = [ex("Safe")]
    path = registry(
        tmp_path, entry("policy", 1, "gone.jsonld", **gone), entry("policy", 2, "2.jsonld")
    )
    [one] = Reading().policies_in_force(path, time=MAY).ended
    assert (outputs(one), one.issued_by) == ([ex("Safe")], set())  # ex:A may be a stranger
    assert one.is_lost
    written(tmp_path, "gone.jsonld", assigner="ex:B")
    *_, one = Reading().policies_in_force(path, time=MAY).ended
    assert (outputs(one), one.issued_by, one.is_lost) == ([ex("Safe")], {ex("B")}, False)


def test_what_a_version_that_is_over_inherited_is_known_too(tmp_path):
    made = {**RULE, "output": "ex:Safe", "action": "anonymize"}
    written(tmp_path, "house.jsonld", "ex:house", permission=made)
    written(tmp_path, "ward.jsonld", "ex:ward", inheritFrom="ex:house")
    over = entry("ward", 1, "ward.jsonld", status="withdrawn")
    path = registry(tmp_path, over, entry("house", 1, "house.jsonld"))
    [ward] = Reading().policies_in_force(path, time=MAY).ended
    assert ex("Safe") in outputs(ward)
    written(tmp_path, "ward.jsonld", "ex:ward", inheritFrom="ex:lost", permission=RULE)
    with pytest.raises(PolicyError, match="nobody knows what that is"):
        collected(path)


def test_a_version_that_is_over_need_not_be_there(tmp_path):
    written(tmp_path, "2.jsonld")
    over = entry("policy", 1, "gone.jsonld", outputs=[])
    path = registry(tmp_path, over, entry("policy", 2, "2.jsonld"))
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


def test_a_text_that_was_parsed_is_not_read_a_second_time(tmp_path):
    text = PolicyText(written(tmp_path, "a.jsonld").read_bytes(), "a.jsonld").parsed()
    assert Reading().policy(text._replace(text=b"{")).uid == ex("policy")


def test_a_text_that_cannot_be_parsed_is_left_to_who_says_why():
    text = PolicyText(b"{", "a.jsonld").parsed()
    with pytest.raises(PolicyError, match="J001"):
        Reading().policies(text)
