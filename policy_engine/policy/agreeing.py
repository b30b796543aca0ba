"""The Agreement that an Offer describes, once a party accepts it (ODRL IM 2.2, section 2.1)."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from policy_engine import terms
from policy_engine.errors import InternalError, PolicyError, join_names
from policy_engine.policy.canonical import digest_of
from policy_engine.policy.collecting.files import Reading, Source, is_collection, text_of
from policy_engine.policy.hierarchy import Hierarchy
from policy_engine.policy.model import ACCEPTED, OFFER, Party, Policy, Rule
from policy_engine.policy.naming import Names
from policy_engine.policy.reading.reader import read_policies
from policy_engine.policy.syntax.contexts import Context
from policy_engine.policy.syntax.limits import DEFAULT_LIMITS, Limits
from policy_engine.policy.syntax.rdf import convert_text
from policy_engine.policy.vocabulary import Vocabulary
from policy_engine.terms import is_absolute

AGREEMENT = f"{terms.ODRL}Agreement"
DERIVED = "http://www.w3.org/ns/prov#wasDerivedFrom"
_KINDS = ("permission", "prohibition", "obligation")
_WITHIN = ("duty", "remedy", "consequence")
# What a string in a context may end with to be a prefix (JSON-LD 1.1, section 4.1.5).
_ENDINGS = tuple(":/?#[]@")
_Node = dict[str, Any]


def agree(
    offer: Source,
    party: str,
    *,
    uid: str = "",
    hierarchy: Hierarchy | None = None,
    contexts: Mapping[str, Any] | None = None,
    limits: Limits = DEFAULT_LIMITS,
    vocabularies: Sequence[Any] = (),
) -> str:
    """Return the Agreement that an offer describes once a party accepts it, as JSON-LD.

    It has the permissions of the offer that are for the party, who is the assignee of each, and
    all of its prohibitions and obligations, with the offer's duties, constraints, assigners and
    prefixes. It says to be derived from the offer (`prov:wasDerivedFrom`). `uid` is its own IRI,
    by default one made of the offer and the party; `hierarchy` adds to what the offer says of who
    belongs to which group. From then on it is independent: it ends by its own terms, and
    with the offer only where that says so (`pe:endsWith`): it is then void once the offer is not in
    force, or means something else than what was accepted. Raises PolicyError (P021) where the
    policy is not an offer, or not one to the party.
    """
    reading = Reading(contexts, (), limits, vocabularies)
    offers = reading.policy(offer)
    if offers.type != OFFER:
        message = f"{offers.uid!r} is not an Offer, but of type {terms.local_name(offers.type)!r}."
        raise PolicyError.of("P021", message, "", offers.source)
    if offers.inherits:
        message = (
            f"The offer inherits from {join_names(offers.inherits)}, whose rules it does not hold."
        )
        raise PolicyError.of("P021", message, "Write them into the offer.", offers.source)
    accepted = _party(party, offers)
    if isinstance(offer, Policy):
        raise PolicyError.of("P021", "An offer is accepted as a text. Given: a Policy.")
    # Of a folder or a registry, the file of the one that is in force.
    text, name, syntax = text_of(Path(offers.source) if is_collection(offer) else offer)
    known_contexts = reading.vocabulary.contexts(contexts)
    document = json.loads(convert_text(text, syntax, "json-ld", name, known_contexts, limits))
    # Its rules in the order of that text.
    ordered = replace(reading.policy(document), source=offers.source)
    made = _Agreement(ordered, accepted, uid, hierarchy or Hierarchy())
    agreement = _expand_prefixes(made.document(document), offers.context, ordered.context)
    written = json.dumps(agreement, indent=2, ensure_ascii=False) + "\n"
    _check(written, made, contexts, limits, reading.vocabulary)
    return written


def _party(party: str, offer: Policy) -> str:
    iri = Names([offer]).full(party, "assignee")
    if not is_absolute(iri):
        message = f"Who accepts an offer is named by a whole IRI. Given: {party!r}."
        raise PolicyError.of("P021", message, "", offer.source)
    return iri


def _expand_prefixes(document: _Node, declared: Context, context: Context) -> _Node:
    """Return a text that declares, beyond what it knows, what another does.

    A prefix by which a name of the text would be read otherwise is left out.
    """
    text = json.dumps(document)
    own = {
        name: one.namespace
        for name, one in declared.definitions.items()
        if name not in context.definitions and one.namespace.endswith(_ENDINGS)
    }
    own = {name: iri for name, iri in own.items() if f'"{name}:' not in text}
    if not own:
        return document
    return {**document, "@context": [*_several(document["@context"]), own]}


class _Agreement:
    """What is made of an offer: the policy, and the same in the text of the offer."""

    def __init__(self, offer: Policy, party: str, uid: str, hierarchy: Hierarchy) -> None:
        self.offer, self.party = offer, party
        who = sha256(f"{offer.digest}{party}".encode()).hexdigest()[:16]
        self.uid = uid or f"{offer.uid}/agreement/{who}"
        self._groups = offer.hierarchy.joined([hierarchy])
        if not any(map(self._is_for, offer.permissions)):
            parties = dict.fromkeys(p.iri for rule in offer.permissions for p in rule.assignees)
            to = f"It is to {join_names(parties)}." if parties else "It permits nothing."
            message = f"The offer {offer.uid!r} is not to {party!r}. {to}"
            hint = "Say who belongs to whom by a hierarchy, if it is."
            raise PolicyError.of("P021", message, hint, offer.source)
        others = [rule for rule in (*offer.prohibitions, *offer.obligations) if self._is_to(rule)]
        if offer.shared.assignees and not all(map(self._is_for, others)):
            message = "The offer names for all its rules whom some of them are not to."
            raise PolicyError.of("P021", message, "Name them with each rule.", offer.source)

    def _is_for(self, rule: Rule) -> bool:
        """Tell whether a rule is for the party; where a group is refined that is unknown."""
        return not rule.assignees or any(
            not one.refinements and self._groups.path("party", self.party, one.iri)
            for one in rule.assignees
        )

    def _is_kept(self, rule: Rule) -> bool:
        # What is prohibited, and what somebody else is obliged to, is a part of what was offered.
        return rule.kind != "permission" or self._is_for(rule)

    def _is_to(self, rule: Rule) -> bool:
        """Tell whether a rule of the agreement is to the party alone."""
        is_open = not rule.assignees or bool(self.offer.shared.assignees)
        return rule.kind == "permission" or is_open

    @property
    def _ends_with_it(self) -> bool:
        return self.offer.uid in self.offer.ends_with

    @property
    def policy(self) -> Policy:
        """The agreement as a policy."""
        rules: dict[str, Any] = {
            f"{kind}s": tuple(
                self._rule(rule) for rule in getattr(self.offer, f"{kind}s") if self._is_kept(rule)
            )
            for kind in _KINDS
        }
        rules |= {"accepted": self.offer.digest} if self._ends_with_it else {}
        return replace(self.offer, uid=self.uid, type=AGREEMENT, **rules)

    def _rule(self, rule: Rule) -> Rule:
        assignees = (Party(self.party),) if self._is_to(rule) else rule.assignees
        return replace(self._named(rule), assignees=assignees)

    def _named(self, rule: Rule) -> Rule:
        inner: dict[str, Any] = {
            name: tuple(map(self._named, getattr(rule, name)))
            for name in ("duties", "remedies", "consequences")
        }
        return replace(rule, uid=self._name(rule.uid), **inner)

    def _name(self, uid: str) -> str:
        """Return the name of a rule of the agreement: that of the offer's stays its own."""
        return f"{self.uid}#{sha256(uid.encode()).hexdigest()[:8]}" if uid else ""

    def document(self, document: _Node) -> _Node:
        """Return the offer's text, as `convert_text` writes it, as that of the agreement."""
        nodes = document.get("@graph", [document])
        [node] = [one for one in nodes if terms.canonical(one.get("uid", "")) == self.offer.uid]
        node |= {"@type": "Agreement", "uid": self.uid, DERIVED: {"@id": self.offer.uid}}
        node |= {ACCEPTED: self.offer.digest} if self._ends_with_it else {}
        node.pop("assignee", None)
        for kind in _KINDS:
            written, read = _several(node.pop(kind, [])), getattr(self.offer, f"{kind}s")
            members = [
                self._node(one, rule, nodes)
                for one, rule in zip(written, read, strict=True)
                if self._is_kept(rule)
            ]
            node |= {kind: members} if members else {}
        others = [one for one in nodes if one is node or not {*_KINDS} & one.keys()]
        return {**document, "@graph": others} if "@graph" in document else document

    def _node(self, target: Any, rule: Rule, nodes: Sequence[_Node]) -> _Node:
        """Return the object of a rule, which may be elsewhere under its name."""
        is_name = isinstance(target, str)
        node = self._renamed(
            next(one for one in nodes if one.get("uid") == target) if is_name else target
        )
        if self._is_to(rule):
            node["assignee"] = self.party
        return node

    def _renamed(self, node: _Node) -> _Node:
        inner = {
            key: [self._renamed(one) for one in _several(node[key])]
            for key in _WITHIN
            if key in node
        }
        uid = {"uid": self._name(terms.canonical(node["uid"]))} if "uid" in node else {}
        return {**node, **uid, **inner}


def _several(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _check(
    written: str,
    agreement: _Agreement,
    contexts: Mapping[str, Any] | None,
    limits: Limits,
    vocabulary: Vocabulary,
) -> None:
    """Raise InternalError where what was written does not mean what it should."""
    how = {"contexts": contexts, "limits": limits, "vocabulary": vocabulary}
    digests = [one.digest for one in read_policies(written, **how)]  # type: ignore[arg-type]
    if digests != [digest_of(agreement.policy)]:
        raise InternalError.of("X001", "The agreement that was written is not what was offered.")
