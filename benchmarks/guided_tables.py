"""Tables, ways of forming classes and models of the benchmark of accuracy-guided classes.

Classes are those that a policy asks for, made by `apply_policy`. Two are not: those of the tree as
it was published, by scikit-learn, which is what they are compared with; and those guided by the
true labels, which a policy may not name as a guide and which are given as a copy of that column.
"""

import json
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from local import SHARED

from policy_engine import apply_policy
from policy_engine.engines.encoding import encode
from policy_engine.engines.generalizations.representatives import representative
from policy_engine.engines.microaggregating import partition_of
from policy_engine.engines.nearest_rows import nearest_rows
from policy_engine.engines.tables import infer_types, read_table
from policy_engine.errors import PlanError, PolicyError

TABLE = "http://example.com/Table"
TRUTH = "true label"
TWELVE = (
    *("age", "workclass", "education-num", "marital-status", "occupation", "relationship", "race"),
    *("sex", "capital-gain", "capital-loss", "hours-per-week", "native-country"),
)
EIGHT = (
    *("workclass", "marital-status", "occupation", "relationship", "race", "sex"),
    *("native-country", "education-num"),
)
LOAN = (
    *("emp_length", "home_ownership", "annual_inc", "zip_code", "purpose", "dti", "delinq_2yrs"),
    *("inq_last_6mths", "mths_since_last_delinq", "open_acc", "total_acc"),
    *("mths_since_last_record", "pub_rec", "revol_bal", "revol_util", "last_pymnt_amnt"),
    "installment",
)
LOAN_EXACT = (
    *("loan_amnt", "funded_amnt", "funded_amnt_inv", "term", "int_rate", "grade", "sub_grade"),
    *("verification_status", "addr_state", "total_pymnt", "total_pymnt_inv", "total_rec_int"),
    *("total_rec_late_fee", "pub_rec_bankruptcies"),
)
PAPER, SOFT, PERMUTED, MONDRIAN = (
    "published tree",
    "soft, median-mode",
    "permuted (probabilistic)",
    "Mondrian, median-mode",
)
RAW, WORKLOAD, HARD = "raw", "true labels, median-mode", "hard, nearest"
GUIDED = {"pe:algorithm": "accuracy-guided"}
WORDS = {
    HARD: {**GUIDED, "pe:guideLabels": "hard", "pe:representative": "nearest"},
    "hard, median-mode": {**GUIDED, "pe:guideLabels": "hard"},
    SOFT: GUIDED,
    "soft, nearest": {**GUIDED, "pe:representative": "nearest"},
    WORKLOAD: {**GUIDED, "pe:guide": f"{TABLE}/{TRUTH}"},
    PERMUTED: {**GUIDED, "mosaicrown:method": "probabilistic-k-anonymity"},
    MONDRIAN: {},
}
"""What a policy says for each way of forming classes, beside the method k-anonymity."""
CHOICES = (HARD, "hard, median-mode", SOFT, "soft, nearest")
"""Those that a policy can ask for and that hold k-anonymity: one is chosen for each k and model."""
VARIANTS = (RAW, PAPER, *WORDS)


@dataclass(frozen=True)
class Task:
    """A table with a label, and the columns that are quasi-identifiers; others stay exact."""

    name: str
    table: pa.Table
    label: str
    quasi: tuple[str, ...]

    @cached_property
    def encoding(self):
        """How its columns become features."""
        return Encoding.of(self.table.drop_columns([self.label]))

    def labels(self, table):
        """Return the labels of rows as numbers, (rows,)."""
        classes = sorted(set(self.table.column(self.label).to_pylist()))
        place = {name: number for number, name in enumerate(classes)}
        return np.array([place[one] for one in table.column(self.label).to_pylist()])


