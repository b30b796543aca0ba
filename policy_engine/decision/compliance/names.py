"""The names of requests and worlds that are read, beside those of policies."""

from policy_engine.terms import ODRL, REPORT, SOTW

REQUEST, EVALUATION = f"{ODRL}Request", f"{SOTW}EvaluationRequest"
PERMISSION = f"{ODRL}permission"
REQUESTING_PARTY, REQUESTED_ACTION, REQUESTED_TARGET = (
    f"{SOTW}{name}" for name in ("requestingParty", "requestedAction", "requestedTarget")
)
PARAMETER, FEATURE, PARAMETER_VALUE, CONTEXT = (
    f"{SOTW}{name}" for name in ("requestParameter", "describesFeature", "value", "context")
)
STATE_OF_THE_WORLD, CURRENT_TIME = f"{SOTW}SotW", f"{SOTW}currentTime"
DUTY_REPORT = f"{REPORT}DutyReport"
OTHER_REPORTS = tuple(f"{REPORT}{kind}Report" for kind in ("Permission", "Prohibition"))
REPORTED_POLICY, REPORTED_RULE, PERFORMANCE, DEONTIC = (
    f"{REPORT}{name}" for name in ("policy", "rule", "performanceState", "deonticState")
)
DUBLIN_CORE, ELEMENTS = (f"http://purl.org/dc/{name}/" for name in ("terms", "elements/1.1"))
ISSUED = f"{DUBLIN_CORE}issued"
INNER_REPORTS = (f"{REPORT}ruleReport", f"{REPORT}conditionReport")

REPLACED = f"{DUBLIN_CORE}isReplacedBy"

PROPERTIES = (
    *(REQUESTING_PARTY, REQUESTED_ACTION, REQUESTED_TARGET, CONTEXT),
    *(PARAMETER, FEATURE, PARAMETER_VALUE, CURRENT_TIME, ISSUED, REPLACED),
    *(REPORTED_POLICY, REPORTED_RULE, PERFORMANCE, DEONTIC, *INNER_REPORTS),
)
REQUEST_PARAMETER = f"{SOTW}RequestParameter"
CLASSES = (
    *(EVALUATION, REQUEST_PARAMETER, STATE_OF_THE_WORLD),
    *(DUTY_REPORT, *OTHER_REPORTS),
)
"""All of them that are not ODRL's, whose names are all known."""
