"""Policies written with Python's own words, and with other values of their parameters."""

from collections.abc import Mapping
from typing import Any, Unpack

from policy_engine.policy import Policy, Reading, ReadingOptions, Source, overriding
from policy_engine.policy.syntax.short import compile_words


def short_policy(words: Mapping[str, Any] | None = None, /, **more: Any) -> dict[str, Any]:
    """Return a policy of the short form as JSON-LD, which every function takes for a policy.

    The words are those of the short form (docs/policy-language.md), in a mapping or as keywords, in
    which `_` stands for `-`: `short_policy(policy="http://...", target=..., method="k-anonymity",
    k=5, quasi_identifier=["age"])`. Several rules are lists under `permission`, `prohibition` and
    `obligation`, of mappings with the same words. Raises PolicyError with every problem of the
    words (P005, P007), and of the policy that they make.
    """
    document = compile_words({**(words or {}), **more})
    Reading().policies(document)
    return document


def override_policy(
    policy: Source, values: Mapping[str, Any], **reading: Unpack[ReadingOptions]
) -> Policy:
    """Return a policy with other values of parameters, as in {"k": 10}, for plans and explorations.

    It is another policy, with another digest: what is made by it does not fulfil the one given.
    Raises PolicyError as `load_policy` does, P005 for what is not a parameter, P007 for one that
    lists columns.
    """
    return overriding.override(Reading(**reading).policy(policy), values)