@dataclass(frozen=True)
class Encoding:
    """Columns as features; those of `values` are categories."""

    values: dict
    means: dict

    @classmethod
    def of(cls, table):
        """Return the encoding of all columns of a table."""
        values, means = {}, {}
        for name in table.column_names:
            column = table.column(name)
            if pa.types.is_string(column.type):
                values[name] = {one: at for at, one in enumerate(sorted(set(column.to_pylist())))}
            else:
                numbers = column.to_numpy().astype(float)
                means[name] = numbers.mean(), numbers.std() or 1.0
        return cls(values, means)

    def codes(self, table, names):
        """Return one feature for each column, (rows, columns)."""
        return np.column_stack([self._code(table.column(name), name) for name in names])

    def one_hot(self, table, names):
        """Return standardised numbers and one feature for each value, (rows, features)."""
        parts = []
        for name in names:
            codes = self._code(table.column(name), name)
            if name in self.values:
                parts.append(codes[:, None] == np.arange(len(self.values[name])))
            else:
                mean, deviation = self.means[name]
                parts.append(((codes[:, None] - mean) / deviation).astype(np.float32))
        return np.concatenate(parts, axis=1, dtype=np.float32)

    def _code(self, column, name):
        if name not in self.values:
            return np.array(column.to_pylist(), dtype=float)
        return np.array([self.values[name][one] for one in column.to_pylist()], dtype=float)


def adult(quasi=TWELVE):
    table = _read("adult.csv.gz", (*TWELVE, "income"))
    return table and Task(f"Adult, {len(quasi)} quasi-identifiers", table, "income", quasi)


def nursery():
    table = _read("nursery.csv.gz")
    return table and Task("Nursery", table, "class", tuple(table.column_names[:-1]))


def loan():
    """Loans that are over; it is predicted whether they were charged off."""
    table = _read("lending_club_2007_2011.csv.gz", (*LOAN, *LOAN_EXACT, "loan_status"))
    if table is None:
        return None
    table = table.filter(pa.array(["Current" not in one for one in _texts(table, "loan_status")]))
    is_lost = ["Charged Off" in one for one in _texts(table, "loan_status")]
    columns = {name: _filled(table.column(name)) for name in (*LOAN, *LOAN_EXACT)}
    columns["is_charged_off"] = pa.array(["yes" if one else "no" for one in is_lost])
    return Task("Loan", pa.table(columns), "is_charged_off", LOAN)


def _read(name, columns=None):
    path = SHARED / "data" / name
    if not path.exists():
        print(f"MISSING: {path}")
        return None
    table = infer_types(read_table(path))
    return table.select(list(columns)) if columns else table


def _texts(table, name):
    return [str(one) for one in table.column(name).to_pylist()]


def _filled(column):
    """Return a column without missing values; percentages are numbers, and so are texts of more
    digits than a float has, as payments are written."""
    values = column.to_pylist()
    try:
        numbers = [float(str(one).strip().removesuffix("%")) if one else one for one in values]
    except ValueError:
        return pa.array([one or "none" for one in values])
    return pa.array([-1.0 if one in (None, "") else float(one) for one in numbers])


@dataclass(frozen=True)
class Split:
    """The protocol of the paper: two fifths for the target model, two that are anonymised, one to
    test; but the tree is cut for the rows that it divides."""

    task: Task
    target: pa.Table
    rows: pa.Table
    test: pa.Table

    @classmethod
    def of(cls, task, seed):
        """Return a random split of a table."""
        order = np.random.default_rng([21, seed]).permutation(task.table.num_rows)
        two = 2 * len(order) // 5
        parts = order[:two], order[two : 2 * two], order[2 * two :]
        return cls(task, *(task.table.take(pa.array(np.sort(one))) for one in parts))

    def release(self, variant, k, predicted=None):
        """Return the rows as a variant releases them; None where no policy can ask for it yet."""
        if variant == RAW:
            return self.rows
        if variant == PAPER:
            return published(self.task, self.rows, predicted, k)
        table = self.rows
        if variant == WORKLOAD:
            table = table.append_column(TRUTH, table.column(self.task.label))
        try:
            made = apply_policy(policy(self.task, WORDS[variant], k), {TABLE: table}).table
        except (PlanError, PolicyError) as error:
            if variant != PERMUTED:
                raise
            print(f"{variant} is left out: {error}"[:100])
            return None
        return made.select(self.rows.column_names)


