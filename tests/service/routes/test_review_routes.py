"""Outputs that people decide about: who sees what, who decides, and what leaves."""

import io
import json
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from output_checked import TABLE as DATA
from pyarrow import csv
from reviewed_answers import BY_SECTOR, EVERYBODY, PEOPLE, TOTALS
from served import API, browser, code, service, signed_in
from test_dataset_routes import uploaded
from test_policy_routes import published

from policy_engine.api import reviewing_answers
from policy_engine.api.checking_outputs import check_tables
from policy_engine.errors import ServiceError
from policy_engine.release.output_folder.folder import OutputFolder
from policy_engine.release.output_ledger import OutputLedger
from policy_engine.service.backing_up import back_up
from policy_engine.service.files.keys import key_file
from policy_engine.service.resources import reviews
from policy_engine.service.resources.review_limits import waiting_review
from policy_engine.service.resources.review_records import ReviewRecords
from policy_engine.service.store.base import now
from policy_engine.service.store.reviews import StoredReview

READER = "http://example.com/people/rita"
CHECK = [
    {"leftOperand": "pe:outputCheck", "operator": "eq", "rightOperand": "bundesbank"},
    {"leftOperand": "pe:privacyUnit", "operator": "eq", "rightOperand": {"@id": f"{DATA}/person"}},
    {"leftOperand": "pe:minUnits", "operator": "eq", "rightOperand": 5},
]
REASON = {"reason": "Losses are published."}


def policy():
    read = {"rdf:value": {"@id": "odrl:read"}, "refinement": CHECK}
    return json.dumps(
        {
            "@context": [
                "http://www.w3.org/ns/odrl.jsonld",
                "https://www.mosaicrown.eu/ns/mosaicrown.jsonld",
            ],
            "@type": "Set",
            "uid": "http://example.com/policy",
            "permission": [
                {
                    "uid": "http://example.com/policy/read",
                    "assignee": READER,
                    "target": DATA,
                    "action": [read],
                }
            ],
        }
    )


def table():
    file = io.BytesIO()
    csv.write_csv(PEOPLE, file)
    return file.getvalue()


@pytest.fixture
def owner(services):
    client = signed_in(services, "owner", name="Olga")
    published(client, policy())
    assert uploaded(client, table(), "people.csv", DATA).status_code == 200
    return client


@pytest.fixture
def reader(services, owner):
    assert owner.get(f"{API}/datasets").json()["items"]
    return signed_in(services, "consumer", name="Rita", party=READER)


def ask(client, sql=TOTALS, **more):
    answer = client.post(f"{API}/queries", json={"sql": sql, **more})
    assert answer.status_code == 200, answer.text
    return answer.json()


def decide(client, review, verb="accept", **body):
    address = f"{API}/reviews/{review}"
    tag = client.get(address).headers["etag"]
    return client.post(f"{address}:{verb}", json={**REASON, **body}, headers={"If-Match": tag})


def archive(folder):
    """Return the archive of a folder that `check` wrote elsewhere."""
    (folder / "one.csv").write_text("region,n\nnorth,70\nsouth,44\n")
    check_tables(folder / "one.csv", profile="sacro", out=folder / "sent", by="rita")
    return Path(shutil.make_archive(str(folder / "sent"), "zip", folder / "sent")).read_bytes()


def send(client, content, dataset=DATA):
    headers = {"Content-Type": "application/zip"}
    return client.post(
        f"{API}/reviews", params={"dataset": dataset}, content=content, headers=headers
    )


@pytest.mark.one_in(2)
@pytest.mark.both_databases
def test_an_answer_is_sent_for_review_accepted_and_given_to_who_asked(owner, reader):
    answer = ask(reader, comment="For the report.")
    review = answer["review"]
    assert [one["s"] for one in answer["rows"]] == [None] * 3
    [waiting] = owner.get(f"{API}/reviews", params={"state": "open"}).json()["items"]
    assert (waiting["id"], waiting["kind"], waiting["request"]) == (review, "answer", TOTALS)
    assert code(reader.get(f"{API}/reviews/{review}/answer")) == (409, "K028")
    accepted = decide(owner, review)
    assert (accepted.status_code, accepted.json()["state"]) == (200, "accepted")
    rows = reader.get(f"{API}/reviews/{review}/answer").json()["rows"]
    assert [one["s"] for one in rows] == [-10.0, -10.0, None]
    assert code(decide(owner, review, "reject")) == (409, "N004")


