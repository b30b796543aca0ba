"""The options of the commands."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Format(StrEnum):
    """How to print: for people or for machines."""

    TEXT = "text"
    JSON = "json"


class ProblemFormat(StrEnum):
    """How to print problems: for people, for machines, for code scanners (SARIF 2.1.0)."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"


def parse_certificate(text: str) -> str | Path:
    """Return where a certificate is: a path, or the place of an output in a database."""
    return text if text.lower().startswith(("duckdb:", "sqlite:")) else Path(text)


class EngineChoice(StrEnum):
    """The engine to run on."""

    LOCAL = "local"
    SPARK = "spark"


class CellFormat(StrEnum):
    """How to write ranges."""

    TEXT = "text"
    BOUNDS = "bounds"


class Kind(StrEnum):
    """What a proposed taxonomy goes by."""

    QUANTILES = "quantiles"
    PREFIX = "prefix"
    CALENDAR = "calendar"
    FREQUENCY = "frequency"


class SampleKind(StrEnum):
    """Which sample to generate."""

    CUSTOMER = "customer"
    VISITS = "visits"
    EMPLOYEES = "employees"


_KEY_SOURCES = "A file, env:NAME, fd:NUMBER, or the URI of a token (pkcs11:...)."
SignOption = Annotated[
    str | None,
    typer.Option("--sign", metavar="KEY", help=f"Sign it with this private key. {_KEY_SOURCES}"),
]
StatusListOption = Annotated[
    str | None,
    typer.Option(
        "--status-list",
        metavar="[IRI=]FILE",
        help="With --sign: the status list by which the certificate can be withdrawn. It is made "
        "where there is none; IRI is where it will be published.",
    ),
]
StatusOption = Annotated[
    list[str],
    typer.Option(
        "--status",
        metavar="FILE",
        help="A status list, or a statement of `withdraw`: a file, or an https URL. Repeat it for "
        "several. Nobody may read what was withdrawn.",
    ),
]
TRUST_VARIABLE = "POLICY_ENGINE_TRUST"
"""The environment variable that names the trust file of every command that has one."""
TrustOption = Annotated[
    Path | None,
    typer.Option(
        "--trust",
        metavar="FILE",
        envvar=TRUST_VARIABLE,
        show_envvar=False,
        help="Whose signatures count for what. What the file does not cover is refused. "
        f"Default: {TRUST_VARIABLE}.",
    ),
]
KeyArgument = Annotated[str, typer.Argument(metavar="KEY", help=f"The private key. {_KEY_SOURCES}")]
_SYNTAXES = "JSON-LD, Turtle, N-Triples or RDF/XML; - is standard input."
_REGISTRY = "a registry (a JSON file that lists versions of policies, and when each is in force)"
_POLICIES_HELP = f"Policies: {_SYNTAXES} Also a folder, or {_REGISTRY}."
PolicyArgument = Annotated[Path, typer.Argument(metavar="POLICY", help=f"A policy: {_SYNTAXES}")]
PoliciesArgument = Annotated[list[Path], typer.Argument(metavar="POLICY", help=_POLICIES_HELP)]
PolicyOption = Annotated[
    list[Path],
    typer.Option(
        "--policy",
        metavar="POLICY",
        help=f"Policies: a file, a folder or {_REGISTRY}. Can be repeated.",
    ),
]
AssigneeOption = Annotated[
    str, typer.Option("--assignee", metavar="IRI", help="Who makes the request.")
]
PurposeOption = Annotated[str, typer.Option("--purpose", metavar="IRI", help="For which purpose.")]
CertificateOption = Annotated[
    list[Path],
    typer.Option(
        "--certificate",
        metavar="FILE_OR_DIR",
        parser=parse_certificate,
        help="Certificates and attestations of outputs: a file, or a folder that holds them; of an "
        "output in a database, its place.",
    ),
]
HierarchyOption = Annotated[
    list[Path],
    typer.Option(
        "--hierarchy",
        metavar="FILE",
        help="Which parties, assets, actions and purposes include which others (same "
        "syntaxes as policies).",
    ),
]
AssetOption = Annotated[
    str,
    typer.Option(
        "--asset",
        metavar="IRI",
        help="Which output, if the policy makes several.",
    ),
]
SetOption = Annotated[
    list[str],
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Another value of a parameter than the policy has, to see what it would do. Can be "
        "repeated.",
    ),
]
OwnersOption = Annotated[
    Path | None,
    typer.Option(
        "--owners",
        metavar="FILE",
        help="Who owns which asset: JSON ({asset: party}) or a catalog. Default: one "
        "owner owns everything.",
    ),
]
InputOption = Annotated[
    list[Path],
    typer.Option(
        "--certificate",
        metavar="FILE_OR_DIR",
        parser=parse_certificate,
        help="The input's certificate, if the input is a release and its certificate is elsewhere.",
    ),
]
DataOption = Annotated[
    list[str],
    typer.Option(
        "--data",
        metavar="IRI=PATH",
        help="Where an asset's data is: a file, a folder, a pattern as 'parts/*.csv', a table of a "
        "database (duckdb:FILE#TABLE), a URL (https://, s3://); without IRI for the policy's only "
        "dataset. Repeatable.",
    ),
]
OverwriteOption = Annotated[
    bool,
    typer.Option("--overwrite", metavar="", help="Replace an existing file."),
]
FormatOption = Annotated[Format, typer.Option("--format", help="The output format.")]
ContextOption = Annotated[
    list[str],
    typer.Option("--context", metavar="URL=FILE", help="A local copy of a JSON-LD context."),
]
ParentOption = Annotated[
    list[Path],
    typer.Option(
        "--parent",
        metavar="POLICY",
        help="A policy that other policies inherit from. Can be repeated.",
    ),
]
VocabularyOption = Annotated[
    list[Path],
    typer.Option(
        "--vocabulary",
        metavar="FILE",
        help="Your own terms: actions, left operands, purposes. Can be repeated.",
    ),
]
WorldOption = Annotated[
    Path | None,
    typer.Option(
        "--world",
        metavar="FILE",
        help='The state of the world, in JSON: {"time": TIME, "values": {OPERAND: VALUE}}, also '
        '"of", "counts", "duties" and "memberships".',
    ),
]
TimeOption = Annotated[
    str,
    typer.Option("--time", metavar="TIME", help="The time to decide for (ISO 8601). Default: now."),
]
LogOption = Annotated[
    Path | None,
    typer.Option(
        "--log",
        metavar="FILE",
        help="A decision log (.jsonl or .sqlite): its counts and duties are used, and "
        "the decision is added.",
    ),
]
LogKeyOption = Annotated[
    Path | None,
    typer.Option("--log-key", metavar="FILE", help="The key of the log's hash chain."),
]
LimitOption = Annotated[
    list[str],
    typer.Option(
        "--limit",
        metavar="NAME=NUMBER",
        help="How large a policy may be: bytes, depth, values, key_characters, contexts, "
        "namespace_characters, name_characters, constraints, condition_depth or inherited. "
        "Can be repeated.",
    ),
]
TaxonomyOption = Annotated[
    list[str],
    typer.Option(
        "--taxonomy",
        metavar="NAME=FILE",
        help="The file of a taxonomy, a matrix or keys that is not next to the policy. Can be "
        "repeated.",
    ),
]
QuietOption = Annotated[
    bool,
    typer.Option(
        "--quiet-values",
        metavar="",
        help="In error messages, count the values of the data instead of quoting them.",
    ),
]
KeyOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="The key for pseudonyms and random maskings. Default: POLICY_ENGINE_KEY.",
    ),
]
AttemptsOption = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Where every model and table of made-up rows that was tried is kept, released or not, "
        "for the owner only. "
        "Default: policy-engine/attempts in $XDG_STATE_HOME or ~/.local/state.",
    ),
]
LedgerOption = Annotated[
    Path | None,
    typer.Option(
        "--ledger",
        metavar="FILE",
        help="The ledger of releases: statistics under differential privacy are charged to it, and "
        "others recorded in it and looked at together with those before. It is made if there is "
        "none.",
    ),
]
LedgerKeyOption = Annotated[
    Path | None,
    typer.Option(
        "--ledger-key", metavar="FILE", help="The key that the ledger is chained with, if any."
    ),
]
SpentOption = Annotated[
    Path | None,
    typer.Option(
        "--ledger",
        metavar="FILE",
        help="The ledger of budgets, which says what pe:spentEpsilon and pe:spentDelta are.",
    ),
]
EngineOption = Annotated[EngineChoice, typer.Option("--engine", help="The engine to run on.")]
MasterOption = Annotated[
    str,
    typer.Option(
        "--master",
        metavar="URL",
        help="The Spark master: local[*], spark://..., yarn, k8s://..., sc://...",
    ),
]
ConfOption = Annotated[
    list[str],
    typer.Option(
        "--conf", metavar="NAME=VALUE", help="A setting of the Spark session. Can be repeated."
    ),
]
NoiseKeyOption = Annotated[
    Path | None,
    typer.Option(
        "--noise-key",
        metavar="FILE",
        help="The owner's secret key of the noise or random rounding that a policy's output checks "
        "ask for, of at least 32 bytes: the same persons get the same in every answer. It is not "
        "differential privacy, which --epsilon asks for.",
    ),
]
