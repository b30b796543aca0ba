"""From policies to a picture of them."""

from collections.abc import Iterable, Iterator
from textwrap import wrap

from policy_engine import terms
from policy_engine.authoring.diagram.assets import assets, columns_of
from policy_engine.authoring.diagram.names import Labels, shorten
from policy_engine.authoring.diagram.picture import (
    Edge,
    EdgeKind,
    Line,
    NodeKind,
    Picture,
    PictureNode,
    Weight,
)
from policy_engine.decision.derivations import Derivation, DerivationSource
from policy_engine.errors import OutputError, Problem
from policy_engine.policy.hierarchy import PARTS, Part
from policy_engine.policy.model import Action, Asset, Condition, Party, Policy, Rule
from policy_engine.policy.owners import Owners
from policy_engine.policy.owners.hearing import unheard
from policy_engine.policy.wording import (
    condition_text,
    conditions_text,
    part_text,
    printable,
    rule_name,
)

MAX_LINES = 1_500
MAX_EDGES = 1_500
_WIDTH = 38
_MOST_LINES = 10
_MOST_CONSTRAINTS = 8
_LONGEST_TITLE = 100
_KINDS: dict[str, tuple[NodeKind, EdgeKind]] = {
    "permission": ("permission", "permits"),
    "prohibition": ("prohibition", "prohibits"),
    "obligation": ("obligation", "obliges"),
}
NOBODY = Owners()
_DOES_NOT_COUNT = " does not count: "
_DIGEST_LENGTH = 12
_DUTY_LABELS = {"duty": "owes", "remedy": "if infringed", "consequence": "if not done"}
_STRATEGIES = {
    "perm": "a permission wins over a prohibition",
    "prohibit": "a prohibition wins over a permission",
    "invalid": "conflicting rules void the policy",
}


def compose(
    policies: Iterable[Policy], derivations: Iterable[Derivation] = (), owners: Owners = NOBODY
) -> Picture:
    """Return the picture of policies: parties, rules and assets, and what includes what.

    `derivations` are what was made from what, and `owners` who owns what. Raises OutputError (O003)
    where the picture would be too large to be useful.
    """
    composer = _Composer(tuple(policies), tuple(derivations), owners)
    composer.compose()
    return composer.picture()


