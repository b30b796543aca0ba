"""What was measured on the output itself; no certificate, no release."""

import json
import platform
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from policy_engine import terms
from policy_engine.audits.gate import ModelFigures, format_measurement, shortfalls
from policy_engine.audits.utility.figures import Utility
from policy_engine.certificate.consistency import contradictions
from policy_engine.certificate.record import Count, Input, Record, named
from policy_engine.data.catalog import MEMORY, TABLE
from policy_engine.data.column_names import column_name
from policy_engine.data.commitment import Commitment, new_nonce
from policy_engine.engines.engine import Ended, Engine, Stored, Written
from policy_engine.engines.versions import NOT_INSTALLED, version_of
from policy_engine.errors import (
    CertificateError,
    InternalError,
    PolicyError,
    Problem,
    join_names,
)
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.methods import Measurement
from policy_engine.methods.audits.membership_inference import AttackMeasurement
from policy_engine.plan.inputs import Read
from policy_engine.plan.lineage import MadeBy, Maker, Upstream
from policy_engine.plan.plan import Plan
from policy_engine.plan.steps import Anonymize
from policy_engine.plan.training import FilesMeasured
from policy_engine.policy.syntax.json_text import read_json
from policy_engine.release.release import Release
from policy_engine.release.staging import CERTIFICATE, name_problem

FILE_NAME = CERTIFICATE


def _file_name(name: str) -> str:
    if name and name_problem(name):
        raise ValueError(f"a name that {name_problem(name)}")
    return name


