"""Releases that are made in memory with one setting after the other, measured and attacked."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

from policy_engine.api.exploration import Draw, Outcome, Reached, SettingRisk, TableBound
from policy_engine.audits.disclosure.gate import disclosure_shortfalls
from policy_engine.audits.utility.comparing import Sampled, measure_losses
from policy_engine.audits.utility.figures import Utility
from policy_engine.audits.utility.masking import Masked
from policy_engine.certificate.certificate import Certificate
from policy_engine.certificate.certifying import CertifiedRelease, certify, check_bounds
from policy_engine.engines import tables
from policy_engine.engines.engine import EarlyStop, Engine, StoredData, WrittenTable
from policy_engine.engines.origins import ORIGIN, rows_at
from policy_engine.engines.samples import SampleEvidence
from policy_engine.errors import CertificateError, PlanError
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.methods.audits.record_linkage import RecordLinkage
from policy_engine.methods.disclosure import (
    DisclosureBound,
    DisclosureMeasurement,
    InferenceMeasurement,
    RiskMeasurement,
)
from policy_engine.methods.masking import ImageMasking
from policy_engine.plan.plan import Plan
from policy_engine.plan.steps import AuditStep, DisclosureStep, Train
from policy_engine.plan.varying import Setting, varied_plan
from policy_engine.release.release import (
    MaskedTable,
    Release,
    anonymize_rows,
    mask_rows,
    sample_figures,
    sample_rows,
    with_rows,
)

CHEAP_ATTACKS = (
    "distance-linkage",
    "value-linkage",
    "exact-linkage",
    "mahalanobis-linkage",
    "probabilistic-linkage",
    "intersection-linkage",
    "likelihood-linkage",
)
"""The attacks that are made where a policy asks for none."""
_ANYTHING = DisclosureBound(measure="linked", asked=1 - 1e-9)
"""The bound of an attack that a policy does not ask for."""


def attacked_plan(plan: Plan) -> Plan:
    """Return a plan without training, and with an attack by record linkage if it has none.

    Raises PlanError (M013) where rows of the table are not what is linked, or nothing is known.
    """
    steps = [one for one in plan.steps if not isinstance(one, Train | AuditStep)]
    if any(isinstance(one.method, RecordLinkage) for one in plan.disclosures):
        return plan.model_copy(update={"steps": tuple(steps)})
    columns, earlier = plan.require_anonymize().columns, {one.name for one in plan.generalised}
    if columns.privacy_unit:
        message = "Record linkage counts rows, and the policy counts persons who have several."
        raise PlanError.of("M013", message, "Leave out pe:privacyUnit.")
    maskings = plan.mask.columns if plan.mask else ()
    masked = (one.name for one in maskings if not isinstance(one, ImageMasking))
    names = tuple(name for name in (*columns.quasi_names, *masked) if name not in earlier)
    if not names:
        message = "No column is generalised or masked whose values an intruder could compare."
        hint = "Name the known columns in a duty pe:recordLinkage on the output: pe:known."
        raise PlanError.of("M013", message, hint)
    method = RecordLinkage(bound=_ANYTHING, known=names, attacks=CHEAP_ATTACKS)
    attack = DisclosureStep(duty="", asset=plan.publish.asset, method=method)
    return plan.model_copy(update={"steps": (*steps[:-1], attack, steps[-1])})


class _Trial(NamedTuple):
    """A release as it was measured, how its search ended, and what attacks on it found."""

    certified: CertifiedRelease
    ended: EarlyStop | None
    draw: Draw | None


@dataclass(frozen=True)
class TrialReleases:
    """Releases of one table by one plan with several settings.

    The `table` has its rows numbered if the plan attacks; `asked` are the steps among them that the
    policy asks for. What no setting varies is drawn once for all of them, in each draw: if
    `keeps_sample` the sample, if `keeps_maskings` the masked values.
    """

    plan: Plan
    engine: Engine
    table: Any
    sources: tuple[StoredData, ...]
    asked: tuple[DisclosureStep, ...] = ()
    keeps_sample: bool = True
    keeps_maskings: bool = True
    _samples: dict[int, tuple[Any, SampleEvidence | None]] = field(default_factory=dict)
    _masked: dict[int, MaskedTable] = field(default_factory=dict)

    def outcome(self, setting: Setting, draws: int, tell: Callable[[int], None]) -> Outcome:
        """Return the outcome of a setting; raises what refuses its release in any draw.

        `tell` is told the number of each draw before it.
        """
        varied = varied_plan(self.plan, setting)
        start = time.perf_counter()
        trials = []
        for number in range(draws):
            tell(number)
            trials.append(self._trial(varied, number))
        seconds = time.perf_counter() - start
        attacked_draws = tuple(one.draw for one in trials if one.draw)
        return _figures(trials[0].certified).model_copy(
            update={
                "seconds": seconds,
                "ended": trials[0].ended,
                "draws": attacked_draws,
                "risk": SettingRisk.of(attacked_draws, self._bounds),
            }
        )

    @property
    def _bounds(self) -> tuple[TableBound, ...]:
        methods = [one.method for one in self.asked]
        bounds = ((m.bound,) if isinstance(m, RecordLinkage) else m.bounds for m in methods)
        return tuple(chain.from_iterable(bounds))

    @cached_property
    def _original(self) -> Any:
        """The table as it is compared: with the types of its values, and no numbers of rows."""
        return tables.infer_types(self.table.drop_columns([ORIGIN]))

    def _trial(self, plan: Plan, number: int) -> _Trial:
        table, sample = self._sampled(plan, number)
        masked = self._masked_rows(plan, number, table)
        made = replace(anonymize_rows(plan, self.engine, masked), sample=sample)
        if made.origins is not None:
            made = replace(made, before=rows_at(self.table, plan.compared, made.origins))
        rows_in = sample.rows_in if sample else made.rows
        written = self.engine.write(made, None)
        release = Release(
            plan=plan,
            output=written.stored,
            sources=with_rows(self.sources, rows_in),
            rows_in=rows_in,
            sample=sample_figures(plan, sample),
            suppressed=made.suppressed,
            gain=made.gain,
        )
        certified = certify(release, self.engine, written=written)
        _check_all_but_links(certified)
        draw = self._attacked(plan, written, certified) if plan.disclosures else None
        return _Trial(certified, made.early_stop, draw)

    def _sampled(self, plan: Plan, number: int) -> tuple[Any, SampleEvidence | None]:
        if self.keeps_sample and number in self._samples:
            return self._samples[number]
        sampled = sample_rows(plan, self.engine, self.table)
        if self.keeps_sample:
            self._samples[number] = sampled
        return sampled

    def _masked_rows(self, plan: Plan, number: int, table: Any) -> MaskedTable:
        if self.keeps_maskings and number in self._masked:
            return self._masked[number]
        masked = mask_rows(plan, self.engine, table)
        if self.keeps_maskings:
            self._masked[number] = masked
        return masked

    def _attacked(self, plan: Plan, written: WrittenTable, certified: CertifiedRelease) -> Draw:
        """Return what attacks reached on a release, and what it lost."""
        certificate = certified.certificate
        measured = certificate.disclosures
        made, columns = written.made_here(), plan.mask.columns if plan.mask else ()
        sampled = plan.sample and made.sample
        losses = measure_losses(
            self._original,
            written.table,
            plan.require_anonymize(),
            self.engine.taxonomies,
            Masked(columns),
            Sampled(sampled.rows, plan.sampling().weight_column) if sampled else None,
            made.origins,
        )
        masking = losses.masking
        whole = masking if isinstance(masking, NotApplicable) else masking.probabilistic
        return Draw(
            attacks=tuple(_reached(certificate)),
            risks=tuple(one for one in measured if isinstance(one, RiskMeasurement)),
            learned=tuple(one for one in measured if isinstance(one, InferenceMeasurement)),
            keeps_bounds=self._are_kept(certificate) if self.asked else None,
            il1s=masking if isinstance(masking, NotApplicable) else masking.il1s,
            probabilistic=whole if isinstance(whole, NotApplicable) else whole.total,
            query_error=losses.query_error,
        )

    def _are_kept(self, certificate: Certificate) -> bool:
        """Tell whether everything that the policy bounds of the table is within its bounds."""
        measured = [one for one in certificate.disclosures if one.bound != _ANYTHING]
        return not any(disclosure_shortfalls(self.asked, measured))


def _check_all_but_links(certified: CertifiedRelease) -> None:
    """Raise CertificateError with every bound that falls short, but for those on attacks."""
    try:
        check_bounds(certified)
    except CertificateError as error:
        others = [problem for problem in error.problems if problem.code != "V019"]
        if others:
            raise CertificateError(*others) from None


def _reached(certificate: Certificate) -> list[Reached]:
    return [
        Reached(
            attack=one.attack,
            known=one.known,
            records=one.records,
            baseline=one.baseline,
            linked=one.reached,
        )
        for one in certificate.disclosures
        if isinstance(one, DisclosureMeasurement)
    ]


def _figures(certified: CertifiedRelease) -> Outcome:
    """Return the figures of a release's classes, None where it has none."""
    loss = certified.utility
    utility = loss if isinstance(loss, Utility) else None
    return Outcome(
        classes=utility and utility.classes,
        average_class_ratio=utility and utility.average_class_ratio,
        global_certainty_penalty=utility and utility.global_certainty_penalty,
        discernability=utility and utility.discernability,
        suppressed=certified.known_record.suppressed,
        gain=certified.known_record.gain,
        measurements=certified.certificate.measurements,
        seconds=0.0,
    )
