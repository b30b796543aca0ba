"""The five verbs, from the text of a policy to an answer."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, get_args

from policy_engine import storage
from policy_engine.answering import (
    Proof,
    attest_output,
    decide_request,
    decider,
    fulfil_duty,
    list_duties,
    proofs,
    query_data,
    time_at,
    world_at,
)
from policy_engine.arguments import checked
from policy_engine.attestation import Attestation
from policy_engine.catalog import (
    MEMORY,
    SPARK_FORMATS,
    TABLE,
    Catalog,
    find_taxonomies,
    is_file,
    make_catalog,
    missing_columns,
    no_column,
    place_of,
    with_ending,
)
from policy_engine.certificate import (
    FILE_NAME,
    Certificate,
    Certified,
    certify,
    check,
    check_digest,
    load_certificate,
    lost_rows,
    proven,
    read_certificate,
)
from policy_engine.decision import World, read_request, read_world
from policy_engine.engines.engine import Engine, Progress, silent
from policy_engine.errors import (
    CertificateError,
    DataError,
    OutputError,
    PlanError,
    PolicyEngineError,
)
from policy_engine.estimates import NotApplicable
from policy_engine.launch import Launcher, check_limit, launched
from policy_engine.ledger import Ledger
from policy_engine.lineage import MadeBy, Upstream
from policy_engine.making import Acting, Asked, asked_by, asking_of
from policy_engine.modelling import check_plannable, chosen
from policy_engine.owners import OwnersSource
from policy_engine.plan import Anonymize, CellStyle, EngineName, Plan, make_plan
from policy_engine.policy import (
    USUAL,
    Limits,
    Policy,
    Reading,
    Source,
    VocabularySource,
    load_policies,
    load_policy,
)
from policy_engine.policy.datasets import named_data
from policy_engine.publication import (
    Publication,
    TablePublication,
    destination,
    model_destination,
    publication,
    renew,
)
from policy_engine.record import Record, load_record, named, opening
from policy_engine.recording import RecordFile
from policy_engine.release import Release, run_plan
from policy_engine.renewal import check_made_so
from policy_engine.sources import upstream_of
from policy_engine.staging import check_name, check_settled, settled, strangers, told
from policy_engine.storage import Place

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from policy_engine.comparison import Comparison
    from policy_engine.effort import Effort
    from policy_engine.engines.spark.engine import SparkEngine
    from policy_engine.exploration import Run
    from policy_engine.model_release import Cost
    from policy_engine.suggestion import Suggestion


@dataclass(frozen=True, repr=False)
class VerifiedRelease:
    """A release whose bounds were measured on the output and hold.

    The `certificate` is for everybody, the `record` for the owner alone: it opens what the
    certificate commits to, and is lost with this value unless it is written (`record=FILE`).
    `path` is where the release was written, None where it is in memory alone.
    """

    release: Release
    certificate: Certificate
    record: Record = field(repr=False)
    path: Path | str | None
    _engine: Engine = field(repr=False)

    def __repr__(self) -> str:
        made = f"{self.plan.publish.asset}, {self.certificate.rows_out:,} rows"
        where = "" if self.path is None else f", {str(self.path)!r}"
        return f"<VerifiedRelease {made}: {proven(self.certificate) or 'no bounds'}{where}>"

    def _repr_html_(self) -> str:
        from policy_engine.report.certificate import certificate_html  # noqa: PLC0415 (notebooks)

        return certificate_html(self.certificate)

    @property
    def table(self) -> Any:
        """The output: its cells as text, the columns that were kept by their types.

        A pyarrow table; of a Spark engine its frame, as long as its session lasts.
        """
        self._check_table()
        return self._engine.output(self.path)

    @property
    def plan(self) -> Plan:
        """What was done."""
        return self.release.plan

    def to_pandas(self) -> "pd.DataFrame":
        """Return the output as a pandas frame. Raises DataError (C011) without pandas."""
        _need("pandas")
        frame: pd.DataFrame = self._arrow().to_pandas()
        return frame

    def to_polars(self) -> "pl.DataFrame":
        """Return the output as a polars frame. Raises DataError (C011) without polars."""
        _need("polars")
        import polars as pl  # noqa: PLC0415 (only where it is asked for)

        frame = pl.from_arrow(self._arrow())
        assert isinstance(frame, pl.DataFrame)  # noqa: S101 (a table, never a series)
        return frame

    def _check_table(self) -> None:
        """Refuse a model: the table that it learnt from is held, and is no part of the release."""
        if self.plan.train:
            raise DataError.of("C010", "A model was released, and a model is no table.")

    def _arrow(self) -> "pa.Table":
        table = self.table
        return table.toArrow() if self.plan.engine == "spark" else table

    @checked
    def write(
        self,
        path: str | Path,
        *,
        overwrite: bool = False,
        wait: bool = False,
        record: str | Path | None = None,
    ) -> "VerifiedRelease":
        """Write the output and its certificate, measured again on what was written.

        Returns the release as it now lies, with a record of its own, which goes into the file
        `record`. While another run makes a release in the same folder, it is waited for with
        `wait`. Raises OutputError where a path is taken or not writable, DataError (C010) for a
        model; nothing is visible then.
        """
        self._check_table()
        file = _destination(path, self.plan)
        kept = _record_file(record, file, path, overwrite=overwrite)
        session = self._engine.session
        with publication(file, session, overwrite=overwrite, wait=wait) as place:
            stored = self._engine.write(self._engine.written, place.staged)
            written = self.release.model_copy(update={"output": stored})
            return _published(written, self._engine, place, kept)


def check_policy(
    source: Source,
    contexts: Mapping[str, Any] | None = None,
    parents: Sequence[Source] = (),
    limits: Limits = USUAL,
    vocabularies: Sequence[VocabularySource] = (),
) -> Policy:
    """Return a policy that can be read and, where it asks for something of data, planned."""
    policy = load_policy(source, contexts, parents, limits, vocabularies)
    check_plannable(policy)
    return policy


def apply_policy(
    policy: Source,
    data: Mapping[str, Any],
    output: str | Path | None = None,
    *,
    overwrite: bool = False,
    wait: bool = False,
    progress: Progress = silent,
    contexts: Mapping[str, Any] | None = None,
    taxonomies: Mapping[str, Any] | None = None,
    key: str | Path | bytes | None = None,
    cells: CellStyle = "text",
    engine: "EngineName | SparkEngine" = "local",
    parents: Sequence[Source] = (),
    limits: Limits = USUAL,
    vocabularies: Sequence[VocabularySource] = (),
    report: str | Path | None = None,
    seed: int | None = None,
    record: str | Path | None = None,
    attempts: str | Path | None = None,
    allow_pickle: bool = False,
    owners: OwnersSource | None = None,
    time_limit: float | None = None,
    certificates: Sequence[Proof] = (),
    party: str | None = None,
    purpose: str = "",
    policies: Sequence[Source] = (),
    world: World | None = None,
    log: str | Path | None = None,
    log_key: str | Path | bytes | None = None,
) -> VerifiedRelease:
    """Make of data what a policy asks, prove it on the output, and release it.

    An anonymised table, or a model trained on one, or on the data themselves, once it is audited.

    `data` maps dataset IRIs to paths or tables, `taxonomies` the names that the policy has for
    them to paths or `Taxonomy` values; those that lie beside the policy are found by
    themselves. `contexts`, `parents`, `limits` and `vocabularies` are as in `Reading`. `key`
    makes pseudonyms: bytes, or the path of a file that holds them. With an `output`, a file or a
    folder, the release is written there beside its certificate; else it stays in memory. One run
    at a time makes a release in a folder: a second is waited for with `wait`, else refused. The
    `engine` is "local", "spark" or a SparkEngine, which takes frames of Spark for tables, and
    locations wherever Spark reads and writes; its output is a folder of files. Into the folder
    `report` goes all that the audits of the policy found. A `seed` makes audits repeatable; it
    is then to be kept secret. The file `record`, for the owner alone, opens what the certificate
    commits to; else only the release that is returned can. Every model that is attacked is kept
    as an attempt, released or not, in the folder `attempts` (see `Ledger`), and judged with those
    before it; from a seed from which it was refused before it is not made again, unless all that
    was found is asked for in a `report`. A model of scikit-learn is written by skops or, with
    `allow_pickle`, by joblib, whose files run code when they are loaded. Where it is said who
    `owners` are (see `load_owners`), the policy's assigner has to own what it transforms.
    After a `time_limit` in seconds, the search for classes ends on the local engine with the best
    that was found by then; the certificate says so, and every bound holds all the same. Where
    the input is itself a release, its certificate is the one that lies beside it, or among
    `certificates`: the input has to be what it certifies, and the new certificate names it.
    The owner acts or, where one is named, a `party`, for a `purpose`: whether they may anonymize
    the input, or train on it, is then decided as reading is, by all that the policy's text holds
    and other `policies`, in a state of the `world`, and by what stands in a `log`, to which that
    is added before anything is made. DeniedError (D007) says why they may not.
    Raises a PolicyEngineError of the stage that found a problem; then nothing is written but,
    where an attack reached more than is allowed, the report and a certificate that says so.
    """
    acting = Acting(party, purpose, policies, world, log, log_key)
    reading = Reading(contexts, parents, limits, vocabularies)
    found = asked_by(policy, reading, owners, data, acting)
    read, held = found.policy, proofs(certificates)
    if cells not in get_args(CellStyle):
        message = f"cells is not allowed to be {cells!r}. Allowed is 'text' or 'bounds'."
        raise PlanError.of("M003", message)
    check_limit(time_limit, engine)
    with launched(engine, keep=output is None) as launcher:
        made_by = _made_by(found, launcher, data, held)
        planned = _planned(read, launcher, data, taxonomies, held, cells)
        catalog, plan, upstream = planned.catalog, planned.plan, planned.upstream
        _check_bounded(plan, time_limit)
        run, is_kept = launcher.engine(catalog, progress, key, time_limit), False
        history = _history(plan, attempts)
        carried_out = partial(
            run_plan,
            seed=seed,
            progress=progress,
            history=history,
            repeats=report is not None,
            allow_pickle=allow_pickle,
            upstream=upstream,
        )
        by = {"made_by": made_by}
        try:
            if output is None:
                kept = _record_file(record)
                made = carried_out(plan, run).model_copy(update=by)
                _write_reports(made, report)
                verified = _verified(made, run, kept)
                is_kept = True
                return verified
            file = _destination(output, plan)
            _check_apart(file, catalog)
            if plan.train:
                _check_alone(file, report)
            if history is not None:
                history.check_apart(file, place_of(output))
            kept = _record_file(record, file, output, overwrite=overwrite)
            with publication(
                file, run.session, overwrite=overwrite, wait=wait, progress=progress
            ) as place:
                made = carried_out(plan, run, place.staged).model_copy(update=by)
                _write_reports(made, report)
                return _published(made, run, place, kept)
        finally:
            run.close(keep=is_kept)


def _check_bounded(plan: Plan, time_limit: float | None) -> None:
    """Refuse a time limit (M003) where tables are made for a model: they have to be made alike."""
    if time_limit is not None and (plan.train or plan.audits):
        message = "A time limit bounds the search of a release, and the policy has models attacked."
        raise PlanError.of("M003", message, "Leave it out.")


@dataclass(frozen=True)
class _Planned:
    """A plan for data, where these lie, and the certified release that they are, if any."""

    catalog: Catalog
    plan: Plan
    upstream: tuple[Upstream, ...]


def _planned(
    policy: Policy,
    launcher: Launcher,
    data: Mapping[str, Any],
    taxonomies: Mapping[str, Any] | None,
    held: Sequence[Certificate | Attestation] = (),
    cells: CellStyle = "text",
) -> _Planned:
    catalog = launcher.catalog(policy, data, taxonomies)
    plan = make_plan(policy, catalog, engine=launcher.name, cells=cells)
    found = _upstream(plan, launcher, held)
    if found:
        plan = make_plan(policy, catalog, engine=launcher.name, cells=cells, upstream=found)
        catalog = _understood(catalog, policy, plan, taxonomies)
    return _Planned(catalog, plan, found)


def _understood(
    catalog: Catalog, policy: Policy, plan: Plan, taxonomies: Mapping[str, Any] | None
) -> Catalog:
    """Return a catalog with the taxonomies by which what a model learns from was generalised.

    Raises DataError (C012) where one is neither given nor beside the policy.
    """
    names = tuple(dict.fromkeys(one.taxonomy for one in plan.cells_learnt if one.taxonomy))
    folder = Path(policy.source).parent if policy.source else None
    found = find_taxonomies(names, taxonomies or {}, folder)
    known = replace(catalog, taxonomies={**found, **catalog.taxonomies})
    known.digests(names)
    return known


def _upstream(
    plan: Plan, launcher: Launcher, held: Sequence[Certificate | Attestation]
) -> tuple[Upstream, ...]:
    """Return the certified releases that the inputs of a plan are, as far as they are such."""
    return upstream_of(
        plan.reads,
        [one for one in held if isinstance(one, Certificate)],
        lambda place: None if place == MEMORY else _certificate_of(launcher, place_of(place)),
    )


def _made_by(
    found: Asked,
    launcher: Launcher,
    data: Mapping[str, Any] | None,
    held: Sequence[Certificate | Attestation],
) -> MadeBy:
    """Return who makes what a policy asks for, once that is permitted.

    By the certificates that are given, and those that lie beside the data and speak of them.
    """
    known = [*held]
    for given in named_data(data or {}, [found.policy]).values() if found.acting.party else ():
        if isinstance(given, str | Path):
            lying = _certificate_of(launcher, place_of(given))
            known += [lying] if lying else []
    return found.made_by(known, [chosen(found.policy)])[0]


def plan_policy(
    policy: Source,
    data: Mapping[str, Any] | None = None,
    contexts: Mapping[str, Any] | None = None,
    taxonomies: Mapping[str, Any] | None = None,
    engine: "EngineName | SparkEngine" = "local",
    parents: Sequence[Source] = (),
    limits: Limits = USUAL,
    vocabularies: Sequence[VocabularySource] = (),
    owners: OwnersSource | None = None,
    certificates: Sequence[Proof] = (),
    party: str | None = None,
    purpose: str = "",
    policies: Sequence[Source] = (),
    world: World | None = None,
    log: str | Path | None = None,
    log_key: str | Path | bytes | None = None,
) -> Plan:
    """Return what would be done; bound to data where there is any.

    `owners` are as for `apply_policy`, and so is a `party` with all by which it is decided whether
    they may make it; to the `log` nothing is added, for nothing is made.
    """
    acting = Acting(party, purpose, policies, world, log, log_key, is_trial=True)
    reading, held = Reading(contexts, parents, limits, vocabularies), proofs(certificates)
    found = asked_by(policy, reading, owners, data, acting)
    read = found.policy
    if not data:
        found.made_by(held, [chosen(read)])
        return make_plan(read, engine="local" if engine == "local" else "spark")
    with launched(engine) as launcher:
        _made_by(found, launcher, data, held)
        return _planned(read, launcher, data, taxonomies, held).plan


def estimate_policy(
    policy: Source,
    data: Mapping[str, Any],
    contexts: Mapping[str, Any] | None = None,
    taxonomies: Mapping[str, Any] | None = None,
    parents: Sequence[Source] = (),
    limits: Limits = USUAL,
    vocabularies: Sequence[VocabularySource] = (),
    certificates: Sequence[Proof] = (),
) -> "Cost | NotApplicable":
    """Return what the audits of a policy would cost here, calibrated on a few of the records.

    `certificates` are as for `apply_policy`.
    """
    from policy_engine.model_release import estimate  # noqa: PLC0415 (slow to import)

    read = _asking(policy, Reading(contexts, parents, limits, vocabularies))
    with launched("local") as launcher:
        planned = _planned(read, launcher, data, taxonomies, proofs(certificates))
        plan = planned.plan
        if not plan.audits:
            return NotApplicable(reason="the policy asks for no audit")
        run = launcher.engine(planned.catalog)
        table, _ = run.read(plan.read)
        return estimate(plan, run, table)


def estimate_search(
    policy: Source,
    data: Mapping[str, Any] | None = None,
    contexts: Mapping[str, Any] | None = None,
    taxonomies: Mapping[str, Any] | None = None,
    parents: Sequence[Source] = (),
    limits: Limits = USUAL,
    vocabularies: Sequence[VocabularySource] = (),
) -> "Effort | NotApplicable":
    """Return how large the search for a policy's classes is, as far as can be told unread."""
    from policy_engine.effort import effort_of  # noqa: PLC0415 (only where it is asked for)

    read = _asking(policy, Reading(contexts, parents, limits, vocabularies))
    with launched("local") as launcher:
        catalog = launcher.catalog(read, data, taxonomies) if data else None
        # Of what another engine would do too: what it does not have is told by its own plan.
        found = effort_of(make_plan(read, catalog), catalog)
    return found or NotApplicable(reason="nothing is generalised")


