"""The supported SQL: one query, made only of the parts listed here."""

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import ErrorLevel, ParseError, SqlglotError, UnsupportedError

from policy_engine.errors import (
    Place,
    PolicyEngineError,
    Problem,
    QueryError,
    did_you_mean,
    join_names,
)

_NO_SQL = {"", "dax", "prql"}
DIALECTS = tuple(sorted(sqlglot.Dialect.classes.keys() - _NO_SQL))
_LONGEST = 100_000  # characters
_ONE_AT_A_TIME = Lock()  # or two threads could leave the parser silent
_NO_TEXT = re.compile("[\0\ud800-\udfff]")

_BODY = {"order", "limit", "offset", "with_"}
_PARTS: dict[type[exp.Expr], set[str]] = {
    exp.Select: _BODY
    | {"expressions", "distinct", "from_", "joins", "where", "group", "having", "qualify"}
    | {"windows"},
    exp.Union: _BODY | {"this", "expression", "distinct"},
    exp.Intersect: _BODY | {"this", "expression", "distinct"},
    exp.Except: _BODY | {"this", "expression", "distinct"},
    exp.Subquery: _BODY | {"this", "alias"},
    exp.With: {"expressions", "recursive"},
    exp.CTE: {"this", "alias", "materialized"},
    exp.From: {"this"},
    exp.Table: {"this", "alias", "joins"},
    exp.TableAlias: {"this", "columns"},
    exp.Join: {"this", "on", "side", "kind", "using", "method"},
    exp.Lateral: {"this", "alias"},
    exp.Where: {"this"},
    exp.Having: {"this"},
    exp.Qualify: {"this"},
    exp.Group: {"expressions", "grouping_sets", "cube", "rollup", "all"},
    exp.GroupingSets: {"expressions"},
    exp.Rollup: {"expressions"},
    exp.Cube: {"expressions"},
    exp.Order: {"this", "expressions"},
    exp.Ordered: {"this", "desc", "nulls_first"},
    exp.Limit: {"this", "expression", "limit_options"},
    exp.Offset: {"this", "expression"},
    exp.Fetch: {"direction", "count", "limit_options"},
    exp.LimitOptions: {"rows"},
    exp.Distinct: {"expressions", "on"},
    exp.Star: {"except_", "replace"},
    exp.Column: {"this", "table"},
    exp.Identifier: {"this", "quoted"},
    exp.Alias: {"this", "alias"},
    exp.Literal: {"this", "is_string"},
    exp.Boolean: {"this"},
    exp.Null: set(),
    exp.Var: {"this"},
    exp.DataType: {"this", "expressions", "nested"},
    exp.DataTypeParam: {"this"},
    exp.Cast: {"this", "to"},
    exp.TryCast: {"this", "to", "safe"},
    exp.Interval: {"this", "unit"},
    exp.In: {"this", "expressions", "query"},
    exp.Exists: {"this"},
    exp.Any: {"this"},
    exp.All: {"this"},
    exp.Window: {"this", "partition_by", "order", "spec", "alias", "over", "first"},
    exp.WindowSpec: {"kind", "start", "start_side", "end", "end_side", "exclude"},
    exp.Filter: {"this", "expression"},
    exp.WithinGroup: {"this", "expression"},
    exp.IgnoreNulls: {"this"},
    exp.RespectNulls: {"this"},
    exp.Anonymous: {"this", "expressions"},
    exp.DateBin: {"this", "expression", "unit"},
    exp.Format: {"this", "expressions"},
}
"""The allowed contents of each part of a query."""

