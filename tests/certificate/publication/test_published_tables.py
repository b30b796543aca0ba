"""Releases in a catalog, every statement of which may be the last of a run."""

import re
from contextlib import suppress
from itertools import count
from types import SimpleNamespace

import pytest
from building import people_policy
from certifying import certified

from policy_engine.audits.utility.figures import Utility
from policy_engine.certificate.publication import TablePublication, publication, tables
from policy_engine.engines.spark.catalog_tables import PROPERTY
from policy_engine.errors import OutputError, PolicyEngineError, Problem
from policy_engine.policy import read_policy

NAME, OLD, LOCK = (
    f"a{ending}" for ending in ("", *("__policy_engine_old", "__policy_engine_lock"))
)
LOSS = Utility(
    classes=50,
    average_class_size=2,
    average_class_ratio=1,
    global_certainty_penalty=0,
    discernability=200,
    column_losses={"age": 0, "city": 0},
)
CERTIFICATE = certified(read_policy(people_policy()), utility=LOSS)


class Catalog:
    """The session of a catalog without Spark: tables by name, each a text and its properties.

    `fails` is asked before every statement that changes something, with its number from 0 on.
    """

    def __init__(self, *, views=True):
        self.tables, self.catalog, self.views = {}, self, views
        self.begun, self.fails = [], lambda _number: None
        nothing = lambda _tag: None  # noqa: E731
        self.sparkContext = SimpleNamespace(
            addJobTag=nothing, removeJobTag=nothing, cancelJobsWithTag=nothing
        )

    def tableExists(self, name):  # noqa: N802 (as in Spark)
        return unquoted(name) in self.tables

    def listTables(self, database):  # noqa: N802 (as in Spark)
        above = unquoted(database) if database else ""
        parts = (name.rpartition(".") for name in self.tables)
        return [SimpleNamespace(name=name) for folder, _, name in parts if folder == above]

    def sql(self, statement):
        rows = []
        if shown := re.fullmatch("SHOW TBLPROPERTIES (.*)", statement):
            facts = self.tables[unquoted(shown[1])].items()
            rows = [SimpleNamespace(key=key, value=value) for key, value in facts]
        else:
            self.begun.append(statement)
            error = self.fails(len(self.begun) - 1)
            if error:
                raise error
            self._change(statement)
        return SimpleNamespace(collect=lambda: rows)

    def _change(self, statement):
        if made := re.fullmatch(r"CREATE (VIEW|TABLE) (\S+) .*", statement):
            if made[1] == "VIEW" and not self.views:
                raise ValueError("there are no views")
            if unquoted(made[2]) in self.tables:
                raise ValueError("it is there")
            self.tables[unquoted(made[2])] = {"kind": made[1]}
        elif moved := re.fullmatch(r"ALTER TABLE (\S+) RENAME TO (\S+)", statement):
            if unquoted(moved[2]) in self.tables:
                raise ValueError("it is there")
            self.tables[unquoted(moved[2])] = self.tables.pop(unquoted(moved[1]))
        elif stated := re.fullmatch(
            rf"ALTER TABLE (\S+) SET TBLPROPERTIES \('{PROPERTY}' = '(.*)'\)", statement, re.DOTALL
        ):
            text = re.sub(r"\\(.)", r"\1", stated[2])
            self.tables[unquoted(stated[1])][PROPERTY] = text
        else:
            dropped = re.fullmatch(r"DROP (VIEW|TABLE) IF EXISTS (\S+)", statement)
            table = self.tables.get(unquoted(dropped[2]))
            if table and table["kind"] != dropped[1]:
                raise ValueError("it is of another kind")
            self.tables.pop(unquoted(dropped[2]), None)


def unquoted(name):
    return name.replace("`", "")


def release(text, certificate=CERTIFICATE):
    return {"kind": "TABLE", "text": text, PROPERTY: certificate.to_jsonld()}


def publish(session, text="new", *, name=NAME, **options):
    """Publish a table with a text."""
    with TablePublication(session, f"table:{name}", **options) as place:
        staged = unquoted(place.staged.removeprefix("table:"))
        assert place.staged_file(None) == place.staged
        session.tables[staged] = {"kind": "TABLE", "text": text}
        place.publish(CERTIFICATE)


