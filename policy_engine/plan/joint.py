"""A step whose classes keep their bounds within those of earlier releases of the same persons."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from policy_engine.kernels.bounds import Ancestry
from policy_engine.methods.columns import Sensitive
from policy_engine.methods.privacy_model import Bound, PrivacyModel, merge_bounds
from policy_engine.plan.steps import Anonymize

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from policy_engine.kernels.diversity import ValueHistogram

EARLIER = "policy_engine__earlier"
"""The hidden column that tells, for each row, in which intersection of the classes of all earlier
releases its person is. The names of further hidden columns begin like this."""
_WITHIN = f"{EARLIER}_"
KEPT_WITHIN = ("distinct", "entropy", "alpha")
"""The fields of `Diversity` that a partition can be made to keep within intersections."""
JOINABLE = ("mondrian",)
"""The algorithms that can be made to form classes jointly."""


def is_joint(name: str) -> bool:
    """Tell whether a column is a hidden one of a step made jointly."""
    return name.startswith(EARLIER)


def within_name(place: int) -> str:
    """Return the hidden column of pairs of an intersection and the value of a sensitive column."""
    return f"{_WITHIN}{place}"


class _Intersected(PrivacyModel):
    """Bounds that hold within the classes of earlier releases."""

    notation: ClassVar[str] = "intersected"


class _LeastCandidates(_Intersected):
    """Of the persons of every intersection, a class has k or none."""

    def bound(self, column: Sensitive) -> Bound:
        """Return the bound on the hidden column of intersections."""
        return Bound("k", column.name, self.k)

    def diversity(self, column: Sensitive) -> Mapping[str, Any]:  # noqa: ARG002
        """Return k for the partitioner."""
        return {"least": self.k}

    def figures(
        self,
        histogram: "ValueHistogram",
        column: Sensitive,  # noqa: ARG002
        ancestry: Ancestry | None,  # noqa: ARG002
    ) -> "NDArray[Any]":
        """Return the persons of the smallest intersection with each class, (classes,)."""
        import numpy as np  # noqa: PLC0415 (plans are made without it)

        return histogram.reduce_by_class(np.minimum, histogram.counts.astype(np.float64), 0.0)


class _DiverseWithin(_Intersected):
    """The bounds of some models hold of the values of every intersection."""

    models: tuple[PrivacyModel, ...]
    name: str

    def bound(self, column: Sensitive) -> Bound:  # noqa: ARG002
        """Return that no intersection breaks a bound."""
        return Bound("intersections that break a bound", self.name, 0, "at most")

    def diversity(self, column: Sensitive) -> Mapping[str, Any]:
        """Return the bounds for the partitioner."""
        parts = [model.diversity(column) for model in self.models]
        return {**merge_bounds(parts)._asdict(), "within": True}

    def figures(
        self,
        histogram: "ValueHistogram",
        column: Sensitive,
        ancestry: Ancestry | None,
    ) -> "NDArray[Any]":
        """Return how many intersections of each class break a bound, (classes,)."""
        import numpy as np  # noqa: PLC0415 (plans are made without it)

        from policy_engine.kernels.diversity import by_group  # noqa: PLC0415 (imports numpy)

        if ancestry is None:
            return np.zeros(len(histogram.members))
        grouped, class_of = by_group(histogram, ancestry.parent[ancestry.leaf])
        breaks = np.zeros(len(class_of), np.bool_)
        for model in self.models:
            breaks |= ~model.bound(column).hold_by_class(model.figures(grouped, column, None))
        return np.bincount(class_of, breaks, len(histogram.members))


class JointAnonymize(Anonymize):
    """An anonymisation that keeps its bounds within the classes of earlier releases, too.

    The table has hidden columns for that. No row is suppressed: who is left out can be told from
    those of the same earlier class who are not. It is made for a run, and in no plan.
    """

    planned: Anonymize

    def _model_columns(self) -> list[tuple[PrivacyModel, Sensitive]]:
        pairs = self.planned._model_columns()  # noqa: SLF001 (its own kind)
        names = self.columns.sensitive_names
        own: list[tuple[PrivacyModel, Sensitive]] = [
            (_LeastCandidates(k=self.k), one)
            for one in self.columns.sensitive
            if one.name == EARLIER
        ]
        for place, one in enumerate(self.planned.columns.sensitive):
            if within_name(place) in names:
                models = kept_models(self.planned, one.name)
                bound = _DiverseWithin.model_construct(k=self.k, models=models, name=one.name)
                own.append((bound, Sensitive(name=within_name(place))))
        return [*pairs, *own]


def kept_models(step: Anonymize, name: str) -> tuple[PrivacyModel, ...]:
    """Return the models about a sensitive column that a partition can keep within intersections."""
    return tuple(model for model, _ in step.models_about(name) if _is_kept(model))


def _is_kept(model: PrivacyModel) -> bool:
    return {*model.diversity(Sensitive(name="values"))} <= {*KEPT_WITHIN}


def can_be_joint(step: Anonymize) -> bool:
    """Tell whether classes of a step can be formed jointly."""
    recoding = step.recoding
    is_cut = recoding.algorithm in JOINABLE and recoding.dimensionality == "multi"
    return is_cut and bool(step.models) and not step.is_permuted


def joint_step(step: Anonymize, *, keeps_values: bool = True) -> JointAnonymize:
    """Return a step that keeps its bounds within the intersections that hidden columns tell.

    Those on sensitive values are kept as well where it `keeps_values`.
    """
    hidden = [Sensitive(name=EARLIER)]
    if keeps_values:
        hidden += [Sensitive(name=within_name(place)) for place, _ in valued(step)]
    columns = step.columns.model_copy(update={"sensitive": (*step.columns.sensitive, *hidden)})
    fields = {name: getattr(step, name) for name in Anonymize.model_fields}
    fields |= {"columns": columns, "recoding": step.keeping_rows().recoding}
    return JointAnonymize.model_construct(**fields, planned=step)


def valued(step: Anonymize) -> list[tuple[int, str]]:
    """Return the place and the name of each sensitive column with bounds that can be kept within
    intersections."""
    pairs = enumerate(step.columns.sensitive)
    return [(place, one.name) for place, one in pairs if kept_models(step, one.name)]


def planned_step(step: Anonymize) -> Anonymize:
    """Return the step of the plan, for one that is made jointly."""
    return step.planned if isinstance(step, JointAnonymize) else step
