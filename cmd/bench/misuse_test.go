package main

import (
	"os"
	"strings"
	"testing"
)

// refused runs a line and expects one clear line of refusal, and nothing done.
func refused(t *testing.T, status int, want, line string) {
	t.Helper()
	got, stdout, stderr := bench(t, strings.Fields(line)...)
	if got != status || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, want) {
		t.Errorf("bench %s: status %d, want %d, with %q\nstdout %q\nstderr %q", line, got, status, want, stdout, stderr)
	}
	if left := filesBelow("."); len(left) > 0 {
		t.Errorf("bench %s left %q", line, left)
	}
	if entries, err := os.ReadDir("."); err != nil || len(entries) > 0 {
		t.Errorf("bench %s left %v, %v", line, entries, err)
	}
}

// Trap 9: refused, with what to change. (A run shorter than the warm-up is
// refused where the warm-up is cut, in analyze.)
func TestTrap09WhatCannotBeMeasuredIsRefused(t *testing.T) {
	bareEnvironment(t)
	for line, want := range map[string]string{
		"run --rate 0":                                              "rate 0 is not positive",
		"sweep --rates 1000,0":                                      "rate 0 is not positive",
		"sweep --rates -5":                                          "rate -5 is not positive",
		"run --rate 1000 --duration -3s":                            "--duration -3s is not positive",
		"run --rate 1000 --duration 0":                              "--duration 0 is not positive",
		"run --rate 1 --seconds-to-stream -1":                       "--seconds-to-stream -1 is not positive",
		"sweep --range-start 5000 --range-end 1000 --range-step 10": "the range ends before it starts",
		"sweep --range-start 10 --range-end 100 --range-step 0":     "rate 0 is not positive",
	} {
		refused(t, 2, want, line)
	}
}

