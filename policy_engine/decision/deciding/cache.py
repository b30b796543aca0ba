"""What was already judged on the way to one decision."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

from policy_engine.decision.model import Decision
from policy_engine.decision.origins import Origins

CachedDenial = tuple[Decision | None, str]
"""The denial of what was made of something, with its target."""


@dataclass
class DecisionCache:
    """What was already judged for one request, in one state of the world.

    Something that can be reached in several ways is judged once: in a chain of releases joined with
    earlier ones, the number of ways grows too fast to follow them all. `cut` are the outputs at
    which a way was not followed because it leads back to itself: a result that stopped short of an
    output before it depends on the way, and is not kept.
    """

    cut: set[str] = field(default_factory=set)
    origins: Origins | None = None
    _denials: dict[Hashable, CachedDenial] = field(default_factory=dict)

    def get_or_compute(
        self, key: Hashable, above: frozenset[str], compute: Callable[[], CachedDenial]
    ) -> CachedDenial:
        """Return the result stored for a key, computing it if there is none.

        `above` are the outputs on the way to it.
        """
        denial = self._denials.get(key)
        if denial is None:
            outer_cut, self.cut = self.cut, set()
            denial = compute()
            self.cut &= above
            if not self.cut:
                self._denials[key] = denial
            self.cut |= outer_cut
        return denial
