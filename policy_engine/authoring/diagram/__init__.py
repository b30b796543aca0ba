"""A policy as a picture: parties, rules and assets, from left to right."""

from collections.abc import Iterable, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict

from policy_engine.authoring.diagram.composing import compose
from policy_engine.authoring.diagram.dot import to_dot
from policy_engine.authoring.diagram.graphviz import has_dot, to_svg
from policy_engine.authoring.diagram.mermaid import to_mermaid
from policy_engine.authoring.diagram.vocabularies import prune_vocabulary
from policy_engine.certificate.attestation import Attestation
from policy_engine.certificate.certificate import Certificate
from policy_engine.decision import Decider, World
from policy_engine.decision.derivations import derivations
from policy_engine.decision.history import History
from policy_engine.policy.model import Policy
from policy_engine.policy.owners import OwnersSource, load_owners
from policy_engine.policy.wording import printable

__all__ = ["Drawing", "DrawingFormat", "draw_policy", "has_dot"]

DrawingFormat = Literal["svg", "mermaid", "dot"]


class Drawing(BaseModel):
    """A picture as text, in its format."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    format: DrawingFormat
    text: str


def draw_policy(
    policies: Policy | Iterable[Policy],
    format: DrawingFormat,  # noqa: A002
    certificates: Sequence[Certificate | Attestation] = (),
    *,
    owners: OwnersSource | None = None,
    world: World | None = None,
    history: History | None = None,
) -> Drawing:
    """Return policies as one picture: SVG, a Mermaid flowchart, or Graphviz's DOT.

    The same policies give the same bytes; for SVG, with the same version of Graphviz. The text of a
    policy is always text in the picture, never markup or a link. `certificates` show what was made
    from what (`prov:wasDerivedFrom`), back to the original data; if something is no longer valid in
    a state of the `world`, or with the `history` of a log, the picture says why. `owners` are drawn
    with their assets, and rules that do not count for that reason say so. Raises EngineError (S001)
    if Graphviz is needed and missing, OutputError (O003) if there is too much to draw; with
    certificates or owners, as `Decider` does.
    """
    drawn_policies = (policies,) if isinstance(policies, Policy) else tuple(policies)
    decided_policies = policies if isinstance(policies, Sequence) else drawn_policies
    known_owners = load_owners(owners, drawn_policies).known_by(decided_policies)
    derived = (
        derivations(Decider(decided_policies, certificates, owners=known_owners), world, history)
        if certificates
        else ()
    )
    picture = compose(tuple(map(prune_vocabulary, drawn_policies)), derived, known_owners)
    if format == "mermaid":
        return Drawing(format=format, text=to_mermaid(picture))
    text = to_dot(picture)
    if format == "svg":
        text = to_svg(text, ", ".join(printable(policy.uid) for policy in drawn_policies))
    return Drawing(format=format, text=text)
