"""Looks at the columns of a file, in a process of its own: what they are like, what they become."""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from policy_engine.api.profiling import preview_generalisation, profile_table
from policy_engine.methods.columns import QuasiIdentifier
from policy_engine.service.files.inspecting import tell


def look(path: Path, question: str) -> dict[str, Any]:
    """Return the profile of a file, or the levels of the column that is asked about, as JSON.

    Raises DataError as `profile_table` and `preview_generalisation` do.
    """
    preview = json.loads(question)
    if not preview:
        return {"columns": [asdict(one) for one in profile_table(path)]}
    column = QuasiIdentifier.model_validate(preview["column"])
    taxonomy = preview["taxonomy"].encode()
    levels = preview_generalisation(path, column, taxonomy, preview["name"])
    return {"levels": [asdict(one) for one in levels]}


if __name__ == "__main__":
    tell(lambda: look(Path(sys.argv[1]), sys.stdin.buffer.read().decode()))
