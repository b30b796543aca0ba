"""The process that a fitted model is opened in: it answers what its parent asks, and ends.

Messages go through what were standard input and output. What the model itself prints goes to
standard error, so that it cannot be taken for an answer.
"""

import os
import struct
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import IO, Any

from numpy.typing import NDArray

from policy_engine.audits.membership.fitted.blocks import block_of, pack, unpack
from policy_engine.audits.membership.fitted.kinds import LIBRARIES, FittedFile
from policy_engine.audits.membership.fitted.library_calls import ask_in_process, call_library, fit
from policy_engine.audits.membership.fitted.loading import OpeningOptions, load
from policy_engine.audits.membership.fitted.model import AskableModel
from policy_engine.audits.membership.installed import are_installed
from policy_engine.errors import PolicyEngineError

LENGTH = struct.Struct(">Q")
_Reply = tuple[dict[str, Any], dict[str, NDArray[Any]]]


def main() -> None:
    """Open the model that the first message names, and answer every other."""
    incoming, outgoing = _take_over_streams()
    messages = _messages(incoming)
    header, _ = next(messages)
    models: dict[str, AskableModel] = {}

    def opened() -> _Reply:
        file = FittedFile(Path(header["path"]), header["kind"], header["digest"])
        opening = OpeningOptions(header["trust_pickle"], header["model_class"])
        failure = f"The file cannot be opened by {LIBRARIES[file.kind]}"
        models["target"], notes = call_library(lambda: load(file, opening), "A014", failure)
        return _describe(models["target"], failure, notes)

    _answer(outgoing, opened)
    for request, arrays in messages:
        if not models:
            return
        _answer(outgoing, partial(_reply, models, request, arrays))


def _reply(
    models: dict[str, AskableModel], request: dict[str, Any], arrays: dict[str, NDArray[Any]]
) -> _Reply:
    """Answer as the target or as its retrained copy, or retrain that copy."""
    if request["do"] == "ask":
        return {}, dict(ask_in_process(models[request["model"]], block_of(arrays)))
    models.pop("like", None)
    labels = arrays.pop("labels")
    models["like"] = fit(models["target"], block_of(arrays), labels, request["seed"])
    return _describe(models["like"], "The model cannot be retrained")


def _describe(model: AskableModel, failure: str, notes: tuple[str, ...] = ()) -> _Reply:
    facts = asdict(call_library(lambda: model.description, "A014", failure))
    return {"about": facts | {"notes": notes}}, {}


def _take_over_streams() -> tuple[IO[bytes], IO[bytes]]:
    """Return standard input and output, for messages alone from now on."""
    with suppress(OSError):  # the first to be stopped where the machine runs out of memory
        Path("/proc/self/oom_score_adj").write_text("1000")
    incoming, outgoing = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    return incoming, outgoing


def _messages(incoming: IO[bytes]) -> Iterator[_Reply]:
    while len(length := incoming.read(LENGTH.size)) == LENGTH.size:
        yield unpack(incoming.read(LENGTH.unpack(length)[0]))


def _answer(outgoing: IO[bytes], does: Callable[[], _Reply]) -> None:
    try:
        header, arrays = does()
        message = pack({**header, "settled": are_installed([*sys.modules.values()])}, arrays)
    except PolicyEngineError as error:
        problems = [(one.code, one.message, one.hint) for one in error.problems]
        kind = type(error).__name__
        message = pack({"error": kind, "problems": problems, "source": error.source}, {})
    outgoing.write(LENGTH.pack(len(message)) + message)
    outgoing.flush()


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)  # libraries that hang while they are taken down do not matter any more