@pytest.mark.parametrize("views", [True, False])
def test_a_table_is_published_with_its_certificate_and_nothing_else_stays(views):
    session = Catalog(views=views)
    publish(session, overwrite=False)
    assert session.tables == {NAME: release("new")}
    with pytest.raises(OutputError) as told:
        publish(session, overwrite=False)
    hint = "Give another name, or overwrite=True."
    assert told.value.problems == (Problem("O001", "The output exists: 'table:a'.", hint),)
    publish(session, "newer", overwrite=True)
    assert session.tables == {NAME: release("newer")}


def test_a_certificate_is_quoted_as_sql_takes_it():
    output = CERTIFICATE.plan.publish.model_copy(update={"columns": ('it\'s \\ "this"',)})
    facts = {"plan": CERTIFICATE.plan.model_copy(update={"publish": output})}
    session = Catalog()
    with TablePublication(session, "table:a", overwrite=False) as place:
        session.tables[unquoted(place.staged.removeprefix("table:"))] = {"kind": "TABLE"}
        place.publish(CERTIFICATE.model_copy(update=facts))
    assert session.tables[NAME][PROPERTY] == CERTIFICATE.model_copy(update=facts).to_jsonld()


def test_a_table_that_is_no_release_is_kept():
    session = Catalog()
    session.tables[NAME] = {"kind": "TABLE", "text": "mine"}
    with pytest.raises(OutputError) as told:
        publish(session, overwrite=True)
    message = "'table:a' is not a release: it has no certificate as a property."
    hint = "Only a release can be overwritten; drop the table."
    assert told.value.problems == (Problem("O001", message, hint),)
    assert session.tables == {NAME: {"kind": "TABLE", "text": "mine"}}


def test_a_table_that_came_meanwhile_is_kept():
    session, theirs = Catalog(), {"kind": "TABLE", "text": "theirs"}
    with TablePublication(session, "table:a", overwrite=True) as place:
        session.tables[NAME] = theirs
        with pytest.raises(OutputError, match=r"O001 .* is not a release"):
            place.publish(CERTIFICATE)
    assert session.tables == {NAME: theirs}


def test_what_is_refused_or_left_leaves_nothing():
    session = Catalog()
    with TablePublication(session, "table:db.a", overwrite=False) as place:
        session.tables[unquoted(place.staged.removeprefix("table:"))] = {"kind": "TABLE"}
        place.hide(place.staged)
        place.refuse(CERTIFICATE.as_refusal())
    assert session.tables == {}


@pytest.mark.parametrize("kind", ["VIEW", "TABLE"])
def test_one_run_at_a_time_publishes_a_table(monkeypatch, kind):
    monkeypatch.setattr(tables.socket, "gethostname", lambda: "ann's host")
    session = Catalog(views=kind == "VIEW")
    with TablePublication(session, "table:db.a", overwrite=False):
        assert session.tables == {f"db.{LOCK}": {"kind": kind}}
        assert re.search("COMMENT 'process [0-9]+ of anns host'", session.begun[-1])
        with pytest.raises(OutputError) as told:
            publish(session, name="db.a", overwrite=True)
        publish(session, name="db.b", overwrite=False)
    message = "Another run is making a release in 'table:db.a'."
    hint = f"If it has ended, drop '`db`.`{LOCK}`'; otherwise use wait=True."
    assert told.value.problems == (Problem("O001", message, hint),)
    assert session.tables == {"db.b": release("new")}


def test_who_waits_for_another_run_is_told_once(monkeypatch):
    session, told, pauses = Catalog(), [], []
    session.tables[LOCK] = {"kind": "VIEW"}

    def pause(seconds):
        pauses.append(seconds)
        if len(pauses) == 3:
            del session.tables[LOCK]

    monkeypatch.setattr(tables.time, "sleep", pause)
    publish(session, overwrite=False, wait=True, progress=lambda *given: told.append(given))
    assert told == [("waiting for another run", 0, 0)]
    assert all(1 <= one <= 2 for one in pauses)
    assert session.tables == {NAME: release("new")}


def test_a_catalog_that_takes_no_lock_is_told():
    session = Catalog()
    session.fails = lambda _number: ValueError("read only")
    with pytest.raises(PolicyEngineError, match="read only"):
        publish(session, overwrite=False)
    assert (session.tables, len(session.begun)) == ({}, 2)


