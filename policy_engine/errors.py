"""Every error of the engine, one tree.

PolicyEngineError
 ├── PolicyError        reading a policy: every problem at once, each with its place
 ├── PlanError          the policy is well written, but cannot be carried out as written
 ├── DataError          a table cannot be found or read, or cannot satisfy the policy
 ├── OutputError        the result cannot be written where it should go
 ├── CertificateError   what was measured falls short, or a certificate is not to be trusted
 ├── SignatureError     a signed document whose proof does not hold, or that nobody trusts
 ├── TrustError         a key, or a file that says whom to trust, that cannot be used
 ├── RequestError       an access request that cannot be understood
 ├── DeniedError        a party asks to make something, and is not permitted to
 ├── LogError           a decision log that cannot be read, or whose chain is broken
 ├── LedgerError        a ledger that cannot be used, or whose chain is broken
 ├── QueryError         a query that cannot be understood, and so is not run
 ├── EngineError        an engine that cannot be started, or that was lost on the way
 ├── AuditError         an audit that cannot be run on what it is given
 ├── ServiceError       a call of the service that is not carried out as things stand
 ├── ArgumentError      a public function that is given an argument of the wrong type
 └── InternalError      our own bug, never the user's fault
"""

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, NamedTuple

CODES = {
    "J001": "the text is not JSON",
    "J002": "a key appears twice in one object",
    "J003": "the text is too large or nested too deeply",
    "J004": "the text is not UTF-8",
    "F001": "a text that is not RDF in its format",
    "F002": "RDF that cannot be written in another format",
    "L001": "a context that is not bundled",
    "L002": "a key that no context defines",
    "L003": "not valid JSON-LD",
    "L004": "a JSON-LD keyword that policies may not use",
    "L005": "an inline context that does more than declare prefixes and new terms",
    "L006": "a relative IRI",
    "L007": "an undeclared prefix",
    "P001": "not a policy",
    "P002": "a policy without uid",
    "P003": "a policy without a rule",
    "P004": "a rule that lacks a part",
    "P005": "an unknown term",
    "P006": "a part of ODRL that this version does not evaluate",
    "P007": "a value of the wrong kind",
    "P008": "two rules with one uid",
    "P009": "an unknown profile",
    "P010": "a permission and a prohibition that conflict",
    "P011": "a policy that inherits from one that is not given, or from itself",
    "P012": "a policy that another one has replaced",
    "P013": "a duty, a remedy or a consequence where none is allowed",
    "P014": "a logical constraint that is not well formed",
    "P015": "a collection that is not well formed",
    "P016": "an action that is included neither in use nor in transfer",
    "P017": "an obligation that nobody carries out",
    "P018": "a vocabulary that changes a term of the language, or defines none",
    "P019": "an output that is not its policy's to name",
    "P020": "a registry of policies that cannot be understood, or that leaves one out",
    "P021": "an offer that cannot be accepted, or not by the party",
    "P022": "derived assets named other than to exempt them from a prohibition",
    "P023": "a table of aggregates, or a budget of what such tables tell, that is not well formed",
    "P024": "a rule about what belongs to others, or to nobody known",
    "P025": "an assigner other than who publishes the policy",
    "M001": "an unknown method",
    "M002": "a method without a parameter that it needs",
    "M003": "a parameter outside its range",
    "M004": "a parameter that the method does not have",
    "M005": "a column in two roles",
    "M006": "a column outside the target",
    "M007": "no single transformation to carry out",
    "M008": "a transformation that a prohibition forbids",
    "M009": "a feature that the engine does not have",
    "M010": "a bound on rows, which a transformation does not preserve",
    "M011": "a bound that no figure can exceed, or that guessing already exceeds",
    "M012": "a training that cannot be planned",
    "M013": "an audit that cannot be planned",
    "M014": "a transformation of what its policy's assigner does not own",
    "M015": "cells of an earlier release, read as if they were the original values",
    "M016": "a join of datasets that cannot be planned, or is not supported there",
    "M017": "a weaker guarantee than an owner requires for what is made of its data",
    "M018": "a release under differential privacy that cannot be planned",
    "C001": "an asset without data",
    "C002": "a missing file",
    "C003": "an unreadable file",
    "C004": "an unknown file format",
    "C005": "a column that the data lacks",
    "C006": "two columns with one name",
    "C007": "a row with too many or too few cells",
    "C008": "bytes that are not UTF-8",
    "C009": "a column type that cannot be used",
    "C010": "data that cannot be understood as a table",
    "C011": "a package that is not installed",
    "C012": "a taxonomy without a file",
    "C013": "a key that is missing or too short",
    "C014": "files of one table that differ in their columns",
    "C015": "a column name that can be confused with another",
    "C016": "keys of groups that cannot be read, or are not those of the columns",
    "C017": "files that are not those of a generator",
    "C018": "a bundle that is damaged, or not the one asked for",
    "C019": "a place beyond this machine's files that does not give a table",
    "C020": "a catalog file that cannot be understood",
    "T001": "a text that is not a taxonomy in its format",
    "T002": "an empty taxonomy",
    "T003": "a taxonomy that is too large or too deep",
    "T004": "a row with too many or too few levels",
    "T005": "an empty label",
    "T006": "a value that appears twice in a taxonomy",
    "T007": "a generalised value with two parents",
    "T008": "a circle of generalised values",
    "T009": "a concept without a name of its own",
    "T010": "a label that the taxonomy lacks",
    "T011": "a way of generalising that does not fit the values",
    "T012": "more problems than are shown",
    "T013": "a matrix that is not one of transition probabilities",
    "R001": "an empty table",
    "R002": "fewer rows than k",
    "R003": "a bound that the table as a whole does not hold",
    "R004": "a value that cannot be ordered",
    "R005": "a set with too many values to be useful",
    "R006": "a generalization that does not fit the values",
    "R007": "values that the taxonomy lacks",
    "R008": "pseudonyms that link the rows of one person across classes",
    "R009": "no generalisation, or no cells to suppress, within the limit on suppression",
    "R010": "a lattice of generalisations too large to search",
    "R011": "more than a machine can hold: this one, one of the cluster, or its driver",
    "R012": "keys by which tables are not to be joined",
    "R013": "a masking that does not fit the values",
    "R014": "a sample that the rows do not allow",
    "R015": "buckets that the sensitive values do not allow",
    "R016": "pseudonyms that join rows which audits attack one by one",
    "R017": "labels, or predictions of them, by which no classes can be cut",
    "R018": "a model that cannot be trained to guide how classes are cut",
    "R019": "classes of other rows than those that they were cut for",
    "R020": "persons whose rows cannot be permuted together",
    "S001": "a package or a program that the engine needs and that is not there",
    "S002": "a Java that is too old",
    "S003": "a master that does not answer",
    "S004": "executors without what their tasks need",
    "S005": "a job that the cluster aborted",
    "O001": "an output that exists",
    "O002": "an output that cannot be written",
    "O003": "a picture too large to be useful",
    "V001": "an equivalence class that breaks a bound",
    "V002": "columns or cells other than those the policy releases",
    "V003": "rows lost or added, or more suppressed than allowed",
    "V004": "a file other than the certified one",
    "V005": "a certificate, its record or an attestation that cannot be read",
    "V006": "an output that cannot be measured without its input",
    "V007": "an attack that reaches more than the policy allows",
    "V008": "a record that does not open the certificate",
    "V009": "an input other than the one that was committed to",
    "V010": "a release that is half published",
    "V011": "a model whose files reveal more than the policy allows",
    "V012": "an output that cannot be attested",
    "V013": "an input other than the release that its certificate describes",
    "V014": "a release that was not made as the policy requires",
    "V015": "several certificates where one is meant",
    "V016": "a certificate that does not say how its output was made",
    "V017": "a certificate that nobody could read",
    "V018": "figures of a certificate that are not found again",
    "V019": "a table that attacks tell more of, or whose risk is larger, than allowed",
    "D001": "a request that names no IRI",
    "D002": "two policies with one uid",
    "D003": "a request or a world that cannot be understood",
    "D004": "owners that cannot be understood",
    "D005": "a world that says of counts or duties what the log does not",
    "D006": "a duty that no policy has, or several",
    "D007": "what the party who acts is not permitted to make",
    "D008": "a duty that is not the party's to do",
    "G001": "a decision log that cannot be read",
    "G002": "a decision log whose chain is broken",
    "B001": "a budget ledger that cannot be read or written",
    "B002": "a budget ledger that is locked by another process",
    "B003": "a budget ledger that may only be read",
    "B004": "a budget ledger whose chain is broken",
    "B005": "a budget ledger that is chained with another key",
    "B006": "a file that is not a budget ledger",
    "B007": "a budget ledger of a newer version",
    "B008": "a charge that a budget ledger cannot record",
    "B009": "a release that the budget does not allow",
    "B010": "a release that another run is making, or did not finish",
    "B011": "a reservation of budget that is no longer held",
    "B012": "a release that protects another unit than the budget of its data",
    "B013": "a release that tells too much of persons together with earlier ones",
    "B014": "a policy that bounds several releases together, without a ledger of them",
    "Q001": "a query that cannot be parsed",
    "Q002": "a statement that is not a query",
    "Q003": "a table that the catalog lacks",
    "Q004": "a column that its table lacks, or that several have",
    "Q005": "a part of SQL that is not understood, and so denied",
    "Q006": "a query that the policy denies",
    "Q007": "a constraint that cannot be a filter",
    "Q008": "a query that fails on the data",
    "Q009": "rows that a rule lets be read and a query of several tables leaves out",
    "Q010": "a query that is not answered under differential privacy",
    "Q011": "a query that takes more memory or time than it may, or a limit that is not one",
    "Q012": "a query that was ended before it was answered",
    "A001": "a class with too few records for shadow models",
    "A002": "labels that are constant, or that cannot be classes",
    "A003": "features that are missing or not numbers",
    "A004": "predictions that are not probabilities",
    "A005": "an attack that needs more than the model gives",
    "A006": "an epsilon that cannot be reached",
    "A007": "too few shadow models",
    "A008": "an audit that the memory cannot hold",
    "A009": "a description of a model that cannot be understood",
    "A010": "a layer that mixes records under differential privacy",
    "A011": "records without members, or without others",
    "A012": "an attack that is not known",
    "A013": "a training that did not come to an end",
    "A014": "a fitted model that cannot be opened or asked",
    "A015": "a file that runs code when it is opened",
    "A016": "a fitted model whose process failed",
    "A017": "a model that no file holds safely",
    "A018": "an audit that was cancelled",
    "A019": "attempts whose record cannot be relied on",
    "A020": "more attempts at a model, or at made-up rows, than the policy allows",
    "A021": "too few records for a bound on attacks to be shown",
    "A022": "features that are the same in all records",
    "A023": "rows of a release that cannot be matched with those of its original",
    "A024": "a population that does not contain the release, or cannot be compared with it",
    "A025": "weights or a threshold outside their range",
    "A026": "a tree that too few samples of the records lead to",
    "A027": "cells of a release that cannot be read as those of its original",
    "A028": "persons of a holdout who are in the original",
    "A029": "members and a holdout that are not of one distribution",
    "A030": "a holdout or references that overlap the members",
    "A031": "synthetic records that do not fit the members, or cannot be compared with them",
    "A032": "a generator that gives samples that cannot be used",
    "A033": "a time limit that ends before all samples were compared once",
    "A034": "models of a generator that cannot be audited together",
    "A035": "a secret column of which nothing can be learnt or measured",
    "H001": "a profile that is used but not named",
    "H002": "an output check that names no unit of privacy",
    "W001": "an output that no rule but its own governs",
    "W003": "a rule without effect, for its assigner does not own the asset",
    "W004": "an asset that may be read together with others under a rule that does not cover it",
    "W005": "a method that bounds nothing, without a privacy model beside it",
    "W006": "a count of rows that could be the same, which protects less than of those that are",
    "W007": "quasi-identifiers that are released as they are, and show who is in the table",
    "W008": "a scale of noise that may be a percentage, where a share was meant",
    "W009": "an audit that nobody carries out, since it is no duty of a permission",
    "W010": "a budget over something that no permission of its policy is about",
    "W011": "statistics of which nothing bounds what all releases of them lose together",
    "W012": "statistics whose release loses more than a budget of their policy ever has",
    "W013": "a sensitive label that all rows of an accuracy-guided class may have",
    "K001": "a file of policy tests that cannot be understood",
    "K002": "a figure about too few persons, or other units of privacy",
    "K003": "a figure that tells what nearly everyone in a group is, or nearly nobody",
    "K004": "a total of which one unit contributes too much",
    "K005": "a total of which two units contribute too much",
    "K006": "a total whose largest contribution could be estimated too closely",
    "K007": "a total with negative contributions, of which no rule tells who dominates it",
    "K008": "a smallest or largest value, which is that of somebody",
    "K009": "a percentile or a mode that too few units have, or are beyond",
    "K010": "an estimate with too few degrees of freedom",
    "K011": "a correlation of exactly -1, 0 or 1",
    "K012": "a most common value that nearly all units have",
    "K013": "coefficients that are a table of small groups in disguise",
    "K014": "a figure that would reveal others which are suppressed",
    "K015": "a figure that is not released because others of its table are not",
    "K016": "a figure of which it is not known what a rule needs to know",
    "K017": "a query of which it cannot be checked what its answer tells",
    "K018": "an aggregate of which it is not known what it tells of single persons",
    "K019": "a query that does not tell whom its rows are of",
    "K020": "a figure for which the profile of output checks has no threshold",
    "K021": "a figure that no rule judges, so that a person has to",
    "K022": "a query whose answer is checked, and that fails on the data",
    "K023": "an answer to be checked against earlier ones, without a ledger of them",
    "K024": "a query of rows where only aggregates may be read",
    "K025": "an output that cannot be checked as it is asked for",
    "K026": "a finished table whose totals are not those of its cells",
    "K027": "a folder of outputs that cannot be used, or was changed",
    "K028": "an output that may not be released as things stand",
    "K029": "a finished table that is not what its recipe makes of the data",
    "K030": "an output ledger that cannot be read or written",
    "K031": "an output ledger that is locked by another process",
    "K032": "an output ledger that may only be read",
    "K033": "an output ledger whose chain is broken",
    "K034": "an output ledger that is chained with another key",
    "K035": "a file that is not an output ledger",
    "K036": "an output ledger of a newer version",
    "K037": "an answer that an output ledger cannot check",
    "K040": "a cell of fewer units than the threshold",
    "K041": "a cell that differs from an earlier one by fewer units than the threshold",
    "K042": "a cell that differs from another of its answer by fewer units than the threshold",
    "K043": "cells that tell of fewer units than the threshold, with all that was released",
    "K044": "cells that tell the value of a suppressed one, with all that was released",
    "K045": "cells by which a suppressed value, or that of few units, is bounded too closely",
    "K046": "an answer beyond the limits within which an output ledger decides",
    "K047": "an answer about other data than earlier ones of its dataset",
    "K048": "an answer with bounds that cannot be computed",
    "K049": "a figure that is withheld, for itself or for what it would tell of others",
    "K050": "another statistic of columns of which one was released that it would make tell more",
    "K051": "data that changed while an answer about it was computed",
    "N001": "a call by nobody who is signed in",
    "N002": "a call that the roles of the caller do not allow",
    "N003": "an address at which there is nothing for the caller",
    "N004": "a call that does not fit the state of what it is about",
    "N005": "a change of what somebody else has changed meanwhile",
    "N006": "more calls than are answered in a time",
    "N007": "a call that cannot be understood",
    "N008": "a call whose body is larger than is accepted",
    "N009": "a call that a page of another site may have made",
    "N010": "a link, a sign-in or a key that is no longer valid",
    "N011": "a key of a call that was used for another call",
    "N012": "settings by which the service cannot be started",
    "N013": "a folder, a database, a storage or a process that the service cannot use",
    "N020": "a run that ended without a result, as often as it was tried",
    "N021": "a run that exceeded a limit, or whose folder cannot be used",
    "N022": "a result whose certificate is not of the run that left it, or not of its output",
    "Y001": "a private key that cannot be read or used",
    "Y002": "a private key that others may read",
    "Y003": "a name that is not that of an Ed25519 key",
    "Y004": "a document that has no canonical form, and cannot be signed",
    "Y005": "a document that is not signed as it has to be",
    "Y006": "a signature that is not that of the document",
    "Y007": "a signed document that is not valid at the time",
    "Y008": "a trust file that cannot be understood",
    "Y009": "a signature that is missing, or by a key that is not trusted for it",
    "Y010": "a signature of a revoked key",
    "Y011": "a policy, or an audit trail, that is not the one that was signed",
    "Y012": "an output that its certificate names and nobody can see",
    "Y013": "a signed certificate that an unsigned one would replace",
    "Y014": "a status list that does not say whether a certificate was withdrawn",
    "Y015": "an output that was withdrawn",
    "U001": "a command line that cannot be understood",
    "U002": "an argument of the wrong type",
    "X001": "a bug in the engine",
}
"""What each code stands for. Codes are stable: they are never given a second meaning."""