def policy(task, words, k):
    """Return a policy that asks for classes of k rows, formed as the words say."""
    quasi = [f"{TABLE}/{name}" for name in task.quasi]
    if not words:
        quasi = [
            {
                "@id": f"{TABLE}/{name}",
                "pe:generalization": "mode" if name in task.encoding.values else "median",
            }
            for name in task.quasi
        ]
    exact = [name for name in task.table.column_names if name not in (*task.quasi, task.label)]
    said = {"mosaicrown:method": "k-anonymity", "mosaicrown:k": k, **words}
    if words:
        said["pe:label"] = f"{TABLE}/{task.label}"
    said["mosaicrown:quasi-identifier"] = quasi
    said["pe:insensitive"] = [f"{TABLE}/{name}" for name in exact]
    said["mosaicrown:sensitive"] = [f"{TABLE}/{task.label}"]
    refinements = [
        {
            "leftOperand": name,
            "operator": "isAllOf" if isinstance(value, list) else "eq",
            "rightOperand": value,
        }
        for name, value in said.items()
        if value != []
    ]
    rule = {
        "uid": "http://example.com/policy/1",
        "assignee": "http://example.com/team",
        "target": TABLE,
        "purpose": "statistical",
        "output": "http://example.com/released",
        "action": [{"rdf:value": {"@id": "odrl:anonymize"}, "refinement": refinements}],
    }
    contexts = [
        "http://www.w3.org/ns/odrl.jsonld",
        "https://www.mosaicrown.eu/ns/mosaicrown.jsonld",
    ]
    whole = {"@context": contexts, "@type": "Set", "uid": "http://example.com/policy"}
    return json.dumps({**whole, "permission": [rule]})


def published_groups(task, table, predicted, k):
    """Return the tree of scikit-learn with leaves of k rows of the table, and their leaf, (rows,).

    `predicted` (rows,) are the hard labels of the target model.
    """
    from sklearn.tree import DecisionTreeClassifier

    features = task.encoding.one_hot(table, task.quasi)
    tree = DecisionTreeClassifier(min_samples_leaf=k, random_state=0).fit(features, predicted)
    return tree, np.unique(tree.apply(features), return_inverse=True)[1]


def published(task, table, predicted, k, kind="nearest"):
    """Return the release of the published method: every class by its row that is nearest to the
    median, among those with the usual prediction; or, as IBM's code has it, by medians and modes.
    """
    _, groups = published_groups(task, table, predicted, k)
    columns = {name: _encoded(name, table.column(name)) for name in task.quasi}
    quasi = [representative(kind, name, one) for name, one in columns.items()]
    classes = partition_of(groups)
    if kind == "nearest":
        said = _encoded("", pa.chunked_array([pa.array([str(one) for one in predicted])]))
        whole = [one.column for one in quasi]
        chosen = nearest_rows(quasi, [1.0] * len(quasi), classes, said, whole)
        places = [chosen] * len(quasi)
    else:
        places = [_row_with(one.column.codes, one.central_codes(classes)) for one in quasi]
    for name, rows in zip(task.quasi, places, strict=True):
        place = table.column_names.index(name)
        table = table.set_column(place, name, table.column(name).take(pa.array(rows[groups])))
    return table


def _encoded(name, column):
    return encode(name, column, numbers=False)


def _row_with(codes, wanted):
    """Return a row with each code, (codes,)."""
    known, first = np.unique(codes, return_index=True)
    return first[np.searchsorted(known, wanted)]


def boosted(task, table, seed):
    from sklearn.ensemble import HistGradientBoostingClassifier

    names = _features(task)
    model = HistGradientBoostingClassifier(
        random_state=seed,
        early_stopping=False,
        categorical_features=[2 < len(task.encoding.values.get(one, ())) < 255 for one in names],
    )
    model.fit(task.encoding.codes(table, names), task.labels(table))
    return lambda rows: model.predict(task.encoding.codes(rows, names))


def network(task, table, seed):
    """One hidden layer of 100, as in the paper."""
    import warnings

    from sklearn.neural_network import MLPClassifier

    names = _features(task)
    model = MLPClassifier((100,), max_iter=12, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it has so many epochs and no more
        model.fit(task.encoding.one_hot(table, names), task.labels(table))
    return lambda rows: model.predict(task.encoding.one_hot(rows, names))


def forest(task, table, seed):
    from sklearn.ensemble import RandomForestClassifier

    return _of_codes(RandomForestClassifier(random_state=seed), task, table)


def tree(task, table, seed):
    from sklearn.tree import DecisionTreeClassifier

    return _of_codes(DecisionTreeClassifier(random_state=seed), task, table)


def _of_codes(model, task, table):
    names = _features(task)
    model.fit(task.encoding.one_hot(table, names), task.labels(table))
    return lambda rows: model.predict(task.encoding.one_hot(rows, names))


def _features(task):
    return [name for name in task.table.column_names if name != task.label]


MODELS = {"boosted": boosted, "NN": network, "RF": forest, "DT": tree}
"""What learns from a release, and is the target model that guides the published tree."""
