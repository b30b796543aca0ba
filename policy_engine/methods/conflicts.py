"""Parameters that do not go together: roles of columns, their settings, options, bounds."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sized
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from policy_engine.errors import join_names
from policy_engine.methods.columns import CENTRAL, GUIDED, ROLES, SUPPRESSION, Generalization
from policy_engine.methods.findings import Finding, format_value, parameter_finding
from policy_engine.methods.guide import (
    ACCURACY_GUIDED,
    GUIDE,
    GUIDE_LABELS,
    LABEL,
    REPRESENTATIVE,
    REPRESENTATIVES,
)
from policy_engine.methods.recoding import UNIQUE_KEPT

_SETTING_OWNERS = {"taxonomy": "taxonomy", "unlisted": "taxonomy", "mask": "prefix"}
_SETTING_OWNERS |= {"fanout": "interval", "precision": "interval"}
"""The generalization that each setting belongs to."""
_ORDERED = ("set", "centroid")
_OPTIONS = {
    "mondrian": ("partitioning", "dimensionality", "score", "polish", "maxSuppression"),
    "full-domain": ("maxSuppression", "loss"),
    "microaggregation": (),
    "local-suppression": (),
    "bucketization": ("buckets",),
    ACCURACY_GUIDED: (LABEL, GUIDE, GUIDE_LABELS, REPRESENTATIVE),
}
_OWNERS = {
    name: [algorithm for algorithm, own in _OPTIONS.items() if name in own]
    for options in _OPTIONS.values()
    for name in options
}
"""The algorithms that have each option."""
_CELLS = {"microaggregation": CENTRAL, "local-suppression": (SUPPRESSION,)}
"""The generalizations of the algorithms that do not have all; the last is their default."""
_REPRESENTED = {"median-mode": ("median", "mode", "median-mode"), "nearest": ("nearest",)}
"""The generalizations of columns of which one value stands for a class, by its representative; the
last is their default."""
_TAKES_WILDCARDS = ("mondrian", "local-suppression")
_MOST_SUPPRESSED_COLUMNS = 62
_MULTIDIMENSIONAL = {"partitioning": "relaxed", "score": None, "polish": True}
_MULTIDIMENSIONAL |= {"maxSuppression": None}
"""Options that a grid lacks, with the value that it lacks; None for any value."""


def parameter_findings(
    kind: type[BaseModel], values: Mapping[str, Any], notation: str
) -> list[Finding]:
    """Return what is wrong with the parameters of a model, `notation` being its name; each once."""
    conflicts = getattr(kind, "conflicts", None)  # methods, maskings and randomisers have them
    problems = list(conflicts(values)) if conflicts else []
    try:
        kind(**values)
    except ValidationError as error:
        problems += [
            parameter_finding(kind, notation, detail) for detail in error.errors() if detail["loc"]
        ]
    return list(dict.fromkeys(problems))


def role_conflicts(roles: Mapping[str, tuple[str, ...]], unit: str = "") -> Iterator[Finding]:
    """Yield each column with two roles, or with one role twice (M005).

    `roles` are the columns by role; `unit` is the column of the unit of privacy, or empty.
    """
    roles_by_column: dict[str, str] = {}
    for role in ROLES:
        columns = roles.get(role, ())
        repeated = Counter(columns) if len({*columns}) < len(columns) else dict.fromkeys(columns, 1)
        for column, times in repeated.items():
            if times > 1:
                yield Finding("M005", role, f"{column!r} is named {times} times under {role}.")
            if column in roles_by_column:
                roles_text = f"{roles_by_column[column]} and {role}"
                message = f"{column!r} is both {roles_text}. A column has one role."
                yield Finding("M005", role, message)
            roles_by_column.setdefault(column, role)
    if roles_by_column.get(unit, "identifier") != "identifier":
        message = (
            f"{unit!r} is both {roles_by_column[unit]} and privacyUnit. "
            "The unit of privacy is dropped: kept, it would link a person's rows."
        )
        yield Finding("M005", "privacyUnit", message)


def setting_conflicts(role: str, settings: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield the settings of one column that contradict each other (M002, M003)."""
    if role == "sensitive":
        yield from _distance_conflicts(settings)
    if role != "quasi-identifier":
        return
    generalization = settings.get("generalization")
    if generalization not in (None, *get_args(Generalization)):
        return
    if generalization == "taxonomy" and not settings.get("taxonomy"):
        message = "The generalization 'taxonomy' names no taxonomy. Add pe:taxonomy."
        yield Finding("M002", "generalization", message)
    for name, owner in _SETTING_OWNERS.items():
        if name in settings and generalization != owner:
            generalization_text = repr(generalization) if generalization else "none"
            message = (
                f"{name} belongs to the generalization {owner!r}. Given: {generalization_text}."
            )
            yield Finding("M003", name, message)
    if "order" in settings and generalization not in (None, *_ORDERED):
        message = f"order belongs to the generalizations {join_names(_ORDERED)}. "
        message += f"Given: {generalization!r}."
        yield Finding("M003", "order", message)


def default_generalization(algorithm: object, representative: object = None) -> str | None:
    """Return what an algorithm makes of every column, None where the values decide;
    `representative` is what stands for an accuracy-guided class, None for the default."""
    if algorithm == ACCURACY_GUIDED:
        kinds = _REPRESENTED.get(str(representative or REPRESENTATIVES[0]))
        return kinds[-1] if kinds else None
    return _CELLS[algorithm][-1] if isinstance(algorithm, str) and algorithm in _CELLS else None


