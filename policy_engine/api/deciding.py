"""Requests and queries, from files to answers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

from policy_engine.api.output_ledgers import open_output_ledger
from policy_engine.certificate.attestation import Attestation, attest
from policy_engine.certificate.beside import (
    certificate_names,
    find_certificate,
    load_proofs,
    single_output,
)
from policy_engine.certificate.certificate import Certificate
from policy_engine.certificate.sources import Proof
from policy_engine.certificate.vouching import Vouched, vouch
from policy_engine.certificate.withdrawals import (
    Withdrawals,
    read_statements,
    read_withdrawals,
    statements_beside,
)
from policy_engine.data.atomic_file import write_file
from policy_engine.data.catalog import Catalog, make_catalog, parse_location
from policy_engine.data.keys import Key, read_chain_key
from policy_engine.data.places.spelling import is_database, scheme
from policy_engine.data.storage import Location, read_errors
from policy_engine.decision import Decider, Decision, Request, World, read_world
from policy_engine.decision.duties import Due, check_doer, find_duty, list_dues
from policy_engine.decision.requests import check_name
from policy_engine.decision.telling import Telling, unchanged
from policy_engine.errors import ArgumentError, RequestError
from policy_engine.plan.spelling import respell_hierarchies
from policy_engine.policy import (
    Hierarchy,
    InForce,
    Policy,
    Reading,
    ReadingOptions,
    Source,
    read_file,
)
from policy_engine.policy.datasets import named_data
from policy_engine.policy.doing import meaning_of
from policy_engine.policy.naming import Names
from policy_engine.policy.owners import OwnersSource, load_owners
from policy_engine.policy.syntax.json_text import read_json
from policy_engine.trust.signers import KeySource, read_signer
from policy_engine.trust.trust_file import Trust, load_trust

ProofSource = str | Path | Certificate | Attestation
"""A certificate or attestation of an output, or its file."""
TrustSource = str | Path | Trust
"""Whose signatures count for what, or the file that says so."""
StatusSource = str | Path
"""The file or the https URL of a status list, or of a statement that an output was withdrawn."""

if TYPE_CHECKING:
    from policy_engine.api.asking import Asker
    from policy_engine.decision.bundle import Bundle
    from policy_engine.decision.log import DecisionLog, Entry
    from policy_engine.decision.query.checking.reviewed_cells import AnswerReview
    from policy_engine.decision.query.model import QueryResult
    from policy_engine.release.budget import BudgetLedger
    from policy_engine.release.output_ledger import OutputLedger


def decide_request(
    policies: Sequence[Source],
    certificates: Sequence[ProofSource],
    request: Request,
    hierarchy: Hierarchy | None = None,
    *,
    world: World | None = None,
    log: str | Path | None = None,
    log_key: str | Path | bytes | None = None,
    data: Mapping[str, Any] | None = None,
    owners: OwnersSource | None = None,
    ledger: "str | Path | BudgetLedger | None" = None,
    ledger_key: Key = None,
    trust: TrustSource | None = None,
    status: Sequence[StatusSource] = (),
    **reading: Unpack[ReadingOptions],
) -> Decision:
    """Decide a request under policies and certificates, each given as a value or a file.

    A file may have several policies, and a path may be a folder or a registry of policies: those in
    force at the time of the world are used, and the decision's `notes` name the others. `contexts`,
    `parents`, `limits` and `vocabularies` are as in `Reading`. With a `log`, it says how often
    rules were exercised, and the decision is added to it, in one step, before it is returned. With
    `data`, by IRI as for `query_data`, columns are matched with those of the data, of which only
    the names are read; a name that the data lacks raises DataError (C005). `owners` say who owns
    which asset (see `load_owners`): a rule then counts only for the assets of those who issued it.
    A budget `ledger`, its file chained with `ledger_key`, says what releases under differential
    privacy have spent. Under a trust file (`trust`), what it does not cover counts for nothing:
    policies and certificates that are unsigned, or signed by keys that may not, and certificates
    without their output beside them; the decision denies, with the reason. Outputs that a `status`
    (status lists, and statements of `withdraw_release`), or a statement beside the certificate,
    says were withdrawn are permitted to nobody. For many requests, make a `Decider` once, and use
    it with `DecisionLog.decide`.
    """
    time = world.time if world else None
    in_force = _policies_in_force(policies, Reading(**reading), time)
    catalog = make_catalog(named_data(data, in_force), in_buckets=True) if data else Catalog()
    asset_owners = load_owners(owners, in_force, reading.get("contexts"))
    if data:
        hierarchies = [hierarchy or Hierarchy(), (world or World()).memberships]
        names = (*request.targets, *asset_owners.columns)
        hierarchy = respell_hierarchies(catalog, in_force, hierarchies, names)
    proofs = vouched_proofs(in_force, certificates, trust, time, status)
    assets = [one.iri for one in catalog.datasets]
    budgets = None if ledger is None else open_ledger(ledger, ledger_key)
    compiled = Decider(in_force, proofs, hierarchy, asset_owners, assets, budgets)
    if log is None:
        return compiled.decide(request, world)
    return open_log(log, log_key).decide(compiled, request, world)


def open_ledger(ledger: "str | Path | BudgetLedger", key: Key = None) -> "BudgetLedger":
    """Return a budget ledger that exists: in one that does not, nothing would be spent.

    A file is chained with the `key`, if any. Raises LedgerError (B001 to B007) if it cannot be
    read, DataError (C013) for a key that is missing or too short.
    """
    from policy_engine.release.budget import BudgetLedger  # noqa: PLC0415 (only where asked for)

    budgets = ledger if isinstance(ledger, BudgetLedger) else BudgetLedger(ledger, key)
    budgets.balances()
    return budgets


def decider(
    policies: "Sequence[Source] | Bundle",
    certificates: Sequence[ProofSource] = (),
    hierarchy: Hierarchy | None = None,
    *,
    owners: OwnersSource | None = None,
    ledger: "str | Path | BudgetLedger | None" = None,
    ledger_key: Key = None,
    time: datetime | None = None,
    trust: TrustSource | None = None,
    status: Sequence[StatusSource] = (),
    **reading: Unpack[ReadingOptions],
) -> Decider:
    """Return a Decider for policies and certificates, given as values or files, or as a bundle.

    `owners`, `ledger`, `ledger_key`, `trust` and `status` are as for `decide_request`; the policies
    are those in force at a `time`, by default now. What is given beside a bundle (`load_bundle`) is
    added to what it holds. Raises RequestError (D003) for owners beside a bundle that has its own.
    """
    # Imported here since few callers have one.
    from policy_engine.decision.bundle import Bundle  # noqa: PLC0415

    options = Reading(**reading)
    budgets = None if ledger is None else open_ledger(ledger, ledger_key)
    if isinstance(policies, Bundle):
        with with_bundle(policies, (), certificates, hierarchy, owners, options) as sources:
            return _compiled(sources, time, budgets, trust, status)
    own_sources = Sources(policies, certificates, hierarchy, owners, options)
    return _compiled(own_sources, time, budgets, trust, status)


class Sources(NamedTuple):
    """What decisions follow from, and what the policies are read with."""

    policies: Sequence[Source]
    proofs: Sequence[ProofSource]
    hierarchy: Hierarchy | None
    owners: OwnersSource | None
    reading: Reading


@contextmanager
def with_bundle(
    bundle: "Bundle",
    policies: Sequence[Source] = (),
    certificates: Sequence[ProofSource] = (),
    hierarchy: Hierarchy | None = None,
    owners: OwnersSource | None = None,
    reading: Reading = Reading(),  # noqa: B008 (frozen)
) -> Iterator[Sources]:
    """Give what a bundle holds, with what is added to it. Its paths are those of files that are
    there until then.

    Raises RequestError (D003) for owners beside a bundle that has its own.
    """
    from policy_engine.decision.opened_bundle import opened  # noqa: PLC0415 (as used)

    with opened(bundle, reading.limits) as inside:
        if owners is not None and inside.owners is not None:
            message = "Owners are given beside a bundle that has its own."
            raise RequestError.of("D003", message)
        yield Sources(
            (*inside.policies, *policies),
            (*inside.proofs, *certificates),
            (hierarchy or Hierarchy()).joined([inside.hierarchy()]),
            inside.owners if owners is None else owners,
            replace(
                reading,
                contexts={**(inside.reading.contexts or {}), **(reading.contexts or {})},
                parents=(*inside.reading.parents, *reading.parents),
                vocabularies=(*inside.reading.vocabularies, *reading.vocabularies),
            ),
        )


def _compiled(
    sources: Sources,
    time: datetime | None,
    ledger: "BudgetLedger | None",
    trust: TrustSource | None,
    status: Sequence[StatusSource],
) -> Decider:
    in_force = _policies_in_force(sources.policies, sources.reading, time)
    owners = load_owners(sources.owners, in_force, sources.reading.contexts)
    proofs = vouched_proofs(in_force, sources.proofs, trust, time, status)
    return Decider(in_force, proofs, sources.hierarchy, owners, ledger=ledger)


def query_data(
    sql: str,
    policies: Sequence[Source],
    assignee: str,
    data: Mapping[str, Any],
    purpose: str = "",
    *,
    certificates: Sequence[ProofSource] = (),
    hierarchy: Hierarchy | None = None,
    world: World | None = None,
    dialect: str = "duckdb",
    run: bool = True,
    log: str | Path | None = None,
    log_key: str | Path | bytes | None = None,
    owners: OwnersSource | None = None,
    epsilon: "str | int | Decimal | None" = None,
    delta: "str | int | Decimal" = 0,
    ledger: str | Path | None = None,
    ledger_key: Key = None,
    taxonomies: Mapping[str, Any] | None = None,
    output_ledger: "str | Path | OutputLedger | None" = None,
    output_ledger_key: Key = None,
    output_ledger_head: str = "",
    noise_key: Key = None,
    alternatives: bool = False,
    review: "AnswerReview | None" = None,
    telling: Telling = unchanged,
    compiled: Decider | None = None,
    trust: TrustSource | None = None,
    status: Sequence[StatusSource] = (),
    **reading: Unpack[ReadingOptions],
) -> "QueryResult":
    """Return the rows of an SQL query that policies let an assignee read for a purpose.

    `data` maps dataset IRIs to paths or tables; the key "" stands for the only dataset, which is
    never an output. The folder of a release with its certificate is a path, too. A release by
    buckets, given as its folder or as its `tables`, is the two tables "quasi-identifiers" and
    sensitive, whose columns are those of its IRI. Any other table is called by the last segment of
    its IRI, or by the whole IRI in quotes; `dialect` is any that sqlglot knows. If the query is
    denied, the result says which columns under which rule, and which smaller query would be
    permitted. The order of rows reveals nothing about how they are stored. Without `run`, the query
    is only rewritten. With a `log`, it says how often rules were exercised, and the decision is
    added to it before anything is read. `owners`, `trust` and `status` are as for `decide_request`.

    With an `epsilon`, and a `delta`, exact decimals or their texts, the query is one of statistics
    that a permission releases under differential privacy: it is answered with noise, and charged to
    the `ledger`, as `apply_policy` charges its releases. The result then has its `cost`. Files of
    keys that are not beside the policy are given as `taxonomies`, by the policy's names for them.

    Where a permission lets only what passes an output check be read, the answer is checked cell by
    cell, and against earlier ones in the `output_ledger`, in which it is recorded; its file is made
    if there is none, and chained with `output_ledger_key`. Where an `output_ledger_head` is given,
    one without it, such as a new one, is refused (K033). The result then says in `checked` what is
    not shown, and is permitted if anything is. Without `run`, it says in `check` which check the
    answer would have to pass, and needs no ledger. Noise that the policy asks for follows from the
    owner's secret `noise_key`, and from nothing else. With `alternatives`, nothing is answered, but
    the result's `comparisons` say what suppression, rounding, noise and coarser groups would cost
    of each figure, and so how many small cells there are: they are for the owner alone. Noise under
    differential privacy is weighed by the `epsilon`, 1 without one. With a `review`, `checked` has
    what a person may let out, to be written by `submit_answer`. The whole decision is logged,
    and the result has what `telling` returns of it: all of it, unless who asks may not read it.
    For many queries under the same policies, certificates and owners, give what decides by them
    `compiled`: `decider(policies, certificates, owners=owners)`.

    Raises QueryError for a query that cannot be parsed, DataError if a table cannot be read, or for
    noise without its key (C013),
    LedgerError for an output ledger that cannot be used (K030 to K037), or is needed and not given
    (K023),
    CertificateError (V004) if the data given for an output is not what was certified.
    """
    time = world.time if world else None
    in_force = _policies_in_force(policies, Reading(**reading), time)
    located = _located(data, in_force)
    if compiled is not None and (trust is not None or status):
        message = (
            "What decides is compiled already: its trust and status are those it was made with."
        )
        raise ArgumentError.of("U002", message, "Give them to `decider`.")
    proofs = vouched_proofs(in_force, certificates, trust, time, status, located.values())
    if compiled is not None:
        compiled = _standing(compiled, _places(located.values()))
    decision_log = None if log is None else open_log(log, log_key)
    asset_owners = load_owners(owners, in_force, reading.get("contexts"))

    def asker() -> "Asker":
        from policy_engine.api.asking import Asker  # noqa: PLC0415 (slow to import)

        who = (in_force, assignee, purpose, located, proofs, hierarchy, world, asset_owners)
        return Asker(*who, ledger, ledger_key, decision_log, taxonomies, telling)

    weighs = _weighed_epsilon(epsilon) if alternatives else None
    if alternatives and (delta or not (run and ledger is output_ledger is None)):
        message = "What protecting an answer would cost is told in place of an answer: without a "
        raise RequestError.of("D003", f"{message}delta, a ledger or a dry run.")
    if epsilon is not None and not alternatives:
        from policy_engine.api.asking import ask_statistics  # noqa: PLC0415 (slow to import)

        return ask_statistics(sql, epsilon, delta, asker(), dialect, run=run)
    if ledger is not None or delta:
        message = "A ledger or a delta is given without an epsilon."
        raise RequestError.of("D003", message)
    from policy_engine.decision.query.answering import query  # noqa: PLC0415 (slow to import)

    result = query(
        sql,
        in_force,
        assignee,
        make_catalog(located, in_buckets=True),
        purpose,
        certificates=proofs,
        hierarchy=hierarchy,
        world=world,
        dialect=dialect,
        run=run,
        log=decision_log,
        owners=asset_owners,
        output_ledger=open_output_ledger(
            output_ledger, output_ledger_key, output_ledger_head, "output_ledger"
        ),
        noise_key=read_chain_key(noise_key),
        weighs=weighs,
        review=review,
        telling=telling,
        compiled=compiled,
    )
    if result.permitted or not any(policy.queries for policy in in_force):
        return result
    from policy_engine.api.asking import with_statistics_hint  # noqa: PLC0415 (slow to import)

    return with_statistics_hint(result, sql, asker(), dialect)


def _weighed_epsilon(epsilon: "str | int | Decimal | None") -> "Decimal":
    """Return the epsilon by which costs are told. Raises RequestError (D003) for none that is."""
    from policy_engine.decision.query.allowed_statistics import AnswerLoss  # noqa: PLC0415

    return AnswerLoss.of("1" if epsilon is None else epsilon).epsilon


def _located(data: Mapping[str, Any], policies: Sequence[Policy]) -> dict[str, Any]:
    """Return data by whole IRIs, the folder of a release as the output in it.

    Raises RequestError (D001) for an output of the policies that is given without its IRI: it would
    be confused with its input dataset.
    """
    located = {iri: _output_in(source) for iri, source in named_data(data, policies).items()}
    unnamed = _output_in(data.get(""))
    beside = find_certificate(unnamed) if isinstance(unnamed, str | Path) else None
    asset = beside[1].plan.publish.asset if beside else ""
    if asset in {rule.output for policy in policies for rule in policy.rules} - {""}:
        [dataset] = named_data({"": unnamed}, policies)
        message = f"Data without an IRI is that of {dataset}, and {str(data[''])!r} is the output "
        raise RequestError.of("D001", f"{message}{asset}.", f"Give it as {asset}={unnamed}.")
    return located


def _output_in(source: Any) -> Any:
    """Return the output in the folder of a release; other data as it is."""
    if isinstance(source, str | Path) and Path(source).is_dir():
        with read_errors(Path(source)):
            is_release = bool(certificate_names(Path(source)))
        return single_output(Path(source)) if is_release else source
    return source


def fulfil_duty(
    policies: Sequence[Source],
    duty: str,
    by: str,
    log: str | Path,
    *,
    evidence: str = "",
    violated: bool = False,
    of: str = "",
    time: datetime | None = None,
    log_key: str | Path | bytes | None = None,
    hierarchy: Hierarchy | None = None,
    **reading: Unpack[ReadingOptions],
) -> "Entry":
    """Record in a log that a party fulfilled a duty of policies, or violated it.

    The duty is named by its uid or label, and by its policy `of` if several have it; an infringed
    prohibition is recorded as `violated`, too. `time` is when it happened, by default now;
    `evidence` is kept unchanged; `hierarchy` is added to what policies say about who belongs to
    whom. Raises RequestError: D006 for a duty that no policy or several have, D008 for one that
    obliges nobody or not this party, D001 for a party that is not an IRI.
    """
    from policy_engine.decision.log import LoggedDeed  # noqa: PLC0415 (only where asked for)

    in_force = _policies_in_force(policies, Reading(**reading), time)
    owner, matching_duty = find_duty(in_force, duty, of, violated=violated)
    party = Names((*in_force, *in_force.ended)).full(by, "assignee")
    check_name("assignee", party, in_force)
    check_doer(owner, matching_duty, party, hierarchy)
    logged = LoggedDeed(
        state="violated" if violated else "fulfilled",
        policy=owner.uid,
        digest=owner.digest,
        duty=matching_duty.label(),
        by=party,
        time=_add_zone(time).isoformat(),
        evidence=evidence or None,
        meaning=meaning_of(owner, matching_duty),
    )
    return open_log(log, log_key).append(logged)


def list_duties(
    policies: Sequence[Source],
    log: str | Path,
    hierarchy: Hierarchy | None = None,
    *,
    time: datetime | None = None,
    log_key: str | Path | bytes | None = None,
    **reading: Unpack[ReadingOptions],
) -> tuple[Due, ...]:
    """Return who must do what until when, at a time, according to policies and a log.

    Raises LogError: G001 if the log cannot be read, G002 if its chain is broken.
    """
    from policy_engine.decision.log import read_history  # noqa: PLC0415 (only where asked for)

    in_force = _policies_in_force(policies, Reading(**reading), time)
    return list_dues(in_force, read_history(log, log_key), _add_zone(time), hierarchy)


def _add_zone(time: datetime | None) -> datetime:
    moment = time or datetime.now(UTC)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def load_world(
    path: str | Path | None = None, time: str = "", policies: Sequence[Policy] = ()
) -> World:
    """Return the state of the world in a JSON file, with a given time if there is one.

    Short names in it mean what they do in policies. Raises DataError if there is no such file,
    RequestError (D003) if it is not a valid state of the world.
    """
    world = World()
    if path is not None:
        world = read_world(read_file(Path(path)), str(path), policies)
    return world.model_copy(update={"time": read_world({"time": time}).time}) if time else world


def load_time(path: str | Path | None = None, time: str = "") -> datetime | None:
    """Return the time given as text, or else by a state of the world in a JSON file.

    None if neither gives one. Raises as `load_world`, except for problems not about the time.
    """
    if time or path is None:
        return read_world({"time": time}).time if time else None
    document = read_json(read_file(Path(path)), str(path)).value
    stated_time = document.get("time") if isinstance(document, dict) else None
    return (
        read_world({"time": stated_time}, str(path)).time if isinstance(stated_time, str) else None
    )


def _policies_in_force(
    policies: Sequence[Source], reading: Reading, time: datetime | None
) -> InForce:
    """Return the policies that are in force at a time."""
    return (
        policies
        if isinstance(policies, InForce)
        else reading.policies_in_force(*policies, time=time)
    )


def attest_output(
    policy: Source,
    output: str | Path,
    by: str,
    *,
    asset: str = "",
    evidence: str = "",
    file: str | Path | None = None,
    overwrite: bool = False,
    sign: KeySource | None = None,
    **reading: Unpack[ReadingOptions],
) -> Attestation:
    """Return a person's attestation of an output of a policy that no engine can certify.

    These are the outputs of `derive` or `aggregate`, never those of `anonymize` or `pe:train`. With
    `file` it is written there, for `certificates=[FILE]`. With a private key `sign` it is signed,
    and counts under a trust file that says that the key may. Raises CertificateError (V012) for an
    output that cannot be attested, RequestError (D001) for a person that is not an IRI, DataError
    if the output cannot be read, OutputError if the attestation cannot be written, TrustError
    (Y001, Y002) for a key that cannot be used.
    """
    signer = None if sign is None else read_signer(sign)
    source_policy = Reading(**reading).policy(policy)
    names = Names([source_policy])
    attester, output_asset = (
        names.full(by, "assignee"),
        names.full(asset, "target") if asset else "",
    )
    attestation = attest(
        source_policy, parse_location(output), attester, asset=output_asset, evidence=evidence
    )
    attestation = attestation if signer is None else attestation.signed(signer)
    if file is not None:
        write_file(Path(file), attestation.to_jsonld(), Path(output), overwrite=overwrite)
    return attestation


def read_proofs(sources: Sequence[ProofSource]) -> list[Certificate | Attestation]:
    """Return certificates and attestations, given as values or files."""
    proofs: list[Certificate | Attestation] = []
    for one in sources:
        proofs += (
            [one]
            if isinstance(one, Certificate | Attestation)
            else load_proofs(parse_location(one))
        )
    return proofs


def vouched_proofs(
    policies: Sequence[Policy],
    sources: Sequence[ProofSource],
    trust: TrustSource | None,
    time: datetime | None = None,
    status: Sequence[StatusSource] = (),
    data: Iterable[Any] = (),
) -> Sequence[Certificate | Attestation]:
    """Return certificates and attestations that were not withdrawn; under a `trust`, those that it
    covers.

    What was withdrawn is said by the `status` and by statements beside certificates and beside the
    `data` that are paths. Raises TrustError (Y008) for a trust file that cannot be understood,
    SignatureError (Y005 to Y007, Y014) for a status that does not count, and as reading proofs does
    without a trust. Under one, a certificate that cannot be read denies.
    """
    paths = _places(data)
    if isinstance(sources, Vouched) and trust is None:
        more = read_status(status, paths)
        return sources if more == Withdrawals() else _again_vouched(sources, more)
    places = [
        one if isinstance(one, Certificate | Attestation) else parse_location(one)
        for one in sources
    ]
    withdrawals = read_status(status, [*places, *paths])
    trusted = None if trust is None else load_trust(trust)
    return vouch(policies, places, trusted, load_proofs, withdrawals=withdrawals, now=time)


def _again_vouched(proofs: Vouched, more: Withdrawals) -> Vouched:
    """Return proofs that were judged already, without those that are withdrawn by more."""
    withdrawals = proofs.withdrawals.merged(more)
    return replace(proofs.grounds, withdrawals=withdrawals).at(proofs.time)


def _standing(compiled: Decider, data: Sequence[Location]) -> Decider:
    """Return what decides without outputs that statements beside the data withdraw."""
    more, proofs = read_status((), data), compiled.proofs
    if more == Withdrawals():
        return compiled
    if not isinstance(proofs, Vouched):
        proofs = vouch((), proofs, None, load_proofs)
    return compiled.with_proofs(_again_vouched(proofs, more))


def _places(data: Iterable[Any]) -> list[Location]:
    """Return where data is that is given by its path."""
    return [parse_location(one) for one in data if isinstance(one, str | Path)]


def read_status(
    sources: Sequence[StatusSource], places: Sequence[Proof | Location] = ()
) -> Withdrawals:
    """Return what status lists and statements say was withdrawn, those beside certificates at some
    places among them. Raises as `vouched_proofs` does for a status, DataError where it cannot be
    read or fetched."""
    named = read_withdrawals((str(one), read_named(one)) for one in sources)
    return named.joined(read_statements(_texts_beside(places).items()))


def status_texts(
    sources: Sequence[StatusSource], places: Sequence[Proof | Location] = ()
) -> dict[str, bytes]:
    """Return the texts that `read_status` reads, by their sources. Raises DataError as it does."""
    return {**{str(one): read_named(one) for one in sources}, **_texts_beside(places)}


def _texts_beside(places: Sequence[Proof | Location]) -> dict[str, bytes]:
    """Return the statements beside certificates at some places, by where they are."""
    beside: dict[str, bytes] = {}
    for place in places:
        if not isinstance(place, Certificate | Attestation) and not is_database(place):
            beside.update(statements_beside(place))
    return beside


def read_named(source: StatusSource) -> bytes:
    """Return a file, or what an https URL gives that an operator named."""
    if scheme(str(source)) != "https":
        return read_file(Path(source))
    with TemporaryDirectory(prefix="policy-engine-") as folder:
        file = Path(folder) / "fetched"
        from policy_engine.data.places.web_files import fetch_web_file  # noqa: PLC0415 (slow to import)

        fetch_web_file(str(source), file)
        return file.read_bytes()


def open_log(log: str | Path, key: str | Path | bytes | None) -> "DecisionLog":
    """Return a log, created if it does not exist. Raises as `DecisionLog.open` does."""
    from policy_engine.decision.log import DecisionLog  # noqa: PLC0415 (only where asked for)

    return DecisionLog.open(Path(log), key)
