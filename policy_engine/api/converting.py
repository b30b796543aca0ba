"""Policies in another syntax of RDF."""

from typing import Unpack

from policy_engine.policy import Reading, ReadingOptions, Source, converting
from policy_engine.policy.collecting.files import text_of
from policy_engine.policy.syntax import Syntax


def convert_policy(policy: Source, to: Syntax, **reading: Unpack[ReadingOptions]) -> str:
    """Return the text of a policy in another syntax, in which it means the same.

    The policy is the path of a file, or a text: the ending of a name tells its syntax, or else how
    the text begins. It is not checked: `validate` does that. `contexts`, `parents`, `limits` and
    `vocabularies` are as in `Reading`. Raises DataError for a file that cannot be read, PolicyError
    for a text that cannot be read in its syntax, or that would mean something else in the other
    one (F002).
    """
    text, name, syntax = text_of(policy)
    return converting.convert_policy(text, syntax, to, name, Reading(**reading))
