"""A store of a budget ledger in memory, which can crash at every step."""

from contextlib import contextmanager

from policy_engine.data.chain.rows import Row


class Crash(BaseException):
    """The process ends here."""


class MemoryStore:
    """Entries and answers that are there once a transaction has ended.

    The step at which `steps` are used up crashes: at the beginning of a transaction, before each
    write, before it is committed, and after.
    """

    source = "memory"

    def __init__(self):
        self.entries, self.answers, self.steps = None, {}, -1

    def exists(self):
        return self.entries is not None

    def create(self, first):
        self.tick()
        if self.entries is None:
            self.entries = [first]
        self.tick()

    @contextmanager
    def appending(self):
        self.tick()
        draft = _Transaction(self, [*self.entries], {**self.answers})
        yield draft
        self.tick()
        self.entries, self.answers = draft.entries, draft.answers
        self.tick()

    @contextmanager
    def reading(self):
        yield _Transaction(self, [*self.entries], {**self.answers})

    def tick(self):
        self.steps -= 1
        if self.steps == 0:
            raise Crash


class _Transaction:
    def __init__(self, store, entries, answers):
        self.store, self.entries, self.answers = store, entries, answers

    def rows(self, start=0):
        for one in self.entries:
            if one.number >= start:
                yield Row(one.number, one.text(), "", (one.number, one.hash), one.number)

    def add(self, entry):
        self.store.tick()
        self.entries.append(entry)

    def answer(self, number):
        return self.answers.get(number)

    def add_answer(self, number, answer):
        self.store.tick()
        self.answers[number] = answer
