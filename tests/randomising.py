"""Policies under local differential privacy, built for the tests."""

from building import OUTPUT, anonymize, column, permission, policy

SEX = column("sex", randomiser="k-ary-randomised-response", categories=["F", "M"])
TOWN = column("town", randomiser="optimised-local-hashing", categories=["a", "b"])
DAYS = column("days", randomiser="piecewise", lower=0, upper=14)


def at_most(epsilon):
    return {"leftOperand": "pe:epsilon", "operator": "lteq", "rightOperand": epsilon}


def randomising(*columns, epsilon="2", method="local-differential-privacy", duty=None, **more):
    """Return a policy by which some columns are randomised, with other parameters."""
    named = {"randomised": list(columns)} if columns else {}
    action = anonymize(method=method, **named, **more)
    action["refinement"] += [at_most(epsilon)] if epsilon else []
    return policy([permission(action=action, output=OUTPUT, duty=duty)])


__all__ = ["DAYS", "SEX", "TOWN", "randomising"]
