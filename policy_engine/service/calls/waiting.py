"""Calls that wait for their turn, while who makes them may lose the right to be answered."""

from collections.abc import Callable
from typing import TypeVar

from fastapi import Request

from policy_engine.decision.query.query_limits import QueryStop
from policy_engine.errors import ServiceError
from policy_engine.service.calls.callers import reader_of
from policy_engine.service.calls.leaving import answer_while_there
from policy_engine.service.identity.actors import Actor
from policy_engine.service.identity.roles import Verb
from policy_engine.service.services import services_of

_T = TypeVar("_T")


async def answer_in_turn(
    call: Request, actor: Actor, verb: Verb, work: Callable[[Actor, QueryStop], _T]
) -> _T:
    """Return what work returns that is carried out when it is the caller's turn, among queries.

    It is carried out with the rights that the caller has then; what it returns is given if they
    still may have it. It ends when the caller leaves. Raises ServiceError (N006) as
    `CallTurns.carry_out`, N010 and N002 as `reader_of`, N004 where the caller has another party
    after the work than before it, and as the work does.
    """
    stop = QueryStop()

    def carried_out() -> _T:
        present = reader_of(call, verb)
        answer = work(present, stop)
        if reader_of(call, verb).party != present.party:
            message = "Policies know you by another name than when the call was carried out."
            raise ServiceError.of("N004", message, "Ask again.")
        return answer

    turn = services_of(call).query_turns.carry_out(actor.id, carried_out)
    return await answer_while_there(call, turn, stop.stop)
