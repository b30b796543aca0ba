"""The members that a rule names for a part, found by the names that include them or lie in them."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property

from policy_engine.data.rdf.statements import is_blank
from policy_engine.decision.closures import Closures
from policy_engine.decision.compliance.sizes import Work
from policy_engine.decision.rule_verdicts import Member
from policy_engine.policy.hierarchy import Part

_Members = defaultdict[str, list[Member]]


class MemberIndex:
    """The members that a rule names for a part: of many, most need no look for a name.

    Whether a name lies in one without a name is not known, so that all of these are always found.
    """

    def __init__(
        self, part: Part, members: Sequence[Member], closures: Closures, work: Work
    ) -> None:
        self._part = part
        self._members = members
        self._closures = closures
        self._work = work
        self._nameless = [one for one in members if is_blank(one.iri)]
        self._by_name = _Members(list)
        for member in members:
            self._by_name[member.iri].append(member)

    def covering(self, name: str) -> Collection[Member]:
        """Return the members that include a name, or may."""
        return self._found(self._named(self._closures.up(self._part, name)))

    def overlapping(self, names: Iterable[str]) -> Collection[Member]:
        """Return the members that include one of some names, or lie in one, or may."""
        members: list[Member] = []
        for name in names:
            members += self._members_by_wider.get(name, ())
            members += self._named(self._closures.reach(self._part, name))
        return self._found(members)

    @cached_property
    def _members_by_wider(self) -> _Members:
        by_wider = _Members(list)
        for member in self._members:
            for wide in self._counted(self._closures.reach(self._part, member.iri)):
                by_wider[wide].append(member)
        return by_wider

    def _named(self, names: Collection[str]) -> list[Member]:
        return [member for name in self._counted(names) for member in self._by_name.get(name, ())]

    def _found(self, members: Iterable[Member]) -> Collection[Member]:
        """Return members, each once, and those without a name."""
        unique_members = {id(one): one for one in (*self._nameless, *members)}
        self._work.add(len(unique_members))
        return unique_members.values()

    def _counted(self, names: Collection[str]) -> Collection[str]:
        """Return names, as many of which count as compared."""
        self._work.add(len(names))
        return names
