"""Puts texts in force: they are checked before the transaction that does so, and hold nobody up."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Generic, NamedTuple, TypeVar

from sqlalchemy import select
from sqlalchemy.orm import Session

from policy_engine.authoring.validating import check_text
from policy_engine.errors import PolicyError, Problem, ServiceError, SignatureError
from policy_engine.policy import Policy, PolicyText, Reading
from policy_engine.policy.signing import read_signature
from policy_engine.policy.syntax.limits import DEFAULT_LIMITS, Limits
from policy_engine.service.resources.kept_trust import KeptTrust
from policy_engine.service.resources.ownership import check_publishing, ruling_state
from policy_engine.service.store.database import Database
from policy_engine.service.store.policies import StoredPolicy

_TRIES = 3
_T = TypeVar("_T")


class TextLimits(NamedTuple):
    """How large a text may be that is put in force, how many rules all of them may have, and which
    trust file has to cover it, if any."""

    text: Limits = DEFAULT_LIMITS
    rules: int = 20_000
    trust: KeptTrust | None = None


USUAL_LIMITS = TextLimits()


class Candidate(NamedTuple):
    """A text that is to be in force, by whom, and in the place of which policy's version, if any.

    Problems of the text are told under its `name`. `signature` is the credential by which somebody
    signed it, if anybody did.
    """

    name: str
    text: str
    owner_id: str
    policy_id: str = ""
    signature: str | None = None


class PublishingTransaction(NamedTuple, Generic[_T]):
    """A transaction in which a text may be put in force, what was found, and the text's uid."""

    session: Session
    subject: _T
    uid: str


@dataclass(frozen=True)
class _Checked:
    """A candidate that may be in force, and what else it was checked against."""

    candidate: Candidate
    state: object
    uid: str

    @classmethod
    def of(
        cls, session: Session, candidate: Candidate, valid: Policy, most_rules: int
    ) -> "_Checked":
        state = ruling_state(session, candidate.policy_id)
        _check_uid(session, candidate, valid.uid)
        check_publishing(session, candidate.policy_id, candidate.owner_id, valid, most_rules)
        return cls(candidate, state, valid.uid)

    def holds(self, session: Session, candidate: Candidate) -> bool:
        """Tell whether nothing has changed since."""
        return (self.candidate, self.state) == (
            candidate,
            ruling_state(session, candidate.policy_id),
        )


@contextmanager
def publishing(
    database: Database,
    find: Callable[[Session], tuple[_T, Candidate]],
    limits: TextLimits,
) -> Iterator[PublishingTransaction[_T]]:
    """Return a transaction in which a text may be put in force that `find` finds.

    What takes long, checking the text by itself and beside all others, is done before, while others
    write; if anything changes meanwhile that it depends on, it is done again. Raises what finding
    it does; PolicyError for a text with problems, or about what is not its owner's; ServiceError
    (N004) where another policy that is in force has its uid, or keeps it from being so, where the
    trust file does not cover it, where there would be too many rules, and where others have changed
    what is in force each time.
    """
    for _ in range(_TRIES):
        with database.reading() as session:
            _, candidate = find(session)
        valid = valid_policy(candidate.text, candidate.name, limits.text)
        _check_covered(valid, candidate, limits.trust)
        with database.reading() as session:
            checked = _Checked.of(session, candidate, valid, limits.rules)
        with database.writing() as session:
            subject, now = find(session)
            if checked.holds(session, now):
                yield PublishingTransaction(session, subject, checked.uid)
                return
    message = "What is in force was changed by others while the policy was checked."
    raise ServiceError.of("N004", message, "Publish it again.")


def valid_policy(text: str, name: str, limits: Limits) -> Policy:
    """Return the one policy of a text. Raises PolicyError with all problems of the text."""
    checked = check_text(PolicyText(text.encode(), "policy"), Reading(limits=limits))
    problems: Sequence[Problem] = checked.problems
    if problems:
        raise PolicyError(*problems, source=name)
    if len(checked.policies) != 1:
        number = len(checked.policies)
        message = f"A text is published that has one policy. This one has {number}{checked.what}."
        raise PolicyError.of("P001", message, source=name)
    return checked.policies[0]


def _check_covered(policy: Policy, candidate: Candidate, trust: KeptTrust | None) -> None:
    """Raise PolicyError (Y008 to Y011) for a policy that a trust file does not cover: in force, it
    would deny everything. So does a signature that is none (Y003, Y005, Y006), or of another text
    (Y011), with a trust file or without."""
    signatures = []
    if candidate.signature is not None:
        try:
            signatures = [read_signature(candidate.signature, candidate.name)]
        except SignatureError as error:
            raise PolicyError(*error.problems, source=candidate.name) from None
        if signatures[0].digests.get(policy.uid) != policy.digest:
            message = f"The signature is not of this text of {policy.uid}: it means something else."
            raise PolicyError.of("Y011", message, "Sign the text again.", candidate.name)
    problems = () if trust is None else trust.refusals(policy, signatures)
    if problems:
        hint = "Publish it with a signature by a key of the trust file (policy-engine sign), or "
        hint += "let the operator name its uid there under 'unsigned-policies'."
        raise PolicyError(*(replace(one, hint=hint) for one in problems), source=candidate.name)


def _check_uid(session: Session, candidate: Candidate, uid: str) -> None:
    same = select(StoredPolicy.id).where(
        StoredPolicy.uid == uid,
        StoredPolicy.id != candidate.policy_id,
        StoredPolicy.published.is_not(None),
    )
    if session.scalar(same.limit(1)) is not None:
        message = f"Another policy that is in force has the uid {uid!r}."
        raise ServiceError.of("N004", message, "Give this one a uid of its own.")
