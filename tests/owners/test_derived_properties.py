"""Laws of what is derived, on random owners, hierarchies, makers and certificates."""

from dataclasses import dataclass, replace

from certifying import certified, sha256
from hypothesis import given, settings
from hypothesis import strategies as st
from owning import ANN, HOSPITAL, INSURER, NOON, REGULATOR, STAFF, lets, makes, policy, rule

from policy_engine.decision import Decider, Request, World
from policy_engine.owners import read_owners
from policy_engine.terms import ODRL

FEW = settings(max_examples=25 if settings().max_examples <= 100 else 500)
STRANGER = "http://e.org/Stranger"
A, B, ONE, TWO, THREE = (f"http://e.org/{name}" for name in ("A", "B", "One", "Two", "Three"))
PARTIES = [HOSPITAL, INSURER, REGULATOR]
ASSETS = [A, B, ONE, TWO, THREE]
COLUMNS = [f"{name}/x" for name in ASSETS]


@dataclass(frozen=True)
class Trade:
    """Outputs with their makers and sources, the certificates given of them, and policies."""

    owners: dict
    made: tuple  # of (output, source, maker), sources first
    others: tuple
    proofs: dict

    def __repr__(self):
        said = [f"{one.uid}: {[str(rule.uid) for rule in one.rules]}" for one in self.others]
        return f"Trade({self.owners}, {self.made}, {said}, {sorted(self.proofs)})"

    def roots(self, output):
        """Return what an output was made from, near and far."""
        near = {made: source for made, source, _ in self.made}.get(output)
        return [] if near is None else [near, *self.roots(near)]

    def without_policy_of(self, output):
        return replace(self, made=tuple(one for one in self.made if one[0] != output))

    def without_proof_of(self, output):
        held = {asset: one for asset, one in self.proofs.items() if asset != output}
        return replace(self, proofs=held)

    def permits(self, targets, assignee, action):
        policies = [*(makes(*one) for one in self.made), *self.others]
        owners = read_owners(self.owners)
        decider = Decider(policies, [*self.proofs.values()], owners=owners)
        request = Request(assignee=assignee, action=f"{ODRL}{action}", targets=tuple(targets))
        return decider.decide(request, World(time=NOON)).permitted


def edges(*names):
    return st.lists(st.sampled_from([(a, b) for a in names for b in names]), max_size=1).map(tuple)


@st.composite
def rules(draw, kinds=("permission", "permission", "prohibition")):
    kind = draw(st.sampled_from(kinds))
    targets = draw(st.lists(st.sampled_from([*ASSETS, *COLUMNS]), min_size=1, max_size=2))
    assignees = draw(st.lists(st.sampled_from([ANN, STAFF]), max_size=1))
    action = draw(st.sampled_from(["use", "read"]))
    uid = f"urn:{draw(st.integers(0, 1 << 40))}"
    return rule(kind, *dict.fromkeys(targets), action=action, assignees=assignees, uid=uid)


@st.composite
def policies(draw, assigners=PARTIES, most=3):
    """Draw policies of parties, with rules and with words about who and what belongs to what."""
    return tuple(
        policy(
            draw(st.sampled_from(assigners)),
            *draw(st.lists(rules(), min_size=1, max_size=3)),
            uid=f"urn:{assigners[0]}:{number}",
            conflict=draw(st.sampled_from(["prohibit", "perm"])),
            party=draw(edges(ANN, STAFF)),
            asset=draw(edges(*ASSETS)),
        )
        for number in range(draw(st.integers(0, most)))
    )


STATES = [*["good"] * 16, "none", "rootless", "stale", "old"]


@st.composite
def trades(draw):
    """Draw what is made of A and B, by whom and by whose leave, with certificates good and bad."""
    owners = {name: draw(st.sampled_from(PARTIES)) for name in (A, B)}
    made, proofs, leaves, known = [], {}, {}, {}
    for output in (ONE, TWO, THREE)[: draw(st.sampled_from([1, 2, 2, 3, 3]))]:
        before = [one[0] for one in made]
        source = draw(st.sampled_from([A, B, *before, *before]))
        owner = owners[source]
        maker = draw(st.sampled_from([owner, owner, *PARTIES]))
        if maker != owner and draw(st.integers(0, 5)):
            leaves[source, maker] = lets(owner, source, maker)
        made.append((output, source, maker))
        owners[output] = maker
        upstream = [known[source]] if source in known else []
        known[output] = found = certified(makes(*made[-1]), *upstream)
        state = draw(st.sampled_from(STATES))
        if state != "none":
            proofs[output] = _as(state, found)
    stated = {name: {"owner": party} for name, party in owners.items()}
    for name in draw(st.lists(st.sampled_from([A, B]), max_size=1)):
        stated[name]["regulators"] = [REGULATOR]
    return Trade(stated, tuple(made), (*leaves.values(), *draw(policies())), proofs)