_OPERATORS = """
    Add And Between BitwiseAnd BitwiseLeftShift BitwiseNot BitwiseOr BitwiseRightShift BitwiseXor
    Case Coalesce DPipe Div EQ Escape GT GTE Glob Greatest ILike If IntDiv Is LT LTE Least Like Mod
    Mul NEQ Neg Not NullSafeEQ NullSafeNEQ Nullif Or Paren SimilarTo Sub Tuple Xor
"""
_FUNCTIONS = """
    Abs Acos Acosh Asin Asinh Atan Atan2 Atanh Cbrt Ceil Cos Cosh Cot Degrees Exp Factorial Floor
    IsInf IsNan Ln Log Pi Pow Radians Round Sign Sin Sinh Sqrt Tan Tanh Trunc
    Ascii BitLength Chr Concat ConcatWs Contains EndsWith Hex Initcap JarowinklerSimilarity Left
    Length Levenshtein Lower MD5 Pad RegexpExtract RegexpFullMatch RegexpLike RegexpReplace Repeat
    Replace Reverse Right SHA SHA2 SplitPart StartsWith StrPosition Substring Translate Trim Unhex
    Unicode Upper
    CurrentDate CurrentTime CurrentTimestamp Date DateAdd DateDiff DateFromParts DateSub DateTrunc
    Day DayOfMonth DayOfWeek DayOfWeekIso DayOfYear Dayname Extract Hour LastDay Minute Month
    Monthname Quarter Second StrToDate StrToTime TimeToStr TimeToUnix TimestampDiff TimestampTrunc
    TimeFromParts TimestampFromParts ToDays TsOrDsAdd TsOrDsDiff TsOrDsToDate TsOrDsToTimestamp
    UnixToTime Week WeekOfYear Year YearOfWeek YearOfWeekIso
    AnyValue ApproxDistinct ApproxQuantile ArgMax ArgMin ArrayAgg Avg BitwiseAndAgg BitwiseOrAgg
    BitwiseXorAgg Corr Count CountIf CovarPop CovarSamp First GroupConcat Grouping GroupingId
    Kurtosis Last LogicalAnd LogicalOr Max Median Min Mode PercentileCont PercentileDisc Quantile
    RegrAvgx RegrAvgy RegrCount RegrIntercept RegrR2 RegrSlope RegrSxx RegrSxy RegrSyy RegrValx
    RegrValy Skewness Stddev StddevPop StddevSamp Sum Variance VariancePop
    CumeDist DenseRank FirstValue Lag LastValue Lead NthValue Ntile PercentRank Rank RowNumber
"""
_PLAIN = frozenset(getattr(exp, name) for name in (_OPERATORS + _FUNCTIONS).split())
_NAMES = """
    age bool_and bool_or century date_part datepart damerau_levenshtein epoch_ms even fmod
    format gamma gcd geomean hamming hash jaccard lcm lgamma mad now nextafter ord position
    printf quantile sem signbit strip_accents str_split_part time_bucket today var_samp
    """
_NAMED = frozenset(_NAMES.split())
"""Functions without a parser class of their own, in lower case."""

_UNITS = """
    ALL CENTURY CENTURIES DAY DAYS DECADE DECADES DOW DAYOFWEEK DOY DAYOFYEAR EPOCH HOUR HOURS
    ISODOW ISOYEAR MICROSECOND MICROSECONDS MILLENNIUM MILLENNIA MILLISECOND MILLISECONDS MINUTE
    MINUTES MONTH MONTHS QUARTER QUARTERS SECOND SECONDS WEEK WEEKS YEAR YEARS YEARWEEK
    """
_WORDS = frozenset(_UNITS.split())
_TYPE_NAMES = """
    BIGINT BOOLEAN CHAR DATE DATETIME DECIMAL DOUBLE FLOAT INT INT128 INTERVAL MEDIUMINT NCHAR
    NVARCHAR SMALLINT TEXT TIME TIMESTAMP TIMESTAMPLTZ TIMESTAMPNTZ TIMESTAMPTZ TIMESTAMP_MS
    TIMESTAMP_NS TIMESTAMP_S TINYINT UBIGINT UINT UINT128 USMALLINT UTINYINT UUID VARCHAR
    """
_TYPES = frozenset(_TYPE_NAMES.split())
_QUERIES = (exp.Select, exp.SetOperation, exp.Subquery)


def parse_query(sql: str, dialect: str) -> exp.Query:
    """Return the syntax tree of one query.

    Raises QueryError if the text cannot be parsed (Q001), is another statement or several (Q002),
    or has an unsupported part (Q005).
    """
    if dialect not in DIALECTS:
        message = f"The dialect {dialect!r} is not known. Known are {join_names(DIALECTS)}."
        raise QueryError.of("Q001", message)
    if len(sql) > _LONGEST or _NO_TEXT.search(sql):
        message = f"A query may have at most {_LONGEST:,} characters, all valid Unicode."
        raise QueryError.of("Q001", f"{message} {len(sql):,} were given.")
    with depth_guard():
        tree = _one_statement(_statements(sql, dialect), sql)
        _check(tree)
    return tree


