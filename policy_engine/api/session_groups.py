"""The data of a session in groups, to be aggregated as in pandas."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NoReturn

from policy_engine.api.session_outputs import SessionOutput
from policy_engine.api.session_tables import aggregates_of, quantiles_of
from policy_engine.errors import RequestError, did_you_mean, join_names

if TYPE_CHECKING:
    from policy_engine.api.output_sessions import OutputSession


@dataclass(frozen=True)
class SessionGroups:
    """The data of a session in groups."""

    _session: "OutputSession"
    _by: Any
    _data: Any
    _name: str
    _column: Any = None

    def __getitem__(self, column: str | list[str]) -> "SessionGroups":
        """Return the groups of one column, or of several."""
        return replace(self, _column=column)

    def agg(self, functions: Any = None, **named: Any) -> SessionOutput:
        """Return a table of aggregates: `"mean"`, `["mean", "sum"]`, `{"income": "mean"}`, or
        `mean_income=("income", "mean")`, as a `pandas.NamedAgg`, too."""
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

    def quantile(self, q: float | list[float] = 0.5) -> SessionOutput:
        """Return the percentile of each group that a share of its rows is below, or several."""
        request = quantiles_of(self._by, q, self._column)
        return self._session._add_table(self._name or "groupby", request, self._data)  # noqa: SLF001

    def nunique(self) -> NoReturn:
        """Refuse how many different values each group has. Raises RequestError (K025)."""
        message = "No rule judges how many different values there are: it may be one for each."
        hint = "Count them by the column as a key: groupby([..., column]).size()."
        raise RequestError.of("K025", message, hint)

    def min(self) -> SessionOutput:
        """Return the smallest value of each group, which is never released."""
        return self.agg("min")

    def max(self) -> SessionOutput:
        """Return the largest value of each group, which is never released."""
        return self.agg("max")

    def __getattr__(self, name: str) -> NoReturn:
        """Refuse what pandas has and groups of a session do not. Raises RequestError (K025)."""
        raise not_offered("groups of a session", name, type(self))


def not_offered(what: str, name: str, kind: type) -> Exception:
    """Return the error of a method that is not offered; Python asks for names of its own."""
    if name.startswith("_"):
        return AttributeError(name)
    offered = [one for one in vars(kind) if not one.startswith("_") and callable(vars(kind)[one])]
    message = f"The {what} have no {name!r}. There is {join_names(offered)}."
    return RequestError.of("K025", message, did_you_mean(name, offered))
