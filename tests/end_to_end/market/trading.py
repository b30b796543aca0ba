"""The market of market.md: its policies, certificates and states of the world, and its tables."""

import re
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from certifying import certified, sha256

from policy_engine import terms
from policy_engine.certificate.attestation import attest
from policy_engine.data import storage
from policy_engine.decision import Decider, Request, World
from policy_engine.policy import InForce, load_policy, read_hierarchy, read_policy
from policy_engine.policy.collecting.files import Reading
from policy_engine.policy.owners import Owners, load_owners

HERE = Path(__file__).parent
NS = "http://market.example/"
JUNE = datetime(2026, 6, 1, 12, tzinfo=UTC)
SAFE = f"{NS}SafeVisits"


# -- what was written by hand ---------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """A request, or a query, with its answer and the reasons for it; all by short names."""

    name: str
    situation: str
    cells: dict
    above: tuple = ()

    def __getattr__(self, name):
        return self.cells[name]

    @property
    def reasons(self):
        return [one.strip() for one in self.by.split(",")]


def rows(first):
    """Return the rows of all tables of which the first column has a name."""
    found, situation, head, above = [], "", [], []
    for line in (HERE / "market.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            situation, above = line.removeprefix("## ").split(":")[0], []
        cells = [cell.strip() for cell in line.strip("| ").split("|")] if line[:1] == "|" else []
        cells = [cell.strip() for cell in line[1:-1].split("|")] if cells else []
        if not cells:
            head = []
        elif not head:
            head = cells
        elif head[0] == first and not set(line) <= set("|- "):
            assert len(cells) == len(head), line
            row = Row(cells[0], situation, dict(zip(head, cells, strict=True)), tuple(above))
            found.append(row)
            above.append(row)
    return found


def proof_of(policy, *before):
    """Return the certificate of what a policy makes: of the table, where that lies here."""
    made = certified(policy, *before)
    file = HERE / "data" / f"{made.plan.publish.asset.removeprefix(NS)}.csv"
    digest = storage.digest(file) if file.exists() else made.output_digest
    return made.model_copy(update={"output_digest": digest})


# -- situations -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Market:
    """What is given for a decision: policies by name, certificates by what they are of."""

    policies: dict
    proofs: dict
    world: World = field(default_factory=World)
    owners: Owners = field(default_factory=Owners)

    def with_policies(self, *more, **changes):
        """Return the market with other policies; a policy that is None is gone."""
        held = {**self.policies, **{one.uid: one for one in more}, **changes.pop("by_uid", {})}
        return replace(self, policies={uid: one for uid, one in held.items() if one})

    def with_proofs(self, **proofs):
        held = {**self.proofs, **{f"{NS}{asset}": one for asset, one in proofs.items()}}
        return replace(self, proofs={asset: one for asset, one in held.items() if one})

    def with_world(self, **parts):
        return replace(self, world=self.world.model_copy(update=vars(World(**parts))))

    def decider(self):
        policies = InForce(self.policies.values())
        return Decider(policies, [*self.proofs.values()], groups(), self.owners)


@cache
def groups():
    return read_hierarchy((HERE / "groups.jsonld").read_text(encoding="utf-8"))


@cache
def usual():
    """Return the market with all its policies and certificates."""
    policies = {one.uid: one for one in Reading().policies_in_force(HERE / "policies", time=JUNE)}
    named = {uid.removeprefix(f"{NS}policy/"): one for uid, one in policies.items()}
    release = proof_of(named["release"])
    totals = HERE / "data" / "Claims.csv"  # what a person vouches for may be any file
    proofs = {
        "SafeVisits": release,
        "WardTable": proof_of(named["table"], release),
        "RiskModel": proof_of(named["model"], release),
        "PressTable": proof_of(changed("press", r'"dct:isReplacedBy".*,', "")),
        "Totals": attest(named["totals"], totals, f"{NS}Agency", evidence="a look at the sums"),
    }
    world = World(time=JUNE, values={"spatial": f"{NS}Europe"})
    market = Market(policies, {}, world, load_owners(HERE / "owners.json"))
    return market.with_proofs(**proofs)


def policy(name):
    return load_policy(HERE / "more" / f"{name}.jsonld")


def changed(name, old, new):
    """Return a policy with another text."""
    text = (HERE / "policies" / f"{name}.jsonld").read_text(encoding="utf-8")
    found = re.sub(old, new, text, count=1)
    assert found != text
    return read_policy(found)


def _without(*names):
    return usual().with_policies(by_uid={f"{NS}policy/{name}": None for name in names})


def _counted(wards, prices):
    counts = {f"{NS}hospital#wards": wards, f"{NS}prices#read": prices}
    return _in_world(counts=counts)


def _in_world(**parts):
    values = {"time": JUNE, "values": {"spatial": f"{NS}Europe"}, **parts}
    return usual().with_world(**values)


def _proof(asset, **changes):
    proof = usual().proofs[f"{NS}{asset}"].model_copy(update=changes)
    return usual().with_proofs(**{asset: proof})


def _unowned(*more):
    some = {uid: usual().policies[uid] for uid in (f"{NS}policy/hospital",)}
    mallory = usual().policies[f"{NS}policy/mallory"]
    return Market(some, {}, usual().world).with_policies(mallory, *more)


def _loot():
    loot = policy("loot")
    return usual().with_policies(loot).with_proofs(Loot=proof_of(loot))


def _wards():
    """Return the market in which the insurer counts the wards of visits, and overreaches."""
    counts, costs = policy("ward-counts"), policy("cost-counts")
    told = [attest(one, HERE / "data" / "Claims.csv", f"{NS}Tess") for one in (counts, costs)]
    return usual().with_policies(counts, costs).with_proofs(WardCounts=told[0], CostCounts=told[1])


def _weak():
    four = tuple(
        one.model_copy(update={"achieved": 4.0}) if one.bound == "k" else one
        for one in usual().proofs[SAFE].measurements
    )
    return _proof("SafeVisits", measurements=four)


SITUATIONS = {
    "usual": usual,
    "log": usual,
    "late": lambda: _in_world(time="2027-06-01T00:00:00Z"),
    "later": lambda: _in_world(time="2028-06-01T00:00:00Z"),
    "paid": lambda: _in_world(duties={f"{NS}hospital#pay": "fulfilled"}),
    "unpaid": lambda: _in_world(duties={f"{NS}hospital#pay": "violated"}),
    "counted": lambda: _counted(1, 2),
    "brim": lambda: _counted(2, 3),
    "used-up": lambda: _counted(3, 4),
    "elsewhere": lambda: _in_world(values={"spatial": f"{NS}America"}),
    "nowhere": lambda: _in_world(values={}),
    "uncertified": lambda: usual().with_proofs(SafeVisits=None),
    "withdrawn": lambda: _without("release"),
    "unleft": lambda: _without("leave"),
    "changed": lambda: usual().with_policies(
        changed("release", '"rightOperand": 5', '"rightOperand": 6')
    ),
    "renewed": lambda: _proof("SafeVisits", time=JUNE),
    "barred": lambda: usual().with_policies(policy("bars-release")),
    "both": lambda: usual().with_policies(policy("both")),
    "apart": lambda: usual().with_policies(policy("apart")),
    "ever-apart": lambda: usual().with_policies(policy("ever-apart")),
    "wards": _wards,
    "wards-elsewhere": lambda: _wards().with_world(time=JUNE, values={"spatial": f"{NS}America"}),
    "reprinted": lambda: usual().with_policies(
        changed("release", '"@type": "Set",', '"@type": "Set", "dct:title": "Visits",')
    ),
    "remade": lambda: _proof("SafeVisits", output_digest=sha256("another")),
    "rootless": lambda: _proof("WardTable", upstream=()),
    "unaudited": lambda: _proof("RiskModel", attacks=()),
    "weak": _weak,
    "unattested": lambda: usual().with_proofs(Totals=None),
    "words": lambda: usual().with_policies(policy("words")),
    "takes-column": lambda: usual().with_policies(policy("takes-column")),
    "takes-release": lambda: usual().with_policies(policy("takes-release")),
    "takes-name": lambda: usual().with_policies(policy("takes-name")),
    "takes-all": lambda: usual().with_policies(policy("takes-all")),
    "takes-offer": lambda: usual().with_policies(policy("takes-offer")),
    "bars-table": lambda: usual().with_policies(policy("bars-table")),
    "loot": _loot,
    "swapped": lambda: usual().with_proofs(SafeVisits=proof_of(policy("takes-release"))),
    "unowned": _unowned,
    "unowned-takes-column": lambda: _unowned(policy("takes-column")),
}


@cache
def market(situation):
    """Return what is given in a situation, and the decider for it."""
    found = SITUATIONS[situation]()
    return found, found.decider()


def request(row):
    """Return the request of a row."""
    given, namespace = row.does, terms.ODRL
    if given.startswith("pe:"):
        given, namespace = given.removeprefix("pe:"), terms.PE
    return Request(
        assignee=f"{NS}{row.who}",
        action=f"{namespace}{given}",
        targets=tuple(f"{NS}{name}" for name in row.what.split()),
        purpose=purpose(row),
    )


def purpose(row):
    name = row.cells["for"]
    return f"{NS}{name}" if name else ""


# -- reasons --------------------------------------------------------------------------------------

KINDS = {
    "no rule": "^No rule permits it",
    "prohibited": "prohibits it",
    "owner": f"(does|do) not own {NS}",
    "nobody owns": "nobody is known to own",
    "leave": f"lets {NS}\\S+ grant the use of",
    "unknown": "its constraint is unknown",
    "unsatisfied": "its constraint is unsatisfied",
    "duty": "its duty \\S+ is (outstanding|violated)",
    "column": "has no such column",
    "lineage": "was made from",
    "certificate": "no certificate",
    "not in force": "not (among those )?in force",
    "attested": "attested by",
    "together": "does not name both in pe:jointly",
}


def check_reasons(row, decision):
    """Fail unless a decision names the rule of a row, and gives all its kinds of reasons."""
    told = "\n".join((decision.reason, *decision.derivation))
    named = [one for one in row.reasons if "#" in one]
    if named or "prohibited" not in row.reasons:
        assert [decision.rule.removeprefix(NS)] == (named or [""]), told
    for kind in row.reasons:
        if "#" not in kind:
            assert re.search(KINDS[kind], told), told
