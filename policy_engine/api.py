"""The five verbs, from the text of a policy to an answer."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

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
from policy_engine.applying import How, VerifiedRelease, released
from policy_engine.beside import certificate_beside, names_of_certificates, only_output
from policy_engine.catalog import (
    TABLE,
    Catalog,
    find_taxonomies,
    make_catalog,
    missing_columns,
    no_column,
    place_of,
)
from policy_engine.certificate import (
    Certificate,
    Certified,
    certify,
    check,
    check_digest,
    lost_rows,
)
from policy_engine.decision import World, read_request, read_world
from policy_engine.engines.engine import Engine, Progress, silent
from policy_engine.errors import (
    CertificateError,
    DataError,
    PolicyEngineError,
)
from policy_engine.estimates import NotApplicable
from policy_engine.launch import Launcher, check_limit, launched
from policy_engine.ledger import Ledger
from policy_engine.making import Acting, asked_by, asking_of
from policy_engine.modelling import Product, check_plannable
from policy_engine.owners import OwnersSource
from policy_engine.plan import Anonymize, CellStyle, EngineName, Plan, plan_of
from policy_engine.planning import (
    Given,
    all_products,
    certificate_of,
    made_by,
    planned,
    plans,
    product_of,
    understood,
)
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
from policy_engine.publication import (
    renew,
)
from policy_engine.record import Record, load_record, opening
from policy_engine.release import Release, run_plan
from policy_engine.renewal import check_made_so, is_known, with_change
from policy_engine.staging import check_name, settled
from policy_engine.storage import Place

if TYPE_CHECKING:
    from policy_engine.comparison import Comparison
    from policy_engine.effort import Effort
    from policy_engine.engines.spark.engine import SparkEngine
    from policy_engine.exploration import Run
    from policy_engine.model_release import Cost
    from policy_engine.suggestion import Suggestion


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
    asset: str = "",
) -> VerifiedRelease:
    """Make of data what a policy asks, prove it on the output, and release it.

    An anonymised table, or a model trained on one, or on the data themselves, once it is audited.
    Of several outputs it is the `asset`, by its IRI or short name; `apply_all` makes all.

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
    reading = Reading(contexts, parents, limits, vocabularies)
    acting = Acting(party, purpose, policies, world, log, log_key)
    found = asked_by(policy, reading, owners, data, acting)
    given = Given(data, taxonomies, proofs(certificates), cells)
    how = How(
        overwrite=overwrite,
        wait=wait,
        progress=progress,
        key=key,
        report=report,
        seed=seed,
        record=record,
        attempts=attempts,
        allow_pickle=allow_pickle,
        time_limit=time_limit,
    )
    [made] = released(found, [product_of(found.policy, asset)], given, engine, output, how)
    return made


def apply_all(
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
) -> tuple[VerifiedRelease, ...]:
    """Make all the outputs that a policy asks for, and release all of them or none.

    All is as for `apply_policy`. Several go into one folder, each beside a certificate of its own
    name, `FILE.certificate.jsonld`; all are verified before one of them is published, and all are
    published in one step. What is kept of each has its name: the record beside the one that is
    given, as `FILE.RECORD`, and the report in a folder of that name. Each has its own seed, which
    follows from the one that is given. A model does not go into a folder with others (O002): make
    that with `apply_policy(asset=IRI)`.
    """
    reading = Reading(contexts, parents, limits, vocabularies)
    acting = Acting(party, purpose, policies, world, log, log_key)
    found = asked_by(policy, reading, owners, data, acting)
    given = Given(data, taxonomies, proofs(certificates), cells)
    how = How(
        overwrite=overwrite,
        wait=wait,
        progress=progress,
        key=key,
        report=report,
        seed=seed,
        record=record,
        attempts=attempts,
        allow_pickle=allow_pickle,
        time_limit=time_limit,
    )
    return released(found, all_products(found.policy), given, engine, output, how)


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
    asset: str = "",
) -> Plan:
    """Return what would be done; bound to data where there is any.

    Of several outputs for the `asset`, by its IRI or short name; `plan_all` plans all. `owners`
    are as for `apply_policy`, and so is a `party` with all by which it is decided whether they may
    make it; to the `log` nothing is added, for nothing is made.
    """
    acting = Acting(party, purpose, policies, world, log, log_key, is_trial=True)
    reading, held = Reading(contexts, parents, limits, vocabularies), proofs(certificates)
    found = asked_by(policy, reading, owners, data, acting)
    [made] = plans(found, [product_of(found.policy, asset)], Given(data, taxonomies, held), engine)
    return made


