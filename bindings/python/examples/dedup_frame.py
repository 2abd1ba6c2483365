"""Deduplicates a pandas frame by a column, chunk by chunk, in a few bits per row.

python3 dedup_frame.py
"""

import pandas as pd

import perhaps


def chunks():
    """Visits, as read_csv(..., chunksize=...) would give them."""
    for day in range(4):
        users = [f"user {i}" for i in range(day * 500, day * 500 + 1000)]
        yield pd.DataFrame({"user": users, "day": day})


seen = perhaps.Filter(items=10_000, fpr=1e-6)
first_visits = []
for chunk in chunks():
    new = seen.add_many(chunk["user"], answers=True)
    first_visits.append(chunk[new])
visits = pd.concat(first_visits)
print(f"{len(visits)} users; new on each day: {visits.groupby('day').size().tolist()}")