def cell_conflicts(
    algorithm: object, settings: Mapping[str, Any], representative: object = None
) -> Iterator[Finding]:
    """Yield the settings of a quasi-identifier that its algorithm lacks (M003); `representative` is
    what stands for an accuracy-guided class, None for the default."""
    if algorithm not in _OPTIONS:
        return
    if algorithm == ACCURACY_GUIDED and representative != REPRESENTATIVES[-1]:
        yield from _represented_conflicts(representative or REPRESENTATIVES[0], settings)
        return
    others = [one for one in get_args(Generalization) if one not in (SUPPRESSION, *GUIDED)]
    allowed = _CELLS.get(str(algorithm), others)
    generalization = settings.get("generalization")
    if generalization in get_args(Generalization) and generalization not in allowed:
        message = f"generalization is {generalization!r}. The algorithm {algorithm!r} has "
        yield Finding("M003", "generalization", f"{message}{join_names(allowed)}.")
    if algorithm == "local-suppression" and "order" in settings and generalization is None:
        message = "order belongs to sets. The algorithm 'local-suppression' keeps values."
        yield Finding("M003", "order", message)
    yield from _own_cap_conflicts(algorithm, settings)


def _own_cap_conflicts(algorithm: object, settings: Mapping[str, Any]) -> Iterator[Finding]:
    if algorithm != "local-suppression" and "maxSuppression" in settings:
        message = "maxSuppression of a column belongs to the algorithm 'local-suppression'. "
        yield Finding("M003", "maxSuppression", f"{message}Given: {algorithm!r}.")


def _represented_conflicts(
    representative: object, settings: Mapping[str, Any]
) -> Iterator[Finding]:
    if representative not in _REPRESENTED:
        return
    allowed, generalization = _REPRESENTED[str(representative)], settings.get("generalization")
    if generalization in get_args(Generalization) and generalization not in allowed:
        message = f"generalization is {generalization!r}. The representative {representative!r} "
        yield Finding("M003", "generalization", f"{message}has {join_names(allowed)}.")
    if "order" in settings and generalization is None:
        message = "order belongs to cells. The representative is "
        yield Finding("M003", "order", f"{message}{representative!r}.")
    yield from _own_cap_conflicts(ACCURACY_GUIDED, settings)


def suppression_conflicts(
    options: Mapping[str, Any], notations: Iterable[str], roles: Mapping[str, Sized], unit: str
) -> Iterator[Finding]:
    """Yield what local suppression cannot hold (M003).

    `notations` are the privacy models, `roles` the columns by role, `unit` is the column of the
    unit of privacy, or empty.
    """
    if options.get("algorithm") != "local-suppression":
        return
    others = [one for one in notations if one != "k-anonymity"]
    if others:
        message = "local-suppression holds k alone, and does not look at sensitive values. "
        yield Finding("M003", "algorithm", f"{message}Given: {join_names(others)}.")
    if unit:
        message = f"local-suppression counts rows, and k is to count {unit!r}."
        yield Finding("M003", "privacyUnit", message)
    if options.get("missing") == "wildcard" and roles.get("pseudonymize"):
        message = "Where missing values match any, there are no classes that hide pseudonyms."
        yield Finding("M003", "missing", message)
    count = len(roles.get("quasi-identifier", ()))
    if count > _MOST_SUPPRESSED_COLUMNS:
        message = f"local-suppression has up to {_MOST_SUPPRESSED_COLUMNS} quasi-identifiers. "
        yield Finding("M003", "quasi-identifier", f"{message}Given: {count}.")


def composition_conflicts(
    options: Mapping[str, Any], notations: Iterable[str]
) -> Iterator[Finding]:
    """Yield that m-invariance lacks its m, which is the l of l-diversity (M002)."""
    if options.get("composition") == "m-invariant" and "l-diversity" not in notations:
        message = "The m of m-invariance is the l of l-diversity, which is not asked for."
        yield Finding("M002", "composition", message)


def _distance_conflicts(settings: Mapping[str, Any]) -> Iterator[Finding]:
    distance = settings.get("distance")
    if distance == "hierarchical" and not settings.get("taxonomy"):
        message = "The distance 'hierarchical' names no taxonomy. Add pe:taxonomy."
        yield Finding("M002", "distance", message)
    if "taxonomy" in settings and distance in (None, "variational", "ordered"):
        distance_text = repr(distance) if distance else "none"
        message = f"taxonomy belongs to the distance 'hierarchical'. Given: {distance_text}."
        yield Finding("M003", "taxonomy", message)


def option_conflicts(values: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield each option that the chosen algorithm does not have (M003)."""
    algorithm = values.get("algorithm", "mondrian")
    if algorithm not in _OPTIONS:
        return
    for name, owners in _OWNERS.items():
        if name in values and algorithm not in owners:
            message = f"{name} is an option of {' and '.join(owners)}. "
            yield Finding("M003", name, f"{message}The algorithm is {algorithm!r}.")
    if algorithm == "bucketization" and UNIQUE_KEPT in values:
        message = f"{UNIQUE_KEPT} is about rows with sensitive values, and buckets have none. "
        yield Finding("M003", UNIQUE_KEPT, f"{message}The algorithm is {algorithm!r}.")
    if algorithm not in _TAKES_WILDCARDS and values.get("missing") == "wildcard":
        message = f"missing 'wildcard' is an option of {' and '.join(_TAKES_WILDCARDS)}. "
        message += f"The algorithm is {algorithm!r}."
        yield Finding("M003", "missing", message)
    if values.get("dimensionality") == "single":
        for name, value in _MULTIDIMENSIONAL.items():
            if name in values and value in (None, values[name]):
                message = f"{name} {format_value(values[name])} needs the dimensionality 'multi'."
                yield Finding("M003", name, f"{message} Given: 'single'.")