AREAS = {
    "J": "The text of a policy",
    "F": "RDF",
    "L": "JSON-LD",
    "P": "The policy",
    "M": "The plan",
    "C": "Data",
    "T": "Taxonomies",
    "R": "Run time",
    "S": "Spark",
    "O": "Output",
    "V": "Certificates",
    "Y": "Keys, signatures and trust",
    "D": "Requests",
    "Q": "Queries",
    "G": "The decision log",
    "B": "The budget ledger",
    "A": "Audits",
    "H": "Hints",
    "W": "Warnings",
    "K": "Policy tests and output checks",
    "N": "The service",
    "U": "Commands and calls",
    "X": "Bugs",
}
"""What the codes of a letter are about, from reading to release and after."""

_IM = "ODRL Information Model 2.2, section"
SECTIONS = {
    "J001": "RFC 8259, section 2",
    "J002": "RFC 8259, section 4",
    "J004": "RFC 8259, section 8.1",
    "L001": "JSON-LD 1.1, section 3.1",
    "L002": "JSON-LD 1.1, section 3.1",
    "L003": "JSON-LD 1.1, section 9",
    "L004": "JSON-LD 1.1, section 1.7",
    "L005": "JSON-LD 1.1, section 4.1",
    "L006": "RFC 3987, section 6.5",
    "L007": "JSON-LD 1.1, section 4.1.5",
    "P001": f"{_IM} 2.1",
    "P002": f"{_IM} 2.1",
    "P003": f"{_IM} 2.1",
    "P004": f"{_IM} 2.6",
    "P005": "ODRL Vocabulary and Expression 2.2, section 3",
    "P006": f"{_IM} 2",
    "P007": f"{_IM} 2",
    "P008": f"{_IM} 2.6",
    "P009": f"{_IM} 3",
    "P010": f"{_IM} 2.10",
    "P011": f"{_IM} 2.9",
    "P012": f"{_IM} 2.8",
    "P013": f"{_IM} 2.6",
    "P014": f"{_IM} 2.5.2",
    "P015": f"{_IM} 2.5.5",
    "P016": f"{_IM} 2.4",
    "P017": f"{_IM} 2.6.4",
    "P018": f"{_IM} 4.2",
    "P019": f"{_IM} 2.3",
    "P020": f"{_IM} 2.1",
    "P021": f"{_IM} 2.1.2",
    "P022": f"{_IM} 2.6.2",
    "P023": f"{_IM} 3",
    "P024": f"{_IM} 2.3",
    "P025": f"{_IM} 2.3",
}
"""The section of a specification that a code is about, where there is one."""


