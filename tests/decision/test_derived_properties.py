"""Laws of what is derived, on random owners, hierarchies, makers and certificates."""

from dataclasses import dataclass, replace

from certifying import certified, sha256
from everyday import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from owning import (
    ANN,
    HOSPITAL,
    INSURER,
    NOON,
    REGULATOR,
    STAFF,
    attested,
    derives,
    lets,
    makes,
    policy,
    rule,
)

from policy_engine.certificate.attestation import Attestation
from policy_engine.certificate.certificate import Certificate
from policy_engine.decision import Decider, Request, World
from policy_engine.policy import InForce
from policy_engine.policy.owners import read_owners
from policy_engine.terms import ODRL

FEW = settings(max_examples=examples(25))
STRANGER = "http://e.org/Stranger"
A, B, ONE, TWO, THREE = (f"http://e.org/{name}" for name in ("A", "B", "One", "Two", "Three"))
PARTIES = [HOSPITAL, INSURER, REGULATOR]
ASSETS = [A, B, ONE, TWO, THREE]
COLUMNS = [f"{name}/x" for name in ASSETS]


def made_by(output, source, maker):
    """Return the policy by which a party makes an output: the insurer derives what is attested."""
    return (derives if maker == INSURER else makes)(output, source, maker)


@dataclass(frozen=True)
class Trade:
    """Outputs with their makers and sources, the certificates given of them, and policies."""

    owners: dict
    made: tuple  # of (output, source, maker), sources first
    others: tuple
    proofs: dict
    withdrawn: tuple = ()  # policies that a registry has so

    def __repr__(self):
        said = [f"{one.uid}: {[str(rule.uid) for rule in one.rules]}" for one in self.others]
        return f"Trade({self.owners}, {self.made}, {said}, {sorted(self.proofs)})"

    def roots(self, output):
        """Return what an output was made from, near and far."""
        near = {made: source for made, source, _ in self.made}.get(output)
        return [] if near is None else [near, *self.roots(near)]

    def without_policy_of(self, output):
        return replace(self, made=tuple(one for one in self.made if one[0] != output))

    def with_policy_of_withdrawn(self, output):
        withdrawn = tuple(made_by(*one) for one in self.made if one[0] == output)
        return replace(self.without_policy_of(output), withdrawn=withdrawn)

    def is_let(self, output):
        """Tell whether who made an output owns what it was made of, or has its owner's leave."""
        _, source, maker = next(one for one in self.made if one[0] == output)
        owner = self.owners[source]["owner"]
        leave = f"urn:{owner}:{source}:{maker}"
        return maker == owner or any(one.uid == leave for one in self.others)

    def without_proof_of(self, output):
        held = {asset: one for asset, one in self.proofs.items() if asset != output}
        return replace(self, proofs=held)

    def permits(self, targets, assignee, action):
        policies = [*(made_by(*one) for one in self.made), *self.others]
        policies = InForce(policies, (), self.withdrawn)
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
        found = made_by(*made[-1])
        found = attested(found) if maker == INSURER else certified(found, *upstream)
        known[output] = found
        state = draw(st.sampled_from(STATES))
        if state != "none":
            proofs[output] = _as(state, found)
    stated = {name: {"owner": party} for name, party in owners.items()}
    for name in draw(st.lists(st.sampled_from([A, B]), max_size=1)):
        stated[name]["regulators"] = [REGULATOR]
    return Trade(stated, tuple(made), (*leaves.values(), *draw(policies())), proofs)


def _as(state, proof):
    if state == "rootless" and isinstance(proof, Certificate):
        return proof.model_copy(update={"upstream": ()})
    if state == "stale":
        return proof.model_copy(update={"output_digest": sha256("another")})
    if state == "old" and isinstance(proof, Attestation):
        return proof.model_copy(update={"policy_digest": sha256("another")})
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
    """Its certificate is still given, or a registry knows it: what was made under it is void."""
    trade, asks = asked
    withdrawn = trade.with_policy_of_withdrawn(output)
    some = [withdrawn, withdrawn.without_proof_of(output)]
    if output in trade.proofs:
        some.append(trade.without_proof_of(output))
    if isinstance(trade.proofs.get(output), Certificate):
        some.append(trade.without_policy_of(output))
    for less in some:
        if less.permits(*asks):
            assert trade.permits(*asks)


@FEW
@given(ASKED)
def test_what_is_read_of_an_output_has_a_path_of_leaves_and_certificates_to_its_roots(asked):
    trade, asks = asked
    if not trade.permits(*asks):
        return
    outputs = {output for output, _, _ in trade.made}
    for target in asks[0]:
        name = target.removesuffix("/x")
        for one in {name, *trade.roots(name)} & outputs:
            assert trade.is_let(one)
            proof, before = trade.proofs[one], trade.roots(one)[0]
            maker = next(maker for output, _, maker in trade.made if output == one)
            digest = made_by(one, before, maker).digest
            if isinstance(proof, Attestation):
                assert proof.policy_digest == digest
                continue
            assert proof.plan.policy_digest == digest
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


def test_a_stranger_moves_no_part_of_an_input_into_the_output():
    """So that both would be read as the output alone, and no rule had to name them together."""
    three = makes(THREE, B, HOSPITAL)
    use = rule("permission", A, B, action="use", assignees=[STAFF], uid="urn:use")
    own = policy(HOSPITAL, use, asset=((THREE, A),))
    owners = {A: HOSPITAL, B: HOSPITAL, THREE: HOSPITAL}
    trade = Trade(owners, ((THREE, B, HOSPITAL),), (own,), {THREE: certified(three)})
    both = ([f"{B}/x", THREE], STAFF, "read")
    for one in both[0]:
        assert trade.permits([one], *both[1:])
    assert not trade.permits(*both)
    said = policy(STRANGER, rule("permission", ONE, uid="urn:one"), asset=((B, THREE),))
    assert not replace(trade, others=(own, said)).permits(*both)
    assert trade.permits([f"{B}/x"], *both[1:])


def test_what_is_made_is_read_where_every_certificate_and_leave_is_given():
    """So that the laws above are about something."""
    first, second = made_by(ONE, A, HOSPITAL), made_by(TWO, ONE, INSURER)
    proof = certified(first)
    proofs = {ONE: proof, TWO: attested(second)}
    owners = {A: HOSPITAL, ONE: HOSPITAL, TWO: INSURER}
    made = ((ONE, A, HOSPITAL), (TWO, ONE, INSURER))
    trade = Trade(owners, made, (lets(HOSPITAL, ONE, INSURER),), proofs)
    asks = ([TWO], STAFF, "read")
    assert trade.permits(*asks)
    assert not trade.without_proof_of(ONE).permits(*asks)
    assert not trade.without_policy_of(ONE).permits(*asks)
    assert not replace(trade, others=()).permits(*asks)
