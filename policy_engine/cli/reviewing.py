"""Answers to queries that a person decides about: sent by `query --review`, accepted by `check`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from policy_engine.cli.chains import printable
from policy_engine.cli.parsing import check_keys, parse_paths
from policy_engine.errors import RequestError

if TYPE_CHECKING:
    from policy_engine.decision.query.checking.reviewed_cells import AnswerReview
    from policy_engine.decision.query.model import QueryResult
    from policy_engine.policy import Reading
    from policy_engine.release.output_folder.standings import OutputStanding

ReviewOption = Annotated[
    Path | None,
    typer.Option(
        "--review",
        metavar="DIR",
        help="Write what the output checks leave to a person to this folder for a checker, who "
        "accepts or rejects it by `check`.",
    ),
]
ExceptionOption = Annotated[
    str,
    typer.Option(
        "--exception",
        metavar="TEXT",
        help="With --review: ask the checker for all of the answer, and say why.",
    ),
]
CommentOption = Annotated[
    str, typer.Option("--comment", metavar="TEXT", help="With --review: tell the checker this.")
]
AnswerPolicyOption = Annotated[
    list[Path],
    typer.Option("--policy", metavar="POLICY", help="For an answer to a query: its policies."),
]
AnswerDataOption = Annotated[
    list[str],
    typer.Option("--data", metavar="IRI=PATH", help="For an answer to a query: its data."),
]
AnswerLedgerOption = Annotated[
    Path | None,
    typer.Option(
        "--ledger",
        metavar="FILE",
        help="Of an answer to a query: the ledger of earlier answers, which it is entered in.",
    ),
]
LedgerHeadOption = Annotated[
    str,
    typer.Option(
        "--expect-ledger",
        metavar="HEAD",
        help="An earlier head that the ledger must still contain, NUMBER:HASH.",
    ),
]
DecisionLogOption = Annotated[
    Path | None,
    typer.Option(
        "--decision-log", metavar="FILE", help="The decision log to which the answer is added."
    ),
]
DecisionKeyOption = Annotated[
    Path | None,
    typer.Option("--decision-log-key", metavar="FILE", help="The key of the decision log."),
]
OwnOption = Annotated[
    bool,
    typer.Option(
        "--allow-own",
        metavar="",
        help="Let people decide about outputs that they submitted themselves.",
    ),
]


def asked_review(folder: Path | None, comment: str, exception: str) -> "AnswerReview | None":
    """Return the review that a query is asked with, None without one.

    Raises OutputError (O001, O002) where there is something in the folder, RequestError (D003) for
    words without one.
    """
    if folder is None:
        if comment or exception:
            message = "A comment or an exception is given without a review."
            raise RequestError.of("D003", message, "Say where the folder is to be: --review DIR.")
        return None
    from policy_engine.decision.query.checking.reviewed_cells import AnswerReview  # noqa: PLC0415
    from policy_engine.release.output_folder.folder import check_vacant  # noqa: PLC0415

    check_vacant(folder)
    return AnswerReview(is_exception=bool(exception))


def send_for_review(
    result: "QueryResult", sql: str, folder: Path, words: tuple[str, str], dialect: str
) -> None:
    """Write the folder of an answer, if anything of it is left to a person, and say so."""
    from policy_engine.api.reviewing_answers import submit_answer  # noqa: PLC0415

    if result.checked is None or result.checked.offered is None:
        typer.echo("note: nothing is left to a person, so no folder was written", err=True)
        return
    comment, exception = words
    by = result.decision.request.assignee if result.decision else None
    read = submit_answer(
        result,
        sql,
        folder,
        by=by or "researcher",
        dialect=dialect,
        comment=comment,
        exception=exception,
    )
    typer.echo(f"sent for review: {folder}, head {read.log.head}", err=True)


@dataclass(frozen=True)
class AnswerInputs:
    """What an answer is computed again from, as options give it."""

    policies: list[Path]
    data: list[str]
    ledger: Path | None
    more: Mapping[str, Any] = field(default_factory=dict)


def accept_folder(
    folder: Path,
    inputs: AnswerInputs,
    reading: "Reading",
    **words: Any,
) -> "OutputStanding":
    """Accept the answer to a query in a folder, and return where it stands.

    Raises RequestError (D003) without its policy, its data or its ledger.
    """
    from policy_engine.api.reviewing_answers import accept_answer  # noqa: PLC0415

    if inputs.ledger is None or not (inputs.policies and inputs.data):
        message = (
            "An answer is accepted with what it is computed from, and the ledger that earlier "
        )
        hint = "Give --policy, --data and --ledger, as to `query`."
        raise RequestError.of("D003", f"{message}answers are in.", hint)
    check_keys(inputs.more.get("log"), inputs.more.get("log_key"))
    data = parse_paths(inputs.data)
    return accept_answer(
        folder, inputs.policies, data, inputs.ledger, **inputs.more, **words, **reading.keywords
    )


def is_answer(folder: Path, key: Path | None, expect: str) -> bool:
    """Return whether a folder has an answer to a query. Raises as `OutputFolder.read`."""
    from policy_engine.release.output_folder.folder import OutputFolder  # noqa: PLC0415

    return OutputFolder.read(folder, key, expect).submission.question is not None


def print_decided(standing: "OutputStanding") -> None:
    """Print what was decided about an output."""
    typer.echo(printable(f"{standing.output.name}: {standing.word}"))
