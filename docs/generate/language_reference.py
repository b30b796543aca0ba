"""The reference of the policy language: `python docs/generate/language_reference.py` writes it."""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from language_examples import (
    CLASSES,
    COLUMNS,
    DISTANCES,
    FIGURES,
    GUIDING,
    MASKED,
    OF_AUDITS,
    OF_BUDGETS,
    OF_CONSTRAINTS,
    OF_FIGURES,
    OF_POLICIES,
    OF_QUERIES,
    OF_READING,
    OF_RULES,
    OPERANDS,
    OPERATORS,
    RANDOMISED,
    RANDOMISING,
    READING_VALUES,
    RELEASES,
    SETTINGS,
    SYNTHESISED,
    VALUES,
)

from policy_engine import terms
from policy_engine.errors import DataError
from policy_engine.methods.reference import (
    ONE_NEEDED,
    Parameter,
    allowed_parameter,
    column_parameters,
    method_parameters,
    model_parameters,
    shared_parameters,
)
from policy_engine.plan.training import audit_parameters, training_parameters
from policy_engine.plan.training.refining import OF_GENERATOR
from policy_engine.policy.hierarchy import Hierarchy
from policy_engine.policy.model import SPENT
from policy_engine.policy.reading.operands import operands, refining_operands
from policy_engine.policy.structure import required_properties

PAGE = Path(__file__).parents[1] / "policy-language.md"
"""Where a checkout has the page that the reference is a part of."""

HEADING = "## Reference"
"""What in the page everything that is generated stands behind."""

_ODRL, _MC, _PE = terms.ODRL, terms.MOSAICROWN, terms.PE
_DP, _LOCAL = "differential-privacy", "local-differential-privacy"
_SYNTHETIC = "synthetic-data"
_RANDOMISED, _SYNTHESISED = "pe:randomised", "pe:synthesised"
_CC = "http://creativecommons.org/ns#"
_READ = ("Set", "Policy", "Offer", "Agreement")
_INTRODUCTION = f"""\
{HEADING}

All terms, read off the vocabulary; the examples of a table stand where its first line says, in
the frame of [the smallest policy](#what-a-policy-is). This part is generated
(`python docs/generate/language_reference.py`).
"""


def with_reference(page: str) -> str:
    """Return a page with its reference as the vocabulary has it today."""
    return page.partition(HEADING)[0] + reference()


def reference() -> str:
    """Return all terms of the policy language, each with its definition and an example."""
    parts = [*_language(), *_sanitisation(), *_differential_privacy(), *_local_privacy()]
    parts += [*_synthetic_data(), *_modelling(), *_checking()]
    titles = [part.splitlines()[0].removeprefix("### ") for part in parts]
    links = "\n".join(f"- [{title}](#{_anchor(title)})" for title in titles)
    return "\n".join([_INTRODUCTION, f"{links}\n", *parts])


def _anchor(title: str) -> str:
    """Return the name that a heading has in links."""
    kept = (mark for mark in title.lower() if mark.isalnum() or mark in "- ")
    return "".join(kept).replace(" ", "-")


def _language() -> Iterator[str]:
    yield _policy_types()
    yield _properties("Properties of policies", "policy", OF_POLICIES)
    yield _properties("Properties of rules, and of what they name", "rule", OF_RULES)
    yield _properties("Properties of constraints", "constraint", OF_CONSTRAINTS)
    yield _functions()
    yield from _actions()
    rows = ((iri, {"purpose": written(iri)}) for iri in terms.instances(f"{_MC}purpose"))
    yield _simple("Purposes", "rule", rows)
    yield _operands()
    operators = terms.instances(f"{_ODRL}Operator")
    yield _simple("Operators", "constraint", ((iri, _compared(iri)) for iri in operators))
    rows = ((iri, _until(iri)) for iri in terms.instances(f"{_ODRL}RightOperand"))
    yield _simple("Right operands", "constraint", rows)
    joined = [OF_CONSTRAINTS["odrl:operator"], OF_CONSTRAINTS["odrl:leftOperand"]]
    logical = terms.instances(f"{_PE}LogicalOperator")
    yield _simple("Logical operands", "constraint", ((i, {written(i): joined}) for i in logical))
    conflicts = terms.instances(f"{_ODRL}ConflictTerm")
    yield _simple(
        "Conflict strategies", "policy", ((i, {"conflict": written(i)}) for i in conflicts)
    )
    yield _properties("Classes", "rule", CLASSES, "`@type` may say them; it never has to.")
    yield _not_read()


