"""Several datasets as one table: by which columns they are joined, and what of each is in it."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict

from policy_engine import terms
from policy_engine.data.column_names import column_iri, column_name, fold_name
from policy_engine.errors import Place, Problem, join_names, place_order
from policy_engine.methods.guide import LABEL
from policy_engine.methods.masking import is_known, masking_class, settings
from policy_engine.plan.column_settings import read_settings
from policy_engine.policy import Constraint, Rule, Value
from policy_engine.policy.hierarchy import goes_on

JOIN_ON = "joinOn"
MASKED = "masked"
STRATA = "stratifiedBy"
NOT_ROLES = (JOIN_ON, STRATA, LABEL)
"""What columns are named for that is not a role of theirs."""
_LEFT_OUT = "identifier"
_TELL_NOTHING = {_LEFT_OUT, "redact", "privacyUnit"}


class Joined(BaseModel):
    """One dataset of a join: the column it is joined on, and the columns used.

    `columns` are those of it that are in the joined table; the column `on` is among them only
    where it plays a role of its own. `identifiers` are those that are named and left out.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    asset: str
    on: str
    columns: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()

    @property
    def read(self) -> tuple[str, ...]:
        """The columns that are read; the column `on` is the last unless it is used as well."""
        return self.columns if self.on in self.columns else (*self.columns, self.on)

    def sorted_columns(self) -> "Joined":
        """Return it with its columns in one order."""
        columns = {"columns": self.columns, "identifiers": self.identifiers}
        return self.model_copy(update={key: tuple(sorted(one)) for key, one in columns.items()})

    @property
    def named(self) -> Iterator[str]:
        """The IRIs of all columns that are named: used, left out, and joined on."""
        names = dict.fromkeys((*self.identifiers, *self.columns, self.on))
        return (column_iri(self.asset, name) for name in names)


class Datasets(NamedTuple):
    """The datasets that a permission is about, by which IRIs of columns are resolved."""

    iris: tuple[str, ...]

    @classmethod
    def of(cls, rule: Rule) -> "Datasets":
        """Return the targets of a rule, in the order of their IRIs: theirs in the text is of no
        matter."""
        return cls(tuple(sorted({target.iri for target in rule.targets})))

    def column(self, iri: str) -> tuple[str, str] | None:
        """Return the dataset and the name of a column, None for one of other datasets."""
        for dataset in self.iris:
            name = column_name(dataset, terms.canonical(iri))
            if name is not None:
                return dataset, name
        return None


Named = tuple[str, str, Value]
"""A column by its dataset and its name, and where it is named."""
Roles = Mapping[str, Sequence[Named]]


def joined(rule: Rule, on: Constraint | None, roles: Roles) -> tuple[Joined, ...]:
    """Return the datasets that a permission to anonymise joins; none where it has one target.

    `roles` are the columns by the name of their role, without those it joins `on`. `problems`
    reports what is wrong.
    """
    datasets = Datasets.of(rule)
    if on is None or len(datasets.iris) < 2:
        return ()
    keys = {asset: name for asset, name, _ in _keys(datasets, on)}
    return tuple(
        Joined(
            asset=asset,
            on=keys[asset],
            columns=_columns_of(asset, released_columns(roles)),
            identifiers=_columns_of(asset, roles.get(_LEFT_OUT, ())),
        )
        for asset in datasets.iris
    )


def released_columns(roles: Roles) -> list[Named]:
    """Return the columns that are in the joined table: all but those that are left out."""
    return [one for role, columns in roles.items() if role != _LEFT_OUT for one in columns]


def _columns_of(asset: str, columns: Iterable[Named]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for of, name, _ in columns if of == asset))


def _keys(datasets: Datasets, on: Constraint) -> Iterator[Named]:
    for value in on.right_operands:
        name = datasets.column(str(value.value))
        if name is not None:
            yield *name, value


def problems(rule: Rule, on: Constraint | None, roles: Roles, place: Place) -> list[Problem]:
    """Return what is wrong with how several datasets become one table (M016), by its place."""
    datasets = Datasets.of(rule)
    if len(datasets.iris) < 2:
        return [*_needless(on)]
    problem_list = [*_overlapping(rule), *_name_problems(roles)]
    if on is None:
        message = f"{len(datasets.iris)} datasets are anonymised together, and nothing says how "
        message += "their rows are put together."
        hint = "Add a refinement with the leftOperand pe:joinOn, a column of each."
        return [*problem_list, Problem("M016", message, hint, place)]
    problem_list += _key_problems(datasets, on, roles)
    return sorted((*problem_list, *_unknown_columns(datasets, on)), key=place_order)


