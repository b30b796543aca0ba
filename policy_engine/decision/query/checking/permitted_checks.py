"""The checks under which policies let answers be read, and the state of the world in which a query
is answered with one."""

from policy_engine import terms
from policy_engine.decision.model import World
from policy_engine.methods.output_checks.parameters import OutputCheck


def checked_world(world: World, check: OutputCheck) -> World:
    """Return a state of the world in which the answer to a query has to pass a check.

    Only here is it stated: worlds that people write may not state it (`World`), so a permission
    that asks for a check permits nothing else. Whoever decides in this world makes the check.
    """
    facts = {
        f"{terms.PE}{name}": value if isinstance(value, tuple) else (value,)
        for name, value in check.facts().items()
    }
    # What a world says is validated, and may not say this.
    return world.model_copy(update={"values": {**world.values, **facts}})
