"""The gallery: policies to start from, each with data that anybody can get and what to do next."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from policy_engine.data import samples
from policy_engine.data.atomic_file import check_free, write_file
from policy_engine.errors import InternalError, RequestError, did_you_mean, join_names

_ADULT = "http://example.com/Adult"
_ADULT_COLUMNS = (
    "age,workclass,fnlwgt,education,education-num,marital-status,occupation,relationship,race,sex,"
    "capital-gain,capital-loss,hours-per-week,native-country,income"
)
_FETCH_ADULT = (
    "curl -sL https://archive.ics.uci.edu/ml/machine-learning-databases/adult/adult.data "
    f"| sed -e 's/, /,/g' -e '/^$/d' -e '1i {_ADULT_COLUMNS}' > adult.csv"
)
_FETCH_DIABETES = (
    "curl -sLo diabetes.zip https://archive.ics.uci.edu/static/public/296/data.zip "
    "&& unzip -p diabetes.zip '*diabetic_data.csv' > diabetes.csv"
)
_FETCH_CENSUS = (
    'Rscript -e \'data(CASCrefmicrodata, package = "sdcMicro"); '
    'write.csv(CASCrefmicrodata, "census.csv", row.names = FALSE)\''
)


@dataclass(frozen=True)
class GalleryExample:
    """A policy of the gallery, by the name of its file without an ending.

    `data` is the file of its data, which `make` makes up from a number of rows and a seed, or
    `fetch`, a command of a shell, gets. `commands` are what to do with both, and `extra` names what
    has to be installed for that; `beside` are files that the policy needs.
    """

    name: str
    title: str
    dataset: str
    data: str
    commands: tuple[str, ...]
    make: Callable[[int, int], str] | None = None
    fetch: str = ""
    extra: str = ""
    beside: tuple[str, ...] = ()

    @property
    def policy(self) -> str:
        """The name of the policy's file."""
        return f"{self.name}.jsonld"


def _apply(name: str, dataset: str, data: str, output: str, more: str = "") -> str:
    line = f"policy-engine apply {name}.jsonld --data {dataset}={data} --output {output}"
    return f"{line} {more}".rstrip()


def _of_adult(
    name: str, title: str, output: str, *, more: str = "", extra: str = ""
) -> GalleryExample:
    command = _apply(name, _ADULT, "adult.csv", output, more)
    return GalleryExample(name, title, _ADULT, "adult.csv", (command,), None, _FETCH_ADULT, extra)


def _of_census(name: str, title: str, extra: str = "") -> GalleryExample:
    dataset = "http://example.com/Census"
    command = _apply(name, dataset, "census.csv", "release")
    return GalleryExample(
        name, title, dataset, "census.csv", (command,), None, _FETCH_CENSUS, extra
    )


def _of_diabetes(name: str, title: str) -> GalleryExample:
    dataset = "http://example.com/Encounters"
    command = _apply(name, dataset, "diabetes.csv", "release")
    return GalleryExample(name, title, dataset, "diabetes.csv", (command,), None, _FETCH_DIABETES)


_CUSTOMER, _VISITS = "http://example.com/Customer", "http://example.com/Visits"
_EMPLOYEES = "http://example.com/Employees"
_MAY_READ = (
    "policy-engine decide --policy customer.jsonld --certificate release --assignee "
    "http://org/user --action read --target http://example/anonCustomer --purpose marketing"
)
_QUERY = "SELECT branch, COUNT(*) AS n, AVG(pay) AS pay FROM Employees GROUP BY branch"
_ASK = (
    f"policy-engine query '{_QUERY}' --policy research-centre.jsonld --data "
    f"{_EMPLOYEES}=employees.csv --assignee http://example.com/org/University "
    "--purpose dpv:AcademicResearch --ledger answers.ledger"
)

