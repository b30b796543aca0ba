"""Which functions of rows a query may call whose answer is checked: steady and short ones.

A query is evaluated several times: for its answer, for the evidence of its cells, and for whom they
are about. So a function must have one value for the same arguments, which the time of day has not:
otherwise the ledger would record other persons than those whose total was shown. Nor may a function
take long, or need much memory, on a value that who asks can write for one person if a secret of
that person holds: nested replacements make texts grow without bound, and a counted repetition in a
regular expression takes a minute on a text of some thousand characters. What is allowed is listed,
whatever else the grammar knows.
"""

from collections.abc import Iterable

from sqlglot import exp

from policy_engine.decision.query.checking.checked_query import NotCheckableError

_CLASSES = """
    And Or Xor Case If Coalesce Nullif Greatest Least Cast TryCast
    Abs Acos Acosh Asin Asinh Atan Atan2 Atanh Cbrt Ceil Cos Cosh Cot Degrees Exp Floor IsInf IsNan
    Ln Log Pi Pow Radians Round Sign Sin Sinh Sqrt Tan Tanh Trunc
    Ascii BitLength Chr Concat Contains EndsWith Initcap Left Length Lower MD5 RegexpExtract
    RegexpFullMatch RegexpLike Replace Reverse Right SHA SHA2 SplitPart StartsWith StrPosition
    Substring Translate Trim Unhex Unicode Upper
    Date DateAdd DateBin DateDiff DateFromParts DateSub DateTrunc Day DayOfMonth DayOfWeek
    DayOfWeekIso DayOfYear Dayname Extract Hour LastDay Minute Month Monthname Quarter Second
    StrToDate StrToTime TimeFromParts TimeToStr TimeToUnix TimestampDiff TimestampFromParts
    TimestampTrunc ToDays TsOrDsAdd TsOrDsDiff TsOrDsToDate TsOrDsToTimestamp UnixToTime Week
    WeekOfYear Year YearOfWeek YearOfWeekIso
"""
_ALLOWED = frozenset(getattr(exp, name) for name in _CLASSES.split())
_NAMES = """
    century date_part datepart epoch_ms even fmod gamma gcd hamming hash jaccard lcm lgamma
    nextafter ord position signbit strip_accents str_split_part time_bucket
"""
_ALLOWED_NAMES = frozenset(_NAMES.split())
_MOMENTS = (exp.CurrentDate, exp.CurrentTime, exp.CurrentTimestamp)
_MOMENT_NAMES = frozenset({"now", "today", "age"})
_PATTERNS = (exp.RegexpExtract, exp.RegexpFullMatch, exp.RegexpLike, exp.SimilarTo)
_LONGEST_PATTERN = 100
_PAIR = 2
_MOST_PARTS = 100_000


def check_function(node: exp.Expr) -> None:
    """Refuse a function that is not allowed, or not in this form. Raises NotCheckableError (K017).

    Other parts of a query are allowed here.
    """
    if isinstance(node, exp.Replace):
        _check_replacement(node)
    if isinstance(node, _PATTERNS):
        _check_pattern(node)
    if isinstance(node, exp.Func) and not _is_allowed(node):
        name = str(node.this) if isinstance(node, exp.Anonymous) else node.sql_name()
        if isinstance(node, _MOMENTS) or name.lower() in _MOMENT_NAMES:
            raise _refusal(name.upper(), "Write the moment, as in DATE '2026-01-31'.")
        hint = "It could take long on the value of one person, or have another value each time."
        raise _refusal(f"The function {name.upper()}", hint)


def check_length(nodes: Iterable[exp.Expr]) -> None:
    """Refuse expressions that are too long together, once names are replaced by what they stand
    for: texts joined with themselves over and over. Raises NotCheckableError (K017)."""
    length = 0
    for node in nodes:
        for part in node.walk():
            length += 1 + (len(part.this) if isinstance(part, exp.Literal) else 0)
            if length > _MOST_PARTS:
                hint = f"Names written out, it has more than {_MOST_PARTS:,} parts."
                raise _refusal("An expression that long", hint)


def _is_allowed(node: exp.Func) -> bool:
    if not isinstance(node, exp.Anonymous):
        return type(node) in _ALLOWED
    name = str(node.this).lower()
    is_difference = name == "age" and len(node.expressions) == _PAIR
    return is_difference or name in _ALLOWED_NAMES


def _check_replacement(node: exp.Replace) -> None:
    """Refuse what could make a text longer."""
    old, new = (_text(node.args.get(name)) for name in ("expression", "replacement"))
    if not old or new is None or len(new) > len(old):
        raise _refusal("REPLACE by a longer text", "Replace a constant by one that is as short.")


def _check_pattern(node: exp.Expr) -> None:
    pattern = _text(node.args.get("expression"))
    if pattern is None or len(pattern) > _LONGEST_PATTERN or "{" in pattern:
        hint = rf"Write a constant of at most {_LONGEST_PATTERN} characters, \d\d for \d{{2}}."
        raise _refusal("A regular expression that is long, computed or counts by {}", hint)


def _text(node: object) -> str | None:
    """Return the text that a constant is."""
    return str(node.this) if isinstance(node, exp.Literal) and node.is_string else None


def _refusal(part: str, hint: str) -> NotCheckableError:
    message = f"{part} is not allowed in a query whose answer is checked."
    return NotCheckableError("K017", message, hint)