func TestMisuseIsToldBeforeAnythingStarts(t *testing.T) {
	bareEnvironment(t)
	for line, want := range map[string]string{
		"run --rate 1 --inline-payload -1":                    "--inline-payload -1 is not between 0 and 1048576 bytes",
		"run --rate 1 --inline-payload 1000 --preset pathway": "--inline-payload does nothing with --preset pathway",
		"run":                              "add --rate",
		"sweep":                            "add --rates",
		"sweep --rates 10,ten":             `"ten" is no number`,
		"sweep --rates 10 --rates 10":      "given twice",
		"sweep --rates 10 --range-start 5": "give one of the two",
		"sweep --range-start 5":            "all three",
		"sweep --range-start 1 --range-end 1000000 --range-step 1":                       "raise --range-step",
		"sweep --rates 10 --order random":                                                "ascending or shuffled",
		"sweep --rates 10 --repeats 0":                                                   "--repeats 0",
		"clock serve --addr 127.0.0.1:0 --for 0s":                                        "--for 0s is not positive",
		"clock serve --addr 127.0.0.1:0 --for -1s":                                       "--for -1s is not positive",
		"clock serve --addr 127.0.0.1:65536":                                             "write a host and a port",
		"clock serve --addr 127.0.0.1:-1":                                                "write a host and a port",
		"run --queue memory --rate 10 --metrics-addr :65536":                             "write a host and a port",
		"run --rate 10 --vary =1":                                                        "such as consumers=1,2,4",
		"run --rate 10 --vary consumers":                                                 "such as consumers=1,2,4",
		"run --rate 10 --vary store=a,b":                                                 "the same for a whole run",
		"run --rate 10 --vary consumers=1,x":                                             "write a whole number",
		"run --rate 10 --vary consumers=1,0":                                             "consumers of all groups",
		"run --rate 10 --vary consmers=1":                                                "did you mean consumers?",
		"run --rate 10 --vary topics=1 --vary topics=2":                                  "given twice",
		"run --rate 10 --queue memory --vary codec=zstd":                                 "belongs to --queue delta",
		"run --rate 10 extra":                                                            `"extra" is no flag`,
		"run --rate 10 --queue rabbit":                                                   "this program has delta, memory",
		"run --rate 10 --queue memory --codec zstd":                                      "belongs to --queue delta",
		"run --rate 10 --duration soon":                                                  "write 10s",
		"run --rate 10 --duration 5s --seconds-to-stream 5":                              "give one",
		"run --rate 10 --message-size 15":                                                "identity takes 16",
		"run --rate 10 --producers 0":                                                    "producers of all topics: 0",
		"run --rate 10 --partitions 0":                                                   "--partitions 0",
		"run --rate 10 --drain-timeout 0s":                                               "drain timeout",
		"run --rate 10 --max-in-flight 0":                                                "max in flight",
		"run --rate 10 --commit-interval 0s":                                             "--commit-interval 0s is not between",
		"run --rate 10 --commit-interval 25h":                                            "--commit-interval 25h0m0s is not between",
		"run --rate 10 --poll-interval -1s":                                              "--poll-interval -1s is not between",
		"run --rate 10 --poll-interval 99999h":                                           "--poll-interval 99999h0m0s is not between",
		"run --rate 10 --hedge-after 0s":                                                 "--hedge-after 0s is not between",
		"run --rate 10 --hedge-after -1ms":                                               "--hedge-after -1ms is not between",
		"run --rate 10 --hedge-after 20ms --preset pathway":                              "--hedge-after does nothing with --preset pathway",
		"run --rate 10 --pipeline 0":                                                     "--pipeline 0 is not between 1 and 1024",
		"run --rate 10 --pipeline 9999999999":                                            "--pipeline 9999999999 is not between",
		"run --rate 10 --batch-bytes 9999999999":                                         "--batch-bytes 9999999999 is not between",
		"run --rate 10 --batch-messages 999999999":                                       "--batch-messages 999999999 is not between",
		"run --rate 10 --repeats 1000000000":                                             "lower --repeats",
		"sweep --rates 10,20 --repeats 9223372036854775807":                              "lower --repeats",
		"sweep --rates 10,,20":                                                           "a rate is empty",
		"run --rate 10 --seconds-to-stream 1e300":                                        "is longer than",
		"run --rate 10 --seconds-to-stream -1e300":                                       "is not positive",
		"run --rate 10 --seconds-to-stream NaN":                                          "write 10s",
		"run --rate 10 --seconds-to-stream Inf":                                          "is longer than",
		"run --rate 10 --queue memory --delay -1s":                                       "--delay -1s is negative",
		"run --rate 10 --queue memory --service-time -1s":                                "--service-time -1s is negative",
		"run --rate 10 --queue memory --drop-every -1":                                   "--drop-every -1 is negative",
		"run --rate 10 --queue memory --duplicate-every -1":                              "--duplicate-every -1 is negative",
		"run --rate 10 --drain-timeout soon":                                             "for flag --drain-timeout: write a time",
		"run --rate 10 --producers many":                                                 "for flag --producers: write a whole number",
		"run --rate 10 --seed -1":                                                        "for flag --seed: write a whole number that is not negative",
		"run --rate 10 --json=perhaps":                                                   "for --json: leave the value out",
		"run --rate":                                                                     "flag needs an argument: --rate",
		"run --rate 10 --run-id tables":                                                  "is no run id",
		"run --rate 10 --run-id runs":                                                    "is no run id",
		"run --rate 10 --store ./lake --log-store ./lake/tables":                         "lies among the tables",
		"run --rate 10 --store ./lake --log-store lake/tables/x/y":                       "lies among the tables",
		"run --rate 10 --log-store queuebench-data/queuebench/tables":                    "lies among the tables",
		"run --rate 10 --store s3://b/p --log-store s3://b/p/tables/l":                   "lies among the tables",
		"run --rate 10 --autocommit-duration-ms 0":                                       "milliseconds",
		"run --rate 10 --commit-interval fast":                                           "write a duration such as 100ms, or auto",
		"run --rate 10 --commit-interval auto":                                           "needs a target",
		"run --rate 10 --target-latency 50ms":                                            "do nothing without --commit-interval auto",
		"run --rate 10 --commit-interval auto --target-latency 50ms --target-cost 1":     "one of them",
		"run --rate 10 --commit-interval auto --target-cost 0":                           "a number of dollars",
		"run --rate 10 --commit-interval auto --target-latency 50ms --poll-interval 2ms": "picks the poll interval, too",
		"run --rate 10 --commit-interval auto --target-latency 50ms --preset pathway":    "name an interval",
		"run --rate 10 --preset fat":                                                     "say thin or pathway",
		"run --rate 10 --preset pathway --pipeline 2":                                    "a serial one",
		"run --rate 10 --producer-id a:b":                                                "--producer-id",
		"run --rate 10 --prices gold":                                                    "write standard, express, or dollars",
		"run --rate 10 --autocommit-duration-ms 10 --poll-interval 1s":                   "sets --commit-interval and --poll-interval both",
		"run --rate 10 --codec lzma":                                                     "none, snappy or zstd",
		"run --rate 10 --schema json":                                                    "data or pathway",
		"run --rate 10 --run-id ../x":                                                    "is no run id",
		"run --rate 10 --store s3://":                                                    "needs a bucket",
		"run --rate 10 --store http://host/bucket":                                       "cannot begin with http://",
		"run --rate 10 --store ./a --bucket b":                                           "give one",
		"run --rate 10 --endpoint http://localhost:9":                                    "need a bucket",
		"run --rate 10 --bucket b --endpoint localhost:9":                                "http://",
		"run --rate 10 --s3-backend gcs":                                                 "minio or s3",
		"run --rate 10 --nonsense":                                                       "nonsense",
		"clean":                                                                          "name one run",
		"clean ../../etc":                                                                "no run",
		"clean a..b":                                                                     "is no run id",
		"upload":                                                                         "name the spool",
	} {
		status := 2
		if line == "clean ../../etc" {
			status = 1 // an address where there is no run
		}
		refused(t, status, want, line)
	}
}

