package logwriter

import "queuebench/rawlog"

type (
	secondRow = rawlog.SecondRow
	batchRow  = rawlog.BatchRow
	eventRow  = rawlog.EventRow
)

// The small tables have some rows a second at most, and are written down
// shortly: a call for each value.

// field adds the next column of numbers.
func (l *layout[T]) field(null int64, get func(*T) int64) {
	l.add(null, func(dst []int64, rows []T) {
		for i := range dst {
			dst[i] = get(&rows[i])
		}
	})
}

// text adds the next column of strings.
func (l *layout[T]) text(get func(*T) string) {
	l.addTexts(func(rows []T) (string, int) { return get(&rows[0]), 1 })
}

func secondsLayout() layout[secondRow] {
	l := layout[secondRow]{table: &rawlog.Seconds, chunkRows: smallChunk, groupRows: smallGroup}
	l.text(func(r *secondRow) string { return r.Actor })
	for _, get := range []func(*secondRow) int64{
		func(r *secondRow) int64 { return r.TimeNs },
		func(r *secondRow) int64 { return r.Scheduled },
		func(r *secondRow) int64 { return r.Attempted },
		func(r *secondRow) int64 { return r.Acked },
		func(r *secondRow) int64 { return r.Failed },
		func(r *secondRow) int64 { return r.Received },
		func(r *secondRow) int64 { return r.ScheduleLagNs },
		func(r *secondRow) int64 { return r.Backlog },
		func(r *secondRow) int64 { return r.InFlight },
		func(r *secondRow) int64 { return r.QueueDepth },
		func(r *secondRow) int64 { return r.CPUNs },
		func(r *secondRow) int64 { return r.StealNs },
		func(r *secondRow) int64 { return r.MemoryBytes },
		func(r *secondRow) int64 { return r.GCPauseNs },
		func(r *secondRow) int64 { return r.NetworkInBytes },
		func(r *secondRow) int64 { return r.NetworkOutBytes },
		func(r *secondRow) int64 { return r.DiskReadBytes },
		func(r *secondRow) int64 { return r.DiskWrittenBytes },
		func(r *secondRow) int64 { return r.DiskUsedBytes },
		func(r *secondRow) int64 { return r.Connections },
		func(r *secondRow) int64 { return r.RequestsPut },
		func(r *secondRow) int64 { return r.RequestsPutIfAbsent },
		func(r *secondRow) int64 { return r.RequestsGet },
		func(r *secondRow) int64 { return r.RequestsMiss },
		func(r *secondRow) int64 { return r.RequestsList },
		func(r *secondRow) int64 { return r.RequestsHead },
		func(r *secondRow) int64 { return r.RequestsDelete },
		func(r *secondRow) int64 { return r.RequestsFailed },
	} {
		l.field(rawlog.Null, get)
	}
	return l
}

func batchesLayout() layout[batchRow] {
	l := layout[batchRow]{table: &rawlog.Batches, chunkRows: smallChunk, groupRows: smallGroup}
	l.text(func(r *batchRow) string { return r.Actor })
	l.field(0, func(r *batchRow) int64 { return r.TimeNs })
	l.field(-1, func(r *batchRow) int64 { return int64(r.Partition) })
	l.field(-1, func(r *batchRow) int64 { return r.Offset })
	for _, get := range []func(*batchRow) int64{
		func(r *batchRow) int64 { return r.Messages },
		func(r *batchRow) int64 { return r.Bytes },
		func(r *batchRow) int64 { return r.Tries },
		func(r *batchRow) int64 { return r.WaitNs },
		func(r *batchRow) int64 { return r.EncodeNs },
		func(r *batchRow) int64 { return r.DataPutNs },
		func(r *batchRow) int64 { return r.CommitPutNs },
		func(r *batchRow) int64 { return r.DiscoverNs },
		func(r *batchRow) int64 { return r.CommitGetNs },
		func(r *batchRow) int64 { return r.DataGetNs },
		func(r *batchRow) int64 { return r.DecodeNs },
		func(r *batchRow) int64 { return r.DeliverNs },
	} {
		l.field(rawlog.Null, get)
	}
	return l
}

// eventsLayout has strike, which may be nil, take secrets out of the texts.
func eventsLayout(strike func(string) string) layout[eventRow] {
	l := layout[eventRow]{table: &rawlog.Events, chunkRows: smallChunk, groupRows: smallGroup}
	l.field(0, func(r *eventRow) int64 { return r.TimeNs })
	l.text(func(r *eventRow) string { return r.Actor })
	l.text(func(r *eventRow) string { return r.Kind })
	l.text(func(r *eventRow) string {
		if strike == nil {
			return r.Text
		}
		return strike(r.Text)
	})
	l.field(rawlog.Null, func(r *eventRow) int64 { return r.DurationNs })
	return l
}
