"""What goes with quasi-identifiers that are permuted within classes, and what does not."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from policy_engine.errors import join_names
from policy_engine.methods.findings import Finding
from policy_engine.methods.guide import ACCURACY_GUIDED, REPRESENTATIVE

LINK_PROBABILITY = "linkProbability"
"""The bound on the probability that a row is linked to its quasi-identifiers."""
PERMUTING = "probabilistic-k-anonymity"
"""The method that permutes quasi-identifiers within classes."""
_METHODS = (PERMUTING, "masking")
"""The methods that are not privacy models about values, and go together: others speak of rows that
are alike."""
_ALGORITHMS = ("mondrian", ACCURACY_GUIDED)
"""The algorithms whose classes are cut by quasi-identifiers, and by what a model predicts."""
_SETTINGS = ("weight",)
"""What is said of a quasi-identifier that is permuted: how much it counts when classes are cut."""
_ONLY = {"partitioning": "strict", "polish": False, "missing": "category"}
"""The options whose other value would put rows with equal quasi-identifiers in different classes
by what else they hold, or let a missing value be any."""


def permutation_conflicts(
    options: Mapping[str, Any],
    notations: Collection[str],
    roles: Mapping[str, Collection[str]],
    about_values: Collection[str] = (),
) -> Iterator[Finding]:
    """Yield what cannot be asked for together with permuted quasi-identifiers (M003).

    `options` are those of the algorithm and of its guide, by name, `notations` the methods, of
    which some are privacy models `about_values`, and `roles` the names of the columns by role.
    """
    if PERMUTING not in notations:
        return
    others = [one for one in notations if one not in (*_METHODS, *about_values)]
    if others:
        message = f"{PERMUTING} leaves rows unlike, and {join_names(others)} "
        message += f"{'is' if len(others) == 1 else 'are'} about rows that are alike."
        yield Finding("M003", "method", message)
    algorithm = options.get("algorithm", _ALGORITHMS[0])
    if algorithm not in _ALGORITHMS:
        message = f"{PERMUTING} permutes the values of classes that are cut by "
        message += f"{join_names(_ALGORITHMS, 'or')}. Given: {algorithm!r}."
        yield Finding("M003", "algorithm", message)
    if options.get("maxSuppression"):
        message = f"{PERMUTING} leaves no row out: classes of permuted values have no cells that a "
        yield Finding("M003", "maxSuppression", f"{message}row could widen.")
    for name, value in _ONLY.items():
        if options.get(name, value) != value:
            message = f"{name} is {options[name]!r}. Where values are permuted, classes follow "
            message += f"from whole values of quasi-identifiers: it is {value!r}."
            yield Finding("M003", name, message)
    if REPRESENTATIVE in options:
        message = f"{PERMUTING} releases the values of a class as they are, in another order: "
        yield Finding("M003", REPRESENTATIVE, f"{message}nothing represents it.")
    if roles.get("pseudonymize"):
        message = f"{PERMUTING} has no pseudonyms: how many rows have one of them would tell whose "
        yield Finding("M003", "pseudonymize", f"{message}they are.")


def permuted_conflicts(settings: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield the settings of a quasi-identifier that is permuted instead of generalised (M003)."""
    for name in settings:
        if name not in _SETTINGS:
            message = f"{name} is about generalising. The method {PERMUTING!r} releases values as "
            yield Finding("M003", name, f"{message}they are.")
