"""Runs that compare settings of a policy, without writing a release."""

import json
from typing import Annotated, Any, ClassVar

from pydantic import Field

from policy_engine.service.runs.jobs import RunInputs
from policy_engine.service.runs.kinds.settings import (
    Name,
    OnPolicy,
    Seconds,
    kept_policy,
    known_owners,
)
from policy_engine.service.runs.kinds.trusted_policies import run_trust

_Values = Annotated[tuple[int | float, ...], Field(min_length=1, max_length=100)]


class Exploring(OnPolicy):
    """What `explore_policy` takes: `vary` has the values of parameters that are tried."""

    about: ClassVar[str] = "Tries several settings of a policy and shows what each loses and risks."

    vary: Annotated[dict[Name, _Values], Field(default_factory=dict)]
    """The values of each parameter that are tried, such as k: 2, 5, 10; without any, usual ones."""
    attack: bool = False
    """Attack every result, to see how many persons would be found in it."""
    draws: Annotated[int, Field(ge=1, le=1_000)] | None = None
    """How often each setting is tried that draws at random."""
    time_limit: Seconds | None = None
    """Seconds for each setting."""

    def carry_out(self, inputs: RunInputs) -> dict[str, Any]:
        """Return how many settings were tried; what each costs and risks is shown."""
        from policy_engine.api.drawing_exploration import trade_off_json  # noqa: PLC0415
        from policy_engine.api.exploring import explore_policy  # noqa: PLC0415 (slow)

        policy, others = kept_policy(inputs.policy), [*map(kept_policy, inputs.others)]
        runs = explore_policy(
            policy,
            self.data(inputs),
            self.vary or None,
            attack=self.attack,
            draws=self.draws,
            time_limit=self.time_limit,
            asset=self.asset,
            policies=others,
            trust=run_trust(inputs, [policy, *others]),
            owners=known_owners(inputs),
            progress=inputs.progress,
        )
        inputs.shown.mkdir()
        figures = [one.model_dump(mode="json") for one in runs]
        for name, content in (("exploration", figures), ("trade-off", trade_off_json(runs))):
            text = json.dumps(content, indent=1, ensure_ascii=False)
            (inputs.shown / f"{name}.json").write_text(f"{text}\n", "utf-8")
        return {"settings": len(runs)}
