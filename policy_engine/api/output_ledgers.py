"""The output ledger that a caller gives, with the head that it is expected to have."""

from pathlib import Path
from typing import TYPE_CHECKING

from policy_engine.data.keys import Key
from policy_engine.errors import RequestError

if TYPE_CHECKING:
    from policy_engine.release.output_ledger import OutputLedger


def open_output_ledger(
    ledger: "str | Path | OutputLedger | None", key: Key, head: str, argument: str
) -> "OutputLedger | None":
    """Return the ledger in a file, None without one; `argument` is what a caller gives it as.

    Where a `head` is given, another or a new ledger is not used (K033). Raises RequestError (U001)
    for a head without a ledger and for what is not a head, DataError (C013) for an unusable key.
    """
    from policy_engine.release.output_ledger import OutputLedger  # noqa: PLC0415 (slow to import)

    if ledger is None and head:
        message = "A head is expected of a ledger of answers, and none is given."
        raise RequestError.of("U001", message, f"Give its file: {argument}=FILE.")
    if ledger is None or isinstance(ledger, OutputLedger):
        return ledger
    return OutputLedger(ledger, key, head)
