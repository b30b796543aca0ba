"""Data as it is named beside policies: by short names, or by none where they have one dataset."""

from collections.abc import Mapping, Sequence
from typing import Any

from policy_engine import terms
from policy_engine.errors import RequestError, join_names
from policy_engine.policy.hierarchy import goes_on
from policy_engine.policy.model import MAKING, Policy
from policy_engine.policy.naming import Names


def named_data(data: Mapping[str, Any], policies: Sequence[Policy]) -> dict[str, Any]:
    """Return data by whole IRIs; what is given under no name is the policies' only dataset.

    Raises RequestError (D001) where they have none or several, or where one is given twice.
    """
    names, data_by_iri = Names(policies), dict[str, Any]()
    for name, source in data.items():
        iri = names.full(name, "target") if name else _only_dataset(policies)
        if iri in data_by_iri:
            raise RequestError.of("D001", f"The data of {iri!r} is given twice.")
        data_by_iri[iri] = source
    return data_by_iri


def _only_dataset(policies: Sequence[Policy]) -> str:
    """Return the one dataset that policies are about, where that is certain.

    What could be a column of a dataset is taken for none: whoever may read that column would be
    shown the whole table.
    """
    rules = [rule for policy in policies for rule in (*policy.permissions, *policy.prohibitions)]
    outputs = {rule.output for rule in rules if rule.output}
    targets = {asset.iri for rule in rules for asset in rule.targets} - outputs
    wide = sorted(one for one in targets if not any(goes_on(other, one) for other in targets))
    sources = {
        asset.iri
        for rule in rules
        if any(action.iri in MAKING for action in rule.actions)
        for asset in rule.targets
    }
    if len(wide) == 1 and (wide[0] in sources or not terms.dataset_of(wide[0]) or len(targets) > 1):
        return wide[0]
    reason = f"may be {join_names(wide, 'or')}" if wide else "is named nowhere"
    message = f"The data is given without an IRI, and the dataset of the policies {reason}."
    raise RequestError.of("D001", message, f"Give it as IRI=PATH{_such_as(wide)}.")


def _such_as(wide: Sequence[str]) -> str:
    """Return how to name the dataset whose columns several targets may be; else nothing."""
    over = {terms.dataset_of(one) for one in wide}
    only = over.pop() if len(over) == 1 and len(wide) > 1 else ""
    return f", such as {only}=PATH where these are columns of it" if only else ""
