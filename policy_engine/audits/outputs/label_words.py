"""Words in the labels of finished tables that are hints: what totals are called, and numbers."""

import re
import unicodedata


def plain_label(text: str) -> str:
    """Return a label in small letters without accents, signs or spaces at its ends."""
    letters = unicodedata.normalize("NFKD", text.casefold())
    kept = [one if one.isalnum() else " " for one in letters if not unicodedata.combining(one)]
    return " ".join("".join(kept).split())


TOTALS = frozenset(
    map(
        plain_label,
        {
            *("combined", "both sexes", "everyone", "everybody", "aggregate"),
            *("all", "total", "totals", "grand total", "sub total", "subtotal", "overall", "sum"),
            *("row total", "column total", "col total", "row totals", "column totals", "sum total"),
            *("gesamt", "insgesamt", "summe", "gesamtergebnis", "gesamtsumme", "zwischensumme"),
            *(
                "zusammen",
                "alle",
                "total general",
                "ensemble",
                "somme",
                "tous",
                "toutes",
                "sous total",
            ),
            *("totaal", "som", "alles", "suma", "suma total", "todos", "totale", "totale generale"),
            *("somma", "tutti", "soma", "total geral", "todos os", "razem", "ogołem", "lacznie"),
            *(
                "celkem",
                "spolu",
                "osszesen",
                "totalt",
                "samtliga",
                "alla",
                "i alt",
                "ialt",
                "summa",
            ),
            *("yhteensa", "kokku", "kopa", "is viso", "skupaj", "ukupno", "toplam", "genel toplam"),
            *("συνολο", "итого", "всего", "общо", "合計", "総計", "总计", "合计", "총계", "합계"),
            *("المجموع", "סך הכל"),
        },
    )
)
"""What totals are called, as `plain_label` returns it."""

NUMBERS = frozenset(
    {
        *("zero", "none", "nobody", "one", "two", "three", "four", "five", "six", "seven"),
        *("eight", "nine", "ten", "eleven", "twelve", "null", "eins", "ein", "eine", "zwei"),
        *("drei", "vier", "funf", "sechs", "sieben", "acht", "neun", "zehn", "elf", "zwolf"),
        *("un", "une", "deux", "trois", "quatre", "cinq", "sept", "huit", "neuf", "dix"),
        *("uno", "una", "due", "tre", "dos", "tres", "quattro", "cuatro", "cinque", "cinco"),
        *("sei", "seis", "sette", "siete", "otto", "ocho", "nove", "nueve", "dieci", "diez"),
        *("een", "twee", "drie", "vijf", "zes", "zeven", "negen", "tien", "inf", "infinity"),
        *("few", "single", "couple", "pair", "dozen", "true", "false", "yes", "no", "ja", "nein"),
    }
)
"""Words that say how many, or yes and no."""

NUMBER_WORDS = NUMBERS - {
    *("none", "nobody", "null", "ein", "eine", "un", "une", "una", "uno", "inf", "infinity", "few"),
    *("single", "couple", "pair", "true", "false", "yes", "no", "ja", "nein", "sei", "elf", "een"),
}
"""Words for a number that are hardly anything else."""

COUNT_WORDS = frozenset(
    {
        *("n", "count", "counts", "freq", "frequency", "frequencies", "number", "persons", "total"),
        *("people", "cases", "obs", "observations", "anzahl", "haufigkeit", "effectif", "nombre"),
        *("size", "units", "aantal", "numero", "patients", "respondents", "individuals"),
    }
)
"""What columns of counts are called."""

KEY_WORDS = frozenset(
    {
        *("year", "age", "code", "id", "month", "week", "day", "quarter", "class", "grade", "band"),
        *("decade", "group", "level", "category", "children", "wave", "cohort", "zip", "postcode"),
        *("nace", "isic", "isco", "icd", "nuts", "district", "region", "area", "jahr", "alter"),
        *("annee", "date", "period", "round", "score", "stage", "phase", "type", "key", "index"),
        *("household", "plz", "kreis", "klasse", "stufe", "monat", "ano", "edad", "jaar", "rank"),
        *("decile", "quintile", "quartile", "percentile", "sic", "naics", "site", "ward", "store"),
    }
)
"""What columns of labels that are figures are called."""

SHARE_WORDS = frozenset(
    {
        *("pct", "percent", "percents", "percentage", "percentages", "share", "shares", "pc"),
        *("proportion", "proportions", "prozent", "anteil", "anteile", "rate", "rates", "ratio"),
        *("pourcentage", "procent", "porcentaje", "quote", "quota", "percentuale", "perc", "prop"),
    }
)
"""What columns of shares are called."""

_COMMON = frozenset(
    {
        *("yes", "no", "true", "false", "ja", "nein", "oui", "non", "si", "y", "n", "none", "both"),
        *("other", "others", "unknown", "missing", "not stated", "not known", "refused", "rest"),
        *("low", "medium", "high", "never", "sometimes", "often", "always", "good", "bad", "all"),
    }
)
"""Labels that many keys have which are not the same."""

_ROMAN = re.compile(r"(?=.)m*(c[md]|d?c{0,3})(x[cl]|l?x{0,3})(i[xv]|v?i{0,3})")


def is_total_word(text: str) -> bool:
    """Tell whether a label is a word for a total."""
    return plain_label(text) in TOTALS


def has_number(text: str) -> bool:
    """Tell whether a label has a digit, or is or has a word for a number, a yes or a no."""
    if any(one.isdigit() or one.isnumeric() for one in text):
        return True
    words = plain_label(text).split()
    return bool(words) and (not NUMBERS.isdisjoint(words) or bool(_ROMAN.fullmatch(words[0])))


def is_telling(label: str) -> bool:
    """Tell whether a label, as `plain_label` returns it, says of which key it is: not such as yes
    and no, codes of one letter, or figures."""
    return label not in _COMMON and sum(one.isalpha() for one in label) > 1


def is_share_name(name: str, *, is_label: bool = False) -> bool:
    """Tell whether a column is called a share: a label has to be the word alone."""
    if "%" in name and not re.search(r"\d\s*%", name):
        return True
    words = plain_label(name).split()
    return bool(SHARE_WORDS.intersection(words)) and (len(words) == 1 or not is_label)
