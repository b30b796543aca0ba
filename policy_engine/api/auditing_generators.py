"""Audits of generators and of what they release: who was a member, and what is told of members."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from policy_engine.audits.disclosure.records import check_private
from policy_engine.audits.generative.auditing import audit_generator
from policy_engine.audits.generative.drawing import (
    DrawnModel,
    drawn_table,
    draws_tables,
    name_of,
)
from policy_engine.audits.generative.reading import GivenRecords, read_material
from policy_engine.audits.generative.result import GenerativeAudit
from policy_engine.audits.generative.settings import SAMPLES, GenerativeSettings, read_settings
from policy_engine.audits.membership.records import source_table
from policy_engine.audits.reports.audit_folder import check_output
from policy_engine.audits.reports.generative import write_generative
from policy_engine.certificate.beside import find_certificate
from policy_engine.data.atomic_file import write_file
from policy_engine.engines.engine import Progress, silent
from policy_engine.errors import AuditError, OutputError


def audit_generative(
    members: Any,
    holdout: Any,
    synthetic: Any = None,
    *,
    reference: Any = None,
    model: Any = None,
    label: str = "",
    secrets: str | Sequence[str] = (),
    attacks: str | Sequence[str] = (),
    samples: int = SAMPLES,
    seconds: float | None = None,
    space: str = "",
    allow_shift: bool = False,
    epsilon: float | None = None,
    seed: int = 0,
    out: str | Path | None = None,
    records: str | Path | None = None,
    progress: Progress = silent,
) -> GenerativeAudit:
    """Return what synthetic records, or a generative model, disclose of the records it was made of.

    `members` are records that the generator was fitted on, `holdout` others of the same population
    that it has not seen, `synthetic` what is released. All are files of tables (CSV, Parquet) or of
    arrays (npz), or tables and frames in memory. Instead of released records, or beside them, the
    `model` is sampled: the place of a Python object as `package.module:name`, a Keras file, or an
    object with a method `sample`, which gives arrays in the form of the files, or frames and lists
    of dicts with their columns. `reference` records are of the population, neither members nor of
    the holdout: with them, scores are calibrated. Distances are taken within the
    classes of the `label` column. `secrets` are columns whose values nobody should learn.

    Distances of rows are taken between encoded rows, those of arrays in the `space` that is named:
    "pca-40" by default, "hog", "colour-histogram" or "pixels".

    Every attack that the material allows is made, or those named in `attacks`. So many `samples` of
    a model are drawn, for at most so many `seconds`; with `out`, what was compared is kept there,
    and the next run of the same audit goes on from it. Members and holdout of two distributions are
    refused unless you `allow_shift`. What attacks prove of epsilon is told beside the `epsilon`
    that is promised, by default that of the certificate beside the synthetic records. With `out`,
    the figures and a page are written there; with `records`, the scores of all records, into a file
    that its owner alone can read.

    Raises DataError where a file cannot be read, AuditError where members and holdout differ as
    populations (A029) or overlap (A030), records do not fit together (A031) or lack labels (A002),
    a model gives samples that cannot be used (A032), the time is too short (A033), or an attack is
    not known (A012); OutputError where nothing can be written.
    """
    promised = _promised(synthetic) if epsilon is None else (epsilon, 0.0)
    attacks = (attacks,) if isinstance(attacks, str) else attacks
    secrets = (secrets,) if isinstance(secrets, str) else secrets
    settings = read_settings(
        attacks, samples, seconds, allow_shift=allow_shift, space=space, promised=promised
    )
    sides = GivenRecords(members, holdout, synthetic, reference, label, tuple(secrets))
    if synthetic is None and model is None:
        message = "Nothing is given that the generator made."
        raise AuditError.of("A031", message, "Give synthetic records, or a model, or both.")
    _check_places(sides, out, records)
    with _made_folder(out):
        check_output(None if out is None else Path(out), None)
        if isinstance(model, str | Path):
            from policy_engine.audits.generative.models.loading import load_model  # noqa: PLC0415

            model = load_model(str(model))
        sides, model, settings = _with_drawn_rows(sides, model, settings, seed)
        read = read_material(sides, model, seed)
        state = None if out is None else Path(out) / "samples.npz"
        audit, evidence = audit_generator(read, settings, progress, state)
        if out is not None:
            write_generative(audit, evidence, Path(out), *sides.files)
        if records is not None:
            write_file(Path(records), evidence.scores.as_csv(), *sides.files, private=True)
    return audit


@contextmanager
def _made_folder(out: str | Path | None) -> Iterator[None]:
    """Remove folders that were made for the output, where nothing was written into them."""
    places = [] if out is None else [Path(out), *Path(out).parents]
    new = [one for one in places if not one.exists()]
    try:
        yield
    except BaseException:
        for one in new:
            with suppress(OSError):  # what has files in it stays
                one.rmdir()
        raise


def _with_drawn_rows(
    sides: GivenRecords, model: Any, settings: GenerativeSettings, seed: int
) -> tuple[GivenRecords, Any, GenerativeSettings]:
    """Return what is audited, with rows of a model that makes tables in the place of a file."""
    members = sides.members
    is_arrays = isinstance(members, str | Path) and str(members).lower().endswith(".npz")
    if model is None or is_arrays:
        return sides, model, settings
    columns = source_table(members).column_names
    if not draws_tables(model, columns, seed, has_classes=bool(sides.label)):
        return sides, model, settings
    if sides.synthetic is not None:
        message = (
            "A model that makes tables is audited by its own rows, and released ones are given."
        )
        raise AuditError.of("A032", message, "Audit one at a time.")
    made = drawn_table(model, columns, settings.samples, settings.seconds, seed)
    return (
        replace(sides, synthetic=made),
        DrawnModel(name_of(model)),
        replace(settings, seconds=None),
    )


def _promised(synthetic: Any) -> tuple[float, float] | None:
    """Return the epsilon and the delta of the certificate beside synthetic records, if any."""
    if not isinstance(synthetic, str | Path):
        return None
    adjacent = find_certificate(Path(synthetic))
    losses = {one.bound: one.achieved for one in adjacent[1].measurements} if adjacent else {}
    return (losses["epsilon"], losses.get("delta", 0.0)) if "epsilon" in losses else None


def _check_places(files: GivenRecords, out: str | Path | None, records: str | Path | None) -> None:
    """Raise OutputError (O001) where figures for the owner would lie in the folder of a certified
    release, or below one."""
    for place in [one for one in (out, records) if one is not None]:
        path = Path(place).resolve()
        for folder in (path, *path.parents):
            if any(folder.glob("*certificate.jsonld")):
                message = "Figures for the owner of the original would lie with a certified "
                message += f"release, in {str(folder)!r}."
                raise OutputError.of("O001", message, "Give a place outside it.", source=str(place))
    if records is not None:
        check_private(Path(records), [], files.files)
