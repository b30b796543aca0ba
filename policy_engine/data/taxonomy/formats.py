"""Read a taxonomy from the bytes of a file, by the ending of its name."""

from collections.abc import Callable, Mapping

from policy_engine.data.taxonomy.category_tree import read_category_tree
from policy_engine.data.taxonomy.level_table import read_level_table
from policy_engine.data.taxonomy.linked_concepts import read_json_ld
from policy_engine.data.taxonomy.problems import MAX_BYTES, Problems
from policy_engine.data.taxonomy.tree import Taxonomy
from policy_engine.errors import DataError, Place, join_names


def _read_turtle(text: str, problems: Problems) -> Taxonomy:
    from policy_engine.data.taxonomy.turtle import read_turtle  # noqa: PLC0415 (slow to import)

    return read_turtle(text, problems)


_READERS: Mapping[str, Callable[[str, Problems], Taxonomy]] = {
    ".csv": read_level_table,
    ".json": read_category_tree,
    ".jsonld": read_json_ld,
    ".ttl": _read_turtle,
}


def read_taxonomy(data: bytes, name: str) -> Taxonomy:
    """Read a taxonomy; the ending of `name` tells its format.

    `.csv`: a table of levels as ARX writes it, `.json`: the tree of the MOSAICrOWN tools,
    `.ttl` and `.jsonld`: SKOS concepts. Nothing is ever fetched. Raises DataError with every
    problem found, each with its line (CSV) or JSON pointer.
    """
    problems = Problems(name)
    for ending, reader in _READERS.items():
        if name.lower().endswith(ending):
            return reader(_decode(data, problems), problems)
    message = f"The ending of {name!r} is not known. Known are {join_names(_READERS)}."
    raise DataError.of("C004", message)


def _decode(data: bytes, problems: Problems) -> str:
    if len(data) > MAX_BYTES:
        message = f"The text is too large. It has {len(data):,} bytes. {MAX_BYTES:,} are allowed."
        problems.fail("T003", message)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        message = f"The text is not UTF-8. The byte 0x{data[error.start]:02x} is here."
        problems.fail("C008", message, "", Place("", line, column))
    if not text.strip():
        problems.fail("T002", "The taxonomy is empty.")
    return text
