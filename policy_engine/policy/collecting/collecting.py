"""The policies of files, folders and registries that are in force, and why the others are not."""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from policy_engine.errors import (
    DataError,
    Place,
    PolicyEngineError,
    PolicyError,
    Problem,
    RequestError,
    join_names,
)
from policy_engine.policy.canonical import digest_of
from policy_engine.policy.collecting.force import InForce
from policy_engine.policy.collecting.registry import (
    REGISTRY,
    RegistryEntry,
    current_entries,
    files_of,
    is_folder,
    is_registry,
    read_registry,
    unlisted,
)
from policy_engine.policy.model import SET, Party, Policy, Rule
from policy_engine.policy.syntax import Syntax

Text = tuple[str | bytes, str, Syntax]
"""The text of policies, its name in messages, and its syntax."""
_Meaning = tuple[str, str]
"""The uid and the digest of a policy, which all texts of it share."""
Read = Callable[[Text, Sequence[Policy]], tuple[Policy, ...]]
"""Reads the policies of a text, those that were replaced among them, given possible parents that
lie beside it."""
_INCOMPLETE, _NO_PARENT = frozenset(("P003", "P004")), "P011"


class _Found:
    def __init__(self) -> None:
        self.policies: list[Policy] = []
        self.notes: list[str] = []
        self.ended: list[Policy] = []
        self.reasons: dict[_Meaning, str] = {}
        """Why what has a uid and a digest is in force no longer, whichever text it is in."""

    def skip(self, policy: Policy, why: str, *, has_ended: bool = True) -> None:
        where = f" ({policy.source})" if policy.source else ""
        self.notes.append(f"{policy.uid}{where} is skipped: {why}.")
        self.ended += [policy] if has_ended else []


