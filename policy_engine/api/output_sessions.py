"""A session of analyses whose outputs are checked as they are made, and handed to a checker."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Self, Unpack

from policy_engine.api.arguments import check_arguments
from policy_engine.api.chosen_checks import ChosenCheck, choose_check
from policy_engine.api.folder_pages import write_pages
from policy_engine.api.output_ledgers import open_output_ledger
from policy_engine.api.session_tables import (
    TableRequest,
    aggregates_of,
    crosstab_request,
    pivot_request,
    tabulated,
)
from policy_engine.audits.outputs.fitted_estimators import estimator_output
from policy_engine.audits.outputs.fitted_models import (
    ModelOutput,
    fit,
    is_estimator,
    is_statsmodels,
)
from policy_engine.audits.outputs.microdata import Microdata, named_columns, with_floats
from policy_engine.audits.outputs.model_rows import fitted_rows, result_rows
from policy_engine.audits.outputs.regression_results import regression_output
from policy_engine.data.keys import Key
from policy_engine.data.table_files import missing_file, unreadable_file
from policy_engine.engines.tables import infer_types, read_table
from policy_engine.errors import DataError, RequestError, did_you_mean, join_names
from policy_engine.policy import ReadingOptions, Source
from policy_engine.release.linked_outputs import LinkedScope
from policy_engine.release.output_folder.folder import check_vacant, try_folder, write_folder
from policy_engine.release.output_folder.model import Kind
from policy_engine.release.output_folder.prepared import (
    PreparedOutput,
    folder_content,
    judged_in_order,
)
from policy_engine.release.output_folder.protecting import protect_withheld
from policy_engine.release.output_ledger import OutputLedger, UnitOwners

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

Shares = bool | Literal["all", "index", "columns", 0, 1]


def output_session(
    policy: Source | None,
    folder: str | Path,
    *,
    data: Any = None,
    profile: str = "",
    unit: str = "",
    by: str = "researcher",
    ledger: str | Path | OutputLedger | None = None,
    ledger_key: Key = None,
    ledger_head: str = "",
    scopes: Sequence[str] = (),
    key: Key = None,
    **reading: Unpack[ReadingOptions],
) -> "OutputSession":
    """Return a session whose outputs are checked as a policy asks, or by a `profile` alone.

    `data` is a table, a path, or `{iri: table}` of the dataset; its column of the unit of privacy
    is the policy's, or `unit`. At the end the `folder` is written, for a checker. Outputs are
    checked against each other, and with a `ledger` against earlier ones of the same `scopes`
    (`assignee:IRI`, `project:IRI` ...; by default the dataset). Where a `ledger_head` is given, a
    ledger without it, such as a new one, is refused at the beginning and at the end (K033). `by`
    says who asks, and `key` chains the log of the folder.

    Raises PlanError for a policy without a check, RequestError (K025) where it is not clear which
    one applies, OutputError (O001) for a folder that is not empty, DataError for unusable data, and
    for a head RequestError (U001) without a ledger or for what is not one, and LedgerError.
    """
    chosen = choose_check(policy, profile, unit, data, **reading)
    check_vacant(Path(folder))
    scope = tuple(scopes) or chosen.scopes(is_shared=ledger is not None)
    shared = open_output_ledger(ledger, ledger_key, ledger_head, "ledger")
    if shared is not None:
        shared.check_expected()
    return OutputSession(chosen, load_microdata(chosen), Path(folder), scope, by, shared, key)


def load_microdata(chosen: ChosenCheck) -> Microdata | None:
    """Return the rows that outputs are made of, None where there are none. Raises DataError."""
    data = chosen.data
    if data is None:
        return None
    is_file = isinstance(data, str | Path)
    frame = with_floats(infer_types(read_table(Path(data)))) if is_file else data
    return Microdata.of(frame, chosen.unit)


@dataclass(frozen=True)
class SessionOutput:
    """An output as a session shows it: what may leave, and what is said of the rest."""

    _output: PreparedOutput

    @property
    def name(self) -> str:
        """Its name."""
        return self._output.name

    @property
    def status(self) -> str:
        """What the rules say: `released` (in part, if cells are blank), `suppressed`, `refused`, or
        `review` for what a person has to decide."""
        return self._output.status.value

    @property
    def is_whole(self) -> bool:
        """Whether all of it may leave by the rules."""
        return self._output.is_whole

    @property
    def reasons(self) -> dict[str, str]:
        """Why cells are not released, a sentence for each code."""
        return dict(self._output.public()["reasons"])

    @property
    def suppressed(self) -> list[dict[str, Any]]:
        """The cells that are not released, with their codes and without any figure."""
        return list(self._output.public().get("suppressed", []))

    @property
    def table(self) -> "pa.Table":
        """What may leave as an Arrow table: missing cells are not released.

        Raises RequestError (K025) if nothing of it may.
        """
        for _, page in self._output.shown():
            return page.to_arrow()
        message = f"Nothing of the output {self.name!r} may leave by the rules: {self.status}."
        raise RequestError.of("K025", message, " ".join(self.reasons.values()))

    def to_pandas(self) -> "pd.DataFrame":
        """Return what may leave as a pandas frame, with its keys as the index."""
        from policy_engine.api.verified_release import require_package  # noqa: PLC0415

        require_package("pandas")
        left = next((page.left for _, page in self._output.shown()), 0)
        frame: pd.DataFrame = self.table.to_pandas()
        return frame.set_index(list(frame.columns[:left])) if left else frame

    def __repr__(self) -> str:
        lines = [f"{self.name}: {self.status}"]
        for more, page in self._output.shown():
            lines += [more.strip()] * bool(more)
            lines += _text_lines(page.head, page.rows)
        lines += [f"{code} {sentence}" for code, sentence in self.reasons.items()]
        return "\n".join(lines)


def _text_lines(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> Iterator[str]:
    """Yield the lines of a table as text."""
    cells = [[str(one) for one in head], *([_text(one) for one in row] for row in rows)]
    widths = [max(len(row[place]) for row in cells) for place in range(len(head))]
    for row in cells:
        yield "  ".join(f"{one:>{width}}" for one, width in zip(row, widths, strict=True)).rstrip()


def _text(cell: Any) -> str:
    if cell is None:
        return "."
    return f"{cell:.6g}" if isinstance(cell, float) else str(cell)


class OutputSession:
    """A session of analyses. Where it is a context, the folder is written at its end."""

    def __init__(
        self,
        chosen: ChosenCheck,
        data: Microdata | None,
        folder: Path,
        scopes: tuple[str, ...],
        by: str,
        ledger: OutputLedger | None,
        key: Key,
    ) -> None:
        """Begin a session; `output_session` is how to."""
        self._chosen, self._data, self._folder, self._by = chosen, data, folder, by
        self._scopes, self._ledger, self._key = scopes, ledger, key
        self._outputs: dict[str, PreparedOutput] = {}
        self._scratch = TemporaryDirectory(prefix="policy-engine-")
        self._own_ledger = OutputLedger(Path(self._scratch.name) / "session")
        self._ledger_head = ""
        self._is_open = True

    def __getattr__(self, name: str) -> NoReturn:
        """Refuse what pandas has and a session does not. Raises RequestError (K025)."""
        raise _not_offered("methods of a session", name, type(self))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Write the folder, unless an error ended the session or it is written."""
        try:
            if kind is None and self._is_open:
                self.finalise()
        finally:
            self._close()

    def _close(self) -> None:
        self._is_open = False
        self._scratch.cleanup()

    # -- tables --------------------------------------------------------------------------------

    @check_arguments
    def crosstab(
        self,
        index: Any,
        columns: Any,
        values: Any = None,
        *,
        aggfunc: Any = None,
        margins: bool = False,
        margins_name: str = "All",
        normalize: Shares = False,
        data: Any = None,
        name: str = "",
    ) -> SessionOutput:
        """Return a table of counts or of an aggregate, as `pandas.crosstab`.

        Columns are named, or series of the data. Raises RequestError (K025) for what is not
        understood.
        """
        request = crosstab_request(
            index, columns, values, aggfunc, normalize, is_total=margins, total=margins_name
        )
        return self._add_table(name or "crosstab", request, data)

    @check_arguments
    def pivot_table(
        self,
        data: Any = None,
        values: Any = None,
        index: Any = None,
        columns: Any = None,
        aggfunc: Any = "mean",
        *,
        margins: bool = False,
        margins_name: str = "All",
        name: str = "",
    ) -> SessionOutput:
        """Return a table of aggregates, as `pandas.pivot_table`."""
        request = pivot_request(
            values, index, columns, aggfunc, is_total=margins, total=margins_name
        )
        return self._add_table(name or "pivot table", request, data)

    def groupby(self, by: Any, *, data: Any = None, name: str = "") -> "SessionGroups":
        """Return the data in groups, to be aggregated by `agg`, as `DataFrame.groupby`."""
        return SessionGroups(self, by, data, name)

    def _add_table(self, name: str, request: TableRequest, data: Any) -> SessionOutput:
        made = tabulated(request, self._rows(data))
        return self._keep(name, "table", request.text, made=made, layout=request.layout)

    def _rows(self, data: Any) -> Microdata:
        if self._data is None:
            message = "The session has no data, so that nobody knows whom an output is about."
            raise RequestError.of("K025", message, "Begin it with data=, a table or a path.")
        return self._data if data is None else self._data.part(data)

    # -- models --------------------------------------------------------------------------------

    def ols(
        self, formula: Any, explanatory: Any = None, *, data: Any = None, name: str = ""
    ) -> SessionOutput:
        """Return a least-squares regression: of a formula, or of an array on explanatory ones.

        Raises DataError (C011) without statsmodels, RequestError (K025) where it cannot be fitted.
        """
        return self._fitted("ols", formula, explanatory, data, name)

    def logit(
        self, formula: Any, explanatory: Any = None, *, data: Any = None, name: str = ""
    ) -> SessionOutput:
        """Return a logistic regression, as `ols`."""
        return self._fitted("logit", formula, explanatory, data, name)

    def probit(
        self, formula: Any, explanatory: Any = None, *, data: Any = None, name: str = ""
    ) -> SessionOutput:
        """Return a probit regression, as `ols`."""
        return self._fitted("probit", formula, explanatory, data, name)

    def _fitted(
        self, kind: str, formula: Any, explanatory: Any, data: Any, name: str
    ) -> SessionOutput:
        rows = self._rows(data)
        frame = rows.table.to_pandas() if isinstance(formula, str) else None
        result = fit(kind, formula, explanatory, frame)
        if isinstance(formula, str):
            own = rows.owned(list(result.model.data.row_labels))
        else:
            own = rows.owned(rows.located(formula))
            if named_columns(explanatory):
                rows.located(explanatory)
        least = self._chosen.check.profile.min_units
        model = regression_output(result, own.units, least, own.numbers)
        assert model is not None  # noqa: S101 (these kinds have coefficients)
        text = f"{kind} {formula}" if isinstance(formula, str) else f"{kind} of arrays"
        return self._keep_model(name or kind, text, model)

    def _keep_model(self, name: str, text: str, model: ModelOutput) -> SessionOutput:
        return self._keep(name, "model", text, made=model.made, model=model)

    # -- what was made elsewhere ---------------------------------------------------------------

    def add(
        self,
        output: Any,
        *,
        features: Any = None,
        outcome: Any = None,
        data: Any = None,
        name: str = "",
    ) -> SessionOutput:
        """Return an output that was made elsewhere.

        Results of statsmodels are judged as regressions if they have a row for each row of the
        data; so are linear models and decision trees of scikit-learn, with the `features` and the
        `outcome` that they were fitted to: the fit is repeated. A file by its path, a figure, a
        text or anything else is for review.

        Raises RequestError (K025) for features of another model, or rows that are not the data's.
        """
        label = name or _label(output)
        model, text = None, type(output).__name__
        least = self._chosen.check.profile.min_units
        if is_statsmodels(output):
            own = result_rows(output, self._data)
            model = regression_output(output, own and own.units, least, own and own.numbers)
            text = f"{type(output.model).__name__} of statsmodels"
        elif is_estimator(output) and features is not None:
            matrix, column, own = fitted_rows(output, features, outcome, self._rows(data))
            model = estimator_output(output, matrix, column, own.units, least, own.numbers)
            text = f"{type(output).__name__} of scikit-learn"
        if model is not None:
            return self._keep_model(label, text, model)
        return self._keep(label, "file", text, content=_content(output))

    # -- all outputs ---------------------------------------------------------------------------

    @property
    def outputs(self) -> tuple[SessionOutput, ...]:
        """The outputs so far."""
        return tuple(map(SessionOutput, self._outputs.values()))

    @property
    def ledger_head(self) -> str:
        """The head of the ledger after the folder was written, to be kept elsewhere: a later
        session expects it as `ledger_head`. Empty before that, and without a ledger."""
        return self._ledger_head

    @check_arguments
    def exception(self, output: str | SessionOutput, reason: str) -> None:
        """Ask a checker to let an output out as it is, and say why."""
        self._change(output, lambda one: replace(one, exception=_words(reason, "reason")))

    @check_arguments
    def comment(self, output: str | SessionOutput, text: str) -> None:
        """Tell a checker something of an output."""
        self._change(
            output, lambda one: replace(one, comments=(*one.comments, _words(text, "comment")))
        )

    @check_arguments
    def rename(self, output: str | SessionOutput, name: str) -> None:
        """Give an output another name. Raises RequestError (K025) if it is taken."""
        former = self._name(output)
        label = self._free_name(name, is_exact=True, model=self._outputs[former].model)
        self._outputs = {
            (label if key == former else key): (replace(one, name=label) if key == former else one)
            for key, one in self._outputs.items()
        }

    @check_arguments
    def remove(self, output: str | SessionOutput) -> None:
        """Leave an output out."""
        del self._outputs[self._name(output)]

    def finalise(self) -> Path:
        """Write the folder for a checker, and return it; nothing more can be added then.

        Outputs are judged anew, in their order, without those that were removed, and recorded in
        the ledger if there is one. Raises OutputError (O001, O002), LedgerError.
        """
        self._check_open()
        self._try_folder()
        with self._final_ledger() as ledger:
            judged = judged_in_order(self._outputs.values(), ledger, self._scope())
        outputs = protect_withheld(judged)
        self._outputs = {one.name: one for one in outputs}
        digest = self._data.digest if self._data is not None else ""
        content = folder_content(
            outputs, self._chosen.check, policy=self._chosen.policy, data=digest
        )
        files = {**content.files, **write_pages(content, outputs)}
        write_folder(
            self._folder, content.submission, content.evidence, files, by=self._by, key=self._key
        )
        self._close()
        return self._folder

    def _try_folder(self) -> None:
        """Refuse a folder that cannot be written before a ledger counts what is in it."""
        if self._ledger is not None:
            outputs = [*self._outputs.values()]
            files = {name: text for one in outputs for name, text in one.files().items()}
            held = {name: text for one in outputs for name, text in one.whole_files().items()}
            try_folder(self._folder, {**files, **held})

    @contextmanager
    def _final_ledger(self) -> Iterator[OutputLedger]:
        if self._ledger is not None:
            yield self._ledger
            if self._ledger.store.exists():
                self._ledger_head = str(self._ledger.summary().head)
            return
        with TemporaryDirectory(prefix="policy-engine-") as folder:
            yield OutputLedger(Path(folder) / "session")

    def _scope(self) -> LinkedScope:
        data = self._data
        if data is None:
            return LinkedScope(self._chosen.dataset, "none", 0, self._scopes)
        owners = UnitOwners(data.owners) if data.has_repeats else None
        return LinkedScope(self._chosen.dataset, data.row_digest, data.rows, self._scopes, owners)

    def _keep(self, name: str, kind: Kind, text: str, **parts: Any) -> SessionOutput:
        self._check_open()
        label = self._free_name(name, model=parts.get("model"))
        output = PreparedOutput(label, kind, text, self._chosen.check, **parts)
        earlier = tuple(self._outputs.values())
        self._outputs[label] = output.judged(self._own_ledger, self._scope(), earlier)
        return SessionOutput(self._outputs[label])

    def _check_open(self) -> None:
        if not self._is_open:
            raise RequestError.of("K025", "The session has ended: its folder is written.")

    def _name(self, output: str | SessionOutput) -> str:
        self._check_open()
        name = output.name if isinstance(output, SessionOutput) else output
        if name not in self._outputs:
            message = (
                f"There is no output {name!r}. There is {join_names(self._outputs or ['none'])}."
            )
            raise RequestError.of("K025", message, did_you_mean(name, self._outputs))
        return name

    def _free_name(
        self, name: str, *, is_exact: bool = False, model: ModelOutput | None = None
    ) -> str:
        """Return a name no file of which is that of another output."""
        label = re.sub(r"[^A-Za-z0-9_.\- ]", "_", name).strip(" .")[:80] or "output"
        label = label if label[0].isalnum() else f"output {label}"
        taken = {some for one in self._outputs.values() for some in _stems(one.name, one.model)}
        is_free = taken.isdisjoint(_stems(label, model))
        if is_exact and (label != name or not is_free):
            message = (
                f"An output cannot be called {name!r}: the name is taken or is not one of a file."
            )
            raise RequestError.of("K025", message)
        numbers = (f"{label} {number}" for number in range(2, len(taken) + 3))
        return label if is_free else next(n for n in numbers if taken.isdisjoint(_stems(n, model)))

    def _change(
        self, output: str | SessionOutput, change: Callable[[PreparedOutput], PreparedOutput]
    ) -> None:
        name = self._name(output)
        self._outputs[name] = change(self._outputs[name])


