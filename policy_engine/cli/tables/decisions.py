"""Decisions and their derivations on a terminal."""

from collections.abc import Iterator

from rich.markup import escape

from policy_engine import terms
from policy_engine.cli.tables.tables import printed_list
from policy_engine.decision import Decision, Match
from policy_engine.decision.explaining import inclusion_lines


def decision_lines(decision: Decision) -> Iterator[str]:
    """Yield the answer, then what of its derivation the reason does not say."""
    colour = "green" if decision.permitted else "red"
    unsigned = " (unsigned)" if decision.signatures == "unsigned" else ""
    yield f"[bold {colour}]{decision.effect}[/]{unsigned}: {escape(decision.reason)}"
    yield from (
        f"  - {escape(line)}" for line in decision.derivation if line not in decision.reason
    )


def explanation(decision: Decision) -> Iterator[str]:
    """Yield the decision in sentences: who, what, when, why, and which duties are outstanding."""
    request = decision.request
    purpose = f" for {terms.compact(request.purpose)}" if request.purpose else ", without a purpose"
    targets = " together with ".join(request.targets)
    when = f"{decision.time:%Y-%m-%d %H:%M:%S %Z}" if decision.time else "an unknown time"
    clock = " by the clock" if decision.time_by == "clock" else ""
    yield escape(
        f"{request.assignee} asks to {terms.local_name(request.action)} {targets}{purpose}, "
        f"at {when}{clock}."
    )
    yield from decision_lines(decision)
    for match in decision.matches:
        yield escape(_matched(match))
        is_shown = decision.derivation and (match.policy, match.rule) == (
            decision.policy,
            decision.rule,
        )
        yield from () if is_shown else (f"  - {escape(line)}" for line in _ways(match))
    if decision.strategy:
        yield escape(f"The conflict strategy that decided is {decision.strategy!r}.")
    for duty in decision.duties:
        actions = " and ".join(map(terms.compact, duty.actions))
        by = f" by {printed_list(duty.by)}" if duty.by else ""
        yield escape(f"{duty.state.capitalize()}: {actions}{by} ({duty.duty}, of {duty.rule}).")
    yield escape(f"Looked at: policies {', '.join(one[:12] for one in decision.policy_digests)}.")


def _matched(match: Match) -> str:
    verb = "permits" if match.kind == "permission" else "prohibits"
    if match.applies:
        return f"{match.rule} of {match.policy} {verb} it."
    return f"{match.rule} of {match.policy} covers it, but does not hold now."


def _ways(match: Match) -> Iterator[str]:
    """Yield how a rule covers a request, and what its conditions evaluated to."""
    yield from inclusion_lines(match.steps)
    yield from (f"{verdict.state}: {verdict.reason}" for verdict in match.conditions)
