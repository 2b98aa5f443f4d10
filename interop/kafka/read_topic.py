"""Prints each message of a topic as a line of JSON, as librdkafka reads it."""

import json
import sys

from confluent_kafka import OFFSET_BEGINNING, TIMESTAMP_CREATE_TIME, TIMESTAMP_LOG_APPEND_TIME, Consumer, TopicPartition

servers, topic = sys.argv[1:]
consumer = Consumer({
    "bootstrap.servers": servers, "group.id": "reads-without-a-group", "enable.auto.commit": False,
    "enable.partition.eof": False, "isolation.level": "read_committed", "check.crcs": True,
})
partitions = list(consumer.list_topics(topic, 30).topics[topic].partitions)
ends = {p: consumer.get_watermark_offsets(TopicPartition(topic, p), 30)[1] for p in partitions}
consumer.assign([TopicPartition(topic, p, OFFSET_BEGINNING) for p in partitions if ends[p] > 0])
left = {p for p in partitions if ends[p] > 0}
while left:
    message = consumer.poll(30)
    if message is None:
        sys.exit(f"nothing came for 30 s; partitions {left} have more")
    if message.error():
        sys.exit(str(message.error()))
    kind, ms = message.timestamp()
    print(json.dumps({
        "partition": message.partition(), "offset": message.offset(), "ms": ms,
        "stamp": {TIMESTAMP_CREATE_TIME: "create", TIMESTAMP_LOG_APPEND_TIME: "append"}.get(kind, "none"),
        "key": (message.key() or b"").decode(), "value": (message.value() or b"").hex(),
        "headers": [[name, (value or b"").decode()] for name, value in message.headers() or []],
    }))
    if message.offset() + 1 >= ends[message.partition()]:
        left.discard(message.partition())
consumer.close()
