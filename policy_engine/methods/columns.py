"""The columns of a table by the role that each plays, with what is asked of each by itself."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from policy_engine.kernels.bounds import Distance
from policy_engine.methods.findings import Finding

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
    "range", "set", "prefix", "interval", "calendar", "taxonomy", "mean", "median", "mode"
]
NESTED = ("prefix", "interval", "calendar", "taxonomy")
"""Those whose cells are nodes of a tree over the values."""
PERTURBATIVE = ("mean", "median", "mode")
_OF_ONE = {"taxonomy": "taxonomy", "unlisted": "taxonomy", "mask": "prefix"}
_OF_ONE |= {"fanout": "interval", "precision": "interval"}


class Column(BaseModel):
    """A column by its name."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    name: str


class QuasiIdentifier(Column):
    """A column that is generalised, and how; without a generalization, by its type.

    `weight` tells how much its loss counts. `order` is that of texts without a taxonomy.
    A taxonomy is named by its IRI or its file; a value that it lacks is refused, or stands
    right below the root where `unlisted` says so. `mask` stands for the end of a text that a
    prefix hides. Intervals begin at multiples of `precision` (by default the greatest power of ten
    of which all values are multiples), and `fanout` of them make one of the next wider.
    """

    generalization: Generalization | None = None
    weight: Annotated[float, Field(ge=0, le=1000, strict=True, allow_inf_nan=False)] = 1.0
    order: Literal["lexicographic", "frequency"] | None = None
    taxonomy: str = ""
    unlisted: Literal["refuse", "root"] = "refuse"
    mask: Annotated[str, Field(min_length=1, max_length=1)] = "*"
    fanout: Annotated[int, Field(ge=2, le=1000, strict=True)] = 2
    precision: Annotated[float, Field(gt=0, strict=True, allow_inf_nan=False)] | None = None


class Sensitive(Column):
    """A column that nobody should learn about a person.

    `distance` is what t-closeness measures it by; the hierarchical distance needs a taxonomy.
    """

    distance: Distance = "variational"
    taxonomy: str = ""


class Columns(BaseModel):
    """All columns that a policy mentions, by role; a column plays one.

    Identifiers are dropped, replaced by keyed pseudonyms, or by a constant. Pseudonyms are those
    of one release, or of all releases that name the same `pseudonym_scope`. The unit of
    privacy is the column that tells one person's rows from another's; it is dropped too.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True, populate_by_name=True)

    identifier: tuple[str, ...] = ()
    pseudonymize: tuple[str, ...] = ()
    pseudonym_scope: Annotated[str, Field(alias="pseudonymScope", max_length=1000)] = ""
    redact: tuple[str, ...] = ()
    quasi_identifier: Annotated[
        tuple[QuasiIdentifier, ...], Field(alias="quasi-identifier", min_length=1)
    ]
    sensitive: tuple[Sensitive, ...] = ()
    insensitive: tuple[str, ...] = ()
    privacy_unit: Annotated[str, Field(alias="privacyUnit")] = ""

    @property
    def quasi_names(self) -> tuple[str, ...]:
        """The names of the quasi-identifiers."""
        return tuple(column.name for column in self.quasi_identifier)

    @property
    def sensitive_names(self) -> tuple[str, ...]:
        """The names of the sensitive columns."""
        return tuple(column.name for column in self.sensitive)

    @property
    def hidden(self) -> tuple[str, ...]:
        """The names of the columns that are released in another form, which tells no value."""
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
        named = [column.taxonomy for column in self.quasi_identifier]
        named += [column.taxonomy for column in self.sensitive]
        return tuple(dict.fromkeys(filter(None, named)))


def role_conflicts(roles: Mapping[str, tuple[str, ...]], unit: str = "") -> Iterator[Finding]:
    """Yield every column that plays two roles, or one role twice."""
    seen: dict[str, str] = {}
    for role in ROLES:
        for column, times in Counter(roles.get(role, ())).items():
            if times > 1:
                yield Finding("M005", role, f"{column!r} stands {times} times under {role}.")
            if column in seen:
                message = f"{column!r} is both {seen[column]} and {role}. A column has one role."
                yield Finding("M005", role, message)
            seen.setdefault(column, role)
    if seen.get(unit, "identifier") != "identifier":
        message = (
            f"{unit!r} is both {seen[unit]} and privacyUnit. "
            "The unit of privacy is dropped: kept, it would link a person's rows."
        )
        yield Finding("M005", "privacyUnit", message)


def setting_conflicts(role: str, settings: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield what is wrong between the settings of one column."""
    if role == "sensitive":
        yield from _misfits_of_distance(settings)
    if role != "quasi-identifier":
        return
    chosen = settings.get("generalization")
    if chosen not in (None, *get_args(Generalization)):
        return
    if chosen == "taxonomy" and not settings.get("taxonomy"):
        message = "The generalization 'taxonomy' names no taxonomy. Add pe:taxonomy."
        yield Finding("M002", "generalization", message)
    for name, owner in _OF_ONE.items():
        if name in settings and chosen != owner:
            given = repr(chosen) if chosen else "none"
            message = f"{name} belongs to the generalization {owner!r}. Given: {given}."
            yield Finding("M003", name, message)
    if "order" in settings and chosen not in (None, "set"):
        message = f"order belongs to the generalization 'set'. Given: {chosen!r}."
        yield Finding("M003", "order", message)


def _misfits_of_distance(settings: Mapping[str, Any]) -> Iterator[Finding]:
    chosen = settings.get("distance")
    if chosen == "hierarchical" and not settings.get("taxonomy"):
        message = "The distance 'hierarchical' names no taxonomy. Add pe:taxonomy."
        yield Finding("M002", "distance", message)
    if "taxonomy" in settings and chosen in (None, "variational", "ordered"):
        given = repr(chosen) if chosen else "none"
        message = f"taxonomy belongs to the distance 'hierarchical'. Given: {given}."
        yield Finding("M003", "taxonomy", message)
