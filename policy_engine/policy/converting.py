"""A policy in another syntax, of the same digest."""

from collections.abc import Sequence

from policy_engine.errors import PolicyError
from policy_engine.policy.canonical import digest_of
from policy_engine.policy.collecting.files import Reading
from policy_engine.policy.reading.reader import read_drafts
from policy_engine.policy.syntax import Syntax
from policy_engine.policy.syntax.rdf import convert_text

_HINT = "Write each name once, and numbers as the literals of their types."


def convert_policy(
    text: bytes | str, syntax: Syntax, to: Syntax, source: str, reading: Reading
) -> str:
    """Return a text of one syntax in another, in which its policies mean the same.

    What does not hold policies without problems is converted as it is. Raises PolicyError as
    `convert_text` does, F002 too where the policies would have other digests or could not be read
    any more, and their problems where only the conversion would hide these.
    """
    contexts = reading.vocabulary.contexts(reading.contexts)
    converted = convert_text(text, syntax, to, source, contexts, reading.limits)
    try:
        digests = _digests(text, syntax, source, reading)
    except PolicyError as error:
        if _can_be_read(converted, to, reading):
            raise error from None
        return converted
    try:
        is_same = _digests(converted, to, source, reading) == digests
    except PolicyError:
        is_same = False
    if not is_same:
        message = f"In {to}, the text would be another policy, of another digest."
        raise PolicyError.of("F002", message, _HINT, source)
    return converted


def _digests(text: bytes | str, syntax: Syntax, source: str, reading: Reading) -> Sequence[str]:
    drafts = read_drafts(
        text,
        source=source,
        contexts=reading.contexts,
        limits=reading.limits,
        syntax=syntax,
        vocabulary=reading.vocabulary,
        keep_replaced=True,
    )
    return sorted(map(digest_of, drafts))


def _can_be_read(text: str, syntax: Syntax, reading: Reading) -> bool:
    try:
        _digests(text, syntax, "", reading)
    except PolicyError:
        return False
    return True