func TestWithoutABucketTheBackendAsksForIt(t *testing.T) {
	bareEnvironment(t)
	t.Setenv("AWS_S3_ACCESS_KEY", "a")
	t.Setenv("AWS_S3_SECRET_ACCESS_KEY", "verysecret")
	refused(t, 2, "AWS_S3_BUCKET", "run --rate 10 --s3-backend s3")
	t.Setenv("MINIO_S3_ACCESS_KEY", "a")
	t.Setenv("MINIO_S3_SECRET_ACCESS_KEY", "verysecret")
	refused(t, 2, "MINIO_S3_BUCKET", "run --rate 10 --s3-backend minio")
}

func TestWithoutCredentialsTheVariablesAreNamed(t *testing.T) {
	bareEnvironment(t)
	refused(t, 1, "MINIO_S3_ACCESS_KEY", "run --rate 10 --store s3://bucket/x --endpoint http://127.0.0.1:9")
	refused(t, 1, "AWS_S3_ACCESS_KEY", "run --rate 10 --s3-backend s3 --store s3://bucket/x --endpoint http://127.0.0.1:9")
}

func TestALogThatCannotBeWrittenIsToldBeforeAnythingStarts(t *testing.T) {
	bareEnvironment(t)
	if err := os.WriteFile("logs", []byte("a file"), 0o644); err != nil {
		t.Fatal(err)
	}
	status, stdout, stderr := bench(t, "run", "--queue", "memory", "--rate", "10", "--duration", "1s", "--log-store", "./logs")
	if status != 1 || stdout != "" || strings.Count(stderr, "\n") != 1 {
		t.Errorf("status %d, stdout %q, stderr %q", status, stdout, stderr)
	}
	if left := filesBelow("."); len(left) != 1 {
		t.Errorf("left %q", left)
	}
}