@pytest.mark.nightly
def test_what_was_accepted_is_in_the_ledger_and_later_answers_are_judged_by_it(
    services, owner, reader
):
    first, second = ask(reader)["review"], ask(reader, BY_SECTOR)["review"]
    assert decide(owner, first).status_code == 200
    ledger = OutputLedger(
        services.settings.folder / "outputs.sqlite", key_file(services.settings.folder, "outputs")
    )
    entries = ledger.history()
    assert entries[-1].output.accepted == owner.get(f"{API}/me").json()["id"]
    refused = decide(owner, second)
    assert code(refused) == (409, "K044")
    assert len(ledger.history()) == len(entries)
    assert reader.get(f"{API}/reviews/{second}").json()["state"] == "open"
    assert code(reader.get(f"{API}/reviews/{second}/answer")) == (409, "K028")


@pytest.mark.nightly
@pytest.mark.parametrize("verb", ["accept", "reject"])
def test_while_an_answer_is_being_accepted_nobody_else_decides(
    services, owner, reader, monkeypatch, verb
):
    steward = signed_in(services, "steward", name="Sue")
    owner.put(f"{API}/stewards/{steward.get(f'{API}/me').json()['id']}")
    review = ask(reader)["review"]
    begun, done = threading.Event(), threading.Event()
    accept = reviewing_answers.accept_answer

    def slow(*question, **more):
        begun.set()
        assert done.wait(30)
        return accept(*question, **more)

    monkeypatch.setattr(reviewing_answers, "accept_answer", slow)
    with ThreadPoolExecutor(1) as other:
        accepted = other.submit(decide, owner, review)
        try:
            assert begun.wait(30)
            assert code(decide(steward, review, verb)) == (409, "N004")
        finally:
            done.set()
        assert accepted.result(30).json()["state"] == "accepted"
    assert code(decide(steward, review, verb)) == (409, "N004")
    entries = [one.output for one in ledger_of(services) if one.output is not None]
    assert len([one for one in entries if one.accepted]) == 1
    assert reader.get(f"{API}/reviews/{review}/answer").status_code == 200


@pytest.mark.nightly
def test_what_another_process_rejected_meanwhile_is_not_accepted(
    services, owner, reader, monkeypatch
):
    review = ask(reader)["review"]
    entries = len(ledger_of(services))
    accept = reviewing_answers.accept_answer

    def late(folder, *question, key, **more):
        read = OutputFolder.read(folder, key)
        read.decide("answer", accepts=False, reason="Never.", by="sue", is_final=True)
        return accept(folder, *question, key=key, **more)

    monkeypatch.setattr(reviewing_answers, "accept_answer", late)
    assert code(decide(owner, review)) == (409, "K028")
    assert len(ledger_of(services)) == entries
    assert code(reader.get(f"{API}/reviews/{review}/answer")) == (409, "K028")


def ledger_of(services):
    folder = services.settings.folder
    return OutputLedger(folder / "outputs.sqlite", key_file(folder, "outputs")).history()


@pytest.mark.nightly
def test_who_asked_reads_codes_and_words_and_no_figure(owner, reader):
    review = ask(reader)["review"]
    decide(owner, review, "reject", reason="Too close to the firm.")
    told = reader.get(f"{API}/reviews/{review}")
    [output] = told.json()["outputs"]
    assert (output["standing"], output["reason"]) == ("rejected", "Too close to the firm.")
    assert set(output["reasons"]) == {"K007", "K049"}
    assert "-10" not in told.text
    assert code(reader.get(f"{API}/reviews/{review}/evidence")) == (403, "N002")
    assert code(reader.get(f"{API}/reviews/{review}/answer")) == (409, "K028")
    assert code(reader.get(f"{API}/reviews/{review}/files/answer.csv")) == (409, "K028")


