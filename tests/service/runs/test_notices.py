import asyncio
import time

import pytest
from followed import apart, cheap, steward

from policy_engine.service.runs.broadcasting import RunBroadcaster


@pytest.fixture
def database_kind():
    return "postgresql"


async def until(condition, patience=10):
    end = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < end
        await asyncio.sleep(0.005)


def heard(services, before, pause):
    """Return what is heard of a new run, where something is done before it is made."""
    broadcaster = RunBroadcaster(services.database, pause=pause)
    broadcaster.notices.longest = 60
    actor, news = steward(services), []

    async def listen():
        async for some in broadcaster.listen():
            news.extend(some)

    async def together():
        task = asyncio.create_task(listen())
        await until(lambda: broadcaster.notices.is_listening)
        await before(broadcaster)
        await asyncio.to_thread(cheap(services).create, actor, "wait", {})
        await until(lambda: news)
        task.cancel()
        broadcaster.close()
        broadcaster.notices._has_notice.set()
        await broadcaster._task

    apart(together())
    return news


def test_a_server_tells_what_happens_before_anybody_asks(services):
    async def nothing(_):
        await asyncio.sleep(0.15)  # the first question is past

    assert len(heard(services, nothing, pause=60)) == 1


def test_what_happens_is_asked_for_where_the_connection_that_listened_is_lost(services, postgres):
    async def lose(broadcaster):
        postgres.run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN %'"
        )
        await until(lambda: not broadcaster.notices.is_listening)

    assert len(heard(services, lose, pause=0.02)) == 1