def _sanitisation() -> Iterator[str]:
    yield _table(
        "Methods",
        "refinement",
        ("method", "guarantee", "needs besides", "example"),
        (
            (f"`{notation}`", term.definition, _needs(notation), _code(_method(notation)))
            for notation, term in terms.methods().items()
            if notation not in (_DP, _LOCAL, _SYNTHETIC)
        ),
        "Under `mosaicrown:method`; [privacy-models.md](privacy-models.md) tells which to use, and "
        "[masking.md](masking.md#masking-without-a-privacy-model) what `masking` alone is.",
    )
    own = _own()
    method = terms.vocabulary()[f"{_MC}method"]
    many = _asked("mosaicrown:method", ["l-diversity", "t-closeness"])
    asked = [*_asked("mosaicrown:l", 3), *_asked("pe:t", 0.2)]
    first = (f"`{terms.compact(method.iri)}`", method.definition, "a method", "required")
    rows: list[tuple[str, ...]] = [(*first, _code([*many, *asked]))]
    rows += [
        _parameter(one)
        for one in {
            **own,
            **{one.name: one for one in (*model_parameters(), *shared_parameters())},
        }.values()
    ]
    names = ("operand", "what it is", "takes", "default", "example")
    more = "Each is given once. A method has its own, and all have the columns and options; "
    more += f"`masking` alone has only `{shared_parameters()[0].name}` and what stands below it."
    yield _table("Parameters of anonymize", "refinement", names, rows, more)
    needed = ((term, _masked(notation)) for notation, term in terms.maskings().items())
    yield _table(
        "Maskings",
        "refinement",
        ("masking", "what is published", "needs", "may have", "example"),
        (
            (f"`{t.facts['notation']}`", t.definition, _needed(t), _named(t, "allows"), _code(one))
            for t, one in needed
        ),
        "Under `pe:masking`, said of a masked column; [masking.md](masking.md) tells more.",
    )
    for role, parameters in column_parameters().items():
        if role in (_RANDOMISED, _SYNTHESISED):
            continue
        page = "masking" if role == "pe:masked" else "generalization"
        more = f"Said of a column in its place, [{page}.md]({page}.md) tells how."
        title = f"Settings of columns under {role}"
        yield _table(title, "refinement", names, (_setting(role, one) for one in parameters), more)


def _differential_privacy() -> Iterator[str]:
    method = terms.methods()[_DP]
    needed = _comparison("mosaicrown:method", "eq", _DP)
    first = (f"`{_DP}`", method.definition, "as `mosaicrown:method`", "required", _code(needed))
    rows = [first, *(_row(one, release(one.name)) for one in method_parameters(_DP))]
    names = ("operand", "what it is", "takes", "default", "example")
    more = "[Releases under differential privacy](#releases-under-differential-privacy) tells how."
    yield _table("Refinements of releases", "release", names, rows, more)
    for title, kind, operand in (
        ("Neighbours of tables", "Neighbours", "pe:neighbours"),
        ("Mechanisms that add noise", "NoiseMechanism", "pe:mechanism"),
        ("Mechanisms that choose", "SelectionMechanism", "pe:selection"),
    ):
        more = f"Under `{operand}`."
        yield _table(title, "release", _NAMES, _words(kind, operand), more)
    yield _properties("Properties of queries", "query", OF_QUERIES)
    yield _properties("Properties of figures", "figure", OF_FIGURES)
    functions = terms.instances(f"{_PE}AggregateFunction").values()
    yield _table(
        "Functions of figures",
        "figure",
        ("function", "what it is", "needs", "may have", "example"),
        (
            (f"`{n}`", one.definition, _named(one), _named(one, "allows"), _code(FIGURES[n]))
            for one in functions
            for n in (one.facts["notation"],)
        ),
        "Every figure may have `pe:share` and `pe:name` as well.",
    )
    yield _properties("Properties of budgets", "budget", OF_BUDGETS)
    scopes = terms.instances(f"{_PE}BudgetScope").values()
    scoped = (
        (f"`{one.facts['notation']}`", one.definition, _code({"pe:scope": one.facts["notation"]}))
        for one in scopes
    )
    yield _table("Scopes of budgets", "budget", _NAMES, scoped)
    accounts = terms.instances(f"{_PE}SpendingUnit")
    yield _simple("Accounts", "constraint", ((iri, _spent(iri)) for iri in accounts))


