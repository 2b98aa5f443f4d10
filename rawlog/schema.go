// Package rawlog is the record of a run: what tables there are, what their
// columns mean, the manifest, and a streaming reader.
//
// A log is a folder or prefix with a run.json and closed Parquet parts. Each
// part carries its identity in its own metadata, so that its path is only a
// convenience. The package reads; what writes stands in rawlog/logwriter, and
// what finds a log in a store in rawlog/logstore, so that a reader (the page
// in a browser above all) links neither Parquet's writer nor any store.
package rawlog

// SchemaVersion is the version of tables and manifest. A reader refuses another
// major version by name; a higher minor version is read.
const SchemaVersion = "queuebench.run/1"

// Type is the type of a column.
type Type int

// The types that columns have.
const (
	Int64  Type = iota // Parquet INT64, DELTA_BINARY_PACKED
	Int32              // Parquet INT32, DELTA_BINARY_PACKED
	String             // Parquet BYTE_ARRAY (UTF8), RLE_DICTIONARY
)

// Column is a column of a table.
type Column struct {
	Name     string
	Type     Type
	Optional bool   // may be null, and missing in logs that are older than it
	Doc      string // unit and meaning; docs/raw-log.md is made of these
}

// Table is a table of the raw log.
type Table struct {
	Name    string
	Doc     string
	Columns []Column
}

// Column returns the index of a column, or −1.
func (t *Table) Column(name string) int {
	for i := range t.Columns {
		if t.Columns[i].Name == name {
			return i
		}
	}
	return -1
}

// The fates of a message, values of the column status of the table sent.
const (
	StatusAcked       = "acked"       // the client heard that it is safe
	StatusFailed      = "failed"      // the client heard that it is not
	StatusUnconfirmed = "unconfirmed" // nothing was heard before the drain deadline
	StatusOverrun     = "overrun"     // its step ended before it could be sent
)

// Sent has a row per message of the schedule.
var Sent = Table{Name: "sent", Doc: "a message of the schedule, closed when its fate is known or the drain deadline passes", Columns: []Column{
	{"producer", Int32, false, "producer, from 0"},
	{"seq", Int64, false, "index in the producer's schedule, from 0"},
	{"intended_ns", Int64, false, "the schedule's time, ns since the epoch"},
	{"sent_ns", Int64, true, "handed to the client, ns since the epoch; null if overrun"},
	{"acked_ns", Int64, true, "the client heard of its fate, ns since the epoch; null if it never did"},
	{"status", String, false, "acked, failed, unconfirmed or overrun"},
	{"blocked_ns", Int64, false, "how long the client made the sender wait with this message in hand, ns"},
	{"partition", Int32, true, "partition, where the acknowledgement tells"},
	{"offset", Int64, true, "offset in the partition (Delta: version), where the acknowledgement tells"},
	{"broker_ns", Int64, true, "the broker's stamp, ns since the epoch, where the acknowledgement tells"},
	{"broker_kind", String, true, "kind of that stamp, as in received"},
}}

// Received has a row per delivery.
var Received = Table{Name: "received", Doc: "a delivery", Columns: []Column{
	{"consumer", Int32, false, "consumer, from 0"},
	{"group", String, false, "consumer group"},
	{"producer", Int32, false, "producer of the message"},
	{"seq", Int64, false, "index in the producer's schedule"},
	{"received_ns", Int64, false, "decoded and in the consumer's hands, ns since the epoch, once per fetched batch"},
	{"broker_ns", Int64, true, "the broker's stamp, ns since the epoch"},
	{"broker_kind", String, true, "kind of the broker's stamp: create, append; of a table that is tailed: column, commit"},
	{"partition", Int32, true, "partition"},
	{"offset", Int64, true, "offset in the partition (Delta: version)"},
	{"polled_ns", Int64, true, "when the poll that returned it was called, ns since the epoch; only of measured polls of a closed loop"},
}}

