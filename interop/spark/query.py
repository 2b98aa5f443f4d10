"""Runs the queries on standard input, parted by NUL, by Spark in this process,
and prints the rows of each as a line of JSON."""

import json
import os
import sys

from pyspark.sql import SparkSession

spark = (
    SparkSession.builder.master("local[2]")
    .config("spark.ui.enabled", "false")
    .config("spark.driver.host", "127.0.0.1")
    .config("spark.driver.bindAddress", "127.0.0.1")
    .config("spark.sql.shuffle.partitions", os.environ.get("SHUFFLE_PARTITIONS", "2"))
    .getOrCreate()
)
for query in sys.stdin.read().split("\0"):
    rows = spark.sql(query).collect()
    print(json.dumps([row.asDict() for row in rows], default=float))
# The JVM is waited for, so that what it took is counted as this process's own.
gateway = spark.sparkContext._gateway
spark.stop()
gateway.shutdown()
gateway.proc.stdin.close()
gateway.proc.wait()
