package logwriter

import (
	"github.com/parquet-go/parquet-go"

	"queuebench/rawlog"
)

// column turns one field of many rows into Parquet values.
type column[T any] struct {
	name string
	fill func(dst []parquet.Value, rows []T, index int)
}

// A required value needs no level, and Level costs more than all the rest.
func int64s[T any](name string, get func(*T) int64) column[T] {
	return column[T]{name, func(dst []parquet.Value, rows []T, _ int) {
		for i := range rows {
			dst[i] = parquet.Int64Value(get(&rows[i]))
		}
	}}
}

func int32s[T any](name string, get func(*T) int32) column[T] {
	return column[T]{name, func(dst []parquet.Value, rows []T, _ int) {
		for i := range rows {
			dst[i] = parquet.Int32Value(get(&rows[i]))
		}
	}}
}

// optionals is for a column that may be null. Neighbours are often equal (one
// commit acknowledges many messages), and then share a value.
func optionals[T any, V comparable](name string, null V, get func(*T) V, value func(V) parquet.Value) column[T] {
	return column[T]{name, func(dst []parquet.Value, rows []T, index int) {
		of := func(v V) parquet.Value {
			if v == null {
				return parquet.NullValue().Level(0, 0, index)
			}
			return value(v).Level(0, 1, index)
		}
		last := null
		same := of(last)
		for i := range rows {
			if v := get(&rows[i]); v != last {
				last, same = v, of(v)
			}
			dst[i] = same
		}
	}}
}

func optionalInt64s[T any](name string, null int64, get func(*T) int64) column[T] {
	return optionals(name, null, get, parquet.Int64Value)
}

func optionalInt32s[T any](name string, null int32, get func(*T) int32) column[T] {
	return optionals(name, null, get, parquet.Int32Value)
}

func optionalTexts[T any](name string, get func(*T) string) column[T] {
	return optionals(name, "", get, textValue)
}

func textValue(s string) parquet.Value { return parquet.ByteArrayValue([]byte(s)) }

// texts is for a string that may not be null, of which neighbours are mostly
// equal.
func texts[T any](name string, get func(*T) string) column[T] {
	return column[T]{name, func(dst []parquet.Value, rows []T, _ int) {
		last := ""
		same := textValue(last)
		for i := range rows {
			if s := get(&rows[i]); s != last {
				last, same = s, textValue(s)
			}
			dst[i] = same
		}
	}}
}

// layout is how the rows of a table are written.
type layout[T any] struct {
	table     *rawlog.Table
	columns   []column[T]
	chunkRows int // rows handed over at a time
	groupRows int // rows of a row group
}

const (
	// A chunk of the two large tables is 0.6 MB; those of the small ones are
	// filled at some rows a second.
	largeChunk, smallChunk = 8192, 64
	// A row group of the large tables is what dependencies were measured with.
	largeGroup, smallGroup = 65536, 4096
)

type (
	sentRow     = rawlog.SentRow
	receivedRow = rawlog.ReceivedRow
	secondRow   = rawlog.SecondRow
	batchRow    = rawlog.BatchRow
	eventRow    = rawlog.EventRow
)

func sentLayout() layout[sentRow] {
	return layout[sentRow]{&rawlog.Sent, []column[sentRow]{
		int32s("producer", func(r *sentRow) int32 { return r.Producer }),
		int64s("seq", func(r *sentRow) int64 { return r.Seq }),
		int64s("intended_ns", func(r *sentRow) int64 { return r.IntendedNs }),
		optionalInt64s("sent_ns", 0, func(r *sentRow) int64 { return r.SentNs }),
		optionalInt64s("acked_ns", 0, func(r *sentRow) int64 { return r.AckedNs }),
		texts("status", func(r *sentRow) string { return r.Status.String() }),
		int64s("blocked_ns", func(r *sentRow) int64 { return r.BlockedNs }),
		optionalInt32s("partition", -1, func(r *sentRow) int32 { return r.Partition }),
		optionalInt64s("offset", -1, func(r *sentRow) int64 { return r.Offset }),
	}, largeChunk, largeGroup}
}

func receivedLayout() layout[receivedRow] {
	return layout[receivedRow]{&rawlog.Received, []column[receivedRow]{
		int32s("consumer", func(r *receivedRow) int32 { return r.Consumer }),
		texts("group", func(r *receivedRow) string { return r.Group }),
		int32s("producer", func(r *receivedRow) int32 { return r.Producer }),
		int64s("seq", func(r *receivedRow) int64 { return r.Seq }),
		int64s("received_ns", func(r *receivedRow) int64 { return r.ReceivedNs }),
		optionalInt64s("broker_ns", 0, func(r *receivedRow) int64 { return r.BrokerNs }),
		optionalTexts("broker_kind", func(r *receivedRow) string { return r.BrokerKind }),
		optionalInt32s("partition", -1, func(r *receivedRow) int32 { return r.Partition }),
		optionalInt64s("offset", -1, func(r *receivedRow) int64 { return r.Offset }),
	}, largeChunk, largeGroup}
}