class Place:
    """A place in a text.

    `pointer` is its JSON pointer (RFC 6901); `line` and `column` count from 1, 0 is unknown. One
    that is `sought` is looked for when it is first asked for: of most places nobody asks.
    """

    __slots__ = ("_parts",)
    # The pointer, the line and the column; until they are sought, a function and its arguments.
    # One tuple, which threads see as a whole.
    _parts: tuple[Any, ...]

    def __init__(self, pointer: str = "", line: int = 0, column: int = 0) -> None:
        self._parts = (pointer, line, column)

    @classmethod
    def sought(cls, seek: "Seek", pointer: str, prop: str = "", index: int = 0) -> "Place":
        """Return the place that a function gives, called with the arguments when it is needed."""
        place = cls.__new__(cls)
        place._parts = (seek, pointer, prop, index)  # noqa: SLF001 (its own)
        return place

    def _found(self) -> tuple[str, int, int]:
        parts = self._parts
        if len(parts) == _SOUGHT:
            seek, *by = parts
            parts = self._parts = (*seek(*by),)
        return parts

    @property
    def pointer(self) -> str:
        """The JSON pointer."""
        return self._found()[0]

    @property
    def line(self) -> int:
        """The line, from 1; 0 if unknown."""
        return self._found()[1]

    @property
    def column(self) -> int:
        """The column, from 1; 0 if unknown."""
        return self._found()[2]

    def moved(self, pointer: str) -> "Place":
        """Return the place with another pointer."""
        return Place(pointer, self.line, self.column)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._found())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Place) and self._found() == other._found()

    def __hash__(self) -> int:
        return hash(self._found())

    def __repr__(self) -> str:
        return f"Place(pointer={self.pointer!r}, line={self.line!r}, column={self.column!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Place, self._found()


