"""Runs that make what a policy asks for, and release it."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from policy_engine.service.runs.jobs import RunInputs
from policy_engine.service.runs.kinds.settings import (
    RELEASES,
    OnPolicy,
    Seconds,
    Seed,
    kept_policy,
    known_owners,
    show,
)
from policy_engine.service.runs.kinds.trusted_policies import run_trust

RELEASE, RECORD, REPORT = "release", "record", "report"
"""The folders of a result: the release, and what is for the owner alone."""
_FOR_READERS = {".json", ".html"}


class Sanitising(OnPolicy):
    """What `apply_policy` takes: without an `asset`, all that the policy asks for is made."""

    about: ClassVar[str] = "Makes what a policy asks for, measures it, and releases it."
    home: ClassVar[str] = RELEASES
    spends: ClassVar[bool] = True

    seed: Seed | None = None
    """A number that draws the same again. Who knows it can undo what was drawn."""
    time_limit: Seconds | None = None
    """Seconds after which the best that was found so far is taken."""
    cells: Literal["text", "bounds"] = "text"
    """How ranges are written: as texts, or in two columns, of their bounds."""
    purpose: Annotated[str, Field(max_length=500)] = ""
    """What the release is for, where the policy permits several purposes."""

    @property
    def is_distributed(self) -> bool:
        """Always: what Spark does not make is refused by it (M009)."""
        return True

    def carry_out(self, inputs: RunInputs) -> dict[str, Any]:
        """Return which outputs were released; tables, records and scores stay out of sight."""
        from policy_engine.api.applying import apply_all, apply_policy  # noqa: PLC0415 (slow)

        folder, record, report = (inputs.out / one for one in (RELEASE, RECORD, REPORT))
        for one in (folder, record):
            one.mkdir()
        policy, others = kept_policy(inputs.policy), [*map(kept_policy, inputs.others)]
        options: dict[str, Any] = {
            "progress": inputs.progress,
            "seed": self.seed,
            "time_limit": self.time_limit,
            "cells": self.cells,
            "purpose": self.purpose,
            "policies": others,
            "trust": run_trust(inputs, [policy, *others]),
            "engine": inputs.engine,
            "owners": known_owners(inputs),
            "record": record / "record.json",
            "report": report,
            "attempts": inputs.attempts,
            "ledger": inputs.ledger,
            "ledger_key": inputs.ledger_key,
        }
        data = self.data(inputs)
        if self.asset:
            releases = [apply_policy(policy, data, folder, asset=self.asset, **options)]
        else:
            releases = [*apply_all(policy, data, folder, **options)]
        show(inputs, sorted(folder.glob("*.jsonld")))
        if report.is_dir():
            pages = (one for one in report.rglob("*") if one.suffix in _FOR_READERS)
            show(inputs, sorted(pages))
        return {"outputs": [_summary(one) for one in releases]}


def _summary(release: Any) -> dict[str, Any]:
    certificate = release.certificate
    return {
        "asset": release.plan.publish.asset,
        "file": certificate.file,
        "rows": certificate.rows_out,
    }
