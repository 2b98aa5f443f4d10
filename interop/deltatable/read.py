"""Reads a Delta table with delta-rs and with DuckDB, and prints what each saw.

Usage: read.py TABLE_FOLDER. Prints one JSON object per engine: the number of
rows, the SHA-256 over the sorted payloads, and from delta-rs the version.
"""

import hashlib
import json
import pathlib
import sys

import deltalake
import duckdb
import duckdb_ext


def digest(values):
    h = hashlib.sha256()
    for v in sorted(values):
        h.update(len(v).to_bytes(8, "big"))
        h.update(v)
    return h.hexdigest()


def main(path):
    table = deltalake.DeltaTable(path)
    rows = table.to_pyarrow_table()["data"].to_pylist()
    print(json.dumps({"engine": "delta-rs", "rows": len(rows), "digest": digest(rows), "version": table.version()}))

    db = duckdb.connect()
    (extension,) = (e for root in duckdb_ext.__path__ for e in pathlib.Path(root).rglob("delta.duckdb_extension"))
    db.execute(f"LOAD '{extension}'")
    rows = [bytes(r[0]) for r in db.execute("SELECT data FROM delta_scan(?)", [path]).fetchall()]
    print(json.dumps({"engine": "duckdb", "rows": len(rows), "digest": digest(rows)}))


main(sys.argv[1])