class _Composer:
    """Collects nodes and edges; something that several rules name is one node."""

    def __init__(
        self, policies: tuple[Policy, ...], derivations: tuple[Derivation, ...], owners: Owners
    ) -> None:
        self.policies = policies
        self.derivations = derivations
        self.owners = owners
        messages = (problem.message for _, problem in unheard(policies, self.owners))
        self.unheard = dict(message.split(_DOES_NOT_COUNT, 1) for message in messages)
        self.columns = columns_of(policies)
        self.assets = {asset for policy in policies for asset in assets(policy)}
        self.outputs = {rule.output for policy in policies for rule in policy.rules}
        self.outputs |= {one.asset for one in derivations}
        action_edges = [p.hierarchy.action + p.hierarchy.implied for p in policies]
        self.related_actions = {one for edges in action_edges for edge in edges for one in edge}
        self.label = Labels(
            _labelled_iris(policies, (self.assets | self.outputs - {""}) - self.columns.all_columns)
        )
        self.rule_label = Labels(())
        self.nodes: dict[str, PictureNode] = {}
        self.edges: dict[Edge, None] = {}
        self.lines = 0

    def picture(self) -> Picture:
        """Return the collected picture; several policies are groups with a title each."""
        nodes, edges = tuple(self.nodes.values()), tuple(self.edges)
        if len(self.policies) == 1:
            return Picture(tuple(_title(self.policies[0])), nodes, edges)
        titles = [" · ".join(line.text for line in _title(policy)) for policy in self.policies]
        return Picture((), nodes, edges, tuple((f"policy:{n}", t) for n, t in enumerate(titles)))

    def compose(self) -> None:
        """Collect the rules of all policies, then the inclusions."""
        for number, policy in enumerate(self.policies):
            self.rule_label = Labels(rule.uid for rule in _rules(policy.rules))
            for place, rule in enumerate(policy.rules):
                reason = self.unheard.get(rule_name(rule.label(), policy.uid), "")
                self._draw_rule(rule, f"rule:{number}:{place}", f"policy:{number}", reason)
        for policy in self.policies:
            for part in PARTS:
                self._draw_hierarchy(part, policy)
            self._draw_implications(policy)
        for number, derivation in enumerate(self.derivations):
            self._draw_derivation(derivation, f"ended:{number}")
        self._draw_owners()

    # -- rules --------------------------------------------------------------------------------

    def _draw_rule(self, rule: Rule, key: str, group: str, reason: str) -> None:
        kind, link = _KINDS[rule.kind]
        aside = _lines(f"does not count: {reason}", "faint") if reason else ()
        self._add(PictureNode(key, kind, (*self._card(rule), *aside), _tooltip(rule), group))
        parties = [self._party(one) for one in rule.assignees]
        purposes = [self._add_named("purpose", one) for one in rule.purposes]
        actions = [
            self._add_named("action", one.iri)
            for one in rule.actions
            if one.iri in self.related_actions
        ]
        targets = [self._target(one) for one in rule.targets]
        for party in parties or [self._add_unnamed("party", "anybody", "every party")]:
            self._link(party, key, "who")
        for node in purposes + actions:
            self._link(node, key, "why")
        for target in targets or [self._add_unnamed("asset", "any asset", "every asset")]:
            self._link(key, target, link)
        if rule.output:
            self._link(key, self._asset(rule.output), "makes", "makes")
        self._draw_duties(rule, key)

    def _draw_duties(self, rule: Rule, key: str) -> None:
        """Draw the duties, remedies and consequences of a rule, recursively."""
        for place, one in enumerate(rule.nested_rules):
            below = f"{key}:{place}"
            self._add(PictureNode(below, "duty", self._duty_card(one), _tooltip(one)))
            self._link(key, below, "duty", _DUTY_LABELS.get(one.kind, ""))
            self._draw_duties(one, below)

    def _card(self, rule: Rule) -> tuple[Line, ...]:
        lines = [self._caption(rule), *self._actions(rule)]
        if not rule.purposes and rule.kind != "obligation":
            lines.append(Line("for any purpose", "faint"))
        return (*lines, *self._small_print(rule))

    def _duty_card(self, rule: Rule) -> tuple[Line, ...]:
        lines = [self._caption(rule), *self._actions(rule)]
        for word, parts in (("on", rule.targets), ("by", rule.assignees)):
            if parts:
                lines += _lines(f"{word} {self._parts(parts)}")
        return (*lines, *self._small_print(rule))

    def _caption(self, rule: Rule) -> Line:
        name = f" {self.rule_label(rule.uid)}" if rule.uid else ""
        return Line(f"{rule.kind}{name}", "caption")

    def _actions(self, rule: Rule) -> Iterator[Line]:
        plain_labels = [self.label(one.iri) for one in rule.actions if not one.refinements]
        yield from _lines(", ".join(plain_labels), "strong")
        for action in rule.actions:
            if action.refinements:
                yield from _lines(self.label(action.iri), "strong")
                # The roles of columns are shown beside the columns.
                parameters = [one for one in action.refinements if not _names_columns(one)]
                yield from _lines(conditions_text(parameters, self.label))

    def _small_print(self, rule: Rule) -> Iterator[Line]:
        for one in rule.constraints[:_MOST_CONSTRAINTS]:
            yield from _lines(f"if {condition_text(one, self.label)}")
        rest = len(rule.constraints) - _MOST_CONSTRAINTS
        if rest > 0:
            yield Line(f"… and if {rest} more constraints hold")
        if rule.assigners:
            yield from _lines(f"from {self._parts(rule.assigners)}", "faint")
        for function, parties in sorted(rule.functions.items()):
            yield from _lines(f"{self.label(function)}: {self._parts(parties)}", "faint")

    def _parts(self, parts: Iterable[Party | Asset]) -> str:
        return ", ".join(part_text(one, self.label) for one in parts)

    # -- what rules name ----------------------------------------------------------------------

    def _party(self, party: Party) -> str:
        return (
            self._add_refined("party", party)
            if party.refinements
            else self._add_named("party", party)
        )

    def _target(self, target: Asset) -> str:
        if not target.refinements:
            return self._asset(target.iri)
        key = self._add_refined("asset", target)
        self._link(self._asset(target.iri), key, "within")
        return key

    def _add_refined(self, kind: NodeKind, part: Party | Asset) -> str:
        """Return the key of the members of a collection that satisfy the refinements."""
        condition = f"where {conditions_text(part.refinements, self.label)}"
        lines = (Line(self.label(part.iri), "strong"), *_lines(condition))
        full_text = part_text(part, printable)
        return self._add(
            PictureNode(f"{kind}:{part.iri} {full_text}", kind, lines, _cut(full_text))
        )

    def _add_named(self, kind: NodeKind, part: str | Party) -> str:
        iri = part if isinstance(part, str) else part.iri
        line = Line(self.label(iri), "plain" if kind == "purpose" else "strong")
        return self._add(PictureNode(f"{kind}:{iri}", kind, (line,), _cut(printable(iri))))

    def _add_unnamed(self, kind: NodeKind, text: str, tooltip: str) -> str:
        return self._add(PictureNode(f"{kind}:", kind, (Line(text, "faint"),), tooltip))

    def _asset(self, iri: str) -> str:
        """Return the key of an asset, or of its line in a dataset."""
        if iri in self.columns.all_columns:
            self._asset(terms.dataset_of(iri))
            return f"column:{iri}"
        key = f"asset:{iri}"
        if key not in self.nodes:
            lines = (Line(self.label(iri), "strong"), *self._columns(iri))
            kind: NodeKind = "output" if iri in self.outputs else "asset"
            self._add(PictureNode(key, kind, lines, _cut(printable(iri))))
            above = terms.dataset_of(iri)
            if above in self.assets or above in self.columns.by_dataset:
                self._link(self._asset(above), key, "within")
        return key

    def _columns(self, dataset: str) -> Iterator[Line]:
        for column in self.columns.by_dataset.get(dataset, ()):
            name = shorten(column.removeprefix(f"{dataset}/"))
            roles = ", ".join(self.columns.roles.get(column, ()))
            yield Line(name, tooltip=printable(column), key=f"column:{column}", aside=roles)

    def _draw_hierarchy(self, part: Part, policy: Policy) -> None:
        for narrow, wide in getattr(policy.hierarchy, part):
            if part == "asset":
                self._link(self._asset(wide), self._asset(narrow), "within")
            else:
                self._link(self._add_named(part, narrow), self._add_named(part, wide), "within")

    def _draw_implications(self, policy: Policy) -> None:
        for action, needed in policy.hierarchy.implied:
            ends = self._add_named("action", action), self._add_named("action", needed)
            self._link(*ends, "why", "needs")

    # -- what was made from what, and whose it is ---------------------------------------------

    def _draw_derivation(self, one: Derivation, key: str) -> None:
        """Draw that an asset was made from others, and why it is no longer valid."""
        kind: EdgeKind = "ended" if one.end_reason else "derived"
        asset = self._asset(one.asset)
        for source in one.sources:
            self._link(self._asset(source.asset), asset, kind, _source_label(source))
        if one.end_reason:
            lines = (Line("no longer valid", "caption"), *_lines(one.end_reason))
            self._link(
                self._add(PictureNode(key, "ended", lines, _cut(one.end_reason))), asset, "ended"
            )

    def _draw_owners(self) -> None:
        """Draw the owners of the drawn assets, where they are known."""
        for one in self.owners.statements:
            if one.asset in self.columns.all_columns or f"asset:{one.asset}" in self.nodes:
                for word, parties in (("owns", one.owners), ("regulates", one.regulators)):
                    for party in parties:
                        owner = self._add_named("party", party)
                        self._link(owner, self._asset(one.asset), "owns", word)

    # -- nodes and edges ----------------------------------------------------------------------

    def _add(self, node: PictureNode) -> str:
        if node.key not in self.nodes:
            self.nodes[node.key] = node
            self.lines += len(node.lines)
        if self.lines > MAX_LINES:
            raise _too_large(f"more than {MAX_LINES:,} lines of text")
        return node.key

    def _link(self, tail: str, head: str, kind: EdgeKind, label: str = "") -> None:
        if tail != head:
            self.edges[Edge(tail, head, kind, label)] = None
        if len(self.edges) > MAX_EDGES:
            raise _too_large(f"more than {MAX_EDGES:,} connections")