@pytest.mark.nightly
def test_the_evidence_is_for_the_owner_their_stewards_and_auditors(services, owner, reader):
    review = ask(reader)["review"]
    steward = signed_in(services, "steward", name="Sue")
    address = f"{API}/reviews/{review}/evidence"
    assert code(steward.get(address)) == (404, "N003")
    owner.put(f"{API}/stewards/{steward.get(f'{API}/me').json()['id']}")
    auditor = signed_in(services, "auditor", name="Ann")
    for client in (owner, steward, auditor):
        [output] = client.get(address).json()["outputs"]
        # How many persons there are counts as known: beside b's count, a's would tell c's.
        assert output["held"][0]["rows"][0] == ["a", None, "-10"]
        assert output["verdict"]["query"]["cells"]
    other = signed_in(services, "owner", name="Otto")
    assert code(other.get(address)) == (404, "N003")
    assert code(other.get(f"{API}/reviews/{review}")) == (404, "N003")
    assert code(decide(auditor, review)) == (403, "N002")
    assert decide(steward, review).status_code == 200


@pytest.mark.one_in(4)
@pytest.mark.parametrize("role", ["auditor", "steward", "owner"])
def test_who_asked_sees_no_figure_of_it_whatever_else_they_are(services, owner, role):
    both = signed_in(services, "consumer", role, name="Rita", party=READER)
    if role == "steward":
        owner.put(f"{API}/stewards/{both.get(f'{API}/me').json()['id']}")
    review = ask(both)["review"]
    address = f"{API}/reviews/{review}/evidence"
    for path in ("", "/held/answer.csv", "/held/answer.parquet"):
        told = both.get(f"{address}{path}")
        assert told.status_code in (403, 404)
        assert "-10" not in told.text
    assert owner.get(f"{address}/held/answer.csv").status_code == 200


@pytest.mark.nightly
def test_who_may_decide_about_their_own_sees_what_they_decide_about(tmp_path):
    with service(tmp_path, own_reviews=True) as services:
        both = signed_in(services, "owner", "consumer", name="Olga", party=READER)
        published(both, policy())
        uploaded(both, table(), "people.csv", DATA)
        auditor = signed_in(services, "auditor", "consumer", name="Ann", party=READER)
        mine, theirs = ask(both)["review"], ask(auditor)["review"]
        assert both.get(f"{API}/reviews/{mine}/evidence").status_code == 200
        for review in (mine, theirs):
            assert code(auditor.get(f"{API}/reviews/{review}/evidence")) == (403, "N002")


@pytest.mark.nightly
def test_an_auditor_who_may_query_reads_no_figures_that_are_withheld_from_others(
    services, reader, tmp_path
):
    answer, outputs = ask(reader)["review"], send(reader, archive(tmp_path)).json()["id"]
    both = signed_in(services, "auditor", "consumer", name="Ann", party=f"{READER}/ann")
    key = both.post(f"{API}/keys", json={"name": "half", "roles": ["auditor"]}).json()["key"]
    by_key = browser(services)
    by_key.headers["Authorization"] = f"Bearer {key}"
    for client in (both, by_key):
        for review in (answer, outputs):
            evidence = client.get(f"{API}/reviews/{review}/evidence")
            assert code(evidence) == (403, "N002")
            assert not client.get(f"{API}/reviews/{review}").json()["may_see_evidence"]
        assert client.get(f"{API}/reviews/{answer}/evidence/held/answer.csv").status_code == 403


@pytest.mark.nightly
def test_outputs_are_sent_about_data_that_policies_tell_of(services, owner, reader, tmp_path):
    stranger = signed_in(services, "consumer", name="Nil", party="http://example.com/people/nil")
    content = archive(tmp_path)
    answers = [
        send(stranger, one, dataset).json()
        for one in (content, b"not an archive")
        for dataset in (DATA, "http://example.com/Unknown")
    ]
    assert answers[0]["code"] == "N003"
    assert {one["detail"] for one in answers} == {answers[0]["detail"]}
    assert owner.get(f"{API}/reviews").json()["items"] == []
    assert send(reader, content).status_code == 201
    assert send(signed_in(services, "owner", name="Otto"), content).json()["code"] == "N003"


@pytest.mark.nightly
def test_others_neither_see_nor_receive_what_somebody_asked_for(services, owner, reader):
    review = ask(reader)["review"]
    decide(owner, review)
    other = signed_in(services, "consumer", name="Carl", party="http://example.com/people/carl")
    assert other.get(f"{API}/reviews").json()["items"] == []
    for path in ("", "/answer", "/files/answer.parquet"):
        assert code(other.get(f"{API}/reviews/{review}{path}")) == (404, "N003")
    assert code(owner.get(f"{API}/reviews/{review}/answer")) == (404, "N003")


