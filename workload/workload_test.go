package workload

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"queuebench/internal/yamlfile"
)

// flags are some that a program may have.
func flags() Known {
	load := []string{"run", "sweep"}
	return Known{
		{"rate", Text, []string{"run", "backlog"}}, {"rates", List, []string{"sweep"}}, {"duration", Text, load}, {"queue", Text, load},
		{"drain-timeout", Duration, append(load, "backlog")}, {"consumers", Whole, append(load, "backlog", "closed")}, {"producers", Whole, load},
		{"groups", Whole, load}, {"topics", Whole, append(load, "backlog")}, {"partitions", Whole, load}, {"message-size", Whole, append(load, "backlog")},
		{"seed", Natural, load}, {"compressibility", Number, load}, {"refuse", Bool, load}, {"workers", Whole, []string{"closed"}},
		{"fill-messages", Whole, []string{"backlog"}}, {"keys", Whole, []string{"sweep"}}, {"key-distribution", Text, []string{"sweep"}},
	}
}

func read(command, text string) (*File, error) {
	root, err := yamlfile.Read("w.yaml", strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	return FromNode("w.yaml", command, root, flags())
}

func TestSettingsAreReadUnderTheNamesOfFlags(t *testing.T) {
	f, err := read("sweep", `
name: two rates
description: |
  What it shows.
command: sweep
queue: memory
rates: [1000, 5e3, "7000"]
duration: 10
drain-timeout: 5s
consumers: 0x10
seed: 18446744073709551615
compressibility: 0.5
refuse: false
vary:
  consumers: [1, 2]
  queue: [memory, delta]
`)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(f.Name, "|", f.Description, "|", f.Command, f.Values, f.Vary, f.Notes, f.Format)
	want := "two rates|What it shows.|sweep[{queue [memory] 6} {rates [1000 5000 7000] 7} {duration [10] 8} {drain-timeout [5s] 9} {consumers [16] 10} " +
		"{seed [18446744073709551615] 11} {compressibility [0.5] 12} {refuse [false] 13}] [{consumers [1 2] 15} {queue [memory delta] 16}] []workload"
	if got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
}

func TestMistakesAreToldWithLineAndNearestName(t *testing.T) {
	for text, want := range map[string]string{
		"name: x\nconsumer: 2":             `w.yaml:2: "consumer" is no setting (did you mean consumers?)`,
		"queue: memory\nmesage-size: 1":    `w.yaml:2: "mesage-size" is no setting (did you mean message-size?)`,
		"frobnicate: 1":                    `w.yaml:1: "frobnicate" is no setting`,
		"descripton: x":                    "(did you mean description?)",
		"rates: [1]":                       "w.yaml:1: \"rates\" is no setting of `bench run` but of `bench sweep`",
		"workers: 1":                       "but of `bench closed`",
		"consumers: 2\nconsumers: 3":       "w.yaml:2: the key consumers comes twice",
		"consumers: many":                  `w.yaml:1: consumers: "many" is text: write a whole number`,
		"consumers: \"2\"":                 `"2" is text: write a whole number`,
		"consumers: 1.5":                   "write a whole number",
		"consumers: 99999999999999999999":  "w.yaml:1:",
		"consumers:":                       "consumers: it is nothing: write a whole number",
		"consumers: [1, 2]":                "consumers: it is a list: write a whole number",
		"seed: -1":                         "not negative",
		"drain-timeout: 5":                 `"5" is a whole number: write a time such as 100ms`,
		"drain-timeout: soon":              "write a time such as",
		"refuse: 1":                        "write true or false",
		"refuse: yes":                      "write true or false",
		"compressibility: .nan":            "write a number",
		"compressibility: .inf":            "write a number",
		"queue: true":                      "queue: it is true or false: write a text or a number",
		"queue: {a: 1}":                    "it is a mapping",
		"name: [a]":                        "w.yaml:1: name is a list: write a text",
		"command: closed":                  "w.yaml:1: this workload is for `bench closed`: run `bench closed --workload w.yaml`",
		"command: closed\nworkers: 1":      "w.yaml:1: this workload is for `bench closed`",
		"vary: [1]":                        "w.yaml:1: vary is a list",
		"vary:\n  consumers: 1":            "w.yaml:2: what varies needs the list",
		"vary:\n  consumers: []":           "w.yaml:2: what varies needs the list",
		"vary:\n  consumers: [1, x]":       "w.yaml:2: consumers: \"x\" is text",
		"vary:\n  consumrs: [1]":           "did you mean consumers?",
		"vary:\n  rate: [[1, 2]]":          "w.yaml:2: rate: it is a list",
		"vary: {consumers: [1], rates: 3}": "what varies needs the list",
	} {
		f, err := read("run", text)
		var at *yamlfile.Error
		if err == nil || !strings.Contains(err.Error(), want) || !errors.As(err, &at) {
			t.Errorf("%q: %v, %v, want %q", text, f, err, want)
		}
	}
	if _, err := read("sweep", "rates: []"); err == nil || !strings.Contains(err.Error(), "the list is empty") {
		t.Errorf("%v", err)
	}
}

const oneTopic = `
name: 1 topic, 1 partition, 1 KB
topics: 1
partitionsPerTopic: 1
keyDistributor: "NO_KEY"
messageSize: 1024
payloadFile: "payload/payload-1Kb.data"
subscriptionsPerTopic: 1
consumerPerSubscription: 1
producersPerTopic: 1
producerRate: 50000
consumerBacklogSizeGB: 0
testDurationMinutes: 5
`

func values(f *File) string {
	var all []string
	for _, v := range f.Values {
		all = append(all, v.Name+"="+strings.Join(v.Texts, ","))
	}
	return strings.Join(all, " ")
}

func TestOpenMessagingFilesAreTranslated(t *testing.T) {
	for _, c := range []struct{ name, command, text, want, notes string }{
		{"one topic", "run", oneTopic,
			"topics=1 partitions=1 producers=1 groups=1 consumers=1 message-size=1024 rate=50000 duration=360s",
			`w.yaml: payloadFile "payload/payload-1Kb.data" is not sent: a message carries its identity in its first bytes, and the rest is filled from the seed|` +
				"w.yaml: the first 60s of each rate are warm-up, which the analysis cuts: `analyze summary RUN --warmup 60s`"},
		{"many, with keys", "sweep", "topics: 3\npartitionsPerTopic: 16\nkeyDistributor: RANDOM_NANO\nmessageSize: 100\nsubscriptionsPerTopic: 2\nconsumerPerSubscription: 4\nproducersPerTopic: 2\nproducerRate: 1000\ntestDurationMinutes: 1\nwarmupDurationMinutes: 0\nuseRandomizedPayloads: true\nrandomBytesRatio: 0.25\nrandomizedPayloadPoolSize: 1000",
			"topics=3 partitions=16 producers=2 groups=2 consumers=4 message-size=100 compressibility=0.75 keys=10000 key-distribution=uniform rates=1000 duration=60s",
			"w.yaml: randomizedPayloadPoolSize has no counterpart and does nothing: there is no pool, each payload is its own"},
		{"no rate", "capacity", "producerRate: 5\ntestDurationMinutes: 1", "", "w.yaml: producerRate 5 does nothing: `bench capacity` has no rate|w.yaml: testDurationMinutes has no counterpart in `bench capacity`, and does nothing"},
		{"what this command has not", "run", "keyDistributor: KEY_ROUND_ROBIN\nproducerRate: 10",
			"rate=10", "w.yaml: keyDistributor KEY_ROUND_ROBIN has no counterpart in `bench run`, and does nothing: messages have no key"},
		{"unknown keys are named", "run", "producerRate: 10\ntestDurationMinute: 5\nmagic: true\nqueue: memory",
			"rate=10", `w.yaml: line 2: the key "testDurationMinute" is not known and does nothing (did you mean testDurationMinutes?)|w.yaml: line 3: the key "magic" is not known and does nothing|w.yaml: line 4: the key "queue" is not known and does nothing`},
		{"a backlog", "backlog", "topics: 1\nmessageSize: 1024\nproducerRate: 100\nconsumerBacklogSizeGB: 2\nbacklogDrainRatio: 0.9\ntestDurationMinutes: 15",
			"topics=1 message-size=1024 rate=100 fill-messages=2097152 drain-timeout=900s", "w.yaml: backlogDrainRatio 0.9 does nothing: the drain ends when everything was received|w.yaml: testDurationMinutes 15 is the longest time to drain the backlog: the run ends when that is gone"},
	} {
		f, err := read(c.command, c.text)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := values(f); got != c.want || f.Format != OpenMessaging {
			t.Errorf("%s: values\n%s, want\n%s", c.name, got, c.want)
		}
		if got := strings.Join(f.Notes, "|"); got != c.notes {
			t.Errorf("%s: notes\n%s, want\n%s", c.name, got, c.notes)
		}
	}
}

func TestOpenMessagingMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"producerRate: 0\ntopics: 1":                        "w.yaml:1: producerRate 0 asks for the highest rate that holds: run `bench capacity --workload w.yaml`",
		"producerRate: 5\nconsumerBacklogSizeGB: 10":        "w.yaml:2: consumerBacklogSizeGB 10 holds the consumers back until a backlog is there: run `bench backlog",
		"producersPerTopic: 0":                              "at least 1",
		"messageSize: big":                                  "w.yaml:1: messageSize: \"big\" is text",
		"messageSize: .nan":                                 "at least 1",
		"producerRate: -1":                                  "at least 0",
		"producerRate: 1\nkeyDistributor: ROUND":            "w.yaml:2: keyDistributor \"ROUND\": it is NO_KEY",
		"useRandomizedPayloads: true\nrandomBytesRatio: 2":  "w.yaml:2: randomBytesRatio 2",
		"testDurationMinutes: [1]":                          "w.yaml:1: testDurationMinutes: it is a list",
		"producerRate: 99999999999999999999999":             "w.yaml:1:",
		"producersPerTopic: 1\nproducersPerTopic: 2":        "comes twice",
		"messageSize: 10\nconsumerBacklogSizeGB: {a: true}": "it is a mapping",
	} {
		if f, err := read("run", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v, want %q", text, f, err, want)
		}
	}
	if _, err := read("backlog", "consumerBacklogSizeGB: 1"); err == nil || !strings.Contains(err.Error(), "needs messageSize") {
		t.Errorf("%v", err)
	}
}

// Read for no command, a file says which one it is for.
func TestOpenMessagingFilesNameTheirCommand(t *testing.T) {
	for text, want := range map[string]string{
		"producerRate: 10": "", "producerRate: 0": "capacity", "producerRate: 10\nconsumerBacklogSizeGB: 1\nmessageSize: 100": "backlog",
	} {
		if f, err := read("", text); err != nil || f.Command != want {
			t.Errorf("%q: %+v, %v", text, f, err)
		}
	}
}

func FuzzFromNode(f *testing.F) {
	for _, s := range []string{oneTopic, "rate: 10\nvary: {consumers: [1]}", "consumers: [a]", "topics: 1\nproducerRate: .inf"} {
		f.Add("run", s)
		f.Add("backlog", s)
	}
	f.Fuzz(func(t *testing.T, command, text string) {
		w, err := read(command, text)
		if err != nil {
			return
		}
		known := flags()
		for _, v := range append(w.Values, w.Vary...) {
			if known.named(v.Name) == nil || len(v.Texts) == 0 || v.Line < 1 {
				t.Fatalf("value %+v", v)
			}
		}
	})
}