func secondsLayout() layout[secondRow] {
	type row = secondRow
	count := func(name string, get func(*row) int64) column[row] { return optionalInt64s(name, rawlog.Null, get) }
	return layout[row]{&rawlog.Seconds, []column[row]{
		texts("actor", func(r *row) string { return r.Actor }),
		int64s("time_ns", func(r *row) int64 { return r.TimeNs }),
		count("scheduled", func(r *row) int64 { return r.Scheduled }),
		count("attempted", func(r *row) int64 { return r.Attempted }),
		count("acked", func(r *row) int64 { return r.Acked }),
		count("failed", func(r *row) int64 { return r.Failed }),
		count("received", func(r *row) int64 { return r.Received }),
		count("schedule_lag_ns", func(r *row) int64 { return r.ScheduleLagNs }),
		count("backlog", func(r *row) int64 { return r.Backlog }),
		count("in_flight", func(r *row) int64 { return r.InFlight }),
		count("queue_depth", func(r *row) int64 { return r.QueueDepth }),
		count("cpu_ns", func(r *row) int64 { return r.CPUNs }),
		count("steal_ns", func(r *row) int64 { return r.StealNs }),
		count("memory_bytes", func(r *row) int64 { return r.MemoryBytes }),
		count("gc_pause_ns", func(r *row) int64 { return r.GCPauseNs }),
		count("network_in_bytes", func(r *row) int64 { return r.NetworkInBytes }),
		count("network_out_bytes", func(r *row) int64 { return r.NetworkOutBytes }),
		count("disk_read_bytes", func(r *row) int64 { return r.DiskReadBytes }),
		count("disk_written_bytes", func(r *row) int64 { return r.DiskWrittenBytes }),
		count("disk_used_bytes", func(r *row) int64 { return r.DiskUsedBytes }),
		count("connections", func(r *row) int64 { return r.Connections }),
		count("requests_put", func(r *row) int64 { return r.RequestsPut }),
		count("requests_put_if_absent", func(r *row) int64 { return r.RequestsPutIfAbsent }),
		count("requests_get", func(r *row) int64 { return r.RequestsGet }),
		count("requests_miss", func(r *row) int64 { return r.RequestsMiss }),
		count("requests_list", func(r *row) int64 { return r.RequestsList }),
		count("requests_head", func(r *row) int64 { return r.RequestsHead }),
		count("requests_delete", func(r *row) int64 { return r.RequestsDelete }),
		count("requests_failed", func(r *row) int64 { return r.RequestsFailed }),
	}, smallChunk, smallGroup}
}

func batchesLayout() layout[batchRow] {
	type row = batchRow
	stage := func(name string, get func(*row) int64) column[row] { return optionalInt64s(name, rawlog.Null, get) }
	return layout[row]{&rawlog.Batches, []column[row]{
		texts("actor", func(r *row) string { return r.Actor }),
		int64s("time_ns", func(r *row) int64 { return r.TimeNs }),
		optionalInt32s("partition", -1, func(r *row) int32 { return r.Partition }),
		optionalInt64s("offset", -1, func(r *row) int64 { return r.Offset }),
		int64s("messages", func(r *row) int64 { return r.Messages }),
		int64s("bytes", func(r *row) int64 { return r.Bytes }),
		int64s("tries", func(r *row) int64 { return r.Tries }),
		stage("wait_ns", func(r *row) int64 { return r.WaitNs }),
		stage("encode_ns", func(r *row) int64 { return r.EncodeNs }),
		stage("data_put_ns", func(r *row) int64 { return r.DataPutNs }),
		stage("commit_put_ns", func(r *row) int64 { return r.CommitPutNs }),
		stage("discover_ns", func(r *row) int64 { return r.DiscoverNs }),
		stage("commit_get_ns", func(r *row) int64 { return r.CommitGetNs }),
		stage("data_get_ns", func(r *row) int64 { return r.DataGetNs }),
		stage("decode_ns", func(r *row) int64 { return r.DecodeNs }),
		stage("deliver_ns", func(r *row) int64 { return r.DeliverNs }),
	}, smallChunk, smallGroup}
}

func eventsLayout() layout[eventRow] {
	type row = eventRow
	return layout[row]{&rawlog.Events, []column[row]{
		int64s("time_ns", func(r *row) int64 { return r.TimeNs }),
		texts("actor", func(r *row) string { return r.Actor }),
		texts("kind", func(r *row) string { return r.Kind }),
		texts("text", func(r *row) string { return r.Text }),
		optionalInt64s("duration_ns", rawlog.Null, func(r *row) int64 { return r.DurationNs }),
	}, smallChunk, smallGroup}
}
