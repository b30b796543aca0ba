"""Classes for the tests of methods: what is measured of them, and what the partitioner takes."""

import numpy as np

from policy_engine.kernels import constraint as watching
from policy_engine.kernels.bounds import Ancestry, ClassConstraint
from policy_engine.kernels.diversity import histogram
from policy_engine.methods.columns import Sensitive
from policy_engine.methods.conflicts import parameter_findings
from policy_engine.methods.privacy_model import merge_bounds

DISEASE = Sensitive(name="disease")


def measured(method, *classes, column=DISEASE, tree=None, persons=None):
    """Return the figure of every class; a class is the values in it, None where one is missing."""
    class_of, codes = _table(classes)
    who = None if persons is None else np.concatenate(persons).astype(np.int64)
    counts = histogram(class_of, len(classes), codes, who)
    return method.figures(counts, column, ancestry(tree, classes)).tolist()


def holding(method, *classes, column=DISEASE, **more):
    """Return which classes hold the bound, as it is measured on a release."""
    found = np.array(measured(method, *classes, column=column, **more))
    return method.bound(column).hold_by_class(found).tolist()


def taken(method, *classes, column=DISEASE, tree=None, persons=None):
    """Return which classes the partitioner takes."""
    class_of, codes = _table(classes)
    parts = [method.diversity(column), {"ancestry": ancestry(tree, classes)}]
    rows, overall, widths = _rows(codes, persons)
    constraint = ClassConstraint(1, (merge_bounds(parts),))
    watched = watching.watch(constraint, [np.bincount(overall[overall >= 0])])
    tally = watching.tally(watched, *widths)
    person = rows.shape[1] - 2 if persons else 0
    classes_rows = [np.flatnonzero(class_of == one) for one in range(len(classes))]
    return [_is_taken(watched, tally, rows, one, person) for one in classes_rows]


def refused(kind, **given):
    """Return the code of what is wrong with parameters, and with which."""
    return [(one.code, one.parameter) for one in parameter_findings(kind, given, kind.notation)]


def ancestry(tree, classes):
    """Return a taxonomy of the values in some classes; `tree` holds the parent of every name."""
    if tree is None:
        return None
    names = list(tree)
    heights = dict.fromkeys(names, 0)
    for name in names:
        height, above = 1, tree[name]
        while above is not None:
            heights[above] = max(heights[above], height)
            height, above = height + 1, tree[above]
    return Ancestry(
        parent=np.array([-1 if up is None else names.index(up) for up in tree.values()]),
        height=np.array([heights[name] for name in names]),
        leaf=np.array([names.index(value) for value in _values(classes)], dtype=np.int64),
    )


def _values(classes):
    return sorted({value for values in classes for value in values if value is not None})


def _table(classes):
    class_of = np.repeat(np.arange(len(classes)), [len(values) for values in classes])
    known = _values(classes)
    codes = [-1 if one is None else known.index(one) for values in classes for one in values]
    return class_of, np.array(codes, dtype=np.int32)


def _rows(codes, persons):
    """Return rows for the partitioner, what to count overall, and how many persons and pairs."""
    if persons is None:
        return codes[:, None], codes, (0, 0)
    who = np.concatenate(persons).astype(np.int32)
    keys = np.stack([who, codes])
    _, first, pairs = np.unique(keys, axis=1, return_index=True, return_inverse=True)
    rows = np.stack([codes, who, pairs.ravel()], axis=1).astype(np.int32)
    return rows, codes[first], (int(who.max()) + 1, len(first))


def _is_taken(watched, tally, rows, numbers, person):
    watching.forget(watched, tally)
    watching.count(watched, tally, rows, np.array(numbers), 0, len(numbers), 0, person)
    return bool(watching.is_diverse(watched, tally))
