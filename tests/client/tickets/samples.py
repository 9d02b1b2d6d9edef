"""Exports in the form the products document, and what they say about observations."""

from typing import Any

from svddtune.client.types import Verdict

INLIER, OUTLIER = Verdict.INLIER, Verdict.OUTLIER
Sample = tuple[dict[str, Any], list[dict[str, Any]], dict[str, Verdict], dict[str, int]]


def _hive(key: str, status: str, stage: str = "Closed") -> dict[str, Any]:
    return {
        "_id": key,
        "_type": "Case",
        "number": 7,
        "status": status,
        "stage": stage,
        "startDate": 1700000000000,
        "_updatedAt": 1700000600000,
        "customFields": [{"name": "row", "type": "string", "value": f"row-{key}"}],
    }


def _hive4(key: str, status: str, resolution: str | None) -> dict[str, Any]:
    case = {"_id": key, "status": status, "startDate": 1700000000000, "tags": [f"row-{key}"]}
    return case | ({"resolutionStatus": resolution} if resolution else {})


def _sentinel(number: int, kind: str, reason: str = "", status: str = "Closed") -> dict[str, Any]:
    return {
        "IncidentNumber": number,
        "IncidentName": f"row-{number}",
        "Status": status,
        "Classification": kind,
        "ClassificationReason": reason,
        "FirstActivityTime": "2024-05-01T10:00:00.0000000Z",
        "LastModifiedTime": "2024-05-01T12:00:00.1234567Z",
        "AlertIds": [f"alert-{number}"],
    }


def _sentinel_api(number: int, kind: str) -> dict[str, Any]:
    return {
        "id": f"/subscriptions/s/incidents/{number}",
        "name": f"row-{number}",
        "properties": {
            "incidentNumber": number,
            "status": "Closed",
            "classification": kind,
            "classificationReason": "SuspiciousActivity",
            "lastModifiedTimeUtc": "2024-05-01T12:00:00Z",
            "firstActivityTimeUtc": "2024-05-01T10:00:00Z",
        },
    }


def _finding(key: str, state: str, workflow: str = "RESOLVED") -> dict[str, Any]:
    return {
        "SchemaVersion": "2018-10-08",
        "Id": key,
        "VerificationState": state,
        "Workflow": {"Status": workflow},
        "FirstObservedAt": "2024-05-01T10:00:00.000Z",
        "UpdatedAt": "2024-05-01T12:00:00.000Z",
    }


def _alert(key: str, verdict: str | None, status: str = "CLOSED") -> dict[str, Any]:
    feedback = {"status": status, "severityDisplay": "High"}
    return {
        "id": key,
        "type": "RULE_DETECTION",
        "createdTime": "2025-03-09T15:26:10.248291Z",
        "feedbackSummary": feedback | ({"verdict": verdict} if verdict else {}),
    }


def _notable(key: str, disposition: int | str, status: str = "5") -> dict[str, Any]:
    return {
        "event_id": key,
        "rule_title": "Suspicious Login Activity",
        "status": status,
        "disposition": f"disposition:{disposition}",
        "_time": "2024-05-01T10:00:00.000+02:00",
    }


def _signal(key: str, reason: str, state: str = "archived") -> dict[str, Any]:
    attributes = {
        "archive_reason": reason,
        "state": state,
        "state_update_timestamp": 1700000000000,
    }
    return {"id": key, "type": "signal_metadata", "attributes": attributes}


def _detection(key: str, reason: str | None, status: str = "closed") -> dict[str, Any]:
    alert = {
        "kibana.alert.uuid": key,
        "kibana.alert.workflow_status": status,
        "kibana.alert.workflow_status_updated_at": "2025-10-01T12:00:00.000Z",
        "kibana.alert.original_time": "2025-10-01T10:00:00.000Z",
    }
    return alert | ({"kibana.alert.workflow_reason": reason} if reason else {})


def _incident(key: str, verdict: int, status: int = 5) -> dict[str, Any]:
    return {
        "class_uid": 2005,
        "activity_id": 3,
        "metadata": {"uid": key, "version": "1.5.0"},
        "finding_info_list": [{"uid": f"row-{key}"}],
        "verdict_id": verdict,
        "status_id": status,
        "start_time": 1700000000000,
        "time": 1700000600000,
    }


def _servicenow(key: str, code: str, state: str = "Closed") -> dict[str, Any]:
    return {
        "number": key,
        "correlation_id": f"row-{key}",
        "close_code": code,
        "state": state,
        "opened_at": "2024-05-01 10:00:00",
        "sys_updated_on": "2024-05-01 12:00:00",
    }


def _issue(key: str, resolution: str | None, category: str = "done") -> dict[str, Any]:
    return {
        "key": key,
        "fields": {
            "resolution": {"name": resolution} if resolution else None,
            "status": {"name": "Closed", "statusCategory": {"key": category}},
            "created": "2024-01-15T10:30:00.000+0000",
            "updated": "2024-01-16T10:30:00.000+0000",
            "customfield_10042": f"row-{key}",
        },
    }