def _local_privacy() -> Iterator[str]:
    method = terms.methods()[_LOCAL]
    needed = _comparison("mosaicrown:method", "eq", _LOCAL)
    first = (f"`{_LOCAL}`", method.definition, "as `mosaicrown:method`", "required", _code(needed))
    known = {one.name: one for one in (*method_parameters(_LOCAL), *_allowed(_LOCAL))}
    rows = [first, *(_row(one, randomising(one.name)) for one in known.values())]
    names = ("operand", "what it is", "takes", "default", "example")
    more = "[local-privacy.md](local-privacy.md) tells how."
    yield _table("Refinements of randomised tables", "randomised", names, rows, more)
    yield _table(
        "Randomisers",
        "randomised",
        ("randomiser", "what is published", "needs", "may have", "example"),
        (
            (f"`{n}`", t.definition, _needed(t), _named(t, "allows"), _code(_randomised(n)))
            for n, t in terms.randomisers().items()
        ),
        "Under `pe:randomiser`, said of a randomised column. Each may have `pe:share` as well.",
    )
    title = f"Settings of columns under {_RANDOMISED}"
    settings = column_parameters()[_RANDOMISED]
    yield _table(title, "randomised", names, map(_randomised_setting, settings))


def _synthetic_data() -> Iterator[str]:
    method = terms.methods()[_SYNTHETIC]
    needed = _comparison("mosaicrown:method", "eq", _SYNTHETIC)
    first = (f"`{_SYNTHETIC}`", method.definition, "as `mosaicrown:method`", "required")
    own = (one for one in method_parameters(_SYNTHETIC) if one.name in SYNTHESISED)
    rows = [(*first, _code(needed)), *(_row(one, synthesising(one.name)) for one in own)]
    names = ("operand", "what it is", "takes", "default", "example")
    more = "[synthetic-data.md](synthetic-data.md) tells how."
    yield _table("Refinements of synthetic tables", "synthesised", names, rows, more)
    yield _table(
        "Generators of synthetic rows",
        "synthesised",
        ("generator", "what it does", "may have", "example"),
        (
            (f"`{n}`", t.definition, _named(t, "allows"), _code(synthesising("pe:synthesiser", n)))
            for n, t in terms.synthesisers().items()
        ),
        "Under `pe:synthesiser`.",
    )
    [one] = column_parameters()[_SYNTHESISED]
    column = {"@id": SYNTHESISED[_SYNTHESISED][1][0], one.name: 1}
    row = _row(one, synthesising(_SYNTHESISED, [column]))
    yield _table(f"Settings of columns under {_SYNTHESISED}", "synthesised", names, [row])


def synthesising(name: str, value: Any = None) -> dict[str, Any]:
    """Return a refinement of a synthetic table, with its usual value unless another is given."""
    operator, usual = SYNTHESISED[name]
    return _comparison(name, operator, usual if value is None else value)


