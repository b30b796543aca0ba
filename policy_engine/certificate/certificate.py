"""The certificate of a release, as JSON-LD and back."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    SerializerFunctionWrapHandler,
    model_serializer,
)

from policy_engine.audits.disclosure.unique_rows import UniqueRows
from policy_engine.audits.gate import ModelFigures
from policy_engine.audits.utility.figures import Utility
from policy_engine.certificate.class_figures import ClassFigures
from policy_engine.certificate.composed import ComposedReleases
from policy_engine.certificate.consistency import contradictions
from policy_engine.certificate.label_figures import LabelFigures
from policy_engine.certificate.randomised import RandomisedColumn
from policy_engine.certificate.record import Count
from policy_engine.certificate.shortcomings import shortcomings
from policy_engine.certificate.signature import Signature, sign_written, unwrap
from policy_engine.certificate.synthetic import synthetic_warning
from policy_engine.data.commitment import Commitment
from policy_engine.engines.engine import EarlyStop, StoredData
from policy_engine.engines.samples import SampleFigures
from policy_engine.engines.snapshots import TableSnapshot
from policy_engine.engines.suppression_gain import LoweredLoss
from policy_engine.errors import (
    CertificateError,
    InternalError,
    PolicyError,
)
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.methods import Measurement
from policy_engine.methods.audits.attribute_inference import AttributeInference
from policy_engine.methods.audits.membership_inference import AttackMeasurement
from policy_engine.methods.audits.population_risk import PopulationRisk
from policy_engine.methods.audits.record_linkage import RecordLinkage
from policy_engine.methods.disclosure import Measured
from policy_engine.methods.generative import GenerativeMeasurement
from policy_engine.methods.model_secrets import SecretMeasurement
from policy_engine.plan.lineage import MadeBy, Maker, Upstream
from policy_engine.plan.plan import Plan
from policy_engine.plan.training import FilesMeasured
from policy_engine.policy.syntax.json_text import Document, read_json
from policy_engine.release.staging import name_problem
from policy_engine.trust.proofs import Signer

if TYPE_CHECKING:
    from policy_engine.engines.masking.columns import ColumnJudgement


def _file_name(name: str) -> str:
    if name and name_problem(name):
        raise ValueError(f"a name that {name_problem(name)}")
    return name


class MaskedColumn(BaseModel):
    """What a masked column shows besides its bound, as far as it could be measured.

    `unchanged` is the share of the values that are as before. The other figures are those of the
    masking, such as `varianceRatio` or `largestRankMove`. The `matrix` of a post-randomisation has
    the probability of every published category (columns), given that of the input (rows), both
    in the order of `categories`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    column: str
    masking: str
    figures: Mapping[str, Annotated[float, Field(allow_inf_nan=False)]]
    categories: tuple[str, ...] = ()
    matrix: tuple[tuple[Annotated[float, Field(ge=0, le=1)], ...], ...] = ()

    @classmethod
    def of(cls, judgement: "ColumnJudgement") -> "MaskedColumn":
        """Return what a column shows, as it was written."""
        masking = judgement.masking
        return cls(
            column=masking.name,
            masking=masking.masking,
            figures=judgement.figures,
            categories=judgement.categories,
            matrix=judgement.matrix,
        )