Seek = Callable[[str, str, int], Place]
_SOUGHT = 4
NOWHERE = Place()


class Fix(NamedTuple):
    """A replacement that fixes a problem: `text` in the place of what is from `start` to `end`."""

    start: Place
    end: Place
    text: str


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong.

    `message` says what is wrong, what was given and what is allowed; `hint` how to fix it;
    `fix` is the replacement that fixes it, where one is known. `values` are the values of the
    data that it is about: no text holds them but that of the problem `with_values` returns.
    """

    code: str
    message: str
    hint: str = ""
    place: Place = NOWHERE
    fix: Fix | None = field(default=None, compare=False)
    values: tuple[str, ...] = field(default=(), compare=False, repr=False)

    def with_values(self) -> "Problem":
        """Return the problem with its values in its message, to be shown to the owner alone."""
        if not self.values:
            return self
        names, unquoted = join_names(self.values[:_MOST_QUOTED]), len(self.values) - _MOST_QUOTED
        more = f", and {unquoted} more" if unquoted > 0 else ""
        return replace(self, message=f"{self.message.removesuffix('.')}: {names}{more}.", values=())

    @property
    def section(self) -> str:
        """The section of the specification that the problem is about, empty where there is none."""
        return SECTIONS.get(self.code, "")

    @property
    def is_warning(self) -> bool:
        """Whether the text can be used all the same."""
        return self.code[0] in "HW"

    def as_json(self) -> dict[str, object]:
        """Return the problem as JSON has it, without its values."""
        place, fix = self.place, self.fix
        return {
            "code": self.code,
            "message": self.message,
            "hint": self.hint,
            "section": self.section,
            "line": place.line,
            "column": place.column,
            "pointer": place.pointer,
            "fix": {
                "start": {"line": fix.start.line, "column": fix.start.column},
                "end": {"line": fix.end.line, "column": fix.end.column},
                "text": fix.text,
            }
            if fix
            else None,
        }

    def __str__(self) -> str:
        return f"{self.code} {self.message}" + (f" {self.hint}" if self.hint else "")


_MOST_QUOTED = 1_000


class PolicyEngineError(Exception):
    """Base of all errors: one or more problems, each with its code.

    `code` is that of the first problem, which is the only one of most errors. `exit_code` is what
    the command line returns: 1 where the input was understood and found wanting, 2 where the
    command could not run.
    """

    exit_code = 1

    def __init__(self, *problems: Problem, source: str = "") -> None:
        super().__init__(*problems)
        self.problems = problems
        self.source = source

    @classmethod
    def of(cls, code: str, message: str, hint: str = "", source: str = "") -> "PolicyEngineError":
        """Return the error with one problem."""
        return cls(Problem(code, message, hint), source=source)

    @property
    def code(self) -> str:
        """The code of the first problem."""
        return self.problems[0].code

    def __str__(self) -> str:
        return "\n".join(locate(problem, self.source) for problem in self.problems)


class PolicyError(PolicyEngineError):
    """A policy that cannot be read; holds every problem found."""


class PlanError(PolicyEngineError):
    """A policy that can be read but not carried out."""


class DataError(PolicyEngineError):
    """A table that cannot be found or read, or cannot satisfy what the policy asks."""

    exit_code = 2


class OutputError(PolicyEngineError):
    """A result that cannot be written where it should go."""

    exit_code = 2


class CertificateError(PolicyEngineError):
    """A release that does not hold what it should, or a certificate not to be trusted."""


class SignatureError(PolicyEngineError):
    """A signed document whose proof does not hold, or that is not trusted for what it says."""


class TrustError(PolicyEngineError):
    """A key, or a file that says whose signatures count for what, that cannot be used."""

    exit_code = 2


class RequestError(PolicyEngineError):
    """An access request that cannot be understood."""

    exit_code = 2


class DeniedError(PolicyEngineError):
    """Something that a party may not make: the request was understood, and denied."""


class LogError(PolicyEngineError):
    """A decision log that cannot be read, or whose chain is broken."""

    exit_code = 2


class LedgerError(PolicyEngineError):
    """A ledger of budgets or outputs that cannot be used, or an answer it cannot check."""

    exit_code = 2


class QueryError(PolicyEngineError):
    """A query that cannot be understood, or cannot be run under the policy as it is written."""

    exit_code = 2


class EngineError(PolicyEngineError):
    """An engine that cannot be started, or that was lost on the way."""

    exit_code = 2


class AuditError(PolicyEngineError):
    """An audit that cannot be run on what it is given."""

    exit_code = 2


class ServiceError(PolicyEngineError):
    """A call of the service that is not carried out as things stand, or a service not started."""

    exit_code = 2


class ArgumentError(PolicyEngineError, TypeError):
    """A public function was given an argument of the wrong type; a TypeError, too."""

    exit_code = 2


class InternalError(PolicyEngineError):
    """A bug in the engine."""

    exit_code = 2


def locate(problem: Problem, source: str) -> str:
    """Return the problem as `file:line:column: CODE message`, without the parts unknown."""
    line_and_column = f"{problem.place.line}:{problem.place.column}" if problem.place.line else ""
    where = ":".join(part for part in (source, line_and_column) if part)
    return f"{where}: {problem}" if where else str(problem)


def place_order(problem: Problem) -> tuple[int, int]:
    """Return the key that sorts the problems of one text by their place."""
    return problem.place.line, problem.place.column


def did_you_mean(
    word: str, candidates: Iterable[str], written: Mapping[str, str] = MappingProxyType({})
) -> str:
    """Return `Did you mean ...?` with the nearest known names, or nothing where none is near.

    The given name is never among them. It is given as it is `written`, where that differs.
    """
    names = sorted({*candidates} - {word})
    if _is_many(word, names):
        return ""
    best = nearest(word, names)
    matches = [best] if best else difflib.get_close_matches(word, names, n=3, cutoff=0.6)
    texts = (repr(written.get(name, name)) for name in matches)
    return f"Did you mean {' or '.join(texts)}?" if matches else ""


def nearest(word: str, candidates: Iterable[str]) -> str:
    """Return the known name that a given one clearly means; empty where there is none."""
    names = sorted(set(candidates))
    if _is_many(word, names):
        return ""
    matches = difflib.get_close_matches(word, names, n=2, cutoff=0.6)
    if (
        len(matches) == 2
        and _likeness(word, matches[0]) - _likeness(word, matches[1]) < _CLEAR_MARGIN
    ):
        return ""
    return matches[0] if matches else ""


def _is_many(word: str, names: Sequence[str]) -> bool:
    """Tell whether comparing a word with names would take so long that nothing is suggested."""
    return len(word) > _LONGEST_WORD or len(names) > _MOST_NAMES


_CLEAR_MARGIN = 0.2
_LONGEST_WORD, _MOST_NAMES = 200, 2_000


def _likeness(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, other, one).ratio()


def join_names(names: Iterable[str], last_word: str = "and") -> str:
    """Return names as `'a', 'b' and 'c'`."""
    *head, last = [repr(name) for name in names]
    return f"{', '.join(head)} {last_word} {last}" if head else last


def format_count(number: int, noun: str) -> str:
    """Return a number of things in words, such as `1 row` or `2,000 rows`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
