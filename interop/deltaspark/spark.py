"""Reads and writes Delta tables with Spark.

Usage: spark.py read TABLE_FOLDER, which prints as JSON the version that Spark
sees, the number of rows and the SHA-256 over the sorted payloads of the column
data; or spark.py write TABLE_FOLDER, which makes a table of the columns data
(string), at (timestamp) and n (long), of the feature v2Checkpoint, appends to
it, checkpoints it, appends again, compacts it and appends once more: the
payloads are "0" to "59".
"""

import hashlib
import json
import sys
import warnings

from delta import DeltaTable, configure_spark_with_delta_pip
from pyspark.sql import SparkSession, functions

warnings.filterwarnings("ignore")
what, path = sys.argv[1:]
spark = configure_spark_with_delta_pip(
    SparkSession.builder.appName("queuebench")
    .master("local[1]")
    .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
    .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
    .config("spark.ui.enabled", "false")
    .config("spark.driver.host", "127.0.0.1")
    .config("spark.driver.bindAddress", "127.0.0.1")
    .config("spark.sql.shuffle.partitions", "1")
    .config("spark.databricks.delta.snapshotPartitions", "1")
).getOrCreate()
spark.sparkContext.setLogLevel("ERROR")


def append(first, end):
    rows = spark.range(first, end).select(
        functions.col("id").cast("string").alias("data"),
        functions.current_timestamp().alias("at"),
        functions.col("id").alias("n"),
    )
    rows.coalesce(1).write.format("delta").mode("append").save(path)


if what == "read":
    values = [bytes(r[0]) for r in spark.read.format("delta").load(path).select("data").collect()]
    h = hashlib.sha256()
    for v in sorted(values):
        h.update(len(v).to_bytes(8, "big"))
        h.update(v)
    version = DeltaTable.forPath(spark, path).history(1).collect()[0]["version"]
    print(json.dumps({"rows": len(values), "digest": h.hexdigest(), "version": version}))
else:
    (
        DeltaTable.create(spark)
        .location(path)
        .addColumn("data", "STRING")
        .addColumn("at", "TIMESTAMP")
        .addColumn("n", "BIGINT")
        .property("delta.checkpointPolicy", "v2")
        .property("delta.checkpointInterval", "3")
        .property("delta.enableDeletionVectors", "false")
        .execute()
    )
    for i in range(5):
        append(10 * i, 10 * i + 10)
    DeltaTable.forPath(spark, path).optimize().executeCompaction()
    append(50, 60)
    print(json.dumps({"version": DeltaTable.forPath(spark, path).history(1).collect()[0]["version"]}))
spark.stop()
