"""Whether a cell is true of a value, by a parser that shares nothing with the engine's.

It reads the text of a cell letter by letter, and numbers and times into exact fractions. Values
are texts, as they stood in the file that was released; an empty one is missing.
"""

import datetime as dt
import re
from fractions import Fraction

MISSING = " or missing"


def is_true(cell, value, how, column):
    """Tell whether a cell, None where it is empty, may stand for a value of a column.

    `how` are the settings of the quasi-identifier, a taxonomy being a dict from child to parent;
    `column` is all of its values.
    """
    read = reader(column)
    body, may_miss = parsed(cell)
    if value == "" or read(value) is None:
        return may_miss
    if body is None:
        return False
    if body == ("one", "*"):
        return True
    kind = how.get("generalization")
    if kind in ("set", "prefix", "taxonomy"):
        return TEXTS[kind](body, value, how)
    if kind == "calendar":
        return in_period(body, value, read)
    return in_reach(body, read(value), read)


def parsed(cell):
    """Return the body of a cell, as its shape and what it holds, and whether it may be missing."""
    if not cell:
        return None, True
    may_miss = cell.endswith(MISSING)
    body = cell[: len(cell) - len(MISSING)] if may_miss else cell
    if body.startswith('"'):
        text, end = quoted(body, 0)
        assert end == len(body), body
        return ("one", text), may_miss
    if body.startswith("{"):
        return ("set", members(body)), may_miss
    ends = body[1:-1].split(" - ")
    if body[0] + body[-1] == "[]" and len(ends) == 2 and all(map(is_bound, ends)):
        return ("range", ends), may_miss
    return ("one", body), may_miss


def quoted(text, start):
    """Return the JSON string that starts at a place, and where it ends."""
    found, place = "", start + 1
    while text[place] != '"':
        if text[place] == "\\":
            letter = text[place + 1]
            if letter == "u":
                found += chr(int(text[place + 2 : place + 6], 16))
                place += 4
            else:
                found += {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}.get(letter, letter)
            place += 2
        else:
            found += text[place]
            place += 1
    return found, place + 1


def members(body):
    found, place = [], 1
    while True:
        if body[place] == '"':
            text, place = quoted(body, place)
        else:
            end = place
            while body[end] not in ",}":
                end += 1
            text, place = body[place:end], end
        found.append(text)
        if body[place] == "}":
            assert place == len(body) - 1, body
            return found
        assert body[place : place + 2] == ", ", body
        place += 2


# What texts are


NUMBER = re.compile(r"(-?)([0-9]*)\.?([0-9]*)(?:[eE]([-+]?[0-9]+))?")
CLOCK = r"([0-9]{2}):([0-9]{2})(?::([0-9]{2}(?:\.[0-9]+)?))?"
STAMP = re.compile(
    rf"([0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}})(?:[T ]{CLOCK})?(Z|[-+][0-9]{{2}}:?[0-9]{{2}})?"
)
TIME = re.compile(CLOCK)


def reader(column):
    """Return what reads the values of a column: as numbers, times, or texts as they are.

    What is read as None is missing.
    """
    filled = [text.strip() for text in column if text]
    figures = [text for text in filled if text.lower() != "nan"]
    if filled and all(is_figure(text) and is_plain(text) for text in figures):
        return lambda text: None if text.strip().lower() == "nan" else number(text.strip())
    for read in (moment, clock):
        if filled and all(read(text) is not None for text in filled):
            zones = {bool(STAMP.fullmatch(text) and STAMP.fullmatch(text)[5]) for text in filled}
            if len(zones) == 1:
                return lambda text, read=read: read(text.strip())
    return str


def is_figure(text):
    match = NUMBER.fullmatch(text)
    return match is not None and bool(match[2] or match[3])


def is_plain(text):
    """Tell whether a number starts with no zero that counts."""
    whole = text.lstrip("-").partition(".")[0].lower().partition("e")[0]
    return len(whole) < 2 or whole[0] != "0"


def number(text):
    sign, whole, part, power = NUMBER.fullmatch(text).groups()
    digits = int((whole + part) or "0")
    value = digits * Fraction(10) ** (int(power or 0) - len(part))
    return -value if sign else value


def moment(text):
    """Return the seconds from the year 1 on, None where a text is not a date or time."""
    match = STAMP.fullmatch(text)
    if match is None or (match[5] and not match[2]):
        return None
    try:
        days = Fraction(dt.date.fromisoformat(match[1]).toordinal() * 86_400)
    except ValueError:
        return None
    return days + of_day(match[2], match[3], match[4]) - zone(match[5])


def of_day(hours, minutes, seconds):
    return int(hours or 0) * 3600 + int(minutes or 0) * 60 + Fraction(seconds or 0)


def zone(text):
    if text in (None, "Z"):
        return 0
    digits = text[1:].replace(":", "")
    size = int(digits[:2]) * 3600 + int(digits[2:]) * 60
    return -size if text[0] == "-" else size


def clock(text):
    match = TIME.fullmatch(text)
    return of_day(*match.groups()) if match and int(match[1]) < 24 else None


def is_bound(text):
    return is_figure(text) or moment(text) is not None or clock(text) is not None


# Whether a value is among those that a cell speaks of


def in_reach(body, value, read):
    shape, held = body
    if shape == "range":
        low, high = map(read, held)
        return low <= value <= high
    return value in ([read(held)] if shape == "one" else map(read, held))


def in_set(body, value, _how):
    shape, held = body
    return value == held if shape == "one" else shape == "set" and value in held


def in_prefix(body, value, how):
    shape, held = body
    kept = held.rstrip(how.get("mask", "*"))
    if shape != "one" or len(kept) == len(held):
        return shape == "one" and value == held
    return value.startswith(kept) and len(value) <= len(held)


def below(body, value, how):
    shape, held = body
    while shape == "one" and value is not None and value != held:
        value = how["taxonomy"].get(value)
    return shape == "one" and value == held


TEXTS = {"set": in_set, "prefix": in_prefix, "taxonomy": below}

PARTS = ["night", "morning", "afternoon", "evening"]


def in_period(body, value, read):
    """Tell whether a value is the one that a cell holds, or lies in its period by its clock."""
    shape, held = body
    if shape != "one":
        return False
    if is_bound(held) and read(held) == read(value):
        return True
    return held in periods(value.strip())


def periods(text):
    """Return the names of the periods that a date or time is in."""
    if TIME.fullmatch(text):
        return [f"{text[:2]}h", PARTS[int(text[:2]) // 6]]
    day, hour = text[:10], text[11:13]
    year, month = day[:4], day[5:7]
    found = [day[:7], f"{year}-Q{(int(month) + 2) // 3}", year, f"{year[:3]}0s", f"{year[:2]}xx"]
    if hour:
        found += [f"{day}T{hour}", f"{day} {PARTS[int(hour) // 6]}", f"{day} all day"]
    return found
