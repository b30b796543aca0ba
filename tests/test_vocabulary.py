import json
import re
from pathlib import Path

import pytest
from pyld import jsonld

from policy_engine import methods, terms
from policy_engine.methods import Method, method_class
from policy_engine.methods.method import parameters

ROOT = Path(__file__).parent.parent
NOTATIONS = sorted(terms.methods())
FILES = sorted((ROOT / "vocab").rglob("*.jsonld"), key=str)


def local_names(term, key):
    return {terms.local_name(iri) for iri in term.iris(key)}


def least(field):
    return next((part.ge for part in field.metadata if hasattr(part, "ge")), None)


def test_every_method_of_the_vocabulary_has_a_file_and_no_file_is_without():
    files = {path.stem for path in Path(methods.__file__).parent.glob("*.py")}
    named = {notation.replace("-", "_") for notation in NOTATIONS}
    assert files - {"__init__", "method"} == named


@pytest.mark.parametrize("notation", NOTATIONS)
def test_a_method_has_its_class_and_its_tests(notation):
    kind = method_class(notation)
    assert issubclass(kind, Method)
    assert kind.notation == notation
    assert kind.__module__ == f"policy_engine.methods.{notation.replace('-', '_')}"
    assert kind.__name__ == notation.title().replace("-", "")
    assert (ROOT / "tests" / "methods" / f"test_{notation.replace('-', '_')}.py").is_file()


@pytest.mark.parametrize("notation", NOTATIONS)
def test_a_method_is_named_and_defined_by_its_entry(notation):
    term = terms.methods()[notation]
    assert term.iri == f"{terms.PE}{notation}"
    assert term.definition.endswith(".")


@pytest.mark.parametrize("notation", NOTATIONS)
def test_a_method_requires_and_allows_what_its_class_does(notation):
    term, fields = terms.methods()[notation], parameters(method_class(notation))
    required = {name for name, field in fields.items() if field.is_required()}
    assert local_names(term, "requires") == required
    assert local_names(term, "allows") == set(fields) - required


@pytest.mark.parametrize("notation", NOTATIONS)
def test_every_parameter_of_a_method_is_an_operand_with_its_minimum(notation):
    term, fields = terms.methods()[notation], parameters(method_class(notation))
    operands = terms.instances(f"{terms.ODRL}LeftOperand")
    for iri in (*term.iris("requires"), *term.iris("allows")):
        assert operands[iri].facts.get("minimum") == least(fields[terms.local_name(iri)])


def test_the_columns_of_a_method_are_assets():
    operands = terms.instances(f"{terms.ODRL}LeftOperand")
    for role in (f"{terms.MOSAICROWN}sensitive", f"{terms.PE}insensitive"):
        assert operands[role].iris("range") == (f"{terms.ODRL}Asset",)


def test_no_term_stands_twice():
    entries = [
        terms.expand(entry["@id"])
        for path in (ROOT / "vocab").glob("*.jsonld")
        for entry in json.loads(path.read_text())["@graph"]
    ]
    assert len(entries) == len(set(entries)) == len(terms.vocabulary())


def test_every_term_that_an_entry_names_is_defined():
    namespaces = (terms.ODRL, terms.MOSAICROWN, terms.PE)
    for term in terms.vocabulary().values():
        for key in ("requires", "allows", "operator", "includedIn"):
            named = [iri for iri in term.iris(key) if iri.startswith(namespaces)]
            assert set(named) <= set(terms.vocabulary()), term.iri


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_vocabulary_file_is_json_ld_without_external_contexts(path):
    document = json.loads(path.read_text())
    assert isinstance(document["@context"], dict)
    jsonld.expand(document, {"documentLoader": refuse})


@pytest.mark.parametrize("name", ["odrl", "mosaicrown", "policy-engine"])
def test_no_key_of_an_entry_is_dropped_on_expansion(name):
    document = json.loads((ROOT / "vocab" / f"{name}.jsonld").read_text())
    expanded = jsonld.expand(document, {"documentLoader": refuse})
    assert len(expanded) == len(document["@graph"])
    for entry, node in zip(document["@graph"], expanded, strict=True):
        assert len(node) == len(entry)
        assert all(key.startswith(("@", "http")) for key in node)
        assert not re.search(r'"@(id|type)": \[?"(?!http)', json.dumps(node))


def refuse(url, _options):
    raise AssertionError(url)
