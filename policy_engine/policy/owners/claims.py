"""Whether what policies make is theirs to name so, by who owns what."""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from policy_engine.errors import PolicyError, place_order
from policy_engine.policy.claims import Claim, Claims, Near, Problems, claim_conflict
from policy_engine.policy.hierarchy import Edge
from policy_engine.policy.owners.model import Owners, OwnerStatement, Speakers, Standing


def check_outputs(
    claims: Claims, owners: Owners, edges: Iterable[Edge], data: Iterable[str] = ()
) -> None:
    """Raise PolicyError (P019) with the outputs that are not their policies' to name.

    As `output_problems` tells them; those of the first policy that has any.
    """
    problems = [*output_problems(claims, owners, edges, data)]
    if problems:
        source = problems[0][0].source
        own_problems = dict.fromkeys(
            problem for policy, problem in problems if policy.source == source
        )
        raise PolicyError(*sorted(own_problems, key=place_order), source=source)


def output_problems(
    claims: Claims, owners: Owners, edges: Iterable[Edge], data: Iterable[str] = ()
) -> Problems:
    """Yield the outputs that are not their policies' to name (P019), as `Claims.problems`."""
    edges = tuple(edges)
    not_owned = partial(_not_owned, Standing(owners, edges)) if owners else None
    return claims.problems(edges, data, not_owned)


def owned_outputs(claims: Claims, owners: Owners, edges: Iterable[Edge]) -> Owners:
    """Return owners with the outputs that are their makers', where nothing else is stated.

    Regulators of what an output is made of are those of the output as well.
    """
    edges = tuple(edges)
    for _ in claims.outputs:  # what is made of what was made is known one pass later
        standing = Standing(owners, edges)
        owned = {claim.asset: _output_ownership(claim, standing) for claim in claims.outputs}
        if all(owners.statements_by_asset.get(name) == one for name, one in owned.items()):
            break
        owners = owners.with_statements(owned)
    return owners


def _not_owned(standing: Standing, claim: Claim, near: Near) -> str:
    """Return who else owns an output, or something in it, or has a rule about it."""
    parties = claim.rule.issued_by
    for one in standing.all_of(claim.asset):
        if one.is_stated and not one.permit(parties):
            detail = "" if one.asset == claim.asset else f", and contains {one.asset!r}"
            why = f"{one.denied(parties)}{_stated_at(one, standing)}"
            return (
                f"The output {claim.asset!r} of {claim.description} is not its own{detail}: {why}."
            )
    if standing.of(claim.asset).is_stated:
        return ""
    regulators = {party for one in standing.owners.statements for party in one.regulators}
    for other in near.of(claim.asset):
        issuers = other.rule.issued_by
        is_regulated = other.rule.kind == "prohibition" and not issuers.isdisjoint(regulators)
        is_own = other.policy.uid == claim.policy.uid or not issuers.isdisjoint(parties)
        if not (other.is_output or is_own or is_regulated):
            return claim_conflict(claim, other)
    return ""


def _stated_at(speakers: Speakers, standing: Standing) -> str:
    place = speakers.place
    line = f"line {place.line}" if place.line else ""
    where = ", ".join(part for part in (standing.owners.source, line) if part)
    return f" (stated in {where})" if where else ""


def _output_ownership(claim: Claim, standing: Standing) -> OwnerStatement:
    """Return the statement of an output: its maker's own, where nothing else is stated."""
    owners = standing.of(claim.asset)
    sources = (one for target in claim.rule.targets for one in standing.all_of(target.iri))
    regulators = {party for one in sources for party in one.regulators}
    makers = () if owners.is_stated else tuple(sorted(claim.rule.issued_by))
    statement = standing.owners.statements_by_asset.get(
        claim.asset, OwnerStatement(claim.asset, place=claim.place)
    )
    return replace(
        statement,
        owners=statement.owners or makers,
        regulators=tuple(sorted(regulators | {*statement.regulators})),
    )