def certify_output(
    output: str | Path,
    policy: Source,
    contexts: Mapping[str, Any] | None = None,
    taxonomies: Mapping[str, Any] | None = None,
    data: Mapping[str, Any] | None = None,
    key: str | Path | bytes | None = None,
    engine: "EngineName | SparkEngine" = "local",
    parents: Sequence[Source] = (),
    limits: Limits = USUAL,
    vocabularies: Sequence[VocabularySource] = (),
    record: str | Path | None = None,
    attempts: str | Path | None = None,
    *,
    write: bool = False,
    owners: OwnersSource | None = None,
    certificates: Sequence[Proof] = (),
    party: str | None = None,
    purpose: str = "",
    policies: Sequence[Source] = (),
    world: World | None = None,
    log: str | Path | None = None,
    log_key: str | Path | bytes | None = None,
) -> Certificate:
    """Measure an existing output against a policy, however it was made.

    Where a certificate lies beside the output and speaks of it, its digest is compared too. A
    `record` is to open what that commits to and, where `data` is given, to name that very
    input: CertificateError (V008, V009) else.
    Where the policy has a unit of privacy, the output alone does not tell persons apart: with
    `data`, and the `key` where there are pseudonyms, the release is made again and must be the
    same, byte by byte, or row by row on Spark. The `engine` and `attempts` are as for
    `apply_policy`: models are made and attacked again where the policy has a table audited.
    With `write`, the certificate is renewed: it takes the place of the one beside the output, of
    which it keeps the commitment to the owner's record and what cannot be measured. What the output
    does not tell is to be by that certificate as the policy asks (V014), and without it there is
    nothing to be renewed (C002). `owners`,
    `certificates` of the input, and a `party` with all by which it is decided whether they may
    make such an output, are as for `apply_policy`. Raises
    CertificateError where the output does not hold what the policy asks, or a file read here
    carries more than a table: metadata, values that no row has, names in a gzip header (V002).
    """
    acting = Acting(party, purpose, policies, world, log, log_key)
    reading, held = Reading(contexts, parents, limits, vocabularies), proofs(certificates)
    decided = asked_by(policy, reading, owners, data, acting)
    read = decided.policy
    place = _only_output(place_of(output))
    if not str(place).startswith(TABLE):
        check_name(storage.name(place), "An output")
    with _settled(place), launched(engine) as launcher:
        _made_by(decided, launcher, data, held)
        catalog = launcher.catalog(read, data or {}, taxonomies)
        plan = make_plan(read, engine=launcher.name)
        _check_measurable(plan)
        stored = launcher.stored(place)
        cells = _cells_of(launcher, place, plan)
        bound = catalog if data else None
        earlier = _certificate_of(launcher, place)
        if write:
            _check_renewable(place)
        before = earlier.upstream if earlier else ()
        plan = make_plan(read, bound, engine=launcher.name, cells=cells, upstream=before)
        release = Release(plan=plan, output=stored)
        run = launcher.engine(_understood(catalog, read, plan, taxonomies), key=key)
        try:
            opened = _recorded(record, earlier, place, release.plan, run if data else None)
            if earlier:
                check_made_so(earlier, release.plan, opened, place, renews=write)
            if write:
                _check_known_input(release.plan, opened)
            history = _history(release.plan, attempts)
            release = _audited_again(release, run, history, has_data=bool(data))
            asked = release.plan.anonymize
            is_made = asked and asked.columns.privacy_unit and data
            if is_made and earlier and earlier.ended:
                message = "The search of this release was ended by its time limit: it is not made "
                raise DataError.of("V006", f"{message}again alike, and persons not counted.")
            if asked and is_made and asked.columns.has_own_pseudonyms:
                run.salt = _salt_of(opened)
            found = _made_again(release, run) if is_made else certify(release, run)
        finally:
            run.close()
        _check_carried(launcher, place)
        check(found, str(place))
        check_digest(found.certificate, stored)
        if earlier:
            check_digest(earlier, stored)
        certificate = found.certificate.model_copy(
            update=_kept(earlier, is_opened=opened is not None, write=write)
        )
        if write:
            renew(place, certificate, lambda: launcher.stored(place))
    return certificate


