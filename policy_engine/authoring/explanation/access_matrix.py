"""Who can do what by policies: every party that they name, with every asset, for every purpose."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product

from pydantic import BaseModel, ConfigDict

from policy_engine import terms
from policy_engine.certificate.attestation import Attestation
from policy_engine.certificate.certificate import Certificate
from policy_engine.decision import Decider, Request
from policy_engine.decision.model import Effect
from policy_engine.policy.model import READ, Policy, Rule

MOST_PARTIES = 20
MOST_ROWS = 200


class MatrixRow(BaseModel):
    """What may be done with an asset for a purpose, by party; a purpose may be none."""

    model_config = ConfigDict(frozen=True)

    target: str
    action: str
    purpose: str
    cells: Mapping[str, Effect]


class AccessMatrix(BaseModel):
    """Who can do what: parties, and a row for each asset, action and purpose that rules name.

    It is cut where there are more than 20 parties or 200 rows, and then says so.
    """

    model_config = ConfigDict(frozen=True)

    assignees: tuple[str, ...]
    rows: tuple[MatrixRow, ...]
    is_cut: bool = False


def access_matrix(
    policies: Sequence[Policy], certificates: Sequence[Certificate | Attestation] = ()
) -> AccessMatrix:
    """Return who can do what by policies, each cell decided as a request would be.

    Nothing of the world is known, and no duty is fulfilled: a permission on conditions is denied
    here. An output without a certificate among those given can be read by nobody.
    """
    rules = [rule for policy in policies for rule in policy.rules]
    parties = _names(party.iri for rule in rules for party in rule.assignees)
    questions = list(dict.fromkeys(_questions(rules)))
    decider = Decider(policies, certificates)
    rows = tuple(_row(decider, parties[:MOST_PARTIES], *one) for one in questions[:MOST_ROWS])
    is_cut = len(parties) > MOST_PARTIES or len(questions) > MOST_ROWS
    return AccessMatrix(assignees=tuple(parties[:MOST_PARTIES]), rows=rows, is_cut=is_cut)


def _questions(rules: Sequence[Rule]) -> Iterator[tuple[str, str, str]]:
    """Yield each asset with each action and purpose that rules name, and reading among them."""
    targets = _names(asset.iri for rule in rules for asset in rule.targets)
    outputs = _names(rule.output for rule in rules if rule.output)
    purposes = ["", *_names(purpose for rule in rules for purpose in rule.purposes)]
    actions = [READ, *_names(one.iri for rule in rules for one in rule.actions if one.iri != READ)]
    yield from product(targets, actions, purposes)
    yield from product(outputs, [READ], purposes)


def _row(
    decider: Decider, parties: Sequence[str], target: str, action: str, purpose: str
) -> MatrixRow:
    cells = {
        party: decider.decide(
            Request(assignee=party, action=action, targets=(target,), purpose=purpose)
        ).effect
        for party in parties
    }
    return MatrixRow(
        target=target, action=terms.compact(action), purpose=terms.compact(purpose), cells=cells
    )


def _names(iris: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(iris))
