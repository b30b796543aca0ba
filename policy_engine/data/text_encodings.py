"""In which encoding the bytes of a text are, as far as they leave no doubt."""

import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, BOM_UTF32_BE, BOM_UTF32_LE
from collections.abc import Collection

UTF_8, UTF_16, WESTERN = "utf-8", "utf-16", "cp1252"

_MARKS = (
    (BOM_UTF32_LE, "utf-32"),
    (BOM_UTF32_BE, "utf-32"),
    (BOM_UTF8, UTF_8),
    (BOM_UTF16_LE, UTF_16),
    (BOM_UTF16_BE, UTF_16),
)
"""By the length of the mark: that of UTF-32 begins as UTF-16's does."""
_WORD = re.compile(rb"[A-Za-z]*[\x80-\x9f\xa1-\xff][A-Za-z\x80-\x9f\xa1-\xff]*")
_LETTERS = frozenset("àâæçéèêëîïôœùûüäößáíñóúãõìòøå")
"""What French, German, Spanish, Portuguese, Italian, Danish, Norwegian and Swedish have beside the
letters of ASCII. Others of Windows-1252 are also what the bytes of other encodings look like."""
_OTHERS = (
    ("windows-1250", "ąćęłńóśźż"),
    ("windows-1250", "áčďéěíňóřšťúůýž"),
    ("windows-1250", "áäčďéíĺľňóôŕšťúýž"),
    ("windows-1250", "áéíóöőúüű"),
    ("windows-1250", "čćđšž"),
    ("windows-1250", "ăâîşţ"),
    ("windows-1257", "āčēģīķļņšūž"),
    ("windows-1257", "ąčęėįšųūž"),
    ("windows-1257", "äöõüšž"),
)
"""Languages of other encodings, each with its letters beside those of ASCII."""
_L = "A-Za-z" + "".join(sorted(_LETTERS | {one.upper() for one in _LETTERS if one != "ß"}))
_PLAIN = re.compile(
    f"[\u2018\u201c]?([{_L}]+)[\u2019\u201d\u2026]?|[{_L}]{{1,2}}\u2019([{_L}]+)|([{_L}]+)\u2019s"
)
_SIGNS = re.compile("[€£§©®°±²µ·•™\u2013\u2014…]|°[CF]|k?m²")
"""What stands by itself: between letters, it is how a letter of another encoding looks."""
_RUN = re.compile(r"[^\x00-\x7f]{3}")


def marked_encoding(beginning: bytes) -> str:
    """Return the encoding that a byte order mark names; empty without one."""
    return next((name for mark, name in _MARKS if beginning.startswith(mark)), "")


def foreign_words(text: bytes) -> set[bytes]:
    """Return the words of a text that have other letters than ASCII's."""
    return {*_WORD.findall(text)}


def is_western(words: Collection[bytes]) -> bool:
    """Tell whether words with bytes above ASCII are Windows-1252 and can be nothing else.

    They have no other letters than those of Western Europe's languages, among letters of ASCII,
    and what they would be in other encodings has letters that no language has together, or is the
    same. ISO 8859-1 and 8859-15 agree on all that is accepted.
    """
    try:
        texts = [word.decode(WESTERN) for word in words]
    except UnicodeDecodeError:
        return False
    if any(_is_utf_8(word) for word in words) or not all(map(_is_word, texts)):
        return False
    letters = {letter for text in texts for letter in text if letter.lower() in _LETTERS}
    is_mixed = any(text[:1].isalpha() and re.search("[A-Za-z]", text) for text in texts)
    return bool(letters) and is_mixed and not any(_may_be(letters, *one) for one in _OTHERS)


def _is_utf_8(word: bytes) -> bool:
    try:
        word.decode()
    except UnicodeDecodeError:
        return False
    return True


def _is_word(text: str) -> bool:
    match = _PLAIN.fullmatch(text)
    if match is None:
        return _SIGNS.fullmatch(text) is not None
    foreign = sum(letter in _LETTERS for letter in text.lower())
    is_among = len(text) == 1 or 2 * foreign <= len(text)
    return is_among and _RUN.search(text) is None


def _may_be(letters: Collection[str], encoding: str, alphabet: str) -> bool:
    """Tell whether letters would be others of one language if they were in another encoding."""
    others = "".join(letters).encode(WESTERN).decode(encoding, "replace")
    return others != "".join(letters) and {*others.lower()} <= {*alphabet}