def _source_label(source: DerivationSource) -> str:
    """Return the label of the edge to the source of an asset."""
    digest = source.digest[:_DIGEST_LENGTH]
    return f"wasDerivedFrom, sha-256 {digest}…" if digest else "wasDerivedFrom"


def _title(policy: Policy) -> Iterator[Line]:
    """Yield the title of a policy, and what happens if its rules conflict."""
    yield Line(_cut(printable(policy.uid), _LONGEST_TITLE), "strong")
    strategy = f" · {_STRATEGIES[policy.conflict]}" if policy.prohibitions else ""
    yield Line(printable(f"{terms.local_name(policy.type)}{strategy}"), "faint")


def _labelled_iris(policies: Iterable[Policy], iris: Iterable[str]) -> Iterator[str]:
    """Yield every IRI that gets a label."""
    yield from sorted(iris)
    for policy in policies:
        hierarchy = policy.hierarchy
        for edge in (*hierarchy.party, *hierarchy.action, *hierarchy.implied, *hierarchy.purpose):
            yield from edge
        for rule in _rules(policy.rules):
            yield from _rule_iris(rule)


def _rules(rules: Iterable[Rule]) -> Iterator[Rule]:
    """Yield rules and their duties, recursively."""
    for rule in rules:
        yield rule
        yield from _rules(rule.nested_rules)


