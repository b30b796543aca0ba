"""The command that answers a request."""

from typing import TYPE_CHECKING, Annotated

import typer

from policy_engine.cli.answers import print_json
from policy_engine.cli.bundling import BundleDigestOption, BundleOption, decision_grounds
from policy_engine.cli.options import (
    AssigneeOption,
    CertificateOption,
    DataOption,
    Format,
    FormatOption,
    HierarchyOption,
    LedgerKeyOption,
    LogKeyOption,
    LogOption,
    OwnersOption,
    PolicyOption,
    PurposeOption,
    SpentOption,
    StatusOption,
    TimeOption,
    TrustOption,
    WorldOption,
)
from policy_engine.cli.parsing import check_keys, parse_paths
from policy_engine.cli.shared_options import with_reading_options
from policy_engine.cli.table_options import with_table_options

if TYPE_CHECKING:
    from policy_engine.policy import Reading


@with_table_options("data")
@with_reading_options()
def decide(
    assignee: AssigneeOption,
    target: Annotated[
        list[str],
        typer.Option(metavar="IRI", help="The asset. Repeat it for assets that are read together."),
    ],
    action: Annotated[
        str, typer.Option(metavar="IRI", help="What the requester wants to do with it.")
    ] = "read",
    purpose: PurposeOption = "",
    policy: PolicyOption = [],  # noqa: B006
    bundle: BundleOption = None,
    bundle_digest: BundleDigestOption = "",
    time: TimeOption = "",
    world: WorldOption = None,
    data: DataOption = [],  # noqa: B006
    certificate: CertificateOption = [],  # noqa: B006
    hierarchy: HierarchyOption = [],  # noqa: B006
    owners: OwnersOption = None,
    explain: Annotated[
        bool, typer.Option("--explain", metavar="", help="Print every step that led to the answer.")
    ] = False,
    log: LogOption = None,
    log_key: LogKeyOption = None,
    ledger: SpentOption = None,
    ledger_key: LedgerKeyOption = None,
    trust: TrustOption = None,
    status: StatusOption = [],  # noqa: B006
    output_format: FormatOption = Format.TEXT,
    *,
    reading: "Reading",
) -> None:
    """Answer a request: permit (exit 0) or deny (exit 1), with the rule and the reason."""
    from policy_engine.api.deciding import decide_request  # noqa: PLC0415
    from policy_engine.decision import read_request  # noqa: PLC0415

    check_keys(log, log_key, ledger, ledger_key)
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
        request = read_request(assignee, action, target, purpose, policies)
        decision = decide_request(
            policies,
            sources.proofs,
            request,
            sources.hierarchy,
            world=state,
            log=log,
            log_key=log_key,
            data=parse_paths(data),
            owners=sources.owners,
            ledger=ledger,
            ledger_key=ledger_key,
            trust=trust,
            status=status,
            **sources.reading.keywords,
        )
    if output_format is Format.JSON:
        print_json(decision.model_dump(mode="json"))
    else:
        from policy_engine.cli.tables.decisions import decision_lines, explanation  # noqa: PLC0415
        from policy_engine.cli.tables.tables import console  # noqa: PLC0415

        for note in decision.notes:
            typer.echo(f"note: {note}", err=True)
        for line in explanation(decision) if explain else decision_lines(decision):
            console().print(line, soft_wrap=True)
    raise typer.Exit(0 if decision.permitted else 1)
