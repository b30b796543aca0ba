import pytest

from policy_engine.decision.log import DecisionLog
from policy_engine.decision.model import Decision, Request
from policy_engine.service.resources import log_pages
from policy_engine.service.resources.log_pages import LogFilter, read_page

PERSON = "http://x.org/person/"


def decision(number):
    action = "http://www.w3.org/ns/odrl/2/read"
    asked = Request(assignee=f"{PERSON}{number % 5}", action=action, targets=("http://x.org/d",))
    return Decision(effect="permit" if number == 1 else "deny", request=asked, reason="Because.")


@pytest.fixture
def path(tmp_path, monkeypatch):
    """Return a log of 23 decisions, of which a page is looked for in a few."""
    monkeypatch.setattr(log_pages, "_MOST_SKIPPED", 10)
    monkeypatch.setattr(log_pages, "_MOST_JUDGED", 4)
    log = DecisionLog.open(tmp_path / "decisions.sqlite")
    with log.transaction() as transaction:
        for number in range(1, 24):
            transaction.append(decision(number))
    return log.path


def pages(path, wanted, is_readable=lambda _: True, limit=3):
    """Return the numbers on each page, as who goes on while there is a next page sees them."""
    found, before = [], None
    while True:
        page = read_page(path, wanted, is_readable, limit, before)
        found.append([one.number for one in page.items])
        if page.next is None:
            return found
        before = page.next


def test_a_page_that_is_full_tells_where_the_next_begins(path):
    assert pages(path, LogFilter(), limit=10) == [
        [23, 22, 21, 20],
        [19, 18, 17, 16],
        [15, 14, 13, 12],
        [11, 10, 9, 8],
        [7, 6, 5, 4],
        [3, 2, 1],
    ]
    assert pages(path, LogFilter(), limit=3)[:2] == [[23, 22, 21], [20, 19, 18]]


def test_what_is_not_there_is_looked_for_page_by_page(path):
    assert pages(path, LogFilter(assignee=f"{PERSON}none")) == [[], [], []]
    assert pages(path, LogFilter(effect="permit")) == [[], [], [1]]


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 50])
def test_whatever_is_wanted_is_on_one_page_each(path, limit):
    for person in range(5):
        found = pages(path, LogFilter(assignee=f"{PERSON}{person}"), limit=limit)
        numbers = [number for page in found for number in page]
        assert numbers == [one for one in range(23, 0, -1) if one % 5 == person]


def test_no_more_of_the_log_is_judged_than_a_page_is_looked_for_in(path):
    judged = []

    def refuse(decided):
        judged.append(decided)
        return False

    page = read_page(path, LogFilter(), refuse, 3)
    assert (page.items, page.next, len(judged)) == ([], 20, 4)


def test_a_log_that_is_not_there_has_no_pages(tmp_path):
    assert pages(tmp_path / "decisions.sqlite", LogFilter()) == [[]]