@pytest.mark.one_in(2)
@pytest.mark.parametrize("is_allowed", [False, True])
def test_who_asked_decides_only_if_the_settings_let_them(tmp_path, is_allowed):
    with service(tmp_path, own_reviews=is_allowed) as services:
        both = signed_in(services, "owner", "consumer", name="Olga", party=READER)
        published(both, policy())
        uploaded(both, table(), "people.csv", DATA)
        review = ask(both)["review"]
        told = both.get(f"{API}/reviews/{review}").json()
        assert (told["may_decide"], told["may_see_evidence"]) == (is_allowed, is_allowed)
        evidence = both.get(f"{API}/reviews/{review}/evidence")
        assert evidence.is_success is is_allowed
        answer = decide(both, review)
        assert answer.status_code == (200 if is_allowed else 409)
        if not is_allowed:
            assert answer.json()["code"] == "K028"


@pytest.mark.nightly
def test_what_somebody_may_do_with_a_review_is_told(services, owner, reader):
    review = ask(reader)["review"]
    auditor = signed_in(services, "auditor")
    told = [one.get(f"{API}/reviews").json()["items"][0] for one in (owner, reader, auditor)]
    assert [one["may_decide"] for one in told] == [True, False, False]
    assert [one["may_see_evidence"] for one in told] == [True, False, True]
    decide(owner, review)
    assert not owner.get(f"{API}/reviews/{review}").json()["may_decide"]


def unseen(client):
    """Return what is told as news: the number, and the reviews."""
    items = client.get(f"{API}/reviews", params={"unseen": True}).json()["items"]
    return client.get(f"{API}/reviews:unseen").json()["count"], [one["id"] for one in items]


@pytest.mark.nightly
@pytest.mark.both_databases
def test_who_asked_is_told_that_it_was_decided_until_they_look(owner, reader):
    review = ask(reader)["review"]
    assert unseen(reader) == (0, [])
    reader.post(f"{API}/reviews/{review}:see")
    decide(owner, review)
    assert unseen(reader) == (1, [review])
    assert unseen(owner) == (0, [])
    assert code(owner.post(f"{API}/reviews/{review}:see")) == (404, "N003")
    assert reader.get(f"{API}/reviews/{review}").json()["is_unseen"]
    assert reader.post(f"{API}/reviews/{review}:see").status_code == 204
    assert unseen(reader) == (0, [])


@pytest.mark.nightly
def test_who_asked_is_told_how_many_of_their_reviews_wait(owner, reader):
    def waiting(client):
        return client.get(f"{API}/reviews:unseen").json()["waiting"]

    assert waiting(reader) == 0
    first, second = (ask(reader, sql)["review"] for sql in (TOTALS, BY_SECTOR))
    assert (waiting(reader), waiting(owner)) == (2, 0)
    decide(owner, first)
    assert waiting(reader) == 1
    decide(owner, second, "reject")
    assert waiting(reader) == 0


@pytest.mark.nightly
def test_a_decision_that_is_in_the_log_alone_is_told_once_its_process_has_ended(
    services, owner, reader, monkeypatch
):
    first, second = (ask(reader, sql)["review"] for sql in (TOTALS, BY_SECTOR))
    monkeypatch.setattr(ReviewRecords, "settle", None)
    for one in (first, second):
        tag = {"If-Match": '"1"'}
        owner.post(f"{API}/reviews/{one}:reject", json=REASON, headers=tag)
    monkeypatch.undo()
    with services.database.writing() as session:  # no process is there to give its claim up
        row = session.get_one(StoredReview, second)
        row.deciding_by, row.deciding_since = row.owner_id, now() - timedelta(hours=1)
    assert unseen(reader) == (1, [second])
    assert owner.get(f"{API}/reviews/{first}").json()["state"] == "rejected"
    told = {one["id"]: one for one in owner.get(f"{API}/reviews").json()["items"]}
    assert [told[one]["state"] for one in (first, second)] == ["rejected"] * 2
    assert [told[one]["decided_by"] for one in (first, second)] == [told[first]["owner"]] * 2
    assert [told[one]["revision"] for one in (first, second)] == [2, 2]