class Certificate(BaseModel):
    """Proof of a release: the bounds asked for and achieved, measured on what was written.

    It holds the digests of the policy and of the output, so that neither can be changed
    unnoticed, and of what is not released no more than a commitment to the owner's record of it.
    `output_digest` is empty where an audit failed and nothing was released. `file` is the name
    of the output's file beside the certificate, empty for a table in memory. `approximated`
    columns have too many values for their first cuts to be looked for everywhere: those stand
    at quantiles. `ended` says of a search that its time limit ended it, and what was not looked at:
    every bound holds, and less might have been lost. `attacks` are the bounds of the plan's audits
    with what the attacks reached, `models` tells of each model that was attacked, and `attempts`
    how many times such models were made of the same data, this time counted, until the bounds
    held. `upstream` is the certified release that this was made from, with all before it; empty
    where no certificate tells of the input. `made_by` is the party who made it, with the rules by
    which it was permitted to, or the owner; None where an output was measured of which nobody knows
    how it was made. Of a model, measurements and `rows_out` are those of the table that it was
    trained on.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    plan: Plan
    file: Annotated[str, AfterValidator(_file_name)] = ""
    output_digest: Annotated[str, Field(pattern="^([0-9a-f]{64})?$")]
    commitment: Commitment | None = None
    rows_out: Count
    approximated: tuple[str, ...] = ()
    ended: Ended | None = None
    measurements: tuple[Measurement, ...]
    attacks: tuple[AttackMeasurement, ...] = ()
    attempts: Count = 0
    models: tuple[ModelFigures, ...] = ()
    files: FilesMeasured | None = None
    utility: Utility | NotApplicable
    upstream: tuple[Upstream, ...] = ()
    made_by: MadeBy = None
    versions: Annotated[dict[str, str], Field(default_factory=dict)]
    time: datetime

    @property
    def holds(self) -> bool:
        """Whether there is an output of which every bound that the policy asks for was achieved."""
        return not list(shortcomings(self))

    @property
    def tells_making(self) -> bool:
        """Whether it says how the output was made, not only what was measured on it."""
        return self.made_by is not None

    def refused(self) -> "Certificate":
        """Return what is told of a release that did not come to be: what its audits reached."""
        nothing = {"output_digest": "", "commitment": None, "rows_out": 0, "measurements": ()}
        nothing |= {"models": (), "ended": None}
        utility = NotApplicable(reason="nothing was released")
        return self.model_copy(update={**nothing, "approximated": (), "utility": utility})

    def to_jsonld(self) -> str:
        """Return the certificate as JSON-LD, in the terms of PROV-O where it has them."""
        facts = self.model_dump(mode="json")
        return json.dumps({**_provenance(self), "pe:certificate": facts}, indent=2) + "\n"


@dataclass(frozen=True)
class Certified:
    """What was found of a release: a certificate for everybody, and a record for its owner.

    The record is None where the input is not known.
    """

    certificate: Certificate
    record: Record | None

    @property
    def known(self) -> Record:
        """The record of a release whose input is known."""
        if self.record is None:
            raise InternalError.of("X001", "The input of a release is not known.")
        return self.record

    @property
    def utility(self) -> Utility | NotApplicable:
        """What was lost, as far as it is known here: suppressed rows are counted in a record."""
        return self.record.utility if self.record else self.certificate.utility


def certify(
    release: Release, engine: Engine, place: str = "", written: Written | None = None
) -> Certified:
    """Measure every bound of the plan on the release as it lies, read back from there.

    Of a model, on the table that it was trained on. `place` is where the output will be, for
    the record; `written` is what the engine made, where it did (`run_plan`). Returns the
    certificate whether or not the bounds hold; `check` insists on it.
    Raises CertificateError where the output has other columns than the plan releases (V002).
    """
    plan, asked = release.plan, release.plan.anonymize
    written = written or Written(release.sanitised or release.output)
    measured = None
    if asked is not None:
        _check_columns(release, written, asked, engine)
        measured = engine.measure(written, asked)
    masks = engine.measure_masks(written, plan.mask) if plan.mask else ()
    lost: Utility | NotApplicable = NotApplicable(reason="nothing was generalised")
    shown = lost
    if measured and asked:
        lost = Utility.of(measured.whole, asked.k, release.suppressed)
        shown = Utility.of(measured.whole, asked.k)
    if release.sanitised and asked:
        shown = NotApplicable(reason="the table that the model learnt from is not released")
    record = _record(release, lost, place) if release.sources else None
    certificate = Certificate(
        plan=plan.public(),
        file=Path(release.output.location).name if _is_file(release) else "",
        output_digest=release.output.digest,
        commitment=record.commitment if record else None,
        rows_out=measured.whole.rows if measured else written.stored.rows,
        approximated=release.approximated,
        ended=release.ended,
        measurements=(*measured.measurements, *masks) if measured else (),
        attacks=release.attacks,
        attempts=max(len({one.made for one in release.attempts}), bool(release.attacks)),
        models=release.models,
        files=release.files,
        utility=shown,
        upstream=release.upstream,
        made_by=release.made_by,
        versions=_versions(plan),
        time=datetime.now(UTC).replace(microsecond=0),
    )
    return Certified(certificate, record)


def _record(release: Release, lost: Utility | NotApplicable, place: str) -> Record:
    plan, asked = release.plan, release.plan.anonymize
    first, *others = (
        _input(plan, step, source) for step, source in zip(plan.reads, release.sources, strict=True)
    )
    return Record(
        nonce=new_nonce(),
        engine=plan.engine,
        release=release.output.digest,
        place=place,
        input=first,
        joined=tuple(others),
        rows_joined=release.rows_in if others else None,
        suppressed=release.suppressed,
        held_out=release.held_out,
        taxonomies=asked.taxonomies if asked else {},
        utility=lost,
        seed=release.seed,
        salt=release.salt,
        attempts=release.attempts,
    )


def _input(plan: Plan, step: Read, source: Stored) -> Input:
    unmentioned = plan.drop.unmentioned
    if plan.join:
        own = (column_name(step.asset, iri) for iri in unmentioned)
        unmentioned = tuple(name for name in own if name is not None)
    return Input(
        asset=step.asset,
        location=named(source.location),
        format=step.format,
        digest=source.digest,
        rows=source.rows,
        unmentioned=unmentioned,
    )


def check(found: Certified, source: str = "") -> None:
    """Raise CertificateError with every bound that falls short, and where it does.

    Where the record is at hand, also with the rows that were lost (V003).
    """
    problems = list(shortcomings(found.certificate))
    if found.record:
        problems += lost_rows(found.certificate, found.record)
    if problems:
        raise CertificateError(*problems, source=source)


def shortcomings(certificate: Certificate) -> Iterator[Problem]:
    """Yield every bound that a certificate shows to fall short, and where it does."""
    for measured in certificate.measurements:
        if not measured.holds and measured.bound in terms.maskings():
            message = f"{measured.achieved:g} cells of {measured.column!r} do not keep its "
            yield Problem("V001", f"{message}{measured.bound}.")
        elif not measured.holds:
            about = f" of {measured.column!r}" if measured.column else ""
            where = f"class {measured.worst}" if measured.worst is not None else "a class"
            message = (
                f"{measured.bound}{about} is to be {measured.sense} {measured.asked:g}, but is "
                f"{measured.achieved:g} in {where} of the output."
            )
            yield Problem("V001", message)
    yield from _unbounded(certificate)
    yield from _given_away(certificate)
    if not certificate.output_digest:
        yield Problem("V004", "Nothing was released: the certificate is of no output.")


UNMADE = "Its certificate does not say how it was made: the output was measured, and no more."
"""Why nobody takes a certificate for that of a release."""
MAKE = "Make it with policy-engine apply, or give the certificate that it was published with."


def lost_rows(certificate: Certificate, record: Record) -> Iterator[Problem]:
    """Yield whether rows are missing of which nobody knows, or more than may be suppressed."""
    left = record.rows_in - record.held_out - record.suppressed
    if left != certificate.rows_out:
        message = (
            f"The output has {certificate.rows_out} rows, the input {record.rows_in}, of "
            f"which {record.suppressed} were suppressed"
        )
        message += f" and {record.held_out} kept" if record.held_out else ""
        yield Problem("V003", f"{message}.")
    asked = certificate.plan.anonymize
    most = asked.recoding.max_suppression * record.rows_in if asked else 0
    if record.suppressed > most:
        message = f"{record.suppressed} rows are suppressed. Allowed are {int(most)}."
        yield Problem("V003", message)


def _unbounded(certificate: Certificate) -> Iterator[Problem]:
    """Yield the bounds on attacks that were not held, or not measured for every attack."""
    asked = [step.method for step in certificate.plan.audits]
    for sentence in shortfalls(asked, certificate.attacks):
        yield Problem("V007", sentence)
    allowed = min((method.attempts for method in asked if method.attempts), default=None)
    if allowed is not None and certificate.attempts > allowed:
        message = f"It took {certificate.attempts} attempts, and the policy allows {allowed}."
        yield Problem("V007", message)


def _given_away(certificate: Certificate) -> Iterator[Problem]:
    """Yield what the files of a model give away and should not, or that nobody looked into them."""
    asked, found = certificate.plan.file_bounds, certificate.files
    if asked is not None and (found is None or found.asked != asked):
        yield Problem("V011", "What the files of the model give away was not measured.")
    for sentence in found.shortcomings() if found else ():
        yield Problem("V011", sentence)


def proven(certificate: Certificate) -> str:
    """Return every bound with what was measured, in one line; empty where nothing was."""
    measured = map(_measured, certificate.measurements)
    attacked = (
        f"{one.attack} {format_measurement(one)} ({one.bound})"
        for one in certificate.attacks
        if not one.unfit
    )
    files = (f"{name} {found} ({asked})" for name, asked, found, _ in files_of(certificate))
    return ", ".join((*measured, *attacked, *files))


def _measured(one: Measurement) -> str:
    if one.bound in terms.maskings():
        kept = "kept" if one.holds else f"not kept by {one.achieved:g} cells"
        return f"{one.bound} of {one.column} {kept}"
    about = f" of {one.column}" if one.column else ""
    return f"{one.bound} {one.achieved:.6g} ({one.sense} {one.asked:g}){about}"


def files_of(certificate: Certificate) -> Iterator[tuple[str, str, str, bool]]:
    """Yield what was found in the files of a model: the bound, what is asked, what was found, and
    whether it holds."""
    found = certificate.files
    if found is None:
        return
    asked = found.asked
    least, holds = str(found.smallest_leaf), found.smallest_leaf >= asked.smallest_leaf
    yield "smallestLeaf", f"at least {asked.smallest_leaf}", least, holds
    rare, holds = str(found.rare_values), found.rare_values <= asked.rare_values
    yield "rareValues", f"at most {asked.rare_values}", rare, holds
    broken = len(found.broken)
    yield "checks of the files", "all passed", f"{broken} broken" if broken else "all", not broken


def read_certificate(text: str | bytes, source: str = "") -> Certificate:
    """Read a certificate back. Raises CertificateError (V005) where it is none.

    What its provenance says outside must agree with the facts inside, and nothing may stand
    twice: two readers of one certificate are to see the same. Figures that no release can have
    are refused, and so is a time in the future.
    """
    try:
        document = read_json(text, source)
        certificate = Certificate.model_validate_json(json.dumps(document.value["pe:certificate"]))
    except (ValueError, KeyError, TypeError, PolicyError) as error:
        message = f"The text is not a certificate of this version ({type(error).__name__})."
        raise CertificateError.of("V005", message, source=source) from None
    if document.problems or json.loads(certificate.to_jsonld()) != document.value:
        message = "The certificate contradicts itself, or says more than certificates do."
        raise CertificateError.of("V005", message, source=source)
    for wrong in contradictions(certificate):
        raise CertificateError.of(
            "V005", f"The certificate contradicts itself. {wrong}", "", source
        )
    return certificate


def check_digest(certificate: Certificate, output: Stored) -> None:
    """Raise CertificateError (V004) where an output is not the one that was certified."""
    if not certificate.output_digest:
        message = "The certificate beside the output is of none: nothing was released."
        raise CertificateError.of("V004", message, source=output.location)
    if certificate.output_digest != output.digest:
        message = (
            f"The output is not the one that was certified: its sha-256 is {output.digest}, "
            f"the certified one {certificate.output_digest}."
        )
        raise CertificateError.of("V004", message, source=output.location)


def _is_file(release: Release) -> bool:
    location = release.output.location
    return location != MEMORY and not location.startswith(TABLE)


def _check_columns(release: Release, written: Written, step: Anonymize, engine: Engine) -> None:
    asked, found = set(release.plan.publish.columns), set(engine.columns(written))
    for name in set(step.columns.quasi_names) - found:
        ends = {f"{name}_low", f"{name}_high"}
        if ends <= found:
            found = (found - ends) | {name}
    problems = []
    if found - asked:
        others = join_names(sorted(found - asked))
        message = f"The output holds {others}, which the policy does not release."
        problems.append(Problem("V002", message))
    if asked - found:
        message = (
            f"The output lacks {join_names(sorted(asked - found))}, which the policy releases."
        )
        problems.append(Problem("V002", message))
    if problems:
        raise CertificateError(*problems, source=release.output.location)


def _versions(plan: Plan) -> dict[str, str]:
    packages = ["policy-engine", "numpy", "numba", "pyarrow"]
    packages += ["pyspark"] * (plan.engine == "spark")
    packages += ["scikit-learn", *_OF_NETWORKS] * bool(plan.train or plan.audits)
    found = {name: version_of(name) for name in packages}
    installed = {name: said for name, said in found.items() if said != NOT_INSTALLED}
    return {**installed, "python": platform.python_version()}


_OF_NETWORKS = ("keras", "tensorflow", "tensorflow-cpu")
"""What trains networks; TensorFlow is installed under one of two names."""


def _provenance(certificate: Certificate) -> dict[str, Any]:
    """Return what made what (PROV-O): the output was generated by an activity that used the
    policy and the input, started by the engine."""
    plan = certificate.plan
    inputs = [step.asset for step in plan.reads]
    used = [plan.policy] + (inputs if certificate.commitment else [])
    return {
        "@context": {
            "prov": "http://www.w3.org/ns/prov#",
            "pe": "https://w3id.org/policy-engine/ns#",
            "xsd": "http://www.w3.org/2001/XMLSchema#",
            "used": {"@id": "prov:used", "@type": "@id"},
            "endedAtTime": {"@id": "prov:endedAtTime", "@type": "xsd:dateTime"},
            "pe:certificate": {"@type": "@json"},
        },
        "@id": plan.publish.asset,
        "@type": "prov:Entity",
        **({"pe:sha256": certificate.output_digest} if certificate.output_digest else {}),
        **_derived_from(certificate.upstream, inputs if plan.join else ()),
        "prov:wasGeneratedBy": {
            "@type": "prov:Activity",
            "used": used,
            "endedAtTime": certificate.time.isoformat(),
            "prov:wasAssociatedWith": {
                "@type": "prov:SoftwareAgent",
                "pe:version": certificate.versions.get("policy-engine", ""),
                **_on_behalf_of(certificate.made_by),
            },
        },
    }


def _on_behalf_of(made_by: MadeBy) -> dict[str, Any]:
    """Return the party that the engine acted for, where it is not the owner."""
    if not isinstance(made_by, Maker):
        return {}
    return {"prov:actedOnBehalfOf": {"@id": made_by.party, "@type": "prov:Agent"}}


def _derived_from(upstream: Sequence[Upstream], inputs: Sequence[str] = ()) -> dict[str, Any]:
    """Return the certified releases that something was made from, and the `inputs` of a join."""
    entities: list[dict[str, Any]] = [
        {"@id": one.asset, "pe:sha256": one.output_digest, **_derived_from(one.upstream)}
        for one in upstream
    ]
    known = {one.asset for one in upstream}
    entities += [{"@id": asset} for asset in inputs if asset not in known]
    return {"prov:wasDerivedFrom": entities} if entities else {}