def to_sql(tree: exp.Expr, dialect: str) -> str:
    """Return a tree as SQL, every name in quotes. Raises QueryError (Q005) where the dialect has
    no words for it."""
    try:
        with depth_guard():
            return tree.sql(
                dialect, identify=True, comments=False, unsupported_level=ErrorLevel.RAISE
            )
    except (UnsupportedError, ValueError) as error:
        raise not_allowed_error(
            f"A part of the query cannot be written in {dialect}: {error}"
        ) from None


def not_allowed_error(message: str, hint: str = "") -> PolicyEngineError:
    """Return the error for an unsupported part of SQL."""
    return QueryError.of("Q005", message, hint)


@contextmanager
def depth_guard() -> Iterator[None]:
    """Refuse a query that is nested too deeply to be walked."""
    try:
        yield
    except RecursionError:
        message = "The query is nested too deeply to be understood."
        raise QueryError.of("Q001", message) from None


@contextmanager
def _silence() -> Iterator[None]:
    """Keep the parser's warnings, which quote the query, out of the terminal."""
    log = logging.getLogger("sqlglot")
    with _ONE_AT_A_TIME:
        before = log.level
        log.setLevel(logging.CRITICAL)
        try:
            yield
        finally:
            log.setLevel(before)


def _statements(sql: str, dialect: str) -> list[exp.Expr]:
    try:
        with _silence():
            statements = sqlglot.parse(sql, read=dialect)
    except ParseError as error:
        details: dict[str, Any] = error.errors[0] if error.errors else {}
        place = Place("", details.get("line") or 0, details.get("col") or 0)
        message, hint = _syntax_problem(sql, details, dialect)
        raise QueryError(Problem("Q001", message, hint, place), source="query") from None
    except (SqlglotError, ValueError):
        message = (
            "The query cannot be parsed: a part of it is not a keyword, name or literal of SQL."
        )
        raise QueryError.of("Q001", message, "Is a quote left open?") from None
    return [one for one in statements if one is not None and not isinstance(one, exp.Semicolon)]


def _syntax_problem(sql: str, details: dict[str, Any], dialect: str) -> tuple[str, str]:
    """Return where the text stops being a query, and what may be meant."""
    missing = _EXPECTED.match(str(details.get("description") or ""))
    if missing:
        return f"The query cannot be parsed: {missing[1]!r} is missing.", ""
    words = [*map(str.upper, _WORD.findall(sql))]
    if words and words[0] not in _BEGINS:
        message = f"The query cannot be parsed: no query begins with {words[0][:40]!r}."
        return message, did_you_mean(
            words[0], _BEGINS
        ) or f"A query begins with {join_names(_BEGINS)}."
    unfit = str(details.get("highlight") or "")[:40]
    message = f"The query cannot be parsed: {unfit!r} has no place here."
    if _is_reserved(unfit, dialect):
        quoted = exp.to_identifier(unfit, quoted=True).sql(dialect=dialect)
        return message, f"{unfit!r} is a word of SQL. As the name of a column, write {quoted}."
    unused = [clause for clause in _CLAUSES if clause not in words]
    suggestions = [did_you_mean(word, [clause]) for word in words for clause in unused]
    return message, next(filter(None, suggestions), "")


def _is_reserved(word: str, dialect: str) -> bool:
    """Tell whether a word cannot be the name of a column, and has no place in queries at all."""
    if not word.isalpha() or word.upper() in _OF_QUERIES:
        return False
    try:
        with _silence():
            sqlglot.parse(f"SELECT {word} FROM t", read=dialect)  # noqa: S608 (only parsed)
    except SqlglotError:
        return True
    return False


_BEGINS = ("SELECT", "WITH")
_CLAUSES = ("FROM", "WHERE", "GROUP", "ORDER", "HAVING", "LIMIT", "UNION", "JOIN")
_OF_QUERIES = {
    *(*_BEGINS, *_CLAUSES, "AND", "ANY", "BETWEEN", "CASE", "CROSS", "ELSE", "INNER", "LIKE"),
    *("NOT", "ON", "OR", "OUTER", "THEN", "USING", "WHEN"),
}
_EXPECTED = re.compile(r"Expecting (\S+)")
_WORD = re.compile(r"[A-Za-z_]\w*")