def _rule_iris(rule: Rule) -> Iterator[str]:
    """Yield the IRIs shown on a rule's card and for its parties."""
    other_parties = (party for parties in rule.functions.values() for party in parties)
    refined: list[Party | Asset | Action] = [*rule.assigners, *rule.assignees, *rule.actions]
    refined += other_parties
    yield from (part.iri for part in refined)
    yield from (*rule.purposes, *rule.functions)
    if rule.kind in _DUTY_LABELS:
        yield from (target.iri for target in rule.targets)
    conditions = [*rule.constraints]
    conditions += (one for part in (*refined, *rule.targets) for one in part.refinements)
    for one in (leaf for condition in conditions for leaf in condition.constraints()):
        if not terms.names_columns(one.left_operand):
            yield from (one.left_operand, *one.references)
            yield from (str(value.value) for value in one.right_operands if value.is_iri)


def _names_columns(condition: Condition) -> bool:
    return all(terms.names_columns(one.left_operand) for one in condition.constraints())


def _tooltip(rule: Rule) -> str:
    """Return the full text of a card, with full IRIs, one line per part."""
    parts = [f"{rule.kind} {printable(rule.uid)}".strip()]
    parts += [part_text(action, printable) for action in rule.actions]
    parts += [f"if {condition_text(one, printable)}" for one in rule.constraints]
    for word, parties in (("from", rule.assigners), *sorted(rule.functions.items())):
        if parties:
            parts.append(f"{printable(word)} {', '.join(part_text(p, printable) for p in parties)}")
    return _cut("\n".join(parts))


def _lines(text: str, weight: Weight = "plain") -> Iterator[Line]:
    """Yield a text in lines that are short enough; a text too long for a card is cut."""
    wrapped = wrap(text, _WIDTH, break_on_hyphens=False)
    for line in wrapped[:_MOST_LINES]:
        yield Line(line, weight)
    if len(wrapped) > _MOST_LINES:
        yield Line("… and more", weight)


def _cut(text: str, longest: int = 2_000) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _too_large(reason: str) -> OutputError:
    message = f"The picture would be too large to be of use: {reason}."
    return OutputError(Problem("O003", message, "Draw fewer policies at once."))
