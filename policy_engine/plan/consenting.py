"""What owners ask of what others make of their data, and where that falls short of it."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from policy_engine.data.column_names import column_iri
from policy_engine.errors import NOWHERE, Place
from policy_engine.methods import Bound
from policy_engine.methods.findings import format_value
from policy_engine.methods.guide import GUIDE
from policy_engine.methods.recoding import UNIQUE_KEPT
from policy_engine.plan.anonymization import Anonymization, Consent, Transformation
from policy_engine.plan.joins import JOIN_ON, MASKED, STRATA
from policy_engine.plan.reading_parameters import parameters_of
from policy_engine.policy import Value

QUASI, SENSITIVE, UNIT = "quasi-identifier", "sensitive", "privacyUnit"
_ONLY_READ = (UNIT, GUIDE)
"""What a column is used for that is not released."""
_NOT_SHOWN = (*_ONLY_READ, "redact")
_STRICTER: Mapping[str, tuple[str, ...]] = {
    "insensitive": (QUASI, SENSITIVE, "pseudonymize", "redact", MASKED),
    MASKED: ("redact",),
    "pseudonymize": ("redact",),
    QUASI: ("redact",),
    SENSITIVE: ("redact",),
    "identifier": ("redact",),
}
"""For each role, the roles in which a column reveals no more; without a role it reveals nothing."""
_COMPARED = ("maxSuppression", UNIQUE_KEPT, "missing", "pseudonymScope", "method", "k")
"""Parameters that have a comparison of their own, besides those of the privacy models."""


class Shortfall(NamedTuple):
    """Where a transformation falls short of what an owner asks: the sentence, and both places.

    `asked` is the place in the owner's text, `place` that in the maker's.
    """

    message: str
    asked: Place
    place: Place


class _Use(NamedTuple):
    """How an owner's column is used: the column of the joined table with its cells, and its
    role."""

    name: str
    made: str
    role: str
    value: Value


def shortfalls(consent: Consent, transformation: Transformation, asset: str) -> list[Shortfall]:
    """Return where a transformation falls short of what an owner's consent asks.

    The target of the consent, which may be a collection, is compared with the dataset `asset`
    that is transformed, column by column of the same name. What cannot be compared falls short.
    """
    if consent.anonymization is None:
        return []
    return [*_ConsentCheck(consent, consent.anonymization, transformation, asset).shortfalls()]


def bounds_of(consent: Consent) -> tuple[str, ...]:
    """Return what a consent asks for, in words; empty where it permits any transformation."""
    if consent.anonymization is None:
        return ()
    maskings = map(str, consent.maskings)
    sample = [f"a sample of {consent.sampling}"] if consent.sampling else []
    bounds = map(_format_bound, consent.anonymization.bounds())
    return (*bounds, *sample, *maskings, *_option_settings(consent))


def _format_bound(bound: Bound) -> str:
    about = f" of {bound.column}" if bound.column else ""
    return f"{bound.name} {bound.sense} {bound.asked:g}{about}"


def _option_settings(consent: Consent) -> Iterator[str]:
    parameters = parameters_of(consent.action)
    if "maxSuppression" in parameters and consent.anonymization:
        yield f"maxSuppression at most {consent.anonymization.recoding.max_suppression:g}"
    if consent.anonymization and consent.anonymization.columns.privacy_unit:
        yield f"persons counted by {consent.anonymization.columns.privacy_unit}"


class _ConsentCheck:
    """A transformation of one dataset, or of it with others, compared with one consent."""

    def __init__(
        self, consent: Consent, required: Anonymization, transformation: Transformation, asset: str
    ) -> None:
        self.consent, self.required = consent, required
        self.transformation, self.asset = transformation, asset
        self.given = parameters_of(consent.action)
        self.theirs = parameters_of(transformation.action)
        ordered = sorted(
            consent.columns_by_role.items(), key=lambda one: one[0] not in (JOIN_ON, UNIT)
        )
        self.roles = {
            name: (role, value) for role, columns in ordered for _, name, value in columns
        }
        self.used = [*self._used()]

    def _used(self) -> Iterator[_Use]:
        """Yield the columns of the dataset that are used; its key also under the names of others.

        Joined rows have the same key: releasing one dataset's key releases all of them.
        """
        keys = {one.asset: one.on for one in self.transformation.joined}
        key = keys.get(self.asset)
        for role, columns in self.transformation.columns_by_role.items():
            for asset, name, value in columns if role not in ("identifier", JOIN_ON) else ():
                if asset == self.asset:
                    yield _Use(name, name, role, value)
                elif key is not None and keys.get(asset) == name and role not in _NOT_SHOWN:
                    yield _Use(key, name, role, value)

    def shortfalls(self) -> Iterator[Shortfall]:
        yield from self._column_shortfalls()
        yield from self._join_shortfalls()
        yield from self._bound_shortfalls()
        yield from self._unit_shortfalls()
        yield from self._option_shortfalls()
        yield from self._sample_shortfalls()

    def _shortfall(self, message: str, name: str = "", place: Place | None = None) -> Shortfall:
        """Return a shortfall of a parameter, with its place in both texts where they name it."""
        part, other = self.given.get(name), self.theirs.get(name)
        owner_place = place or (part.place if part else self.consent.rule.place)
        return Shortfall(
            message, owner_place, other.place if other else self.transformation.rule.place
        )

    def _column_shortfalls(self) -> Iterator[Shortfall]:
        """Yield the columns that are used in a role that the owner does not permit."""
        for name, column, role, value in self.used:
            iri, (owner_role, owner_value) = (
                column_iri(self.asset, name),
                self.roles.get(name, ("", None)),
            )
            if role in _ONLY_READ:
                if not owner_role:
                    message = f"{iri} is used, which the owner does not name."
                    yield Shortfall(message, self.consent.rule.place, value.place)
                continue
            use = role if column == name else f"{role} under the name {column!r}"
            is_only_read = owner_role in _ONLY_READ and role != "redact"
            if not owner_role or owner_role == JOIN_ON or is_only_read:
                message = f"{iri} is released as {use}, and the owner lets it not be released."
                yield Shortfall(message, self.consent.rule.place, value.place)
            elif role != owner_role and role not in _STRICTER.get(owner_role, ()):
                message = f"{iri} is {use}, and by the owner it is {owner_role}."
                yield Shortfall(message, owner_value.place if owner_value else NOWHERE, value.place)
            elif owner_value is not None and role == owner_role:
                yield from self._setting_shortfalls(iri, owner_value, value)

    def _setting_shortfalls(self, iri: str, required: Value, theirs: Value) -> Iterator[Shortfall]:
        for name, value in required.settings.items():
            other = theirs.settings.get(name)
            if name in ("taxonomy", "matrix"):
                message = f"The {name} of {iri} is a file of the maker's, and cannot be compared."
                yield Shortfall(message, value.place, theirs.place)
            elif name != "weight" and (other is None or _values(other) != _values(value)):
                setting = format_value(other.value) if other else "none"
                message = f"The {name} of {iri} is {setting}, and by the owner it is "
                yield Shortfall(f"{message}{format_value(value.value)}.", value.place, theirs.place)

    def _join_shortfalls(self) -> Iterator[Shortfall]:
        for one in self.transformation.joined:
            if one.asset == self.asset and one.on != self.consent.on:
                limit = f"on {self.consent.on!r} alone" if self.consent.on else "with nothing"
                message = f"{one.asset} is joined on {one.on!r}, and the owner lets it be joined "
                yield self._shortfall(f"{message}{limit}.", JOIN_ON)

    def _bound_shortfalls(self) -> Iterator[Shortfall]:
        bounds = {(one.name, one.column): one for one in self.transformation.anonymization.bounds()}
        for bound in self.required.bounds():
            # A column that is not released as it is tells nothing.
            for name in self._kept(bound.column) if bound.column else ("",):
                other = bounds.get((bound.name, name))
                if other is None or not _is_as_strict(other, bound):
                    figure = f"{other.asked:g}" if other else "nothing"
                    message = (
                        f"The owner asks for {_format_bound(bound)}, and the policy for {figure}."
                    )
                    yield self._shortfall(message, bound.parameter)
        yield from self._value_shortfalls()

    def _value_shortfalls(self) -> Iterator[Shortfall]:
        """Yield where the owner's models measure differently: by another l, or distance."""
        released = [
            (one, name) for one in self.required.columns.sensitive for name in self._kept(one.name)
        ]
        required = _l_of(self.required) if released else None
        other = _l_of(self.transformation.anonymization)
        if required is not None and other is not None and other < required:
            message = f"The owner asks for l at least {required}, and the policy for {other}."
            yield self._shortfall(message, "l")
        theirs = {one.name: one for one in self.transformation.anonymization.columns.sensitive}
        for one, name in released if "t-closeness" in self.required.methods else ():
            if theirs[name].distance != one.distance:
                message = f"The distance of {column_iri(self.asset, one.name)} is not the owner's."
                yield self._shortfall(message, SENSITIVE)

    def _kept(self, name: str) -> list[str]:
        """Return the columns of what is made that tell a sensitive column of the dataset."""
        return [one.made for one in self.used if one.name == name and one.role == SENSITIVE]

    def _unit_shortfalls(self) -> Iterator[Shortfall]:
        """Yield that persons are not counted as the owner has them counted."""
        unit = self.required.columns.privacy_unit
        if not unit:
            return
        units = [
            (asset, name) for asset, name, _ in self.transformation.columns_by_role.get(UNIT, ())
        ]
        keys = {one.asset: one.on for one in self.transformation.joined}
        # Rows that are joined have one key: to count by it is to count by that of any input.
        is_key = keys.get(self.asset) == unit
        is_same = any(is_key and keys.get(asset) == name for asset, name in units)
        if (self.asset, unit) not in units and not is_same:
            message = f"The owner has persons counted by {column_iri(self.asset, unit)}."
            yield self._shortfall(message, UNIT)

    def _option_shortfalls(self) -> Iterator[Shortfall]:
        required, theirs = self.required.recoding, self.transformation.anonymization.recoding
        if "maxSuppression" in self.given and theirs.max_suppression > required.max_suppression:
            message = (
                f"The owner lets {required.max_suppression:g} of the rows be suppressed, and the "
            )
            message += f"policy {theirs.max_suppression:g}."
            yield self._shortfall(message, "maxSuppression")
        if theirs.has_overlapping_classes and not required.has_overlapping_classes:
            message = "Rows count that could be the same, and by the owner those that are."
            yield self._shortfall(message, "missing")
        elif theirs.missing == "wildcard" != required.missing:
            message = "Missing values match any, and by the owner they are values of their own."
            yield self._shortfall(message, "missing")
        scope = self.transformation.anonymization.columns.pseudonym_scope
        if scope not in ("", self.required.columns.pseudonym_scope) and self._has_pseudonyms():
            message = "Pseudonyms are shared with other releases, and the owner does not let them."
            yield self._shortfall(message, "pseudonymScope")
        before, after = required.options(), theirs.options()
        for name in self.given:
            if name in before and name not in _COMPARED and before[name] != after[name]:
                now, then = format_value(after[name]), format_value(before[name])
                message = f"{name} is {now}, and by the owner {then}."
                yield self._shortfall(message, name)

    def _sample_shortfalls(self) -> Iterator[Shortfall]:
        """Yield that more is sampled than the owner lets, or in another way.

        A share and a size cannot be compared; a stratum may give all of its rows.
        """
        required, theirs = self.consent.sampling, self.transformation.sampling
        if required is None:
            return
        name = "sampleSize" if required.share is None else "sampleShare"
        share, most = (
            (one.size if required.share is None else one.share) if one else None
            for one in (theirs, required)
        )
        if share is None or most is None or share > most:
            now = str(theirs) if theirs else "all rows"
            message = f"The owner lets a sample be released ({required}), and the policy asks for "
            yield self._shortfall(f"{message}{now}.", name)
        if theirs and {*theirs.stratified_by} != {*required.stratified_by}:
            message = "The sample is not stratified by the columns that the owner names."
            yield self._shortfall(message, STRATA)
        if theirs and theirs.weight_column and not required.weight_column:
            message = "The sample has weights, and the owner lets none be released."
            yield self._shortfall(message, "weightColumn")

    def _has_pseudonyms(self) -> bool:
        return any(one.role == "pseudonymize" for one in self.used)


def _is_as_strict(one: Bound, other: Bound) -> bool:
    """Tell whether a bound asks for as much as another one of its name."""
    return one.asked >= other.asked if other.sense == "at least" else one.asked <= other.asked


def _l_of(anonymization: Anonymization) -> int | None:
    """Return the l of recursive l-diversity, None where it is not asked for."""
    model = anonymization.methods.get("recursive-l-diversity")
    return None if model is None else int(model.l)  # type: ignore[attr-defined]


def _values(setting: Value) -> list[object]:
    return [one.value for one in setting.all]
