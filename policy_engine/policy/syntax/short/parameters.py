"""Parameters, columns with their settings, and conditions, as JSON-LD has them."""

from collections.abc import Iterator, Sequence

from policy_engine import terms
from policy_engine.errors import join_names
from policy_engine.policy.syntax.short import words
from policy_engine.policy.syntax.short.made import Made, as_json
from policy_engine.policy.syntax.short.naming import ShortNames
from policy_engine.policy.syntax.short.operators import implied_operator
from policy_engine.policy.syntax.short.problems import TextProblems
from policy_engine.policy.syntax.yaml_text import YamlPart

_JOINED = frozenset(("leftOperand", "or", "xone", "and", "andSequence", "uid", "@id"))
"""The keys of a constraint as ODRL writes it."""


class Parameters:
    """Makes the refinements of actions, and the constraints of rules."""

    def __init__(self, names: ShortNames, problems: TextProblems) -> None:
        self.names, self.problems = names, problems

    def refinements(self, key: str, part: YamlPart, dataset: str) -> Iterator[Made]:
        """Yield the refinements that a parameter of an action becomes, one for each operator."""
        iri = words.parameters()[terms.local_name(key)]
        allowed = [*map(terms.local_name, terms.vocabulary()[iri].iris("operator"))]
        if not terms.names_columns(iri):
            yield from _compared(terms.compact(iri), part, allowed)
            return
        operator = implied_operator(allowed, is_several=not part.is_scalar)
        yield _condition(terms.compact(iri), operator, self._columns(iri, part, dataset), part)

    def _columns(self, iri: str, part: YamlPart, dataset: str) -> Made:
        """Return the columns that a parameter lists, with what is set for them."""
        if part.is_scalar:
            return self.names.made_column(part, dataset)
        items = [part] if part.members else part.items
        return Made([one for item in items for one in self._listed(iri, item, dataset)], part)

    def _listed(self, iri: str, item: YamlPart, dataset: str) -> Iterator[Made]:
        """Yield a column without settings, or those of a mapping with theirs."""
        if not item.members:
            yield self.names.made_column(item, dataset)
        for name, settings in item.members.items():
            yield self._column(iri, name, settings, dataset)

    def _column(self, iri: str, name: str, part: YamlPart, dataset: str) -> Made:
        """Return a column with its settings: a mapping, or the one word that it mostly is."""
        key = part.key or part
        column = Made(self.names.column(name, dataset), key)
        if part.value is None:
            return column
        only = words.ONE_WORD_SETTINGS.get(iri, "")
        settings = part.members or ({only: part} if only and part.is_scalar else {})
        if not settings:
            vocabulary = join_names(words.settings_of(iri)) if words.settings_of(iri) else "Nothing"
            message = f"What is set for a column is a mapping. {vocabulary} can be set here."
            self.problems.add_shape(message, part)
        made = dict(self._setting(iri, word, one, dataset) for word, one in settings.items())
        return Made({"@id": column, **made}, key)

    def _setting(self, iri: str, word: str, part: YamlPart, dataset: str) -> tuple[str, Made]:
        vocabulary = words.settings_of(iri)
        setting = vocabulary.get(terms.local_name(word) if ":" in word else word, "")
        if not setting:
            what = f"is not a setting of columns under {terms.local_name(iri)!r}"
            self.problems.add_unknown(part.key or part, word, vocabulary, what)
        if not setting or not words.names_columns(setting):
            return terms.compact(setting), as_json(part)
        columns = self.names.columns(part, dataset).value
        named = [Made({"@id": one}, one.part) for one in columns]
        return terms.compact(setting), Made(named, part, part.key)

    # -- conditions ----------------------------------------------------------------------------

    def constraints(self, part: YamlPart) -> Iterator[Made]:
        """Yield constraints: of a mapping each key with its value, of a list each item."""
        for item in part.items:
            if not item.members:
                self.problems.add_shape("A constraint is a mapping.", item)
            elif _JOINED & item.members.keys():
                yield as_json(item)
            else:
                for word, one in item.members.items():
                    yield from _compared(self._operand(word, one), one)

    def rows(self, part: YamlPart, dataset: str) -> Iterator[Made]:
        """Yield constraints on the values of rows, by the columns that have them."""
        if not part.members:
            self.problems.add_shape("'rows' is a mapping of columns to conditions.", part)
        for name, one in part.members.items():
            yield from _compared(self.names.column(name, dataset), one)

    def _operand(self, word: str, part: YamlPart) -> str:
        iri = words.operands().get(word)
        if iri is None and ":" not in word:
            hint = f"Conditions on columns stand under {words.ROWS!r}."
            vocabulary = words.operands()
            what = "is not a known operand"
            self.problems.add_unknown(part.key or part, word, vocabulary, what, hint)
        return terms.compact(iri) if iri else word


def _compared(left: str, part: YamlPart, allowed: Sequence[str] = ()) -> Iterator[Made]:
    """Yield the conditions on a left operand: on one value, on several, or by operator."""
    is_by_operator = bool(part.members) and part.members.keys() <= {*words.operators()}
    for operator, one in part.members.items() if is_by_operator else ():
        yield _condition(left, operator, as_json(one), one)
    if not is_by_operator:
        operator = implied_operator(allowed, is_several=isinstance(part.value, list))
        yield _condition(left, operator, as_json(part), part)


def _condition(left: str, operator: str, value: Made, part: YamlPart) -> Made:
    key = part.key or part
    members = {"leftOperand": left, "operator": operator}
    made = {name: Made(word, key) for name, word in members.items()}
    return Made({**made, "rightOperand": value}, key)
