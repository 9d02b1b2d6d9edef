"""The oracle dialogue from the client's side, without I/O: messages in, messages out.

Who uses it holds one lock around every call. A `Dialogue` outlives its streams: what was not
acknowledged is sent again on the next one, with the same answer id, which has one effect.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from concurrent.futures import Future

from svddtune.client.dialogue.hearing import Hearing, release_of
from svddtune.client.dialogue.pending import ItemKey
from svddtune.client.types import Ack, Query, SkipMode, Verdict
from svddtune.client.wire import convert
from svddtune.v1 import oracle_pb2 as pb

PROTOCOL_VERSION = 1


class Dialogue(Hearing):
    """What one labeler knows of its dialogue about some sessions, or about any (none named).

    A query is held from its Assign until its answer is acknowledged, it is skipped, given back
    or revoked. With `extend` False leases are left to run out.
    """

    def __init__(
        self,
        sessions: Sequence[str],
        *,
        labeler: str,
        kind: str,
        credit: int,
        provenance: str = "",
        resume_token: str = "",
        extend: bool = True,
    ) -> None:
        super().__init__(sessions, resume_token=resume_token)
        self._provenance = provenance
        self.labeler = labeler
        self.credit = credit
        self._kind = convert.choice(convert.LABELER_KINDS, kind, "kind")
        self._extend = extend

    def hello(self) -> pb.ConverseRequest:
        """Return the first message of a stream, and expect a Welcome."""
        self.welcomed = self.draining = False
        return pb.ConverseRequest(
            hello=pb.Hello(
                protocol_version=PROTOCOL_VERSION,
                labeler=self.labeler,
                kind=self._kind,
                sessions=self.served.existing(),
                resume_token=self.resume_token,
                credit=self.credit,
            )
        )

    def answer(
        self,
        query: Query,
        verdict: Verdict,
        now: float,
        *,
        source_reference: str = "",
        answer_id: str = "",
    ) -> tuple[pb.ConverseRequest, Future[Ack]]:
        """Return the message that answers `query`."""
        message = pb.Answer(
            answer_id=answer_id or uuid.uuid4().hex,
            session=self.served.name(query.session),
            query=query.number,
            lease_id=query.lease_id,
            observation_id=query.observation_id,
            verdict=convert.VERDICTS[verdict],
            source_reference=source_reference,
            provenance=self._provenance,
        )
        key = (message.session, message.answer_id)
        sent = self._say(key, pb.ConverseRequest(answer=message), query)
        self._answered_at = now
        return sent

    def label(
        self,
        observation_id: str,
        verdict: Verdict,
        *,
        session: str = "",
        source_reference: str = "",
        answer_id: str = "",
        replace: bool = False,
    ) -> tuple[pb.ConverseRequest, Future[Ack]]:
        """Return the message that labels an observation unasked, or corrects one's own vote."""
        message = pb.Answer(
            answer_id=answer_id or uuid.uuid4().hex,
            session=self.served.name(session),
            observation_id=observation_id,
            verdict=convert.VERDICTS[verdict],
            source_reference=source_reference,
            provenance=self._provenance,
            replace=replace,
        )
        key = (message.session, message.answer_id)
        return self._say(key, pb.ConverseRequest(answer=message))

    def retract(
        self, observation_id: str, *, session: str = "", answer_id: str = "", of_labeler: str = ""
    ) -> tuple[pb.ConverseRequest, Future[Ack]]:
        """Return the message that withdraws a vote; one's own unless another's is named."""
        message = pb.Retract(
            answer_id=answer_id or uuid.uuid4().hex,
            session=self.served.name(session),
            observation_id=observation_id,
            of_labeler=of_labeler,
        )
        key = (message.session, message.answer_id)
        return self._say(key, pb.ConverseRequest(retract=message))

    def skip(self, query: Query, mode: SkipMode) -> tuple[pb.ConverseRequest, Future[Ack]]:
        """Return the message that skips `query`."""
        message = pb.Skip(
            session=self.served.name(query.session),
            query=query.number,
            lease_id=query.lease_id,
            mode=convert.SKIP_MODES[mode],
        )
        key = (message.session, message.query)
        return self._say(key, pb.ConverseRequest(skip=message), query)

    def release(self, query: Query) -> pb.ConverseRequest:
        """Return the message that gives `query` back."""
        self._holding.drop(self._key(query))
        self._given_back.note(query.lease_id, None)
        message = release_of(self.served.name(query.session), query.lease_id)
        if not self.welcomed:
            self._unsent.append(message)
        return message

    def set_credit(self, credit: int) -> pb.ConverseRequest:
        """Return the message that changes how many queries are held at once."""
        self.credit = credit
        return pb.ConverseRequest(credit=pb.Credit(queries=credit))

    def heartbeat(self) -> pb.ConverseRequest | None:
        """Return the message that keeps the leases, None where there is nothing to keep."""
        if not len(self._holding) or not self._extend:
            return None
        return pb.ConverseRequest(extend=pb.Extend(session=self.served.only))

    def _say(
        self, key: ItemKey, message: pb.ConverseRequest, query: Query | None = None
    ) -> tuple[pb.ConverseRequest, Future[Ack]]:
        return message, self._pending.add(key, message, query)
