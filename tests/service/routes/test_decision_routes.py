import json
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Timer

import pytest
from served import API, code, signed_in
from test_dataset_routes import uploaded
from test_policy_routes import published

from policy_engine.decision.log import DecisionLog
from policy_engine.decision.query.query_limits import QueryStop
from policy_engine.errors import OutputError, PolicyEngineError
from policy_engine.service.identity.actors import Actor
from policy_engine.service.identity.roles import Role
from policy_engine.service.resources import queries
from policy_engine.service.resources.decisions import AccessQuestion
from policy_engine.service.resources.queries import SqlQuestion

READER = "http://example.com/people/ada"
DATA = "http://example.com/Visit"
TABLE = b"town,age\nAms,30\nBrx,40\n"


def policy(*refinements):
    read = {"rdf:value": {"@id": "odrl:read"}, "refinement": [*refinements]}
    return json.dumps(
        {
            "@context": ["http://www.w3.org/ns/odrl.jsonld"],
            "@type": "Set",
            "uid": "http://example.com/policy/visits",
            "permission": [
                {
                    "uid": "http://example.com/policy/visits/read",
                    "assignee": READER,
                    "target": DATA,
                    "action": [read] if refinements else "read",
                }
            ],
        }
    )


@pytest.fixture
def reader(services):
    owner = signed_in(services, "owner", name="Owner")
    published(owner, policy())
    uploaded(owner, TABLE, "visits.csv", DATA)
    return signed_in(services, "consumer", party=READER)


def ask(client, **question):
    return client.post(f"{API}/decisions", json={"target": [DATA], **question})


@pytest.mark.one_in(2)
@pytest.mark.both_databases
def test_a_decision_is_by_the_policies_in_force_and_in_the_log(services, reader):
    assert ask(reader).json()["effect"] == "permit"
    assert ask(reader, action="distribute").json()["effect"] == "deny"
    auditor = signed_in(services, "auditor")
    items = auditor.get(f"{API}/decisions").json()["items"]
    assert [one["effect"] for one in items] == ["deny", "permit"]
    assert items[1]["rule"] == "http://example.com/policy/visits/read"
    state = auditor.post(f"{API}/decisions:verify").json()
    assert (state["intact"], state["entries"]) == (True, 2)


def test_a_policy_that_is_replaced_decides_no_more(services):
    owner, reader = signed_in(services, "owner"), signed_in(services, "consumer", party=READER)
    address, tag = published(owner, policy())
    assert ask(reader).json()["effect"] == "permit"
    text = policy().replace("/people/ada", "/people/bob")
    tag = owner.put(f"{address}/draft", json={"text": text}, headers={"If-Match": tag}).headers
    owner.post(f"{address}:publish", headers={"If-Match": tag["etag"]})
    assert ask(reader).json()["effect"] == "deny"


def test_consumers_ask_in_their_own_name_and_see_their_own_requests(services, reader):
    ask(reader)
    assert code(ask(reader, assignee="http://example.com/people/bob")) == (403, "N002")
    other = signed_in(services, "consumer", name="Bob", party="http://example.com/people/bob")
    assert ask(other).json()["effect"] == "deny"
    [entry] = other.get(f"{API}/decisions").json()["items"]
    assert entry["assignee"] == "http://example.com/people/bob"
    nobody = signed_in(services, "consumer", name="Nobody")
    assert code(ask(nobody)) == (409, "N004")
    assert nobody.get(f"{API}/decisions").json()["items"] == []


def test_the_log_is_read_by_what_is_wanted_page_by_page(services, reader):
    for action in ("read", "distribute", "read"):
        ask(reader, action=action)
    auditor = signed_in(services, "auditor")
    denied = auditor.get(f"{API}/decisions", params={"effect": "deny"}).json()["items"]
    assert [one["number"] for one in denied] == [2]
    first = auditor.get(f"{API}/decisions", params={"limit": 2}).json()
    rest = auditor.get(f"{API}/decisions", params={"limit": 2, "cursor": first["next"]}).json()
    assert [one["number"] for one in first["items"] + rest["items"]] == [3, 2, 1]
    assert rest["next"] is None