def plan_all(
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
) -> tuple[Plan, ...]:
    """Return what would be done for each output that a policy asks for, as `plan_policy` does."""
    acting = Acting(party, purpose, policies, world, log, log_key, is_trial=True)
    reading, held = Reading(contexts, parents, limits, vocabularies), proofs(certificates)
    found = asked_by(policy, reading, owners, data, acting)
    return plans(found, all_products(found.policy), Given(data, taxonomies, held), engine)


def estimate_policy(
    policy: Source,
    data: Mapping[str, Any],
    contexts: Mapping[str, Any] | None = None,
    taxonomies: Mapping[str, Any] | None = None,
    parents: Sequence[Source] = (),
    limits: Limits = USUAL,
    vocabularies: Sequence[VocabularySource] = (),
    certificates: Sequence[Proof] = (),
    asset: str = "",
) -> "Cost | NotApplicable":
    """Return what the audits of a policy would cost here, calibrated on a few of the records.

    `certificates` and `asset` are as for `apply_policy`.
    """
    from policy_engine.model_release import estimate  # noqa: PLC0415 (slow to import)

    read = _asking(policy, Reading(contexts, parents, limits, vocabularies))
    with launched("local") as launcher:
        product = [product_of(read, asset)]
        [bound] = planned(read, product, launcher, data, taxonomies, proofs(certificates))
        plan = bound.plan
        if not plan.audits:
            return NotApplicable(reason="the policy asks for no audit")
        run = launcher.engine(bound.catalog)
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
    asset: str = "",
) -> "Effort | NotApplicable":
    """Return how large the search for a policy's classes is, as far as can be told unread.

    `asset` is as for `apply_policy`.
    """
    from policy_engine.effort import effort_of  # noqa: PLC0415 (only where it is asked for)

    read = _asking(policy, Reading(contexts, parents, limits, vocabularies))
    with launched("local") as launcher:
        catalog = launcher.catalog(read, data, taxonomies) if data else None
        # Of what another engine would do too: what it does not have is told by its own plan.
        found = effort_of(plan_of(read, product_of(read, asset), catalog), catalog)
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
    asset: str = "",
) -> Certificate:
    """Measure an existing output against a policy, however it was made.

    Where a policy has several outputs, the one to measure is named by the certificate beside it,
    or by `asset`. Where that certificate speaks of the output, its digest is compared too. A
    `record` is to open what that commits to and, where `data` is given, to name that very
    input: CertificateError (V008, V009) else.
    Where the policy has a unit of privacy, the output alone does not tell persons apart: with
    `data`, and the `key` where there are pseudonyms, the release is made again and must be the
    same, byte by byte, or row by row on Spark. The `engine` and `attempts` are as for
    `apply_policy`: models are made and attacked again where the policy has a table audited.
    With `write`, the certificate is renewed: it takes the place of the one beside the output, of
    which it keeps the commitment to the owner's record and what cannot be measured. What the output
    does not tell is to be by that certificate as the policy asks (V014), and without it there is
    nothing to be renewed (C002), nor where it was given by `certify_output` itself (V016).
    Of an output without the certificate of its making for this policy, or of other data than its
    record is known to name where models are attacked, what is returned says what was measured and
    not how it was made (`made_by` is None): by such a certificate nobody may read. `owners`,
    `certificates` of the input, and a `party` with all by which it is decided whether they may
    make such an output, are as for `apply_policy`. Raises
    CertificateError where the output does not hold what the policy asks, or a file read here
    carries more than a table: metadata, values that no row has, names in a gzip header (V002).
    """
    acting = Acting(party, purpose, policies, world, log, log_key)
    reading, held = Reading(contexts, parents, limits, vocabularies), proofs(certificates)
    decided = asked_by(policy, reading, owners, data, acting)
    read = decided.policy
    place = _place_of_output(output)
    with _settled(place), launched(engine) as launcher:
        earlier = certificate_of(launcher, place)
        product = _measured_as(read, asset, earlier)
        made_by(decided, [product], launcher, data, held)
        catalog = launcher.catalog(read, data or {}, taxonomies)
        plan = plan_of(read, product, engine=launcher.name)
        _check_measurable(plan)
        stored = launcher.stored(place)
        cells = _cells_of(launcher, place, plan)
        if write:
            _check_renewable(place)
        before = earlier.upstream if earlier else ()
        plan = plan_of(read, product, catalog if data else None, launcher.name, cells, before)
        release = Release(plan=decided.with_consents(plan), output=stored)
        run = launcher.engine(understood(catalog, read, plan, taxonomies), key=key)
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
            _check_carried(launcher, place)
            check(found, str(place))
        except CertificateError as error:
            raise with_change(error, earlier, stored) from None
        finally:
            run.close()
        check_digest(found.certificate, stored)
        if earlier:
            check_digest(earlier, stored)
        certificate = found.certificate.model_copy(
            update=_kept(earlier, release.plan, opened, write=write)
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


def _place_of_output(output: str | Path) -> Place:
    place = place_of(output)
    if not str(place).startswith(TABLE):
        place = only_output(place)
        check_name(storage.name(place), "An output")
    return place


def _measured_as(policy: Policy, asset: str, earlier: Certificate | None) -> Product:
    """Return what an output is to be: as is said, or as the certificate beside it says."""
    told = earlier.plan.publish.asset if earlier else ""
    made = [one.asset for one in all_products(policy)]
    return product_of(policy, asset or (told if told in made else ""))


def _check_measurable(plan: Plan) -> None:
    """Raise DataError (V006) for a model."""
    if plan.train:
        message = "A model tells nobody on whom it was trained: it is audited when it is made."
        raise DataError.of("V006", message, "Make it again: policy-engine apply.")


def _kept(
    earlier: Certificate | None, plan: Plan, opened: Record | None, *, write: bool
) -> dict[str, Any]:
    """Return what an earlier certificate says of an output that nobody measures again.

    A commitment that nobody can open says nothing: it is repeated where it was opened, or where
    it would be lost. So does who made the output, where it may have been made otherwise.
    """
    if earlier is None:
        return {"commitment": None}
    names = ["ended", "upstream"]
    names += ["made_by"] * is_known(earlier, plan, opened) + ["approximated"] * write
    committed = earlier.commitment if opened is not None or write else None
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
    asset: str = "",
) -> "Comparison":
    """Return what a release lost against its original, and what it is still good for.

    The columns and their roles are those of the certificate beside the release, else those of
    the policy and, of several outputs, as `certify_output` has it. `target` is the column that
    a classifier is to predict, by default the first sensitive one that it can; none is where
    `classifier` is False. A comparison tells how often the original's values occur, and is for
    its owner alone; one that is `shareable` holds only what whoever has the release finds out
    himself. Whether this is the original that the release was made from is told by its
    `record`. Raises DataError where a table cannot be read or a taxonomy is not given (C012),
    CertificateError where the release cannot have been made from this original, or the record
    does not open it.
    """
    from policy_engine import comparison  # noqa: PLC0415 (slow to import)

    path = Path(only_output(Path(release)))
    with _settled(path):
        lying = certificate_beside(path)
        certificate = lying[1] if lying else None
        if policy is None and certificate is None:
            raise _uncertified(original, path)
        reading = Reading(contexts, parents, limits, vocabularies)
        read = _asking(policy, reading) if policy is not None else None
        if read is not None:
            plan = plan_of(read, _measured_as(read, asset, certificate))
        else:
            plan = certificate.plan  # type: ignore[union-attr]
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
    with storage.reading(original):
        is_release = any(map(names_of_certificates, (Path(original), Path(original).parent)))
    if is_release:
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
    asset: str = "",
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
        product = [product_of(found.policy, asset)]
        made_by(found, product, launcher, data, held)
        [bound] = planned(found.policy, product, launcher, data, taxonomies, held)
        run = launcher.engine(bound.catalog, progress, key, time_limit)
        try:
            settings = settings_of(choices)
            return explore(bound.plan, run, settings, progress, bound.upstream)
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


def _settled(output: Place) -> AbstractContextManager[None]:
    """Raise CertificateError (V010) where a release is, or is inside, published to a place."""
    is_table = str(output).startswith(TABLE)
    return nullcontext() if is_table else settled(storage.parent(output))


__all__ = [
    "Source",
    "VerifiedRelease",
    "apply_all",
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
    "plan_all",
    "plan_policy",
    "query_data",
    "read_request",
    "read_world",
    "suggest_hierarchy",
    "time_at",
    "world_at",
]