def _allowed(notation: str) -> Iterator[Parameter]:
    """Yield the parameters that a method may have."""
    term = terms.methods()[notation]
    by_name = {one.name: one for one in shared_parameters()}
    for iri in term.iris("allows"):
        yield by_name.get(terms.compact(iri)) or allowed_parameter(notation, iri)


def randomising(name: str, value: Any = None) -> dict[str, Any]:
    """Return a refinement of a table that is randomised, with its usual value unless another is
    given."""
    if name == _RANDOMISED:
        return _randomised(next(iter(terms.randomisers())))
    operator, usual = RANDOMISING[name]
    return _comparison(name, operator, usual if value is None else value)


def _randomised(notation: str) -> dict[str, Any]:
    """Return how a column is randomised in a way."""
    name = "Cost" if "pe:lower" in RANDOMISED[notation] else "Ward"
    name = "Scan" if "pe:blockSize" in RANDOMISED[notation] else name
    column = {"@id": f"http://example.com/Visits/{name}", "pe:randomiser": notation}
    return _asked(_RANDOMISED, [column | RANDOMISED[notation]])[0]


def _randomised_setting(one: Parameter) -> tuple[str, ...]:
    having = (notation for notation, settings in RANDOMISED.items() if one.name in settings)
    return _row(one, _randomised(next(having, next(iter(terms.randomisers())))))


def release(name: str, value: Any = None) -> dict[str, Any]:
    """Return a refinement of a release, with its usual value unless another is given."""
    operator, usual = RELEASES[name]
    return _comparison(name, operator, usual if value is None else value)


def _words(kind: str, operand: str) -> Iterator[tuple[str, ...]]:
    for term in terms.instances(f"{_PE}{kind}").values():
        word = term.facts["notation"]
        value = [word] if RELEASES[operand][0] == "isAnyOf" else word
        yield f"`{word}`", term.definition, _code(release(operand, value))


def _spent(unit: str) -> dict[str, Any]:
    return {**_comparison("pe:spentEpsilon", "lteq", 4), "unit": terms.compact(unit)}


def _modelling() -> Iterator[str]:
    known = terms.audit_methods().items()
    yield _simple("Methods of audits", "audit", ((t.iri, _method_of_audit(n)) for n, t in known))
    told: dict[str, Parameter] = {}
    for notation in terms.audit_methods():
        for one in audit_parameters(notation):
            first = told.get(one.name)
            more = f"; {_OF_TABLE.get(notation, '')}, {one.default}"
            default = f"{first.default}{more}" if first else one.default
            told[one.name] = one._replace(default=default)
    told |= {one.name: one for one in training_parameters()}
    method = terms.vocabulary()[f"{_MC}method"]
    by_name = Parameter("mosaicrown:method", "a method", "none", method.definition, ())
    of_generators = {f"{_PE}{name}" for name in OF_GENERATOR}
    rows = (
        _refining(term, told.get(terms.compact(iri), by_name))
        for iri, term in refining_operands().items()
        if iri not in (*operands(), *of_generators, *map(terms.expand, OF_READING))
    )
    names = ("operand", "of", "what it is", "takes", "default", "example")
    more = "Bounds take `lteq` or `lt`, that on a p-value `gteq` or `gt`. "
    more += "[Models and audits](#models-and-audits) tells how."
    yield _table("Refinements of trainings and audits", "audit", names, rows, more)
    learning = (_row(told[f"pe:{name}"], synthesising(f"pe:{name}")) for name in OF_GENERATOR)
    names = ("operand", "what it is", "takes", "default", "example")
    more = "[synthetic-data.md](synthetic-data.md) tells how."
    yield _table("Refinements of trainings of generators", "generator", names, learning, more)
    attacks = terms.attacks().items()
    rows_ = ((f"`{n}`", term.definition, _code(_attack(n))) for n, term in attacks)
    yield _table("Attacks", "audit", ("attack", "what it is", "example"), rows_)
    linkages = terms.linkage_attacks().items()
    linking = ((f"`{n}`", term.definition, _code(_linkage(n))) for n, term in linkages)
    yield _table("Attacks on tables", "audit", ("attack", "what it is", "example"), linking)
    of_rows = terms.generative_attacks().items()
    telling = ((f"`{n}`", term.definition, _code(_on_synthetic_rows(n))) for n, term in of_rows)
    title = "Attacks on synthetic rows and generators"
    yield _table(title, "audit", ("attack", "what it is", "example"), telling)


