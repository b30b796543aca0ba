"""What a release tells together with earlier ones, in lines."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policy_engine.kernels.estimates import NotApplicable

if TYPE_CHECKING:
    from policy_engine.release.composition.figures import Composition


def composition_lines(composition: "Composition | NotApplicable | None") -> Iterator[str]:
    """Yield what was found, a line for each earlier release; nothing where nobody looked."""
    if composition is None:
        return
    if isinstance(composition, NotApplicable):
        yield f"earlier releases: not looked at, since {composition.reason}"
        return
    lines = [*composition.sentences()]
    if not composition.earlier and not composition.unknown:
        yield "earlier releases of the same persons: none in the ledger"
    for line in lines:
        yield f"earlier releases: {line}"
    if composition.joint:
        yield "earlier releases: classes are formed together with theirs"
    if composition.is_refused:
        yield f"earlier releases: the policy asks for {composition.bound!r}, so apply refuses it"
