"""What attacks on a release reach, in words."""

from policy_engine.audits.disclosure.result import DisclosureAudit, LearnedDistance, Linkage

NAMES = {
    "distance-linkage": "the nearest record",
    "probabilistic-linkage": "the record that agrees in the most telling columns",
    "intersection-linkage": "the nearest record that rank swapping allows",
    "likelihood-linkage": "the record that is most likely by the published method",
    "assignment-linkage": "the record of the best assignment of all persons at once",
    "learned-distance-linkage": "the nearest record by a distance learned from other persons",
}


def verdict(audit: DisclosureAudit) -> str:
    """Return what the strongest attack reaches, against guessing, in one or two sentences."""
    worst = audit.worst
    if worst is None:
        return "No attack could be run on this release."
    known = _columns(len(worst.known), len(audit.known))
    told = f"Who knows {known} of a person and takes {NAMES[worst.attack]} finds the person's own "
    told += f"record for {_share(worst)} of the persons. "
    guess = f"Guessing finds {_percent(worst.baseline)}."
    return told + guess


def worst_cases(audit: DisclosureAudit) -> tuple[str, ...]:
    """Return what distances reach with the persons they were learned from, a sentence each."""
    return tuple(_worst_case(one.learned) for one in audit.attacks if one.learned is not None)


def _worst_case(one: LearnedDistance) -> str:
    told = f"The best {one.distance} for these very persons links {_percent(one.in_sample)} of them"
    if one.is_proven:
        return f"{told}, which is proven to be the most."
    ends = {
        "time": "when its time was up",
        "size": "since the programme is too large to be solved",
        "margin": "since the rest are as good as ties",
        "reached": "there",
    }
    most = f"no other one links more than {_percent(one.bound)}"
    return f"{told}; {most}. The search ended {ends[one.stopped]}."


def _share(one: Linkage) -> str:
    ends = f"{_percent(one.linked.low)} to {_percent(one.linked.high)}"
    return f"{_percent(one.linked.value)} ({ends})"


def _percent(share: float) -> str:
    return f"{share:.1%}" if share >= 0.001 or share == 0 else f"{100 * share:.2g}%"


def _columns(known: int, of: int) -> str:
    if of == 1:
        return "the column"
    return f"all {of} columns" if known == of else f"{known} of {of} columns"


def limits() -> tuple[str, ...]:
    """Return what the figures do not show."""
    safe = "An attack that fails does not show that a record is safe: another intruder may know "
    exact = "The intruder is assumed to know that the persons are in the original, and their "
    return f"{safe}other columns, or a better attack.", f"{exact}values in known columns exactly."