def _checking() -> Iterator[str]:
    names = ("operand", "what it is", "takes", "default", "example")
    rows = (
        (*_defined(terms.expand(name)), *READING_VALUES[name], _code(reading(name)))
        for name in OF_READING
    )
    more = "A threshold that is not `eq` makes the profile's stricter, and never weaker. "
    more += "[output-checking.md](output-checking.md) tells how."
    yield _table("Refinements of reading", "reading", names, rows, more)
    profiles = terms.instances(f"{_PE}OutputProfile").values()
    listed = (
        (f"`{one.facts['notation']}`", one.definition, _code(_profile(str(one.facts["notation"]))))
        for one in profiles
    )
    names = ("profile", "what it is", "example")
    yield _table("Profiles of output checks", "reading", names, listed)


def reading(name: str) -> dict[str, Any]:
    """Return a refinement of reading with its usual value."""
    return _comparison(name, *OF_READING[name])


def _profile(notation: str) -> dict[str, Any]:
    return _comparison("pe:outputCheck", "eq", notation)


# -- tables ---------------------------------------------------------------------------------------


def _table(
    title: str, kind: str, names: tuple[str, ...], rows: Iterable[tuple[str, ...]], more: str = ""
) -> str:
    head = [f"| {' | '.join(names)} |", f"|{'---|' * len(names)}"]
    body = [f"| {' | '.join(row)} |" for row in rows]
    said = " ".join(filter(None, [f"The examples are {_KINDS[kind]}.", more]))
    lines = [f"### {title}", "", said, "", f"<!-- examples: {kind} -->", "", *head, *body, ""]
    return "\n".join(lines)


_KINDS = {
    "policy": "members of a policy",
    "rule": "members of a rule",
    "constraint": "constraints",
    "refinement": "refinements of `anonymize`",
    "audit": "refinements of `pe:train`, or of an audit",
    "release": "refinements of `anonymize` by `differential-privacy`",
    "randomised": "refinements of `anonymize` by `local-differential-privacy`",
    "synthesised": "refinements of `anonymize` by `synthetic-data`",
    "generator": "refinements of `pe:train`",
    "reading": "refinements of `odrl:read`, beside `pe:outputCheck`",
    "query": "members of a query",
    "figure": "members of a query's `pe:aggregate`",
    "budget": "members of a policy's `pe:budget`",
}
_NAMES = ("term", "what it means", "example")


def _simple(title: str, kind: str, rows: Iterable[tuple[str, Any]]) -> str:
    names = ("term", "what it means", "example")
    return _table(title, kind, names, ((*_defined(iri), _code(given)) for iri, given in rows))


def _properties(title: str, kind: str, examples: Mapping[str, Any], more: str = "") -> str:
    names = ("term", "what it means", "example")
    found = {terms.expand(name): given for name, given in examples.items()}
    rows = ((*_defined(iri), _code(given)) for iri, given in found.items())
    return _table(title, kind, names, rows, more)


def _policy_types() -> str:
    rows = []
    for name in _READ:
        term = terms.vocabulary()[f"{_ODRL}{name}"]
        parts = [terms.local_name(iri) for iri in required_properties("permission", term.iri)]
        parties = {part: f"ex:{part.capitalize()}" for part in parts if part.startswith("assign")}
        example = _code({"@type": name, **parties})
        rows.append((*_defined(term.iri), ", ".join(f"`{part}`" for part in parts), example))
    names = ("type", "what it means", "a permission needs", "example")
    return _table("Types of policies", "policy", names, rows)


