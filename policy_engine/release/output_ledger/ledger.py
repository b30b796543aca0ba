"""The output ledger: an answer is checked against all earlier ones, and recorded, in one step."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from secrets import token_hex
from typing import Any

from policy_engine.data.chain.entries import START, now
from policy_engine.data.chain.hashing import HashChain
from policy_engine.data.chain.verification import Head, InvalidEntryError, Verification, parse_entry
from policy_engine.data.keys import Key, read_chain_key
from policy_engine.errors import LedgerError, PolicyEngineError
from policy_engine.release.ledger_chain import LedgerChain
from policy_engine.release.ledger_file import LedgerStore, StoredLedger
from policy_engine.release.output_ledger.answers import (
    CellOutcome,
    LedgerOutcome,
    OutputAnswer,
    OutputCell,
    near_ends,
)
from policy_engine.release.output_ledger.checking import OTHER_DATA, LedgerJudgement, judge
from policy_engine.release.output_ledger.contents import AnswerContent
from policy_engine.release.output_ledger.entries import (
    OUTPUTS,
    OutputEntry,
    RecordedOutput,
    make_entry,
)
from policy_engine.release.output_ledger.measured_cells import in_known_columns
from policy_engine.release.output_ledger.met_limits import about_other_data
from policy_engine.release.output_ledger.state import OutputState, View
from policy_engine.release.output_ledger.store import OUTPUT, OutputLedgerFile
from policy_engine.release.output_ledger.summaries import LedgerSummary, summary_of
from policy_engine.release.output_ledger.verifying import verify_outputs
from policy_engine.release.remembered_ledger import RememberedLedger


class OutputLedger:
    """All cells that were released of datasets, and whether another answer may be given.

    `check_and_record(answer)` is the one way to use it: what it returns says whether the answer may
    leave (`may_leave`), and of each cell whether it is released, with the code of the reason if it
    is not. The check and the entry are one transaction, held exclusively: of two queries at once,
    the second is checked against the first. What may leave is on the disk before it does.

    An answer is checked against all earlier answers about the same dataset that share one of its
    scopes, whichever measure they were of:

    - no released population may have fewer units than the threshold (K040), or differ from an
      earlier one (K041) or another one of the answer (K042) of a compatible measure by fewer units;
    - where conditions are known, no population may be that of a cell of a compatible measure by
      chance, under a condition that is not the same (K041, K042);
    - what two overlapping totals, or how units are spread, differ by must be what the answer
      `may_tell` (K041, K042);
    - of two columns, one statistic such as a correlation may be released, whomever it is about
      (K050);
    - of a column, there are either counts of its values, if some of them are withheld, or totals,
      means and other statistics (K050);
    - of a column, there is at most one statistic other than totals for as many units as the
      threshold, and several of them tell together of that many times as many units (K043);
    - no linear combination of released cells may tell of fewer units than the threshold (K043), or
      give the value of a suppressed cell (K044): differences of unions, complements within totals,
      trackers, and means beside sums. The largest threshold counts that any answer ever had;
    - of what is told of a column, where the answer says who is `contributing` something to it, none
      may tell of fewer of these than the threshold (K043).

    - whole counts that are not negative may tell no more than that (K045), nor may sums of which
      the answer states the bounds of a contribution; where a suppressed cell has a `Protection`,
      the values that can be derived for it must reach as far on both sides of its own (K045);
    - counts of holders among known populations may not tell, as sums of real numbers from nothing
      to the size of each atom, that all units of some atom are holders, or none; nor may totals of
      a column, of which the answer gives the `contributions`, tell that all units of some atom have
      the least or the most in it (K045).

    Where somebody may have several units, an answer says whose they are, its `owners`: fewer units
    than the threshold may then be told of if as many owners have them as the threshold stands for.

    Totals, means and other statistics of a column that is one that is known in other units count as
    those of that one; a total of one that differs by a constant, too, tells of how many units it
    is. Of columns that are sums of each other, none is released where something of them is
    suppressed: that is for `review` (K046).

    An empty population tells of nobody and is not held against anybody. What is derived from
    earlier answers alone, such as when a threshold is raised afterwards, does not count against a
    new one. Answers that were released before are free (`repeated`).

    Cells about other data of the same dataset are still of the same persons, but nothing says whose
    values are the same: such an answer is never given, but is for `review` (K047). So is one for
    which the limits are too narrow within which the ledger decides (K046): 100,000 atoms, and 4,000
    populations that belong together and of which some atoms have fewer units than the threshold, or
    of which a cell is suppressed; for linear programmes, 20 million populations times atoms, of
    those alone that a proof may use. So is one whose bounds cannot be computed (K048), for lack of
    time or of a value. Where it is not found in time that combinations tell of enough units, cells
    that they are of are at fault (K043). All checks together have 60 processor seconds: what is not
    shown to be safe by then, is withheld (K043) or, where nothing is, for review (K046).

    Where a person `accepted` an answer, what it releases is no longer to stay unknown, and what the
    ledger cannot decide (K046 to K048) is decided: of data that changed, only answers about the
    same data are compared. All else is refused as ever.

    A refusal depends on the data: show a coded reason to those who ask, and never the figures.
    """

    def __init__(
        self, store: str | Path | LedgerStore, key: Key = None, expect: str | int | Head = ""
    ) -> None:
        """Open the ledger in a file, which is made by the first answer if there is none.

        With a key, the chain uses HMACs, which nobody can recreate without it. Where a head that
        was kept elsewhere is to be `expected`, another or a new ledger is not used (K033): answers
        that were given before would not count. Raises DataError (C013) for a key that is missing or
        too short, RequestError (U001) for what is not a head.
        """
        self.expected: Head | None = None
        if expect:
            text = expect if isinstance(expect, Head) else str(expect)
            self.expected = Head.of(text, "ledger show") if isinstance(text, str) else text
        self.store = OutputLedgerFile(Path(store)) if isinstance(store, str | Path) else store
        self.chain = HashChain(read_chain_key(key))
        reader = LedgerChain(self.chain, OUTPUTS, OUTPUT, self.store.source)
        self._remembered = RememberedLedger(
            self.store, reader, lambda: OutputState(self.chain), self._broken_error
        )

    def check_and_record(self, answer: OutputAnswer, *, partly: bool = False) -> LedgerOutcome:
        """Return what becomes of an answer and its cells; if it may leave, it is recorded first.

        If it may be given `partly`, cells at fault are suppressed until the rest may leave;
        otherwise one fault refuses all. Raises LedgerError (K037) for an answer that cannot be
        checked as it is, and K030 to K036 for a ledger that cannot be used.
        """
        answer.check()
        is_begun = not self.store.exists()
        with self._transaction() as ledger:
            outcome = ledger.answer(answer, partly=partly)
            mark = ledger.state.mark
        return replace(outcome, head=str(Head(mark.number, mark.hash)), is_begun=is_begun)

    def would_record(self, answer: OutputAnswer, *, partly: bool = False) -> LedgerOutcome:
        """Return what would become of an answer now; nothing is recorded. Raises the same."""
        answer.check()
        if not self.store.exists():
            self._check_none_expected()
            state = OutputState(self.chain)
            return _outcome(judge(*_judged(state, answer, None), partly=partly))
        with self._reading() as ledger:
            return ledger.outcome(answer, partly=partly)[0]

    def begin(self) -> bool:
        """Make the ledger if there is none, and return whether there was none: so that it has a
        head before anything is recorded. Raises as `check_and_record` for one that is expected."""
        if self.store.exists():
            return False
        with self._transaction():
            return True

    def check_expected(self) -> None:
        """Refuse a ledger that lacks the head that it is expected to have, if any is (K033).

        Every answer does so as well; this is for who wants to know before there is one.
        """
        if self.expected and self.store.exists():
            with self._reading():
                return
        self._check_none_expected()

    def check_has(self, head: str) -> None:
        """Refuse a ledger that lacks a head which an answer was judged against (K033).

        Raises RequestError (U001) for what is not a head.
        """
        former = Head.of(head, "ledger show")
        if not self.store.exists():
            raise self._unexpected_error("There is no output ledger", former)
        with self._reading() as ledger:
            if not _is_in(ledger.stored, former):
                fault = "The output ledger is not that which the answer was judged against"
                raise self._unexpected_error(fault, former)

    # -- what it says ------------------------------------------------------------------------------

    def summary(self) -> LedgerSummary:
        """Return how many answers and cells there are, by dataset and scope.

        Raises LedgerError if the ledger cannot be read (K030 to K036), as all that follow do.
        """
        with self._reading() as ledger:
            return summary_of(ledger.state)

    def history(self) -> tuple[OutputEntry, ...]:
        """Return the entries in order."""
        with self._reading() as ledger:
            return tuple(parse_entry(row, OUTPUTS) for row in ledger.stored.rows())

    def verify(self, expect: str | int | Head | None = None) -> Verification:
        """Return every break of the chain, and every answer that is missing or was changed.

        Entries that were cut off at the end are found with `expect`, a head that was kept elsewhere
        and that the ledger must still have. Raises RequestError (U001) if it is not a head.
        """
        with self.store.reading() as stored:
            return verify_outputs(stored, self.chain, expect)

    # -- transactions ------------------------------------------------------------------------------

    @contextmanager
    def _transaction(self) -> "Iterator[_Transaction]":
        """Return the ledger held exclusively: what is appended is on the disk at the end."""
        if not self.store.exists():
            self._check_none_expected()
        self._remembered.begin(self._first_entry)
        with self._remembered.appending() as (stored, state):
            self._check_head(stored)
            yield _Transaction(self, stored, state)

    @contextmanager
    def _reading(self) -> "Iterator[_Transaction]":
        """Return the ledger as it is now."""
        with self._remembered.reading() as (stored, state):
            self._check_head(stored)
            yield _Transaction(self, stored, state)

    def _first_entry(self) -> OutputEntry:
        opened = {"state": "opened", "ledger": token_hex(16)}
        return make_entry(self.chain, (0, START), now(), **opened)

    def _check_none_expected(self) -> None:
        """Refuse that there is no ledger where one is expected, or was read before."""
        latest = self._remembered.latest
        last = Head(latest.number, latest.hash) if latest.number else None
        if self.expected or last:
            raise self._unexpected_error("There is no output ledger", self.expected or last)

    def _check_head(self, stored: StoredLedger) -> None:
        """Refuse a ledger that lacks the expected head."""
        if self.expected is None:
            return
        if not _is_in(stored, self.expected):
            fault = "The output ledger is another one, or was cut off"
            raise self._unexpected_error(fault, self.expected)
        self.expected = None  # From now on, it is compared with what was read last.

    def _unexpected_error(self, fault: str, head: Head | None) -> PolicyEngineError:
        message = f"{fault}: it lacks the head {head} that it is expected to have."
        hint = "Is its path right? Answers that were given before would not count."
        return LedgerError.of("K033", message, hint, self.store.source)

    def _broken_error(self, error: InvalidEntryError) -> LedgerError:
        message = f"The output ledger does not show what was released: {error}."
        problem = LedgerError.of("K033", message, "Verify it, to have every problem listed.")
        return LedgerError(*problem.problems, source=self.store.source)


class _Transaction:
    """A ledger and its state, nobody else writing to it."""

    def __init__(self, ledger: OutputLedger, stored: StoredLedger, state: OutputState) -> None:
        self.ledger, self.stored, self.state = ledger, stored, state

    def answer(self, answer: OutputAnswer, *, partly: bool) -> LedgerOutcome:
        """Return what becomes of an answer, and record it if it may leave."""
        outcome, content, judgement = self.outcome(answer, partly=partly)
        if not outcome.may_leave:
            return outcome
        states = [cell.state == "released" for cell in outcome.cells]
        number, digest, own = self.state.mark.number + 1, None, list[int]()
        # What was released before may be new to who has another scope.
        reach = frozenset((*answer.scopes, *answer.also))
        if outcome.state == "recorded" or not self.state.has_reached(_view(answer), reach):
            text, own = content.packed(judgement.after.places, states)
            self.stored.add_answer(number, text)
            digest = self.ledger.chain.digest(text)
        output = _recorded(answer, states, digest)
        self.append(state="answered" if digest else "repeated", output=output)
        judgement.after.places |= {
            key: (number, place) for place, key in enumerate(content.block_keys()) if place in own
        }
        own_numbers = [judgement.after.index.get(one.tobytes(), -1) for one in content.fingerprints]
        judgement.after.note_entry(content.cells, own_numbers, number)
        self.state.remember(_view(answer), judgement.after)
        return replace(outcome, number=number, hash=self.state.mark.hash)

    def outcome(
        self, answer: OutputAnswer, *, partly: bool
    ) -> tuple[LedgerOutcome, AnswerContent, LedgerJudgement]:
        """Return what becomes of an answer, its content, and what is known afterwards."""
        try:
            before, content = _judged(self.state, answer, self.stored)
        except InvalidEntryError as error:
            raise self.ledger._broken_error(error) from None  # noqa: SLF001 (its own part)
        others = self.state.other_data(_view(answer))
        if others and not answer.accepted:
            other = CellOutcome("review", OTHER_DATA, about_other_data(others))
            held = tuple(
                other if cell.is_released else CellOutcome("suppressed") for cell in answer.cells
            )
            judgement = LedgerJudgement("review", held, before)
        else:
            judgement = judge(before, content, partly=partly)
        return _outcome(judgement), content, judgement

    def append(self, **parts: Any) -> None:
        """Add an entry; its time is never before that of the last."""
        mark = self.state.mark
        logged = max(now(), self.state.logged)
        entry = make_entry(self.ledger.chain, (mark.number, mark.hash), logged, **parts)
        self.stored.add(entry)
        self.state.add(entry.to_json())


def _is_in(stored: StoredLedger, head: Head) -> bool:
    entries = (parse_entry(row, OUTPUTS) for row in stored.rows(max(head.number, 0)))
    return any(head.is_at(one.number, one.hash) for one in entries)


def _view(answer: OutputAnswer) -> View:
    return answer.dataset, answer.data, frozenset(answer.scopes)


def _judged(
    state: OutputState, answer: OutputAnswer, stored: StoredLedger | None
) -> tuple[Any, AnswerContent]:
    """Return what is known before an answer, and its content."""
    knowledge = state.knowledge(_view(answer), answer.populations.units, stored)
    content = AnswerContent.of(answer, knowledge.words)
    return knowledge, in_known_columns(content, answer.measured, knowledge)


def _outcome(judgement: LedgerJudgement) -> LedgerOutcome:
    return LedgerOutcome(judgement.state, judgement.cells)


def _recorded(answer: OutputAnswer, states: Sequence[bool], digest: str | None) -> RecordedOutput:
    """Return what is kept of an answer; of a figure, all cells that it is told by count as one, but
    for what is told nearly."""
    figures = {
        (_figure(place, cell), is_released)
        for place, (cell, is_released) in enumerate(zip(answer.cells, states, strict=True))
        if not near_ends(cell.measure)
    }
    all_figures = {figure for figure, _ in figures}
    withheld = {figure for figure, is_released in figures if not is_released}
    released = len(all_figures - withheld)
    return RecordedOutput(
        dataset=answer.dataset,
        data=answer.data,
        scopes=answer.scopes,
        units=answer.populations.units,
        released=released,
        suppressed=len(withheld),
        name=answer.name or None,
        content=digest,
        accepted=answer.accepted or None,
        also=tuple(sorted({*answer.also} - {*answer.scopes})) or None,
    )


def _figure(place: int, cell: OutputCell) -> tuple[bool, int]:
    """Return the figure of a cell, or the cell itself where it is of none."""
    return (True, cell.figure) if cell.figure >= 0 else (False, place)
