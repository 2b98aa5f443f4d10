package workload

import (
	"fmt"
	"slices"
	"strconv"

	"queuebench/internal/nearest"
	"queuebench/internal/yamlfile"
)

// The keys of the OpenMessaging Benchmark's workload files (Workload.java of its
// benchmark-framework), in the order in which they are usually written. "name"
// is ours too and shows nothing.
var openMessagingKeys = []string{
	"topics", "partitionsPerTopic", "keyDistributor", "messageSize", "useRandomizedPayloads", "randomBytesRatio", "randomizedPayloadPoolSize",
	"payloadFile", "subscriptionsPerTopic", "producersPerTopic", "consumerPerSubscription", "producerRate", "consumerBacklogSizeGB",
	"backlogDrainRatio", "testDurationMinutes", "warmupDurationMinutes",
}

// Facts of that benchmark which its files leave unsaid.
const (
	omWarmupMinutes = 1      // before each test, where the file names none
	omKeys          = 10_000 // distinct keys of its key distributors
	gibibyte        = 1 << 30
)

// isOpenMessaging says that a document has a key that only that project's files
// have. "topics" alone may be ours.
func isOpenMessaging(root *yamlfile.Node) bool {
	return slices.ContainsFunc(root.Fields, func(f yamlfile.Field) bool {
		return f.Name != "topics" && slices.Contains(openMessagingKeys, f.Name)
	})
}

// omFile is a file that is being translated.
type omFile struct {
	*File
	root    *yamlfile.Node
	command string
	known   Known
}

func fromOpenMessaging(path, command string, root *yamlfile.Node, known Known) (*File, error) {
	o := &omFile{File: &File{Path: path, Format: OpenMessaging}, root: root, command: command, known: known}
	for i := range root.Fields {
		f := &root.Fields[i]
		switch {
		case f.Name == "name":
			o.Name = f.Value.Value
		case !slices.Contains(openMessagingKeys, f.Name):
			o.note("line %d: the key %.60q is not known and does nothing%s", f.Line, f.Name, nearest.DidYouMean(f.Name, openMessagingKeys))
		}
	}
	for _, step := range []func() error{o.shape, o.payload, o.keys, o.load, o.backlog, o.time} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return o.File, nil
}

func (o *omFile) note(format string, a ...any) {
	o.Notes = append(o.Notes, o.Path+": "+fmt.Sprintf(format, a...))
}

// number is the value of a key, which must be a number of at least least; has
// is false where the file leaves it out.
func (o *omFile) number(key string, least float64) (v float64, line int, has bool, err error) {
	n := o.root.Field(key)
	if n == nil || n.Kind == yamlfile.Null {
		return 0, o.root.Line, false, nil
	}
	v, err = strconv.ParseFloat(n.Value, 64)
	if err != nil || !n.Scalar() || !(v >= least) || v > 1e15 {
		return 0, n.Line, true, errorf(o.Path, n.Line, "%s: %s: write a number that is at least %v", key, told(n), least)
	}
	return v, n.Line, true, nil
}

// set gives a flag a value, or says that this command has no such flag.
func (o *omFile) set(key, flag, text string, line int) {
	if o.has(flag) {
		o.Values = append(o.Values, Value{Name: flag, Texts: []string{text}, Line: line})
		return
	}
	o.note("%s has no counterpart in `bench %s`, and does nothing", key, o.command)
}

func (o *omFile) has(flag string) bool { return slices.Contains(o.known.of(o.command), flag) }

// shape is how many of each there are. Producers and subscriptions are those of
// one topic in both.
func (o *omFile) shape() error {
	for _, k := range []struct{ key, flag string }{
		{"topics", "topics"}, {"partitionsPerTopic", "partitions"}, {"producersPerTopic", "producers"},
		{"subscriptionsPerTopic", "groups"}, {"consumerPerSubscription", "consumers"},
	} {
		v, line, has, err := o.number(k.key, 1)
		if err != nil {
			return err
		}
		if has {
			o.set(k.key, k.flag, whole(v), line)
		}
	}
	return nil
}

func (o *omFile) payload() error {
	size, line, has, err := o.number("messageSize", 1)
	if err != nil {
		return err
	}
	if has {
		o.set("messageSize", "message-size", whole(size), line)
	}
	if n := o.root.Field("payloadFile"); n != nil && n.Kind != yamlfile.Null {
		o.note("payloadFile %.60q is not sent: a message carries its identity in its first bytes, and the rest is filled from the seed", n.Value)
	}
	random := o.root.Field("useRandomizedPayloads")
	ratio, line, has, err := o.number("randomBytesRatio", 0)
	if err != nil {
		return err
	}
	if random != nil && random.Value == "true" && has {
		if ratio > 1 {
			return errorf(o.Path, line, "randomBytesRatio %v: it is between 0 and 1", ratio)
		}
		o.set("randomBytesRatio", "compressibility", strconv.FormatFloat(1-ratio, 'f', -1, 64), line)
	}
	if n := o.root.Field("randomizedPayloadPoolSize"); n != nil && random != nil && random.Value == "true" {
		o.note("randomizedPayloadPoolSize has no counterpart and does nothing: there is no pool, each payload is its own")
	}
	return nil
}