def _functions() -> str:
    rows = (
        (*_defined(iri), _instead(term), _code({written(iri): _name(iri)}))
        for iri, term in terms.instances(f"{terms.PE}PartyFunction").items()
    )
    names = ("function", "what it means", "instead", "example")
    return _table("Parties of rules", "rule", names, rows)


def _name(iri: str) -> Any:
    """Return a party as the value of a function: a name where the context takes texts for names."""
    return {"@id": "ex:Office"} if ":" in written(iri) else "ex:Office"


def _actions() -> Iterator[str]:
    rows: dict[bool, list[tuple[str, ...]]] = {False: [], True: []}
    for iri, term in terms.instances(f"{_ODRL}Action").items():
        is_old = bool(term.facts.get("deprecated"))
        instead = [_instead(term)] if is_old else []
        above = _above(iri)
        is_known = not {f"{_ODRL}use", f"{_ODRL}transfer"}.isdisjoint(
            Hierarchy().wider("action", iri)
        )
        said = {"uid": terms.compact(iri), "includedIn": "use"}
        example = _code({"action": written(iri) if is_known else said})
        rows[is_old].append((*_defined(iri), *instead, above, example))
    names = ("action", "what it means", "instead", "a kind of", "example")
    yield _table("Actions", "rule", (*names[:2], *names[3:]), rows[False])
    more = (
        "ODRL 2.2 keeps them for old policies. What is a kind of neither `use` nor `transfer` is "
    )
    more += "read where the policy says what it is included in."
    yield _table("Deprecated actions", "rule", names, rows[True], more)


def _operands() -> str:
    rows = (
        (*_defined(iri), _takes(term), _instead(term), _code(_compared_by(iri)))
        for iri, term in operands().items()
    )
    names = ("operand", "what it means", "takes", "instead", "example")
    more = "What `takes` nothing takes any text, number or IRI."
    return _table("Left operands", "constraint", names, rows, more)


def _not_read() -> str:
    lines = [
        "### Terms that are not read",
        "",
        "A policy with one of them is refused, not read without it.",
        "",
    ]
    lines += [f"- `{terms.compact(iri)}`: {term.definition}" for iri, term in not_read().items()]
    return "\n".join([*lines, ""])


def not_read() -> dict[str, terms.Term]:
    """Return the terms of ODRL that policies may not use here, by IRI."""
    used = {terms.expand(name) for name in (*OF_POLICIES, *OF_RULES, *OF_CONSTRAINTS)}
    read = {f"{_ODRL}{name}" for name in _READ}
    properties = terms.instances(f"{terms.RDF}Property").items()
    types = terms.instances(f"{_PE}PolicyType").items()
    return {iri: term for iri, term in (*types, *properties) if iri not in used | read}


# -- cells ----------------------------------------------------------------------------------------


def written(iri: str) -> str:
    """Return how a policy names a term under the bundled contexts, as shortly as it can."""
    name = terms.local_name(iri)
    if iri == f"{_ODRL}uid":
        return name
    compact = f"cc:{iri.removeprefix(_CC)}" if iri.startswith(_CC) else terms.compact(iri)
    short = {terms.expand_term(name), _MC + name if name == "purpose" else ""}
    return name if iri in short else compact


def _defined(iri: str) -> tuple[str, str]:
    return f"`{written(iri)}`", terms.vocabulary()[iri].definition


def _code(given: Any) -> str:
    return f"`{json.dumps(given, ensure_ascii=False)}`"


def _above(iri: str) -> str:
    """Return all actions that include one, as decisions have it."""
    wider = Hierarchy().wider("action", iri)
    return ", ".join(f"`{written(one)}`" for one in wider if one != iri)


def _instead(term: terms.Term) -> str:
    """Return what to write in the place of a term; of one that is deprecated, at least that."""
    return ", ".join(f"`{written(iri)}`" for iri in term.iris("replacedBy")) or (
        "none is named" if term.facts.get("deprecated") else ""
    )


