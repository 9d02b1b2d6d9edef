"""Values of every kind that a person meets, from a real session with hostile names."""

from __future__ import annotations

from tests.client.scene import blob

from svddtune.client import (
    Asked,
    Timings,
    TuningClient,
    TuningResult,
    Verdict,
    drift_of,
    outside_rows,
)

HOSTILE = "\"><script>alert(1)</script><img src=x onerror='alert(2)'>&amp;\x1b]0;owned\x07\u202e\nx"
LONG = HOSTILE * 20


def shown_values(address: str) -> dict[str, object]:
    """Label a session by two labelers and return what its people look at, by name."""
    X, y = blob(7)
    with TuningClient(address) as client:
        dataset = client.upload_dataset(
            X,
            observation_ids=[f"{row}{HOSTILE}" for row in range(len(X))],
            feature_names=[HOSTILE, "b"],
            display=[{"note": LONG, HOSTILE: "v"} for _ in X],
            name=HOSTILE,
            scaling="minmax",
        )
        session = client.create_session(dataset, budget=16, overlap=2, name=HOSTILE)
        queries = []
        with (
            client.tuning(session, labeler="ann") as one,
            client.tuning(session, labeler="ben") as two,
        ):
            dialogue = one
            for number in range(28):
                tuning = (one, two)[number % 2]
                if (query := tuning.next_query(timeout_s=30)) is None:
                    break
                ack = tuning.answer(query, int(y[query.row]))
                queries.append(query)
            counted = client.get_session(session)
        labelers, agreement = client.list_labelers(session)
        effect = client.withdraw_labeler(session, labelers[0].labeler, preview=True)
        client.finish_session(session)
        done = client.wait_until_completed(session)
        result, model = client.result(session), client.model(session)
        events = list(client.labels(session))
        values: dict[str, object] = {
            "client": client,
            "dialogue": dialogue,
            "server": client.server_info(),
            "history": client.history(session),
            "scores": client.score(result, X[:5], reasons=2),
            "config": session.config,
        }
    asked = tuple(
        Asked(query.number, query.observation_id, query.row, Verdict.INLIER, query.why, query.score)
        for query in queries
    )
    tuned = TuningResult(
        result=result,
        model=model,
        dataset=dataset,
        session=done,
        initial={},
        asked=asked,
        timings=Timings(1.0, 0.1, 0.1, 0.3, 0.4, 0.1, (0.1,) * len(asked)),
        versions={"svddtune": "0"},
        outside=outside_rows(model, X, [f"{row}{HOSTILE}" for row in range(len(X))]),
    )
    return values | {
        "dataset": dataset,
        "session": counted,
        "done": done,
        "live": counted.live,
        "quality": result.quality,
        "query": queries[-1],
        "nearby": queries[-1].nearby,
        "unusual": queries[-1].unusual[0],
        "ack": ack,
        "event": events[0],
        "labeler": labelers[0],
        "agreement": agreement,
        "effect": effect,
        "result": result,
        "comparison": result.comparisons[0],
        "cell": result.c_curve[0],
        "manifest": result.manifest,
        "model": model,
        "tuned": tuned,
        "asked": tuned.asked[0],
        "timings": tuned.timings,
        "outside": tuned.outside[:1],
        "drift": drift_of(model, X + 3.0),
        "shift": drift_of(model, X + 3.0).features[0],
        "detectors": result.refined and result.refined.comparison,
    }
