"""The command that writes a policy in another syntax of RDF."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from policy_engine.cli.options import OverwriteOption, PolicyArgument, reads_policies, usage
from policy_engine.data.atomic_file import write_file

if TYPE_CHECKING:
    from policy_engine.policy import Reading


class Syntax(StrEnum):
    """How to write statements of RDF."""

    JSON_LD = "json-ld"
    TURTLE = "turtle"
    N_TRIPLES = "n-triples"
    RDF_XML = "rdf-xml"


@reads_policies("parent")
def convert(
    policy: PolicyArgument,
    output: Annotated[Path | None, typer.Option(metavar="FILE", help="Else printed.")] = None,
    to: Annotated[Syntax | None, typer.Option(help="Else what --output ends in.")] = None,
    overwrite: OverwriteOption = False,
    *,
    reading: "Reading",
) -> None:
    """Write a policy in another syntax: JSON-LD where neither --to nor --output says which.

    Nothing is lost, or it is refused; what is wrong with a policy is for `validate` to say.
    """
    from policy_engine.policy import read_file  # noqa: PLC0415
    from policy_engine.policy.syntax.detection import syntax_of  # noqa: PLC0415
    from policy_engine.policy.syntax.rdf import convert_text  # noqa: PLC0415

    wanted = to.value if to else _named_for(output)
    text = read_file(policy)
    syntax, source = syntax_of(policy.name, text), str(policy)
    contexts = reading.vocabulary.contexts(reading.contexts)
    found = convert_text(text, syntax, wanted, source, contexts, reading.limits)
    if output is None:
        typer.echo(found.encode(), nl=False)
    else:
        write_file(output, found, policy, overwrite=overwrite)


def _named_for(output: Path | None) -> Literal["json-ld", "turtle", "n-triples", "rdf-xml"]:
    """Return the syntax that an output is named for. Raises RequestError where it is for none."""
    from policy_engine.policy.syntax.detection import syntax_of  # noqa: PLC0415

    found = syntax_of(output.name if output else "")
    if output and found == "json-ld" and output.suffix.lower() not in ("", ".json", ".jsonld"):
        endings = ".jsonld, .json, .ttl, .nt, .rdf, .xml or .owl"
        raise usage(f"Without --to, --output ends in {endings}. {str(output)!r} was given.")
    return found