@pytest.mark.nightly
def test_owners_and_askers_are_shown_what_is_theirs_of_what_they_want(services, reader):
    ask(reader, action="distribute")
    ask(reader)
    stranger = signed_in(services, "owner", name="Stranger")
    assert stranger.get(f"{API}/decisions").json()["items"] == []
    other = signed_in(services, "owner", name="Other", party="http://example.com/people/bob")
    ask(other, target=["http://example.com/Other"])
    wanted = {"effect": "deny", "assignee": READER, "target": DATA}
    [shown] = reader.get(f"{API}/decisions", params=wanted).json()["items"]
    assert (shown["number"], shown["action"].rpartition("/")[2]) == (1, "distribute")
    others = {"assignee": "http://example.com/people/bob"}
    assert reader.get(f"{API}/decisions", params=others).json() == {"items": [], "next": None}


def test_what_is_wanted_of_the_log_is_of_a_time(services, reader):
    for _ in range(3):
        ask(reader)
    auditor = signed_in(services, "auditor")
    moments = [one["logged"] for one in auditor.get(f"{API}/decisions").json()["items"]]
    wanted = {"since": moments[1], "until": moments[0]}
    items = auditor.get(f"{API}/decisions", params=wanted).json()["items"]
    assert [one["number"] for one in items] == [2]


def test_a_log_that_was_changed_is_told(services, reader):
    ask(reader)
    with sqlite3.connect(services.decisions.path) as log:
        log.execute("UPDATE decisions SET entry = replace(entry, 'permit', 'deny')")
    log.close()
    state = signed_in(services, "auditor").post(f"{API}/decisions:verify").json()
    assert not state["intact"]
    assert state["problems"]


def query(client, sql, **question):
    return client.post(f"{API}/queries", json={"sql": sql, **question})


def test_a_query_is_answered_as_policies_let_the_caller_read(services, reader):
    answer = query(reader, "SELECT town FROM Visit ORDER BY age DESC").json()
    assert answer["permitted"]
    assert answer["rows"] == [{"town": "Brx"}, {"town": "Ams"}]
    other = signed_in(services, "consumer", name="Bob", party="http://example.com/people/bob")
    assert code(query(other, "SELECT town FROM Visit")) == (422, "Q003")
    effects = [one["effect"] for one in other.get(f"{API}/decisions").json()["items"]]
    assert effects == ["deny"]


@pytest.mark.nightly
def test_data_that_are_deleted_while_they_are_read_are_read_to_the_end(
    services, reader, monkeypatch
):
    first, paths = queries.query_data, []

    def query_later(*asked, **options):
        for path in (*asked[3].values(), *services.datasets.uploads.files.root.glob("files/*")):
            paths.append(str(path))
            if path.parent.name == "files":
                path.unlink()
        return first(*asked, **options)

    monkeypatch.setattr(queries, "query_data", query_later)
    other = signed_in(services, "consumer", name="Bob", party="http://example.com/people/bob")
    assert query(reader, "SELECT town FROM Visit").json()["permitted"]
    assert len(paths) == 2
    answer = query(other, "SELECT town FROM Visit")
    assert code(answer) == (503, "N013")  # it is lost altogether
    assert not any(one in answer.text for one in paths)


def test_a_time_that_no_answer_can_tell_is_a_fault_of_the_query(reader):
    late = "CAST('2020-01-01' AS DATE) + CAST(age * 200000 AS INTEGER) AS late"
    assert code(query(reader, f"SELECT {late} FROM Visit")) == (422, "Q008")


def test_a_dry_query_is_rewritten_and_leaves_no_trace(services, reader):
    answer = query(reader, "SELECT town FROM Visit", dry_run=True).json()
    assert answer["permitted"]
    assert answer["sql"]
    assert answer["rows"] == []
    assert not services.decisions.path.exists()


