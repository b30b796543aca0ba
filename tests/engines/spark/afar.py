"""Tables whose rows lie in several parts, which answer questions as a cluster does."""

import pickle

import numpy as np

from policy_engine.engines.spark.coding import CodedRows
from policy_engine.engines.spark.nodes import group_by_node
from policy_engine.kernels import layout
from policy_engine.kernels.axis import Axis
from policy_engine.kernels.briefs import BriefSide
from policy_engine.kernels.descent import descend
from policy_engine.kernels.layout import SensitiveRows


def outline(table):
    """What is known of a table without its rows."""
    return layout.prepare(*described(table), table.constraint, table.cutting)


def described(table):
    """The axes of a table, and whose rows they are, without rows."""
    none = np.zeros(0, np.int32)
    axes = [Axis(none, *list(vars(axis).values())[1:]) for axis in table.axes]
    people = SensitiveRows(
        tuple(none for _ in table.people.sensitive),
        None if table.people.persons is None else none,
        overall_of(table),
    )
    return axes, people


def overall_of(table):
    people = table.people
    if people.persons is None:
        return tuple(np.bincount(codes[codes >= 0]) for codes in people.sensitive)
    pairs = [
        set(zip(codes.tolist(), people.persons.tolist(), strict=True)) for codes in people.sensitive
    ]
    return tuple(np.bincount([code for code, _ in one if code >= 0]) for one in pairs)


def rows_of(table, targets=None):
    columns = [*(axis.codes for axis in table.axes), *table.people.sensitive]
    persons = table.people.persons
    persons = None if persons is None else persons.astype(np.int64)
    return CodedRows(np.column_stack(columns), persons, targets)


def asking(table, part_of, targets=None):
    """What answers questions of rows that lie in several parts, through pickles as a cluster."""
    rows = rows_of(table, targets)
    parts = [rows.select_rows(np.flatnonzero(part_of == part)) for part in np.unique(part_of)]

    def ask(question, descent, nodes):
        question, replies = pickle.loads(pickle.dumps(question)), {node: [] for node in nodes}
        for part in parts:
            for node, mine in group_by_node(descend(descent, part.codes)):
                if node in nodes:
                    replies[node].append(question.reply(node, part.select_rows(mine)))
        return {node: question.answer(node, found[::-1]) for node, found in replies.items()}

    return ask


def parts_in(classes):
    parts = np.split(classes.order, classes.starts[1:-1])
    return {frozenset(part.tolist()) for part in parts}


def shares_of(table, number):
    persons = table.people.persons
    rows = np.arange(len(table.axes[0].codes)) if persons is None else persons
    return (rows * 7919) % number


def side_of(codes):
    extents = np.column_stack([codes.min(axis=0), codes.max(axis=0)])
    return BriefSide(len(codes), extents.astype(np.int64))
