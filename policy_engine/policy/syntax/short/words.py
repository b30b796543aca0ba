"""The words of the short form: those of the vocabulary, without their prefixes."""

from collections.abc import Iterable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Final

from policy_engine import terms
from policy_engine.policy.model import Kind
from policy_engine.policy.structure import INNER_KINDS, KINDS, party_functions

POLICY, RULE, TARGET, COLUMNS, ROWS = "policy", "rule", "target", "columns", "rows"
ACTION, CONSTRAINT, PURPOSE, OUTPUT = "action", "constraint", "purpose", "output"
PREFIXES, NAMESPACE, PROFILE = "prefixes", "namespace", "profile"
OF_POLICY: Mapping[str, str] = MappingProxyType(
    {POLICY: "uid", "type": "@type", PROFILE: PROFILE, "conflict": "conflict"}
    | {"inheritFrom": "inheritFrom"}
)
"""What a policy itself has, and the keys of JSON-LD that it becomes."""
SETTINGS_OF_TEXT: Final = (NAMESPACE, PREFIXES)
"""What says how the names of a text are read."""
IRIS: Final = (POLICY, RULE, TARGET, OUTPUT, "assignee", "assigner", "inheritFrom")
"""The keys whose values are names that the namespace completes."""
ANONYMIZE, READ = "odrl:anonymize", "odrl:read"
_QUASI_IDENTIFIER, _MASKED = f"{terms.MOSAICROWN}quasi-identifier", f"{terms.PE}masked"
ONE_WORD_SETTINGS: Mapping[str, str] = MappingProxyType(
    {_QUASI_IDENTIFIER: "generalization", _MASKED: "masking"}
)
"""The setting that a single word beside a column is, by the parameter that lists the column."""


@cache
def functions() -> tuple[str, ...]:
    """Return the functions that parties have in rules, `assigner` and `assignee` first."""
    return ("assignee", "assigner", *map(terms.local_name, party_functions()))


def keys_of(kind: Kind) -> tuple[str, ...]:
    """Return the keys of a rule but for the parameters of its action."""
    released = (OUTPUT, PURPOSE) if kind in ("permission", "prohibition") else ()
    own = (RULE, TARGET, COLUMNS, ACTION, *released, ROWS, CONSTRAINT, "refinement")
    return (*own, *functions(), *INNER_KINDS[kind])


def shared() -> tuple[str, ...]:
    """Return what a policy may say for all its rules."""
    return (TARGET, ACTION, PURPOSE, *functions())


def keys_of_policy() -> tuple[str, ...]:
    """Return the keys of a policy that lists its rules, what these share among them."""
    return (*OF_POLICY, *SETTINGS_OF_TEXT, *KINDS, *shared())


@cache
def parameters() -> Mapping[str, str]:
    """Return the parameters of actions, as IRIs, by their words."""
    operands = terms.instances(f"{terms.ODRL}LeftOperand").items()
    return _by_word(iri for iri, term in operands if {"operator", "refines"} & term.facts.keys())


@cache
def operands() -> Mapping[str, str]:
    """Return what constraints look at, as IRIs, by its words."""
    every = terms.instances(f"{terms.ODRL}LeftOperand")
    parameter_iris = {iri for iri, term in every.items() if "operator" in term.facts}
    return _by_word(iri for iri in every if iri not in parameter_iris)


@cache
def actions() -> Mapping[str, str]:
    """Return the actions of the vocabulary, as IRIs, by their words."""
    every = terms.instances(f"{terms.ODRL}Action")
    return _by_word(iri for iri in every if iri.startswith((terms.ODRL, terms.PE)))


@cache
def operators() -> tuple[str, ...]:
    """Return the operators of constraints."""
    return tuple(map(terms.local_name, terms.instances(f"{terms.ODRL}Operator")))


@cache
def settings_of(parameter: str) -> Mapping[str, str]:
    """Return what may be set for a column under a parameter, as IRIs, by its words."""
    return _by_word(sorted(terms.settings().get(parameter, ())))


def names_columns(setting: str) -> bool:
    """Tell whether the values of a setting are columns."""
    return terms.vocabulary()[setting].iris("range") == (f"{terms.ODRL}Asset",)


def _by_word(iris: Iterable[str]) -> Mapping[str, str]:
    words: dict[str, str] = {}
    for iri in iris:
        words.setdefault(terms.local_name(iri), iri)
    return MappingProxyType(words)