class Certificate(BaseModel):
    """Proof of a release: the required and achieved bounds, measured on the written output.

    It has the digests of the policy and of the output, so that neither can be changed unnoticed,
    and nothing about unreleased data except a commitment to the owner's record. `output_digest` is
    empty if an audit failed and nothing was released. `file` is the name of the output's file
    beside the certificate, empty for a table in memory. A release by buckets is a folder, and
    `tables` has the sha-256 of each of its files by their names; what they hold together has the
    `output_digest` of their manifest. `snapshot` is the version of a table of a catalog that keeps
    its versions. `approximated` columns have too many values
    to search for their first cuts everywhere, so these are at quantiles. `ended` says that a time
    limit ended a search, and what was not searched: every bound holds, but less information might
    have been lost. `lowered_loss` says what it gained to form classes without outlying rows; None
    where no row may be left out so, or nobody knows. `attacks` are the bounds of the plan's audits
    with what the attacks reached, `models` describes each attacked model, and `attempts` counts how
    many times such models, or rows, were made of the same data and attacked, including this one,
    until the bounds held.
    `upstream` is the certified release that this one was made from, with all before it; empty if
    the input has no certificate.
    `sample` says how large the sample of rows is that was released, if one was: the number of rows
    of the input follows from it. `class_figures` are those of classes by microaggregation,
    `label_figures` tell what accuracy-guided classes disclose of the label, and `disclosures` what
    attacks on the table reached. `unique_rows` tells how many rows are unique on what is kept
    exact, of which no bound on classes says anything; None where nobody counted. `uncovered` are
    the IRIs of other releases of the same data, of which the epsilon of statistics says nothing.
    `randomised` tells the probabilities of records that were randomised, `synthetic_attacks` what
    attacks on made-up rows, or on their generator, reached, `secret_attacks` what those on columns
    of a model did. `composition` is the bound that holds of it together with earlier releases of
    the same persons, if the policy asks for one.
    `made_by` is the party who made it, with the permitting rules, or the owner; None if an existing
    output was measured and nobody knows how it was made. For a model, measurements and `rows_out`
    are those of the table that it was trained on; for a generator, those of the rows that were
    drawn from it to be measured and attacked. `signature` is by whose key it is signed, None where
    nobody signed it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    plan: Plan
    file: Annotated[str, AfterValidator(_file_name)] = ""
    output_digest: Annotated[str, Field(pattern="^([0-9a-f]{64})?$")]
    tables: Mapping[str, Annotated[str, Field(pattern="^[0-9a-f]{64}$")]] = Field(
        default_factory=dict
    )
    snapshot: TableSnapshot | None = None
    commitment: Commitment | None = None
    rows_out: Count
    approximated: tuple[str, ...] = ()
    ended: EarlyStop | None = None
    lowered_loss: LoweredLoss | None = None
    measurements: tuple[Measurement, ...]
    sample: SampleFigures | None = None
    maskings: tuple[MaskedColumn, ...] = ()
    class_figures: ClassFigures | None = None
    label_figures: LabelFigures | NotApplicable | None = None
    disclosures: tuple[Measured, ...] = ()
    attacks: tuple[AttackMeasurement, ...] = ()
    attempts: Count = 0
    models: tuple[ModelFigures, ...] = ()
    files: FilesMeasured | None = None
    randomised: tuple[RandomisedColumn, ...] = ()
    synthetic_attacks: tuple[GenerativeMeasurement, ...] = ()
    secret_attacks: tuple[SecretMeasurement, ...] = ()
    unique_rows: UniqueRows | NotApplicable | None = None
    composition: ComposedReleases | None = None
    utility: Utility | NotApplicable
    upstream: tuple[Upstream, ...] = ()
    uncovered: tuple[str, ...] = ()
    made_by: MadeBy = None
    versions: Annotated[dict[str, str], Field(default_factory=dict)]
    time: datetime
    _signature: Signature | None = PrivateAttr(default=None)

    @model_serializer(mode="wrap")
    def _omit_absent(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Omit `maskings` where no column is masked, `sample` where all rows are used, `tables`
        where there is one, `snapshot` where no versions are kept, `class_figures` without
        classes by microaggregation, `label_figures`
        without accuracy-guided ones, `disclosures` where the table is not attacked, `uncovered`
        where nothing else of the data is released, `randomised` where no records are,
        `synthetic_attacks` without attacks on made-up rows, `secret_attacks` without those on
        columns of a model, `unique_rows` where no rows are released or they were not
        counted, `lowered_loss` where no outlying rows may be left out, and `composition` where
        nothing is asked of several releases together."""
        values: dict[str, Any] = serialize(self)
        optional = ["sample", "maskings", "tables", "class_figures", "disclosures", "uncovered"]
        optional += ["randomised", "synthetic_attacks", "label_figures", "secret_attacks"]
        optional += ["unique_rows", "lowered_loss", "composition", "snapshot"]
        absent = {name for name in optional if not getattr(self, name)}
        return {name: value for name, value in values.items() if name not in absent}

    @property
    def signature(self) -> Signature | None:
        """The signature, with everything that is signed around the facts."""
        return self._signature

    def signed(
        self,
        signer: Signer,
        *,
        valid_until: datetime | None = None,
        status: Mapping[str, Any] | None = None,
        evidence: Sequence[Mapping[str, str]] = (),
    ) -> "Certificate":
        """Return the certificate as a credential of who signs (W3C VC Data Model 2.0).

        It is valid from now on, until `valid_until` if that is given; by the `status`, an entry of
        a status list, it can be withdrawn; `evidence` is what who signs relied on. Raises
        TrustError (Y004) where it cannot be signed.
        """
        options = (signer, valid_until, status, evidence)
        return self._with_signature(sign_written(_written(self), *options))

    def unsigned(self) -> "Certificate":
        """Return the certificate without its signature, as before a fact of it is changed."""
        return self._with_signature(None)

    def _with_signature(self, signature: Signature | None) -> "Certificate":
        other = self.model_copy()
        other._signature = signature  # noqa: SLF001 (of the copy)
        return other

    @property
    def holds(self) -> bool:
        """Whether there is an output for which every required bound was achieved."""
        return not list(shortcomings(self))

    @property
    def warning(self) -> str:
        """What to know before its figures are read; empty where classes of rows that are alike
        hold privacy models."""
        anonymize = self.plan.anonymize
        if self.plan.generation is not None:
            return synthetic_warning(self.plan.generation, self.plan.synthetic_audits)
        if anonymize is not None and anonymize.is_in_buckets:
            return _EXACT
        if anonymize is not None and anonymize.is_permuted:
            return _PERMUTED
        if anonymize is None or anonymize.models:
            return ""
        done = ["rows are sampled"] if self.plan.sample else []
        done += ["columns are masked"] if self.plan.mask else []
        if self.plan.disclosures:
            methods = [type(one.method) for one in self.plan.disclosures]
            bounded = " and ".join(text for kind, text in _BOUNDED.items() if kind in methods)
            return _ATTACKED.format(" and ".join(done), bounded)
        return _UNBOUNDED.format(" and ".join(done))

    @property
    def tells_making(self) -> bool:
        """Whether it says how the output was made, not only what was measured."""
        return self.made_by is not None

    def as_refusal(self) -> "Certificate":
        """Return the certificate of a release that was refused: only what its audits reached."""
        changes: dict[str, Any] = {"output_digest": "", "commitment": None, "rows_out": 0}
        changes |= {"measurements": (), "disclosures": ()}
        changes |= {"maskings": (), "class_figures": None, "sample": None, "tables": {}}
        changes |= {"models": (), "ended": None, "label_figures": None, "unique_rows": None}
        changes |= {"lowered_loss": None, "composition": None, "snapshot": None}
        utility = NotApplicable(reason="nothing was released")
        return self.unsigned().model_copy(
            update={**changes, "approximated": (), "utility": utility}
        )

    def _repr_html_(self) -> str:
        from policy_engine.certificate.page import certificate_html  # noqa: PLC0415 (imports this)

        return certificate_html(self)

    def to_jsonld(self) -> str:
        """Return the certificate as JSON-LD, in the terms of PROV-O where it has them; a signed one
        as a Verifiable Credential."""
        written = _written(self)
        whole = written if self._signature is None else self._signature.around(written)
        return json.dumps(whole, indent=2) + "\n"


