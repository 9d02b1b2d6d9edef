"""What each call needs: its permission, and the fields that name things of a project.

A call that is not in ``RULES`` is refused to everybody; a test holds the table against the protos.
"""

from dataclasses import dataclass

from svddtune.service.access.caller import Permission


@dataclass(frozen=True, slots=True)
class Rule:
    """What one call needs."""

    # None for a call that is open to everybody.
    permission: Permission | None
    # Paths of fields that name a session, a result, a dataset or a model. What they name must be
    # in the caller's project.
    names: tuple[str, ...] = ()
    # Path of the field with the labeler's name, which must be the caller's.
    labeler: str = ""
    # Whether a call that is no stream may wait long for something to happen.
    waits: bool = False


RULES: dict[str, Rule] = {
    "svddtune.v1.ServerService.GetServerInfo": Rule(None),
    "svddtune.v1.ServerService.GetLoad": Rule(Permission.READ),
    "svddtune.v1.DatasetService.UploadDataset": Rule(Permission.TUNE),
    "svddtune.v1.DatasetService.GetUpload": Rule(Permission.TUNE),
    # (Labelers need the names of the features; see views.seen_dataset.)
    "svddtune.v1.DatasetService.GetDataset": Rule(Permission.SEE, ("name",)),
    "svddtune.v1.DatasetService.ListDatasets": Rule(Permission.READ),
    "svddtune.v1.DatasetService.ListObservations": Rule(Permission.READ, ("parent",)),
    "svddtune.v1.DatasetService.DeleteDataset": Rule(Permission.GOVERN, ("name",)),
    "svddtune.v1.TuningService.CreateSession": Rule(Permission.TUNE, ("dataset", "from_session")),
    "svddtune.v1.TuningService.GetSession": Rule(Permission.SEE, ("name",)),
    "svddtune.v1.TuningService.ListSessions": Rule(Permission.SEE),
    "svddtune.v1.TuningService.UpdateSession": Rule(Permission.TUNE, ("session.name",)),
    "svddtune.v1.TuningService.PauseSession": Rule(Permission.TUNE, ("name",)),
    "svddtune.v1.TuningService.ResumeSession": Rule(Permission.TUNE, ("name",)),
    "svddtune.v1.TuningService.FinishSession": Rule(Permission.TUNE, ("name",)),
    "svddtune.v1.TuningService.CancelSession": Rule(Permission.TUNE, ("name",)),
    "svddtune.v1.TuningService.DeleteSession": Rule(Permission.GOVERN, ("name",)),
    # (A watch carries the votes of all.)
    "svddtune.v1.TuningService.WatchSession": Rule(Permission.READ, ("name",)),
    "svddtune.v1.TuningService.ListLabels": Rule(Permission.READ, ("name",)),
    "svddtune.v1.TuningService.ListLabelers": Rule(Permission.READ, ("name",)),
    "svddtune.v1.TuningService.GetAgreement": Rule(Permission.READ, ("name",)),
    "svddtune.v1.TuningService.ListHistory": Rule(Permission.READ, ("name",)),
    "svddtune.v1.TuningService.GetAtlas": Rule(Permission.READ, ("name",)),
    "svddtune.v1.TuningService.GetMap": Rule(Permission.READ, ("name",)),
    "svddtune.v1.TuningService.WithdrawLabeler": Rule(Permission.GOVERN, ("name",)),
    "svddtune.v1.TuningService.ReinstateLabeler": Rule(Permission.GOVERN, ("name",)),
    "svddtune.v1.TuningService.ReopenObservation": Rule(Permission.TUNE, ("name",)),
    "svddtune.v1.TuningService.GetResult": Rule(Permission.READ, ("name",)),
    "svddtune.v1.TuningService.ListResults": Rule(Permission.READ, ("parent",)),
    "svddtune.v1.TuningService.ExportModel": Rule(Permission.READ, ("name",)),
    # (What further messages of the stream name is checked where they are applied.)
    "svddtune.v1.OracleService.Converse": Rule(
        Permission.LABEL, ("hello.sessions",), "hello.labeler"
    ),
    "svddtune.v1.OracleService.Lease": Rule(Permission.LABEL, ("session",), "labeler", waits=True),
    "svddtune.v1.OracleService.Answer": Rule(Permission.LABEL, ("answer.session",), "labeler"),
    "svddtune.v1.OracleService.AnswerBatch": Rule(Permission.LABEL, ("session",), "labeler"),
    "svddtune.v1.OracleService.Extend": Rule(Permission.LABEL, ("extend.session",), "labeler"),
    "svddtune.v1.OracleService.Release": Rule(Permission.LABEL, ("release.session",), "labeler"),
    "svddtune.v1.OracleService.Skip": Rule(Permission.LABEL, ("skip.session",), "labeler"),
    "svddtune.v1.OracleService.Retract": Rule(Permission.LABEL, ("retract.session",), "labeler"),
    "svddtune.v1.OracleService.GetProfile": Rule(Permission.LABEL, ("session",), "labeler"),
    "svddtune.v1.ScoringService.Score": Rule(Permission.READ, ("model",)),
    "svddtune.v1.ScoringService.ScoreStream": Rule(Permission.READ, ("header.model",)),
    "svddtune.v1.ScoringService.UploadModel": Rule(Permission.TUNE),
    "svddtune.v1.ScoringService.GetModel": Rule(Permission.READ, ("name",)),
    "svddtune.v1.ScoringService.DownloadModel": Rule(Permission.READ, ("name",)),
    "svddtune.v1.ScoringService.DeleteModel": Rule(Permission.GOVERN, ("name",)),
}
