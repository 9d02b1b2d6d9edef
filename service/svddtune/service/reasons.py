"""Every reason for which a call can fail: its kind, the values that come with it, and what to do.

``docs/errors.md`` is written from this table, and a test compares it with what the code raises.
"""

from dataclasses import dataclass

import grpc

from svddtune.service.access.faults import Forbidden, ProviderAway, Unauthenticated
from svddtune.service.draining import ServerDraining
from svddtune.service.silence import Silent
from svddtune.service.status import code_of_kind
from svddtune.state.errors import (
    Conflict,
    Damaged,
    InvalidInput,
    NotFound,
    QuotaExceeded,
    StateError,
    StoreUnavailable,
    TooLarge,
    WrongState,
)


@dataclass(frozen=True, slots=True)
class Reason:
    """What a caller should know about one reason."""

    kind: type[StateError]
    # What happened, and what to do.
    advice: str
    # Keys of ErrorInfo.metadata that may be there.
    metadata: tuple[str, ...] = ()
    # Whether the same request may succeed later, with nothing else changed.
    retryable: bool = False


REASONS: dict[str, Reason] = {
    "ALREADY_ANSWERED": Reason(
        Conflict,
        "The observation has a label. To change one's own vote, send it with replace.",
        ("session", "row", "verdict"),
    ),
    "ANSWER_ID_REUSED": Reason(
        InvalidInput,
        "The answer id belongs to a different answer. Use a new one for each answer.",
        ("session", "answer_id"),
    ),
    "AWAITS_ADJUDICATION": Reason(
        Conflict,
        "The votes on the observation came to no verdict, and one of the session's adjudicators is "
        "to decide.",
        ("session", "row"),
    ),
    "BUDGET_SPENT": Reason(
        WrongState,
        "The labels have spent the budget. Raise it with UpdateSession, then resume.",
        ("session", "budget", "labels"),
    ),
    "BUDGET_TOO_LARGE": Reason(
        InvalidInput,
        "The budget is above the number of observations. Choose a smaller one.",
        ("session", "field", "value", "allowed", "budget", "n"),
    ),
    "BUDGET_TOO_SMALL": Reason(
        InvalidInput,
        "The budget is below the number of labels that are there. Choose a larger one.",
        ("session", "field", "budget", "labels"),
    ),
    "CONFLICTING_LABELS": Reason(
        InvalidInput,
        "Two initial labels of one observation differ. Send one of them.",
        ("field", "observation", "row", "source"),
    ),
    "CREDENTIALS_INVALID": Reason(
        Unauthenticated,
        "The token or certificate proves nobody whom the service knows: it is wrong, has expired "
        "or was revoked. Ask the operator for another.",
    ),
    "CREDENTIALS_MISSING": Reason(
        Unauthenticated,
        "The service asks who calls. Send a token in the header authorization, or a client "
        "certificate.",
    ),
    "DATASET_DAMAGED": Reason(
        Damaged,
        "An object of the dataset store is missing or differs from its checksum. The operator of "
        "the service has to restore it.",
        ("dataset", "object", "sha256"),
    ),
    "DATASET_EMPTY": Reason(
        InvalidInput,
        "The upload has too few rows or columns.",
        ("observation_count", "feature_count"),
    ),
    "DATASET_INCOMPLETE": Reason(
        InvalidInput,
        "Rows are missing from the upload. Upload the dataset again.",
        ("dataset", "announced", "received"),
    ),
    "DATASET_IN_USE": Reason(
        WrongState, "Sessions use the dataset. Delete them first.", ("dataset", "sessions")
    ),
    "DATASET_NOT_FINITE": Reason(
        InvalidInput,
        "A value is infinite or not a number. Remove or replace it.",
        ("row", "column", "feature", "value"),
    ),
    "DATASET_NOT_FOUND": Reason(
        NotFound, "There is no such dataset. Upload it first.", ("dataset", "session")
    ),
    "DATASET_OUT_OF_RANGE": Reason(
        InvalidInput,
        "A magnitude is too large, or all columns vary too little. Scale the columns.",
        ("row", "column", "value"),
    ),
    "DATASET_RAGGED": Reason(
        InvalidInput,
        "Rows have another number of columns than the header or the matrix says.",
        ("row", "expected", "size"),
    ),
    "DATASET_STORE_NOT_SET": Reason(
        StoreUnavailable,
        "This process does not know the dataset store. Its operator has to set "
        "SVDDTUNE_DATASET_STORE.",
        ("dataset",),
    ),
    "DATASET_STORE_UNAVAILABLE": Reason(
        StoreUnavailable,
        "The dataset store cannot be reached or refuses access. Try again.",
        retryable=True,
    ),
    "DATASET_TOO_LARGE": Reason(
        TooLarge,
        "The dataset is above a limit of this server. Upload fewer rows or columns.",
        ("what", "limit", "estimate"),
    ),
    "DRAINING": Reason(
        ServerDraining, "The server is shutting down. Connect again.", retryable=True
    ),
    "DUPLICATE_FEATURE_NAME": Reason(
        InvalidInput,
        "Two columns have the same name.",
        ("feature", "column", "first_column", "field", "value"),
    ),
    "DUPLICATE_OBSERVATION_ID": Reason(
        InvalidInput, "Two rows have the same id.", ("observation", "row", "first_row")
    ),
    "ETAG_MISMATCH": Reason(
        Conflict,
        "The session has changed since the caller read it. Read it and decide again.",
        ("session", "etag", "current"),
    ),
    "FEATURE_COUNT_MISMATCH": Reason(
        InvalidInput,
        "A row has another number of values than the model has columns.",
        ("row", "columns", "expected"),
    ),
    "FEATURE_NAMES_MISMATCH": Reason(
        InvalidInput,
        "The names of the columns are not those of the model. GetModel has them.",
        ("row", "missing", "unexpected"),
    ),
    "HELLO_TIMEOUT": Reason(
        Silent, "No Hello came in time. Open a new stream and send it first.", ("waited_s",)
    ),
    "IDENTITY_PROVIDER_UNAVAILABLE": Reason(
        ProviderAway,
        "The keys that tokens are checked with cannot be read. Try again.",
        retryable=True,
    ),
    "ILLEGAL_TRANSITION": Reason(
        WrongState, "The session's state does not allow this.", ("session", "state", "verb")
    ),
    "INTERNAL": Reason(
        StateError,
        "A bug. Report it with the id, under which the server's log has the details.",
        ("error_id",),
    ),
    "INVALID_FIELD": Reason(
        InvalidInput,
        "A field has a value that is not allowed. BadRequest lists every such field.",
        ("field", "value", "allowed"),
    ),
    "INVALID_NAME": Reason(
        InvalidInput, "A resource name is malformed.", ("field", "value", "allowed")
    ),
    "LABELER_NOT_YOURS": Reason(
        Forbidden,
        "The credentials are of another labeler than the call names. Name none, or the own one.",
        ("field", "labeler", "own"),
    ),
    "LABELER_WITHDRAWN": Reason(
        WrongState,
        "The labeler's votes are void. Reinstate the labeler first.",
        ("session", "labeler"),
    ),
    "LEASE_LOST": Reason(
        WrongState,
        "The lease is not held, or no longer. Lease the query again.",
        ("session", "query", "lease_id"),
    ),
    "MODEL_CORRUPT": Reason(
        InvalidInput, "The content is not a whole model file. Export the model again."
    ),
    "MODEL_DAMAGED": Reason(
        Damaged,
        "A stored model does not compute what it was fitted with. Upload it, or compute the result "
        "again.",
        ("model",),
    ),
    "MODEL_NOT_FOUND": Reason(
        NotFound, "There is no such model; it may have expired. Upload it again.", ("model",)
    ),
    "MODEL_TOO_LARGE": Reason(TooLarge, "The model file is above the server's limit.", ("limit",)),
    "MODEL_VERSION_UNSUPPORTED": Reason(
        InvalidInput, "The model file is of another release's format. Export the model again."
    ),
    "NOT_REPLICATED": Reason(
        StoreUnavailable,
        "The change is stored, but fewer replicas than --min-replicas have it in time: it would be "
        "lost if the master failed now. Send it again with the same id; it counts once.",
        retryable=True,
    ),
    "NOT_LABELED": Reason(
        WrongState,
        "The labeler has no vote on the observation to retract.",
        ("session", "labeler", "row"),
    ),
    "NOTHING_TO_REOPEN": Reason(
        WrongState,
        "Nobody has voted on the observation, and it was not left out.",
        ("session", "row"),
    ),
    "NO_COMMON_OBSERVATIONS": Reason(
        InvalidInput,
        "No labelled observation of the source is in this dataset.",
        ("field", "source", "dataset", "labels"),
    ),
    "OBSERVATION_IDS_MISSING": Reason(
        InvalidInput,
        "Labels of another dataset need observation ids in both. Upload the datasets with ids.",
        ("field", "source", "dataset"),
    ),
    "OBSERVATION_MISMATCH": Reason(
        InvalidInput,
        "The query asks about another observation than the answer names.",
        ("session", "query", "row", "asked_row"),
    ),
    "PROFILE_MISSING": Reason(InvalidInput, "The model cannot give reasons. Ask for none."),
    "PROTOCOL_VERSION_UNSUPPORTED": Reason(
        InvalidInput,
        "Client and server know no common version of the dialogue. Use another client.",
        ("field", "value", "supported"),
    ),
    "PROTOCOL_VIOLATION": Reason(
        InvalidInput, "The stream's items came in an order that is not allowed."
    ),
    "QUOTA_EXCEEDED": Reason(
        QuotaExceeded,
        "The project has as many sessions, datasets or bytes as it may have. Delete what is not "
        "needed, or let the operator of the service raise the limit.",
        ("quota", "limit", "used", "project", "session", "dataset"),
    ),
    "RATE_EXCEEDED": Reason(
        QuotaExceeded,
        "The client sends more answers a second than the server takes of one. Send the answer "
        "again after the delay of RetryInfo.",
        ("limit", "client"),
        retryable=True,
    ),
    "REFINED_MISSING": Reason(
        InvalidInput, "The model has no refined detector. Ask for the SVDD's verdicts."
    ),
    "REQUEST_ID_REUSED": Reason(
        InvalidInput,
        "The request id belongs to a different request. Use a new one for each request.",
        ("session", "dataset", "request_id"),
    ),
    "RESULT_NOT_FOUND": Reason(
        NotFound, "There is no such result. Finish the session first.", ("session", "result")
    ),
    "ROLE_TOO_LOW": Reason(
        Forbidden,
        "The caller's role in its project does not include this. Ask an admin of the project.",
        ("method", "role", "session", "labeler"),
    ),
    "ROW_OUT_OF_RANGE": Reason(
        InvalidInput,
        "The dataset has no row of this number. Rows are counted from 0.",
        ("field", "row", "n"),
    ),
    "SCORES_TOO_LARGE": Reason(
        TooLarge,
        "The response would be above 3 MiB. Send fewer rows, or ask for fewer reasons.",
        ("limit", "rows"),
    ),
    "SESSION_NOT_ACTIVE": Reason(
        WrongState, "The session's state does not allow changes of labels.", ("session", "state")
    ),
    "SESSION_NOT_FOUND": Reason(NotFound, "There is no such session.", ("session",)),
    "SESSION_TOO_LARGE": Reason(
        TooLarge,
        "A worker would need more memory than it may use. Upload fewer observations or features, "
        "or let workers use more.",
        ("estimate", "limit"),
    ),
    "STORE_FORBIDDEN": Reason(
        StoreUnavailable,
        "The store does not allow a command to the server. Its operator has to grant the rights "
        "that docs/redis.md lists.",
        retryable=True,
    ),
    "STORE_FULL": Reason(
        StoreUnavailable,
        "The store accepts no writes. Its operator has to free space; reads work.",
        retryable=True,
    ),
    "STORE_NEARLY_FULL": Reason(
        QuotaExceeded,
        "The store's memory is short: it takes labels, but no new datasets, sessions or models. "
        "Delete what is not needed, or let its operator raise maxmemory.",
        ("limit", "used"),
        retryable=True,
    ),
    "STORE_UNAVAILABLE": Reason(
        StoreUnavailable, "The store cannot be reached. Try again.", retryable=True
    ),
    "TOO_MANY_CORRECTIONS": Reason(
        TooLarge,
        "The labeler has changed its vote on the observation too often.",
        ("session", "labeler", "row", "most"),
    ),
    "TOO_MANY_EVENTS": Reason(
        QuotaExceeded,
        "Labelers have changed their votes on the observation as often as the server allows.",
        ("session", "row", "limit", "used"),
    ),
    "TOO_MANY_STREAMS": Reason(
        QuotaExceeded,
        "The client has as many streams open at this server as one may have. End one, or wait.",
        ("limit", "used", "client"),
        retryable=True,
    ),
    "TOO_MANY_UPLOADS": Reason(
        QuotaExceeded,
        "The client has as many uploads open at this server as one may have. Wait until one ends.",
        ("limit", "used", "client"),
        retryable=True,
    ),
    "UNDECODABLE_MESSAGE": Reason(
        InvalidInput,
        "The bytes are not a message of the request's type. Generate the client's code anew.",
        ("method", "size"),
    ),
    "UNKNOWN_LABELER": Reason(
        NotFound, "The labeler has done nothing in the session.", ("session", "labeler")
    ),
    "UNKNOWN_OBSERVATION": Reason(
        InvalidInput, "The dataset has no observation with this id.", ("field", "observation")
    ),
    "UNKNOWN_QUERY": Reason(NotFound, "The session has no such query.", ("session", "query")),
    "UPLOAD_GAP": Reason(
        InvalidInput,
        "first_row is beyond the next row. Ask GetUpload how far the upload has come.",
        ("first_row", "next_row"),
    ),
    "UPLOAD_ID_REUSED": Reason(
        InvalidInput,
        "The upload began with another header. Send the same one, or use a new id.",
        ("upload",),
    ),
    "UPLOAD_NOT_FOUND": Reason(
        NotFound, "The upload never began, or is too old. Begin again with row 0.", ("upload",)
    ),
    "UPLOAD_TAKEN_OVER": Reason(
        Conflict, "A stream that was opened later has the upload.", ("upload",)
    ),
    "UPLOAD_TIMEOUT": Reason(
        Silent, "The next part of the upload did not come in time.", ("waited_s",)
    ),
}


def code(reason: str) -> grpc.StatusCode:
    """The code of a reason. Raises KeyError for one that is not in the table."""
    return code_of_kind(reason, REASONS[reason].kind)
