"""The folder of an audit: its page, figures, splits and the scores of its records."""

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.membership.audit_splits import audit_splits
from policy_engine.audits.membership.learners import Learner
from policy_engine.audits.membership.manifest import ManifestKeeper
from policy_engine.audits.membership.record_scores import RecordScores
from policy_engine.audits.membership.records import Records
from policy_engine.audits.membership.result import MembershipAudit
from policy_engine.audits.membership.settings import Settings, attacks_of_model
from policy_engine.audits.membership.shadows import FURTHER, ONLINE, SHADOW, TARGET, seed_of
from policy_engine.audits.membership.splits import Splits
from policy_engine.audits.reports.audit import write_audit_report
from policy_engine.audits.reports.charts import need_matplotlib
from policy_engine.audits.reports.charts.tradeoff import tradeoff_chart
from policy_engine.data.atomic_file import write_file
from policy_engine.errors import OutputError

if TYPE_CHECKING:
    from policy_engine.audits.membership.tradeoff import Tradeoff

Sides = tuple[NDArray[np.int64] | None, NDArray[np.int64] | None]


def check_output(out: Path | None, report: Path | None) -> None:
    """Make the folder, and check that pictures can be drawn, before hours of training."""
    if out is None and report is None:
        return
    need_matplotlib()
    if out is None:
        return
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"The folder cannot be made: {error.strerror or error}."
        raise OutputError.of("O002", message, source=str(out)) from None


def write_audit_files(
    audit: MembershipAudit,
    out: Path | None,
    report: Path | None,
    splits: Mapping[str, NDArray[Any]],
    inputs: list[Path],
    keeper: ManifestKeeper | None = None,
    scores: RecordScores | None = None,
) -> None:
    """Write all of an audit; the figures last, so that a folder that has them has all.

    The scores of the records disclose who was trained on, and nobody else may read them.
    """
    if report is not None:
        write_audit_report(audit, report, *inputs)
    if out is None:
        return
    _remove_old(out / "audit.json", out / "splits.npz", out / "scores.csv")
    if scores is not None:
        write_file(out / "scores.csv", scores.as_csv(), *inputs, private=True)
    if splits:
        packed = io.BytesIO()
        arrays: dict[str, Any] = {**splits}
        np.savez_compressed(packed, **arrays)
        write_file(out / "splits.npz", packed.getvalue(), *inputs, private=True)
    write_audit_report(audit, out / "audit.html", *inputs)
    figures = _format_json(audit)
    write_file(out / "audit.json", figures, *inputs)
    if keeper is not None:
        keeper.set_figures(figures)


def write_tradeoff(grid: "Tradeoff", out: Path, inputs: list[Path]) -> None:
    """Write the pictures of a trade-off and, last, its figures."""
    _remove_old(out / "tradeoff.json")
    for kind in ("svg", "png"):
        write_file(out / f"tradeoff.{kind}", tradeoff_chart(grid, kind), *inputs)
    write_file(out / "tradeoff.json", _format_json(grid), *inputs)


def _remove_old(*files: Path) -> None:
    """Remove the files of an earlier audit, which do not belong to what is written now."""
    for file in files:
        try:
            file.unlink(missing_ok=True)
        except OSError as error:
            message = f"The file cannot be replaced: {error.strerror or error}."
            raise OutputError.of("O002", message, source=str(file)) from None


def _format_json(document: Any) -> str:
    return json.dumps(document.model_dump(mode="json"), indent=1, ensure_ascii=False) + "\n"


def split_arrays(
    records: Records,
    learner: Learner,
    settings: Settings,
    sides: Sides,
) -> dict[str, NDArray[Any]]:
    """Return the rows of the table that each model was trained on and asked about, and its seed."""
    attacks = attacks_of_model(settings, learner.gives)
    splits = audit_splits(records, attacks, settings, *sides)
    return {**_rows_of(splits), **_seeds_of(splits, settings.seed)}


def _rows_of(splits: Splits) -> dict[str, NDArray[Any]]:
    return {
        "target_train": splits.target_train,
        "target_test": splits.target_test,
        "shadow_train": np.array(splits.shadow_train, dtype=np.int64),
        "shadow_test": np.array(splits.shadow_test, dtype=np.int64),
        "online_train": np.array(splits.online_train, dtype=np.int64),
        "further_train": np.array(splits.further_train, dtype=np.int64),
    }


def _seeds_of(splits: Splits, seed: int) -> dict[str, NDArray[Any]]:
    roles = {
        "shadow_seeds": (SHADOW, splits.shadow_train),
        "online_seeds": (ONLINE, splits.online_train),
        "further_seeds": (FURTHER, splits.further_train),
    }
    return {
        "target_seed": _whole_numbers([seed_of(seed, TARGET)])[0],
        **{
            name: _whole_numbers([seed_of(seed, role, n) for n in range(len(rows))])
            for name, (role, rows) in roles.items()
        },
    }


def _whole_numbers(numbers: list[int]) -> NDArray[Any]:
    """Return numbers as integers, as texts where one is beyond 64 bits."""
    if max(numbers, default=0) < 1 << 63:
        return np.array(numbers, dtype=np.int64)
    return np.array(list(map(str, numbers)))