def _recorded(
    record: str | Path | None,
    earlier: Certificate | None,
    output: Place,
    plan: Plan,
    engine: Engine | None,
) -> Record | None:
    """Return what opens a certificate; with an engine, what that reads is the input it names."""
    if record is None:
        return None
    opened = _opened(load_record(place_of(record)), earlier, output, str(record))
    if engine is not None:
        _check_input(opened, plan, engine, str(record))
    return opened


def _check_measurable(plan: Plan) -> None:
    """Raise DataError (V006) for a model."""
    if plan.train:
        message = "A model tells nobody on whom it was trained: it is audited when it is made."
        raise DataError.of("V006", message, "Make it again: policy-engine apply.")


def _kept(earlier: Certificate | None, *, is_opened: bool, write: bool) -> dict[str, Any]:
    """Return what an earlier certificate says of an output that nobody measures again.

    A commitment that nobody can open says nothing: it is repeated where it was opened, or where
    it would be lost.
    """
    if earlier is None:
        return {"commitment": None}
    names = ("ended", "upstream", "made_by", *(("approximated",) if write else ()))
    committed = earlier.commitment if is_opened or write else None
    return {"commitment": committed, **{name: getattr(earlier, name) for name in names}}


def _check_renewable(output: Place) -> None:
    """Raise DataError (C010) for a table of a catalog, whose certificate is a part of it."""
    if str(output).startswith(TABLE):
        message = "The certificate of a table in a catalog is renewed with the table alone."
        raise DataError.of("C010", message, "Make it again: policy-engine apply.")