_EXACT = (
    "Quasi-identifiers are released as they are: they show who is in the table. What is bounded is "
    "what the buckets tell of the sensitive values."
)
_PERMUTED = (
    "Values of quasi-identifiers are as they were, and show who may be in the table. What is "
    "bounded is how surely a row is linked to them: this is not k-anonymity."
)
_ATTACKED = "No syntactic guarantee was asked for: {}. What is bounded is {}, knowing some columns."
_BOUNDED: Mapping[type, str] = {
    RecordLinkage: "how many records are found by the attacks that were made",
    PopulationRisk: "how few rows, or persons, are alike",
    AttributeInference: "what is learned of columns",
}
_UNBOUNDED = "No syntactic guarantee was asked for: {}, and nothing bounds what a row reveals."


def readable_text(certificate: Certificate) -> str:
    """Return a certificate as it is published, after reading it as everybody will.

    Raises CertificateError (V017) if it is too large to be read.
    """
    text = certificate.to_jsonld()
    try:
        document = read_json(text)
    except PolicyError as error:
        subject = certificate.file or certificate.plan.publish.asset
        message = f"The certificate of {subject!r} could not be read. {error.problems[0].message}"
        hint = "Mask fewer columns by matrices, or shorten categories and names."
        raise CertificateError.of("V017", message, hint) from None
    if _in_document(document) != certificate:
        raise InternalError.of("X001", "A certificate is not what is read of it.")
    return text


