"""What will be done: typed steps, bound to data and an engine, printable and serialisable."""

import hashlib
import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal, TypeVar, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from policy_engine import terms
from policy_engine.data.catalog import Catalog
from policy_engine.data.column_names import column_iri
from policy_engine.errors import DataError, PlanError, Problem, join_names, place_order
from policy_engine.methods import Bound, Finding, parameters
from policy_engine.methods.conflicts import option_conflicts
from policy_engine.methods.findings import format_value
from policy_engine.methods.masking import ColumnMasking
from policy_engine.methods.recoding import ON_CLUSTERS, Algorithm, RecodingOptions
from policy_engine.plan.anonymization import Anonymization, Transformation
from policy_engine.plan.chaining import check_read_as_meant
from policy_engine.plan.inputs import Drop, Join, Read, inputs_of, learnt_from
from policy_engine.plan.joins import MASKED
from policy_engine.plan.lineage import Consented, Generalised, Upstream
from policy_engine.plan.products import Product, chosen
from policy_engine.plan.reading_parameters import parameters_of
from policy_engine.plan.reading_samples import check_weight_name
from policy_engine.plan.spelling import column_problems
from policy_engine.plan.steps import (
    Anonymize,
    AuditStep,
    CellStyle,
    Mask,
    Publish,
    Sample,
    Train,
    steps_of,
)
from policy_engine.plan.training import FEWEST, FileBounds, Training
from policy_engine.policy import Policy, Rule

EngineName = Literal["local", "spark"]
S = TypeVar("S", bound=BaseModel)


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


_OF_TABLE = "drop (rows )?(columns )*table "
_OF_MODEL = "drop (table (model )?|model )(audit )*"
_ORDER = re.compile(f"(read ({_OF_TABLE}|{_OF_MODEL})|(read ){{2,}}join {_OF_TABLE})publish ")
"""The phases of a plan; models do not learn from samples, masked columns or joined
inputs (M012, M016)."""
AnyStep = Annotated[
    Read | Join | Drop | Sample | Mask | Anonymize | Train | AuditStep | Publish,
    Field(discriminator="step"),
]