def _check_carried(launcher: Launcher, place: Place) -> None:
    """Raise CertificateError (V002) where a file holds more than its table, however it was made."""
    if launcher.spark is None:
        from policy_engine.engines.carried import check_carried  # noqa: PLC0415 (slow to import)

        check_carried(Path(place))


def _opened(record: Record, certificate: Certificate | None, output: Place, source: str) -> Record:
    """Return the record that opens the certificate of an output."""
    if certificate is None:
        message = f"No certificate of {str(output)!r} lies beside it, for the record to open."
        raise DataError.of("C002", message)
    opened = opening(record, certificate.commitment, source)
    problems = list(lost_rows(certificate, opened))
    if problems:
        raise CertificateError(*problems, source=source)
    return opened


def _check_input(record: Record, plan: Plan, engine: Engine, source: str) -> None:
    """Raise CertificateError (V009) where the data are not those that a record names."""
    for step, known in zip(plan.reads, record.inputs, strict=True):
        _, found = engine.read(step)
        if found.digest != known.digest:
            message = "The data given are not the input that the certificate commits to."
            was = f"That was read by the {record.engine} engine from {known.location!r}."
            raise CertificateError.of("V009", message, was, source)


def _check_known_input(plan: Plan, opened: Record | None) -> None:
    """Raise DataError (V006) where nobody knows that what an audit attacks was learnt from."""
    if plan.audits and opened is None:
        message = "Whether the data given are what the release was made from, its record tells."
        raise DataError.of("V006", message, "Give the record as well: record=FILE.")


