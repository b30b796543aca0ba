"""The columns of a table by role, each with its own settings."""

from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
)

from policy_engine.kernels.bounds import Distance
from policy_engine.methods.findings import Proportion

ROLES = (
    "identifier",
    "pseudonymize",
    "redact",
    "quasi-identifier",
    "sensitive",
    "insensitive",
    "masked",
)
IDENTIFIERS = ("identifier", "pseudonymize", "redact")
Generalization = Literal[
    "range",
    "set",
    "prefix",
    "interval",
    "calendar",
    "taxonomy",
    "mean",
    "median",
    "mode",
    "centroid",
    "median-mode",
    "nearest",
    "suppression",
]
NESTED = ("prefix", "interval", "calendar", "taxonomy")
"""Generalizations whose cells are nodes of a tree over the values."""
CENTRAL = ("mean", "median", "mode", "centroid")
GUIDED = ("median-mode", "nearest")
"""Those of accuracy-guided classes alone: a median of what is ordered and a mode of other texts, or
the value of a row that stands for all of its class."""
PERTURBATIVE = (*CENTRAL, *GUIDED)
"""Generalizations by one value that represents all of a class."""
CAP = "maxSuppression"
"""The bound on the share of a column's cells that may be suppressed, as a policy names it."""
SUPPRESSION = "suppression"
"""The generalization by cells that are values of the input, or missing."""


_Share = Annotated[float, Field(ge=0, le=1, strict=True, allow_inf_nan=False), Proportion()]


class Column(BaseModel):
    """A column by its name."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    name: str


class QuasiIdentifier(Column):
    """A column that is generalised, and how; without a generalization, by its type.

    `weight` tells how much its loss counts. `order` is that of texts without a taxonomy.
    A taxonomy is named by its IRI or its file; a value that it lacks is refused, or put
    directly below the root where `unlisted` says so. `mask` replaces the end of a text that a
    prefix hides. Intervals begin at multiples of `precision` (by default the greatest power of ten
    that divides all values), and `fanout` of them make one of the next wider. `max_suppression` is
    the share of its cells that local suppression may take, None for any.
    """

    model_config = ConfigDict(populate_by_name=True)

    generalization: Generalization | None = None
    weight: Annotated[float, Field(ge=0, le=1000, strict=True, allow_inf_nan=False)] = 1.0
    order: Literal["lexicographic", "frequency"] | None = None
    taxonomy: str = ""
    unlisted: Literal["refuse", "root"] = "refuse"
    mask: Annotated[str, Field(min_length=1, max_length=1)] = "*"
    fanout: Annotated[int, Field(ge=2, le=1000, strict=True)] = 2
    precision: Annotated[float, Field(gt=0, strict=True, allow_inf_nan=False)] | None = None
    max_suppression: Annotated[_Share | None, Field(alias="maxSuppression")] = None

    def most_suppressed(self, rows: int) -> int:
        """Return how many of its cells, one in each row, may be suppressed."""
        return rows if self.max_suppression is None else int(self.max_suppression * rows)

    @model_serializer(mode="wrap")
    def _omit_absent(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Omit `max_suppression` where there is none."""
        values: dict[str, Any] = serialize(self)
        absent = {"max_suppression", "maxSuppression"} if self.max_suppression is None else set()
        return {name: value for name, value in values.items() if name not in absent}


class Sensitive(Column):
    """A column that nobody should learn about a person.

    `distance` is what t-closeness measures it by; the hierarchical distance needs a taxonomy.
    """

    distance: Distance = "variational"
    taxonomy: str = ""


class Columns(BaseModel):
    """All columns that a policy mentions, by role; a column has one.

    Identifiers are dropped, replaced by keyed pseudonyms, or by a constant. Pseudonyms are those
    of one release, or of all releases that name the same `pseudonym_scope`. The unit of
    privacy is the column that tells one person's rows from another's; it is dropped too.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True, populate_by_name=True)

    identifier: tuple[str, ...] = ()
    pseudonymize: tuple[str, ...] = ()
    pseudonym_scope: Annotated[str, Field(alias="pseudonymScope", max_length=1000)] = ""
    redact: tuple[str, ...] = ()
    quasi_identifier: Annotated[tuple[QuasiIdentifier, ...], Field(alias="quasi-identifier")] = ()
    sensitive: tuple[Sensitive, ...] = ()
    insensitive: tuple[str, ...] = ()
    privacy_unit: Annotated[str, Field(alias="privacyUnit")] = ""

    @property
    def quasi_names(self) -> tuple[str, ...]:
        """The names of the quasi-identifiers."""
        return tuple(column.name for column in self.quasi_identifier)

    @property
    def capped(self) -> tuple[QuasiIdentifier, ...]:
        """The quasi-identifiers with a bound on how many of their cells may be suppressed."""
        return tuple(one for one in self.quasi_identifier if one.max_suppression is not None)

    @property
    def sensitive_names(self) -> tuple[str, ...]:
        """The names of the sensitive columns."""
        return tuple(column.name for column in self.sensitive)

    @property
    def hidden(self) -> tuple[str, ...]:
        """The names of the columns that are released in another form, without their values."""
        return (*self.pseudonymize, *self.redact)

    @property
    def has_own_pseudonyms(self) -> bool:
        """Whether there are pseudonyms that no other release has."""
        return bool(self.pseudonymize) and not self.pseudonym_scope

    @property
    def dropped(self) -> tuple[str, ...]:
        """The names of the columns that are left out."""
        unit = (self.privacy_unit,) if self.privacy_unit else ()
        return tuple(dict.fromkeys((*self.identifier, *unit)))

    @property
    def released(self) -> tuple[str, ...]:
        """The names of the columns of the output."""
        return (
            *self.hidden,
            *(*self.quasi_names, *self.sensitive_names, *self.insensitive),
        )

    @property
    def taxonomies(self) -> tuple[str, ...]:
        """The names of the taxonomies that the columns need."""
        names = [column.taxonomy for column in self.quasi_identifier]
        names += [column.taxonomy for column in self.sensitive]
        return tuple(dict.fromkeys(filter(None, names)))