SAMPLES: dict[str, Sample] = {
    "thehive": (
        {"observation_id": "customFields.0.value"},
        [
            _hive("~1", "TruePositive"),
            _hive("~2", "FalsePositive"),
            _hive("~3", "Indeterminate"),
            _hive("~4", "Duplicated"),
            _hive("~5", "TruePositive", "InProgress"),
            _hive("~6", "Escalated"),
        ],
        {"row-~1": OUTLIER, "row-~2": INLIER},
        {"Escalated": 1},
    ),
    "thehive4": (
        {"observation_id": "tags"},
        [
            _hive4("1", "Resolved", "TruePositive"),
            _hive4("2", "Resolved", "FalsePositive"),
            _hive4("3", "Resolved", "Other"),
            _hive4("4", "Open", None),
            _hive4("5", "Resolved", None),
        ],
        {"row-1": OUTLIER, "row-2": INLIER},
        {},
    ),
    "microsoft-sentinel": (
        {"observation_id": "IncidentName"},
        [
            _sentinel(1, "TruePositive", "SuspiciousActivity"),
            _sentinel(2, "FalsePositive", "IncorrectAlertLogic"),
            _sentinel(3, "FalsePositive", "InaccurateData"),
            _sentinel(4, "BenignPositive", "SuspiciousButExpected"),
            _sentinel(5, "Undetermined"),
            _sentinel(6, "TruePositive", "SuspiciousActivity", status="Active"),
            _sentinel(7, ""),
        ],
        {"row-1": OUTLIER, "row-2": INLIER},
        {},
    ),
    "microsoft-sentinel-api": (
        {"observation_id": "name"},
        [_sentinel_api(1, "TruePositive"), _sentinel_api(2, "BenignPositive")],
        {"row-1": OUTLIER},
        {},
    ),
    "aws-security-hub": (
        {},
        [
            _finding("f1", "TRUE_POSITIVE"),
            _finding("f2", "FALSE_POSITIVE", "SUPPRESSED"),
            _finding("f3", "BENIGN_POSITIVE"),
            _finding("f4", "UNKNOWN"),
            _finding("f5", "TRUE_POSITIVE", "NEW"),
        ],
        {"f1": OUTLIER, "f2": INLIER},
        {},
    ),
    "google-secops": (
        {},
        [
            _alert("de_1", "TRUE_POSITIVE"),
            _alert("de_2", "FALSE_POSITIVE"),
            _alert("de_3", "VERDICT_UNSPECIFIED"),
            _alert("de_4", None),
            _alert("de_5", "TRUE_POSITIVE", "OPEN"),
        ],
        {"de_1": OUTLIER, "de_2": INLIER},
        {},
    ),
    "splunk-es": (
        {},
        [*(_notable(f"n{i}", i) for i in range(7)), _notable("n7", 7), _notable("n8", 1, "1")],
        {"n1": OUTLIER, "n3": INLIER},
        {"disposition:7": 1},
    ),
    "datadog": (
        {},
        [
            _signal("s1", "true_positive_malicious"),
            _signal("s2", "false_positive"),
            _signal("s3", "true_positive_benign"),
            _signal("s4", "testing_or_maintenance"),
            _signal("s5", "none"),
            _signal("s6", "false_positive", "open"),
        ],
        {"s1": OUTLIER, "s2": INLIER},
        {},
    ),
    "elastic": (
        {},
        [
            _detection("e1", "true_positive"),
            _detection("e2", "false_positive"),
            _detection("e3", "benign_positive"),
            _detection("e4", "duplicate"),
            _detection("e5", None),
            _detection("e6", None, "open"),
            _detection("e7", "Scheduled maintenance"),
        ],
        {"e1": OUTLIER, "e2": INLIER},
        {"Scheduled maintenance": 1},
    ),
    "ocsf": (
        {"observation_id": "finding_info_list.0.uid"},
        [*(_incident(f"i{v}", v) for v in (*range(11), 99)), _incident("i50", 2, 2)],
        {"row-i2": OUTLIER, "row-i1": INLIER},
        {},
    ),
    "servicenow-sir": (
        {
            "time_zone": "UTC",
            "values": {"False positive": "inlier", "Threat mitigated": "outlier"},
        },
        [
            _servicenow("SIR1", "Threat mitigated"),
            _servicenow("SIR2", "False positive"),
            _servicenow("SIR3", "Investigation completed"),
            _servicenow("SIR4", "False positive", "Review"),
            _servicenow("SIR5", "Lessons learned"),
        ],
        {"row-SIR1": OUTLIER, "row-SIR2": INLIER},
        {"Lessons learned": 1},
    ),
    "jira": (
        {
            "observation_id": "fields.customfield_10042",
            "values": {"false alarm": "inlier", "Confirmed": "outlier"},
        },
        [
            _issue("SEC-1", "confirmed"),
            _issue("SEC-2", "False Alarm"),
            _issue("SEC-3", "Won't Do"),
            _issue("SEC-4", None, "new"),
            _issue("SEC-5", "Done"),
            _issue("SEC-6", "Escalated"),
        ],
        {"row-SEC-1": OUTLIER, "row-SEC-2": INLIER},
        {"Escalated": 1},
    ),
}
