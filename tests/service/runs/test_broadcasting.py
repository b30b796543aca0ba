import asyncio
import json

import pytest
from followed import apart, cheap, steward

from policy_engine.service.runs.broadcasting import RunBroadcaster
from policy_engine.service.runs.queue import RunQueue


def heard_by(services, listeners, during, heard=None):
    """Return the news that listeners hear while something happens, and how often was asked."""
    broadcaster = RunBroadcaster(services.database, pause=0.02)
    news = [[] for _ in range(listeners)]

    async def listen(mine):
        async for some in broadcaster.listen(heard, patience=5):
            mine += some

    async def together():
        tasks = [asyncio.create_task(listen(one)) for one in news]
        await asyncio.sleep(0.2)
        await asyncio.to_thread(during)
        await asyncio.sleep(0.3)
        broadcaster.close()
        await asyncio.gather(*tasks)

    apart(together())
    return news, broadcaster.questions


def states(news):
    return [json.loads(one.data)["state"] for one in news]


def test_all_hear_of_a_run_by_the_same_few_questions(services):
    actor, runs = steward(services), cheap(services)
    news, questions = heard_by(services, 50, lambda: runs.create(actor, "wait", {}))
    assert [states(one) for one in news] == [["queued"]] * 50
    assert questions < 50


@pytest.mark.both_databases
def test_who_was_away_misses_no_end(services):
    actor, runs = steward(services), cheap(services)
    queue = RunQueue(services.database, "here.1")
    run_id = runs.create(actor, "wait", {}).id
    [[first]], _ = heard_by(services, 1, lambda: None)
    holding = queue.claim()
    queue.note_progress(holding, "waiting", 1, 2)
    queue.fail(holding, [])
    [[last]], _ = heard_by(services, 1, lambda: None, heard=first.number)
    assert (last.run_id, json.loads(last.data)["state"]) == (run_id, "failed")
    assert last.number > first.number
    [nothing], _ = heard_by(services, 1, lambda: None, heard=last.number)
    assert nothing == []


def test_a_number_of_another_database_is_as_none(services):
    runs = cheap(services)
    runs.create(steward(services), "wait", {})
    [news], _ = heard_by(services, 1, lambda: None, heard=10**9)
    assert states(news) == ["queued"]


@pytest.mark.one_in(2)
@pytest.mark.both_databases
def test_numbers_grow_and_of_each_run_the_last_is_told(services):
    actor, runs = steward(services), cheap(services)

    def work():
        made = [runs.create(actor, "wait", {}).id for _ in range(5)]
        for one in made:
            runs.cancel(actor, one)

    [news], _ = heard_by(services, 1, work)
    numbers = [one.number for one in news]
    assert numbers == sorted(set(numbers))
    last = {one.run_id: json.loads(one.data)["state"] for one in news}
    assert [*last.values()] == ["cancelled"] * 5
