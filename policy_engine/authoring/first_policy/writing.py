"""A first policy as text: the short form with the reasons beside each column, and tests of it."""

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Any

from policy_engine.authoring.first_policy.model import (
    FirstPolicy,
    PolicyNames,
)
from policy_engine.engines.column_proposals import ProposedColumn
from policy_engine.policy.syntax.yaml_text import write_yaml

DIVERSITY = 2
"""So many values of each sensitive column are in every class."""
MOST_UNIQUE_KEPT = 0.05
"""At most this share of the released rows is unique on what is kept exact."""
_ROOM = re.compile(r"[^A-Za-z0-9]+")
_PARTS = ("identifier", "quasi-identifier", "sensitive")


def first_policy(
    columns: Sequence[ProposedColumn],
    k: int,
    names: PolicyNames,
    name: str,
    warnings: Sequence[str] = (),
) -> FirstPolicy:
    """Return the policy of some columns, of the name of its file without an ending.

    `warnings` are sentences on the whole table, which become comments at its head.
    """
    files = {one.name: f"{name}-{slug(one.name)}.csv" for one in columns if one.taxonomy}
    words = _words(columns, k, names, files)
    head = (
        "# A first policy, proposed from the table: change what you know better.\n"
        "# Names without a scheme are completed by the namespace: make it your own.\n"
    )
    head += "".join(f"# Look at this: {one}\n" for one in warnings)
    text = head + "".join(_commented(words, columns)) + "".join(_left_out(columns))
    taxonomies = {files[one.name]: one.taxonomy for one in columns if one.taxonomy}
    return FirstPolicy(text, taxonomies, names, tuple(columns))


def slug(text: str) -> str:
    """Return a text as a part of a name: letters and digits, joined by hyphens."""
    return _ROOM.sub("-", PurePath(text).name).strip("-").lower() or "table"


def _words(
    columns: Sequence[ProposedColumn], k: int, names: PolicyNames, files: dict[str, str]
) -> dict[str, Any]:
    sensitive = [one.name for one in columns if one.part == "sensitive"]
    unit = next((one.name for one in columns if one.tells_persons), "")
    words: dict[str, Any] = {
        "namespace": names.namespace,
        "policy": f"policy/{names.dataset}",
        "target": names.dataset,
        "assignee": names.assignee,
        "purpose": names.purpose,
        "output": f"{names.dataset}-anonymous",
        "method": "l-diversity" if sensitive else "k-anonymity",
        "k": k,
        **({"l": DIVERSITY} if sensitive else {}),
        **({"maxUniqueKept": MOST_UNIQUE_KEPT} if sensitive else {}),
        **({"privacyUnit": unit} if unit else {}),
    }
    identifiers = [one.name for one in columns if one.part == "identifier" and one.name != unit]
    parts: dict[str, Any] = {"identifier": dict.fromkeys(identifiers)}
    parts["quasi-identifier"] = {
        one.name: _setting(one, files) for one in columns if one.part == "quasi-identifier"
    }
    parts["sensitive"] = dict.fromkeys(sensitive)
    return {**words, **{part: listed for part, listed in parts.items() if listed}}


def _setting(column: ProposedColumn, files: dict[str, str]) -> Any:
    if column.generalization == "taxonomy":
        return {"generalization": "taxonomy", "taxonomy": files[column.name]}
    return column.generalization or None


def _commented(words: dict[str, Any], columns: Sequence[ProposedColumn]) -> Iterator[str]:
    """Yield the lines of the words, and behind each column why it is what it is."""
    by_name = {one.name: one for one in columns}
    for key, value in words.items():
        if key not in _PARTS:
            yield write_yaml({key: value})
            continue
        yield f"{key}:\n"
        for name, setting in value.items():
            line = write_yaml({"-": {name: setting}}).partition("\n")[2].rstrip("\n")
            yield f"{line}  # {_comment(by_name[name])}\n"


def _comment(column: ProposedColumn) -> str:
    parts = (column.reason, f"({column.figures})", column.warning)
    return " ".join(" ".join(part.split()) for part in parts if part)


def _left_out(columns: Sequence[ProposedColumn]) -> Iterator[str]:
    """Yield comments on the columns that are not released."""
    names = [one for one in columns if one.part == "left out"]
    if names:
        yield "# Not released, since the policy does not mention them:\n"
    for one in names:
        name = " ".join(one.name.split()) or "(no name)"
        yield f"#   {name}: {_comment(one)}\n"


def tests_of(names: PolicyNames, policy_file: str) -> str:
    """Return the tests of the policy: who may have the output made, and that nobody else reads."""
    dataset, assignee = (_iri(one, names) for one in (names.dataset, names.assignee))
    release = {"assignee": assignee, "action": "anonymize", "target": dataset}
    return write_yaml(
        {
            "policies": policy_file,
            "world": {"time": "2026-01-01T00:00:00Z"},
            "tests": [
                _test("the assignee may have it anonymised", release, names.purpose, "permit"),
                _test("nobody reads it as it is", {**release, "action": "read"}, names.purpose),
                _test(
                    "without a certificate, nobody reads the output",
                    {**release, "action": "read", "target": f"{dataset}-anonymous"},
                    names.purpose,
                ),
            ],
        }
    )


def _test(name: str, request: dict[str, str], purpose: str, effect: str = "deny") -> dict[str, Any]:
    return {"name": name, "request": {**request, "purpose": purpose}, "expect": effect}


def _iri(name: str, names: PolicyNames) -> str:
    return name if ":" in name else f"{names.namespace}{name}"
