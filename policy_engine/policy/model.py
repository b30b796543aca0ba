"""What a data owner wrote, as typed values that remember where they stood."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeAlias

from policy_engine import terms
from policy_engine.errors import NOWHERE, Place, Problem
from policy_engine.policy.hierarchy import Hierarchy
from policy_engine.policy.queries import Budget, Query
from policy_engine.policy.syntax.contexts import Context
from policy_engine.policy.vocabulary import NONE, Vocabulary
from policy_engine.policy.xsd.values import Literals

Kind = Literal["permission", "prohibition", "obligation", "duty", "remedy", "consequence"]
Strategy = Literal["perm", "prohibit", "invalid"]
OFFER, SET = f"{terms.ODRL}Offer", f"{terms.ODRL}Set"
GRANT_USE = f"{terms.ODRL}grantUse"
READ, ANONYMIZE = f"{terms.ODRL}read", f"{terms.ODRL}anonymize"
TRAIN = f"{terms.PE}train"
MAKING = (ANONYMIZE, TRAIN)
"""What makes an output, and is refined by parameters that no request has."""
JOINTLY, READ_SO_FAR = f"{terms.PE}jointly", f"{terms.PE}readSoFar"
"""What a request reads together, and what its assignee has read by then: assets, as operands."""
DERIVED = f"{terms.PE}derived"
SPENT_EPSILON, SPENT_DELTA = f"{terms.PE}spentEpsilon", f"{terms.PE}spentDelta"
SPENT = (SPENT_EPSILON, SPENT_DELTA)
"""The left operands that are about what releases cost: one of the `SPENDING_UNITS` says whose."""
SPENDING_UNITS = PER_ASSIGNEE_AND_PURPOSE, PER_DATASET = (
    f"{terms.PE}perAssigneeAndPurpose",
    f"{terms.PE}perDataset",
)
ENDS_WITH, ACCEPTED = f"{terms.PE}endsWith", f"{terms.PE}acceptedDigest"
COUNT, BY_PARTY, BY_ASSET = (
    f"{terms.ODRL}count",
    f"{terms.PE}countByParty",
    f"{terms.PE}countByAsset",
)
COUNTS = (COUNT, BY_PARTY, BY_ASSET)
"""The left operands that are about how often a rule was exercised."""
_TOLD_OF_REQUESTS = (*COUNTS, JOINTLY, READ_SO_FAR, DERIVED, *SPENT)
_PARAMETERS = (terms.PE, terms.MOSAICROWN)
"""What parameters of making something are named in."""
LOGICAL = tuple(f"{terms.ODRL}{name}" for name in ("and", "or", "xone", "andSequence"))
"""How conditions are joined (ODRL Information Model 2.2, section 2.5.2)."""
_TOGETHER = (f"{terms.ODRL}and", f"{terms.ODRL}andSequence")
IRI = "@id"
"""The type of a value that is the name of something rather than a literal."""


@dataclass(frozen=True)
class Value:
    """A literal or an IRI on the right of a constraint.

    `type` is the IRI of a literal's data type, `IRI` for a name, empty where the text says
    none; `settings` has the settings of a column, by property. Of a setting that takes several
    values, `more` are all but the first, in the order of their names.
    """

    value: Literals
    place: Place = field(default=NOWHERE, compare=False)
    settings: Mapping[str, "Value"] = field(default_factory=dict, hash=False)
    type: str = field(default="", compare=False)
    more: tuple["Value", ...] = ()

    @property
    def all(self) -> tuple["Value", ...]:
        """All values of a setting, this one first."""
        return (self, *self.more)

    @property
    def is_iri(self) -> bool:
        """Whether the value names something."""
        return self.type == IRI


@dataclass(frozen=True)
class Constraint:
    """What must hold of one left operand (ODRL Information Model 2.2, section 2.5.1).

    On an action, a party or an asset it is a refinement (section 2.5.3). Operands and operator
    are IRIs. `references` are right operands that are elsewhere (`rightOperandReference`).
    """

    left_operand: str
    operator: str
    right_operands: tuple[Value, ...] = ()
    references: tuple[str, ...] = ()
    data_type: str = ""
    unit: str = ""
    status: Value | None = None
    uid: str = ""
    place: Place = field(default=NOWHERE, compare=False)

    def constraints(self) -> "Iterator[Constraint]":
        """Yield the constraint itself."""
        yield self


@dataclass(frozen=True)
class LogicalConstraint:
    """Conditions joined by `and`, `or`, `xone` or `andSequence` (section 2.5.2), as an IRI."""

    operator: str
    operands: tuple["Condition", ...]
    uid: str = ""
    place: Place = field(default=NOWHERE, compare=False)

    def constraints(self) -> Iterator[Constraint]:
        """Yield the constraints at the leaves, in order."""
        for operand in self.operands:
            yield from operand.constraints()


Condition: TypeAlias = Constraint | LogicalConstraint


def conjuncts(conditions: Iterable[Condition]) -> Iterator[Condition]:
    """Yield conditions that must all hold, those joined by `and` or `andSequence` one by one."""
    for one in conditions:
        if isinstance(one, LogicalConstraint) and one.operator in _TOGETHER:
            yield from conjuncts(one.operands)
        else:
            yield one


def is_parameter(condition: Condition) -> bool:
    """Tell whether a refinement is a parameter of making something, rather than a condition."""
    operands = [leaf.left_operand for leaf in condition.constraints()]
    return bool(operands) and all(
        one in terms.vocabulary() and one.startswith(_PARAMETERS) and one not in _TOLD_OF_REQUESTS
        for one in operands
    )


@dataclass(frozen=True)
class RulePart:
    """A part of a rule: what it names by its IRI, and refinements that narrow this."""

    iri: str
    refinements: tuple[Condition, ...] = ()
    place: Place = field(default=NOWHERE, compare=False)


class Action(RulePart):
    """What may or may not be done (ODRL Information Model 2.2, section 2.4)."""


class Party(RulePart):
    """Who a rule is about, or whose members it is about (section 2.3).

    With refinements, it is about those members of the collection alone that meet them.
    """


class Asset(RulePart):
    """What a rule is about, or a collection whose members it is about (section 2.2)."""


@dataclass(frozen=True)
class Rule:
    """A permission, a prohibition or a duty of one of four kinds (section 2.6).

    Every combination of its targets, assignees and actions is a rule of its own (section
    2.7.1). Without assignees it holds for everybody, without targets for every asset, without
    purposes for every purpose. `functions` are the other parties that have a part in it, by the
    IRI of their function (section 2.6.7). `duties` must be done to have a permission,
    `remedies` where a prohibition was infringed, `consequences` where a duty was not fulfilled.
    A rule of a policy that inherits is issued by the `issuers` that this one itself names, though
    its assigners are those of its parents as well. `name` is that of a rule without uid.
    """

    kind: Kind
    targets: tuple[Asset, ...] = ()
    actions: tuple[Action, ...] = ()
    uid: str = ""
    assigners: tuple[Party, ...] = ()
    assignees: tuple[Party, ...] = ()
    purposes: tuple[str, ...] = ()
    output: str = ""
    constraints: tuple[Condition, ...] = ()
    duties: tuple["Rule", ...] = ()
    remedies: tuple["Rule", ...] = ()
    consequences: tuple["Rule", ...] = ()
    functions: Mapping[str, tuple[Party, ...]] = field(default_factory=dict, hash=False)
    issuers: tuple[Party, ...] | None = field(default=None, compare=False, repr=False)
    name: str = field(default="", compare=False, repr=False)
    place: Place = field(default=NOWHERE, compare=False)

    def label(self) -> str:
        """Return what the rule is known by: its uid, or its name by what it means (`labels.py`)."""
        return self.uid or self.name or self.where()

    def where(self) -> str:
        """Return what it is called in messages about a text: its uid, or its position."""
        return self.uid or f"{self.kind} {self.place.pointer or '?'}"

    @property
    def issued_by(self) -> frozenset[str]:
        """Who issued the rule, those of its policy among them, but not of its parents.

        Some members of a collection are not the collection: they speak for nobody.
        """
        parties = self.assigners if self.issuers is None else self.issuers
        return frozenset(party.iri for party in parties if not party.refinements)

    @property
    def nested_rules(self) -> "tuple[Rule, ...]":
        """The duties, remedies and consequences that hang on the rule."""
        return self.duties + self.remedies + self.consequences

    def all_nested_rules(self) -> "Iterator[Rule]":
        """Yield the duties, remedies and consequences on the rule, and those on these."""
        for duty in self.nested_rules:
            yield duty
            yield from duty.all_nested_rules()


@dataclass(frozen=True)
class Policy:
    """A policy (ODRL Information Model 2.2, section 2.1).

    `inherits` are the uids of its parents, whose rules are among its own; `shared` is what it
    says of all its rules, and stands in them already. `digest` is the sha-256 of what it means
    (`canonical.py`), with its parents and the vocabularies that it was read with; `hierarchy`
    holds what these say of parties, assets, actions and purposes; `vocabulary` what the
    vocabularies define, and `context` what the names in the text mean; `source` names the
    text in messages, and `hints` are warnings and what could be written better. `replaced_by` are
    the policies by which it says to be replaced, `dated` when it was last modified, or issued.
    It is void where one of the policies that it `ends_with` is not in force, or none of them has
    the digest that was `accepted`, where that is said (`ending.py`). `text` is the policy as its
    text has it, without what it inherits; None where that is itself. `queries` are the tables of
    aggregates that its rules may release, `budgets` what these may cost together. Without a `type`
    it is one whose text is lost: what is known are outputs that it made.
    """

    uid: str
    type: str
    conflict: Strategy
    digest: str
    profiles: tuple[str, ...] = ()
    inherits: tuple[str, ...] = ()
    shared: Rule = field(default_factory=lambda: Rule("permission"))
    names_conflict: bool = False
    permissions: tuple[Rule, ...] = ()
    prohibitions: tuple[Rule, ...] = ()
    obligations: tuple[Rule, ...] = ()
    hierarchy: Hierarchy = field(default_factory=Hierarchy)
    vocabulary: Vocabulary = field(default=NONE, compare=False, repr=False)
    context: Context = field(default=Context({}), compare=False, repr=False)
    source: str = field(default="", compare=False)
    hints: tuple[Problem, ...] = field(default=(), compare=False)
    replaced_by: tuple[str, ...] = ()
    ends_with: tuple[str, ...] = ()
    accepted: str = ""
    queries: tuple[Query, ...] = ()
    budgets: tuple[Budget, ...] = ()
    dated: datetime | None = field(default=None, compare=False)
    place: Place = field(default=NOWHERE, compare=False)
    text: "Policy | None" = field(default=None, compare=False, repr=False)

    def _repr_html_(self) -> str:
        from policy_engine.policy.page import policy_html  # noqa: PLC0415 (which imports this)

        return policy_html(self)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The permissions, prohibitions and obligations, in this order."""
        return self.permissions + self.prohibitions + self.obligations

    @property
    def issued_by(self) -> frozenset[str]:
        """Who issued all that its text says: none where a rule names nobody, or others."""
        text = self.text or self
        issuers = {rule.issued_by for rule in text.rules} or {text.shared.issued_by}
        return next(iter(issuers)) if len(issuers) == 1 else frozenset()

    @property
    def is_lost(self) -> bool:
        """Whether its text is lost, so that nobody knows who issued it."""
        return not self.type

    @property
    def duties(self) -> tuple[Rule, ...]:
        """The obligations, and all duties, remedies and consequences that hang on rules."""
        return (
            *self.obligations,
            *(duty for rule in self.rules for duty in rule.all_nested_rules()),
        )
