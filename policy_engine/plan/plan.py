"""What will be done: typed steps, bound to data and an engine, printable and serialisable."""

import hashlib
import re
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from policy_engine.data.column_names import column_iri
from policy_engine.errors import PlanError
from policy_engine.methods import Bound
from policy_engine.plan.inputs import Drop, Join, Read, learnt_from
from policy_engine.plan.lineage import Consented, Generalised
from policy_engine.plan.steps import (
    AggregateStep,
    Anonymize,
    AuditStep,
    DisclosureStep,
    Mask,
    Publish,
    Randomise,
    Sample,
    SecretAuditStep,
    Synthesise,
    SyntheticAuditStep,
    Train,
    TrainGenerator,
)
from policy_engine.plan.training import FEWEST, FileBounds

EngineName = Literal["local", "spark"]
S = TypeVar("S", bound=BaseModel)


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


_OF_TABLE = "drop (rows )?(columns )*table "
_OF_MODEL = "drop (table (model )?|model )(audit )*"
_ORDER = re.compile(
    f"(read ({_OF_TABLE}|{_OF_MODEL})|(read ){{2,}}join {_OF_TABLE})(disclosure )*publish "
    "|read drop (statistics |records |synthetic (generative )*|generator (generative )+)publish "
)
"""The phases of a plan; models do not learn from samples, masked columns or joined
inputs (M012, M016), and statistics, randomised records, synthetic rows and their generators are of
one input (M018, M016, M012)."""
AnyStep = Annotated[
    Read
    | Join
    | Drop
    | Sample
    | Mask
    | Anonymize
    | AggregateStep
    | Randomise
    | Synthesise
    | TrainGenerator
    | SyntheticAuditStep
    | Train
    | AuditStep
    | SecretAuditStep
    | DisclosureStep
    | Publish,
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

    def _repr_html_(self) -> str:
        from policy_engine.plan.page import plan_html  # noqa: PLC0415 (for notebooks alone)

        return plan_html(self)

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
        in_place_of_rows = self.aggregate or self.randomise or self.generation
        if in_place_of_rows is not None:
            self._check_statistics(in_place_of_rows)
            return self
        self._check_rows()
        anonymize, published = self.anonymize, sorted(self.publish.columns)
        released = [name for step in self.steps for name in step.released]
        released = released if anonymize else [*learnt_from(self.train)]
        used = [name for name in published if name not in self.added]
        unreleased = filter(None, [self.unit, anonymize.guide_column if anonymize else ""])
        if published != sorted(released) or sorted(self.columns) != sorted([*used, *unreleased]):
            raise ValueError("the columns of the steps are not the same")
        joined = [(one.asset, sorted(one.read)) for one in self.join.inputs] if self.join else []
        if self.join and joined != [(one.asset, sorted(one.columns)) for one in self.reads]:
            raise ValueError("the inputs of the join are not those that are read")
        return self

    def _check_rows(self) -> None:
        """Raise ValueError for steps on rows that contradict each other."""
        anonymize = self.anonymize
        if anonymize and "masking" in anonymize.methods and not (self.mask or self.sample):
            raise ValueError("masking is asked for, and nothing is masked or sampled")
        if anonymize and anonymize.columns.privacy_unit and not anonymize.models:
            raise ValueError("persons are counted for privacy models alone")
        if self.disclosures and (self.train or not anonymize):
            raise ValueError("rows of a table are linked, and a model is made")
        secrets = {name for one in self.secret_audits for name in one.method.learned}
        if secrets and not (self.train and self.audits and secrets <= {*self.train.features}):
            raise ValueError("secrets are features of a model whose members are attacked")
        if not {*self.compared_by_audits} <= {*self.columns}:
            raise ValueError("columns are known that are not read")
        if self.sample and anonymize and anonymize.models and self.sample.unit != self.unit:
            raise ValueError("what is sampled is not what is counted")

    def _check_statistics(
        self, made: AggregateStep | Randomise | Synthesise | TrainGenerator
    ) -> None:
        """Raise ValueError where others than the columns of statistics, of answers, of synthetic
        rows or of their generator are read or published."""
        is_published = sorted(self.publish.columns) == sorted(made.released)
        is_read = sorted(self.columns) == sorted(made.values_read)
        if not (is_published and is_read and self.publish.cells == "text"):
            raise ValueError("the columns of the steps are not the same")
        if isinstance(made, Synthesise) and made.unit and not self.synthetic_audits:
            raise ValueError("persons are told apart for attacks alone")

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
    def aggregate(self) -> AggregateStep | None:
        """The step that makes statistics, None where rows or a model are released."""
        return next((step for step in self.steps if isinstance(step, AggregateStep)), None)

    @property
    def makes_rows(self) -> bool:
        """Whether rows of the input are released, and neither a model, nor statistics or answers
        under differential privacy, nor synthetic rows."""
        others = self.train, self.aggregate, self.randomise, self.generation
        return all(one is None for one in others)

    @property
    def randomise(self) -> Randomise | None:
        """The step that randomises records one by one, None where something else is released."""
        return next((step for step in self.steps if isinstance(step, Randomise)), None)

    def require_randomise(self) -> Randomise:
        """Return the step that randomises records. Raises PlanError (M007) where there is none."""
        if self.randomise is None:
            raise PlanError.of("M007", f"{self.rule} randomises no records.")
        return self.randomise

    @property
    def synthesise(self) -> Synthesise | None:
        """The step that makes rows up, None where something else is released."""
        return next((step for step in self.steps if isinstance(step, Synthesise)), None)

    @property
    def train_generator(self) -> TrainGenerator | None:
        """The step that trains a generator, None where something else is released."""
        return next((step for step in self.steps if isinstance(step, TrainGenerator)), None)

    @property
    def generation(self) -> Synthesise | TrainGenerator | None:
        """The step by which a generator learns, of which rows or itself are released."""
        return self.synthesise or self.train_generator

    def require_generation(self) -> Synthesise | TrainGenerator:
        """Return the step by which a generator learns. Raises PlanError (M007) without one."""
        if self.generation is None:
            raise PlanError.of("M007", f"{self.rule} has no generator learn.")
        return self.generation

    @property
    def releases_model(self) -> bool:
        """Whether a model is released, a classifier or a generator: a folder of its files."""
        return self.train is not None or self.train_generator is not None

    @property
    def synthetic_audits(self) -> tuple[SyntheticAuditStep, ...]:
        """The attacks on rows that are made up, or on their generator, in order."""
        return tuple(step for step in self.steps if isinstance(step, SyntheticAuditStep))

    @property
    def holdout_share(self) -> float:
        """The share of the rows that a generator never sees, 0 where none is attacked."""
        return max((one.method.holdout_share for one in self.synthetic_audits), default=0.0)

    def require_synthesise(self) -> Synthesise:
        """Return the step that makes rows up. Raises PlanError (M007) where there is none."""
        if self.synthesise is None:
            raise PlanError.of("M007", f"{self.rule} makes up no rows.")
        return self.synthesise

    def require_aggregate(self) -> AggregateStep:
        """Return the step that makes statistics. Raises PlanError (M007) where there is none."""
        if self.aggregate is None:
            raise PlanError.of("M007", f"{self.rule} releases no statistics.")
        return self.aggregate

    @property
    def unit(self) -> str:
        """The column that tells persons apart, empty where rows are counted and sampled."""
        if self.aggregate is not None:
            return self.aggregate.unit
        if self.randomise is not None:
            return self.randomise.unit
        if self.generation is not None:
            return self.generation.unit
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
        anonymization = self.require_anonymize()
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
    def shows_strata(self) -> bool:
        """Whether the output has every column that a sample is stratified by as it is."""
        return self.sample is None or {*self.sample.stratified_by} == {*self.shown_strata}

    @property
    def most_suppressed(self) -> float:
        """The share of the rows that may be suppressed."""
        return self.require_anonymize().recoding.max_suppression

    def require_anonymize(self) -> Anonymize:
        """Return the step that generalises. Raises PlanError (M007) where there is none."""
        if self.anonymize is None:
            made = "releases statistics" if self.aggregate else "trains a model"
            made = "randomises them" if self.randomise else made
            made = "makes others up" if self.generation else made
            raise PlanError.of("M007", f"{self.rule} anonymises no rows: it {made}.")
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
    def secret_audits(self) -> tuple[SecretAuditStep, ...]:
        """The attacks on columns of the model that is released, in order."""
        return tuple(step for step in self.steps if isinstance(step, SecretAuditStep))

    @property
    def disclosures(self) -> tuple[DisclosureStep, ...]:
        """The attacks on the table, in order."""
        return tuple(step for step in self.steps if isinstance(step, DisclosureStep))

    @property
    def compared_by_audits(self) -> tuple[str, ...]:
        """The columns that intruders know or learn."""
        return tuple(name for one in self.disclosures for name in one.method.compared)

    @property
    def compared(self) -> tuple[str, ...]:
        """The columns of the input that attacks on the table need: those that intruders know or
        learn, and those that columns are masked given, in the order of the input."""
        names = {*self.compared_by_audits}
        names |= {*self.mask.values_read} if self.mask else set()
        return tuple(name for name in self.columns if name in names)

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
        return FileBounds(
            smallest_leaf=self.fewest, generators=self.train.generators
        ).replace_bounds(*(one.files for one in self.audits))

    @property
    def publish(self) -> Publish:
        """The step that writes the output."""
        return self._only(Publish)

    def without_audits(self) -> "Plan":
        """Return the plan without the steps that train, or attack models or the table."""
        left_out = Train | AuditStep | DisclosureStep
        steps = tuple(step for step in self.steps if not isinstance(step, left_out))
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
