"""Appends to a Delta table with delta-rs: write.py TABLE_FOLDER COMMITS ROWS.

Each commit has ROWS payloads "commit/row" in a binary column named data.
"""

import sys

import deltalake
import pyarrow as pa

path, commits, rows = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
schema = pa.schema([pa.field("data", pa.binary(), nullable=False)])
for commit in range(commits):
    batch = pa.table({"data": [f"{commit}/{row}".encode() for row in range(rows)]}, schema=schema)
    deltalake.write_deltalake(path, batch, mode="append")
