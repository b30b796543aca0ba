"""The purposes that texts name, of which a misspelt one would match nothing."""

from collections.abc import Iterator, Mapping, Sequence

from policy_engine import terms
from policy_engine.data.rdf.statements import Literal, Term
from policy_engine.decision.compliance.facts import own_purposes
from policy_engine.decision.compliance.graph import StatementGraph
from policy_engine.decision.compliance.reading import leaves
from policy_engine.decision.compliance.requested_rules import RequestedRule
from policy_engine.decision.conditions import compared_name
from policy_engine.decision.facts import PURPOSE
from policy_engine.errors import Place, PolicyError, Problem, RequestError, did_you_mean
from policy_engine.policy.hierarchy import Hierarchy
from policy_engine.policy.model import Policy
from policy_engine.policy.structure import PURPOSE_PROPERTIES
from policy_engine.policy.vocabulary import Vocabulary

_OF_MOSAICROWN = f"{terms.MOSAICROWN}purpose"


def refuse_unknown_purposes(
    texts: Sequence[StatementGraph],
    policies: Sequence[Policy],
    requested: Sequence[RequestedRule],
    world_values: Mapping[str, Sequence[Term]],
    hierarchy: Hierarchy,
    vocabulary: Vocabulary,
) -> None:
    """Refuse purposes that their scheme lacks: a prohibition of one would apply to nothing.

    Such schemes are the Data Privacy Vocabulary and that of the profile. `texts` are those of the
    policies, the requests and the world, which has `world_values` of left operands; `hierarchy` has
    what they say of the kinds of purposes. Raises PolicyError (P005) or RequestError (D003).
    """
    named = dict.fromkeys(_named(policies, requested, world_values))
    for text in texts:
        named |= dict.fromkeys(name for edge in text.edges(*PURPOSE_PROPERTIES) for name in edge)
    for name in named:
        if terms.has_known_namespace(name) and not _is_of_profile(name, vocabulary):
            _refuse(texts, name, "the MOSAICrOWN profile", terms.instances(_OF_MOSAICROWN))
    own = Hierarchy(purpose=own_purposes(texts[1], requested))
    for name in _with_kinds(named, hierarchy.joined([own])):
        if name.startswith(terms.DPV) and not _is_of_dpv(name, vocabulary):
            _refuse(texts, name, "the Data Privacy Vocabulary", terms.dpv_terms("Purpose"))


def _named(
    policies: Sequence[Policy],
    requested: Sequence[RequestedRule],
    world_values: Mapping[str, Sequence[Term]],
) -> Iterator[str]:
    """Yield the purposes that policies, requests and the world name."""
    for policy in policies:
        for rule in policy.rules:
            yield from rule.purposes
        for leaf in leaves(policy):
            rights = leaf.right_operands if leaf.left_operand == PURPOSE else ()
            yield from (compared_name(one.value) for one in rights if isinstance(one.value, str))
    for values in (world_values, *(one.values for one in requested)):
        yield from map(_name, values.get(PURPOSE, ()))


def _name(term: Term) -> str:
    return compared_name(term.text if isinstance(term, Literal) else term)


def _with_kinds(named: Mapping[str, object], hierarchy: Hierarchy) -> Iterator[str]:
    """Yield purposes, and all that they are kinds of."""
    seen, queue = set(named), [*named]
    for name in queue:
        yield name
        wider = [one for one in hierarchy.above("purpose", name) if one not in seen]
        queue += dict.fromkeys(wider)
        seen.update(wider)


def _is_of_profile(name: str, vocabulary: Vocabulary) -> bool:
    return name in terms.instances(_OF_MOSAICROWN) or name in vocabulary.purposes


def _is_of_dpv(name: str, vocabulary: Vocabulary) -> bool:
    is_top = name == f"{terms.DPV}Purpose"
    return is_top or terms.is_in_dpv(name, "Purpose") or name in vocabulary.purposes


def _refuse(
    texts: Sequence[StatementGraph], name: str, scheme: str, names: Mapping[str, object]
) -> None:
    message = f"{terms.compact(name)!r} is not a purpose of {scheme}."
    hint = did_you_mean(terms.local_name(name), map(terms.local_name, names))
    for text, error in zip(texts, (PolicyError, RequestError, RequestError), strict=True):
        for statement, spot in text.spots.items():
            if len(statement) > 1 and name in map(_name, statement):
                code = "P005" if error is PolicyError else "D003"
                raise error(Problem(code, message, hint, Place("", *spot)), source=text.source)