def read_certificate(text: str | bytes, source: str = "") -> Certificate:
    """Read a certificate, signed or not. Raises CertificateError (V005) if the text is not one, and
    as `unwrap` does if it is signed and its proof does not hold.

    Its provenance section must agree with its facts, and no key may appear twice, so that two
    readers of one certificate see the same. Figures that no release can have are refused, and so is
    a time in the future.
    """
    try:
        document = read_json(text)
    except (ValueError, TypeError, PolicyError) as error:
        raise CertificateError.of("V005", _unlike_ours(error), source=source) from None
    return _in_document(document, source)


def _unlike_ours(error: Exception) -> str:
    return f"The text is not a certificate of this version ({type(error).__name__})."


def _in_document(document: Document, source: str = "") -> Certificate:
    """Return the certificate that a text holds, once it agrees with all that the text says."""
    value, signature = unwrap(document.value, source)
    try:
        certificate = Certificate.model_validate_json(json.dumps(value["pe:certificate"]))
    except (ValueError, KeyError, TypeError) as error:
        raise CertificateError.of("V005", _unlike_ours(error), source=source) from None
    # Without indentation json.dumps is not written in Python, and several times as fast.
    if document.problems or json.loads(json.dumps(_written(certificate))) != value:
        message = "The certificate contradicts itself, or has fields that certificates do not have."
        raise CertificateError.of("V005", message, source=source)
    for contradiction in contradictions(certificate):
        raise CertificateError.of(
            "V005", f"The certificate contradicts itself. {contradiction}", "", source
        )
    return certificate if signature is None else certificate._with_signature(signature)  # noqa: SLF001


def check_digest(certificate: Certificate, output: StoredData) -> None:
    """Raise CertificateError (V004) if an output is not the certified one."""
    if not certificate.output_digest:
        message = "The certificate beside the output says that nothing was released."
        raise CertificateError.of("V004", message, source=output.location)
    if certificate.output_digest != output.digest:
        message = (
            f"The output is not the one that was certified: its sha-256 is {output.digest}, "
            f"the certified one {certificate.output_digest}."
        )
        raise CertificateError.of("V004", message, source=output.location)


def _written(certificate: Certificate) -> dict[str, Any]:
    """Return what is written of a certificate."""
    facts = certificate.model_dump(mode="json")
    warning = {"pe:warning": certificate.warning} if certificate.warning else {}
    return {**warning, **_provenance(certificate), "pe:certificate": facts}


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
                **_represented_party(certificate.made_by),
            },
        },
    }


def _represented_party(made_by: MadeBy) -> dict[str, Any]:
    """Return the party that the engine acted for, if it is not the owner."""
    if not isinstance(made_by, Maker):
        return {}
    return {"prov:actedOnBehalfOf": {"@id": made_by.party, "@type": "prov:Agent"}}


def _derived_from(upstream: Sequence[Upstream], inputs: Sequence[str] = ()) -> dict[str, Any]:
    """Return the certified releases that an output was made from, and the `inputs` of a join."""
    entities: list[dict[str, Any]] = [
        {"@id": one.asset, "pe:sha256": one.output_digest, **_derived_from(one.upstream)}
        for one in upstream
    ]
    named = {one.asset for one in upstream}
    entities += [{"@id": asset} for asset in inputs if asset not in named]
    return {"prov:wasDerivedFrom": entities} if entities else {}
