"""The short form of a policy to JSON-LD: one word for each fact, bare names for columns.

What a word means is what the vocabulary says. A value that is no word of the short form, such as
the object of a constraint, is read as the JSON-LD that it would be there.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from policy_engine import terms
from policy_engine.errors import PolicyError, place_order
from policy_engine.policy.model import Kind
from policy_engine.policy.structure import INNER_KINDS, KINDS
from policy_engine.policy.syntax.limits import DEFAULT_LIMITS, MAX_PROBLEMS, Limits
from policy_engine.policy.syntax.short import words
from policy_engine.policy.syntax.short.made import Compiled, Made, as_json, flatten
from policy_engine.policy.syntax.short.naming import ShortNames
from policy_engine.policy.syntax.short.parameters import Parameters
from policy_engine.policy.syntax.short.problems import TextProblems
from policy_engine.policy.syntax.yaml_text import YamlPart, read_yaml, write_yaml

_CONTEXTS = (
    "http://www.w3.org/ns/odrl.jsonld",
    "https://www.mosaicrown.eu/ns/mosaicrown.jsonld",
)
_PREFIXES = ("xsd", "dpv", "skos")
_DEFAULTS = {"type": "Set", words.PROFILE: terms.MOSAICROWN}
_REFINEMENT = "refinement"


def read_short(text: str | bytes, source: str = "", limits: Limits = DEFAULT_LIMITS) -> Compiled:
    """Return the JSON-LD that a policy in the short form stands for, with the places of its text.

    Raises PolicyError with every key that is not known (P005) or has a value of the wrong shape
    (P007), and as `read_yaml`.
    """
    yaml_text = read_yaml(text, source, limits)
    problems = TextProblems(yaml_text.text)
    _check_size(yaml_text.root, limits, problems)
    made = _policy(yaml_text.root, problems) if not problems.items else Made({}, yaml_text.root)
    problem_list = [*yaml_text.problems, *problems.items]
    if problem_list:
        first = sorted(problem_list, key=place_order)[:MAX_PROBLEMS]
        raise PolicyError(*first, source=source)
    value, parts, key_parts = flatten(made)
    lines, longest = problems.lines, limits.name_characters
    return Compiled(
        value,
        yaml_text.text,
        {},
        {},
        (),
        lines,
        name_characters=longest,
        parts=parts,
        key_parts=key_parts,
    )


def _check_size(root: YamlPart, limits: Limits, problems: TextProblems) -> None:
    """Note that a policy lists more rules than are allowed (J003)."""
    number = sum(len(root.members[kind].items) for kind in KINDS if kind in root.members)
    if number > limits.rules:
        message = f"The text lists {number:,} rules. {limits.rules:,} are allowed."
        problems.add("J003", message, root)


def compile_words(words_by_key: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON-LD of a policy whose words are given as a mapping, `_` for `-` in its keys.

    Raises PolicyError as `read_short` does; places are those of the text that the mapping makes.
    """
    document: dict[str, Any] = read_short(_written(words_by_key)).value
    return document


def _written(words_by_key: Mapping[str, Any]) -> str:
    """Return words as YAML. Raises PolicyError (J003) where Python cannot write them."""
    try:
        return write_yaml(_hyphenated(words_by_key))
    except RecursionError:
        message = "The words are nested too deeply, or contain themselves."
        raise PolicyError.of("J003", message) from None
    except ValueError:
        raise PolicyError.of("J003", "A number of the words has too many digits.") from None


def _hyphenated(value: Any) -> Any:
    """Return a value whose keys are words of the short form where they only lack the hyphens.

    What stands under a parameter are names of columns, which stay as they are. Raises PolicyError
    (J002) for a word that is given twice.
    """
    if isinstance(value, Mapping):
        pairs = [(_word(str(key)), one) for key, one in value.items()]
        members = {key: one if _is_parameter(key) else _hyphenated(one) for key, one in pairs}
        if len(members) < len(pairs):
            message = "A word is given twice, once with '_' and once with '-'."
            raise PolicyError.of("J002", message)
        return members
    return [_hyphenated(one) for one in value] if isinstance(value, list | tuple) else value


def _word(key: str) -> str:
    word = key.replace("_", "-")
    return word if word in words.parameters() else key


def _policy(root: YamlPart, problems: TextProblems) -> Made:
    """Return the policy that a text is."""
    if not root.members:
        message = "A policy in the short form is a mapping of keys to values."
        problems.add("P001", message, root, hint=f"It begins with {words.POLICY!r} and a name.")
        return Made({}, root)
    kinds = [kind for kind in KINDS if kind in root.members]
    names = ShortNames(root, kinds, problems)
    rules = _Rules(names, problems)
    made = _head(root, names)
    if kinds:
        problems.check_keys(root, words.keys_of_policy(), "a policy that lists its rules")
    for kind in kinds:
        part = root.members[kind]
        listed = [rules.rule(one, kind, root.members) for one in part.items]
        made[kind] = Made(listed, part, part.key)
    if not kinds:
        beyond = {*made, *words.OF_POLICY, *words.SETTINGS_OF_TEXT}
        own = {key: part for key, part in root.members.items() if key not in beyond}
        alone = YamlPart(own, root.start, root.end, root.pointer)
        made["permission"] = Made([rules.rule(alone, "permission", {})], root)
    return Made(made, root)