def test_only_the_tables_that_runs_stage_for_a_table_are_dropped():
    session = Catalog()
    stage = f"__policy_engine_stage_{'0' * 16}"
    kept = [f"b{stage}", f"a{stage}0", f"xa{stage}", f"a{stage[:-1]}", f"other.a{stage}", "a__b"]
    for name in (*kept, f"a{stage}", f"A{stage.upper()}"):
        session.tables[name] = {"kind": "TABLE"}
    publish(session, overwrite=False)
    assert {*session.tables} == {*kept, NAME}
    session.tables = {f"other.a{stage}": {"kind": "TABLE"}, f"a{stage}": {"kind": "TABLE"}}
    publish(session, overwrite=False, name="other.a")
    assert {*session.tables} == {f"a{stage}", "other.a"}


@pytest.mark.parametrize(
    ("there", "left"),
    [
        ({OLD: release("old")}, {NAME: release("old")}),
        ({OLD: release("old"), NAME: release("new")}, {NAME: release("new")}),
        (
            {OLD: release("old"), NAME: {"kind": "TABLE", "text": "foreign"}},
            {OLD: release("old"), NAME: {"kind": "TABLE", "text": "foreign"}},
        ),
    ],
)
def test_what_a_killed_run_renamed_is_put_back_unless_it_was_replaced(there, left):
    session = Catalog()
    session.tables = {**there}
    with suppress(OutputError), TablePublication(session, "table:a", overwrite=True):
        pass
    assert session.tables == left


class Killed(BaseException):
    pass


@pytest.mark.parametrize("before", [{}, {NAME: release("old")}], ids=["none", "old"])
def test_a_run_that_is_killed_at_any_statement_leaves_a_whole_release(before):
    ends, after = [], {NAME: release("new")}
    for number in count():
        session = Catalog()
        session.tables = {**before}
        session.fails = lambda at, last=number: Killed() if at >= last else None
        with suppress(Killed):
            publish(session, overwrite=True)
        assert session.tables.get(NAME, before.get(NAME)) in (before.get(NAME), after[NAME])
        if len(session.begun) <= number:
            break
        session.tables.pop(LOCK, None)  # as a person would who knows that the run is dead
        session.fails = lambda _number: None
        with suppress(OutputError), TablePublication(session, "table:a", overwrite=False):
            pass
        ends.append(session.tables)
    assert session.tables == after
    begun = ends.index(after)
    assert ends == [before] * begun + [after] * (len(ends) - begun)
    assert 2 <= begun < len(ends)


@pytest.mark.parametrize("before", [{}, {NAME: release("old")}], ids=["none", "old"])
@pytest.mark.parametrize("error", [ValueError("broken"), KeyboardInterrupt()], ids=repr)
def test_a_run_of_which_one_statement_fails_leaves_a_whole_release(before, error):
    for number in count(1):
        session = Catalog()
        session.tables = {**before}
        session.fails = lambda at, failing=number: error if at == failing else None
        is_told = True
        with suppress(PolicyEngineError, KeyboardInterrupt):
            publish(session, overwrite=True)
            is_told = False
        left = {name: table for name, table in session.tables.items() if name == NAME}
        assert left in (before, {NAME: release("new")})
        if isinstance(error, ValueError):
            assert left == (before if is_told else {NAME: release("new")})
        if len(session.begun) <= number:
            break


def test_a_table_is_published_as_it_was_asked_for(monkeypatch):
    session, told = Catalog(), []
    session.tables = {NAME: release("old"), LOCK: {"kind": "VIEW"}}

    def progress(*given):
        told.append(given)
        del session.tables[LOCK]

    monkeypatch.setattr(tables.time, "sleep", lambda _seconds: None)
    locations = {"http://x.org/a": "table:a"}
    with (
        pytest.raises(OutputError, match="O001 Another run"),
        publication(locations, session, overwrite=True),
    ):
        pass
    options = {"wait": True, "progress": progress}
    with publication(locations, session, overwrite=True, **options) as place:
        assert isinstance(place, TablePublication)
        assert {*session.tables} == {NAME, LOCK}
    assert told == [("waiting for another run", 0, 0)]
    with (
        pytest.raises(OutputError, match="O001 The output exists"),
        publication(locations, session, overwrite=False),
    ):
        pass


@pytest.mark.parametrize("name", ["x__policy_engine_old", "db.x__Policy_Engine_stage_of_play"])
def test_a_table_has_no_name_that_runs_give(name):
    with pytest.raises(OutputError) as refused:
        publication({"http://x.org/a": f"table:{name}"}, Catalog(), overwrite=True)
    message = f"'table:{name}' has '__policy_engine_' in its name, which is reserved for the "
    problem = Problem("O002", f"{message}tables of runs.", "Give another name.")
    assert refused.value.problems == (problem,)
