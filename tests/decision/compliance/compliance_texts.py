"""Small policies, requests and worlds of our own, as Turtle."""

PREFIXES = """\
@prefix : <http://example.com/> .
@prefix dct: <http://purl.org/dc/terms/> .
@prefix dpv: <https://w3id.org/dpv#> .
@prefix odrl: <http://www.w3.org/ns/odrl/2/> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix report: <https://w3id.org/force/compliance-report#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix sotw: <https://w3id.org/force/sotw#> .
@prefix temp: <http://example.com/request/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
PARTS = "odrl:assignee :nurse ; odrl:action odrl:read ; odrl:target :ward"


def policy(of_rule=PARTS, kind="permission", more=""):
    """Return a policy of one rule, `:rule`."""
    return f"{PREFIXES}:policy a odrl:Set ; odrl:{kind} :rule . :rule {of_rule} . {more}"


def constrained(constraint, kind="permission", more=""):
    """Return a policy of one rule with one constraint, `:limit`."""
    return policy(f"{PARTS} ; odrl:constraint :limit", kind, f":limit {constraint} . {more}")


def limit(operand, operator, right):
    """Return what is said of a constraint."""
    operands = f"odrl:leftOperand {operand} ; odrl:operator odrl:{operator}"
    return f"{operands} ; odrl:rightOperand {right}"


def request(action="odrl:read", target=":ward", party=":nurse", told="", more=""):
    """Return a request of one rule, `:asked`; `told` are triples of it, such as its context."""
    of_rule = f"odrl:assignee {party} ; odrl:action {action} ; odrl:target {target}"
    asked = f":request a odrl:Request ; odrl:permission :asked . :asked {of_rule}"
    return f"{PREFIXES}{asked} {told} . {more}"


def for_purpose(purpose, more=""):
    """Return a request that tells its purpose."""
    told = "; sotw:context [ odrl:leftOperand odrl:purpose ; odrl:operator odrl:eq ; "
    return request(told=f"{told} odrl:rightOperand {purpose} ]", more=more)


def evaluation_request(parameters="", more=""):
    """Return a request in the form of an evaluation request, `:request`."""
    parts = "sotw:requestingParty :nurse ; sotw:requestedAction odrl:read"
    asked = f":request a sotw:EvaluationRequest ; {parts} ; sotw:requestedTarget :ward"
    return f"{PREFIXES}{asked} {parameters} . {more}"


def parameter(feature, value):
    """Return a parameter of an evaluation request."""
    of = f"sotw:describesFeature sotw:{feature} ; sotw:value {value}"
    return f"; sotw:requestParameter [ a sotw:RequestParameter ; {of} ]"


def world(more="", time="2031-05-06T07:08:09Z"):
    """Return a state of the world with its time."""
    return f'{PREFIXES}temp:currentTime dct:issued "{time}"^^xsd:dateTime . {more}'
