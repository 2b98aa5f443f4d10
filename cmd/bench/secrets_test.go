//go:build !min && !nokafka

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"

	"queuebench/internal/reliability"
	"queuebench/internal/secrettest"
	"queuebench/internal/versitygw"
)

// told runs a command line and adds what it printed to texts.
func told(t *testing.T, texts map[string]string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	status, stdout, stderr = bench(t, args...)
	name := fmt.Sprintf("%d %.60s", len(texts), strings.Join(args, " "))
	texts[name] = stdout + stderr
	return status, stdout, stderr
}

// Runs that go well and runs that fail, with a secret in every channel: none is
// in anything that was written or printed.
func TestNoSecretGetsOutOfARun(t *testing.T) {
	row := reliability.Try(t, reliability.Row{
		ID: "security/secrets-of-a-run", What: "runs that go well and that fail, with a secret in each channel, against servers that repeat it", Often: "S3, Kafka, NATS, RabbitMQ, Redis; files and environment", Effort: 1,
		Holds: "none stands in a file, an object, a column, an output or an error",
	})
	gw := versitygw.Start(t)
	bareEnvironment(t)
	marks, texts := secrettest.Marks{"the S3 secret key": gw.SecretKey}, map[string]string{}
	t.Setenv("MINIO_S3_ACCESS_KEY", gw.AccessKey)
	t.Setenv("MINIO_S3_SECRET_ACCESS_KEY", gw.SecretKey)
	for _, name := range []string{"NATS_PASSWORD", "NATS_TOKEN", "RABBITMQ_PASSWORD", "REDIS_PASSWORD", "KAFKA_SASL_PASSWORD", "AWS_S3_SECRET_ACCESS_KEY", "AWS_S3_SESSION_TOKEN"} {
		t.Setenv(name, marks.Of(name))
	}
	store := []string{"--store", gw.Address("queue"), "--s3-backend", "minio", "--commit-interval", "20ms"}
	run := func(want int, command string, more ...string) string {
		t.Helper()
		status, stdout, stderr := told(t, texts, append(strings.Fields(command), more...)...)
		if status != want {
			t.Errorf("bench %s: status %d, want %d: %s", command, status, want, stderr)
		}
		return stdout
	}
	run(0, "run --queue delta --rate 200 --duration 200ms --metrics-addr 127.0.0.1:0 --calibrate=true", store...)
	address := lastLine(run(0, "sweep --queue delta --rates 200,400 --duration 100ms --json", store...))
	run(0, "clean --s3-backend minio", address)

	t.Setenv("MINIO_S3_SECRET_ACCESS_KEY", marks.Of("a wrong S3 key"))
	run(1, "run --queue delta --rate 200 --duration 100ms", store...)
	run(1, "run --queue delta --rate 200 --duration 100ms --log-store ./logs", store...)
	run(1, "clean --s3-backend minio", address)
	t.Setenv("MINIO_S3_SECRET_ACCESS_KEY", gw.SecretKey)

	broker, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.EnableSASL(), kfake.Superuser("PLAIN", "ann", marks.Of("KAFKA_SASL_PASSWORD")))
	if err != nil {
		t.Fatal(err)
	}
	defer broker.Close()
	kafka := []string{"--brokers", broker.ListenAddrs()[0], "--kafka-config", "kafka.properties", "-X", "retries=1"}
	properties := "security.protocol=sasl_plaintext\nsasl.mechanism=PLAIN\nsasl.username=ann\n"
	fileOf(t, "kafka.properties", properties)
	run(0, "run --queue kafka --rate 200 --duration 100ms", kafka...)
	fileOf(t, "kafka.properties", properties+"sasl.password="+marks.Of("the Kafka file")+"\n")
	if err := os.Chmod("kafka.properties", 0o600); err != nil {
		t.Fatal(err)
	}
	run(1, "run --queue kafka --rate 200 --duration 100ms --drain-timeout 1s", kafka...)

	fileOf(t, "password", marks.Of("the password file")+"\n")
	if err := os.Chmod("password", 0o600); err != nil {
		t.Fatal(err)
	}
	all := []string{}
	for _, s := range marks {
		all = append(all, s)
	}
	for _, e := range echoes {
		at := e.serve(t, all)
		for _, more := range [][]string{nil, {"--broker-password-file", "password"}} {
			status, _, stderr := told(t, texts, append(strings.Fields("run --rate 200 --duration 100ms --broker-user ann --queue "+e.queue+" --"+e.queue+"-url "+e.scheme+at), more...)...)
			if status != 1 || !strings.Contains(stderr, "***") {
				t.Errorf("%s: status %d, and the server's words are not there, without the secret: %s", e.queue, status, stderr)
			}
		}
	}
	files, objects := marks.Search(t, ".", texts, "password", "kafka.properties"), marks.Search(t, gw.Dir, nil)
	if files < 10 || objects < 5 {
		t.Errorf("only %d files and %d objects were searched", files, objects)
	}
	row.Happened = fmt.Sprintf("%d secrets, none in %d files, %d objects and %d outputs", len(marks), files, objects, len(texts))
}

