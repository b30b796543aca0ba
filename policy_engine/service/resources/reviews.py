"""What people review: answers that the rules leave to them, and outputs that were made elsewhere.

Each review is a folder with a chained log, as checkers have it on their own machine: what may be
let out, who decides and what leaves are the library's to say.
"""

from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, BinaryIO

from sqlalchemy import func, or_, select

from policy_engine.decision.knowing import Known
from policy_engine.decision.query.query_limits import QueryStop, query_limits
from policy_engine.errors import LedgerError, PolicyEngineError, ServiceError
from policy_engine.service.calls.pages import Cursor, PageOf
from policy_engine.service.calls.revisions import check_revision
from policy_engine.service.files.folder import FileFolder
from policy_engine.service.identity.actors import Actor
from policy_engine.service.identity.authorising import (
    authorise,
    authorise_on,
    nothing_there,
    owners_of,
)
from policy_engine.service.identity.roles import Verb, Whose
from policy_engine.service.resources.queries import MOST_ROWS, SqlQuestion
from policy_engine.service.resources.query_inputs import QueryInputs
from policy_engine.service.resources.review_claims import ReviewClaims
from policy_engine.service.resources.review_limits import check_open, waiting_review
from policy_engine.service.resources.review_records import ReviewRecords
from policy_engine.service.resources.review_rights import ReviewRights
from policy_engine.service.resources.review_views import (
    ReviewedAnswer,
    ReviewState,
    ReviewSummary,
    ReviewView,
    output_view,
    state_of,
)
from policy_engine.service.store.base import new_id, now
from policy_engine.service.store.reviews import StoredReview, open_count, unseen_by

if TYPE_CHECKING:
    from policy_engine.decision.query.model import QueryResult
    from policy_engine.service.asking.query_processes import QueryProcesses


