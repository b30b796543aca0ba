"""The models of one audit, one after another: those that are given, or fitted for it."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.generative.drawing import (
    drawn_model,
    drawn_table,
    draws_tables,
)
from policy_engine.audits.generative.material import Ints, Material, RecordSet
from policy_engine.audits.generative.models.own_code import own_array
from policy_engine.audits.generative.models.protocols import Samples
from policy_engine.audits.generative.reading import (
    GivenRecords,
    ReadMaterial,
    are_arrays,
    read_material,
    without_unit,
)
from policy_engine.audits.generative.sampling import ask_samples
from policy_engine.audits.generative.settings import GenerativeSettings
from policy_engine.audits.membership.records import source_table
from policy_engine.errors import AuditError


@dataclass(frozen=True, eq=False)
class GeneratorRun:
    """One model, and what it is attacked with.

    `identity` tells it from others by what it releases, or first draws. `rows` (n,) are the places
    of the audited records where members and holdout were divided anew: those of the members' file,
    then those of the holdout's.
    """

    read: ReadMaterial
    settings: GenerativeSettings
    identity: str
    rows: Ints | None = field(default=None)


def run_seed(seed: int, place: int) -> int:
    """Return the seed of one model: that of the audit for the first."""
    return seed if place == 0 else derived_seed(seed, place)


def derived_seed(*words: int) -> int:
    """Return another seed, that follows from some numbers."""
    return int(np.random.SeedSequence(words).generate_state(1)[0] >> 1)


# -- models that are given -------------------------------------------------------------------------


def given_run(
    sides: GivenRecords, model: Any, settings: GenerativeSettings, seed: int
) -> GeneratorRun:
    """Return what is audited of one model or of what it released, with rows of a model that makes
    tables in the place of a file. Raises as `read_material` and `drawn_table` do."""
    sides, own, settings = _with_drawn_rows(sides, model, settings, seed)
    read = read_material(sides, own, seed)
    identity = first_drawn(model) if isinstance(model, Samples) else read.released
    return GeneratorRun(read, settings, identity)


def _with_drawn_rows(
    sides: GivenRecords, model: Any, settings: GenerativeSettings, seed: int
) -> tuple[GivenRecords, Any, GenerativeSettings]:
    if model is None or are_arrays(sides):
        return sides, model, settings
    columns = without_unit(source_table(sides.members), sides.unit).column_names
    if not draws_tables(model, columns, seed, has_classes=bool(sides.label)):
        return sides, model, settings
    if sides.synthetic is not None:
        message = (
            "A model that makes tables is audited by its own rows, and released ones are given."
        )
        raise AuditError.of("A032", message, "Audit one at a time.")
    made = drawn_table(model, columns, settings.samples, settings.seconds, seed)
    return (
        replace(sides, synthetic=made),
        drawn_model(model),
        replace(settings, seconds=None),
    )


def first_drawn(model: Any) -> str:
    """Return the digest of what a model draws first, by a seed that is the same for all models."""
    drawn = None
    for label in (None, 0):  # some cannot be asked without a class
        try:
            drawn = ask_samples(model, _PROBE, label, 0)
            break
        except AuditError:
            continue
    if hasattr(drawn, "__arrow_c_stream__"):
        drawn = source_table(drawn).to_pylist()
    if isinstance(drawn, list):
        return hashlib.sha256(repr(drawn).encode()).hexdigest()
    values = own_array(drawn, "The model")
    return hashlib.sha256(repr(values.tolist()).encode()).hexdigest()


_PROBE = 20


def check_apart(identities: Sequence[str]) -> None:
    """Raise AuditError (A034) where the last of some models was there before: it would make
    intervals narrower."""
    *others, last = identities
    if last in others:
        message = (
            f"The models {others.index(last) + 1} and {len(identities)} release, or draw, the "
        )
        hint = "Give each model once, of fits with other seeds: a fit must use records and seed."
        raise AuditError.of("A034", f"{message}same records.", hint)


# -- records of several models ---------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Fingerprints:
    """Numbers (n,) that are equal for equal `records` of a side, whatever the codes of an audit
    are, and for equal `persons`, None where nothing tells them apart."""

    records: NDArray[np.uint64]
    persons: Ints | None = None


Sides = tuple[Fingerprints, Fingerprints]
"""Those of members and of the holdout."""


def fingerprints(material: Material) -> Sides:
    """Return what tells the records, and the persons, of one model in another one."""
    first, second = (
        Fingerprints(_fingerprints(material, one), one.persons)
        for one in (material.members, material.holdout)
    )
    return first, second


def _fingerprints(material: Material, records: RecordSet) -> NDArray[np.uint64]:
    numbers = np.zeros(len(records), np.uint64)
    for place in range(records.values.shape[1]):
        numbers = (numbers ^ _words(material, records.values[:, place], place)) * _FACTOR
        numbers ^= numbers >> np.uint64(29)
    return numbers


_FACTOR = np.uint64(0xBF58476D1CE4E5B9)


def _words(material: Material, values: NDArray[Any], place: int) -> NDArray[np.uint64]:
    column = material.columns[place] if material.is_table else None
    if column is None or column.is_number:
        plain = np.where(np.isnan(values), np.nan, values + 0.0).astype(np.float64)
        return plain.view(np.uint64)
    texts = [hashlib.blake2b(one.encode(), digest_size=8).digest() for one in column.texts]
    words = np.array([*(int.from_bytes(one) for one in texts), 0], np.uint64)
    return words[values.astype(np.int64)]  # the last where a value is missing


def share_records(sides: Sequence[Sides]) -> bool:
    """Return whether who is a member, or of the holdout, of one model is so of another one more
    often than by chance: then the draw of the members is not drawn anew for each.

    Equal records tell it, and so do the persons whose records they are: the same ones may have
    other records in each model, and other names.
    """
    return any(_are_alike(one, other) for place, one in enumerate(sides) for other in sides[:place])


def _are_alike(one: Sides, other: Sides) -> bool:
    persons = [_persons(side) for side in one], [_persons(side) for side in other]
    records = [side.records for side in one], [side.records for side in other]
    return _go_together(*records, persons) or _go_together(*persons, persons)


def _persons(side: Fingerprints) -> NDArray[Any]:
    """Return the persons of records, (n,): the records themselves where none are told apart."""
    return side.records if side.persons is None else side.persons


def _go_together(
    one: Sequence[NDArray[Any]],
    other: Sequence[NDArray[Any]],
    counted: Sequence[Sequence[NDArray[Any]]],
) -> bool:
    """Return whether marks of both sides of two models are on the same side more often than by
    chance. The `counted` persons of the first and the second count once each."""
    from scipy.stats import binom  # noqa: PLC0415 (slow to import, an extra)

    common = [
        [len(np.unique(persons[np.isin(own, its)])) for its in other]
        for own, persons in zip(one, counted[0], strict=True)
    ]
    same = common[0][0] + common[1][1]
    sizes = [[len(np.unique(side)) for side in sides] for sides in counted]
    shares = [first / (first + second) for first, second in sizes]
    by_chance = shares[0] * shares[1] + (1 - shares[0]) * (1 - shares[1])
    total = same + common[0][1] + common[1][0]
    return bool(total and binom.sf(same - 1, total, by_chance) < _CHANCE)


_CHANCE = 1e-3