def _head(root: YamlPart, names: ShortNames) -> dict[str, Made]:
    """Return the members of a policy itself, its contexts first."""
    prefixes = root.members.get(words.PREFIXES)
    own = {name: Made(terms.PREFIXES[name], root) for name in _PREFIXES}
    if prefixes is not None:
        own |= {name: as_json(part) for name, part in prefixes.members.items()}
    contexts = [*(Made(url, root) for url in _CONTEXTS), Made(own, prefixes or root)]
    made = {"@context": Made(contexts, root)}
    for word, key in words.OF_POLICY.items():
        part = root.members.get(word)
        if part is not None:
            made[key] = _names(part, names) if word in words.IRIS else as_json(part)
        elif word in _DEFAULTS:
            made[key] = Made(_DEFAULTS[word], root)
    prefixed = {key: part for key, part in root.members.items() if ":" in key}
    made |= {key: as_json(part) for key, part in prefixed.items() if not _is_parameter(key)}
    return made


def _names(part: YamlPart, names: ShortNames) -> Made:
    """Return names, which the namespace completes; what is more than a name as JSON-LD."""
    if isinstance(part.value, list):
        return Made([_names(one, names) for one in part.value], part, part.key)
    return as_json(part) if part.members else Made(names.iri(part.value), part, part.key)


def _is_parameter(key: str) -> bool:
    """Tell whether a key is a parameter, by its word or by its name in full."""
    word = terms.local_name(key) if ":" in key else key
    iri = words.parameters().get(word, "")
    return bool(iri) and (key == word or terms.expand(key) == iri)


class _Rules:
    """Makes rules of parts."""

    def __init__(self, names: ShortNames, problems: TextProblems) -> None:
        self.names, self.problems = names, problems
        self.parameters = Parameters(names, problems)

    def rule(self, part: YamlPart, kind: Kind, shared: Mapping[str, YamlPart]) -> Made:
        """Return a rule, with what its policy shares with all where it says nothing else."""
        if not part.members:
            self.problems.add_shape(f"A {kind} is a mapping of keys to values.", part)
            return Made({}, part)
        keys = words.keys_of(kind)
        self.problems.check_keys(part, (*keys, *words.parameters()), f"a {kind}")
        inherited = {
            key: one for key, one in shared.items() if key in words.shared() and key in keys
        }
        members = {**inherited, **part.members}
        dataset = self.names.dataset(members.get(words.TARGET))
        own = [key for key in part.members if key not in keys and _is_parameter(key)]
        made = self._members(members, keys, kind, own)
        self._narrow(made, members, dataset)
        refinements = [
            one for key in own for one in self.parameters.refinements(key, members[key], dataset)
        ]
        self._refine(made, refinements, part)
        return Made(made, part)

    def _members(
        self, members: Mapping[str, YamlPart], keys: Iterable[str], kind: Kind, own: Iterable[str]
    ) -> dict[str, Made]:
        """Return what a rule says but for its parameters and what narrows its target."""
        narrowing = {words.COLUMNS, words.ROWS, words.RULE}
        made = {
            key: self._member(key, one, kind)
            for key, one in members.items()
            if (key in keys and key not in narrowing) or (":" in key and key not in own)
        }
        if words.RULE in members:
            made["uid"] = _names(members[words.RULE], self.names)
        return made

    def _member(self, key: str, part: YamlPart, kind: Kind) -> Made:
        if key in INNER_KINDS[kind]:
            inner: Any = key
            return Made([self.rule(one, inner, {}) for one in part.items], part, part.key)
        if key in words.IRIS or key in words.functions():
            return _names(part, self.names)
        if key == words.ACTION:
            return self._actions(part)
        if key in (words.CONSTRAINT, _REFINEMENT):
            return Made([*self.parameters.constraints(part)], part, part.key)
        return as_json(part)

    def _actions(self, part: YamlPart) -> Made:
        if isinstance(part.value, list):
            return Made([self._actions(one) for one in part.value], part, part.key)
        if not isinstance(part.value, str):
            return as_json(part)
        iri = words.actions().get(part.value)
        if iri is None and ":" not in part.value:
            vocabulary, what = words.actions(), "is not a known action"
            self.problems.add_unknown(part, part.value, vocabulary, what)
        return Made(terms.compact(iri) if iri else part.value, part, part.key)

    def _narrow(self, made: dict[str, Made], members: Mapping[str, YamlPart], dataset: str) -> None:
        """Narrow a rule to columns and rows of its target."""
        columns, rows = members.get(words.COLUMNS), members.get(words.ROWS)
        if columns is not None:
            made[words.TARGET] = self.names.columns(columns, dataset)
        if rows is not None:
            earlier = made[words.CONSTRAINT].value if words.CONSTRAINT in made else []
            conditions = [*earlier, *self.parameters.rows(rows, dataset)]
            made[words.CONSTRAINT] = Made(conditions, rows, rows.key)

    def _refine(self, made: dict[str, Made], refinements: list[Made], rule: YamlPart) -> None:
        """Refine the action of a rule by its parameters; `anonymize` is the action of those."""
        written = made.pop(_REFINEMENT, None)
        refinements += written.value if written is not None else []
        if not refinements:
            return
        action = made.get(words.ACTION) or Made(words.ANONYMIZE, rule)
        if not isinstance(action.value, str):
            message = "One action alone has parameters, and it is given by its name."
            self.problems.add_shape(message, action.part)
            return
        name = Made({"@id": Made(action.value, action.part)}, action.part)
        refined = {"rdf:value": name, _REFINEMENT: Made(refinements, rule)}
        made[words.ACTION] = Made(refined, action.part, action.key)
