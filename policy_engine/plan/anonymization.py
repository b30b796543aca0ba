"""What is to hold of a release: columns, privacy models, and how classes are formed."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializeAsAny,
    field_validator,
    model_validator,
)

from policy_engine import terms
from policy_engine.kernels.bounds import Ancestry, ClassConstraint, Diversity
from policy_engine.methods import Bound, Measurement, Method, PrivacyModel, method_class
from policy_engine.methods.buckets import bucket_bounds, bucket_conflicts
from policy_engine.methods.columns import (
    CAP,
    CENTRAL,
    GUIDED,
    SUPPRESSION,
    Columns,
    QuasiIdentifier,
    Sensitive,
)
from policy_engine.methods.conflicts import cell_conflicts
from policy_engine.methods.guide import ACCURACY_GUIDED, guide_conflicts
from policy_engine.methods.masking import ColumnMasking
from policy_engine.methods.permutation import permutation_conflicts, permuted_conflicts
from policy_engine.methods.privacy_model import merge_bounds
from policy_engine.methods.privacy_models.probabilistic_k_anonymity import ProbabilisticKAnonymity
from policy_engine.methods.recoding import UNIQUE_KEPT, RecodingOptions
from policy_engine.methods.sampling import Sampling
from policy_engine.methods.sanitisations.masking import Masking
from policy_engine.plan.joins import Joined, Roles
from policy_engine.policy import Action, Rule

if TYPE_CHECKING:
    from policy_engine.kernels.diversity import ValueHistogram
    from policy_engine.kernels.grouping import Groups


class Anonymization(BaseModel):
    """All that a policy asks of an anonymised table.

    The methods, by their notation, hold together. Those that are privacy models hold each for every
    sensitive column by itself, and are all about one k. Without a model (`masking` alone), all rows
    are one class, which nothing bounds.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    columns: Columns
    methods: Annotated[Mapping[str, SerializeAsAny[Method]], Field(min_length=1)]
    recoding: RecodingOptions = Field(default_factory=RecodingOptions)

    @field_validator("methods", mode="before")
    @classmethod
    def _parse_methods(cls, values: Any) -> Any:
        if not isinstance(values, Mapping) or not set(values) <= set(terms.methods()):
            raise ValueError("methods are given by their notation")
        return {
            notation: method_class(notation)(**value) if isinstance(value, dict) else value
            for notation, value in values.items()
        }

    @model_validator(mode="after")
    def _has_what_classes_need(self) -> Self:
        """Raise ValueError for models without quasi-identifiers, and for what only models use."""
        columns = self.columns
        if self.models and not columns.quasi_identifier:
            raise ValueError("a privacy model needs quasi-identifiers")
        used = (columns.quasi_identifier, columns.sensitive)
        if not self.models and (any(used) or self.recoding != RecodingOptions()):
            raise ValueError("classes are formed for privacy models alone")
        self._check_cells()
        if self.is_in_buckets and not self._fits_buckets():
            raise ValueError("bucketization publishes one sensitive column beside exact columns")
        if self.recoding.guide is not None and not self._fits_guide():
            raise ValueError("accuracy-guided classes have a label that is released as it is")
        if self.is_permuted and not self._fits_permutation():
            raise ValueError("values are permuted within classes that are cut by them alone")
        return self

    def _check_cells(self) -> None:
        """Raise ValueError for columns that the algorithm does not make."""
        algorithm, quasi = self.recoding.algorithm, self.columns.quasi_identifier
        kinds = {one.generalization for one in quasi}
        if algorithm == "microaggregation" and not kinds <= set(CENTRAL):
            raise ValueError("microaggregation publishes one value of every class")
        if algorithm != ACCURACY_GUIDED and kinds & {*GUIDED}:
            raise ValueError("a representative is what accuracy-guided classes have")
        if algorithm != "local-suppression":
            if SUPPRESSION in kinds or any(one.max_suppression is not None for one in quasi):
                raise ValueError("local suppression alone suppresses cells")
        elif kinds != {SUPPRESSION}:
            raise ValueError("local suppression publishes values of the input, and nothing else")
        elif self.columns.privacy_unit or any(one.is_about_values for one in self.models):
            raise ValueError("local suppression counts rows, and nothing else")

    def _fits_guide(self) -> bool:
        guide, columns = self.recoding.guide, self.columns
        if guide is None or guide.label not in (*columns.sensitive_names, *columns.insensitive):
            return False
        unit, roles = columns.privacy_unit, self._names_by_role()
        conflicts = [
            *guide_conflicts(self.recoding.algorithm, guide.label, guide.column, roles, unit)
        ]
        for one in columns.quasi_identifier:
            settings: dict[str, Any] = {"generalization": one.generalization}
            settings |= {"order": one.order} if one.order else {}
            conflicts += cell_conflicts(self.recoding.algorithm, settings, guide.representative)
        return not conflicts

    def _names_by_role(self) -> dict[str, Any]:
        columns = self.columns
        roles = columns.model_dump(by_alias=True) | {"sensitive": columns.sensitive_names}
        del roles["privacyUnit"], roles["pseudonymScope"]
        return {**roles, "quasi-identifier": columns.quasi_names}

    def _fits_buckets(self) -> bool:
        columns, roles = self.columns, self._names_by_role()
        unit = columns.privacy_unit
        conflicts = bucket_conflicts(self.recoding.algorithm, [*self.methods], roles, unit)
        is_exact = all(one == QuasiIdentifier(name=one.name) for one in columns.quasi_identifier)
        return is_exact and len(columns.sensitive) == 1 and not any(conflicts)

    def _fits_permutation(self) -> bool:
        columns, options = self.columns, self.recoding.model_dump(by_alias=True)
        about = [one.notation for one in self.models if one.is_about_values]
        roles = self._names_by_role()
        conflicts = [*permutation_conflicts(options, [*self.methods], roles, about)]
        for one in columns.quasi_identifier:
            conflicts += permuted_conflicts(one.model_dump(exclude_defaults=True, exclude={"name"}))
        return not conflicts

    def keeping_rows(self) -> Self:
        """Return it without leave to suppress rows."""
        recoding = self.recoding.model_copy(update={"max_suppression": 0.0})
        return self.model_copy(update={"recoding": recoding})

    def without_buckets(self) -> Self:
        """Return what is asked of the table of quasi-identifiers of a release by buckets, each row
        of which has them as they are: no bound."""
        columns = self.columns
        kept = (*columns.quasi_names, *columns.insensitive)
        roles = {"quasi_identifier": (), "sensitive": (), "insensitive": kept}
        changes = {"columns": columns.model_copy(update=roles), "recoding": RecodingOptions()}
        return self.model_copy(update={**changes, "methods": {Masking.notation: Masking()}})

    @property
    def is_in_buckets(self) -> bool:
        """Whether the sensitive values are published by bucket, in a table of their own."""
        return self.recoding.algorithm == "bucketization"

    @property
    def suppresses_outlying_rows(self) -> bool:
        """Whether rows may be left out where the cells of others gain more."""
        return self.recoding.algorithm == "mondrian" and self.recoding.max_suppression > 0

    @property
    def is_permuted(self) -> bool:
        """Whether quasi-identifiers are permuted within classes, and released as they are."""
        return any(isinstance(one, ProbabilisticKAnonymity) for one in self.models)

    @property
    def guide_column(self) -> str:
        """The column of predictions that is read and not released, empty where there is none."""
        name = self.recoding.guide.column if self.recoding.guide else ""
        return "" if name in self.columns.released else name

    @property
    def unreleased(self) -> tuple[str, ...]:
        """The columns that are read and not released: of persons, and of predictions."""
        return tuple(filter(None, (self.columns.privacy_unit, self.guide_column)))

    @property
    def models(self) -> tuple[PrivacyModel, ...]:
        """The methods that are privacy models; without one, nothing is bounded."""
        return tuple(one for one in self.methods.values() if isinstance(one, PrivacyModel))

    @property
    def k(self) -> int:
        """The least size of a class; 1 without a privacy model."""
        return max((model.k for model in self.models), default=1)

    @property
    def least_values(self) -> int:
        """The l of l-diversity; 1 where it is not asked for."""
        return int(getattr(self.methods.get("l-diversity"), "l", 1))

    @property
    def is_monotonic(self) -> bool:
        """Whether full-domain generalisation suppresses ever less the more it generalises.

        Suppression takes whole classes, good ones merged with bad ones too, and changes the
        distribution of the table; only distinct values are never lost by merging.
        """
        if self.recoding.max_suppression and not self.columns.privacy_unit:
            about = (model for model in self.models if model.is_about_values)
            return {method.notation for method in about} <= {"l-diversity"}
        return self.is_kept_by_union

    @property
    def is_kept_by_union(self) -> bool:
        """Whether classes that each hold every bound hold it as one, the table being the same.

        Of persons who have rows in several classes, all may have what some had in each. Classes
        within which values are permuted have no cells, and never count as one class.
        """
        if self.is_permuted:
            return True
        about = [model for model in self.models if model.is_about_values]
        if self.columns.privacy_unit:
            return not about
        return all(method.is_kept_by_union for method in about)

    def bounds(self) -> tuple[Bound, ...]:
        """Return every bound: those of classes, the caps of columns, and that on unique rows."""
        return (*self.class_bounds(), *self.caps(), *self.bounds_of_unique())

    def bounds_of_unique(self) -> tuple[Bound, ...]:
        """Return the share of rows that may be unique on what is kept exact, if one is given."""
        most = self.recoding.max_unique_kept
        return () if most is None else (Bound(UNIQUE_KEPT, "", most, "at most"),)

    def caps(self) -> tuple[Bound, ...]:
        """Return the share of the cells of each capped column that may be suppressed."""
        return tuple(
            Bound(CAP, one.name, one.max_suppression or 0.0, "at most")
            for one in self.columns.capped
        )

    def class_bounds(self) -> tuple[Bound, ...]:
        """Return the bounds that every class, or bucket, has to hold: k first, then those of each
        model on each sensitive column."""
        if self.is_in_buckets:
            [column] = self.columns.sensitive_names
            return bucket_bounds(self.recoding.buckets, self.k, self.least_values, column)
        return (
            *self._bounds_of_k(),
            *(method.bound(column) for method, column in self._model_columns()),
        )

    def _bounds_of_k(self) -> tuple[Bound, ...]:
        permuting = [one for one in self.models if isinstance(one, ProbabilisticKAnonymity)]
        if permuting:
            return tuple(one.link_bound() for one in permuting)
        return (Bound("k", "", self.k),) if self.models else ()

    def constraint(self, ancestries: Mapping[str, Ancestry]) -> ClassConstraint:
        """Return what a partitioner has to keep; taxonomies of sensitive columns by their name."""
        return ClassConstraint(
            self.k, tuple(self._diversity(c, ancestries) for c in self.columns.sensitive)
        )

    def measure(self, groups: "Groups", ancestries: Mapping[str, Ancestry]) -> list[Measurement]:
        """Measure every bound of classes on those of a table."""
        sizes = 1 / groups.units() if self.is_permuted else groups.units()
        measurements = [Measurement.of(one, sizes) for one in self._bounds_of_k()]
        for method, column in self._model_columns():
            histogram, tree = groups.histogram(column.name), ancestries.get(column.name)
            bound = method.bound(column)
            measurements.append(Measurement.of(bound, method.figures(histogram, column, tree)))
        return measurements

    def hold_by_class(
        self, histogram: "ValueHistogram", column: str, ancestries: Mapping[str, Ancestry]
    ) -> Any:
        """Return which classes keep every bound on a sensitive column, (classes,) of bool."""
        import numpy as np  # noqa: PLC0415 (plans are made without it)

        holds = np.ones(len(histogram.members), dtype=np.bool_)
        for method, one in self._model_columns():
            if one.name == column:
                figures = method.figures(histogram, one, ancestries.get(column))
                holds &= method.bound(one).hold_by_class(figures)
        return holds

    def models_about(self, column: str) -> tuple[tuple[PrivacyModel, Sensitive], ...]:
        """Return the models that say something of a sensitive column."""
        return tuple(pair for pair in self._model_columns() if pair[1].name == column)

    def _model_columns(self) -> list[tuple[PrivacyModel, Sensitive]]:
        return [
            (method, column)
            for column in self.columns.sensitive
            for method in self.models
            if method.is_about_values
        ]

    def _diversity(self, column: Sensitive, ancestries: Mapping[str, Ancestry]) -> Diversity:
        parts = [method.diversity(one) for method, one in self.models_about(column.name)]
        if column.name in ancestries:
            parts.append({"ancestry": ancestries[column.name]})
        return merge_bounds(parts)


