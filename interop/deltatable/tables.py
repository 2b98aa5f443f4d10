"""Prints what delta-rs and DuckDB see of a table: versions, txns, rows.

Usage: tables.py state TABLE_FOLDER, or tables.py rewrite TABLE_FOLDER, which
checkpoints the table, compacts it, and appends the payloads "after/0" to
"after/9" behind that, with delta-rs.
"""

import json
import pathlib
import sys

import deltalake
import duckdb
import duckdb_ext
import pyarrow as pa

what, path, *apps = sys.argv[1:]
table = deltalake.DeltaTable(path)
if what == "state":
    db = duckdb.connect()
    (extension,) = (e for root in duckdb_ext.__path__ for e in pathlib.Path(root).rglob("delta.duckdb_extension"))
    db.execute(f"LOAD '{extension}'")
    (rows,) = db.execute("SELECT count(*) FROM delta_scan(?)", [path]).fetchone()
    print(json.dumps({
        "version": table.version(),
        "rows": table.to_pyarrow_table().num_rows,
        "duckdb_rows": rows,
        "txns": {app: table.transaction_version(app) for app in apps},
    }))
else:
    table.create_checkpoint()
    metrics = table.optimize.compact()
    schema = pa.schema([pa.field("data", pa.binary(), nullable=False)])
    deltalake.write_deltalake(path, pa.table({"data": [f"after/{i}".encode() for i in range(10)]}, schema=schema), mode="append")
    print(json.dumps({"removed": metrics["numFilesRemoved"]}))