def test_an_answer_to_be_checked_hides_its_small_cells(services):
    check = {"leftOperand": "pe:outputCheck", "operator": "eq", "rightOperand": "sacro"}
    text = policy(check).replace(
        '["http://www.w3.org/ns/odrl.jsonld"]',
        '["http://www.w3.org/ns/odrl.jsonld", {"pe": "https://w3id.org/policy-engine/ns#"}]',
    )
    owner = signed_in(services, "owner", name="Owner")
    published(owner, text)
    sizes = ((b"Ams", 40), (b"Cph", 30), (b"Brx", 2))
    rows = b"".join(b"%b,%d\n" % (town, 20 + i) for town, size in sizes for i in range(size))
    uploaded(owner, b"town,age\n" + rows, iri=DATA)
    reader = signed_in(services, "consumer", party=READER)
    answer = query(reader, "SELECT town, count(*) AS n FROM Visit GROUP BY town").json()
    # How many rows there are counts as known: beside both others, it would tell the small cell.
    counts = {one["town"]: one["n"] for one in answer["rows"]}
    assert counts == {"Ams": 40, "Brx": None, "Cph": None}
    cells = answer["suppressed"]
    assert {one["keys"]["town"] for one in cells} == {"Brx", "Cph"}
    assert {one["column"] for one in cells} == {"n"}
    assert {code for one in cells for code in one["codes"]} == set(answer["meanings"])


NEVER_RUN = [
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM 'http://example.com/x.parquet'",
    "INSTALL httpfs",
    "ATTACH 'x.db'",
    "COPY Visit TO 'x.csv'",
    "SELECT 1; DROP TABLE Visit",
    "not sql",
    "",
]


def test_nothing_but_a_query_of_what_may_be_read_is_run(reader):
    for sql in NEVER_RUN:
        answer = query(reader, sql)
        assert answer.status_code == 422 or not answer.json()["permitted"], sql


@pytest.mark.one_in(2)
@pytest.mark.usefixtures("reader")
@pytest.mark.both_databases
def test_requests_that_come_at_once_are_all_answered_and_in_the_log(services):
    ada = Actor(id="ada", name="Ada", roles=(), party=READER)

    def ask_often(number):
        question = AccessQuestion(target=[DATA if number % 3 else f"{DATA}{'/x' * 5000}"])
        try:
            return services.decisions.decide(ada, question).effect
        except PolicyEngineError as error:
            return error.code

    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(ask_often, range(60)))
    assert answers == ["permit" if number % 3 else "D001" for number in range(60)]
    state = signed_in(services, "auditor").post(f"{API}/decisions:verify").json()
    assert (state["intact"], state["entries"]) == (True, 40)


def test_a_log_that_cannot_be_written_answers_nobody(reader, monkeypatch):
    def fail(_):
        raise OutputError.of("O002", "The disk is full.")

    monkeypatch.setattr(DecisionLog, "transaction", fail)
    assert code(ask(reader)) == (507, "O002")


ENDLESS = "SELECT count(*) AS n FROM Visit a" + "".join(f", Visit v{n}" for n in range(30))


def answered(services, stop=None, **limits):
    """Return the code of a query that takes very long, under limits."""
    limited = replace(services.queries, **limits)
    ada = Actor(id="ada", name="Ada", roles=(Role.CONSUMER,), party=READER)
    with pytest.raises(PolicyEngineError) as caught:
        limited.answer(ada, SqlQuestion(sql=ENDLESS), stop)
    return caught.value.code


def test_a_query_ends_after_its_time_or_when_the_caller_leaves(services, reader):
    assert query(reader, "SELECT town FROM Visit").json()["permitted"]
    assert answered(services, seconds=0.5) == "Q011"
    stop = QueryStop()
    Timer(0.5, stop.stop).start()
    assert answered(services, stop) == "Q012"
    assert query(reader, "SELECT town FROM Visit").json()["permitted"]