class PolicyCollector:
    """Collects what is in force at a moment.

    `text` returns the text of a path, `read` its policies and `drafts` these as they are written;
    `parents` are those that are given for all.
    """

    def __init__(
        self,
        time: datetime,
        text: Callable[[Path], Text],
        read: Read,
        drafts: Callable[[Text], tuple[Policy, ...]],
    ) -> None:
        self.time = time
        self._text = text
        self._read = read
        self._drafts = drafts
        self._found = _Found()

    def add(self, policies: Iterable[Policy]) -> None:
        """Add policies, but for those that say to be replaced."""
        for policy in policies:
            if policy.replaced_by:
                why = f"{join_names(policy.replaced_by)} replaced it"
                self._found.skip(policy, why)
                where = f"by {policy.source}, which means the same, " if policy.source else ""
                self._found.reasons.setdefault(_meaning(policy), f"{where}{why}")
            else:
                self._found.policies.append(policy)

    def add_file(self, path: Path) -> None:
        """Add the policies of a file, of a registry, or of a folder.

        Raises PolicyError and DataError, each of which names the file.
        """
        if is_folder(path):
            self._add_folder(path)
            return
        text = self._text(path)
        if is_registry(text[0]):
            self._add_registry(path, text[0])
        else:
            self.add(self._read(text, ()))

    def collect(self) -> InForce:
        """Return what is in force. Raises RequestError (D002) for two policies of one uid, unless
        they mean the same or one is known to be newer."""
        policies, chosen = self._found, list[Policy]()
        by_uid: dict[str, list[Policy]] = {}
        for policy in policies.policies:
            # Of several texts that mean the same, one that is over speaks for all.
            if why := policies.reasons.get(_meaning(policy)):
                policies.skip(policy, why)
            else:
                by_uid.setdefault(policy.uid, []).append(policy)
        for several in by_uid.values():
            newest = _newest(several)
            chosen.append(newest)
            for other in several:
                if other is newest:
                    continue
                if other.digest == newest.digest:
                    where = f" in {newest.source}" if newest.source else ""
                    why = f"it is given twice, and means the same{where}"
                    policies.skip(other, why, has_ended=False)
                else:
                    assert newest.dated is not None  # noqa: S101 (else neither is known as newer)
                    policies.skip(other, f"the one of {newest.dated.isoformat()} replaced it")
        return InForce(chosen, dict.fromkeys(policies.notes), policies.ended)

    # -- folders ------------------------------------------------------------------------------

    def _add_folder(self, path: Path) -> None:
        """Add the policies of a folder, which may inherit from one another."""
        registry = path / REGISTRY
        if registry.is_file():
            self._add_registry(registry, self._text(registry)[0])
            return
        texts = [self._text(file) for file in files_of(path)]
        if not texts:
            raise DataError.of("C002", "The folder holds no file of policies.", "", str(path))
        self.add(self._heirs(texts))

    def _heirs(self, texts: Sequence[Text], earlier: Iterable[Policy] = ()) -> list[Policy]:
        """Return the policies of texts that lie together, and may inherit from one another."""
        policies, failed = self._all_read(texts, ())
        if any(problem.code == _NO_PARENT for error in failed for problem in error.problems):
            policies, failed = self._all_read(texts, [*self._parents(texts), *earlier])
        if failed:
            raise _join_errors(failed)
        return policies

    def _all_read(
        self, texts: Sequence[Text], parents: Sequence[Policy]
    ) -> tuple[list[Policy], list[PolicyEngineError]]:
        inherited = {uid for one in parents for uid in one.inherits}
        policies, failed = list[Policy](), list[PolicyEngineError]()
        for text in texts:
            above = [one for one in parents if one.source != text[1]]
            try:
                policies += self._read(text, above)
            except PolicyEngineError as error:
                own = [one.uid for one in parents if one.source == text[1]]
                is_parent = own and inherited.issuperset(own)
                if is_parent and {problem.code for problem in error.problems} <= _INCOMPLETE:
                    for uid in own:
                        self._found.notes.append(f"{uid} counts for those that inherit from it.")
                else:
                    error.source = error.source or text[1]
                    failed.append(error)
        return policies, failed

    def _parents(self, texts: Sequence[Text]) -> list[Policy]:
        """Return what the policies of texts may inherit from."""
        drafts: list[Policy] = []
        for text in texts:
            try:
                drafts += self._drafts(text)
            except PolicyError:
                continue  # reported when the policy itself is read
        by_uid: dict[str, list[Policy]] = {}
        for one in drafts:
            by_uid.setdefault(one.uid, []).append(one)
        return [_drop_permissions(_newest(some)) for some in by_uid.values()]

    # -- registries ---------------------------------------------------------------------------

    def _add_registry(self, path: Path, text: str | bytes) -> None:
        entries = read_registry(text, str(path))
        chosen, skipped = current_entries(entries, self.time)
        self._found.notes += [f"{one.name} is skipped: {why}." for one, why in skipped]
        beside = unlisted(entries, path) if path.name == REGISTRY else ()
        problems = [_unlisted(file) for file in beside]
        if problems:
            raise PolicyError(*problems, source=str(path))
        files = dict.fromkeys(one.file for one in chosen)
        texts = {file: self._text(path.parent / file) for file in files}
        earlier = [*self._earlier(path, [one for one, _ in skipped], files)]
        current = {one.uid for one in chosen}
        parents = [_bare(one) for _, one in earlier if one.uid not in current]
        policies = self._heirs([*texts.values()], parents)
        self._add_listed(path, entries, chosen, policies)
        by_uid = {one.uid: one for one in (*policies, *(draft for _, draft in earlier))}
        texts_ = [(file, self._whole(path.parent / file, one, by_uid)) for file, one in earlier]
        over = [one for one, _ in skipped if one.has_begun(self.time)]
        problems = [*_unknown(over, texts_)]
        if problems:
            raise PolicyError(*problems, source=str(path))
        ended = [*_ended_policy(over, texts_)]
        self._found.ended += ended
        # A version that means the same as an earlier one is in force where the registry says so.
        held = {(str(path.parent / one.file), one.uid) for one in chosen}
        listed = {_meaning(one) for one in policies if (one.source, one.uid) in held}
        for one in ended:
            if one.digest and _meaning(one) not in listed:
                why = f"by {path} it is no longer in force"
                self._found.reasons.setdefault(_meaning(one), why)

    def _whole(self, path: Path, draft: Policy, by_uid: Mapping[str, Policy]) -> Policy:
        """Return a policy that is over with all that it inherited, as far as that is known."""
        beside = [one for uid, one in by_uid.items() if uid != draft.uid]
        try:
            read = self._read(self._text(path), beside) if draft.inherits else (draft,)
        except PolicyEngineError:
            return draft
        return next(one for one in read if one.uid == draft.uid)

    def _earlier(
        self, path: Path, skipped: Sequence[RegistryEntry], current: Container[str]
    ) -> Iterator[tuple[str, Policy]]:
        """Yield the policies that are not in force, as they are written, each with its file."""
        keys = {(one.file, one.uid) for one in skipped}
        for file in dict.fromkeys(one.file for one in skipped):
            try:
                drafts = self._drafts(self._text(path.parent / file))
            except PolicyEngineError as error:
                if file not in current:
                    note = f"{file!r}, which is in force no longer, cannot be read: {error.code}."
                    self._found.notes.append(note)
                continue
            yield from ((file, one) for one in drafts if (file, one.uid) in keys)

    def _add_listed(
        self,
        path: Path,
        entries: Sequence[RegistryEntry],
        chosen: Sequence[RegistryEntry],
        policies: list[Policy],
    ) -> None:
        """Add the policies that entries name; each entry has one, and each policy an entry."""
        problems = []
        listed_ = {(str(path.parent / one.file), one.uid) for one in entries}
        entries_by_key = {(str(path.parent / one.file), one.uid): one for one in chosen}
        for policy in policies:
            key = (policy.source, policy.uid)
            if key not in listed_:
                message = f"{policy.source!r} holds the policy {policy.uid!r}, which has no entry."
                problems.append(Problem("P020", message, "Give it one."))
            elif entries_by_key.pop(key, None) is not None:
                self.add([policy])
        read = {policy.source for policy in policies}
        for (file, uid), one in entries_by_key.items():
            if file in read:
                message = f"{file!r} does not hold the policy {uid!r}."
                problems.append(Problem("P020", message, "", one.place))
        if problems:
            raise PolicyError(*problems, source=str(path))