@dataclass(frozen=True)
class SessionGroups:
    """The data of a session in groups."""

    _session: OutputSession
    _by: Any
    _data: Any
    _name: str
    _column: Any = None

    def __getitem__(self, column: str | list[str]) -> "SessionGroups":
        """Return the groups of one column, or of several."""
        return replace(self, _column=column)

    def agg(self, functions: Any = None, **named: tuple[str, str]) -> SessionOutput:
        """Return a table of aggregates: `"mean"`, `["mean", "sum"]`, `{"income": "mean"}`, or
        `mean_income=("income", "mean")`."""
        request = aggregates_of(self._by, functions, named, self._column)
        return self._session._add_table(self._name or "groupby", request, self._data)  # noqa: SLF001

    def size(self) -> SessionOutput:
        """Return how many rows each group has."""
        return self.agg("size")

    def count(self) -> SessionOutput:
        """Return how many rows of each group have a value of the column."""
        return self.agg("count")

    def sum(self) -> SessionOutput:
        """Return the total of each group."""
        return self.agg("sum")

    def mean(self) -> SessionOutput:
        """Return the mean of each group."""
        return self.agg("mean")

    def median(self) -> SessionOutput:
        """Return the median of each group."""
        return self.agg("median")

    def std(self) -> SessionOutput:
        """Return the standard deviation of each group."""
        return self.agg("std")

    def var(self) -> SessionOutput:
        """Return the variance of each group."""
        return self.agg("var")

    def sem(self) -> SessionOutput:
        """Return the standard error of the mean of each group."""
        return self.agg("sem")

    def skew(self) -> SessionOutput:
        """Return the skewness of each group."""
        return self.agg("skew")

    def min(self) -> SessionOutput:
        """Return the smallest value of each group, which is never released."""
        return self.agg("min")

    def max(self) -> SessionOutput:
        """Return the largest value of each group, which is never released."""
        return self.agg("max")

    def __getattr__(self, name: str) -> NoReturn:
        """Refuse what pandas has and groups of a session do not. Raises RequestError (K025)."""
        raise _not_offered("groups of a session", name, type(self))