def _salt_of(record: Record | None) -> str:
    """Return what the pseudonyms of a release are its own by.

    Raises DataError (V006) without the record that holds it.
    """
    if record is None or record.salt is None:
        message = "The pseudonyms are those of one release: without its record, nobody makes them "
        raise DataError.of("V006", f"{message}again.", "Give the record as well: record=FILE.")
    return record.salt


def _history(plan: Plan, folder: str | Path | None) -> Ledger | None:
    """Return where attempts are kept, None where a plan has nothing attacked."""
    return Ledger(folder) if plan.audits else None


def _audited_again(
    release: Release, engine: Engine, history: Ledger | None, *, has_data: bool
) -> Release:
    """Return a release with what the audits of its plan measure today."""
    plan = release.plan
    if not plan.audits:
        return release
    if not has_data:
        message = "The policy asks for an audit, which the output alone does not bear."
        raise DataError.of("V006", message, "Give the input as well: data={IRI: PATH}.")
    from policy_engine.model_release import audit_table  # noqa: PLC0415 (slow to import)

    table, _ = engine.read(plan.read)
    return release.audited(*audit_table(plan, engine, table, history=history))


def _cells_of(launcher: Launcher, place: Place, plan: Plan) -> CellStyle:
    """Return how the ranges of an output are written."""
    [output] = make_catalog({"": place}, described=launcher.described()).datasets
    return "text" if set(plan.publish.columns) <= set(output.columns) else "bounds"