def _unknown(
    over: Iterable[RegistryEntry], earlier: Sequence[tuple[str, Policy]]
) -> Iterator[Problem]:
    """Yield the entries that are over and of which nobody knows what was made under them."""
    known_policies = {(file, one.uid) for file, one in earlier if one.text or not one.inherits}
    for one in over:
        if one.outputs is None and (one.file, one.uid) not in known_policies:
            message = f"What was made under {one.name} is void, and nobody knows what that is: "
            message += f"{one.file!r} does not tell any more."
            hint = 'Put the file back, or state it: "outputs": ["http://..."], or [] for nothing.'
            yield Problem("P020", message, hint, one.place)


def _ended_policy(
    over: Iterable[RegistryEntry], earlier: Sequence[tuple[str, Policy]]
) -> Iterator[Policy]:
    """Yield the policies of entries that are over: as written, else with their outputs alone.

    Nobody knows who issued a text that is lost: others of its uid may be anybody's.
    """
    policies = {(file, policy.uid): policy for file, policy in earlier}
    for one in over:
        policy_found = policies.get((one.file, one.uid))
        if policy_found is not None:
            yield policy_found
        if policy_found is None or one.outputs:
            issuers = policy_found.issued_by if policy_found is not None else ()
            shared = Rule("permission", assigners=tuple(map(Party, sorted(issuers))))
            permissions = tuple(replace(shared, output=output) for output in one.outputs or ())
            bare = Policy(one.uid, SET if policy_found else "", "prohibit", "", source=one.file)
            yield replace(bare, shared=shared, permissions=permissions, place=one.place)


def _meaning(policy: Policy) -> _Meaning:
    return policy.uid, policy.digest


def _drop_permissions(policy: Policy) -> Policy:
    """Return a possible parent: without its permissions, where it is in force no longer."""
    return _bare(policy) if policy.replaced_by else policy


def _bare(policy: Policy) -> Policy:
    bare = replace(policy, permissions=(), replaced_by=(), text=policy.text or policy)
    return replace(bare, digest=digest_of(bare))


def _newest(several: Sequence[Policy]) -> Policy:
    """Return which of the policies of one uid holds.

    That is the one that was dated last, if all are dated and name the same assigners in their own
    texts: nobody replaces another's policy, nor one that names nobody. Raises RequestError (D002)
    where none can be told to. One that was replaced is returned only where all were.
    """
    replaced = {one.digest: one for one in several if one.replaced_by}
    first = several[0]
    if all(one.digest == first.digest for one in several):
        return replaced.get(first.digest, first)
    current = [one for one in several if one.digest not in replaced] or [*replaced.values()]
    dates = {one.dated for one in current}
    latest = [one for one in current if one.dated == max(filter(None, dates), default=None)]
    by_whom = {one.issued_by for one in several}
    is_of_one = len(by_whom) == 1 and frozenset() not in by_whom
    is_told = None not in dates and len({one.digest for one in latest}) == 1
    if (len(current) == 1 and len(by_whom) == 1) or (is_told and is_of_one):
        return latest[0]
    where = [_where(one) for one in several if one.source]
    files = f" Given in {join_names(dict.fromkeys(where))}." if where else ""
    message = f"Two policies have the uid {first.uid!r}, and say different things.{files}"
    hint = "Leave out the one that no longer holds, let it say dct:isReplacedBy, date both of one "
    hint += "assigner that they name by dct:modified, or keep their versions in a registry."
    raise RequestError.of("D002", message, hint)


def _where(policy: Policy) -> str:
    return f"{policy.source}:{policy.place.line}" if policy.place.line else policy.source


def _unlisted(file: Path) -> Problem:
    message = f"The registry does not name the file {str(file)!r}, which is beside it."
    return Problem("P020", message, "Give it an entry, with the status it has, or move it away.")


def _join_errors(errors: Sequence[PolicyEngineError]) -> PolicyEngineError:
    """Return one error for several files, each problem with its file."""
    if len(errors) == 1:
        return errors[0]
    joined = PolicyError(*(_named(one, error) for error in errors for one in error.problems))
    joined.exit_code = max(error.exit_code for error in errors)
    return joined


def _named(problem: Problem, error: PolicyEngineError) -> Problem:
    """Return a problem that says itself in which file and line it is."""
    line = f", line {problem.place.line}" if problem.place.line else ""
    place = Place(problem.place.pointer)
    return replace(problem, message=f"In {error.source!r}{line}: {problem.message}", place=place)
