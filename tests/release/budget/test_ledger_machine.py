"""Any order of spenders, crashes at every step, and replays, against a model."""

from decimal import Decimal
from itertools import count

import pytest
from charging import OF_ANN, OF_BOB, VISITS, cap, charge
from everyday import examples
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from memory_store import Crash, MemoryStore

from policy_engine.errors import DeniedError, LedgerError
from policy_engine.release.budget import BudgetLedger, Reservation
from policy_engine.release.budget import ledger as module
from policy_engine.release.budget.entries import Owner

CAP, ANNS = Decimal(2), Decimal("1.2")
CLIENTS = st.integers(0, 2)
STEPS = st.integers(1, 8)
PLANS = st.sampled_from(["1", "2", "3"])
EPSILONS = {"1": "0.3", "2": "0.7", "3": "1.1"}
PARTIES = st.sampled_from([OF_ANN, OF_BOB])


class Spenders(RuleBasedStateMachine):
    """Three clients of one ledger; one that crashes goes on as another process."""

    def __init__(self):
        super().__init__()
        self.patch = pytest.MonkeyPatch()
        self.processes, self.gone, self.running = count(1), set(), 0
        self.patch.setattr(module, "is_gone", lambda owner, _: owner.process in self.gone)
        self.patch.setattr(
            module,
            "current_owner",
            lambda: Owner(process=self.running, started="", machine=""),
        )
        self.store = MemoryStore()
        self.clients = [self.begin() for _ in range(3)]
        self.draws, self.answers = {}, {}

    def begin(self):
        return {"process": next(self.processes), "ledger": BudgetLedger(self.store)}

    def teardown(self):
        self.patch.undo()

    def end(self, client):
        self.gone.add(self.clients[client]["process"])
        self.clients[client] = self.begin()

    def attempt(self, client, steps, work):
        """Do something that crashes after so many steps, or does not."""
        self.store.steps, self.running = steps, self.clients[client]["process"]
        try:
            return work(self.clients[client])
        except Crash:
            self.end(client)
            return None
        finally:
            self.store.steps = -1

    @rule(client=CLIENTS, plan=PLANS, party=PARTIES, steps=STEPS, at_once=st.booleans())
    def reserve(self, client, plan, party, steps, at_once):
        if "held" in self.clients[client]:
            return
        caps = (cap("2"), cap("1.2", OF_ANN)) if party is OF_ANN else (cap("2"),)
        one = charge(plan, EPSILONS[plan], accounts=(VISITS, party), caps=caps)
        known = self.answers.get(plan)

        def work(state):
            try:
                ledger = state["ledger"]
                outcome = (ledger.spend if at_once else ledger.reserve)(one, wait=0)
            except (DeniedError, LedgerError) as error:
                return error.code
            if isinstance(outcome, Reservation):
                state |= {"held": outcome, "plan": plan} | ({"spent": True} if at_once else {})
                return "reserved"
            return outcome.answer

        told = self.attempt(client, steps, work)
        is_made = any("held" in other and other["plan"] == plan for other in self.clients)
        if told == "B009":
            total = self.spent(VISITS) + self.holds() + one.epsilon
            assert party is OF_ANN or (known is None and total > CAP)
        elif told is not None:
            assert told == (known or ("reserved" if "held" in self.clients[client] else "B010"))
            assert known or is_made

    @rule(client=CLIENTS, steps=STEPS)
    def commit(self, client, steps):
        state = self.clients[client]
        if "held" not in state or "spent" in state:
            return

        def work(state):
            state["ledger"].commit(state["held"])
            state["spent"] = True

        self.attempt(client, steps, work)

    @rule(client=CLIENTS, steps=STEPS)
    def draw_and_keep(self, client, steps):
        if "spent" not in self.clients[client]:
            return

        def work(state):
            number = state["held"].number
            assert number not in self.draws
            answer = self.draws[number] = f"answer {number}".encode()
            state["ledger"].keep(state["held"], answer)

        plan = self.clients[client]["plan"]
        number = self.clients[client]["held"].number
        self.attempt(client, steps, work)
        if number in self.store.answers:
            self.answers[plan] = self.store.answers[number]
        for name in ("held", "plan", "spent"):
            self.clients[client].pop(name, None)

    @rule(client=CLIENTS, steps=STEPS)
    def give_up(self, client, steps):
        if "held" not in self.clients[client]:
            return
        self.attempt(client, steps, lambda state: state["ledger"].give_up(state["held"]))
        for name in ("held", "plan", "spent"):
            self.clients[client].pop(name, None)

    @rule(client=CLIENTS)
    def crash(self, client):
        self.end(client)

    def holds(self):
        """Return what living clients hold reserved and have not committed."""
        return sum(
            Decimal(EPSILONS[one["plan"]])
            for one in self.clients
            if "held" in one and "spent" not in one
        )

    def entries(self, state):
        return [one for one in self.store.entries or () if one.state == state]

    def spent(self, account):
        """Return what was committed, computed from the entries alone."""
        charges = {one.number: one.charge for one in self.entries("reserved")}
        paid = [charges[one.of] for one in self.entries("spent")]
        paid += [one.charge for one in self.entries("replayed") if one.charge]
        return sum(
            (
                Decimal(one.epsilon)
                for one in paid
                for of in one.accounts
                if (of.assignee or "") == account.assignee
            ),
            Decimal(0),
        )

    @precondition(lambda self: self.store.entries)
    @invariant()
    def budgets_are_kept(self):
        ledger = BudgetLedger(self.store)
        assert ledger.verify().intact
        balances = {one.account: one for one in ledger.balances()}
        for account, limit in ((VISITS, CAP), (OF_ANN, ANNS)):
            if account in balances:
                balance = balances[account]
                assert balance.spent.epsilon == self.spent(account)
                assert balance.spent.epsilon + balance.reserved.epsilon <= limit
                assert balance.reserved.epsilon >= 0

    @invariant()
    def what_was_drawn_was_charged_before(self):
        assert self.draws.keys() <= {one.of for one in self.entries("spent")}

    @invariant()
    def no_release_has_two_answers(self):
        plans = {one.number: one.charge.plan for one in self.entries("reserved")}
        kept = [plans[one.of] for one in self.entries("kept")]
        assert len(kept) == len(set(kept))


TestSpenders = Spenders.TestCase
TestSpenders.settings = settings(max_examples=examples(100), stateful_step_count=25, deadline=None)