// Seconds has a row per second of a process. Counts are of that second, levels
// are at its end. What a system cannot tell is null.
var Seconds = Table{Name: "seconds", Doc: "a second of a process", Columns: []Column{
	{"actor", String, false, "process"},
	{"time_ns", Int64, false, "end of the second, ns since the epoch"},
	{"scheduled", Int64, true, "messages that fell due"},
	{"attempted", Int64, true, "messages handed to the client"},
	{"acked", Int64, true, "messages acknowledged"},
	{"failed", Int64, true, "messages failed"},
	{"received", Int64, true, "deliveries"},
	{"schedule_lag_ns", Int64, true, "largest sent − intended in the second, ns"},
	{"backlog", Int64, true, "acknowledged and not yet received, level"},
	{"in_flight", Int64, true, "handed to the client and not yet acknowledged, level"},
	{"queue_depth", Int64, true, "the client's own queue, level"},
	{"cpu_ns", Int64, true, "CPU time of the process, ns"},
	{"steal_ns", Int64, true, "CPU time that the hypervisor withheld from the host, ns, all CPUs"},
	{"memory_bytes", Int64, true, "resident memory of the process, level"},
	{"gc_pause_ns", Int64, true, "garbage collector's stop-the-world pauses, ns"},
	{"network_in_bytes", Int64, true, "bytes received by the host, loopback included"},
	{"network_out_bytes", Int64, true, "bytes sent by the host, loopback included"},
	{"disk_read_bytes", Int64, true, "bytes read from the host's disks"},
	{"disk_written_bytes", Int64, true, "bytes written to the host's disks"},
	{"disk_used_bytes", Int64, true, "bytes used on the file system of the spool, level"},
	{"connections", Int64, true, "open connections to the store, level"},
	{"requests_put", Int64, true, "PUT requests to the queue's store, conditional ones not counted"},
	{"requests_put_if_absent", Int64, true, "conditional PUT requests"},
	{"requests_get", Int64, true, "GET requests that found an object"},
	{"requests_miss", Int64, true, "GET requests answered 404"},
	{"requests_list", Int64, true, "LIST requests"},
	{"requests_head", Int64, true, "HEAD requests"},
	{"requests_delete", Int64, true, "DELETE requests"},
	{"requests_failed", Int64, true, "requests that got no answer, or one of 5xx or 429"},
}}

// Batches has a row per commit or fetch.
var Batches = Table{Name: "batches", Doc: "a commit or a fetch", Columns: []Column{
	{"actor", String, false, "producer-N or consumer-N"},
	{"time_ns", Int64, false, "when it was done, ns since the epoch"},
	{"partition", Int32, true, "partition"},
	{"offset", Int64, true, "offset (Delta: version)"},
	{"messages", Int64, false, "messages in it"},
	{"bytes", Int64, false, "bytes of its data as stored"},
	{"tries", Int64, false, "requests that it took to commit, 1 when the first succeeded"},
	{"wait_ns", Int64, true, "first message taken → commit begun"},
	{"encode_ns", Int64, true, "rows → file"},
	{"data_put_ns", Int64, true, "PUT of the data"},
	{"commit_put_ns", Int64, true, "PUT of the commit, retries included"},
	{"discover_ns", Int64, true, "polls and sleeps before the commit was found"},
	{"commit_get_ns", Int64, true, "GET of the commit that was found"},
	{"data_get_ns", Int64, true, "GET of the data"},
	{"decode_ns", Int64, true, "file → rows"},
	{"deliver_ns", Int64, true, "rows → taken by the runner"},
}}

// Events has a row per thing that happened.
var Events = Table{Name: "events", Doc: "a thing that happened", Columns: []Column{
	{"time_ns", Int64, false, "ns since the epoch"},
	{"actor", String, false, "who it happened to"},
	{"kind", String, false, "start, end, mark, release, drained, conflict, throttled, retry, failure, fault, standstill, note, …"},
	{"text", String, false, "in words"},
	{"duration_ns", Int64, true, "how long it lasted, ns"},
}}

// Tables are the tables of a log.
var Tables = []*Table{&Sent, &Received, &Seconds, &Batches, &Events}

// TableNamed returns the table of a name, or nil.
func TableNamed(name string) *Table {
	for _, t := range Tables {
		if t.Name == name {
			return t
		}
	}
	return nil
}