def _takes(term: terms.Term) -> str:
    return " or ".join(f"`{terms.compact(iri)}`" for iri in term.iris("takes"))


def _comparison(left: str, operator: str, right: Any) -> dict[str, Any]:
    return {"leftOperand": left, "operator": operator, "rightOperand": right}


def _compared_by(iri: str) -> dict[str, Any]:
    operator, right = OPERANDS[terms.local_name(iri)]
    unit = {"unit": "pe:perDataset"} if iri in SPENT else {}
    return {**_comparison(written(iri), operator, right), **unit}


def _compared(iri: str) -> dict[str, Any]:
    left, right = OPERATORS[terms.local_name(iri)]
    return _comparison(left, written(iri), right)


def _until(iri: str) -> dict[str, Any]:
    return _comparison("dateTime", "lteq", {"@id": terms.compact(iri)})


# -- sanitisation -----------------------------------------------------------------------------


def _asked(name: str, value: Any) -> list[dict[str, Any]]:
    several = isinstance(value, list)
    return [_comparison(name, "isAllOf" if several else "eq", value)]


def _method(notation: str) -> list[dict[str, Any]]:
    needed = [one for one in method_parameters(notation) if one.default != ONE_NEEDED]
    own = [one.name for one in needed if one.name in VALUES]
    values = [one for name in own if name != "mosaicrown:k" for one in _asked(name, VALUES[name])]
    masked = [_masked(next(iter(terms.maskings())))] * ("pe:masked" in _needs(notation))
    return [*_asked("mosaicrown:method", notation), *values, *masked]


def _needs(notation: str) -> str:
    needed = method_parameters(notation)
    named = [f"`{one.name}`" for one in needed if one.default != ONE_NEEDED]
    some = [f"`{one.name}`" for one in needed if one.default == ONE_NEEDED]
    return ", ".join([*named, *([" or ".join(some)] if some else [])])


def _own() -> dict[str, Parameter]:
    """Return the parameters of all methods by name, each with all that it may be."""
    found: dict[str, Parameter] = {}
    listed = (method_parameters(notation) for notation in terms.privacy_models())
    for one in (one for some in listed for one in some):
        first = found.setdefault(one.name, one)
        if one.type not in first.type:
            found[one.name] = first._replace(type=f"{first.type}; or {one.type}")
    return found


def _parameter(one: Parameter) -> tuple[str, ...]:
    given = _asked(one.name, {**COLUMNS, **VALUES, **GUIDING}[one.name])
    if one.name == "pe:loss":
        given = [*_asked("pe:algorithm", "full-domain"), *given]
    if one.name == "pe:buckets":
        given = [*_method("l-diversity"), *_asked("pe:algorithm", "bucketization"), *given]
    if one.name in GUIDING:
        label = _asked("pe:label", GUIDING["pe:label"]) if one.name != "pe:label" else []
        given = [*_asked("pe:algorithm", "accuracy-guided"), *label, *given]
    if one.name in ("pe:stratifiedBy", "pe:weightColumn"):
        given = [*_asked("pe:sampleShare", VALUES["pe:sampleShare"]), *given]
    if one.name == "pe:stratifiedBy":
        given += _asked("pe:insensitive", COLUMNS["pe:insensitive"])
    return _row(one, given[0] if len(given) == 1 else given)


def _named(term: terms.Term, key: str = "requires") -> str:
    return ", ".join(f"`{terms.compact(iri)}`" for iri in term.iris(key))


def _needed(term: terms.Term) -> str:
    """Return what a masking needs, and of what it needs exactly one."""
    one = _named(term, "requiresOne").replace(", ", " or ")
    return ", ".join(filter(None, [_named(term), one]))


def _masked(notation: str) -> dict[str, Any]:
    """Return how a column of costs is masked in a way."""
    column = {"@id": "http://example.com/Visits/Cost", "pe:masking": notation}
    return _asked("pe:masked", [column | MASKED[notation]])[0]