@pytest.mark.nightly
def test_a_policy_that_was_withdrawn_lets_nothing_out(owner, reader):
    review = ask(reader)["review"]
    address = owner.get(f"{API}/policies").json()["items"][0]["id"]
    tag = owner.get(f"{API}/policies/{address}").headers["etag"]
    owner.post(
        f"{API}/policies/{address}:withdraw", json={"reason": "Over."}, headers={"If-Match": tag}
    )
    assert decide(owner, review).status_code == 403
    assert code(reader.get(f"{API}/reviews/{review}/answer")) == (409, "K028")


@pytest.mark.nightly
def test_what_was_accepted_is_not_given_out_once_its_policy_was_withdrawn(owner, reader):
    review = ask(reader)["review"]
    decide(owner, review)
    assert [one.status_code for one in given(reader, review)] == [200] * 3
    policy_id = owner.get(f"{API}/policies").json()["items"][0]["id"]
    assert owner.post(f"{API}/policies/{policy_id}:withdraw", json={"reason": "Over."}).is_success
    assert [code(one) for one in given(reader, review)] == [(409, "K028")] * 3


def given(client, review):
    """Return the answers to all calls that give out what was accepted of an answer."""
    names = ("answer", "files/answer.csv", "files/answer.parquet")
    return [client.get(f"{API}/reviews/{review}/{name}") for name in names]


@pytest.mark.nightly
def test_what_was_accepted_is_not_given_out_once_a_policy_has_it_checked_in_another_way(
    owner, reader
):
    review = ask(reader)["review"]
    decide(owner, review)
    changed(owner, policy().replace('"rightOperand": 5', '"rightOperand": 50'))
    assert [code(one) for one in given(reader, review)] == [(409, "K028")] * 3
    changed(owner, policy())
    assert [one.status_code for one in given(reader, review)] == [200] * 3
    column = {"target": f"{DATA}/gain", "action": "read", "assignee": READER}
    changed(owner, json.dumps({**json.loads(policy()), "prohibition": [column]}))
    assert [code(one) for one in given(reader, review)] == [(409, "K028")] * 3


def changed(owner, text):
    """Publish another version of the only policy."""
    address = f"{API}/policies/{owner.get(f'{API}/policies').json()['items'][0]['id']}"
    tag = owner.get(address).headers["etag"]
    draft = owner.put(f"{address}/draft", json={"text": text}, headers={"If-Match": tag})
    tag = {"If-Match": draft.headers["etag"]}
    assert owner.post(f"{address}:publish", headers=tag).is_success


@pytest.mark.nightly
def test_who_has_too_many_reviews_open_is_told_that_no_other_was_asked_for(reader, monkeypatch):
    monkeypatch.setattr("policy_engine.service.resources.review_limits._MOST_OPEN", 0)
    answer = ask(reader)
    assert answer["review"] is None
    assert "Nobody was asked to review it" in answer["suggestion"]


def test_of_two_that_ask_for_the_same_at_once_one_review_waits(services, reader, monkeypatch):
    first, seen = ask(reader)["review"], []

    def see(*looked_at, **how):
        seen.append(looked_at)
        return (None, False) if len(seen) == 1 else waiting_review(*looked_at, **how)

    monkeypatch.setattr(reviews, "waiting_review", see)
    assert ask(reader)["review"] == first
    assert len(seen) == 2
    assert [one.name for one in (services.settings.folder / "reviews").iterdir()] == [first]


@pytest.mark.nightly
def test_an_archive_that_comes_when_too_many_are_open_is_let_go(
    services, reader, tmp_path, monkeypatch
):
    looks = iter([None, ServiceError.of("N004", "Too many are open.")])

    def check(*_):
        if (error := next(looks)) is not None:
            raise error

    monkeypatch.setattr(reviews, "check_open", check)
    assert code(send(reader, archive(tmp_path))) == (409, "N004")
    assert [*(services.settings.folder / "reviews").iterdir()] == []


@pytest.mark.nightly
def test_data_that_was_replaced_is_not_what_was_reviewed(owner, reader):
    review = ask(reader)["review"]
    dataset = owner.get(f"{API}/datasets").json()["items"][0]["id"]
    content = table().replace(b"139", b"140")
    upload = owner.post(
        f"{API}/datasets/{dataset}/uploads", json={"name": "b.csv", "size": len(content)}
    ).json()["id"]
    headers = {"Content-Type": "application/offset+octet-stream", "Upload-Offset": "0"}
    owner.patch(f"{API}/uploads/{upload}", content=content, headers=headers)
    owner.post(f"{API}/uploads/{upload}:complete", json={})
    assert code(decide(owner, review)) == (409, "K028")