def secret_policy():
    """Return the policy of another owner about data of theirs, which a reader may not read."""
    rule = {
        "uid": "http://hiv.example.org/rule",
        "assignee": "http://pharma.example.org/Firm",
        "target": "http://hiv.example.org/Patients",
        "action": "read",
        "purpose": "http://pharma.example.org/secret",
    }
    context = ["http://www.w3.org/ns/odrl.jsonld", "https://www.mosaicrown.eu/ns/mosaicrown.jsonld"]
    uid = "http://hiv.example.org/policy"
    return json.dumps({"@context": context, "@type": "Set", "uid": uid, "permission": [rule]})


@pytest.fixture
def secret_owner(services):
    other = signed_in(services, "owner", name="Hiv", party="http://hiv.example.org/Clinic")
    uploaded(other, b"zip,status\n1,2\n", "p.csv", "http://hiv.example.org/Patients")
    published(other, secret_policy())
    return other


ELSEWHERE = "http://example.com/none"
SECRET = "http://hiv.example.org/Patients"


@pytest.mark.one_in(6)
@pytest.mark.usefixtures("secret_owner")
@pytest.mark.parametrize("target", [ELSEWHERE, SECRET, f"{SECRET}/status"])
@pytest.mark.parametrize("more", [{}, {"purpose": "http://pharma.example.org/Secret"}])
def test_a_denial_tells_who_asks_of_no_rule_that_they_may_not_read(reader, target, more):
    answer = ask(reader, target=[target], **more)
    assert (answer.status_code, answer.json()["effect"]) == (200, "deny")
    body = {**answer.json(), "request": {}}
    for word in ("hiv.example", "pharma", "/policy/visits"):
        assert word not in json.dumps(body)


@pytest.mark.nightly
@pytest.mark.usefixtures("secret_owner")
def test_no_name_is_suggested_that_only_policies_of_others_have(reader):
    for wrong in ({"target": ["hiv.example.org/Patients"]}, {"purpose": "secret-study"}):
        answer = ask(reader, **wrong)
        assert code(answer) == (422, "D001")
        assert "pharma" not in answer.text
        assert "http://hiv" not in answer.text


def test_owners_are_told_of_their_own_rules_and_auditors_read_all_in_the_log(
    services, secret_owner
):
    question = {"target": [SECRET], "assignee": "http://pharma.example.org/Firm"}
    denial = ask(secret_owner, **question).json()
    assert [one["rule"] for one in denial["near_misses"]] == ["http://hiv.example.org/rule"]
    assert "the nearest" in denial["reason"].lower()
    auditor = signed_in(services, "auditor")
    missed = auditor.get(f"{API}/decisions/1").json()["missed"]
    assert [one["rule"] for one in missed] == ["http://hiv.example.org/rule"]


def test_who_may_read_some_columns_is_told_how_to_count_rows(services):
    owner = signed_in(services, "owner", name="Owner")
    published(owner, policy().replace('/Visit"', '/Visit/town"'))
    uploaded(owner, TABLE, "visits.csv", DATA)
    reader = signed_in(services, "consumer", party=READER)
    refused = query(reader, "SELECT count(*) AS n FROM Visit")
    assert code(refused) == (422, "Q004")
    assert "count(COLUMN)" in refused.json()["detail"]
    assert query(reader, "SELECT count(town) AS n FROM Visit").json()["rows"] == [{"n": 2}]
    assert "count(COLUMN)" not in query(reader, "SELECT age FROM Visit").text


@pytest.mark.nightly
def test_a_query_tells_of_no_column_that_only_a_policy_has(services, reader):
    mine = signed_in(services, "owner", name="Late", party="http://example.com/late")
    uploaded(mine, TABLE, "late.csv", "http://example.com/Late")
    text = policy().replace("Visit", "Late").replace("policy/visits", "policy/late")
    published(mine, text.replace('/Late"', '/Late/secret_column"'))
    answer = reader.post(f"{API}/queries", json={"sql": "select town from Late", "purpose": ""})
    assert answer.json()["code"] in ("N004", "Q004")
    assert "policy/late" not in answer.text
    assert "line" not in answer.json()["detail"]