// What the commands of a scenario print is recorded, without the secrets that
// they were given.
func TestNoSecretGetsOutOfAScenario(t *testing.T) {
	bareEnvironment(t)
	marks, texts := secrettest.Marks{}, map[string]string{}
	t.Setenv("MY_API_KEY", marks.Of("MY_API_KEY"))
	t.Setenv("AWS_SESSION_TOKEN", marks.Of("AWS_SESSION_TOKEN"))
	literal := strings.ReplaceAll(marks.Of("env of the file"), "'", "")
	fileOf(t, "s.yaml", `
settings: {queue: memory, rate: 500, duration: 300ms}
env:
  DB_PASSWORD: '`+literal+`'
environment:
  - name: tells
    run: {shell: 'env; echo "$DB_PASSWORD"; printf "user:%s" "$MY_API_KEY" | base64 -w0; echo'}
  - name: goes-on
    start: {shell: 'echo "$AWS_SESSION_TOKEN $OWN"; sleep 60'}
    env: {OWN: "${secret.own}", PART_SECRET: "${env.MY_API_KEY}"}
faults:
  - at: 100ms
    run: {shell: 'echo "$DB_PASSWORD" >&2'}
`)
	status, stdout, stderr := told(t, texts, "scenario", "s.yaml")
	if status != 0 {
		t.Fatalf("status %d: %s", status, stderr)
	}
	if _, tables := readLog(t, lastLine(stdout)); tables["events"] == 0 {
		t.Error("no event was recorded")
	}
	fileOf(t, "broken.yaml", `
settings: {queue: memory, rate: 500, duration: 300ms}
environment:
  - name: fails
    run: {shell: 'echo "could not log in with $MY_API_KEY"; exit 1'}
`)
	if status, _, stderr := told(t, texts, "scenario", "broken.yaml"); status != 1 || !strings.Contains(stderr, "could not log in with ***") {
		t.Errorf("status %d: %s", status, stderr)
	}
	marks.Search(t, ".", texts, "s.yaml")
}