def test_a_decision_is_of_what_was_read_and_has_a_reason(owner, reader):
    review = ask(reader)["review"]
    address = f"{API}/reviews/{review}:accept"
    stale = owner.post(address, json=REASON, headers={"If-Match": '"7"'})
    assert code(stale) == (412, "N005")
    assert code(decide(owner, review, reason=" ")) == (409, "K028")
    assert code(decide(owner, review, output="other")) == (404, "N003")


@pytest.mark.nightly
def test_the_same_answer_waits_once_and_an_exception_says_why(owner, reader):
    assert not ask(reader, EVERYBODY)["may_be_asked"]
    assert ask(reader)["review"] == ask(reader)["review"]
    sql = "SELECT region, COUNT(*) AS n FROM T GROUP BY region"
    assert (ask(reader, sql)["review"], ask(reader, sql)["may_be_asked"]) == (None, True)
    review = ask(reader, sql, exception="The two are known.")["review"]
    [output] = owner.get(f"{API}/reviews/{review}").json()["outputs"]
    assert output["exception"] == "The two are known."
    assert code(decide(owner, review)) == (409, "K028"), "two persons leave by no exception"


@pytest.mark.nightly
def test_an_exception_is_another_review_than_what_the_rules_leave_to_a_person(reader):
    plain = ask(reader)["review"]
    more = ask(reader, exception="The two are known.")["review"]
    assert plain != more
    assert ask(reader, exception="The two are known.")["review"] == more
    assert ask(reader)["review"] == plain


@pytest.mark.nightly
@pytest.mark.both_databases
def test_outputs_that_were_made_elsewhere_are_reviewed_and_leave(owner, reader, tmp_path):
    sent = send(reader, archive(tmp_path))
    assert (sent.status_code, sent.json()["kind"]) == (201, "outputs")
    review = sent.json()["id"]
    assert code(reader.get(f"{API}/reviews/{review}/files/one.csv")) == (409, "K028")
    [output] = owner.get(f"{API}/reviews/{review}/evidence").json()["outputs"]
    assert output["held"][0]["rows"][0] == ["north", "70.0"]
    held = owner.get(f"{API}/reviews/{review}/evidence/held/one.csv")
    assert held.headers["content-disposition"].startswith("attachment")
    assert code(owner.get(f"{API}/reviews/{review}/evidence/held/two.csv")) == (404, "N003")
    assert decide(owner, review, output="one").json()["state"] == "accepted"
    assert reader.get(f"{API}/reviews/{review}/files/one.csv").content == held.content
    assert code(owner.get(f"{API}/reviews/{review}/files/one.csv")) == (404, "N003")


def test_what_is_no_folder_of_outputs_is_not_received(services, reader, tmp_path):
    assert code(send(reader, b"not an archive")) == (409, "K027")
    unknown = send(reader, archive(tmp_path), "http://example.com/Unknown")
    assert code(unknown) == (404, "N003")
    assert reader.get(f"{API}/reviews").json()["items"] == []
    assert not list((services.settings.folder / "reviews").glob("*"))


def test_a_disk_without_room_takes_no_archive(reader, tmp_path, monkeypatch):
    content = archive(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=100 * 2**20))
    assert code(send(reader, content))[1] == "N008"


@pytest.mark.nightly
def test_each_step_is_in_a_chained_log_whose_head_is_told(services, owner, reader):
    review = ask(reader)["review"]
    before = owner.get(f"{API}/reviews/{review}").json()["head"]
    assert decide(owner, review).json()["head"].startswith("2:")
    reader.get(f"{API}/reviews/{review}/answer")
    after = owner.get(f"{API}/reviews/{review}").json()["head"]
    assert (before[:2], after[:2]) == ("1:", "3:")
    folder = services.settings.folder / "reviews" / review
    (folder / "evidence.json").write_bytes(b"{}")
    assert code(owner.get(f"{API}/reviews/{review}")) == (409, "K027")