def _made_again(release: Release, engine: Engine) -> Certified:
    """Return the certificate of what a plan makes, which the release is to be the same as.

    On Spark the rows are compared, when they are measured: their files never are the same.
    """
    if release.plan.engine == "spark":
        made = run_plan(release.plan, engine)
        return certify(made.model_copy(update={"output": release.output}), engine)
    with TemporaryDirectory() as folder:
        name = storage.name(release.output.location)
        return certify(run_plan(release.plan, engine, Path(folder) / name), engine)


def compare_release(
    original: str | Path,
    release: str | Path,
    *,
    policy: Source | None = None,
    taxonomies: Mapping[str, Any] | None = None,
    key: str | Path | bytes | None = None,
    target: str = "",
    queries: int = 1_000,
    seed: int = 0,
    progress: Progress = silent,
    contexts: Mapping[str, Any] | None = None,
    parents: Sequence[Source] = (),
    limits: Limits = USUAL,
    vocabularies: Sequence[VocabularySource] = (),
    record: str | Path | None = None,
    classifier: bool = True,
    shareable: bool = False,
) -> "Comparison":
    """Return what a release lost against its original, and what it is still good for.

    The columns and their roles are those of the certificate beside the release, else those of
    the policy. `target` is the column that a classifier is to predict, by default the first
    sensitive one that it can; none is where `classifier` is False. A comparison tells how often
    the original's values occur, and is for its owner alone; one that is `shareable` holds only
    what whoever has the release finds out himself. Whether this is the original that the release
    was made from is told by its `record`. Raises DataError where a table cannot be read or a
    taxonomy is not given (C012), CertificateError where the release cannot have been made from
    this original, or the record does not open it.
    """
    from policy_engine import comparison  # noqa: PLC0415 (slow to import)

    path = Path(_only_output(Path(release)))
    with _settled(path):
        certificate = _beside(path)
        if policy is None and certificate is None:
            raise _uncertified(original, path)
        reading = Reading(contexts, parents, limits, vocabularies)
        read = _asking(policy, reading) if policy is not None else None
        plan = make_plan(read) if read is not None else certificate.plan  # type: ignore[union-attr]
        plan.check_one_input("compared with")
        asked = plan.anonymization()
        folder = Path(read.source).parent if read is not None and read.source else path.parent
        found = find_taxonomies(asked.columns.taxonomies, taxonomies or {}, folder)
        catalog = Catalog(taxonomies=found)
        _check_taxonomies(catalog, asked)
        engine = Launcher().engine(catalog, key=key)
        settings = comparison.Settings(
            queries=queries,
            task=comparison.Task(
                (lambda part: engine.anonymize(part, asked, plan.publish)) if classifier else None,
                target=target,
            ),
            seed=seed,
        )
        return comparison.compare(
            Path(original),
            path,
            asked,
            found,
            certificate=certificate,
            record=None
            if record is None
            else _opened(load_record(place_of(record)), certificate, path, str(record)),
            settings=settings,
            shareable=shareable,
            progress=progress,
        )


def _uncertified(original: str | Path, release: Path) -> PolicyEngineError:
    """Return the error of a release without certificate and policy, or of two tables swapped."""
    message = f"No certificate lies beside {str(release)!r}, and no policy is given."
    hint = "Give policy=POLICY."
    if any(is_file(one / FILE_NAME) for one in (Path(original), Path(original).parent)):
        message = f"No certificate lies beside {str(release)!r}, and one beside {str(original)!r}."
        hint = "The original comes first, then its release."
    return DataError.of("C002", message, hint)


