"""The command that answers a request."""

from typing import Annotated

import typer

from policy_engine.cli.answers import print_json
from policy_engine.cli.options import (
    AssigneeOption,
    CertificateOption,
    ContextOption,
    Format,
    FormatOption,
    HierarchyOption,
    LogKeyOption,
    LogOption,
    ParentOption,
    PolicyOption,
    PurposeOption,
    TimeOption,
    WorldOption,
    check_log,
    contexts_of,
    unanswered,
)
from policy_engine.errors import PolicyEngineError


def decide(
    policy: PolicyOption,
    assignee: AssigneeOption,
    target: Annotated[
        list[str], typer.Option(metavar="IRI", help="The asset; several are read together.")
    ],
    action: Annotated[str, typer.Option(metavar="IRI", help="What to do with it.")] = "read",
    purpose: PurposeOption = "",
    time: TimeOption = "",
    world: WorldOption = None,
    certificate: CertificateOption = [],  # noqa: B006
    hierarchy: HierarchyOption = [],  # noqa: B006
    parent: ParentOption = [],  # noqa: B006
    explain: Annotated[
        bool, typer.Option("--explain", help="Say all that led to the answer.")
    ] = False,
    log: LogOption = None,
    log_key: LogKeyOption = None,
    output_format: FormatOption = Format.TEXT,
    context: ContextOption = [],  # noqa: B006
) -> None:
    """Answer a request: permit (exit 0) or deny (exit 1), with the rule and the reason."""
    from policy_engine.api import decide_request, read_request, world_at  # noqa: PLC0415
    from policy_engine.policy.files import load_hierarchies  # noqa: PLC0415

    check_log(log, log_key)
    contexts = contexts_of(context)
    with unanswered(PolicyEngineError):
        request = read_request(assignee, action, target, purpose)
        decision = decide_request(
            policy,
            certificate,
            request,
            load_hierarchies(hierarchy, contexts),
            contexts,
            world=world_at(world, time),
            parents=parent,
            log=log,
            log_key=log_key,
        )
    if output_format is Format.JSON:
        print_json(decision.model_dump(mode="json"))
    else:
        from policy_engine.rendering.decisions import decision_lines, explanation  # noqa: PLC0415
        from policy_engine.rendering.tables import console  # noqa: PLC0415

        for line in explanation(decision) if explain else decision_lines(decision):
            console().print(line, soft_wrap=True)
    raise typer.Exit(0 if decision.permitted else 1)
