"""What one policy asks of outputs: a profile, with thresholds of its own in place of some of it."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from policy_engine.methods.output_checks.profile import (
    OutputProfile,
    PercentileStep,
    ladder_text,
    read_ladder,
)

Secondary = Literal["none", "exact", "interval"]
Mitigation = Literal["deny", "suppress", "round", "random-rounding", "noise", "review"]
LedgerScope = Literal["assignee", "organisation", "project", "dataset"]

THRESHOLDS = {
    "minUnits": "min_units",
    "maxGroupShare": "max_group_share",
    "maxModeShare": "max_mode_share",
    "maxLargestShare": "max_largest_share",
    "maxTwoLargestShare": "max_two_largest_share",
    "pPercent": "p_percent",
    "minDegreesOfFreedom": "min_degrees_of_freedom",
    "unitsBeyondPercentile": "units_beyond_percentile",
    "percentileLadder": "percentile_ladder",
    "zerosDisclosive": "zeros_disclosive",
    "roundBase": "round_base",
    "significantDigits": "significant_digits",
}
"""The fields of a profile that a policy may set, by the names of its parameters."""
HANDLING = {
    "secondary": "secondary",
    "mitigation": "mitigation",
    "ledgerScope": "ledger_scope",
    "privacyUnit": "unit",
}
"""What a policy says of how a check is made, by the names of its parameters."""
OUTPUT_CHECK, NESTED = "outputCheck", "nestedColumns"
PARAMETERS = (OUTPUT_CHECK, NESTED, *THRESHOLDS, *HANDLING)
AT_LEAST = ("minUnits", "pPercent", "minDegreesOfFreedom", "unitsBeyondPercentile")
AT_MOST = (
    *("maxGroupShare", "maxModeShare", "maxLargestShare", "maxTwoLargestShare"),
    "significantDigits",
)
"""Thresholds of which more is stricter, and of which less is."""


class OutputCheck(BaseModel):
    """By what profile outputs are judged, and what becomes of a cell that does not pass.

    `profile` has the policy's own thresholds in it, and keeps the name of the one they replace
    those of. `unit` is the column that tells whom a row is of, empty where every row is of another;
    `secondary` says whether further cells are suppressed so that nobody computes those that are, at
    all (`exact`) or too closely (`interval`). `mitigation` is what is done about cells that do not
    pass, and `ledger_scope` whose earlier answers count. Each of `nested` are columns, by their
    IRIs, of which everybody knows which value of one lies in which of another.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    profile: OutputProfile
    unit: str = ""
    secondary: Secondary = "interval"
    mitigation: Mitigation = "suppress"
    ledger_scope: LedgerScope = "dataset"
    nested: tuple[tuple[str, ...], ...] = ()

    @property
    def is_all_or_nothing(self) -> bool:
        """Whether nothing of an output is released that has a cell which does not pass."""
        return self.mitigation in ("deny", "review")

    @property
    def is_changing_figures(self) -> bool:
        """Whether figures are shown in a form that others, and the number of all, do not tell."""
        return self.mitigation in ("round", "random-rounding", "noise")

    @property
    def needs_base(self) -> bool:
        """Whether figures are rounded to multiples of a base."""
        return self.mitigation in ("round", "random-rounding")

    @property
    def needs_key(self) -> bool:
        """Whether what figures become follows from a secret key."""
        return self.mitigation in ("random-rounding", "noise")

    def facts(self) -> dict[str, Any]:
        """Return what a policy may ask of it, by the names of its parameters: of nested columns,
        all."""
        values = {name: getattr(self.profile, field) for name, field in THRESHOLDS.items()}
        values |= {name: getattr(self, field) for name, field in HANDLING.items()}
        values["percentileLadder"] = ladder_text(self.profile.percentile_ladder)
        values[OUTPUT_CHECK] = self.profile.notation
        values[NESTED] = tuple(dict.fromkeys(one for columns in self.nested for one in columns))
        return {name: value for name, value in values.items() if value not in (None, "", ())}


class OwnThresholds(BaseModel):
    """The limits of what a policy may set of a check, by the names of its parameters."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True, populate_by_name=True)

    min_units: Annotated[int | None, Field(alias="minUnits", ge=2)] = None
    max_group_share: Annotated[float | None, Field(alias="maxGroupShare", gt=0, le=1)] = None
    max_mode_share: Annotated[float | None, Field(alias="maxModeShare", gt=0, le=1)] = None
    max_largest_share: Annotated[float | None, Field(alias="maxLargestShare", gt=0, le=1)] = None
    max_two_largest_share: Annotated[
        float | None, Field(alias="maxTwoLargestShare", gt=0, le=1)
    ] = None
    p_percent: Annotated[float | None, Field(alias="pPercent", gt=0, le=10)] = None
    min_degrees_of_freedom: Annotated[int | None, Field(alias="minDegreesOfFreedom", ge=1)] = None
    units_beyond_percentile: Annotated[int | None, Field(alias="unitsBeyondPercentile", ge=1)] = (
        None
    )
    percentile_ladder: Annotated[
        tuple[PercentileStep, ...] | None,
        BeforeValidator(read_ladder),
        Field(alias="percentileLadder"),
    ] = None
    zeros_disclosive: Annotated[bool | None, Field(alias="zerosDisclosive")] = None
    round_base: Annotated[int | None, Field(alias="roundBase", ge=2)] = None
    significant_digits: Annotated[int | None, Field(alias="significantDigits", ge=1, le=15)] = None
    secondary: Secondary | None = None
    mitigation: Mitigation | None = None
    ledger_scope: Annotated[LedgerScope | None, Field(alias="ledgerScope")] = None
