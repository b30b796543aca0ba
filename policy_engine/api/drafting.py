"""A first policy for a table: proposed, tried at several settings, and written with its files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from policy_engine.api.exploring import explore_policy
from policy_engine.api.profiling import read_rows
from policy_engine.authoring.first_policy.model import (
    FirstPolicy,
    PolicyNames,
)
from policy_engine.authoring.first_policy.writing import first_policy, slug, tests_of
from policy_engine.data.atomic_file import check_destination, write_file
from policy_engine.data.places.spelling import source_name
from policy_engine.data.taxonomy import read_taxonomy
from policy_engine.engines.column_proposals import (
    Part,
    ProposedColumn,
    name_problem,
    propose_columns,
    repeats_persons,
    spread_rows,
    unique_rows,
)
from policy_engine.engines.engine import Progress, silent
from policy_engine.errors import DataError, did_you_mean
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.policy import PolicyText

if TYPE_CHECKING:
    import pyarrow as pa

    from policy_engine.api.exploration import Run

_REPEATED = (
    "many rows have the same quasi-identifiers, as if persons had several rows, and no column "
    "tells persons apart: if one does, name it as the privacyUnit, since k counts rows without one."
)
TRIED_K = (5, 10, 25)
MOST_TRIED_ROWS = 30_000
"""So many rows, spread evenly over the table, are tried at each setting."""
_AFFORDABLE, _LITTLE = 1.25, 0.1
"""A larger k is proposed where it loses at most so many times as much as the smallest one tried, or
little anyway."""


@dataclass(frozen=True)
class DraftedPolicy:
    """A first policy, the settings that were tried, and how many rows these were tried on.

    `policy.text` is the short form, `policy.taxonomies` are the files that belong beside it. `name`
    is that of the policy's file without an ending, `chosen_k` the k that it has. `unique_kept`
    counts the rows of the table that are unique on the columns kept exact, `warnings` are sentences
    on the whole table.
    """

    name: str
    policy: FirstPolicy
    runs: "tuple[Run, ...]"
    tried_rows: int
    chosen_k: int
    unique_kept: int = 0
    warnings: tuple[str, ...] = ()

    def files(self, path: Path) -> dict[Path, str]:
        """Return the texts of all files, by their paths, where the policy is to have a path."""
        folder = path.parent
        beside = {folder / name: text for name, text in self.policy.taxonomies.items()}
        text = self.policy.text
        if path.suffix not in (".yaml", ".yml"):
            text = _in_odrl(text, path)
        tests = tests_of(self.policy.names, path.name)
        return {path: text, folder / f"{self.name}-tests.yaml": tests, **beside}

    def write(self, path: str | Path, *inputs: Path, overwrite: bool = False) -> tuple[Path, ...]:
        """Write the policy, after the files beside it, and return their paths, the policy's first.

        Raises OutputError where one is among the `inputs` or exists (O001), unless `overwrite`, or
        cannot be written (O002).
        """
        files = self.files(Path(path))
        for one in files:
            check_destination(one, *inputs, overwrite=overwrite)
        for one, text in reversed(files.items()):
            write_file(one, text, *inputs, overwrite=overwrite)
        return tuple(files)


def draft_policy(
    data: str | Path | Any,
    *,
    name: str = "",
    names: PolicyNames | None = None,
    parts: Mapping[str, str] | None = None,
    k: int | None = None,
    progress: Progress = silent,
) -> DraftedPolicy:
    """Return a first policy for a table, with what it would lose at a few values of k.

    `name` is that of the policy's file without an ending, by default that of the data. `names` are
    those of its parties and assets; `parts` change what columns are proposed to be, by their names:
    `identifier`, `quasi-identifier`, `sensitive` or `left out`. A `k` is taken as it is; by default
    the largest of those tried is, that loses little more than the smallest. Nothing leaves the
    machine, and nothing is written. Raises DataError for a table that cannot be read (C002 and
    others), a column that there is not (C005), or one without a column to generalise (C010).
    """
    table = read_rows(data)
    data_name = source_name(data).partition(".")[0] if isinstance(data, str | Path) else ""
    stem, own = slug(name or data_name), names or PolicyNames()
    own = own if own.dataset else replace(own, dataset=slug(data_name or name))
    columns = _columns(table, parts or {})
    progress("trying settings", 0, len(TRIED_K))
    tried = spread_rows(table, MOST_TRIED_ROWS)
    warnings = (_REPEATED,) if repeats_persons(table, columns) else ()
    first = first_policy(columns, k or TRIED_K[0], own, stem, warnings)
    runs = _runs(first, tried, [k] if k else _candidates(table.num_rows), progress)
    chosen = k or _chosen(runs)
    policy = first_policy(columns, chosen, own, stem, warnings)
    unique = unique_rows(table, [one.name for one in columns if one.part == "sensitive"])
    return DraftedPolicy(stem, policy, runs, tried.num_rows, chosen, unique, warnings)


def propose_parts(data: str | Path | Any) -> tuple[ProposedColumn, ...]:
    """Return what each column of a table is proposed to be, and why."""
    return _columns(read_rows(data), {})


def _columns(table: "pa.Table", parts: Mapping[str, str]) -> tuple[ProposedColumn, ...]:
    for name in parts:
        if name not in table.column_names:
            message = f"The table has no column {name!r}."
            raise DataError.of("C005", message, did_you_mean(name, table.column_names))
        if parts[name] != "left out" and (problem := name_problem(name)):
            raise DataError.of("C005", f"The column {name!r} cannot be released. {problem}")
    proposed = propose_columns(table, {name: cast("Part", part) for name, part in parts.items()})
    if not any(one.part == "quasi-identifier" for one in proposed):
        message = "No column of the table can be generalised, so a policy would release nothing."
        hint = "Say which are quasi-identifiers."
        raise DataError.of("C010", message, hint)
    return proposed


def _candidates(rows: int) -> list[int]:
    """Return the values of k to try: those of which there can be a few classes, at least 2."""
    return [one for one in TRIED_K if 4 * one <= rows] or [2]


def _runs(
    policy: FirstPolicy, table: "pa.Table", candidates: Sequence[int], progress: Progress
) -> "tuple[Run, ...]":
    taxonomies = {
        name: read_taxonomy(text.encode(), name) for name, text in policy.taxonomies.items()
    }
    return explore_policy(
        PolicyText(policy.text.encode(), "policy.yaml"),
        {"": table},
        {"k": candidates},
        taxonomies=taxonomies,
        progress=progress,
    )


def _chosen(runs: "Sequence[Run]") -> int:
    """Return the largest k that loses little more than the smallest one that can be had."""
    losses = {
        int(run.setting["k"]): run.outcome.global_certainty_penalty or 0.0
        for run in runs
        if not isinstance(run.outcome, NotApplicable)
    }
    if not losses:
        return int(runs[0].setting["k"])
    least = losses[min(losses)]
    return max(k for k, loss in losses.items() if loss <= max(_AFFORDABLE * least, _LITTLE))


def _in_odrl(text: str, path: Path) -> str:
    from policy_engine.policy.collecting.files import Reading  # noqa: PLC0415
    from policy_engine.policy.converting import convert_policy  # noqa: PLC0415
    from policy_engine.policy.syntax.detection import syntax_of  # noqa: PLC0415

    return convert_policy(text, "yaml", syntax_of(path.name), path.name, Reading())