@pytest.mark.nightly
def test_reviews_are_backed_up_and_handed_over(services, owner, reader, tmp_path):
    review = ask(reader)["review"]
    back_up(services.settings.folder, tmp_path / "copy.tar")
    shutil.unpack_archive(tmp_path / "copy.tar", tmp_path / "copy", filter="data")
    assert (tmp_path / "copy" / "reviews" / review / "steps.db").exists()
    administrator = signed_in(services, "administrator", name="Amy")
    heir = signed_in(services, "owner", name="Hal")
    mine = owner.get(f"{API}/me").json()["id"]
    people = administrator.get(f"{API}/people").json()["items"]
    [revision] = [one["revision"] for one in people if one["id"] == mine]
    headers = {"If-Match": f'"{revision}"'}
    administrator.patch(f"{API}/people/{mine}", json={"is_active": False}, headers=headers)
    body = {"to": heir.get(f"{API}/me").json()["id"]}
    administrator.post(f"{API}/people/{mine}:hand-over", json=body)
    assert [one["id"] for one in heir.get(f"{API}/reviews").json()["items"]] == [review]


@pytest.mark.nightly
def test_who_is_let_go_while_an_answer_is_computed_again_does_not_let_it_out(
    services, owner, reader, monkeypatch
):
    steward = signed_in(services, "steward", name="Sue")
    named = f"{API}/stewards/{steward.get(f'{API}/me').json()['id']}"
    assert owner.put(named).is_success
    review = ask(reader)["review"]
    ledger = OutputLedger(
        services.settings.folder / "outputs.sqlite", key_file(services.settings.folder, "outputs")
    )
    entries = len(ledger.history())

    def let_go(folder, *policies, **words):
        assert owner.delete(named).is_success
        return accept(folder, *policies, **words)

    accept = reviewing_answers.accept_answer
    monkeypatch.setattr(reviewing_answers, "accept_answer", let_go)
    assert code(decide(steward, review)) == (404, "N003")
    assert len(ledger.history()) == entries
    assert reader.get(f"{API}/reviews/{review}").json()["state"] == "open"
    assert decide(owner, review).status_code == 200


@pytest.mark.nightly
def test_what_was_being_sent_when_the_service_was_killed_goes_when_it_starts(
    services, reader, tmp_path, caplog
):
    known = send(reader, archive(tmp_path)).json()["id"]
    records = services.reviews.records
    root = records.place(known).parent
    for name in ("sent", "decided", "changed"):
        shutil.copytree(root / known, root / name)
    (root / ".half-written").mkdir()
    decided = OutputFolder.read(records.place("decided"), records.key)
    output = decided.submission.outputs[0].name
    decided.decide(output, accepts=False, reason="No.", by="Olga", is_final=True)
    (root / "changed" / "outputs.json").write_text("{}")
    records.sweep()
    assert {one.name for one in root.iterdir()} == {known, "decided", "changed"}
    assert "stays: K027" in caplog.text


@pytest.fixture
def decided(services, owner, reader, tmp_path):
    """Return the folders of two reviews of the same outputs: of one accepted, of one rejected, and
    the log of the latter as it was before."""
    content = archive(tmp_path)
    accepted, rejected = (send(reader, content).json()["id"] for _ in range(2))
    folders = [services.settings.folder / "reviews" / one for one in (accepted, rejected)]
    open_log = (folders[1] / "steps.db").read_bytes()
    assert decide(owner, accepted, output="one").json()["state"] == "accepted"
    assert decide(owner, rejected, "reject", output="one").json()["state"] == "rejected"
    return *folders, open_log


@pytest.mark.nightly
def test_the_log_of_another_review_is_refused(owner, reader, decided):
    accepted, rejected, _ = decided
    shutil.copyfile(accepted / "steps.db", rejected / "steps.db")
    address = f"{API}/reviews/{rejected.name}"
    assert code(reader.get(f"{address}/files/one.csv")) == (409, "K027")
    assert code(owner.get(address)) == (409, "K027")


@pytest.mark.nightly
def test_a_log_that_lacks_what_was_decided_is_refused_and_nothing_is_decided_again(
    owner, reader, decided
):
    _, rejected, open_log = decided
    address = f"{API}/reviews/{rejected.name}"
    tag = owner.get(address).headers["etag"]
    (rejected / "steps.db").write_bytes(open_log)
    assert code(owner.get(address)) == (409, "K027")
    body = {**REASON, "output": "one"}
    again = owner.post(f"{address}:accept", json=body, headers={"If-Match": tag})
    assert code(again) == (409, "K027")
    assert code(reader.get(f"{address}/files/one.csv")) == (409, "K027")
