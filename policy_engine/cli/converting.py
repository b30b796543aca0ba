"""The command that writes a policy in another syntax."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from policy_engine.cli.options import OverwriteOption, PolicyArgument
from policy_engine.cli.parsing import usage_error
from policy_engine.cli.shared_options import with_reading_options
from policy_engine.data.atomic_file import write_file

if TYPE_CHECKING:
    from policy_engine.policy import Reading


class Syntax(StrEnum):
    """How to write a policy: as statements of RDF, or in the short form."""

    JSON_LD = "json-ld"
    TURTLE = "turtle"
    N_TRIPLES = "n-triples"
    RDF_XML = "rdf-xml"
    YAML = "yaml"


@with_reading_options("parent")
def convert(
    policy: PolicyArgument,
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write to this file instead of printing.")
    ] = None,
    to: Annotated[
        Syntax | None,
        typer.Option(help="The syntax. Default: by the ending of --output, or JSON-LD."),
    ] = None,
    overwrite: OverwriteOption = False,
    *,
    reading: "Reading",
) -> None:
    """Convert a policy to another syntax, without loss or not at all.

    The policy is not checked: `validate` does that.
    """
    from policy_engine.api.converting import convert_policy  # noqa: PLC0415

    syntax_wanted = to.value if to else _syntax_by_ending(output)
    converted = convert_policy(policy, syntax_wanted, **reading.keywords)
    if output is None:
        typer.echo(converted.encode(), nl=False)
    else:
        write_file(output, converted, policy, overwrite=overwrite)


def _syntax_by_ending(
    output: Path | None,
) -> Literal["json-ld", "turtle", "n-triples", "rdf-xml", "yaml"]:
    """Return the syntax that an output is named for. Raises RequestError where it is for none."""
    from policy_engine.policy.syntax.detection import syntax_of  # noqa: PLC0415

    syntax = syntax_of(output.name if output else "")
    if output and syntax == "json-ld" and output.suffix.lower() not in ("", ".json", ".jsonld"):
        endings = ".jsonld, .json, .ttl, .nt, .rdf, .xml, .owl or .yaml"
        raise usage_error(f"Without --to, --output ends in {endings}. {str(output)!r} was given.")
    return syntax
