"""Who can do what by policies: every party that they name, with every asset, for every purpose."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, product
from typing import Literal

from pydantic import BaseModel, ConfigDict

from policy_engine import terms
from policy_engine.certificate.attestation import Attestation
from policy_engine.certificate.certificate import Certificate
from policy_engine.decision import Decider, Decision, Request
from policy_engine.policy.model import READ, Policy, Rule

Ability = Literal["permit", "conditional", "deny"]
ANYBODY_ELSE = "anybody else"
"""What those are called whom no rule names, in the place of an IRI."""
_STRANGER = "urn:policy-engine:anybody-else"
MOST_PARTIES = 20
MOST_ROWS = 200
_MOST_QUESTIONS = 100 * MOST_ROWS
"""So many questions are looked at: rules of thousands of assets and purposes have millions."""


class MatrixRow(BaseModel):
    """What may be done with an asset for a purpose, by party; a purpose may be none.

    It is `conditional` where a permission covers what is denied as yet: conditions are not known to
    hold, duties are outstanding, or an output has no certificate.
    """

    model_config = ConfigDict(frozen=True)

    target: str
    action: str
    purpose: str
    cells: Mapping[str, Ability]


class AccessMatrix(BaseModel):
    """Who can do what: parties, and a row for each asset, action and purpose that rules name.

    The last of the parties is anybody whom they do not name.

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

    Nothing of the world is known, and no duty is fulfilled; an output without a certificate among
    those given can be read by nobody yet.
    """
    rules = [rule for policy in policies for rule in policy.rules]
    parties = _names(party.iri for rule in rules for party in rule.assignees)
    questions = list(
        islice(dict.fromkeys(islice(_questions(rules), _MOST_QUESTIONS)), MOST_ROWS + 1)
    )
    decider = Decider(policies, certificates)
    labels = {**{party: party for party in parties[:MOST_PARTIES]}, ANYBODY_ELSE: _STRANGER}
    rows = tuple(_row(decider, labels, *one) for one in questions[:MOST_ROWS])
    is_cut = len(parties) > MOST_PARTIES or len(questions) > MOST_ROWS
    return AccessMatrix(assignees=tuple(labels), rows=rows, is_cut=is_cut)


def _questions(rules: Sequence[Rule]) -> Iterator[tuple[str, str, str]]:
    """Yield each asset with each action and purpose that rules name, and reading among them."""
    targets = _names(asset.iri for rule in rules for asset in rule.targets)
    outputs = _names(rule.output for rule in rules if rule.output)
    purposes = ["", *_names(purpose for rule in rules for purpose in rule.purposes)]
    actions = [READ, *_names(one.iri for rule in rules for one in rule.actions if one.iri != READ)]
    yield from product(targets, actions, purposes)
    yield from product(outputs, [READ], purposes)


def _row(
    decider: Decider, parties: Mapping[str, str], target: str, action: str, purpose: str
) -> MatrixRow:
    cells = {
        label: _ability(
            decider.decide(
                Request(assignee=party, action=action, targets=(target,), purpose=purpose)
            )
        )
        for label, party in parties.items()
    }
    return MatrixRow(
        target=target, action=terms.compact(action), purpose=terms.compact(purpose), cells=cells
    )


def _ability(decision: Decision) -> Ability:
    if decision.effect == "permit":
        return "permit"
    is_prohibited = any(one.kind == "prohibition" and one.applies for one in decision.matches)
    is_covered = any(one.kind == "permission" for one in decision.matches)
    return "conditional" if is_covered and not is_prohibited else "deny"


def _names(iris: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(iris))
