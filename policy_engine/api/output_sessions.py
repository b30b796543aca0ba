"""A session of analyses whose outputs are checked as they are made, and handed to a checker."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Self, Unpack

from policy_engine.api.arguments import check_arguments
from policy_engine.api.chosen_checks import ChosenCheck, choose_check
from policy_engine.api.folder_pages import write_pages
from policy_engine.api.output_ledgers import open_output_ledger
from policy_engine.api.pandas_options import check_options
from policy_engine.api.session_data import column_history, load_microdata
from policy_engine.api.session_files import file_content, output_label
from policy_engine.api.session_groups import SessionGroups, not_offered
from policy_engine.api.session_outputs import SessionOutput
from policy_engine.api.session_tables import (
    TableRequest,
    check_nested,
    crosstab_request,
    nested_by,
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
from policy_engine.audits.outputs.microdata import Microdata, OwnedRows, named_columns
from policy_engine.audits.outputs.model_rows import fitted_rows, result_rows
from policy_engine.audits.outputs.nested_keys import NestedKeys
from policy_engine.audits.outputs.regression_results import regression_output
from policy_engine.data.keys import Key
from policy_engine.errors import RequestError, did_you_mean, join_names
from policy_engine.policy import ReadingOptions, Source
from policy_engine.release.keyed_values import KeyedValues
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
from policy_engine.release.related_columns import ColumnHistory

if TYPE_CHECKING:
    pass

Shares = bool | int | Literal["all", "index", "columns"]


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
        self._columns = ColumnHistory() if data is None else column_history(data)
        self._scopes, self._ledger, self._key = scopes, ledger, key
        self._outputs: dict[str, PreparedOutput] = {}
        self._scratch = TemporaryDirectory(prefix="policy-engine-")
        self._own_ledger = OutputLedger(Path(self._scratch.name) / "session")
        self._ledger_head, self._nested = "", NestedKeys()
        self._keyed = None if data is None else KeyedValues(data.rows)
        if data is not None:
            self._nested = nested_by(chosen.hierarchies, data)
        self._is_open = True

    def __getattr__(self, name: str) -> NoReturn:
        """Refuse what pandas has and a session does not. Raises RequestError (K025)."""
        raise not_offered("methods of a session", name, type(self))

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
        rownames: Any = None,
        colnames: Any = None,
        dropna: Any = True,
        data: Any = None,
        name: str = "",
    ) -> SessionOutput:
        """Return a table of counts or of an aggregate, as `pandas.crosstab`.

        Columns are named, or series of the data. Raises RequestError (K025) for what is not
        understood.
        """
        check_options(("dropna",), {"dropna": dropna})
        request = crosstab_request(
            index,
            columns,
            values,
            aggfunc,
            normalize,
            is_total=margins,
            total=margins_name,
            rownames=rownames,
            colnames=colnames,
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
        fill_value: Any = None,
        dropna: Any = True,
        observed: Any = True,
        sort: Any = True,
        name: str = "",
    ) -> SessionOutput:
        """Return a table of aggregates, as `pandas.pivot_table`. Raises RequestError (K025)."""
        options = {"fill_value": fill_value, "dropna": dropna, "observed": observed, "sort": sort}
        check_options(tuple(options), options)
        request = pivot_request(
            values, index, columns, aggfunc, is_total=margins, total=margins_name
        )
        return self._add_table(name or "pivot table", request, data)

    def groupby(
        self, by: Any, *, data: Any = None, name: str = "", **options: Any
    ) -> SessionGroups:
        """Return the data in groups, to be aggregated by `agg`, as `DataFrame.groupby`, with those
        of its `options` that `check_options` takes. Raises RequestError (K025)."""
        check_options(("as_index", "sort", "observed", "dropna"), options)
        return SessionGroups(self, by, data, name)

    def _add_table(self, name: str, request: TableRequest, data: Any) -> SessionOutput:
        fills = self._chosen.check.profile.zeros_disclosive
        made = tabulated(request, self._rows(data), fills=fills, nested=self._nested)
        words = tuple(
            f"{made.table.keys[lower]} is declared to lie within {made.table.keys[upper]}"
            for lower, upper in made.nested
        )
        more = {"made": made, "layout": request.layout, "comments": words}
        is_keyed = self._keyed is not None and self._keyed.add(made)
        return self._keep(name, "table", request.text, is_keyed=is_keyed, **more)

    @check_arguments
    def nested(self, column: str, *, within: str) -> None:
        """Declare that each value of a column lies in one of another, as everybody knows: a
        district in a region.

        Tables by both are then judged as those by the lower one are, and a checker is told. What a
        policy declares (`pe:nestedColumns`) needs no call. Raises RequestError (K025) where it is
        not so in the data.
        """
        self._check_open()
        check_nested(self._rows(None), column, within)
        self._nested = self._nested.with_pair(column, within)

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
        if isinstance(formula, str):
            has_owner, text = rows.units >= 0, f"{kind} {formula}"
            result = fit(kind, formula, explanatory, rows.table.to_pandas()[has_owner])
            own = rows.owned(list(result.model.data.row_labels))
        else:
            own, text = rows.owned(rows.located(formula)), f"{kind} of arrays"
            if named_columns(explanatory):
                rows.located(explanatory)
            has_owner = own.units >= 0
            if not has_owner.all():
                formula, explanatory = formula[has_owner], explanatory[has_owner]
            own = OwnedRows(own.units[has_owner], own.row_numbers[has_owner])
            result = fit(kind, formula, explanatory, None)
        if not has_owner.all():
            text += f", without {int((~has_owner).sum()):,} rows that do not say whose they are"
        least = self._chosen.check.profile.min_units
        model = regression_output(result, own.units, least, own.numbers)
        assert model is not None  # noqa: S101 (these kinds have coefficients)
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

        Raises RequestError (K025) for features of another model, rows that are not the data's, and
        frames and series, which are asked for or added as files.
        """
        label = name or output_label(output)
        model, text = None, type(output).__name__
        least = self._chosen.check.profile.min_units
        if is_statsmodels(output):
            own = result_rows(output, self._data)
            if own is not None and (own.units < 0).any():
                own = None
            model = regression_output(output, own and own.units, least, own and own.numbers)
            text = f"{type(output.model).__name__} of statsmodels"
        elif is_estimator(output) and features is not None:
            matrix, column, own = fitted_rows(output, features, outcome, self._rows(data))
            model = estimator_output(output, matrix, column, own.units, least, own.numbers)
            text = f"{type(output).__name__} of scikit-learn"
        if model is not None:
            return self._keep_model(label, text, model)
        return self._keep(label, "file", text, content=file_content(output))

    # -- all outputs ---------------------------------------------------------------------------

    @property
    def outputs(self) -> tuple[SessionOutput, ...]:
        """The outputs so far."""
        return tuple(SessionOutput(one, self._is_provisional) for one in self._outputs.values())

    @property
    def _is_provisional(self) -> bool:
        return self._ledger is not None and self._is_open

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
        about = self._chosen.dataset, data.row_digest, data.rows, self._scopes
        return LinkedScope(*about, owners, data.missing, self._columns)

    def _keep(self, name: str, kind: Kind, text: str, **parts: Any) -> SessionOutput:
        self._check_open()
        label = self._free_name(name, model=parts.get("model"))
        output = PreparedOutput(label, kind, text, self._chosen.check, **parts)
        earlier = tuple(self._outputs.values())
        self._outputs[label] = output.judged(self._own_ledger, self._scope(), earlier)
        return SessionOutput(self._outputs[label], self._is_provisional)

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


def _stems(name: str, model: ModelOutput | None) -> set[str]:
    """Return a name and the names of its files without their endings, in lower case."""
    return {name.lower(), *(f"{name} {part}".lower() for part in (model.parts if model else ()))}


def _words(text: str, what: str) -> str:
    if not text.strip():
        raise RequestError.of("K025", f"The {what} is empty.")
    return text.strip()
