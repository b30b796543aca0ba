"""The command that packs what decisions follow from, and the options that take it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from policy_engine.cli.answers import print_json, print_unsigned
from policy_engine.cli.options import (
    CertificateOption,
    ContextOption,
    Format,
    FormatOption,
    HierarchyOption,
    LimitOption,
    OverwriteOption,
    OwnersOption,
    ParentOption,
    StatusOption,
    TaxonomyOption,
    TrustOption,
    VocabularyOption,
)
from policy_engine.cli.parsing import exit_with_two, parse_limits, parse_paths, usage_error
from policy_engine.errors import PolicyEngineError

if TYPE_CHECKING:
    from policy_engine.api.deciding import Sources
    from policy_engine.decision import World
    from policy_engine.policy import InForce, Reading

BundleOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Policies, certificates and the rest as `bundle` packed them; more can be added.",
    ),
]
BundleDigestOption = Annotated[
    str,
    typer.Option(
        metavar="SHA256", help="The digest that the bundle must have, as `bundle` printed it."
    ),
]


def bundle(
    policy: Annotated[
        list[Path],
        typer.Argument(metavar="POLICY...", help="The policies: files, folders or registries."),
    ],
    output: Annotated[Path, typer.Option(metavar="FILE", help="The bundle to be written.")],
    certificate: CertificateOption = [],  # noqa: B006
    hierarchy: HierarchyOption = [],  # noqa: B006
    owners: OwnersOption = None,
    taxonomy: TaxonomyOption = [],  # noqa: B006
    context: ContextOption = [],  # noqa: B006
    vocabulary: VocabularyOption = [],  # noqa: B006
    parent: ParentOption = [],  # noqa: B006
    limit: LimitOption = [],  # noqa: B006
    overwrite: OverwriteOption = False,
    output_format: FormatOption = Format.TEXT,
    trust: TrustOption = None,
    status: StatusOption = [],  # noqa: B006
) -> None:
    """Pack policies and all that decisions follow from into one file, and print its digest.

    All of it is read and checked first. `decide --bundle FILE` and `batch-decide --bundle FILE`
    answer by it, once every file in it is the one that was packed.
    """
    from policy_engine.api.bundling import bundle_policies, strange_proofs  # noqa: PLC0415

    if certificate:
        print_unsigned(trust, is_data=output_format is Format.JSON)
    with exit_with_two(PolicyEngineError):
        limits = parse_limits(limit)
        packed = bundle_policies(
            policy,
            certificate,
            hierarchies=hierarchy,
            owners=owners,
            taxonomies=parse_paths(taxonomy, "--taxonomy"),
            contexts=parse_paths(context, "--context"),
            parents=parent,
            vocabularies=vocabulary,
            limits=limits,
            file=output,
            overwrite=overwrite,
            trust=trust,
            status=status,
        )
        strange = strange_proofs(packed, limits)
    if output_format is Format.JSON:
        members = [one._asdict() for one in packed.members]
        facts = {"digest": packed.digest, "files": len(packed.files), "members": members}
        print_json({**facts, "without_policy": strange})
        return
    typer.echo(f"{output}: {len(packed.files)} files, sha-256 {packed.digest}")
    for asset in strange:
        typer.echo(f"Nobody may read {asset}: the bundle lacks the policy that it was made under.")
    typer.echo(f"Next: policy-engine decide --bundle {output} --assignee IRI --target IRI")


class Grounds(NamedTuple):
    """What requests are decided by: where it is from, the policies in force at the time of the
    world, and the state of the world."""

    sources: "Sources"
    policies: "InForce"
    world: "World"


@contextmanager
def decision_grounds(
    bundle: tuple[Path | None, str],
    policies: list[Path],
    certificates: list[Path],
    hierarchies: list[Path],
    owners: Path | None,
    reading: "Reading",
    *,
    world: Path | None,
    time: str,
) -> "Iterator[Grounds]":
    """Give what requests are decided by, as the options of a command say: `decide` and
    `batch-decide` decide by the same. Whatever goes wrong within ends the command with 2."""
    from policy_engine.api.deciding import load_time, load_world  # noqa: PLC0415 (slow to import)

    with (
        exit_with_two(PolicyEngineError),
        _decision_sources(*bundle, policies, certificates, hierarchies, owners, reading) as sources,
    ):
        moment = load_time(world, time)
        in_force = sources.reading.policies_in_force(*sources.policies, time=moment)
        yield Grounds(sources, in_force, load_world(world, time, in_force))


@contextmanager
def _decision_sources(
    bundle: Path | None,
    digest: str,
    policies: list[Path],
    certificates: list[Path],
    hierarchies: list[Path],
    owners: Path | None,
    reading: "Reading",
) -> "Iterator[Sources]":
    """Give what a decision follows from, by the options of a command. Raises RequestError (U001)
    where there are neither policies nor a bundle."""
    from policy_engine.api.bundling import load_bundle  # noqa: PLC0415 (slow to import)
    from policy_engine.api.deciding import Sources, with_bundle  # noqa: PLC0415

    hierarchy = reading.hierarchy(hierarchies)
    if bundle is not None:
        packed = load_bundle(bundle, digest)
        with with_bundle(packed, policies, certificates, hierarchy, owners, reading) as sources:
            yield sources
        return
    if digest:
        raise usage_error("--bundle-digest is for a bundle. Give it as well: --bundle FILE.")
    if not policies:
        raise usage_error("Give policies with --policy POLICY, or a bundle with --bundle FILE.")
    yield Sources(policies, certificates, hierarchy, owners, reading)
