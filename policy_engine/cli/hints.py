"""Hints in the words of the command line: what Python calls an argument is an option here."""

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from types import MappingProxyType

from policy_engine.errors import PolicyEngineError, Problem, locate

OPTIONS: Mapping[str, str] = MappingProxyType(
    {
        "asset=IRI": "--asset IRI",
        "classes=(CLASS, ...)": "--classes CLASS,CLASS,...",
        "CsvFormat(decimal=MARK)": "--decimal MARK",
        "CsvFormat(delimiter=MARK)": "--delimiter MARK",
        "CsvFormat(encoding=NAME)": "--encoding NAME",
        "attempts=DIR": "--attempts DIR",
        "contexts={URL: FILE}": "--context URL=FILE",
        "data={IRI: PATH}": "--data IRI=PATH",
        'engine="spark"': "--engine spark",
        "features=(COLUMN, ...)": "--features COLUMN,COLUMN,...",
        "hierarchy=HIERARCHY": "--hierarchy FILE",
        "key=FILE": "--key FILE",
        "ledger=FILE": "--ledger FILE",
        "match=[COLUMN]": "--match COLUMN",
        "members=COLUMN": "--members COLUMN",
        "model=RECIPE": "--model RECIPE",
        "output_ledger=FILE": "--ledger FILE",
        'model_class="net.py:Net"': "--model-class net.py:Net",
        "of=POLICY": "--of POLICY",
        "overwrite=True": "--overwrite",
        "owners=FILE": "--owners FILE",
        "parents=[FILE]": "--parent FILE",
        "party=IRI": "--as IRI",
        "policies=[FILE]": "--policy FILE",
        "policy=POLICY": "--policy POLICY",
        "outputs='logits'": "--outputs logits",
        "port=N": "--port N",
        "public_url=URL": "--public-url URL",
        "record=FILE": "--record FILE",
        "references=(FILE, ...)": "--reference FILE --reference FILE",
        "report=DIR": "--report DIR",
        "sign=KEY": "--sign KEY",
        "statement=FILE": "--statement FILE",
        "taxonomies={IRI: FILE}": "--taxonomy IRI=FILE",
        "taxonomies={NAME: FILE}": "--taxonomy NAME=FILE",
        "time_limit=SECONDS": "--time-limit SECONDS",
        "trust=FILE": "--trust FILE",
        "trust_pickle=True": "--trust-pickle",
        "vocabularies=[FILE]": "--vocabulary FILE",
        "wait=True": "--wait",
    }
)
"""What hints say to callers in Python, and what a command takes in its place."""


def with_options(problem: Problem) -> Problem:
    """Return a problem whose hint names options of commands, not arguments of functions."""
    return replace(problem, hint=_argument().sub(lambda match: OPTIONS[match[0]], problem.hint))


def format_error(error: PolicyEngineError) -> str:
    """Return an error as a command prints it, a problem a line."""
    return "\n".join(locate(with_options(problem), error.source) for problem in error.problems)


@cache
def _argument() -> re.Pattern[str]:
    """Return what matches an argument; most commands end without a hint, and never need it."""
    return re.compile("|".join(map(re.escape, OPTIONS)))
