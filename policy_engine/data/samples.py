"""Made-up data to try policies on: realistic, correlated, and the same for the same seed."""

import csv
import io
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from itertools import count, islice
from random import Random
from typing import NamedTuple

COLUMNS = (
    "CustomerID",
    "FirstName",
    "LastName",
    "Email",
    "ZIP",
    "BirthDate",
    "TransactionTime",
    "Amount",
    "StoreCategory",
)

_FIRST_NAMES = {
    1930: ("Giuseppe", "Maria", "Antonio", "Anna", "Giovanni", "Rosa"),
    1950: ("Franco", "Paola", "Sergio", "Carla", "Roberto", "Patrizia"),
    1970: ("Andrea", "Francesca", "Stefano", "Elena", "Marco", "Laura"),
    1985: ("Luca", "Chiara", "Matteo", "Giulia", "Davide", "Sara"),
    1997: ("Leonardo", "Sofia", "Alessandro", "Aurora", "Tommaso", "Ginevra"),
}
_LAST_NAMES = (
    *("Rossi", "Ferrari", "Russo", "Bianchi", "Colombo", "Romano", "Ricci", "Gallo", "Conti"),
    *("Greco", "Costa", "Villa", "Fontana", "Brambilla", "Riva", "Galli", "Marino", "Moretti"),
    *("Barbieri", "Lombardi"),
)


class _Store(NamedTuple):
    """A category of stores: its opening hours, its typical amount, the age of its customers."""

    name: str
    opens: int
    closes: int
    amount: float
    age: int
    weight: int


_STORES = (
    _Store("Groceries", 8, 21, 38.0, 50, 30),
    _Store("Restaurant", 12, 23, 45.0, 36, 18),
    _Store("Pharmacy", 8, 20, 22.0, 62, 12),
    _Store("Clothing", 10, 20, 80.0, 33, 12),
    _Store("Electronics", 10, 20, 240.0, 30, 8),
    _Store("Books", 9, 19, 26.0, 45, 7),
    _Store("Fuel", 6, 22, 52.0, 44, 8),
    _Store("Jewellery", 10, 19, 520.0, 52, 2),
    _Store("Toys", 10, 20, 34.0, 38, 3),
)
_FIRST_ZIP, _ZIPS = 20121, 41


def customer(rows: int, seed: int) -> str:
    """Return `rows` customers, each with the last purchase, as CSV text with a header.

    ZIP areas differ in size and in the age of those who live there; the category of the store
    follows age, the hour its opening times, and the amount the category. Only the uniform
    numbers of Python's generator are used, whose stream is the same in every version.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(_customer_rows(Random(seed), rows))  # noqa: S311 (made-up data, no secret)
    return text.getvalue()


VISIT_COLUMNS = (
    "patient_nbr",
    "age",
    "gender",
    "time_in_hospital",
    "num_medications",
    "readmitted",
)


def visits(rows: int, seed: int) -> str:
    """Return `rows` visits to hospitals, of patients with one to a few of them, as CSV text.

    It has the columns of `policies/visits-statistics.jsonld`. The old stay longer, get more
    medications, and are readmitted more often.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(VISIT_COLUMNS)
    writer.writerows(islice(_visit_rows(Random(seed)), rows))  # noqa: S311 (made-up data)
    return text.getvalue()


EMPLOYEE_COLUMNS = ("person", "branch", "occupation", "sex", "age", "pay")


