"""The command that answers many requests."""

import json
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from policy_engine.cli.bundling import BundleDigestOption, BundleOption, decision_grounds
from policy_engine.cli.options import (
    CertificateOption,
    HierarchyOption,
    OwnersOption,
    PolicyOption,
    StatusOption,
    TimeOption,
    TrustOption,
    WorldOption,
)
from policy_engine.cli.shared_options import with_reading_options
from policy_engine.data.storage import read_errors

if TYPE_CHECKING:
    from policy_engine.policy import Reading


@with_reading_options()
def batch_decide(
    requests: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="The requests as JSON lines; - is standard input."),
    ] = Path("-"),
    policy: PolicyOption = [],  # noqa: B006
    bundle: BundleOption = None,
    bundle_digest: BundleDigestOption = "",
    time: TimeOption = "",
    world: WorldOption = None,
    certificate: CertificateOption = [],  # noqa: B006
    hierarchy: HierarchyOption = [],  # noqa: B006
    owners: OwnersOption = None,
    trust: TrustOption = None,
    status: StatusOption = [],  # noqa: B006
    *,
    reading: "Reading",
) -> None:
    """Answer many requests, one JSON object a line, with one a line: exit 2 if a line was none.

    Nothing is logged; rules that count how often they are used deny without the log.
    """
    from policy_engine.api.batch_deciding import decide_batch  # noqa: PLC0415 (slow to import)
    from policy_engine.api.deciding import decider  # noqa: PLC0415

    with decision_grounds(
        (bundle, bundle_digest),
        policy,
        certificate,
        hierarchy,
        owners,
        reading,
        world=world,
        time=time,
    ) as (sources, policies, state):
        market = decider(
            policies,
            sources.proofs,
            sources.hierarchy,
            owners=sources.owners,
            time=state.time,
            trust=trust,
            status=status,
            **sources.reading.keywords,
        )
        has_errors = False
        with ExitStack() as stack, read_errors(requests):
            is_input = str(requests) == "-"
            lines = sys.stdin.buffer if is_input else stack.enter_context(requests.open("rb"))
            for answer in decide_batch(market, lines, state):
                has_errors |= "error" in answer
                sys.stdout.write(json.dumps(answer, ensure_ascii=False) + "\n")
    raise typer.Exit(2 if has_errors else 0)
