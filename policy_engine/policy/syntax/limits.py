"""How large a text may be before it is refused unread."""

from collections.abc import Mapping
from typing import NamedTuple

from policy_engine.terms import MOST_CHARACTERS

MAX_PROBLEMS = 100
"""The most problems that are reported for one text."""


class Limits(NamedTuple):
    """What keeps the reading of a hostile text short; each of them can be set.

    `bytes` of the text, `depth` of nesting, `values` in it, `key_characters` on the way to one
    of them, `contexts` that it names, `namespace_characters` that a prefix, a term or a base stands
    for and that every use of it repeats, `name_characters` of a name, `constraints` it states
    (refinements count too), how deep these are nested, `rules` that it lists, and rules that its
    policies have `inherited`.
    """

    bytes: int = 4_000_000
    depth: int = 64
    values: int = 500_000
    key_characters: int = 1_000
    contexts: int = 16
    namespace_characters: int = 2_000
    name_characters: int = MOST_CHARACTERS
    constraints: int = 100_000
    condition_depth: int = 16
    rules: int = 100_000
    inherited: int = 100_000


DEFAULT_LIMITS = Limits()


def limits_with(limits: Mapping[str, int]) -> Limits:
    """Return the usual limits but for those given."""
    return DEFAULT_LIMITS._replace(**limits)
