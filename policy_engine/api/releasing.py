"""Makes, verifies and publishes outputs: one by one, and all of them or none."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import get_args

from policy_engine.api.acting import MakingRequest
from policy_engine.api.announcing import (
    Announcements,
    composing_of,
    settle_abandoned,
    staged_name,
)
from policy_engine.api.binding import BoundPlan, bind_plans, permitted_makers
from policy_engine.api.inputs import Inputs
from policy_engine.api.verified_release import (
    ProvenRelease,
    VerifiedRelease,
    keep_records,
    prove,
    publish,
    record_file,
)
from policy_engine.api.withdrawing import check_status_list
from policy_engine.certificate.certifying import certify, check_bounds
from policy_engine.certificate.publication import (
    check_model_folder,
    check_not_input,
    plan_destinations,
    publication,
)
from policy_engine.certificate.recording import RecordFile
from policy_engine.data import storage
from policy_engine.data.catalog import parse_location
from policy_engine.data.keys import Key
from policy_engine.data.storage import Location
from policy_engine.engines.engine import Engine, Progress, WrittenTable, silent
from policy_engine.engines.launching import Launcher, check_limit, launch_engine
from policy_engine.errors import PlanError
from policy_engine.plan.lineage import MadeBy, Maker
from policy_engine.plan.plan import Plan
from policy_engine.plan.products import Product
from policy_engine.plan.steps import CellStyle
from policy_engine.policy.signing import signature_evidence
from policy_engine.release.budget.charging import (
    Chargeable,
    LedgerCharging,
    Listing,
    charging_of,
)
from policy_engine.release.budget.ledger import BudgetLedger
from policy_engine.release.budget.receipts import Receipt, receipt_of
from policy_engine.release.ledger import Ledger
from policy_engine.release.release import Release, run_plan
from policy_engine.terms import local_name
from policy_engine.trust.proofs import Signer
from policy_engine.trust.signers import KeySource, read_signer


@dataclass(frozen=True)
class ReleaseOptions:
    """The options for making outputs, and what is kept about that: see `apply_policy`."""

    overwrite: bool = False
    wait: bool = False
    progress: Progress = silent
    key: Key = None
    report: str | Path | None = None
    seed: int | None = None
    record: str | Path | None = None
    attempts: str | Path | None = None
    ledger: str | Path | None = None
    ledger_key: Key = None
    allow_pickle: bool = False
    time_limit: float | None = None
    cells: CellStyle = "text"
    sign: KeySource | None = None
    status_list: str | Path | None = None

    def for_plan(self, plan: Plan, file: Location | None) -> "ReleaseOptions":
        """Return the options for one of several outputs: what is kept about it has its name.

        It also has its own seed: models with the same seed would learn from the same records.
        """
        asset = plan.publish.asset
        name = local_name(asset) if file is None else storage.name(file)
        record = None if self.record is None else Path(self.record)
        return replace(
            self,
            report=None if self.report is None else Path(self.report) / name,
            record=record.with_name(f"{name}.{record.name}") if record and record.name else record,
            seed=None if self.seed is None else derive_seed(self.seed, asset),
        )


def derive_seed(seed: int, asset: str) -> int:
    """Return the seed of one of several outputs, given that of all."""
    digest = hashlib.sha256(f"{seed}\n{asset}".encode()).digest()
    return int.from_bytes(digest[:4], "big")


def release_outputs(
    making: MakingRequest,
    products: Sequence[Product],
    inputs: Inputs,
    output: str | Path | None,
    options: ReleaseOptions,
) -> tuple[VerifiedRelease, ...]:
    """Return the outputs of a policy, after checking that the acting party may make them.

    Raises as `apply_plans` does, and PlanError (M003) for an unknown style of cells, or a
    negative seed.
    """
    if options.cells not in get_args(CellStyle):
        message = f"cells may not be {options.cells!r}. Allowed are 'text' and 'bounds'."
        raise PlanError.of("M003", message)
    if options.seed is not None and options.seed < 0:
        raise PlanError.of("M003", f"A seed is not negative. Given: {options.seed}.")
    check_limit(options.time_limit, inputs.engine)
    with launch_engine(inputs.engine, keep=output is None) as launcher:
        makers = permitted_makers(making, products, launcher, inputs)
        bound_plans = bind_plans(making.policy, products, launcher, inputs, options.cells)
        ledger = BudgetLedger(options.ledger, options.ledger_key) if options.ledger else None
        consented = [
            with_ledger(making, product, one, maker, ledger)
            for one, product, maker in zip(bound_plans, products, makers, strict=True)
        ]
        evidence = () if options.sign is None else signature_evidence(making.policy)
        return apply_plans(consented, makers, launcher, output, options, evidence)


def with_ledger(
    making: MakingRequest,
    product: Product,
    bound: BoundPlan,
    maker: MadeBy,
    ledger: BudgetLedger | None,
) -> BoundPlan:
    """Return a plan with what owners consent to, and what a ledger has to do with it.

    Raises LedgerError (B014) where a ledger is needed, and none is given.
    """
    chargeable = _chargeable(making, product, bound, maker)
    return replace(
        bound,
        plan=making.with_consents(bound.plan),
        charging=charging_of(chargeable, ledger),
        composing=composing_of(chargeable, bound, ledger),
    )


def _chargeable(
    making: MakingRequest, product: Product, bound: BoundPlan, maker: MadeBy
) -> Chargeable:
    """Return what an output costs whom: all that is made for a party is charged to it as well."""
    party, purpose = (maker.party, maker.purpose) if isinstance(maker, Maker) else ("", "")
    return Chargeable(
        making.policy,
        product.rule,
        bound.plan,
        making.policies_in_force,
        bound.upstream,
        party,
        purpose,
        making.memberships,
    )


def apply_plans(
    plans: Sequence[BoundPlan],
    makers: Sequence[MadeBy],
    launcher: Launcher,
    output: str | Path | None,
    options: ReleaseOptions,
    evidence: Sequence[Mapping[str, str]] = (),
) -> tuple[VerifiedRelease, ...]:
    """Return the outputs of plans, each made, measured and written for its maker.

    All are verified before any is published or returned, and all are published in one step. What is
    kept about each of several has its name (`ReleaseOptions.for_plan`). Raises a PolicyEngineError
    if anything is wrong; then nothing is written except, if an attack exceeded its bound, the
    report and a certificate that says so.
    """
    for one in plans:
        _check_time_limit(one.plan, options.time_limit)
    # A key that cannot be used is found out before anything is made, or charged.
    signer = None if options.sign is None else read_signer(options.sign)
    engines = [
        launcher.engine(
            one.catalog, _progress_of(one.plan, options), options.key, options.time_limit
        )
        for one in plans
    ]
    kept_tables: list[WrittenTable | None] = [None for _ in engines]
    try:
        files = (
            [None for _ in plans]
            if output is None
            else plan_destinations([one.plan for one in plans], output)
        )
        if options.status_list is not None:
            check_status_list(options.status_list, files, is_signed=signer is not None)
        hows = [options]
        if len(plans) > 1:
            hows = [options.for_plan(one.plan, f) for one, f in zip(plans, files, strict=True)]
        signing = (signer, tuple(evidence))
        jobs = [*map(_OutputJob, plans, makers, engines, hows, files, [signing] * len(plans))]
        if output is not None:
            return _verified_releases(jobs, _release_files(jobs, output, options))
        proved = _release_in_memory(jobs)
        kept_tables = [one.written for one in proved]
        return _verified_releases(jobs, proved)
    finally:
        for engine, keep in zip(engines, kept_tables, strict=True):
            engine.close(keep)


def _progress_of(plan: Plan, options: ReleaseOptions) -> Progress:
    """Return what reports progress; of statistics without numbers, which would tell of the rows."""
    if plan.aggregate is None:
        return options.progress
    return lambda stage, _done, _total: options.progress(stage, 0, 0)


@dataclass(frozen=True)
class _OutputJob:
    """One output to make: its plan, its inputs, and its destination."""

    bound_plan: BoundPlan
    made_by: MadeBy
    engine: Engine
    options: ReleaseOptions
    file: Location | None
    signing: tuple[Signer | None, Sequence[Mapping[str, str]]] = (None, ())
    """What signs its certificate, and what that relies on."""

    @property
    def history(self) -> Ledger | None:
        """Where attempts are kept, None if nothing is attacked."""
        plan = self.bound_plan.plan
        return Ledger(self.options.attempts) if plan.audits or plan.synthetic_audits else None

    @property
    def receipt(self) -> Receipt | None:
        """What was charged for it: the owner is told the balance, too. None if nothing can be."""
        charging = self.bound_plan.charging
        if not isinstance(charging, LedgerCharging):
            return None
        return receipt_of(charging, is_owner=not isinstance(self.made_by, Maker))

    def check(self, output: str | Path) -> RecordFile | None:
        """Return the file for a record, if one is requested.

        Raises OutputError if the output, or what is kept about it, may not be written there.
        """
        file = self.file
        assert file is not None  # noqa: S101 (an output in memory is not written)
        check_not_input(file, self.bound_plan.catalog)
        if self.bound_plan.plan.releases_model:
            check_model_folder(file, self.options.report)
        if self.history is not None:
            self.history.check_apart(file, parse_location(output))
        return record_file(self.options.record, file, output, overwrite=self.options.overwrite)

    def make(self, staged: Location | None = None) -> tuple[Release, WrittenTable]:
        """Return the release and the table to be measured; writes the reports of its audits."""
        charging = self.bound_plan.charging
        release, written = run_plan(
            self.bound_plan.plan,
            self.engine,
            staged,
            seed=self.options.seed,
            progress=self.options.progress,
            history=self.history,
            repeats=self.options.report is not None,
            allow_pickle=self.options.allow_pickle,
            upstream=self.bound_plan.upstream,
            charging=charging if isinstance(charging, LedgerCharging) else None,
            composing=self.bound_plan.composing,
        )
        release = release.model_copy(update={"made_by": self.made_by})
        _write_reports(release, self.options.report)
        return release, written


def _list_uncovered(jobs: Sequence[_OutputJob]) -> None:
    """List in the ledger, if one is given, what no epsilon covers, before anybody can read it."""
    for job in jobs:
        if isinstance(job.bound_plan.charging, Listing):
            job.bound_plan.charging.list()


def _verified_releases(
    jobs: Sequence[_OutputJob], proved: Sequence[ProvenRelease]
) -> tuple[VerifiedRelease, ...]:
    return tuple(
        replace(one.to_verified(), receipt=job.receipt)
        for job, one in zip(jobs, proved, strict=True)
    )


def _release_files(
    jobs: Sequence[_OutputJob], output: str | Path, options: ReleaseOptions
) -> Sequence[ProvenRelease]:
    """Return outputs after publishing all of them in one step."""
    records = [job.check(output) for job in jobs]
    locations = {
        job.bound_plan.plan.publish.asset: job.file for job in jobs if job.file is not None
    }
    session, proved, announced = jobs[0].engine.session, list[ProvenRelease](), Announcements()
    settle_abandoned([job.bound_plan.composing for job in jobs])
    with publication(
        locations,
        session,
        overwrite=options.overwrite,
        wait=options.wait,
        progress=options.progress,
    ) as pending:
        with announced.settling(pending):
            for job, record_output, file in zip(jobs, records, locations.values(), strict=True):
                staged = pending.staged_file(file)
                release, written = job.make(staged)
                announce = announced.announcer(
                    job.bound_plan.composing, job.engine, written, staged_name(staged)
                )
                one = prove(release, written, job.engine, record_output, file, pending, announce)
                one = one.signed(*job.signing, job.options.status_list)
                announced.is_of(one)
                proved.append(one)
            _list_uncovered(jobs)
            publish(proved, pending)
        return proved


def _release_in_memory(jobs: Sequence[_OutputJob]) -> Sequence[ProvenRelease]:
    """Return outputs that are not written, except for their records."""
    records = [record_file(job.options.record) for job in jobs]
    proved, announced = list[ProvenRelease](), Announcements()
    settle_abandoned([job.bound_plan.composing for job in jobs])
    with announced.settling():
        for job, record_output in zip(jobs, records, strict=True):
            release, written = job.make()
            certified = certify(release, job.engine, written=written)
            announce = announced.announcer(job.bound_plan.composing, job.engine, written, "")
            check_bounds(certified if announce is None else certified.awaiting_composition())
            certified = certified if announce is None else announce(certified)
            one = ProvenRelease(release, written, job.engine, certified, record_output, None)
            proved.append(one.signed(*job.signing, job.options.status_list))
        _list_uncovered(jobs)
        with keep_records(proved, lambda _: False):
            return proved


def _write_reports(release: Release, folder: str | Path | None) -> None:
    """Write everything that the audits of a plan found, one page each."""
    if folder is None or not release.reports:
        return
    from policy_engine.api.auditing import write_audit  # noqa: PLC0415 (slow to import)

    for number, report in enumerate(release.reports, start=1):
        page_folder = Path(folder) if number == 1 else Path(folder) / str(number)
        write_audit(report.model_copy(update={"made_by": release.made_by}), page_folder)


def _check_time_limit(plan: Plan, time_limit: float | None) -> None:
    """Refuse a time limit (M003) if tables are made for a model: they must be reproducible."""
    if time_limit is not None and (plan.train or plan.audits):
        message = "A time limit is not possible for a policy that has models attacked."
        raise PlanError.of("M003", message, "Leave the time limit out.")
