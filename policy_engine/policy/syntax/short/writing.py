"""JSON-LD to the short form, where it fits; what has no word there stays JSON-LD, as YAML."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import quote, unquote

from policy_engine import terms
from policy_engine.errors import PolicyError
from policy_engine.policy.structure import KINDS
from policy_engine.policy.syntax.short import words
from policy_engine.policy.syntax.short.operators import implied_operator
from policy_engine.policy.syntax.yaml_text import write_yaml

_RENAMED = {key: word for word, key in words.OF_POLICY.items()}
_NAMES = ("uid", "@id")
_BARE = {"leftOperand", "operator", "rightOperand"}
_NUMBERS = {f"xsd:{name}": kind for name, kind in (("integer", int), ("double", float))}
_FIRST = (words.POLICY, words.NAMESPACE, words.PREFIXES, words.RULE, words.TARGET, words.COLUMNS)
_LATER = ("assigner", "assignee", words.PURPOSE, words.OUTPUT, words.ACTION, "method", "k")
_ORDER = (*_FIRST, *_LATER)
_RULE_TYPES = ("Permission", "Prohibition", "Duty", "Rule")
"""The types of rules, which the key that they stand under tells."""
_INNER = ("duty", "remedy", "consequence")


def write_short(document: Mapping[str, Any], source: str = "") -> str:
    """Return a policy's JSON-LD, as `convert_text` writes it, in the short form.

    Raises PolicyError (F002) for a text that is not one policy alone.
    """
    rules = [one for kind in KINDS for one in _listed(document.get(kind, []))]
    if "@graph" in document or not rules or not all(isinstance(one, dict) for one in rules):
        message = (
            "The short form holds one policy, with its rules. Given: a text of something else."
        )
        raise PolicyError.of("F002", message, "Convert to json-ld, or split the text.", source)
    return write_yaml(_policy(document))


def _policy(document: Mapping[str, Any]) -> dict[str, Any]:
    contexts = _listed(document.get("@context", []))
    members = {
        _RENAMED.get(key, key): value if key in KINDS else _simple(value)
        for key, value in document.items()
        if key[0] != "@"
    }
    members["type"] = document.get("@type", "Set")
    own = {
        key: one
        for context in contexts
        if isinstance(context, dict)
        for key, one in context.items()
    }
    prefixes = {key: one for key, one in own.items() if terms.PREFIXES.get(key) != one}
    if prefixes:
        members[words.PREFIXES] = prefixes
    if not any(map(terms.names_mosaicrown, (one for one in contexts if isinstance(one, str)))):
        members.setdefault("conflict", "invalid")
    defaults = {"type": "Set", words.PROFILE: terms.MOSAICROWN}
    members = {key: one for key, one in members.items() if defaults.get(key) != one}
    origins = _origins(document)
    rules = {
        kind: [_rule(one, origins) for one in _listed(document[kind])]
        for kind in KINDS
        if kind in members
    }
    shared = members.keys() & {words.TARGET, words.ACTION, *words.functions()}
    if [*rules] == ["permission"] and len(rules["permission"]) == 1 and not shared:
        del members["permission"]
        return _ordered(members | rules["permission"][0])
    return _ordered(members | rules)


def _origins(document: Mapping[str, Any]) -> dict[str, str]:
    """Return the outputs of rules, each with the target that it is made of."""
    rules = [rule for kind in KINDS for rule in _listed(document.get(kind, []))]
    pairs = [(one.get("output"), one.get("target")) for one in rules]
    return {
        output: target
        for output, target in pairs
        if isinstance(output, str) and isinstance(target, str)
    }


def _rule(rule: Any, origins: Mapping[str, str]) -> Any:
    if not isinstance(rule, dict):
        return rule
    members = {
        words.RULE if key == "uid" else key: _simple(one)
        for key, one in rule.items()
        if not (key == "@type" and one in _RULE_TYPES)
    }
    dataset = _dataset_of(rule, origins)
    targets = rule.get("target")
    if dataset and isinstance(targets, list):
        members[words.TARGET] = dataset
        members[words.COLUMNS] = [_bare(one, dataset) for one in targets]
    if "action" in rule:
        del members["action"]
        members |= _action(rule["action"], dataset)
    if "constraint" in rule:
        del members["constraint"]
        members |= _constraints(_listed(rule["constraint"]), dataset)
    for kind in _INNER:
        if kind in rule:
            inner = [_rule(one, origins) for one in _listed(rule[kind])]
            members[kind] = inner if len(inner) > 1 else inner[0]
    return _ordered(members)


def _dataset_of(rule: Mapping[str, Any], origins: Mapping[str, str]) -> str:
    iri, visited = rule.get("target"), set[str]()
    if isinstance(iri, list):
        datasets = {terms.dataset_of(one) if isinstance(one, str) else "" for one in iri}
        return min(datasets) if len(datasets) == 1 else ""
    while isinstance(iri, str) and iri in origins and iri not in visited:
        visited.add(iri)
        iri = origins[iri]
    return iri if isinstance(iri, str) else ""


def _action(action: Any, dataset: str) -> dict[str, Any]:
    """Return an action and its parameters as keys of a rule, or as JSON-LD where these are none."""
    if not isinstance(action, dict):
        return {
            words.ACTION: [_word(one) for one in action]
            if isinstance(action, list)
            else _word(action)
        }
    value, refinements = action.get("rdf:value"), _listed(action.get("refinement", []))
    name = value.get("@id") if isinstance(value, dict) else value
    if not isinstance(name, str) or action.keys() != {"rdf:value", "refinement"}:
        return {words.ACTION: _simple(action)}
    parameters: dict[str, Any] = {}
    for one in refinements if all(isinstance(one, dict) for one in refinements) else ({},):
        word = terms.local_name(str(one.get("leftOperand", "")))
        iri = words.parameters().get(word, "")
        is_plain = (
            one.keys() == _BARE
            and isinstance(one["operator"], str)
            and terms.compact(iri) == one["leftOperand"]
        )
        if not is_plain or word in parameters or word in words.keys_of("permission"):
            return {words.ACTION: _simple(action)}
        parameters[word] = _parameter(iri, one["operator"], one["rightOperand"], dataset)
    is_default = name == words.ANONYMIZE
    return parameters if is_default else {words.ACTION: _word(name), **parameters}


def _word(name: Any) -> Any:
    """Return the word of an action of the vocabulary; any other value as it is."""
    if not isinstance(name, str):
        return _simple(name)
    word = terms.local_name(name)
    return word if words.actions().get(word) == terms.expand_term(name) else name


def _parameter(iri: str, operator: str, value: Any, dataset: str) -> Any:
    allowed = [*map(terms.local_name, terms.vocabulary()[iri].iris("operator"))]
    simple = _columns(iri, value, dataset) if terms.names_columns(iri) else _plain(value)
    if terms.names_columns(iri) and not isinstance(simple, list | dict):
        simple = [simple] if implied_operator(allowed, is_several=False) != operator else simple
    is_several = isinstance(simple, list | dict)
    return (
        simple
        if implied_operator(allowed, is_several=is_several) == operator
        else {operator: simple}
    )


def _plain(value: Any) -> Any:
    """Return the value of a parameter, which is a name or an exact number however it is written."""
    if isinstance(value, dict) and value.keys() <= {*_NAMES}:
        return _iri(value)
    if isinstance(value, dict) and value.get("@type") == "xsd:decimal":
        text = str(value["@value"])
        return int(text) if text.isdecimal() else text
    return _simple(value)


def _columns(iri: str, value: Any, dataset: str) -> Any:
    """Return columns by their names: one, a list, or a mapping where something is set for some."""
    if not isinstance(value, list):
        settings = _settings(iri, value, dataset)
        return {_name(value, dataset): settings} if settings else _name(value, dataset)
    names = [_name(one, dataset) for one in value]
    settings = [_settings(iri, one, dataset) for one in value]
    if not any(settings) or len({*names}) < len(names):
        return names
    return dict(zip(names, (one or None for one in settings), strict=True))


def _name(column: Any, dataset: str) -> str:
    return _bare(_iri(column) if isinstance(column, dict) else str(column), dataset)


def _iri(node: Mapping[str, Any]) -> str:
    """Return the name of a node."""
    return str(next((node[key] for key in _NAMES if key in node), ""))


def _bare(iri: str, dataset: str) -> str:
    """Return the name of a column of the dataset; another IRI as it is."""
    name = unquote(iri.removeprefix(f"{dataset}/"))
    is_own = bool(dataset) and iri == f"{dataset}/{quote(name, safe='')}"
    return name if is_own and ":" not in name else iri


def _settings(iri: str, column: Any, dataset: str) -> Any:
    """Return what is set for a column: a word where that says it, or a mapping."""
    if not isinstance(column, dict):
        return {}
    vocabulary = words.settings_of(iri)
    settings: dict[str, Any] = {}
    for key, value in column.items():
        if key in _NAMES:
            continue
        word = terms.local_name(key)
        if terms.compact(vocabulary.get(word, "")) != key:
            word = key
        is_of_columns = word in vocabulary and words.names_columns(vocabulary[word])
        names = [_name(one, dataset) for one in _listed(value)] if is_of_columns else []
        settings[word] = names or _simple(value)
    only = words.ONE_WORD_SETTINGS.get(iri)
    return settings[only] if only and [*settings] == [only] else settings


def _constraints(constraints: list[Any], dataset: str) -> dict[str, Any]:
    """Return constraints by their operands, those on columns of the dataset as `rows`."""
    by_word: dict[str, dict[str, Any]] = {words.CONSTRAINT: {}, words.ROWS: {}}
    operands = {terms.compact(iri): word for word, iri in words.operands().items()}
    operands |= {word: word for word, iri in words.operands().items() if iri.startswith(terms.ODRL)}
    for one in constraints:
        is_plain = isinstance(one, dict) and one.keys() == _BARE
        left, operator = (str(one[key]) if is_plain else "" for key in ("leftOperand", "operator"))
        column = _bare(left, dataset)
        key, word = (
            (words.ROWS, column) if column != left else (words.CONSTRAINT, operands.get(left, ""))
        )
        if not word or operator in by_word[key].get(word, {}):
            return {words.CONSTRAINT: _simple(constraints)}
        by_word[key].setdefault(word, {})[operator] = _simple(one["rightOperand"])
    return {key: conditions for key, conditions in by_word.items() if conditions}


def _simple(value: Any) -> Any:
    """Return a value with numbers, truth values and texts in the place of their literals."""
    if isinstance(value, list):
        return [_simple(one) for one in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"@value", "@type"}:
        return _literal(value)
    return {key: _simple(one) for key, one in value.items()}


def _literal(literal: Mapping[str, Any]) -> Any:
    text, kind = literal["@value"], literal["@type"]
    if kind == "xsd:string":
        return text
    with suppress(ValueError):
        if kind in _NUMBERS and isinstance(text, str):
            return _NUMBERS[kind](text)
    return dict(literal)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _ordered(members: Mapping[str, Any]) -> dict[str, Any]:
    """Return members in the order in which people read them."""
    first = [key for key in _ORDER if key in members]
    last = [key for key in (*_INNER, *KINDS) if key in members]
    others = [key for key in members if key not in {*first, *last}]
    return {key: members[key] for key in (*first, *others, *last)}