// keys translates the key distributor.
func (o *omFile) keys() error {
	n := o.root.Field("keyDistributor")
	if n == nil || n.Kind == yamlfile.Null {
		return nil
	}
	switch n.Value {
	case "NO_KEY":
	case "KEY_ROUND_ROBIN":
		o.setKeys(n, "round-robin")
	case "RANDOM_NANO":
		o.setKeys(n, "uniform")
	default:
		return errorf(o.Path, n.Line, "keyDistributor %.60q: it is NO_KEY, KEY_ROUND_ROBIN or RANDOM_NANO", n.Value)
	}
	return nil
}

func (o *omFile) setKeys(n *yamlfile.Node, distribution string) {
	if !o.has("keys") || !o.has("key-distribution") {
		o.note("keyDistributor %s has no counterpart in `bench %s`, and does nothing: messages have no key", n.Value, o.command)
		return
	}
	o.set("keyDistributor", "keys", strconv.Itoa(omKeys), n.Line)
	o.set("keyDistributor", "key-distribution", distribution, n.Line)
}

// load is the rate, which is that of all topics together in both.
func (o *omFile) load() error {
	rate, line, has, err := o.number("producerRate", 0)
	switch {
	case err != nil:
		return err
	case o.has("rate") || o.has("rates"):
		if !has {
			return nil // a flag may give it
		}
		if rate == 0 && o.command == "" {
			o.Command = "capacity"
			return nil
		}
		if rate == 0 {
			return errorf(o.Path, line, "producerRate 0 asks for the highest rate that holds: run `bench capacity --workload %s`, or give a rate above 0", o.Path)
		}
		flag := "rate"
		if !o.has(flag) {
			flag = "rates"
		}
		o.set("producerRate", flag, strconv.FormatFloat(rate, 'f', -1, 64), line)
	case has && rate > 0:
		o.note("producerRate %v does nothing: `bench %s` has no rate", rate, o.command)
	}
	return nil
}

// backlog is what is stored before the consumers start.
func (o *omFile) backlog() error {
	gb, line, _, err := o.number("consumerBacklogSizeGB", 0)
	if err != nil {
		return err
	}
	ratio := o.root.Field("backlogDrainRatio")
	if gb == 0 {
		return nil
	}
	if o.command == "" {
		o.Command = "backlog"
	} else if o.command != "backlog" {
		return errorf(o.Path, line, "consumerBacklogSizeGB %v holds the consumers back until a backlog is there: run `bench backlog --workload %s`", gb, o.Path)
	}
	size, _, has, err := o.number("messageSize", 1)
	if err != nil {
		return err
	}
	if !has {
		return errorf(o.Path, line, "consumerBacklogSizeGB needs messageSize, to know how many messages that is")
	}
	o.set("consumerBacklogSizeGB", "fill-messages", strconv.FormatFloat(gb*gibibyte/size, 'f', 0, 64), line)
	if ratio != nil && ratio.Value != "1" {
		o.note("backlogDrainRatio %.60s does nothing: the drain ends when everything was received", ratio.Value)
	}
	return nil
}

// time is how long it lasts: that benchmark's warm-up is part of our run, and
// cut by the analysis.
func (o *omFile) time() error {
	minutes, line, has, err := o.number("testDurationMinutes", 0)
	if err != nil {
		return err
	}
	warmup, _, named, err := o.number("warmupDurationMinutes", 0)
	if err != nil {
		return err
	}
	if !named {
		warmup = omWarmupMinutes
	}
	if !has || minutes == 0 {
		return nil
	}
	if o.command == "backlog" {
		// There it is overruled until the backlog is gone.
		o.set("testDurationMinutes", "drain-timeout", whole(minutes*60)+"s", line)
		o.note("testDurationMinutes %v is the longest time to drain the backlog: the run ends when that is gone", minutes)
		return nil
	}
	o.set("testDurationMinutes", "duration", whole((minutes+warmup)*60)+"s", line)
	if warmup > 0 && o.has("duration") {
		o.note("the first %s of each rate are warm-up, which the analysis cuts: `analyze summary RUN --warmup %s`", whole(warmup*60)+"s", whole(warmup*60)+"s")
	}
	return nil
}

func whole(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