GALLERY: Final = (
    GalleryExample(
        "customer",
        "k-anonymity and l-diversity by ranges, then a decision on who may read the result",
        _CUSTOMER,
        "customers.csv",
        (_apply("customer", _CUSTOMER, "customers.csv", "release"), _MAY_READ),
        samples.customer,
    ),
    GalleryExample(
        "customer-close",
        "t-closeness as well, persons counted, prefixes, calendars and a taxonomy",
        _CUSTOMER,
        "customers.csv",
        (_apply("customer-close", _CUSTOMER, "customers.csv", "release"),),
        samples.customer,
        beside=("store-categories.csv",),
    ),
    GalleryExample(
        "visits-statistics",
        "tables under differential privacy, charged to a budget",
        _VISITS,
        "visits.csv",
        (
            _apply(
                *("visits-statistics", _VISITS, "visits.csv", "statistics/statistics.csv"),
                "--ledger budget.sqlite",
            ),
            "policy-engine budget show --ledger budget.sqlite",
        ),
        samples.visits,
        extra="dp",
    ),
    GalleryExample(
        "research-centre",
        "queries whose answers leave only if they disclose nobody, against earlier answers",
        _EMPLOYEES,
        "employees.csv",
        (_ASK, "policy-engine ledger show answers.ledger"),
        samples.employees,
    ),
    _of_adult("adult", "k-anonymity of a well-known table, to compare with other tools", "release"),
    _of_adult("permuted-adult", "sensitive values permuted within classes", "release"),
    _of_adult(
        *(
            "guided-adult",
            "a table for models: classes by what a model predicts, and a model of it",
        ),
        "model",
        more="--report audit",
        extra="audits",
    ),
    _of_adult(
        *("model-release", "a model that is released only if attacks on it fail", "model"),
        more="--report audit",
        extra="audits",
    ),
    _of_adult(
        "synthetic-release",
        "synthetic rows, attacked before they are released",
        "release",
        extra="audits",
    ),
    _of_adult(
        "generator-release",
        "a generator of synthetic rows, released as a model",
        "release",
        extra="audits",
    ),
    _of_diabetes("diabetes", "l-diversity in persons, where each has several rows"),
    _of_diabetes("diabetes-buckets", "exact columns, and sensitive values by bucket (Anatomy)"),
    _of_census("census-masked", "numbers rounded, microaggregated, swapped and shuffled"),
    _of_census("census-bounded", "masking with a bound on who may be found again", "audits"),
)
"""The policies of the gallery, simple ones first."""


def example_named(name: str) -> GalleryExample:
    """Return a policy of the gallery by its name. Raises RequestError (U001) for another name."""
    for one in GALLERY:
        if one.name == name:
            return one
    names = [one.name for one in GALLERY]
    hint = did_you_mean(name, names) or f"There are {join_names(names)}."
    raise RequestError.of("U001", f"There is no example {name!r}. {hint}")


def write_example(
    example: GalleryExample, folder: Path, rows: int, *, overwrite: bool = False
) -> tuple[Path, ...]:
    """Write a policy of the gallery, what it needs, and its data where these are made up.

    Returns the paths, the policy's first. Raises OutputError where a file exists (O001), unless
    `overwrite`, or cannot be written (O002).
    """
    source = _folder()
    names = (example.policy, *example.beside)
    texts: dict[Path, bytes] = {folder / name: (source / name).read_bytes() for name in names}
    if example.make is not None:
        texts[folder / example.data] = example.make(rows, 1).encode()
    for path in texts if not overwrite else ():
        check_free(path)
    folder.mkdir(parents=True, exist_ok=True)
    for path, text in texts.items():
        write_file(path, text, overwrite=overwrite)
    return tuple(texts)


def _folder() -> Path:
    """Return the folder of the policies: inside an installed package, beside it in a clone."""
    package = Path(__file__).parents[1]
    for folder in (package / "policies", package.parent / "policies"):
        if folder.is_dir():
            return folder
    raise InternalError.of("X001", "The policies of the gallery are not installed.")