class Transformation(NamedTuple):
    """A permission to anonymise, what it requires, and the action that requires it.

    `joined` are the datasets that are first joined into one table, empty for a single one.
    `columns_by_role` has its columns, each with its dataset; `maskings` are those that are masked,
    and `sampling` says which rows are released, None where all of them are.
    """

    rule: Rule
    anonymization: Anonymization
    action: Action
    joined: tuple[Joined, ...]
    columns_by_role: Roles
    maskings: tuple[ColumnMasking, ...] = ()
    sampling: Sampling | None = None

    @property
    def released(self) -> tuple[str, ...]:
        """The names of the columns of the input that are released."""
        return (*self.anonymization.columns.released, *(one.name for one in self.maskings))

    @property
    def taxonomies(self) -> tuple[str, ...]:
        """The names of the taxonomies that its columns need."""
        masked = (name for one in self.maskings for name in one.taxonomies)
        return tuple(dict.fromkeys((*self.anonymization.columns.taxonomies, *masked)))

    @property
    def matrices(self) -> tuple[str, ...]:
        """The names of the matrices of transitions that its columns need."""
        return tuple(dict.fromkeys(name for one in self.maskings for name in one.matrices))

    @property
    def added(self) -> tuple[str, ...]:
        """The names of the columns of the output that are not columns of the input."""
        weight = self.sampling.weight_column if self.sampling else ""
        return (weight,) if weight else ()


class Consent(NamedTuple):
    """A permission to anonymise that names no output: by it, its assigner lets others do so.

    What they make has to satisfy the `anonymization`, with the columns of the dataset in the roles
    of `columns_by_role`, and joined only by the column `on`; None where anything is permitted.
    """

    rule: Rule
    action: Action
    anonymization: Anonymization | None = None
    columns_by_role: Roles = MappingProxyType({})
    on: str = ""
    maskings: tuple[ColumnMasking, ...] = ()
    sampling: Sampling | None = None
