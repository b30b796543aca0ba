"""An example of every command: what `command_reference` shows, and the tests run, in this order."""

from dataclasses import dataclass

FILES = {
    "study.yaml": """\
namespace: http://example.com/
policy: policy/study
target: Visits
assignee: Research
permission:
- rule: policy/study/read
  action: read
  duty: {rule: policy/study/inform, action: inform}
- rule: policy/study/summary
  action: derive
  output: VisitsSummary
""",
    "study-tests.yaml": """\
policies: study.yaml
tests:
- name: nobody reads before they have informed
  request: {assignee: http://example.com/Research, action: read, target: http://example.com/Visits}
  expect: deny
""",
    "offer.yaml": """\
namespace: http://example.com/
policy: policy/offer
type: Offer
assigner: Clinic
target: Visits
action: read
""",
    "generator.yaml": """\
namespace: http://example.com/
policy: policy/generator
target: Employees
assignee: Research
permission:
- rule: policy/generator/train
  action: pe:train
  synthesised: [branch, occupation, sex, age]
  synthesiser: sequential-trees
  leafSize: 500
  output: EmployeesGenerator
- rule: policy/generator/use
  target: EmployeesGenerator
  action: use
  duty:
    action: membershipInference
    auc: {lteq: 0.7}
    holdoutShare: 0.5
""",
    "trust.json": """\
{
  "trust": 1,
  "keys": [{"key": "z6MkrJVnaZkeFzdQyMZu1cgjg7k1pZZ6pvBQ7XJPt4swbTQ2", "outputs": ["*"]}]
}
""",
    "requests.jsonl": """\
{"id": 1, "assignee": "http://org/user", "target": "http://example/anonCustomer", "purpose": "marketing"}
{"id": 2, "assignee": "http://org/user", "target": "http://example.com/Customer", "purpose": "marketing"}
""",  # noqa: E501
    "request.ttl": """\
@prefix ex: <http://example.com/> .
@prefix odrl: <http://www.w3.org/ns/odrl/2/> .

ex:request a odrl:Request ;
    odrl:permission [ odrl:assignee ex:Research ; odrl:action odrl:read ; odrl:target ex:Visits ] .
""",
    "counts.csv": """\
region,farm,shop
north,30,40
south,6,38
west,25,33
""",
    "gains.csv": "firm,region,gain\n"
    + "".join(f"{n},{'north' if n % 2 else 'south'},{n * 7 - 40}\n" for n in range(1, 25)),
    "totals.csv": "region,gain\nnorth,528\nsouth,612\n",
    "summary.txt": "Half of the visits were in winter.\n",
}
"""Small files that examples use, by name: policies in the short form, requests, tables."""

_CUSTOMERS = "http://example.com/Customer=customer/customers.csv"
_APPLY = f"policy-engine apply customer/customer.jsonld --data {_CUSTOMERS}"


@dataclass(frozen=True)
class CommandExample:
    """How a command is called, with what it exits, and what is done before, where something is.

    Examples that are slow train models; `extra` names what has to be installed.
    """

    line: str
    status: int = 0
    before: tuple[str, ...] = ()
    is_slow: bool = False
    extra: str = ""


