"""One call from a table and the parts of an action to a release."""

import pyarrow as pa
from building import DATASET, OUTPUT, anonymize, permission, policy

from policy_engine import apply_policy
from policy_engine.errors import PolicyEngineError

CALL = ("taxonomies", "key", "cells", "progress")


def asking(**parts):
    """Return the policy that asks for an action; `quasi` are its quasi-identifiers."""
    rule = permission(uid="http://x.org/policy/1", action=anonymize(**parts), output=OUTPUT)
    return policy([rule])


def applied(table, output=None, **parts):
    """Return the release of a table, a path or columns by name, as the parts of an action ask."""
    call = {name: parts.pop(name) for name in CALL if name in parts}
    given = pa.table(table) if isinstance(table, dict) else table
    return apply_policy(asking(**parts), {DATASET: given}, output, **call)


def refused(table, folder, **parts):
    """Return the codes of the problems for which nothing is released; nothing is written."""
    before = sorted(folder.rglob("*"))
    try:
        applied(table, folder / "out", **parts)
    except PolicyEngineError as error:
        assert sorted(folder.rglob("*")) == before
        return [problem.code for problem in error.problems]
    raise AssertionError("nothing was refused")


def rows_of(release):
    """Return the rows of a release, each a tuple of cells, in no order."""
    return sorted(zip(*release.table.to_pydict().values(), strict=True), key=repr)


def measured(release):
    """Return what a certificate says was achieved, by bound and column."""
    return {(one.bound, one.column): one.achieved for one in release.certificate.measurements}