def _needless(on: Constraint | None) -> Iterator[Problem]:
    if on is not None:
        message = "joinOn is about several targets, and the rule has one."
        yield Problem("M016", message, "Leave it out, or name the other target.", on.place)


def _unknown_columns(datasets: Datasets, on: Constraint) -> Iterator[Problem]:
    """Yield the datasets that are not joined on one column of theirs."""
    by_dataset: dict[str, list[Value]] = defaultdict(list)
    for asset, _, value in _keys(datasets, on):
        by_dataset[asset].append(value)
    for asset in datasets.iris:
        columns = by_dataset[asset]
        if len(columns) != 1:
            message = f"joinOn names one column of each target. Of {asset} it names {len(columns)}."
            yield Problem("M016", message, "", columns[1].place if columns else on.place)


def _overlapping(rule: Rule) -> Iterator[Problem]:
    for one in rule.targets:
        for other in rule.targets:
            if goes_on(other.iri, one.iri):
                message = f"The target {one.iri!r} may be a column of the target {other.iri!r}. "
                message += "Datasets that are joined lie apart."
                yield Problem("M016", message, "", one.place)


def _name_problems(roles: Roles) -> Iterator[Problem]:
    """Yield the columns of one name that would be two in the joined table."""
    first: dict[str, tuple[str, str]] = {}
    for asset, name, value in released_columns(roles):
        other, other_name = first.setdefault(fold_name(name), (asset, name))
        if other != asset:
            columns = join_names([column_iri(other, other_name), column_iri(asset, name)])
            message = f"The output would have two columns {name!r}: {columns}."
            hint = "Leave one out, name it as an identifier, or rename it in its data."
            yield Problem("M016", message, hint, value.place)


def _key_problems(datasets: Datasets, on: Constraint, roles: Roles) -> Iterator[Problem]:
    """Yield the columns joined on whose role, or masking, is not that of another: their cells are
    the same.

    Of columns that tell nothing it does not matter how they are left out.
    """
    keys = {(asset, name) for asset, name, _ in _keys(datasets, on)}
    keys_with_roles = [
        (role, asset, name, value)
        for role, columns in roles.items()
        for asset, name, value in columns
        if (asset, name) in keys
    ]
    for role, asset, name, value in keys_with_roles[1:]:
        first, other, other_name, earlier = keys_with_roles[0]
        iri, other_iri = column_iri(asset, name), column_iri(other, other_name)
        if asset != other and role != first and not {role, first} <= _TELL_NOTHING:
            message = f"{iri} is {role}, and {other_iri} is {first}. {_BOTH_TELL}"
            yield Problem("M016", message, "Give them one role, or one of them none.", value.place)
        if asset != other and role == first == MASKED and _masking(value) != _masking(earlier):
            message = f"{iri} is masked otherwise than {other_iri}. {_BOTH_TELL}"
            hint = "Give them one masking, or one of them no role."
            yield Problem("M016", message, hint, value.place)
        elif asset != other and role == first == MASKED and _is_perturbed(value):
            message = (
                f"{iri} and {other_iri} would be masked each by draws of its own. {_BOTH_TELL}"
            )
            yield Problem("M016", message, "Give one of them no role.", value.place)


_BOTH_TELL = "Rows are joined on both: what one of them tells, both do."


def _masking(value: Value) -> dict[str, Any]:
    """Return the masking of a column and its parameters, by which two are compared."""
    return read_settings(value, settings())


def _is_perturbed(value: Value) -> bool:
    """Tell whether a column is masked at random, or by what other rows hold."""
    notation = _masking(value).get("masking")
    return is_known(notation) and masking_class(str(notation)).is_perturbation


def group_by_name(roles: Roles) -> dict[str, list[tuple[str, Value]]]:
    """Return the columns of a joined table by role, each by its name alone.

    Of several that are left out and have one name, one is kept, unless another of that name is
    in the table.
    """
    left_out = {(asset, name) for asset, name, _ in roles.get(_LEFT_OUT, ())}
    used = {name for asset, name, _ in released_columns(roles) if (asset, name) not in left_out}
    by_name: dict[str, list[tuple[str, Value]]] = {}
    for role, columns in roles.items():
        first_asset: dict[str, str] = {}
        by_name[role] = []
        for asset, name, value in columns:
            is_other = first_asset.setdefault(name, asset) != asset
            if role != _LEFT_OUT or not (is_other or name in used):
                by_name[role].append((name, value))
    return by_name