def employees(rows: int, seed: int) -> str:
    """Return `rows` employees of six branches, as CSV text.

    It has the column that `policies/research-centre.jsonld` tells persons apart by. Branches differ
    in size, and pay grows with age and differs by occupation.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(EMPLOYEE_COLUMNS)
    writer.writerows(_employee_rows(Random(seed), rows))  # noqa: S311 (made-up data, no secret)
    return text.getvalue()


_BRANCHES = ("north", "south", "east", "west", "centre", "islands")
_OCCUPATIONS = (("clerk", 2100), ("technician", 2500), ("engineer", 3200), ("manager", 4800))


def _employee_rows(random: Random, rows: int) -> Iterator[tuple[object, ...]]:
    for number in range(rows):
        branch = _BRANCHES[_skewed_number(random, len(_BRANCHES))]
        occupation, base = _OCCUPATIONS[_skewed_number(random, len(_OCCUPATIONS))]
        sex = "F" if random.random() < _WOMEN else "M"
        age = 18 + int(47 * (random.random() + random.random()) / 2)
        pay = base * (0.7 + age / 100 + 0.3 * random.random())
        yield f"E{number + 1:06d}", branch, occupation, sex, age, int(pay)


def _visit_rows(random: Random) -> Iterator[tuple[object, ...]]:
    for patient in count(1):
        decade = min(int(10 * random.random() ** 0.6), 9)
        age = f"[{10 * decade}-{10 * decade + 10})"
        gender = "Female" if random.random() < _WOMEN else "Male"
        for _ in range(1 + _skewed_number(random, 4)):
            days = 1 + min(_skewed_number(random, 8 + decade), 13)
            medications = 1 + int((5 + decade + days) * (random.random() + random.random()))
            returned = random.random() < _RETURNED + decade / 50
            soon = "<30" if random.random() < _SOON else ">30"
            yield f"P{patient:06d}", age, gender, days, medications, soon if returned else "NO"


_WOMEN, _RETURNED, _SOON = 0.53, 0.35, 0.25


def _customer_rows(random: Random, rows: int) -> Iterator[tuple[object, ...]]:
    for number in range(rows):
        area = _skewed_number(random, _ZIPS)
        birth_date = date(2019, 12, 31) - timedelta(days=int(365.25 * _age(random, area)))
        store = _store(random, 2019 - birth_date.year)
        first, last = _name(random, birth_date.year)
        yield (
            f"C{number + 1:07d}",
            first,
            last,
            f"{first}.{last}{number % 97}@example.com".lower(),
            _FIRST_ZIP + area,
            birth_date.isoformat(),
            _purchase_time(random, store).isoformat(sep=" "),
            f"{_amount(random, store):.2f}",
            store.name,
        )


def _skewed_number(random: Random, count: int) -> int:
    """Return a number below count, small ones far more often."""
    return int(count * random.random() ** 2.2)


def _age(random: Random, area: int) -> float:
    """Return an age in years; students gather in some areas, the old in others."""
    centre = (27, 41, 46, 52, 63)[area * 7 % 5]
    spread = sum(random.random() for _ in range(4)) - 2.0
    return min(max(centre + 22 * spread, 16), 98)


def _store(random: Random, age: int) -> _Store:
    weights = [store.weight / (1 + ((age - store.age) / 5) ** 2) for store in _STORES]
    point = random.random() * sum(weights)
    for store, weight in zip(_STORES, weights, strict=True):
        point -= weight
        if point < 0:
            return store
    return _STORES[-1]


def _name(random: Random, year: int) -> tuple[str, str]:
    generation = max(start for start in _FIRST_NAMES if start <= max(year, 1930))
    first = _FIRST_NAMES[generation][int(random.random() * 6)]
    return first, _LAST_NAMES[_skewed_number(random, len(_LAST_NAMES))]


def _purchase_time(random: Random, store: _Store) -> datetime:
    """Return a minute of 2019 within opening hours, around midday and late in the year."""
    day = date(2019, 1, 1) + timedelta(days=int(365 * random.random() ** 0.8))
    part = (random.random() + random.random()) / 2
    minutes = int(60 * (store.opens + (store.closes - store.opens) * part))
    midnight = datetime(day.year, day.month, day.day)  # noqa: DTZ001
    return midnight + timedelta(minutes=minutes)


def _amount(random: Random, store: _Store) -> float:
    return store.amount * (0.15 + 0.6 * random.random() + 1.6 * random.random() ** 4)
