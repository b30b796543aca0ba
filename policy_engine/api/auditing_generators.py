"""Audits of generators and of what they release: who was a member, and what is told of members."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from policy_engine.api.deciding import StatusSource, TrustSource
from policy_engine.api.loading_generators import (
    UNCERTIFIED,
    opened_generators,
    release_around,
)
from policy_engine.api.trusting import believed_beside
from policy_engine.audits.disclosure.records import check_private
from policy_engine.audits.generative.over_models import audit_runs
from policy_engine.audits.generative.planning import ModelPlan, planned_runs
from policy_engine.audits.generative.reading import GivenRecords
from policy_engine.audits.generative.result import GenerativeAudit
from policy_engine.audits.generative.settings import SAMPLES, read_settings
from policy_engine.audits.reports.audit_folder import check_output
from policy_engine.certificate.beside import find_certificate
from policy_engine.certificate.certificate import check_digest
from policy_engine.data.atomic_file import write_file
from policy_engine.engines.engine import Progress, StoredData, silent
from policy_engine.engines.synthesising.released_generator import ReleasedGenerator
from policy_engine.errors import ArgumentError, OutputError


def audit_generative(
    members: Any,
    holdout: Any,
    synthetic: Any = None,
    *,
    reference: Any = None,
    model: Any = None,
    models: int = 0,
    generator: str = "",
    label: str = "",
    privacy_unit: str = "",
    secrets: str | Sequence[str] = (),
    attacks: str | Sequence[str] = (),
    samples: int | None = None,
    seconds: float | None = None,
    space: str = "",
    allow_shift: bool = False,
    epsilon: float | None = None,
    seed: int = 0,
    out: str | Path | None = None,
    records: str | Path | None = None,
    progress: Progress = silent,
    trust: TrustSource | None = None,
    status: Sequence[StatusSource] = (),
) -> GenerativeAudit:
    """Return what synthetic records, or a generative model, disclose of the records it was made of.

    `members` are records that the generator was fitted on, `holdout` others of the same population
    that it has not seen, `synthetic` what is released. All are files of tables (CSV, Parquet) or of
    arrays (npz), or tables and frames in memory. Instead of released records, or beside them, the
    `model` is sampled: the place of a Python object as `package.module:name`, a Keras file, the
    folder of a released generator, or an object with a method `sample`, which gives arrays in the
    form of the files, or frames and lists of dicts with their columns. `reference` records are of
    the population, neither members nor of the holdout: with them, scores are calibrated. Distances
    are taken within the classes of the `label` column. `secrets` are columns whose values nobody
    should learn.

    The column `privacy_unit` tells persons apart who have several records: nobody is to be on both
    sides, and all figures are of persons, whose score is the greatest of their records'. It is not
    compared, and synthetic records need not have it.

    Several models of one generator are lists of these, of equal lengths: the n-th of each are those
    of one model. Or so many `models` are fitted for the audit, each on a random half of members and
    holdout together: `model` then has a method `fit(features, labels, seed)`, or is such a
    function, or `generator` is one of the product's own generators of tables by name.
    The figures of attacks are then means over models, with intervals over models.

    Distances of rows are taken between encoded rows, those of arrays in the `space` that is named:
    "pca-40" by default, "hog", "colour-histogram" or "pixels".

    Every attack that the material allows is made, or those named in `attacks`. So many `samples` of
    a model are drawn, 100,000 unless you say otherwise (a `generator` releases as many as it has
    learnt), for at most so many `seconds` of all models together; with `out`, what was compared is
    kept there, and the next run of the same audit goes on from it. Members and holdout of two
    distributions are refused unless you `allow_shift`. What attacks prove of epsilon is told beside
    the `epsilon` that is promised, by default that of the certificate beside the synthetic records.
    With `out`, the figures and a page are written there; with `records`, the scores of all records,
    into a file that its owner alone can read: by the first model, where there are several. Where it
    is fitted, a row is a place in members, then holdout. Under a `trust`, it has to cover released
    generators, as for `load_generator`, and the certificates beside synthetic records; generators
    may not be withdrawn by a `status`.

    Raises DataError where a file cannot be read, AuditError where members and holdout differ as
    populations (A029) or overlap (A030), records do not fit together (A031) or lack labels (A002),
    a model gives samples that cannot be used (A032) or cannot be fitted (A014), the time is too
    short (A033), models cannot be audited together (A034), or an attack is not known (A012);
    OutputError where nothing can be written; and as `load_generator` for a released generator.
    """
    if seed < 0:
        raise ArgumentError.of("U002", f"A seed is not negative. Given: {seed}.")
    attacks = (attacks,) if isinstance(attacks, str) else attacks
    secrets = (secrets,) if isinstance(secrets, str) else secrets
    model = opened_generators(model, trust, status)
    plan = ModelPlan.of(members, holdout, synthetic, model, models=models, generator=generator)
    common = {"reference": reference, "label": label, "secrets": tuple(dict.fromkeys(secrets))}
    common |= {"unit": privacy_unit}
    sides = [GivenRecords(*one, **common) for one in plan.records]
    for one in sides:
        if isinstance(one.synthetic, str | Path):
            believed_beside(one.synthetic, trust)
    promised = _promised(sides[0].synthetic) if epsilon is None else (epsilon, 0.0)
    settings = read_settings(
        attacks,
        SAMPLES if samples is None else samples,
        None if seconds is None else seconds / plan.count,
        allow_shift=allow_shift,
        space=space,
        promised=promised,
    )
    files = tuple(dict.fromkeys(path for one in sides for path in one.files))
    _check_places(files, out, records)
    with _made_folder(out):
        check_output(None if out is None else Path(out), None)
        runs = planned_runs(plan, sides, settings, samples, seed)
        audit, evidence = audit_runs(runs, plan.count, progress, None if out is None else Path(out))
        if any(isinstance(one, ReleasedGenerator) and not one.is_certified for one in plan.models):
            note = f"{UNCERTIFIED[0].upper()}{UNCERTIFIED[1:]}"
            audit = audit.model_copy(update={"warnings": (*audit.warnings, note)})
        if out is not None:
            from policy_engine.audits.reports.generative import (  # noqa: PLC0415 (for pages alone)
                write_generative,
            )

            write_generative(audit, evidence, Path(out), *files)
        if records is not None:
            write_file(Path(records), evidence.scores.as_csv(), *files, private=True)
    return audit


_OWN_FILES = ("generative.json", "generative.html", "samples.npz")


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


def _promised(synthetic: Any) -> tuple[float, float] | None:
    """Return the epsilon and the delta of the certificate beside synthetic records, if any.

    Raises CertificateError (V004) for that of other records.
    """
    if not isinstance(synthetic, str | Path):
        return None
    adjacent = find_certificate(Path(synthetic))
    if adjacent is not None:
        check_digest(adjacent[1], StoredData.from_file(Path(synthetic)))
    losses = {one.bound: one.achieved for one in adjacent[1].measurements} if adjacent else {}
    return (losses["epsilon"], losses.get("delta", 0.0)) if "epsilon" in losses else None


def _check_places(
    files: Sequence[Path], out: str | Path | None, records: str | Path | None
) -> None:
    """Raise OutputError (O001) where figures for the owner would lie in the folder of a certified
    release, or below one."""
    for place in [one for one in (out, records) if one is not None]:
        folder = release_around(Path(place))
        if folder is not None:
            message = "Figures for the owner of the original would lie with a certified "
            message += f"release, in {str(folder)!r}."
            raise OutputError.of("O001", message, "Give a place outside it.", source=str(place))
    if records is not None:
        check_private(Path(records), [], files)
        own = [] if out is None else [Path(out).resolve() / name for name in _OWN_FILES]
        if Path(records).resolve() in own:
            message = "The scores of records would be written over a file of the audit's folder."
            raise OutputError.of("O001", message, "Give another name.", source=str(records))
