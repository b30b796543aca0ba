"""Which statistics an assignee may ask of datasets, and the decision on one query of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

from policy_engine import terms
from policy_engine.decision import Decider, Decision, World
from policy_engine.decision.history import History
from policy_engine.decision.model import CarriedOutRule
from policy_engine.decision.query.allowed_statistics import AllowedStatistics, AnswerLoss
from policy_engine.decision.query.asked_statistics import AskedStatistics, only_table
from policy_engine.decision.query.row_comparisons import NotAskableError
from policy_engine.decision.query.tables import Tables
from policy_engine.decision.requests import read_request
from policy_engine.decision.telling import Telling, unchanged
from policy_engine.errors import Problem, join_names
from policy_engine.plan.aggregates.reading import Statistics
from policy_engine.plan.reading_anonymization import statistics
from policy_engine.policy import Policy
from policy_engine.policy.hierarchy import Part
from policy_engine.policy.model import ANONYMIZE


@dataclass(frozen=True)
class StatisticsRequest:
    """Who asks for statistics, for which purpose, and what decides whether they may."""

    decider: Decider
    assignee: str
    purpose: str
    world: World
    time_by: Literal["caller", "clock"] = "clock"
    told: Telling = unchanged
    """What of a decision is told to who asks."""

    def decide(
        self, dataset: str, allowed: AllowedStatistics | None, history: History | None
    ) -> Decision:
        """Return whether statistics of a dataset may be made, by the rule of a permission."""
        policies = self.decider.policies
        request = read_request(self.assignee, ANONYMIZE, [dataset], self.purpose, policies)
        carried = None
        if allowed is not None:
            carried = CarriedOutRule(allowed.policy.uid, allowed.declared.rule.label())
        decision = self.decider.decide(request, self.world, history, carried)
        return decision.model_copy(update={"time_by": self.time_by})


@dataclass(frozen=True)
class GrantedAnswer:
    """The decision on a query of statistics and, where it is permitted, what answers it.

    `answer` has the permission, what is asked for, and the statistics with their noise; `reasons`
    say why there is none.
    """

    decision: Decision
    answer: tuple[AllowedStatistics, AskedStatistics, Statistics] | None = None
    reasons: tuple[Problem, ...] = ()

    def names(self, part: Part) -> tuple[str, ...]:
        """Return the party, or the purpose, that asks, and those of the rule that include it."""
        request = self.decision.request
        asker = request.assignee if part == "party" else request.purpose
        own = self.answer[0].declared.rule.label() if self.answer else ""
        paths = (
            name
            for match in self.decision.matches
            if match.rule == own and match.applies
            for step in match.steps
            if step.part == part
            for name in step.path
        )
        return tuple(dict.fromkeys(filter(None, (asker, *paths))))


def allowed_statistics(
    policies: Sequence[Policy], datasets: Sequence[str]
) -> Iterator[tuple[str, AllowedStatistics]]:
    """Yield the permissions to release statistics of datasets, each with its dataset.

    Raises PlanError where what a policy asks for cannot be planned.
    """
    iris = {terms.canonical(one): one for one in datasets}
    for policy in policies:
        for declared in statistics(policy):
            dataset = iris.get(terms.canonical(declared.rule.targets[0].iri))
            if dataset is not None:
                yield dataset, AllowedStatistics(policy, declared)


def granted_answer(
    tree: exp.Query,
    loss: AnswerLoss,
    tables: Tables,
    asker: StatisticsRequest,
    history: History | None,
) -> GrantedAnswer:
    """Return the decision on a query that may cost so much: of the first permission that allows it.

    No data are read, and nothing of them is asked. Raises QueryError (Q003) for an unknown table.
    """
    refusals: list[str] = []
    datasets = [one.iri for one in tables.catalog.datasets]
    try:
        datasets = [tables.dataset(only_table(tree).name).iri]
    except NotAskableError as error:
        refusals += error.problems
    granted, denied = _granted(datasets, asker, history)
    for decision, allowed in granted:
        try:
            return GrantedAnswer(decision, (allowed, *allowed.answered(tree, loss)))
        except NotAskableError as error:
            refusals += error.problems
    if not granted:
        refused = denied or [asker.decide(datasets[0], None, history)]
        why = asker.told(refused[0]).reason if not refused[0].permitted else _NO_PERMISSION
        return _refusal(refused[0], [no_statistics(datasets, why)])
    reason = " ".join(dict.fromkeys(refusals))
    menus = " Or: ".join(dict.fromkeys(allowed.menu() for _, allowed in granted))
    problem = Problem("Q010", reason, f"Allowed are: {menus}")
    return _refusal(granted[0][0], [problem])


def no_statistics(datasets: Sequence[str], why: str) -> Problem:
    """Return that nothing may be asked of some datasets (Q006)."""
    return Problem("Q006", f"No statistics of {join_names(datasets)} may be asked for.", why)


_NO_PERMISSION = "No permission releases statistics of it under differential privacy."


def _granted(
    datasets: Sequence[str], asker: StatisticsRequest, history: History | None
) -> tuple[list[tuple[Decision, AllowedStatistics]], list[Decision]]:
    """Return the permissions that count for the asker, and the decisions against others."""
    granted, denied = [], []
    for dataset, allowed in allowed_statistics(asker.decider.policies, datasets):
        decision = asker.decide(dataset, allowed, history)
        if decision.permitted:
            granted.append((decision, allowed))
        else:
            denied.append(decision)
    return granted, denied


def _refusal(decision: Decision, reasons: Sequence[Problem]) -> GrantedAnswer:
    return GrantedAnswer(refused(decision, reasons[0].message), None, tuple(reasons))


def refused(decision: Decision, reason: str) -> Decision:
    """Return a decision as a denial for a reason of its own; it counts as no execution."""
    if not decision.permitted:
        return decision
    changes = {"effect": "deny", "reason": reason, "policy": "", "rule": "", "counted": ()}
    return decision.model_copy(update={**changes, "made_from": (), "derivation": ()})


def statistics_hint(tree: exp.Query, asker: StatisticsRequest, datasets: Sequence[str]) -> str:
    """Return how a denied query may be asked with noise, empty where it may not."""
    granted, _ = _granted(datasets, asker, None)
    for _, allowed in granted:
        try:
            allowed.answered(tree, AnswerLoss(allowed.whole.epsilon, allowed.whole.delta))
        except NotAskableError:
            continue
        return (
            "It is answered with noise if an epsilon and a ledger are given: --epsilon, --ledger."
        )
    menus = " Or: ".join(dict.fromkeys(allowed.menu() for _, allowed in granted))
    return f"With --epsilon and --ledger, statistics may be asked for: {menus}" if granted else ""