def _setting(role: str, one: Parameter) -> tuple[str, ...]:
    if role == "pe:masked":
        if one.name == "pe:order":
            column = {"@id": "http://example.com/Visits/Ward", "pe:masking": "rank-swapping"}
            settings = MASKED["rank-swapping"] | {"pe:order": "lexicographic"}
            return _row(one, _asked(role, [column | settings])[0])
        if one.name == "pe:matrix":
            column = {"@id": "http://example.com/Visits/Ward", "pe:masking": "pram"}
            return _row(one, _asked(role, [column | {"pe:matrix": "ward.csv"}])[0])
        having = (notation for notation, settings in MASKED.items() if one.name in settings)
        return _row(one, _masked(next(having, next(iter(terms.maskings())))))
    is_sensitive = role == "mosaicrown:sensitive"
    settings = (DISTANCES if is_sensitive else SETTINGS)[one.name]
    column = {
        "@id": "http://example.com/Visits/Diagnosis"
        if is_sensitive
        else "http://example.com/Visits/Zip",
        **settings,
    }
    given = _asked(role, [column])
    if one.name == "pe:maxSuppression":
        given = [*_asked("pe:algorithm", "local-suppression"), *given]
    return _row(one, given[0] if len(given) == 1 else given)


def _row(one: Parameter, given: Any) -> tuple[str, ...]:
    default = one.default if one.default in ("none", "required") else f"`{one.default}`"
    return (
        f"`{one.name}`",
        one.definition,
        one.type.replace("'", "`"),
        default.replace("'", ""),
        _code(given),
    )


# -- trainings and audits ---------------------------------------------------------------------


_OF_TABLE = {
    "record-linkage": "of a table",
    "population-risk": "of its risk",
    "attribute-inference": "to learn others",
}
_BOUNDED = {
    "membership-inference": "pe:auc",
    "record-linkage": "pe:linked",
    "population-risk": "pe:largestRisk",
    "attribute-inference": "pe:inferred",
}


def _method_of_audit(notation: str) -> list[dict[str, Any]]:
    bounded = _BOUNDED[notation]
    return [_of_audit("mosaicrown:method", notation), _of_audit(bounded)]


def _attack(notation: str) -> list[dict[str, Any]]:
    return [_of_audit("pe:attack", [notation]), _of_audit("pe:auc")]


def _linkage(notation: str) -> list[dict[str, Any]]:
    return [_of_audit("pe:attack", [notation]), _of_audit("pe:linked")]


def _on_synthetic_rows(notation: str) -> list[dict[str, Any]]:
    return [_of_audit("pe:attack", [notation]), _of_audit("pe:setPValue")]


def _of_audit(name: str, value: Any = None) -> dict[str, Any]:
    operator, usual = OF_AUDITS[name]
    return _comparison(name, operator, usual if value is None else value)


def _refining(term: terms.Term, one: Parameter) -> tuple[str, ...]:
    own = [iri for iri in term.iris("refines") if iri.startswith(_PE)]
    name, definition, takes, default, _ = _row(one, {})
    beside = {"pe:fpr": ("pe:tprAtFpr",), "pe:generators": ("pe:model", "DecisionTreeClassifier")}
    beside |= {"pe:presence": ("pe:population",), "pe:population": ("pe:largestRisk",)}
    beside |= {"pe:learned": ("pe:inferred",), "pe:holdoutShare": ("pe:excessCopies",)}
    given = [_of_audit(*beside[one.name])] if one.name in beside else []
    example = _code([_of_audit(one.name), *given] if given else _of_audit(one.name))
    refined = ", ".join(f"`{terms.compact(iri)}`" for iri in own)
    return name, refined, definition, takes, default, example


if __name__ == "__main__":
    if not PAGE.is_file():
        raise DataError.of("C002", f"There is no file {str(PAGE)!r}.", "It is in a checkout.")
    PAGE.write_text(with_reference(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