EXAMPLES = {
    "example": CommandExample("policy-engine example customer --rows 2000"),
    "sample": CommandExample(
        "policy-engine sample employees --rows 4000 --seed 1 --output employees.csv"
    ),
    "init": CommandExample("policy-engine init employees.csv --yes --output employees.yaml"),
    "validate": CommandExample("policy-engine validate study.yaml customer/customer.jsonld"),
    "plan": CommandExample(f"policy-engine plan customer/customer.jsonld --data {_CUSTOMERS}"),
    "apply": CommandExample(f"{_APPLY} --output release"),
    "show": CommandExample("policy-engine show release/anonCustomer.csv --rows 3"),
    "certify": CommandExample("policy-engine certify release --policy customer/customer.jsonld"),
    "compare": CommandExample("policy-engine compare customer/customers.csv release"),
    "explore": CommandExample(
        f"policy-engine explore customer/customer.jsonld --data {_CUSTOMERS} --k 10,50"
    ),
    "decide": CommandExample(
        "policy-engine decide --policy study.yaml --assignee http://example.com/Research "
        "--action read --target http://example.com/Visits --log decisions.sqlite",
        status=1,
    ),
    "batch-decide": CommandExample(
        "policy-engine batch-decide requests.jsonl --policy customer/customer.jsonld "
        "--certificate release"
    ),
    "bundle": CommandExample(
        "policy-engine bundle customer/customer.jsonld --certificate release --output market.bundle"
    ),
    "audit-trail": CommandExample(
        "policy-engine audit-trail visits.trail --policy study.yaml --log decisions.sqlite"
    ),
    "query": CommandExample(
        "policy-engine query 'SELECT StoreCategory, COUNT(*) AS n FROM anonCustomer GROUP BY 1' "
        "--policy customer/customer.jsonld --certificate release "
        "--data http://example/anonCustomer=release --assignee http://org/user "
        "--purpose marketing"
    ),
    "evaluate": CommandExample(
        "policy-engine evaluate --policy study.yaml --request request.ttl",
        before=("policy-engine convert study.yaml --output study.ttl",),
    ),
    "duties": CommandExample("policy-engine duties --policy study.yaml --log decisions.sqlite"),
    "fulfil": CommandExample(
        "policy-engine fulfil --policy study.yaml --duty http://example.com/policy/study/inform "
        "--by http://example.com/Research --log decisions.sqlite"
    ),
    "log verify": CommandExample("policy-engine log verify decisions.sqlite"),
    "log show": CommandExample("policy-engine log show decisions.sqlite"),
    "attest": CommandExample(
        "policy-engine attest study.yaml --output summary.txt --by http://example.com/Ann"
    ),
    "key new": CommandExample("policy-engine key new --output signing.key"),
    "key show": CommandExample("policy-engine key show signing.key --public"),
    "key rotate": CommandExample(
        "policy-engine key rotate signing.key --output next.key --statement rotation.json"
    ),
    "withdraw": CommandExample(
        "policy-engine withdraw withdrawn --reason 'Two columns were exchanged' --key signing.key",
        before=(f"{_APPLY} --output withdrawn --sign signing.key",),
    ),
    "sign": CommandExample("policy-engine sign study.yaml --key signing.key"),
    "verify": CommandExample(
        "policy-engine verify signed/certificate.jsonld --output signed/anonCustomer.csv "
        "--trust trust.json",
        status=1,
        before=(f"{_APPLY} --output signed --sign signing.key",),
    ),
    "graph": CommandExample("policy-engine graph study.yaml --format mermaid"),
    "diff": CommandExample("policy-engine diff offer.yaml study.yaml", status=1),
    "agree": CommandExample("policy-engine agree offer.yaml --as http://example.com/Hospital"),
    "convert": CommandExample("policy-engine convert customer/customer.jsonld --to yaml"),
    "schema": CommandExample("policy-engine schema --short --output policy.schema.json"),
    "methods": CommandExample("policy-engine methods l-diversity"),
    "test": CommandExample("policy-engine test study-tests.yaml"),
    "hierarchy suggest": CommandExample(
        "policy-engine hierarchy suggest customer/customers.csv ZIP"
    ),
    "check tables": CommandExample(
        "policy-engine check tables counts.csv --profile sacro --kind counts", status=1
    ),
    "check review": CommandExample(
        "policy-engine check review handed-in",
        status=1,
        before=(
            (
                "policy-engine check tables totals.csv --profile sacro --kind totals "
                "--data gains.csv --by region --measure sum:gain --unit firm --out handed-in"
            ),
        ),
    ),
    "check triage": CommandExample("policy-engine check triage handed-in"),
    "check reject": CommandExample(
        'policy-engine check reject handed-in totals --reason "Not before March." --by carl'
    ),
    "check accept": CommandExample(
        'policy-engine check accept handed-in totals --reason "Losses are published." --by carl'
    ),
    "check release": CommandExample("policy-engine check release handed-in --to released"),
    "budget show": CommandExample(
        "policy-engine budget show --ledger budget.sqlite",
        before=(
            "policy-engine example visits-statistics --output visits --rows 2000",
            (
                "policy-engine apply visits/visits-statistics.jsonld "
                "--data http://example.com/Visits=visits/visits.csv "
                "--output statistics/statistics.csv --ledger budget.sqlite"
            ),
        ),
        extra="dp",
    ),
    "budget history": CommandExample(
        "policy-engine budget history --ledger budget.sqlite", extra="dp"
    ),
    "budget verify": CommandExample(
        "policy-engine budget verify --ledger budget.sqlite", extra="dp"
    ),
    "ledger show": CommandExample(
        "policy-engine ledger show answers.ledger",
        before=(
            "policy-engine example research-centre --output centre --rows 2000",
            (
                "policy-engine query 'SELECT branch, COUNT(*) AS n FROM Employees GROUP BY branch' "
                "--policy centre/research-centre.jsonld "
                "--data http://example.com/Employees=centre/employees.csv "
                "--assignee http://example.com/org/University --purpose dpv:AcademicResearch "
                "--ledger answers.ledger"
            ),
        ),
    ),
    "ledger history": CommandExample("policy-engine ledger history answers.ledger"),
    "ledger verify": CommandExample("policy-engine ledger verify answers.ledger"),
    "audit disclosure": CommandExample(
        "policy-engine audit disclosure customer/customers.csv release --known ZIP "
        "--known BirthDate"
    ),
    "audit membership": CommandExample(
        "policy-engine audit membership --data staff.csv --label occupation --out attacks",
        before=("cut -d, -f2- employees.csv > staff.csv",),
        is_slow=True,
        extra="audits",
    ),
    "audit attribute": CommandExample(
        "policy-engine audit attribute --data staff.csv --label occupation --secret sex",
        is_slow=True,
        extra="audits",
    ),
    "audit tradeoff": CommandExample(
        "policy-engine audit tradeoff --data staff.csv --label occupation --noise 1 --shadows 2",
        is_slow=True,
        extra="audits",
    ),
    "audit generative": CommandExample(
        "policy-engine audit generative --members staff.csv --holdout others.csv "
        "--synthetic synthetic.csv",
        before=(
            "policy-engine sample employees --rows 1000 --seed 2 | cut -d, -f2- > others.csv",
            "policy-engine sample employees --rows 1000 --seed 3 | cut -d, -f2- > synthetic.csv",
        ),
        is_slow=True,
        extra="audits",
    ),
    "generate": CommandExample(
        "policy-engine generate generator --rows 5 --seed 1",
        before=(
            (
                "policy-engine apply generator.yaml "
                "--data http://example.com/Employees=employees.csv --output generator"
            ),
        ),
        is_slow=True,
        extra="audits",
    ),
    "serve": CommandExample("policy-engine serve --folder service --port 8642"),
}
"""The examples, by command; later ones use what earlier ones wrote."""

NOT_RUN = frozenset({"serve"})
"""Commands that run until they are interrupted; the service has tests of its own."""
