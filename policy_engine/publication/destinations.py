"""Where an output goes, given what the user calls it."""

from pathlib import Path

from policy_engine import storage
from policy_engine.catalog import FORMATS, SPARK_FORMATS, TABLE, format_of, with_ending
from policy_engine.errors import OutputError
from policy_engine.storage import Place, writing
from policy_engine.terms import local_name


def destination(output: Place, asset: str, like: str, *, as_folder: bool = False) -> Place:
    """Return the place for an output: the path itself, or one in it where it is a folder.

    A path that ends like data is one; any other without a suffix is a folder, in which the
    output is named after the asset and has the format of the input (`like`; CSV for tables in
    memory). With `as_folder` the output is itself to be a folder of files, as Spark writes
    them: its name ends like one of its formats (`like`; Parquet for frames and tables). Raises
    DataError (C004) for a suffix that is not known, OutputError (O002) for a table's name.
    """
    if str(output).startswith(TABLE):
        if as_folder:
            return output
        message = f"The output {str(output)!r} is a table, which only the Spark engine writes."
        raise OutputError.of("O002", message, 'Give engine="spark", or a file.')
    with writing(output):
        is_folder = storage.is_folder(output)
    formats = SPARK_FORMATS if as_folder else FORMATS
    name = storage.name(output)
    if with_ending(name, formats) and (as_folder or not is_folder):
        return output
    if not is_folder and Path(name).suffix:
        format_of(Path(name), formats)
    kind = like if like in formats else ("parquet" if as_folder else "csv")
    return storage.join(output, f"{local_name(asset)}.{kind}")


def model_destination(output: Place, asset: str) -> Place:
    """Return the folder for a model: in the one given, named after the asset.

    Raises OutputError (O002) for what is no place for a folder.
    """
    name = storage.name(output)
    if str(output).startswith(TABLE) or storage.is_remote(output) or Path(name).suffix:
        message = f"A model is released into a folder of this machine. Given: {str(output)!r}."
        raise OutputError.of("O002", message, "Give the path of a folder.")
    return storage.join(output, local_name(asset))
