"""Labels of accuracy-guided classes that nothing keeps from being one in a class."""

from collections.abc import Iterator

from policy_engine import terms
from policy_engine.errors import Problem
from policy_engine.policy.model import Action, Constraint, Policy

_ALGORITHM, _LABEL = f"{terms.PE}algorithm", f"{terms.PE}label"
_INSENSITIVE = f"{terms.PE}insensitive"
_METHOD, _SENSITIVE = f"{terms.MOSAICROWN}method", f"{terms.MOSAICROWN}sensitive"
_HINT = (
    "Ask for a model of sensitive values as well, such as l-diversity, or name the label as "
    "insensitive."
)
_HINT_ALONE = "Name the label as insensitive, if it is: the method goes with no other."
_ALONE = "probabilistic-k-anonymity"


def undiverse_labels(policy: Policy) -> Iterator[Problem]:
    """Yield the labels that are sensitive, and that no privacy model is about (W013).

    A label without a role is sensitive.
    """
    for action in (one for rule in policy.permissions for one in rule.actions):
        parts = _parts_of(action)
        label = parts.get(_LABEL)
        if label is None or not label.right_operands or not _is_guided(parts):
            continue
        columns = _names(parts.get(_INSENSITIVE))
        methods = _names(parts.get(_METHOD))
        if not {*_names(label)} & {*columns} and not _is_about_values(methods):
            name = terms.local_name(str(label.right_operands[0].value))
            message = f"The label {name!r} is sensitive, and classes are cut so that it is alike in"
            message += " them: all of a class may have one."
            is_alone = any(one.endswith(_ALONE) for one in methods)
            yield Problem("W013", message, _HINT_ALONE if is_alone else _HINT, label.place)


def _parts_of(action: Action) -> dict[str, Constraint]:
    return {one.left_operand: one for one in action.refinements if isinstance(one, Constraint)}


def _is_guided(parts: dict[str, Constraint]) -> bool:
    return "accuracy-guided" in _names(parts.get(_ALGORITHM))


def _names(part: Constraint | None) -> list[str]:
    """Return the values of a parameter as texts, none where it is not given."""
    return [terms.canonical(str(one.value)) for one in part.right_operands] if part else []


def _is_about_values(methods: list[str]) -> bool:
    """Tell whether some privacy model bounds what classes tell of sensitive values."""
    models = terms.privacy_models().items()
    return any(
        _SENSITIVE in term.iris("requires")
        for notation, term in models
        if {notation, term.iri} & {*methods}
    )