def _check_taxonomies(catalog: Catalog, asked: Anonymize) -> None:
    """Raise DataError (C012) with the taxonomies that a comparison lacks."""
    try:
        catalog.digests(asked.columns.taxonomies)
    except DataError as error:
        hint = "Give taxonomies={NAME: FILE}, or policy=POLICY where its file lies beside it."
        raise DataError(*(replace(one, hint=hint) for one in error.problems)) from None


def explore_policy(
    policy: Source,
    data: Mapping[str, Any],
    choices: Mapping[str, Sequence[float]],
    *,
    taxonomies: Mapping[str, Any] | None = None,
    key: str | Path | bytes | None = None,
    engine: "EngineName | SparkEngine" = "local",
    progress: Progress = silent,
    contexts: Mapping[str, Any] | None = None,
    parents: Sequence[Source] = (),
    limits: Limits = USUAL,
    vocabularies: Sequence[VocabularySource] = (),
    time_limit: float | None = None,
    owners: OwnersSource | None = None,
    certificates: Sequence[Proof] = (),
    party: str | None = None,
    purpose: str = "",
    policies: Sequence[Source] = (),
    world: World | None = None,
    log: str | Path | None = None,
    log_key: str | Path | bytes | None = None,
) -> "tuple[Run, ...]":
    """Return what a policy's release would be at every combination of `choices`.

    `choices` holds values by parameter, as in {"k": (2, 5, 10), "l": (2, 3)}; all else is as for
    `apply_policy`, a `time_limit` for each combination. Nothing is written. Raises PlanError where
    no model of the policy has a parameter.
    """
    from policy_engine.exploration import explore, settings_of  # noqa: PLC0415 (slow to import)

    acting = Acting(party, purpose, policies, world, log, log_key)
    reading, held = Reading(contexts, parents, limits, vocabularies), proofs(certificates)
    found = asked_by(policy, reading, owners, data, acting)
    check_limit(time_limit, engine)
    with launched(engine) as launcher:
        _made_by(found, launcher, data, held)
        planned = _planned(found.policy, launcher, data, taxonomies, held)
        run = launcher.engine(planned.catalog, progress, key, time_limit)
        try:
            settings = settings_of(choices)
            return explore(planned.plan, run, settings, progress, planned.upstream)
        finally:
            run.close()


def suggest_hierarchy(
    table: str | Path | Any, column: str, kind: str | None = None
) -> "Suggestion":
    """Return a proposal for a generalisation hierarchy of a column, to be edited by a person.

    `kind` forces quantiles, prefix, calendar or frequency; without it, the values decide.
    Raises DataError where there is no such column, or its values do not bear the kind.
    """
    from policy_engine.engines.tables import counted  # noqa: PLC0415 (slow to import)
    from policy_engine.suggestion import suggest  # noqa: PLC0415

    catalog = make_catalog({"the table": table})
    [dataset] = catalog.datasets
    problems = list(missing_columns((column,), dataset))
    near = no_column(column, dataset)
    problems = [near] if problems and near.hint else problems
    if problems:
        raise DataError(*problems, source=dataset.location)
    return suggest(counted(catalog.tables.get(dataset.iri, dataset.location), column), column, kind)


def _asking(source: Source, reading: Reading) -> Policy:
    """Return the one policy of a text or, of several, the one that asks for a transformation."""
    return asking_of(reading.policies(source))


def _destination(output: str | Path, plan: Plan) -> Place:
    """Return where an output goes, given the path of it or of a folder for it.

    Raises OutputError (O002) for an empty path, which would be the current folder's.
    """
    if not str(output).strip():
        message = f"The path of the output is empty. Given: {str(output)!r}."
        raise OutputError.of("O002", message, "The current folder is '.'.")
    asset, like = plan.publish.asset, plan.reads[0].format
    if plan.train:
        return model_destination(place_of(output), asset)
    return destination(place_of(output), asset, like, as_folder=plan.engine == "spark")


def _check_apart(output: Place, catalog: Catalog) -> None:
    """Refuse to write an output over one of its inputs, even where it may be overwritten."""
    for dataset in catalog.datasets:
        if storage.is_same(output, dataset.location):
            message = f"The output {str(output)!r} is the input itself."
            raise OutputError.of("O001", message, "Give another path.")


