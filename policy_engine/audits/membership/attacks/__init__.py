"""Attacks on the membership of records: one file each, found by its name.

`pe:lira-online`, written `lira-online`, is the class `LiraOnline` in `attacks/lira_online.py`.
There is no list to edit: the vocabulary is the registry.
"""

from collections.abc import Iterable
from importlib import import_module
from importlib.util import find_spec

from policy_engine import terms
from policy_engine.audits.membership.attacks.attack import Attack, Judgement
from policy_engine.errors import AuditError, Problem, did_you_mean, join_names

__all__ = ["Attack", "Judgement", "attack_of", "expand_attacks", "notations"]

_GROUPS = {"lira": ("lira-offline", "lira-online")}


def notations() -> tuple[str, ...]:
    """Return the attacks of the vocabulary, in its order."""
    return tuple(term.facts["notation"] for term in terms.instances(f"{terms.PE}Attack").values())


def attack_of(notation: str) -> Attack:
    """Return an attack of the vocabulary. Raises AuditError (A012) for an unknown one."""
    attack = _attack_class(notation)
    if attack is None:
        raise AuditError(_unknown(notation))
    return attack()


def expand_attacks(names: Iterable[str]) -> tuple[str, ...]:
    """Return the attacks named, each once, in their order; `lira` is both of its kinds.

    Raises AuditError (A012) with every name that is unknown.
    """
    single = [one for name in names for one in _GROUPS.get(name, (name,))]
    expanded = tuple(dict.fromkeys(single))
    problems = [_unknown(name) for name in expanded if _attack_class(name) is None]
    if problems:
        raise AuditError(*problems)
    return expanded


def _attack_class(notation: str) -> type[Attack] | None:
    module = f"{__name__}.{notation.replace('-', '_')}"
    if not notation.replace("-", "").isalnum() or find_spec(module) is None:
        return None
    name = "".join(part.capitalize() for part in notation.split("-"))
    attack: type[Attack] | None = getattr(import_module(module), name, None)
    return attack if getattr(attack, "notation", None) == notation else None


def _unknown(notation: str) -> Problem:
    names = (*notations(), *_GROUPS)
    message = f"The attack {notation!r} is not known. Known are {join_names(names)}."
    return Problem("A012", message, did_you_mean(notation, names))