def _not_offered(what: str, name: str, kind: type) -> Exception:
    """Return the error of a method that is not offered; Python asks for names of its own."""
    if name.startswith("_"):
        return AttributeError(name)
    offered = [one for one in vars(kind) if not one.startswith("_") and callable(vars(kind)[one])]
    message = f"The {what} have no {name!r}. There is {join_names(offered)}."
    return RequestError.of("K025", message, did_you_mean(name, offered))


def _stems(name: str, model: ModelOutput | None) -> set[str]:
    """Return a name and the names of its files without their endings, in lower case."""
    return {name.lower(), *(f"{name} {part}".lower() for part in (model.parts if model else ()))}


def _label(output: Any) -> str:
    if isinstance(output, str | Path):
        return Path(output).stem if len(str(output)) < _PATH else "text"
    return type(output).__name__.removesuffix("Wrapper")


_PATH = 1_000
"""A longer text is not a path."""
_ENDING = re.compile(r"\.[A-Za-z][A-Za-z0-9]*$")
"""What ends a text that is the name of a file, whether there is one or not."""


def _content(output: Any) -> tuple[str, bytes]:
    """Return a file, a figure of matplotlib, or a text, as its ending and its bytes."""
    if isinstance(output, str | Path) and len(str(output)) < _PATH:
        path = Path(output)
        if isinstance(output, Path) or _ENDING.search(output) or path.is_file():
            if path.is_dir():
                raise DataError.of("C002", f"{str(path)!r} is a folder, not a file.")
            if not path.is_file():
                raise missing_file(path)
            try:
                return path.suffix, path.read_bytes()
            except OSError as error:
                raise unreadable_file(path, error) from None
    if hasattr(output, "savefig"):
        from io import BytesIO  # noqa: PLC0415

        picture = BytesIO()
        output.savefig(picture, format="png")
        return ".png", picture.getvalue()
    return ".txt", str(output).encode()


def _words(text: str, what: str) -> str:
    if not text.strip():
        raise RequestError.of("K025", f"The {what} is empty.")
    return text.strip()
