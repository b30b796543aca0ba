"""The location of an output, from what the user gives."""

from collections.abc import Sequence
from pathlib import Path

from policy_engine.data import storage
from policy_engine.data.catalog import TABLE, Catalog, parse_location
from policy_engine.data.places.database_outputs import output_place
from policy_engine.data.places.patterns import files_at
from policy_engine.data.places.spelling import DATABASE_FILES, is_database, redacted, scheme
from policy_engine.data.storage import Location, write_errors
from policy_engine.data.table_files import (
    FORMATS,
    SPARK_FORMATS,
    check_spark_format,
    file_format,
    match_format,
)
from policy_engine.errors import OutputError, join_names
from policy_engine.plan.plan import Plan
from policy_engine.release.staging import CERTIFICATE, format_names, unknown_names
from policy_engine.terms import local_name


def destination(output: Location, asset: str, like: str, *, as_folder: bool = False) -> Location:
    """Return the location for an output: the given path, or a file in it if it is a folder.

    A path with the suffix of a data format is a file; any other path without a suffix is a folder,
    in which the output is named after the asset and has the format of the input (`like`; CSV for
    tables in memory). With `as_folder` the output is itself a folder of files, as Spark writes
    them, and its name ends like one of its formats (`like`; Parquet for frames and tables). Raises
    DataError (C004) for an unknown suffix, PlanError (M009) for one that Spark has not, OutputError
    (O002) for the name of a table.
    """
    if str(output).startswith(TABLE):
        if as_folder:
            return output
        message = f"The output {str(output)!r} is a table, which only the Spark engine writes."
        raise OutputError.of("O002", message, 'Give engine="spark", or a file.')
    if is_database(output):
        return _database_destination(output, is_spark=as_folder)
    if as_folder:
        check_spark_format(str(output))
    with write_errors(output):
        is_folder = storage.is_folder(output)
    formats = SPARK_FORMATS if as_folder else FORMATS
    name = storage.name(output)
    if match_format(name, formats) and (as_folder or not is_folder):
        return output
    if not is_folder and Path(name).suffix:
        file_format(Path(name), formats)
    kind = like if like in formats else ("parquet" if as_folder else "csv")
    return storage.join(output, f"{local_name(asset)}.{kind}")


def _database_destination(output: str, *, is_spark: bool) -> Location:
    """Return the place of an output in a database. Raises OutputError (O002) for one that is only
    read, and for an engine that writes to none."""
    kinds = join_names(DATABASE_FILES)
    if scheme(output) not in DATABASE_FILES:
        message = (
            f"No release is written to {redacted(output)!r}. Databases for releases are {kinds}."
        )
        raise OutputError.of("O002", message, "Write a file of DuckDB, and copy its table.")
    if is_spark:
        message = f"The Spark engine does not write to {output!r}."
        raise OutputError.of("O002", message, "Use the local engine, or a table of its catalog.")
    output_place(output)
    return output


def model_destination(output: Location, asset: str) -> Location:
    """Return the folder for a model: inside the given one, named after the asset.

    Raises OutputError (O002) if a folder cannot be there.
    """
    name, is_elsewhere = storage.name(output), storage.is_remote(output) or is_database(output)
    if str(output).startswith(TABLE) or is_elsewhere or Path(name).suffix:
        message = f"A model must be released into a local folder. Given: {str(output)!r}."
        raise OutputError.of("O002", message, "Give the path of a folder.")
    return storage.join(output, local_name(asset))


def bucket_destination(output: Location, asset: str, like: str) -> Location:
    """Return the folder for the two tables of a release by buckets.

    Its name ends like the format of its files: the given one, or inside another folder, named after
    the asset in the format of the input (`like`; CSV for tables in memory). Raises DataError (C004)
    for an unknown suffix, OutputError (O002) for a table of a catalog or another machine.
    """
    name, is_elsewhere = storage.name(output), storage.is_remote(output) or is_database(output)
    if str(output).startswith(TABLE) or is_elsewhere:
        message = f"A release by buckets is written into a local folder. Given: {str(output)!r}."
        raise OutputError.of("O002", message, "Give the path of a folder.")
    if match_format(name, FORMATS):
        return output
    with write_errors(output):
        is_folder = storage.is_folder(output)
    if not is_folder and Path(name).suffix:
        file_format(Path(name), FORMATS)
    return storage.join(output, f"{local_name(asset)}.{like if like in FORMATS else 'csv'}")


def plan_destination(output: str | Path, plan: Plan) -> Location:
    """Return the location of an output, given its path or the path of a folder for it.

    Raises OutputError (O002) for an empty path, which would mean the current folder.
    """
    if not str(output).strip():
        message = f"The path of the output is empty. Given: {str(output)!r}."
        raise OutputError.of("O002", message, "The current folder is '.'.")
    asset, like = plan.publish.asset, plan.reads[0].format
    if plan.releases_model:
        return model_destination(parse_location(output), asset)
    if plan.anonymize and plan.anonymize.is_in_buckets:
        return bucket_destination(parse_location(output), asset, like)
    return destination(parse_location(output), asset, like, as_folder=plan.engine == "spark")


def plan_destinations(plans: Sequence[Plan], output: str | Path) -> list[Location]:
    """Return the locations of outputs. Raises OutputError (O002) if they cannot share a folder."""
    files = [plan_destination(output, plan) for plan in plans]
    if len(files) == 1:
        return files
    assets = [plan.publish.asset for plan in plans]
    names = {storage.name(file).lower() for file in files}
    models = [plan.publish.asset for plan in plans if plan.releases_model]
    problem = ""
    if any(file == parse_location(output) for file in files):
        problem = f"must go into a folder. Given: {str(output)!r}"
    elif models:
        problem = f"cannot share a folder: the model {models[0]!r} needs one of its own"
    elif len(names) < len(files):
        problem = f"would have the same name in the folder: {join_names(sorted(names))}"
    if problem:
        message = f"The outputs {join_names(assets)} {problem}."
        raise OutputError.of("O002", message, "Choose one of them: asset=IRI.")
    return files


def check_not_input(output: Location, catalog: Catalog) -> None:
    """Refuse to write an output over one of its inputs, even if it may be overwritten."""
    for dataset in catalog.datasets:
        if any(storage.is_same(output, one) for one in files_at(dataset.location)):
            message = f"The output {str(output)!r} is the input itself."
            raise OutputError.of("O001", message, "Give another path.")


def check_model_folder(model: Location, report: str | Path | None) -> None:
    """Raise if a model would not be alone with its certificate: such a release is not valid.

    OutputError (O001) if its folder contains anything else, (O002) for a report inside it.
    """
    folder = storage.parent(model)
    with storage.write_errors(folder):
        released = (CERTIFICATE, storage.name(model))
        unexpected = unknown_names(folder, released) if storage.is_folder(folder) else ()
    if unexpected:
        message = f"A model must be released into a folder of its own. {str(folder)!r} contains "
        raise OutputError.of(
            "O001", f"{message}{format_names(unexpected)}.", "Give the path of a new folder."
        )
    folder_path = Path(folder).resolve()
    if report is not None and folder_path in (
        Path(report).resolve(),
        *Path(report).resolve().parents,
    ):
        message = f"The report {str(report)!r} is only for the owner, but would be in the folder "
        message += "of the released model."
        raise OutputError.of("O002", message, "Give a folder outside it: report=DIR.")
