"""Who has models trained on records, for the commands that train some to attack them."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from policy_engine.cli.options import TRUST_VARIABLE
from policy_engine.cli.parsing import usage_error

if TYPE_CHECKING:
    from policy_engine.plan.lineage import MadeBy
    from policy_engine.policy import Reading


def trainer_of(
    target: str,
    reading: "Reading",
    acting: dict[str, Any],
    owners: Path | None,
    certificates: list[Path],
) -> "MadeBy":
    """Return who has models trained on the records. Raises DeniedError (D007) for a party that
    may not."""
    trusting = {name: acting[name] for name in ("trust", "status")}
    if acting["party"] is None:
        named = {"--target": target, "--owners": owners, "--certificate": certificates}
        named |= {"--trust": _own_trust(trusting["trust"]), "--status": trusting["status"]}
        option = next((name for name, value in named.items() if value), None)
        if option is not None:
            raise usage_error(f"{option} is for --as PARTY. Without it the owner acts.")
        return "owner"
    from policy_engine.api.acting import ActingParty, permitted_trainer  # noqa: PLC0415

    party = ActingParty(**{name: one for name, one in acting.items() if name not in trusting})
    return permitted_trainer(target, reading, party, owners, certificates, **trusting)


def _own_trust(trust: Path | None) -> Path | None:
    """Return the trust file that is this command's own, and not that of every command."""
    return None if str(trust) == os.environ.get(TRUST_VARIABLE) else trust