def _check_alone(model: Place, report: str | Path | None) -> None:
    """Raise where a model would not lie alone with its certificate: such a release is not valid.

    OutputError (O001) where its folder holds anything else, (O002) for a report within it.
    """
    folder = storage.parent(model)
    with storage.writing(folder):
        released = (FILE_NAME, storage.name(model))
        found = strangers(folder, released) if storage.is_folder(folder) else ()
    if found:
        message = f"A model is released into a folder of its own. {str(folder)!r} holds "
        raise OutputError.of("O001", f"{message}{told(found)}.", "Give the path of a new folder.")
    here = Path(folder).resolve()
    if report is not None and here in (Path(report).resolve(), *Path(report).resolve().parents):
        message = f"The report {str(report)!r} would lie in the folder of the released model, "
        message += "and is for its owner alone."
        raise OutputError.of("O002", message, "Give a folder outside of it: report=DIR.")


def _need(package: str) -> None:
    if find_spec(package) is None:
        hint = f"pip install 'policy-engine[{package}]'."
        raise DataError.of("C011", f"{package} is not installed.", hint)


def _record_file(
    record: str | Path | None,
    output: Place | None = None,
    given: str | Path = "",
    *,
    overwrite: bool = False,
) -> RecordFile | None:
    """Return the place for a record, where one is asked for."""
    if record is None:
        return None
    return RecordFile(record, output, place_of(given), overwrite=overwrite)


def _verified(release: Release, engine: Engine, kept: RecordFile | None) -> VerifiedRelease:
    found = certify(release, engine)
    check(found)
    made = VerifiedRelease(release, found.certificate, found.known, None, engine)
    with kept.kept(found.known, lambda: False) if kept else nullcontext():
        return made


def _published(
    release: Release,
    engine: Engine,
    place: Publication | TablePublication,
    kept: RecordFile | None,
) -> VerifiedRelease:
    place.hide()
    found = certify(release, engine, named(place.file))
    try:
        check(found)
    except CertificateError as error:
        if {problem.code for problem in error.problems} <= {"V007", "V011"}:
            place.refuse(found.certificate.refused())
        raise
    is_there = partial(_is_published, found.certificate, place)
    with kept.kept(found.known, is_there) if kept else nullcontext():
        place.publish(found.certificate)
    return VerifiedRelease(release, found.certificate, found.known, place.file, engine)


def _is_published(certificate: Certificate, place: Publication | TablePublication) -> bool:
    """Tell whether a certificate lies where it was published; where that is unknown, that it
    does, for its record is not to be lost."""
    if isinstance(place, TablePublication):
        return True
    try:
        check_settled(place.folder)
    except (OSError, CertificateError):
        return True  # the next run may finish it
    try:
        return read_certificate(storage.read_bytes(place.certificate)) == certificate
    except (FileNotFoundError, CertificateError):
        return False
    except OSError:
        return True


def _write_reports(release: Release, folder: str | Path | None) -> None:
    """Write all that the audits of a plan found, one page each."""
    if folder is None or not release.reports:
        return
    from policy_engine.auditing import write_audit  # noqa: PLC0415 (slow to import)

    for number, found in enumerate(release.reports, start=1):
        place = Path(folder) if number == 1 else Path(folder) / str(number)
        write_audit(found, place)


def _certificate_of(launcher: Launcher, output: Place) -> Certificate | None:
    """Return the certificate that an output was published with, if there is one.

    That of a table is among its properties. Raises CertificateError (V005) where that is none.
    """
    if not (launcher.spark and str(output).startswith(TABLE)):
        return _beside(output)
    text = launcher.spark.certificate_text(str(output))
    return None if text is None else read_certificate(text, str(output))


def _beside(output: Place) -> Certificate | None:
    """Return the certificate that lies beside an output and speaks of it, if there is one."""
    file = storage.join(storage.parent(output), FILE_NAME)
    try:
        with storage.reading(file):
            is_there = storage.exists(file)
            found = read_certificate(storage.read_bytes(file)) if is_there else None
    except CertificateError:
        return None
    return found if found and found.file == storage.name(output) else None


def _settled(output: Place) -> AbstractContextManager[None]:
    """Raise CertificateError (V010) where a release is, or is inside, published to a place."""
    is_table = str(output).startswith(TABLE)
    return nullcontext() if is_table else settled(storage.parent(output))


def _only_output(place: Place) -> Place:
    """Return an output, given its place or that of the folder that holds its certificate."""
    if str(place).startswith(TABLE):
        return place
    with storage.reading(place):
        is_folder = storage.is_folder(place)
        is_data = is_folder and not storage.exists(storage.join(place, FILE_NAME))
    if not is_folder or (is_data and with_ending(storage.name(place), SPARK_FORMATS)):
        return place
    return storage.join(place, load_certificate(place).file)


__all__ = [
    "Source",
    "VerifiedRelease",
    "apply_policy",
    "attest_output",
    "certify_output",
    "check_policy",
    "compare_release",
    "decide_request",
    "decider",
    "estimate_policy",
    "explore_policy",
    "fulfil_duty",
    "list_duties",
    "load_policies",
    "load_policy",
    "plan_policy",
    "query_data",
    "read_request",
    "read_world",
    "suggest_hierarchy",
    "time_at",
    "world_at",
]