@dataclass(frozen=True)
class Reviews:
    """The reviews, each asked by somebody of the owner of a dataset."""

    inputs: QueryInputs
    records: ReviewRecords
    rights: ReviewRights
    memory: int = 0
    seconds: float = 60.0
    processes: "QueryProcesses | None" = None
    """Where answers are computed, if not here."""
    _receiving: Lock = field(default_factory=Lock, repr=False)
    """Archives are unpacked in memory: one at a time is."""

    @property
    def _claims(self) -> ReviewClaims:
        """Who is deciding about what."""
        return ReviewClaims(self.records.database, self.seconds)

    # -- for who submits -----------------------------------------------------------------------

    def send_answer(self, actor: Actor, result: "QueryResult", question: SqlQuestion) -> str | None:
        """Return under which name an answer waits for somebody to review it.

        None where nobody here owns its data, or too many of the caller wait already. The same
        answer waits once.
        """
        from policy_engine.api.reviewing_answers import submit_answer  # noqa: PLC0415 (slow to import)

        assert result.checked is not None and result.decision is not None  # noqa: S101, PT018 (it is sent)
        scope, request = result.checked.recorded.scope, result.decision.request
        owner = self.inputs.decisions.owner_of(scope.dataset)
        if owner is None:
            return None
        row = StoredReview(
            id=new_id(),
            kind="answer",
            submitter_id=actor.id,
            owner_id=owner,
            assignee=request.assignee or "",
            dataset=scope.dataset,
            request=question.sql,
            purpose=request.purpose or "",
            data=scope.data,
            state=ReviewState.OPEN.value,
        )
        is_exception = bool(question.exception.strip())
        with self.records.database.reading() as session:
            waiting, is_full = waiting_review(session, row, self.records, is_exception=is_exception)
        if waiting is not None or is_full:
            return waiting
        submit_answer(
            result,
            question.sql,
            self.records.place(row.id),
            by=actor.id,
            comment=question.comment,
            exception=question.exception.strip(),
            key=self.records.key,
        )
        with self.records.database.writing() as session:
            waiting, is_full = waiting_review(session, row, self.records, is_exception=is_exception)
            if waiting is None and not is_full:
                session.add(row)
                waiting = row.id
        if waiting != row.id:  # another call was faster
            self.records.forget(row.id)
        return waiting

    def owner_for(self, actor: Actor, dataset: str) -> str:
        """Return who decides about outputs about a dataset: its owner.

        Raises ServiceError (N003) for one that nobody here owns, and for one that is another's
        and that no policy tells the caller of: nobody learns which.
        """
        authorise(actor, Verb.SUBMIT_OUTPUTS)
        owner = self.inputs.decisions.owner_of(dataset)
        knowledge = Known(self.inputs.decisions.decider(), actor.party)
        is_known = knowledge.has(dataset) or bool(knowledge.parts(dataset))
        if owner is None or not (owner == actor.id or is_known):
            raise nothing_there()
        return owner

    def receive(self, actor: Actor, dataset: str, archive: BinaryIO) -> ReviewView:
        """Return a new review of outputs about a dataset, which came as an archive.

        Raises ServiceError: N003 as `owner_for`, N004 where too many of the caller are open, N008
        where the disk has no room; LedgerError (K027) for what is not a folder of outputs.
        """
        from policy_engine.api.receiving_outputs import receive_outputs  # noqa: PLC0415 (slow to import)
        from policy_engine.release.output_folder.archives import MOST_BYTES  # noqa: PLC0415 (slow to import)

        owner = self.owner_for(actor, dataset)
        with self.records.database.reading() as session:
            check_open(session, actor.id)
        FileFolder(self.inputs.folder).check_space(MOST_BYTES)
        name = new_id()
        place = self.records.place(name)
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._receiving:
            read = receive_outputs(archive, place, by=actor.id, key=self.records.key)
        row = StoredReview(
            id=name,
            kind="outputs",
            submitter_id=actor.id,
            owner_id=owner,
            assignee=actor.party,
            dataset=dataset,
            request=", ".join(one.name for one in read.submission.outputs)[:1000],
            purpose="",
            data=read.submission.data,
            state=state_of(read.standings()).value,
        )
        try:
            with self.records.database.writing() as session:
                check_open(session, actor.id)
                session.add(row)
                session.flush()
        except PolicyEngineError:
            self.records.forget(name)
            raise
        return self._view(actor, row)

    def answer(self, actor: Actor, review_id: str, stop: QueryStop | None = None) -> ReviewedAnswer:
        """Return the rows of an answer that was accepted, to who asked for it; `stop` ends that.

        Raises ServiceError (N003) for who did not, LedgerError (K028) while nobody has decided,
        for one that was rejected, and where policies would not have it asked any more, or have it
        checked in another way than it was.
        """
        from policy_engine.api.reviewing_answers import give_answer  # noqa: PLC0415 (slow to import)
        from policy_engine.decision.query.rows import as_json  # noqa: PLC0415 (slow to import)

        row = self._for_submitter(actor, review_id, stop)
        if row.kind != "answer":
            raise nothing_there()
        place = self.records.place(row.id)
        table = give_answer(place, row.assignee, by=actor.id, key=self.records.key)
        return ReviewedAnswer(
            columns=list(table.column_names),
            rows=as_json(table.slice(0, MOST_ROWS)),
            is_cut=table.num_rows > MOST_ROWS,
        )

    def file(self, actor: Actor, review_id: str, name: str, stop: QueryStop | None = None) -> bytes:
        """Return a file that may leave, to who submitted it, once all of its review is decided.

        Raises as `answer`.
        """
        row = self._for_submitter(actor, review_id, stop)
        files = self.records.read(row.id).hand_out(by=actor.id)
        if name not in files:
            raise nothing_there()
        return files[name]

    def _for_submitter(self, actor: Actor, review_id: str, stop: QueryStop | None) -> StoredReview:
        """Return a review of which the caller is given whatever may leave. Raises as `answer`."""
        authorise(actor, Verb.SUBMIT_OUTPUTS)
        row = self.records.row(review_id)
        if row.submitter_id != actor.id or (row.kind == "answer" and row.assignee != actor.party):
            raise nothing_there()
        if row.kind == "answer":
            self.check_policies(row.id, actor, stop or QueryStop())
        return row

    def check_policies(self, review_id: str, actor: Actor, stop: QueryStop) -> None:
        """Raise LedgerError (K028) unless policies let an answer be asked for, by the check that it
        was judged by, or without any."""
        if self.processes is not None:
            tally = self.inputs.decisions.tally
            self.processes.ask("check", actor, {"review": review_id}, stop, tally)
            return
        row = self.records.row(review_id)
        with query_limits(self.memory, self.seconds, stop):
            permitted = self.inputs.permitted(row.request, row.assignee, row.purpose)
        if permitted is None:
            message = "Policies do not let you ask for this answer any more."
            raise LedgerError.of("K028", message, "What was accepted is given out while they do.")
        if permitted.check not in (None, self.records.check(row.id)):
            message = "Policies have this answer checked in another way than when it was sent."
            raise LedgerError.of("K028", message, "Ask again, and have that reviewed.")

    # -- for both ------------------------------------------------------------------------------

    def page(
        self,
        actor: Actor,
        cursor: Cursor,
        state: ReviewState | None = None,
        *,
        only_unseen: bool = False,
    ) -> PageOf[ReviewSummary]:
        """Return a page of the reviews that somebody asked for or has to decide, or of all.

        `only_unseen` are those of the caller that were decided, and that they have not looked at.
        """
        self._claims.end_abandoned(self.records.settle)
        rows = select(StoredReview)
        if authorise(actor, Verb.READ_REVIEWS) is Whose.OWN:
            owners = owners_of(actor, Verb.READ_REVIEWS)
            is_own = StoredReview.submitter_id == actor.id
            rows = rows.where(or_(is_own, StoredReview.owner_id.in_(sorted(owners))))
        if only_unseen:
            rows = rows.where(unseen_by(actor.id))
        if state is not None:
            rows = rows.where(StoredReview.state == state.value)
        order = StoredReview.created, StoredReview.id
        with self.records.database.reading() as session:
            return cursor.page(session, rows, order, partial(self.rights.summary, actor))

    def read(self, actor: Actor, review_id: str) -> ReviewView:
        """Return a review as who submitted it may see it: codes and words, and no figure of what is
        withheld. Raises ServiceError (N003)."""
        reach, row = authorise(actor, Verb.READ_REVIEWS), self.records.row(review_id)
        is_own = row.submitter_id == actor.id
        if reach is Whose.OWN and not is_own:
            authorise_on(actor, Verb.READ_REVIEWS, row.owner_id)
        return self._view(actor, self.records.settle(review_id))

    def unseen_count(self, actor: Actor) -> tuple[int, int]:
        """Return how many reviews of somebody were decided that they have not looked at, and how
        many wait to be decided."""
        authorise(actor, Verb.READ_REVIEWS)
        self._claims.end_abandoned(self.records.settle)
        rows = select(func.count()).where(unseen_by(actor.id))
        with self.records.database.reading() as session:
            return session.scalar(rows) or 0, open_count(session, actor.id)

    def note_seen(self, actor: Actor, review_id: str) -> None:
        """Note that who asked for a review has looked at it. Raises ServiceError (N003)."""
        authorise(actor, Verb.READ_REVIEWS)
        with self.records.database.writing() as session:
            row = session.get(StoredReview, review_id)
            if row is None or row.submitter_id != actor.id:
                raise nothing_there()
            row.seen = now()

    # -- for who decides -----------------------------------------------------------------------

    def accept(
        self,
        actor: Actor,
        review_id: str,
        tag: str,
        output: str,
        reason: str,
        stop: QueryStop | None = None,
    ) -> ReviewView:
        """Return a review of which an output was accepted: it may leave.

        An answer is computed again, and entered in the ledger in the same step. Raises ServiceError
        (N003, N004, N005); LedgerError: the code of what the ledger has against it, K028 by who
        submitted it, or without a reason.
        """
        with self._claimed(actor, review_id, tag, output) as row:
            if row.kind == "outputs":
                self._decide(row, actor, output, reason, accepts=True)
            else:
                self.accept_claimed(row.id, reason, actor, stop or QueryStop())
            return self._view(actor, self.records.settle(row.id))

    def accept_claimed(self, review_id: str, reason: str, actor: Actor, stop: QueryStop) -> None:
        """Accept the answer of a review that the caller may decide about and nobody else does.
        Raises as `accept`."""
        if self.processes is not None:
            words = {"review": review_id, "reason": reason}
            tally = self.inputs.decisions.tally
            self.processes.ask("accept", actor, words, stop, tally)
            return
        with query_limits(self.memory, self.seconds, stop):
            self._accept_answer(self.records.row(review_id), reason, actor)

    def _accept_answer(self, row: StoredReview, reason: str, actor: Actor) -> None:
        from policy_engine.api.reviewing_answers import accept_answer  # noqa: PLC0415 (slow to import)

        decider = self.inputs.decisions.decider()
        with self.inputs.data(row.request) as mentioned:
            # What policies say nothing of any more is denied by name, to who decides.
            data = self.inputs.known_data(decider, row.assignee, mentioned) or mentioned
            accept_answer(
                self.records.place(row.id),
                decider.policies,
                data,
                reason=reason,
                by=actor.id,
                is_own_allowed=self.rights.is_own_allowed,
                is_final=True,
                key=self.records.key,
                confirm=partial(self.rights.check_decider, actor, row),
                **self.inputs.common(decider),
                **self.inputs.logged(),
                **self.inputs.recorded(),
            )
        self.inputs.follow()

    def reject(
        self, actor: Actor, review_id: str, tag: str, output: str, reason: str
    ) -> ReviewView:
        """Return a review of which an output was rejected: it never leaves. Raises as `accept`."""
        with self._claimed(actor, review_id, tag, output) as row:
            self._decide(row, actor, output, reason, accepts=False)
            return self._view(actor, self.records.settle(row.id))

    def _decide(
        self, row: StoredReview, actor: Actor, output: str, reason: str, *, accepts: bool
    ) -> None:
        self.records.read(row.id).decide(
            output,
            accepts=accepts,
            reason=reason,
            by=actor.id,
            is_own_allowed=self.rights.is_own_allowed,
            is_final=True,
        )

    def _claimed(
        self, actor: Actor, review_id: str, tag: str, output: str
    ) -> AbstractContextManager[StoredReview]:
        """Return a review that the caller may decide, while nobody else does so."""

        def check(row: StoredReview) -> None:
            authorise_on(actor, Verb.DECIDE_REVIEWS, row.owner_id)
            check_revision(row.revision, tag)
            standings = {one.output.name: one for one in self.records.read(row.id).standings()}
            if output not in standings:
                raise nothing_there()
            word = standings[output].word
            if word != "open":
                raise ServiceError.of("N004", f"The output {output!r} is {word}, not open.")

        return self._claims.claimed(review_id, actor.id, check)

    def _view(self, actor: Actor, row: StoredReview) -> ReviewView:
        read = self.records.read(row.id)
        outputs = [output_view(one) for one in read.standings()]
        summary = self.rights.summary(actor, row)
        return ReviewView(**summary.model_dump(), outputs=outputs, head=str(read.log.head))
