"""What was judged already on the way to one decision."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

from policy_engine.decision.model import Decision
from policy_engine.decision.origins import Origins

CachedDenial = tuple[Decision | None, str]
"""The denial of what was made of something, with the target that it is about."""


@dataclass
class DecisionCache:
    """What was judged already for one request, in one state of the world.

    What several ways lead to is judged once: in a chain of releases that are joined with those
    before them there are more ways than anybody can go. `cut` are the outputs at which a way was
    not followed since it leads back to where it came from: what is judged short of one that lies
    before it depends on the way, and is not kept.
    """

    cut: set[str] = field(default_factory=set)
    origins: Origins | None = None
    _denials: dict[Hashable, CachedDenial] = field(default_factory=dict)

    def get_or_compute(
        self, key: Hashable, above: frozenset[str], compute: Callable[[], CachedDenial]
    ) -> CachedDenial:
        """Return what was judged under a key, by judging it where it was not.

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
