"""Tune on a CSV file with a rule for an oracle.

Run it with: python quickstart.py HOST:PORT ROWS.csv SEED

It prints one JSON line: gamma, C, and how far outside the first three rows are.
"""

import csv
import json
import sys
from pathlib import Path

from svddtune.client import TuningClient

address, rows_file, seed = sys.argv[1:]
with Path(rows_file).open(newline="") as file:
    (_, *names), *table = csv.reader(file)
ids = [row[0] for row in table]
rows = [[float(value) for value in row[1:]] for row in table]

with TuningClient(address) as client:
    dataset = client.upload_dataset(rows, observation_ids=ids, feature_names=names)
    session = client.create_session(dataset, budget=20, seed=int(seed))
    with client.tuning(session, labeler="quickstart") as tuning:
        for answered, query in enumerate(tuning.queries(), start=1):
            value = dict(zip(names, query.features, strict=True))
            outlier = value["latency_ms"] > 300 or value["errors"] > 5
            tuning.answer(query, "outlier" if outlier else "inlier")
            print(f"answered {answered}", file=sys.stderr, flush=True)
    client.wait_until_completed(session)
    result = client.result(session)
    scores = client.score(result, rows[:3]).distance
print(json.dumps({"gamma": result.gamma, "c": result.C, "scores": list(scores)}))
