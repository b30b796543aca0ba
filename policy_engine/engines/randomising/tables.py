"""Whole tables randomised record by record, and what of them is found when they are read back."""

from fractions import Fraction

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.engines.arrays import from_numpy
from policy_engine.engines.randomising.answers import (
    Answers,
    publish_categories,
    publish_numbers,
    read_categories,
    read_numbers,
)
from policy_engine.engines.randomising.images import (
    check_images,
    count_strange_images,
    levels_of,
    published_images,
)
from policy_engine.engines.randomising.persons import answered_records, memory_key, person_words
from policy_engine.engines.randomising.randomness import Randomness, shuffled_places
from policy_engine.engines.randomising.values import values_of
from policy_engine.methods.randomiser import CategoryRandomiser, NumberRandomiser, Randomiser
from policy_engine.methods.randomisers.private_pixelation import PrivatePixelation
from policy_engine.plan.randomisation import Randomisation

Ints = NDArray[np.int64]

_WORDS = 2**20
"""So many words are drawn at a time."""
_ATTRIBUTE = "sample-one-attribute"


def randomise_table(table: pa.Table, randomisation: Randomisation, key: bytes | None) -> pa.Table:
    """Return a table of the columns of a randomisation, with an answer for every record, or for one
    of every person, in random order.

    Whatever the cells hold, there is no error and no missing cell but of columns that a record
    does not answer for, which is drawn. Raises DataError (C013) where persons are to answer alike
    again, and there is no key; (C009) for persons of a type that has no text, (R001) for
    none; (R013) for a column whose type holds no images.
    """
    if randomisation.unit:
        secret = memory_key(key)
        table = table.take(from_numpy(answered_records(table, randomisation, secret)))
        made = randomise_persons(table, randomisation, secret)
    else:
        made = randomise_rows(table, randomisation)
    return made.take(from_numpy(shuffled_places(made.num_rows)))


def randomise_persons(table: pa.Table, randomisation: Randomisation, secret: bytes) -> pa.Table:
    """Return a table of answers for records that are of one person each, in their order, by the
    secret key of persons."""
    persons, _ = person_words(table.column(randomisation.unit), secret)
    return randomise_rows(table, randomisation, Randomness(persons, secret))


def randomise_rows(
    table: pa.Table, randomisation: Randomisation, randomness: Randomness | None = None
) -> pa.Table:
    """Return a table of answers for all records, in their order, by the randomness of the operating
    system unless another is given."""
    randomness = randomness or Randomness()
    for one in randomisation.columns:
        if isinstance(one, PrivatePixelation):
            check_images(one, table.column(one.name).type)
    chosen = _chosen_columns(table.num_rows, randomisation, randomness)
    columns = []
    for place, one in enumerate(randomisation.columns):
        answered = None if chosen is None else chosen == place
        columns.append(_randomise(table.column(one.name), one, randomisation, randomness, answered))
    return pa.table(columns, names=list(randomisation.names))


def _chosen_columns(rows: int, randomisation: Randomisation, randomness: Randomness) -> Ints | None:
    """Return the place of the one column that each record answers for, (rows,), None for all.

    It depends on who answers at most, never on what is answered.
    """
    if not randomisation.is_sampled:
        return None
    label = f"{_ATTRIBUTE}\n{randomisation.label_of_records}"
    words = randomness.words(slice(0, rows), np.zeros(rows, dtype=np.int64), label, 1)[:, 0]
    places = (words >> np.uint64(32)) * np.uint64(len(randomisation.columns)) >> np.uint64(32)
    by_name = np.argsort(randomisation.names)
    return np.asarray(by_name[places.astype(np.int64)])


def _randomise(
    column: pa.ChunkedArray,
    randomiser: Randomiser,
    randomisation: Randomisation,
    randomness: Randomness,
    answered: NDArray[np.bool_] | None,
) -> pa.Array:
    """Return the published column; those rows are missing that have not `answered`, if given."""
    epsilon = randomisation.epsilon_of(randomiser)
    if isinstance(randomiser, PrivatePixelation):
        made = _pixelated(column, randomiser, epsilon)
    else:
        made = _answered(
            column, randomiser, epsilon, randomisation.label_of(randomiser), randomness
        )
    if answered is None:
        return made
    rows = np.arange(len(column), dtype=np.int64)
    return made.take(from_numpy(rows, ~answered))


def _answered(
    column: pa.ChunkedArray,
    randomiser: Randomiser,
    epsilon: Fraction,
    label: str,
    randomness: Randomness,
) -> pa.Array:
    """Return the published answers of categories or numbers."""
    assert isinstance(randomiser, CategoryRandomiser | NumberRandomiser)  # noqa: S101 (no images)
    values, number = values_of(column, randomiser), randomiser.mechanism(epsilon).words
    parts, rows = [], max(1, _WORDS // number)
    for start in range(0, max(len(values), 1), rows):
        some = slice(start, start + rows)
        words = randomness.words(some, values[some], label, number)
        if isinstance(randomiser, CategoryRandomiser):
            parts.append(publish_categories(randomiser, epsilon, values[some], words))
        else:
            parts.append(publish_numbers(randomiser, epsilon, values[some], words))
    return pa.concat_arrays(parts)


def _pixelated(
    column: pa.ChunkedArray, randomiser: PrivatePixelation, epsilon: Fraction
) -> pa.Array:
    """Return the published images, as lists of the column's type but for fixed lengths."""
    from policy_engine.kernels.differential_privacy.noise import discrete_laplace  # noqa: PLC0415

    mechanism, parts = randomiser.mechanism(epsilon), []
    rows = max(1, _WORDS // (randomiser.height * randomiser.width * randomiser.channels))
    for start in range(0, max(len(column), 1), rows):
        levels = levels_of(column.slice(start, rows), randomiser)
        made = mechanism.publish(levels, randomiser.padding_level, discrete_laplace)
        parts.append(published_images(made, column.type, randomiser))
    return pa.concat_arrays(parts)


def count_strange(table: pa.Table, randomisation: Randomisation) -> tuple[int, ...]:
    """Return how many cells of each column of a published table are none that could have been
    published: texts that are no answers, or missing ones where every record answers for all."""
    counts = []
    for one in randomisation.columns:
        epsilon = randomisation.epsilon_of(one)
        if isinstance(one, PrivatePixelation):
            counts.append(count_strange_images(table.column(one.name), one))
            continue
        read = read_answers(table.column(one.name), one, epsilon)
        missing = 0 if randomisation.is_sampled else table.num_rows - read.number - read.strange
        counts.append(read.strange + missing)
    return tuple(counts)


def read_answers(column: pa.ChunkedArray, randomiser: Randomiser, epsilon: Fraction) -> Answers:
    """Return the answers that published cells of categories or numbers are."""
    if isinstance(randomiser, CategoryRandomiser):
        return read_categories(column, randomiser, epsilon)
    assert isinstance(randomiser, NumberRandomiser)  # noqa: S101 (images have no answers)
    return read_numbers(column, randomiser, epsilon)