class Plan(_Frozen):
    """The steps that carry out one permission of a policy, or one to train on another's output.

    `policy_digest` is the digest of what the policy means; assignees and purposes are those that
    the output is made for. `by_consent` are the rules by which owners of inputs consent to it; the
    policy asks for no less than they do.
    """

    policy: str
    policy_digest: str
    rule: str
    assignees: tuple[str, ...]
    purposes: tuple[str, ...]
    engine: EngineName
    steps: tuple[AnyStep, ...]
    by_consent: tuple[Consented, ...] = ()

    @model_serializer(mode="wrap")
    def _omit_empty(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Omit `by_consent` where it is empty, as in plans of one owner."""
        values: dict[str, Any] = serialize(self)
        return values if self.by_consent else {k: v for k, v in values.items() if k != "by_consent"}

    @model_validator(mode="after")
    def _fits_together(self) -> "Plan":
        """Raise ValueError for steps that no policy has: whoever reads a plan relies on that."""
        if not _ORDER.fullmatch("".join(f"{step.phase} " for step in self.steps)):
            raise ValueError("the steps are not those of a plan, in their order")
        once = [step.step for step in self.steps if step.phase == "columns"]
        if len(set(once)) < len(once):
            raise ValueError("a step on columns appears twice")
        anonymize, published = self.anonymize, sorted(self.publish.columns)
        if anonymize and "masking" in anonymize.methods and not (self.mask or self.sample):
            raise ValueError("masking is asked for, and nothing is masked or sampled")
        if anonymize and anonymize.columns.privacy_unit and not anonymize.models:
            raise ValueError("persons are counted for privacy models alone")
        if self.sample and anonymize and anonymize.models and self.sample.unit != self.unit:
            raise ValueError("what is sampled is not what is counted")
        released = [name for step in self.steps for name in step.released]
        released = released if anonymize else [*learnt_from(self.train)]
        used = [name for name in published if name not in self.added]
        unit = [self.unit] if self.unit else []
        if published != sorted(released) or sorted(self.columns) != sorted([*used, *unit]):
            raise ValueError("the columns of the steps are not the same")
        joined = [(one.asset, sorted(one.read)) for one in self.join.inputs] if self.join else []
        if self.join and joined != [(one.asset, sorted(one.columns)) for one in self.reads]:
            raise ValueError("the inputs of the join are not those that are read")
        return self

    @property
    def digest(self) -> str:
        """The sha-256 of the plan's JSON."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()

    @property
    def reads(self) -> tuple[Read, ...]:
        """The steps that read the inputs, one unless several are joined."""
        return tuple(step for step in self.steps if isinstance(step, Read))

    @property
    def read(self) -> Read:
        """The step that reads the input of a plan that has one."""
        return self._only(Read)

    @property
    def join(self) -> Join | None:
        """The step that joins several inputs into one table, None where there is one input."""
        return next((step for step in self.steps if isinstance(step, Join)), None)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the table that is anonymised or learnt from, in their order."""
        return self.join.columns if self.join else self.read.columns

    @property
    def assets(self) -> tuple[str, ...]:
        """The IRIs of the inputs."""
        return tuple(one.asset for one in self.reads)

    def iri_of(self, name: str) -> str:
        """Return the IRI of a column of the table, by the input that it comes from."""
        inputs = self.join.inputs if self.join else ()
        asset = next((one.asset for one in inputs if name in one.columns), self.assets[0])
        return column_iri(asset, name)

    @property
    def generalised(self) -> tuple[Generalised, ...]:
        """The columns of the table that an earlier release generalised."""
        return tuple(one for read in self.reads for one in read.generalised)

    @property
    def drop(self) -> Drop:
        """The step that leaves columns out."""
        return self._only(Drop)

    @property
    def anonymize(self) -> Anonymize | None:
        """The step that generalises, None where a model is trained on the records as they are."""
        return next((step for step in self.steps if isinstance(step, Anonymize)), None)

    @property
    def unit(self) -> str:
        """The column that tells persons apart, empty where rows are counted and sampled."""
        counted = self.anonymize.columns.privacy_unit if self.anonymize else ""
        return counted or (self.sample.unit if self.sample else "")

    @property
    def sample(self) -> Sample | None:
        """The step that samples rows, None where all are released."""
        return next((step for step in self.steps if isinstance(step, Sample)), None)

    @property
    def added(self) -> tuple[str, ...]:
        """The columns of the output that are not columns of the input."""
        return self.sample.released if self.sample else ()

    @property
    def mask(self) -> Mask | None:
        """The step that masks columns value by value, None where none is masked."""
        return next((step for step in self.steps if isinstance(step, Mask)), None)

    def bounds(self) -> tuple[Bound, ...]:
        """Return every bound that is measured on the output, or on what a model learnt from."""
        return tuple(bound for step in self.steps for bound in step.bounds())

    @property
    def unmasked_columns(self) -> tuple[str, ...]:
        """The columns whose values a released row has as they are in the input."""
        anonymization = self.anonymization()
        columns = anonymization.columns
        sensitive = () if anonymization.is_in_buckets else columns.sensitive_names
        published = {*self.publish.columns}
        return tuple(name for name in (*columns.insensitive, *sensitive) if name in published)

    def sampling(self) -> Sample:
        """Return the step that samples rows. Raises PlanError (M007) where there is none."""
        if self.sample is None:
            raise PlanError.of("M007", f"{self.rule} samples nothing: it releases all rows.")
        return self.sample

    @property
    def shown_strata(self) -> tuple[str, ...]:
        """The columns that a sample is stratified by, if all are released as they are."""
        names = self.sample.stratified_by if self.sample else ()
        return names if {*names} <= {*self.unmasked_columns} else ()

    @property
    def most_suppressed(self) -> float:
        """The share of the rows that may be suppressed."""
        return self.anonymization().recoding.max_suppression

    def anonymization(self) -> Anonymize:
        """Return the step that generalises. Raises PlanError (M007) where there is none."""
        if self.anonymize is None:
            raise PlanError.of("M007", f"{self.rule} anonymises nothing: it trains a model.")
        return self.anonymize

    def check_one_input(self, use: str) -> None:
        """Raise PlanError (M016) where several inputs were joined: there is not one table."""
        if self.join:
            message = f"{' and '.join(self.assets)} were joined: they are not one table that "
            message += f"the output could be {use}."
            raise PlanError.of("M016", message, "Join them in a file of your own.")

    @property
    def train(self) -> Train | None:
        """The step that trains the model that is released, if one is."""
        return next((step for step in self.steps if isinstance(step, Train)), None)

    @property
    def audits(self) -> tuple[AuditStep, ...]:
        """The audits, in order."""
        return tuple(step for step in self.steps if isinstance(step, AuditStep))

    @property
    def fewest(self) -> int:
        """How many records every figure of a model of this plan is about, at least."""
        return max(FEWEST, self.anonymize.k) if self.anonymize else FEWEST

    @property
    def cells_learnt(self) -> tuple[Generalised, ...]:
        """The columns that models learn from and that an earlier release generalised."""
        modellings = [one.modelling for one in self.audits] + ([self.train] if self.train else [])
        features = {name for one in modellings for name in one.features}
        return tuple(one for one in self.generalised if one.name in features)

    @property
    def values_read(self) -> tuple[str, ...]:
        """The columns of the input whose values some step depends on, in their order."""
        names = {name for step in self.steps for name in step.values_read}
        return tuple(name for name in self.columns if name in names)

    @property
    def file_bounds(self) -> FileBounds | None:
        """The bounds on the files of the model that is released, None where none is."""
        if self.train is None:
            return None
        return FileBounds(smallest_leaf=self.fewest).replace_bounds(
            *(one.files for one in self.audits)
        )

    @property
    def publish(self) -> Publish:
        """The step that writes the output."""
        return self._only(Publish)

    def without_audits(self) -> "Plan":
        """Return the plan without the steps that train or attack models."""
        steps = tuple(step for step in self.steps if not isinstance(step, Train | AuditStep))
        return self.model_copy(update={"steps": steps})

    def public(self) -> "Plan":
        """Return the plan with what its policy says, and nothing that only the data tell.

        The location of the input, what it was made from, columns that the policy does not mention,
        and the digests of taxonomies are left out: a digest would confirm a guess.
        """
        return self.model_copy(update={"steps": tuple(step.public() for step in self.steps)})

    def _only(self, kind: type[S]) -> S:
        [step] = [step for step in self.steps if isinstance(step, kind)]
        return step


def make_plan(
    policy: Policy,
    catalog: Catalog | None = None,
    *,
    asset: str = "",
    engine: EngineName = "local",
    cells: CellStyle = "text",
    upstream: Sequence[Upstream] = (),
) -> Plan:
    """Return the plan that makes one output of a policy.

    The output is an anonymised table, a model, or a model of an anonymised table, with the audits
    that duties ask for. `asset` names it where the policy has several. With a catalog, the plan is
    bound to the data; without, it says what would be done to any data. `upstream` describes the
    releases that the data are: their generalised columns are not read as values. Raises PlanError
    with every problem that shows without the data's values, or with everything that the engine
    lacks (M009), and DataError where the data lacks a column or a taxonomy cannot be read.
    """
    return plan_of(policy, chosen(policy, asset), catalog, engine, cells, upstream)


def plan_of(
    policy: Policy,
    product: Product,
    catalog: Catalog | None = None,
    engine: EngineName = "local",
    cells: CellStyle = "text",
    upstream: Sequence[Upstream] = (),
) -> Plan:
    """Return the plan that makes a given output of a policy; otherwise as `make_plan`."""
    sanitised, training, audits = product.transformation, product.training, product.audits
    rule, anonymization = product.rule, sanitised.anonymization if sanitised else None
    _check_engine(policy, sanitised, engine, audited=bool(training or audits))
    learnt = [one.modelling for one in audits] + ([training] if training else [])
    generalised = check_read_as_meant(policy, sanitised, learnt, upstream)
    target = (sanitised.rule if sanitised else rule).targets[0].iri
    joined = sanitised.joined if sanitised else ()
    digests: dict[str, str] = {}
    if catalog is not None and sanitised:
        digests |= catalog.taxonomy_digests(sanitised.taxonomies)
        digests |= catalog.matrix_digests(sanitised.matrices)
    reads, join, drop = inputs_of(target, joined, sanitised, training, catalog)
    reads = _add_generalised(reads, join, generalised)
    if sanitised is not None:
        given, assets = parameters_of(sanitised.action), [one.asset for one in reads]
        check_weight_name(sanitised.sampling, given, catalog, assets, policy.source)
    problems = column_problems(policy, catalog) if catalog is not None else []
    if problems:
        raise DataError(*problems, source=policy.source)
    steps: list[AnyStep] = [*reads, *([join] if join else []), drop]
    if sanitised is not None:
        steps += steps_of(sanitised, digests)
    if training is not None:
        steps.append(Train(**dict(training)))
    steps += [AuditStep(**dict(audit)) for audit in audits]
    unit = anonymization.columns.privacy_unit if anonymization else ""
    read_columns = join.columns if join else reads[0].columns
    columns = tuple(name for name in read_columns if name != unit)
    columns += sanitised.added if sanitised else ()
    steps.append(Publish(asset=rule.output, columns=columns, cells=cells))
    return Plan(
        policy=policy.uid,
        policy_digest=policy.digest,
        rule=rule.label(),
        assignees=tuple(dict.fromkeys(_readers(policy, rule, training))),
        purposes=rule.purposes,
        engine=engine,
        steps=tuple(steps),
    )


def _add_generalised(
    reads: Sequence[Read], join: Join | None, generalised: Sequence[Generalised]
) -> tuple[Read, ...]:
    """Return the steps that read, each with its columns that are generalised."""
    used = [one.columns for one in (join.inputs if join else reads)]
    return tuple(
        read.model_copy(update={"generalised": tuple(g for g in generalised if g.name in names)})
        for read, names in zip(reads, used, strict=True)
    )


def _readers(policy: Policy, rule: Rule, training: Training | None) -> Iterator[str]:
    """Yield the parties an output is made for: the rule's assignees, and all who may use a
    model."""
    users = (one for one in policy.permissions if training and _is_on(one, training.output))
    for one in (rule, *users):
        yield from (party.iri for party in one.assignees)


def _is_on(rule: Rule, asset: str) -> bool:
    return asset in [target.iri for target in rule.targets]


def _check_engine(
    policy: Policy, transformation: Transformation | None, engine: EngineName, *, audited: bool
) -> None:
    """Raise PlanError (M009) with every method and option that the engine lacks."""
    problems = []
    if transformation is not None:
        anonymization = transformation.anonymization
        places = {name: part.place for name, part in parameters_of(transformation.action).items()}
        lacking = [
            *_lacking_methods(anonymization, engine),
            *_lacking_options(anonymization.recoding, engine),
        ]
        lacking += _lacking_maskings(transformation.maskings, engine)
        problems += [
            Problem(one.code, one.message, hint, places[one.parameter]) for one, hint in lacking
        ]
    for notation, term in terms.audit_methods().items() if audited else ():
        if engine not in term.texts("engine"):
            message = f"The {engine} engine has no method {notation!r}."
            problems.append(Problem("M009", message, f"Instead, {_elsewhere(term)}", policy.place))
    if problems:
        raise PlanError(*sorted(problems, key=place_order), source=policy.source)


_REASONS = {
    "bucketization": "Buckets take all rows in one order: that of their sensitive values, or of "
    "their quasi-identifiers."
}
"""Why an engine lacks an option."""
_Lacking = Iterator[tuple[Finding, str]]
"""What an engine lacks, each with a hint at what is possible instead."""


def _lacking_methods(anonymization: Anonymization, engine: EngineName) -> _Lacking:
    known = terms.methods()
    supported = [name for name, term in known.items() if engine in term.texts("engine")]
    for name in anonymization.methods:
        if name not in supported:
            message = f"The {engine} engine has no method {name!r}. "
            message += f"It has {join_names(supported) if supported else 'none'}."
            hint = f"Ask for another method, or {_elsewhere(known[name])}"
            yield Finding("M009", "method", message), hint


def _lacking_maskings(maskings: Sequence[ColumnMasking], engine: EngineName) -> _Lacking:
    for one in maskings:
        term = terms.maskings()[one.masking]
        if engine not in term.texts("engine"):
            message = f"The {engine} engine has no masking {one.masking!r}."
            hint = f"Ask for another masking, or {_elsewhere(term)}"
            yield Finding("M009", MASKED, message), hint


def _lacking_options(recoding: RecodingOptions, engine: EngineName) -> _Lacking:
    options = recoding.options()
    for name, field in parameters(RecodingOptions).items():
        term, default = terms.vocabulary()[f"{terms.PE}{name}"], field.default
        given, engines = options[name], _engines(term, options[name])
        if engine not in engines and given != default:
            own = format_value(default)
            all_own = join_names(ON_CLUSTERS) if name == "algorithm" else own
            message = f"The {engine} engine has no {name} {format_value(given)}. It has {all_own}."
            message += f" {_REASONS[given]}" if given in _REASONS else ""
            # An option of full-domain cannot even be given its default beside mondrian (M003).
            fix = (
                f"Leave {name} out"
                if any(option_conflicts({name: default}))
                else f"Give {name} {own}"
            )
            yield Finding("M009", name, message), f"{fix}, or {_on(engines)}"


def _engines(option: terms.Term, given: object) -> tuple[str, ...]:
    """Return the engines that have an option as it is given."""
    is_for_one = given in get_args(Algorithm) and given not in ON_CLUSTERS
    return ("local",) if is_for_one else tuple(option.texts("engine"))


def _elsewhere(term: terms.Term) -> str:
    return _on(term.texts("engine"))


def _on(engines: Sequence[str]) -> str:
    return f"run it on the {' or '.join(engines)} engine."