def _one_statement(statements: list[exp.Expr], sql: str) -> exp.Query:
    if len(statements) != 1:
        message = f"One query is run at a time. {len(statements)} statements were given."
        raise QueryError.of("Q002", message)
    [tree] = statements
    if not isinstance(tree, _QUERIES):
        first = _WORD.search(sql)
        name = first[0].upper()[:40] if first else tree.key.upper()
        is_word = isinstance(tree, exp.Alias | exp.Column)
        message = f"{name!r} is not a query. Allowed is SELECT, with WITH and UNION."
        raise QueryError.of("Q002", message, did_you_mean(name, _BEGINS) if is_word else "")
    return tree


def _check(node: exp.Expr) -> None:
    """Raise QueryError (Q005) for the first unsupported part."""
    stack = [node]
    while stack:
        one = stack.pop()
        _check_one(one)
        stack.extend(one.iter_expressions())


def _check_one(node: exp.Expr) -> None:
    kind = type(node)
    if kind not in _PLAIN and kind not in _PARTS:
        raise not_allowed_error(f"{_part_name(node)} is not allowed in a query.")
    if kind in _PARTS:
        for part in (part for part, value in node.args.items() if value):
            if part not in _PARTS[kind]:
                words = part.strip("_").replace("_", " ").upper()
                raise not_allowed_error(f"{words} is not allowed in {_part_name(node)}.")
    if any(comment.lstrip().startswith("+") for comment in node.comments or ()):
        raise not_allowed_error("Hints to the engine are not allowed in a query.")
    if kind in _SPECIAL:
        _SPECIAL[kind](node)


def _check_name(node: exp.Expr) -> None:
    if str(node.this).lower() not in _NAMED:
        raise not_allowed_error(f"The function {str(node.this)[:60]!r} is not allowed in a query.")


def _check_word(node: exp.Expr) -> None:
    if str(node.this).upper() not in _WORDS:
        raise not_allowed_error(f"{str(node.this)[:60]!r} is not allowed in a query.")


def _check_type(node: exp.Expr) -> None:
    name = getattr(node.this, "name", str(node.this))
    if name not in _TYPES:
        raise not_allowed_error(f"The type {name!r} is not allowed in a query.")


def _check_join(node: exp.Expr) -> None:
    words = {part: str(node.args.get(part) or "").upper() for part in ("method", "side", "kind")}
    allowed = {
        "method": ("", "NATURAL"),
        "side": ("", "LEFT", "RIGHT", "FULL"),
        "kind": ("", "INNER", "OUTER", "CROSS"),
    }
    for part, word in words.items():
        if word not in allowed[part]:
            raise not_allowed_error(f"{word} JOIN is not allowed in a query.")


def _check_alias(node: exp.Expr) -> None:
    """An alias may name a column of the select list, or one that a star replaces."""
    is_column = isinstance(node.parent, exp.Select) and node.arg_key == "expressions"
    is_anew = isinstance(node.parent, exp.Star) and node.arg_key == "replace"
    if not (is_column or is_anew):
        raise not_allowed_error(
            "An alias (AS) is allowed only for a whole column of the select list."
        )


def _check_star(node: exp.Expr) -> None:
    parent = node.parent
    is_listed = isinstance(parent, exp.Select) and node.arg_key == "expressions"
    is_table = (
        isinstance(parent, exp.Column)
        and isinstance(parent.parent, exp.Select)
        and parent.arg_key == "expressions"
    )
    if not (is_listed or is_table or isinstance(parent, exp.Count)):
        raise not_allowed_error("* is allowed only in the select list and in COUNT(*).")


_SPECIAL = {
    exp.Anonymous: _check_name,
    exp.Var: _check_word,
    exp.DataType: _check_type,
    exp.Join: _check_join,
    exp.Alias: _check_alias,
    exp.Star: _check_star,
}


def _part_name(node: exp.Expr) -> str:
    """Return the name of a part in a message."""
    if isinstance(node, exp.LimitOptions):
        return "LIMIT or FETCH"
    if isinstance(node, exp.Func) and not isinstance(node, exp.Anonymous):
        return f"The function {node.sql_name()}"
    words = "".join(f" {c}" if c.isupper() else c for c in type(node).__name__).split()
    return " ".join(words).upper() if words else "This"
