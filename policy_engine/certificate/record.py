"""What only the owner of a release knows; it opens the commitment of the certificate."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from policy_engine.audits.utility.figures import Utility
from policy_engine.data import storage
from policy_engine.data.catalog import MEMORY, TABLE
from policy_engine.data.commitment import Commitment, Hexadecimal
from policy_engine.data.places.copies import origin_of
from policy_engine.data.places.spelling import is_database
from policy_engine.data.storage import Location
from policy_engine.engines.suppression_gain import SuppressionGain
from policy_engine.errors import CertificateError, DataError, PolicyError
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.plan.plan import EngineName
from policy_engine.policy.syntax.json_text import read_json
from policy_engine.release.attempts import Attempt
from policy_engine.release.composition.figures import Composition

Count = Annotated[int, Field(ge=0, le=2**63)]


class Input(BaseModel):
    """The input of a release: its location, digest and number of rows.

    `digest` is the SHA-256 of a file, of the manifest of a folder (`storage.digest`), or of a
    frame's rows as the engine read them. `unmentioned` are columns that the policy does not
    mention.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    asset: str
    location: str
    format: str
    digest: Hexadecimal
    rows: Count
    unmentioned: tuple[str, ...] = ()


class Moves(BaseModel):
    """Of rows whose quasi-identifiers were permuted, how many have all of them as before, and how
    many chance lets expect.

    It is for the owner alone: in a class of two, to know that no row is unmoved is to know whose
    each is.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    unmoved: Count
    expected: Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Record(BaseModel):
    """The facts that a certificate commits to, with the nonce that opens the commitment.

    `release` is the digest of the output, `place` where it was written, empty for a table in
    memory. `sampled` rows are those of the sample, None if all were used. Of those, `suppressed`
    rows were left out, for the `gain` where classes were formed without outlying rows, `held_out`
    rows kept for the audit of a model; `suppressed_cells` were nulled, by column, where single
    cells are. `moves` tells how many rows have kept their values,
    where these were permuted. `taxonomies` has their digests, by name; `utility`
    includes suppressed rows and, for a model, is that of its training table. If several inputs
    were joined, `input` is the first, `joined` are the others, and `rows_joined` is the number of
    rows of the join. `seed` is the given seed, or the one that synthetic rows were
    drawn by, None if it was drawn and forgotten. With the `salt`
    and the owner's key, the pseudonyms of this release can be made again; None if it has none of
    its own. `attempts` are all attempts at a model of the same data, in order, including refused
    ones. `composition` is what it tells of persons together with earlier releases in a ledger, None
    without one. `earlier` are records from the same file, kept until this release had replaced
    theirs; nothing commits to them.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    kind: Literal["policy-engine record 2"] = "policy-engine record 2"
    nonce: Annotated[Hexadecimal, Field(repr=False)]
    engine: EngineName
    release: Hexadecimal
    place: str = ""
    input: Input
    joined: tuple[Input, ...] = ()
    rows_joined: Count | None = None
    sampled: Count | None = None
    suppressed: Count = 0
    gain: SuppressionGain | None = None
    suppressed_cells: Mapping[str, Count] = Field(default_factory=dict)
    held_out: Count = 0
    moves: Moves | None = None
    taxonomies: Mapping[str, Hexadecimal] = Field(default_factory=dict)
    utility: Utility | NotApplicable
    seed: int | None = None
    salt: Annotated[Hexadecimal | None, Field(repr=False)] = None
    attempts: tuple[Attempt, ...] = ()
    composition: Composition | None = None
    earlier: tuple["Record", ...] = ()

    @property
    def inputs(self) -> tuple[Input, ...]:
        """All inputs, in the order in which the plan reads them."""
        return (self.input, *self.joined)

    @property
    def rows_in(self) -> int:
        """How many rows there were, before any were left out."""
        return self.input.rows if self.rows_joined is None else self.rows_joined

    @property
    def rows_used(self) -> int:
        """How many rows were anonymised, or trained on: all, or those of the sample."""
        return self.rows_in if self.sampled is None else self.sampled

    @property
    def commitment(self) -> Commitment:
        """The commitment to everything in the record."""
        return Commitment.make(self._facts(), self.nonce)

    def opens(self, commitment: Commitment | None) -> bool:
        """Return whether this is the record that was committed to."""
        return commitment is not None and commitment.matches(self._facts(), self.nonce)

    def without_earlier(self) -> "Record":
        """Return the record without earlier records of its file."""
        return self.model_copy(update={"earlier": ()})

    def with_earlier(self) -> Iterator["Record"]:
        """Yield the record, and earlier records of its file."""
        yield self.without_earlier()
        yield from self.earlier

    def to_json(self) -> str:
        """Return the record as JSON text, which `read_record` reads."""
        return self.model_dump_json(indent=2) + "\n"

    def _facts(self) -> dict[str, Any]:
        absent = {"joined", "rows_joined"} if self.rows_joined is None else set()
        absent |= {"sampled"} if self.sampled is None else set()
        absent |= set() if self.suppressed_cells else {"suppressed_cells"}
        absent |= set() if self.moves else {"moves"}
        absent |= set() if self.gain else {"gain"}
        absent |= set() if self.composition else {"composition"}
        return self.model_dump(mode="json", exclude={"nonce", "earlier", *absent})


def absolute_name(location: Location | None) -> str:
    """Return a location as records name it: an absolute path; a URI or table unchanged, and the
    place of which a file is a copy."""
    is_elsewhere = str(location) == MEMORY or str(location).startswith(TABLE)
    if location is None:
        return ""
    if is_database(location):
        kind, _, place = location.partition(":")
        file, _, table = place.rpartition("#")
        return f"{kind}:{storage.local_path(file).absolute()}#{table}"
    if is_elsewhere or storage.is_remote(location):
        return str(location)
    if origin_of(str(location)) != str(location):
        return origin_of(str(location))
    return str(storage.local_path(location).absolute())


def read_record(text: str | bytes, source: str = "") -> Record:
    """Read a record. Raises CertificateError (V005) if the text is not one."""
    try:
        document = read_json(text)
        record = Record.model_validate(document.value) if not document.problems else None
    except (ValueError, PolicyError):
        record = None
    if record is None or any(one.earlier for one in record.earlier):
        message = "The text is not a release record of this version."
        raise CertificateError.of("V005", message, source=source)
    return record


def load_record(path: Location) -> Record:
    """Read a record from its file.

    Raises DataError if there is none (C002) or it cannot be read (C003), CertificateError (V005) if
    it is not a record.
    """
    with storage.read_errors(path):
        if not storage.exists(path):
            raise DataError.of("C002", f"There is no record {str(path)!r}.")
        text = storage.read_bytes(path)
    return read_record(text, str(path))


def find_opening_record(record: Record, commitment: Commitment | None, source: str = "") -> Record:
    """Return the record in a file that opens a certificate's commitment.

    Raises CertificateError (V008) if none does.
    """
    for one in record.with_earlier():
        if one.opens(commitment):
            return one
    message = "The record does not open the certificate: it is for another release, or was changed."
    if commitment is None:
        message = "The certificate commits to no input, so no record opens it."
    raise CertificateError.of("V008", message, source=source)