// A secret on the command line would be seen in the list of processes: it is
// refused wherever it stands, and not repeated.
func TestSecretsOnTheCommandLineAreRefused(t *testing.T) {
	bareEnvironment(t)
	marks, texts := secrettest.Marks{}, map[string]string{}
	s := strings.NewReplacer("/", "", "\"", "", "+", "", "&", "", "=", "").Replace(marks.Of("the command line"))
	marks = secrettest.Marks{"the command line": s}
	fileOf(t, "open.properties", "sasl.mechanism=PLAIN\nsasl.password="+s+"\n")
	fileOf(t, "bad.properties", "sasl.mechanism=PLAIN\nsasl.password: "+s+"\n")
	fileOf(t, "password", s)
	fileOf(t, "key.pem", s)
	for _, name := range []string{"open.properties", "password", "key.pem"} {
		if err := os.Chmod(name, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	fileOf(t, "w.yaml", "queue: kafka\nrate: 10\nbrokers: h:1\nkafka-set: [sasl.password="+s+"]\n")
	fileOf(t, "w2.yaml", "queue: nats\nrate: 10\nnats-url: nats://u:"+s+"@h\n")
	fileOf(t, "s2.yaml", "settings: {queue: redis, rate: 10, redis-url: \"redis://:"+s+"@h\"}\n")
	load := "run --rate 10 --duration 1s "
	for line, says := range map[string]string{
		load + "--queue nats --nats-url nats://u:S@h:1":                         "environment",
		load + "--queue nats --nats-url nats://S@h:1":                           "environment",
		load + "--queue rabbitmq --rabbitmq-url amqp://u:12/S@h":                "environment",
		load + "--queue redis --redis-url redis://:1#S@h":                       "environment",
		load + "--store s3://KEY:S@bucket/x":                                    "environment",
		load + "--log-store s3://KEY:S@bucket/x":                                "environment",
		load + "--store s3://bucket/x --endpoint http://u:S@h:1":                "environment",
		load + "--store s3://bucket/x?endpoint=http://u:S@h:1":                  "environment",
		load + "--queue kafka --brokers u:S@h:1":                                "environment",
		load + "--queue kafka --brokers h:1 -X bootstrap.servers=SSL://u:S@h:1": "environment",
		load + "--queue kafka --brokers h:1 -X sasl.password=S":                 "environment",
		load + "--queue kafka --brokers h:1 -X sasl.password:S":                 "name=value",
		load + "--queue kafka --brokers h:1 -X sasl.jaas.config=x.password=S":   "environment",
		load + "--queue kafka --brokers h:1 -X ssl.keystore.password=S":         "environment",
		load + "--queue kafka --brokers h:1 --vary X=sasl.password=S":           "environment",
		load + "--queue kafka --brokers h:1 --kafka-config open.properties":     "chmod 600",
		load + "--queue kafka --brokers h:1 --kafka-config bad.properties":      "line 2",
		load + "--queue redis --broker-password-file password":                  "chmod 600",
		load + "--queue redis --broker-cert password --broker-key key.pem":      "chmod 600",
		load + "--queue nats --nats-creds password":                             "chmod 600",
		load + "--kafka-password=S --queue kafka":                               "no flag",
		"run --workload w.yaml":                                                 "environment",
		"run --workload w2.yaml":                                                "environment",
		"scenario s2.yaml":                                                      "environment",
		"tail s3://KEY:S@bucket/table":                                          "environment",
		"clean s3://KEY:S@bucket/runs/x":                                        "environment",
		"upload s3://KEY:S@bucket/runs/x":                                       "environment",
		load + "--queue memory --metrics-addr http://u:S@h:1":                   "environment",
		"consume --queue memory --run-id x --clock-peer udp://u:S@h:1":          "environment",
		load + "--queue nats --nats-monitor http://u:S@h:1":                     "environment",
	} {
		status, _, stderr := told(t, texts, strings.Fields(strings.ReplaceAll(line, "S@", s+"@"))...)
		if strings.Contains(line, "=S") || strings.Contains(line, ":S ") || strings.HasSuffix(line, ":S") {
			status, _, stderr = told(t, texts, strings.Fields(strings.ReplaceAll(strings.ReplaceAll(line+" ", "=S ", "="+s+" "), ":S ", ":"+s+" "))...)
		}
		if status != 2 || !strings.Contains(stderr, says) {
			t.Errorf("bench %s: status %d, without %q: %s", line, status, says, stderr)
		}
	}
	marks.Search(t, ".", texts, "open.properties", "bad.properties", "password", "key.pem", "w.yaml", "w2.yaml", "s2.yaml")
	if left, _ := filepath.Glob("queuebench-*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// Settings that somebody prints or encodes hold no secret.
func TestSettingsPrintNoSecrets(t *testing.T) {
	bareEnvironment(t)
	marks := secrettest.Marks{}
	t.Setenv("KAFKA_SASL_PASSWORD", marks.Of("KAFKA_SASL_PASSWORD"))
	t.Setenv("REDIS_PASSWORD", marks.Of("REDIS_PASSWORD"))
	c := contextOf(t, "run", "--queue", "kafka", "--brokers", "h:1", "-X", "security.protocol=sasl_ssl", "-X", "sasl.mechanism=PLAIN", "-X", "sasl.username=u")
	s, _, _, err := kafkaSettings(c)
	if err != nil || s.SASL.Password.Reveal() != marks.Of("KAFKA_SASL_PASSWORD") {
		t.Fatal("the password of the environment is not taken", err)
	}
	id, err := identityOf(contextOf(t, "run", "--queue", "redis"), "REDIS")
	if err != nil || id.Password.Reveal() != marks.Of("REDIS_PASSWORD") {
		t.Fatal("the password of the environment is not taken", err)
	}
	texts := map[string]string{}
	for i, v := range []any{s, &s, id, &id, settings(c)} {
		j, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		texts[fmt.Sprint(i)] = fmt.Sprintf("%v %+v %#v %s", v, v, v, j)
	}
	marks.Search(t, ".", texts)
}