def _as(state, proof):
    if state == "rootless":
        return proof.model_copy(update={"upstream": ()})
    if state == "stale":
        return proof.model_copy(update={"output_digest": sha256("another")})
    if state == "old":
        plan = proof.plan.model_copy(update={"policy_digest": sha256("another")})
        return proof.model_copy(update={"plan": plan})
    return proof


def asks_of(trade):
    """Return a strategy of what is asked for: mostly one output, by those it is made for."""
    outputs = [output for output, _, _ in trade.made]
    one = st.sampled_from([*outputs, *(f"{name}/x" for name in outputs)]).map(lambda one: [one])
    some = st.lists(st.sampled_from([*ASSETS, *COLUMNS]), min_size=1, max_size=2, unique=True)
    return st.tuples(
        one | one | some, st.sampled_from([STAFF, STAFF, ANN]), st.sampled_from(["read", "use"])
    )


ASKED = trades().flatmap(lambda trade: st.tuples(st.just(trade), asks_of(trade)))


@FEW
@given(ASKED, st.sampled_from([ONE, TWO, THREE]))
def test_withdrawing_a_certificate_or_the_policy_of_what_is_made_never_widens(asked, output):
    """The certificate of a policy that is withdrawn is still given: what it is of is void."""
    trade, asks = asked
    if output not in trade.proofs:
        return
    for less in (trade.without_proof_of(output), trade.without_policy_of(output)):
        if less.permits(*asks):
            assert trade.permits(*asks)


@FEW
@given(ASKED)
def test_what_is_read_of_an_output_has_a_path_of_certificates_to_its_roots(asked):
    trade, asks = asked
    if not trade.permits(*asks):
        return
    outputs = {output for output, _, _ in trade.made}
    for target in asks[0]:
        name = target.removesuffix("/x")
        for one in {name, *trade.roots(name)} & outputs:
            proof, before = trade.proofs[one], trade.roots(one)[0]
            maker = next(maker for output, _, maker in trade.made if output == one)
            assert proof.plan.policy_digest == makes(one, before, maker).digest
            assert [up.asset for up in proof.upstream] == [before] * (before in outputs)
            assert all(
                up.output_digest == trade.proofs[before].output_digest for up in proof.upstream
            )


STRANGERS = policies([STRANGER])


@st.composite
def loots(draw):
    """Draw what a stranger makes of others' assets, with a certificate, and says of all."""
    source = draw(st.sampled_from([A, ONE]))
    loot = makes("http://e.org/Loot", source, STRANGER)
    grants = lets(STRANGER, draw(st.sampled_from(ASSETS)), draw(st.sampled_from([*PARTIES, ANN])))
    return loot, (*draw(STRANGERS), grants)


@FEW
@given(ASKED, loots())
def test_the_policies_of_a_stranger_never_widen_what_is_read_of_what_is_derived(asked, loots):
    (trade, asks), (loot, said) = asked, loots
    more = replace(
        trade,
        owners={**trade.owners, "http://e.org/Loot": STRANGER},
        others=(*trade.others, loot, *said),
        proofs={**trade.proofs, "http://e.org/Loot": certified(loot)},
    )
    if more.permits(*asks):
        assert trade.permits(*asks)
    assert not more.permits(["http://e.org/Loot"], *asks[1:])


def test_what_is_made_is_read_where_every_certificate_and_leave_is_given():
    """So that the laws above are about something."""
    first, second = makes(ONE, A, HOSPITAL), makes(TWO, ONE, INSURER)
    proof = certified(first)
    proofs = {ONE: proof, TWO: certified(second, proof)}
    owners = {A: HOSPITAL, ONE: HOSPITAL, TWO: INSURER}
    made = ((ONE, A, HOSPITAL), (TWO, ONE, INSURER))
    trade = Trade(owners, made, (lets(HOSPITAL, ONE, INSURER),), proofs)
    asks = ([TWO], STAFF, "read")
    assert trade.permits(*asks)
    assert not trade.without_proof_of(ONE).permits(*asks)
    assert not trade.without_policy_of(ONE).permits(*asks)
    assert not replace(trade, others=()).permits(*asks)
