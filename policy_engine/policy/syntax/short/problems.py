"""What is wrong with a text in the short form, each problem with its place and perhaps a fix."""

from collections.abc import Iterable

from policy_engine.errors import Fix, Problem, did_you_mean, join_names, nearest
from policy_engine.policy.syntax.json_text import line_starts, place_of
from policy_engine.policy.syntax.limits import MAX_PROBLEMS
from policy_engine.policy.syntax.yaml_text import YamlPart

_MANY = 12
"""How many words a message lists before it only names the nearest."""


class TextProblems:
    """Collects problems of one text."""

    def __init__(self, text: str) -> None:
        self.lines = line_starts(text)
        self.items: list[Problem] = []

    def add(
        self, code: str, message: str, part: YamlPart, *, hint: str = "", fix: Fix | None = None
    ) -> None:
        """Note a problem at a part of the text, unless many have been noted (MAX_PROBLEMS)."""
        if self.is_full:
            return
        place = place_of(self.lines, part.start, part.pointer)
        self.items.append(Problem(code, message, hint, place, fix))

    @property
    def is_full(self) -> bool:
        """Whether no more problems are noted."""
        return len(self.items) >= MAX_PROBLEMS

    def add_shape(self, message: str, part: YamlPart) -> None:
        """Note a value of the wrong shape (P007), with the value."""
        self.add("P007", f"{message} Given: {part.plain()!r:.60}.", part)

    def add_unknown(
        self, part: YamlPart, word: str, allowed_words: Iterable[str], what: str, hint: str = ""
    ) -> None:
        """Note a word that is not allowed (P005), with the nearest one that is, or all of a few."""
        if self.is_full:
            return  # finding what is near takes long
        names = tuple(allowed_words)
        message, closest = f"{word!r} {what}.", did_you_mean(word, names)
        if names and not closest and len(names) <= _MANY:
            message += f" Allowed are {join_names(names)}."
        corrected = nearest(word, names)
        fix = self._fix(part, corrected) if corrected else None
        self.add("P005", message, part, hint=closest or hint, fix=fix)

    def check_keys(self, part: YamlPart, allowed: Iterable[str], subject: str) -> None:
        """Note every key that is not allowed; those with a prefix are JSON-LD's affair."""
        allowed_words = dict.fromkeys(allowed)
        for key, one in part.members.items():
            if key not in allowed_words and ":" not in key:
                self.add_unknown(one.key or one, key, allowed_words, f"is not a key of {subject}")

    def _fix(self, part: YamlPart, text: str) -> Fix:
        start, end = (place_of(self.lines, at, part.pointer) for at in (part.start, part.end))
        return Fix(start, end, text)
