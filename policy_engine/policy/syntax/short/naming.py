"""The names in a text of the short form: completed by its namespace, and of columns."""

from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import quote

from policy_engine import terms
from policy_engine.policy.syntax.short import words
from policy_engine.policy.syntax.short.made import Made
from policy_engine.policy.syntax.short.problems import TextProblems
from policy_engine.policy.syntax.yaml_text import YamlPart


class ShortNames:
    """What names mean: by the namespace, the prefixes and the datasets that outputs are made of."""

    def __init__(self, root: YamlPart, kinds: Iterable[str], problems: TextProblems) -> None:
        self.problems = problems
        self.namespace = self._namespace(root.members.get(words.NAMESPACE))
        self.prefixes = self._prefixes(root.members.get(words.PREFIXES))
        self._origins = dict(self._made_outputs(root, kinds))

    def _namespace(self, part: YamlPart | None) -> str:
        value = "" if part is None else part.value
        is_namespace = isinstance(value, str) and terms.is_absolute(value) and value[-1] in "/#:"
        if part is not None and not is_namespace:
            message = "A namespace is an absolute IRI that ends in '/', '#' or ':'."
            self.problems.add_shape(message, part)
        return value if is_namespace else ""

    def _prefixes(self, part: YamlPart | None) -> tuple[str, ...]:
        if part is not None and not part.members:
            self.problems.add_shape("Prefixes are a mapping of names to IRIs.", part)
        return () if part is None else tuple(part.members)

    def _made_outputs(self, root: YamlPart, kinds: Iterable[str]) -> Iterator[tuple[str, str]]:
        """Yield the outputs of rules, each with the target that it is made of."""
        for rule in (rule for kind in kinds for rule in root.members[kind].items):
            target = rule.members.get(words.TARGET) or root.members.get(words.TARGET)
            output = rule.members.get(words.OUTPUT)
            iris = [self.iri(one.value) for one in (output, target) if one is not None]
            if len(iris) == 2 and all(isinstance(iri, str) for iri in iris):
                yield iris[0], iris[1]

    def iri(self, name: Any) -> Any:
        """Return a name with the namespace before it, where it has no scheme; else as it is."""
        if not isinstance(name, str) or not self.namespace or ":" in name:
            return name
        return self.namespace + quote(name, safe="/#")

    def dataset(self, target: YamlPart | None) -> str:
        """Return the dataset whose columns a rule names: the one that its target is made of."""
        iri = self.iri(target.value) if target is not None and target.is_scalar else ""
        visited: set[str] = set()
        while iri in self._origins and iri not in visited:
            visited.add(iri)
            iri = self._origins[iri]
        return iri if isinstance(iri, str) else ""

    def column(self, name: str, dataset: str) -> str:
        """Return the IRI of a column by its name, or by its IRI."""
        prefix, colon, _ = name.partition(":")
        if colon and (terms.has_known_scheme(name) or prefix in self.prefixes):
            return name
        return f"{dataset}/{quote(name, safe='')}" if dataset else name

    def columns(self, part: YamlPart, dataset: str) -> Made:
        """Return the IRIs of columns, of which there may be one or a list."""
        made = [self.made_column(one, dataset) for one in part.items]
        return Made(made, part, part.key)

    def made_column(self, part: YamlPart, dataset: str) -> Made:
        """Return the IRI of a column; a name that looks like a number or a word is a name too."""
        if not part.is_scalar or part.value is None:
            self.problems.add_shape("A column is given by its name.", part)
            return Made("_:", part)
        return Made(self.column(part.text, dataset), part, part.key)