@pytest.mark.usefixtures("secret_owner")
def test_a_denied_query_tells_of_no_rule_that_the_caller_may_not_read(services, reader):
    for sql in ("select zip from Patients", "select town from Visit join Patients on true"):
        answer = reader.post(f"{API}/queries", json={"sql": sql, "purpose": ""})
        for word in ("pharma", "hiv.example.org/rule", "hiv.example.org/policy"):
            assert word not in answer.text
    bound = policy().replace('"action"', '"purpose": "http://example.com/hidden", "action"')
    mine = signed_in(services, "owner", name="Late", party="http://example.com/late")
    uploaded(mine, TABLE, "late.csv", "http://example.com/Late")
    text = bound.replace("Visit", "Late").replace("policy/visits", "policy/late")
    text = text.replace('ld"]', 'ld", "https://www.mosaicrown.eu/ns/mosaicrown.jsonld"]')
    published(mine, text)
    denied = reader.post(f"{API}/queries", json={"sql": "select town from Late", "purpose": ""})
    assert denied.json()["permitted"] is False
    assert [one["code"] for one in denied.json()["reasons"]] == ["Q006"]
    assert "hidden" not in denied.text
    assert "policy/late" not in denied.text


def cut(path, count):
    with sqlite3.connect(path) as file:
        [[table]] = file.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        last = f"SELECT rowid FROM {table} ORDER BY rowid DESC LIMIT {count}"
        file.execute(f"DELETE FROM {table} WHERE rowid IN ({last})")


def refusals(services, reader):
    """Return what decisions and queries answer, and whether the log is said to be intact."""
    state = signed_in(services, "auditor").post(f"{API}/decisions:verify").json()
    query = reader.post(f"{API}/queries", json={"sql": "SELECT town FROM Visit"})
    return code(ask(reader)), code(query), state["intact"]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("damage", [lambda one: cut(one, 1), lambda one: one.unlink()])
def test_a_log_that_was_cut_is_told_by_all_alike_also_after_a_restart(services, reader, damage):
    assert [ask(reader).status_code for _ in range(3)] == [200] * 3
    assert signed_in(services, "auditor").post(f"{API}/decisions:verify").json()["intact"]
    services.decisions.log().close()
    services.decisions._compiled.log = None
    damage(services.decisions.path)
    for _ in range(2):
        assert refusals(services, reader) == ((503, "G002"), (503, "G002"), False)


@pytest.mark.nightly
def test_what_queries_log_may_not_be_cut_off_either(services, reader):
    sql = {"sql": "SELECT town FROM Visit"}
    assert reader.post(f"{API}/queries", json=sql).json()["permitted"]
    assert ask(reader).status_code == 200
    assert reader.post(f"{API}/queries", json=sql).json()["permitted"]
    cut(services.decisions.path, 1)
    assert refusals(services, reader) == ((503, "G002"), (503, "G002"), False)


def test_the_remembered_end_of_a_log_may_not_be_changed(services, reader):
    assert ask(reader).status_code == 200
    head = services.decisions.head.path
    head.write_text("0:" + "0" * 64 + head.read_text()[66:])
    with pytest.raises(PolicyEngineError, match="G002"):
        services.decisions.head.check()
    assert refusals(services, reader) == ((503, "G002"), (503, "G002"), False)


def test_no_new_key_is_made_beside_an_old_log(services, reader):
    assert ask(reader).status_code == 200
    services.decisions.key.unlink()
    with pytest.raises(PolicyEngineError, match=r"N013.*decisions\.key"):
        services.decisions.head.check()
    assert not (services.settings.folder / "keys" / "decisions.key").exists()
