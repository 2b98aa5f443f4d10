// Package queuebench_test holds what is true of the project as a whole: which
// room enters which, what the programs link, and that what the documents say
// runs as it is written.
package queuebench_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mayEnter lists, for each room, the rooms of the module that it may import.
// ARCHITECTURE.md gives the reasons. A room that is not here fails the test.
var mayEnter = map[string]string{
	"clock":                "",
	"clock/offset":         "clock",
	"queue":                "",
	"queue/queuetest":      "queue",
	"objectstore":          "internal/secret",
	"stats":                "",
	"stats/hdrlog":         "stats",
	"rawlog":               "clock queue internal/thriftwalk",
	"rawlog/logwriter":     "rawlog clock objectstore",
	"rawlog/logstore":      "rawlog objectstore",
	"objectstore/embedded": "objectstore internal/loopback",
	"queue/memory":         "queue clock",
	"queue/broker":         "queue internal/secret",
	"queue/jetstream":      "queue queue/broker internal/secret",
	"queue/rabbitmq":       "queue queue/broker internal/secret",
	"queue/redisstreams":   "queue queue/broker",
	"queue/deltalake":      "queue clock objectstore internal/alarm internal/pagecheck",
	"queue/kafka":          "queue internal/nearest internal/secret",
	"queue/kafka/embedded": "queue queue/kafka",
	"analysis":             "rawlog internal/inflate stats stats/hdrlog queue clock internal/columns",
	"analysis/compare":     "analysis rawlog stats internal/columns",
	"analysis/history":     "analysis analysis/compare rawlog stats internal/columns",
	"analysis/gate":        "analysis analysis/compare stats internal/columns",
	"analysis/merge":       "analysis rawlog",
	"figure":               "analysis stats",
	"report":               "analysis figure rawlog report/markup report/texts",
	"report/markup":        "",
	"report/texts":         "",
	"report/comparison":    "analysis analysis/compare rawlog figure report report/markup report/texts",
	"report/session":       "analysis report report/texts intake/address",
	"report/reporttest":    "analysis rawlog stats queue clock",
	"site":                 "internal/loopback analysis figure report report/comparison report/texts",
	"site/publish":         "objectstore",
	"site/buildpage":       "",
	"runner/envelope":      "",
	"runner/schedule":      "",
	"runner/seqset":        "",
	"runner/identity":      "queue runner/envelope",
	"runner/payload":       "queue runner/envelope runner/identity",
	"runner/framing":       "internal/secret",
	"runner/pace":          "clock",
	"runner/ledger":        "queue rawlog runner/seqset",
	"runner/hostinfo":      "rawlog internal/cputime",
	"runner/capacity":      "",
	"runner/meeting":       "clock objectstore",
	"runner/tailing":       "queue rawlog rawlog/logwriter runner/hostinfo stats clock objectstore",
	"runner/metrics":       "internal/loopback runner rawlog rawlog/logwriter stats objectstore",
	"runner/calibration":   "runner runner/hostinfo runner/pace runner/payload runner/schedule queue rawlog rawlog/logwriter stats clock objectstore",
	"runner": "queue rawlog rawlog/logwriter stats clock objectstore " +
		"runner/envelope runner/identity runner/schedule runner/payload runner/seqset runner/pace runner/ledger runner/hostinfo",
	"internal/command":     "internal/nearest internal/secret",
	"internal/nearest":     "",
	"internal/alarm":       "",
	"internal/golden":      "",
	"internal/secret":      "",
	"internal/release":     "",
	"internal/reliability": "",
	"internal/testfiles":   "",
	"internal/coverage":    "",
	"internal/fuzzing":     "internal/coverage internal/reliability internal/testfiles",
	"internal/pagecheck":   "internal/thriftwalk",
	"internal/inflate":     "",
	"internal/loopback":    "",
	"internal/secrettest":  "internal/secret rawlog",
	"internal/columns":     "",
	"internal/cputime":     "",
	"internal/cputimetest": "internal/cputime",
	"internal/faultproxy":  "",
	"workload":             "internal/nearest internal/yamlfile",
	"scenario":             "internal/nearest internal/yamlfile internal/secret stats",
	"internal/yamlfile":    "",
	"internal/version":     "",
	"internal/thriftwalk":  "",
	"internal/parquettest": "internal/thriftwalk",
	"internal/storeflags":  "internal/command objectstore",
	"internal/versitygw":   "",
	"exporter":             "analysis stats stats/hdrlog",
	"summarysql":           "",
	"importer":             "analysis internal/inflate rawlog queue stats stats/hdrlog",
	"intake":               "analysis importer rawlog clock intake/address",
	"intake/address":       "rawlog",
	"importer/parquetfile": "importer analysis internal/pagecheck",
	"cmd/analyze":          "objectstore analysis analysis/compare analysis/gate analysis/history analysis/merge figure site importer importer/parquetfile exporter summarysql rawlog rawlog/logstore internal/columns internal/command internal/storeflags internal/version site/publish",
	"cmd/bench": "queue queue/memory queue/deltalake objectstore objectstore/embedded rawlog rawlog/logwriter runner runner/meeting runner/schedule runner/payload runner/identity runner/framing " +
		"runner/pace runner/capacity runner/hostinfo runner/calibration runner/metrics runner/tailing stats clock clock/offset workload scenario internal/nearest internal/loopback internal/secret internal/yamlfile internal/columns internal/command internal/storeflags internal/version " +
		"queue/kafka queue/kafka/embedded queue/broker queue/jetstream queue/rabbitmq queue/redisstreams",
	"interop/container":    "",
	"interop/duckdb":       "",
	"interop/faults":       "",
	"internal/benchlog":    "clock objectstore queue rawlog rawlog/logwriter",
	"internal/benchtable":  "",
	"interop/spark":        "",
	"interop/trino":        "",
	"interop/sqltest":      "",
	"internal/kafkabroker": "",
	"interop/kafka":        "",
	"examples/running-sum": "runner/identity",

	"internal/reliability/update": "internal/reliability internal/testfiles",
}

type pkg struct {
	ImportPath string
	Dir        string
	Imports    []string
	Module     *struct{ Path string }
}

func list(t *testing.T, dir string, env []string, args ...string) []pkg {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Dir,Imports,Module"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list %v in %s: %v\n%s", args, dir, err, stderr.String())
	}
	var all []pkg
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

func TestRoomsEnterOnlyWhatTheyMay(t *testing.T) {
	for _, p := range list(t, ".", nil, "./...") {
		room, ok := strings.CutPrefix(p.ImportPath, "queuebench/")
		if !ok {
			continue
		}
		allowed, known := mayEnter[room]
		if !known {
			t.Errorf("room %s is not in the table of this test; add it there and to ARCHITECTURE.md", room)
			continue
		}
		for _, imported := range p.Imports {
			other, ours := strings.CutPrefix(imported, "queuebench/")
			if ours && !slices.Contains(strings.Fields(allowed), other) {
				t.Errorf("%s imports %s, which it may not enter", room, other)
			}
		}
	}
}

// refuse fails for each dependency whose path begins with a forbidden one.
func refuse(t *testing.T, who string, deps []pkg, forbidden ...string) {
	t.Helper()
	if len(deps) < 20 {
		t.Fatalf("%s has only %d dependencies: the list is wrong", who, len(deps))
	}
	for _, p := range deps {
		for _, f := range forbidden {
			if p.ImportPath == f || strings.HasPrefix(p.ImportPath, f+"/") {
				t.Errorf("%s links %s", who, p.ImportPath)
			}
		}
	}
}

func TestBenchLinksNeitherAnalysisNorPlots(t *testing.T) {
	refuse(t, "bench", list(t, ".", nil, "-deps", "./cmd/bench"),
		"gonum.org/v1/plot", "queuebench/analysis", "queuebench/figure", "queuebench/report", "queuebench/site", "codeberg.org/go-fonts")
}

func TestAnalyzeLinksNoServerAndNoLoad(t *testing.T) {
	refuse(t, "analyze", list(t, ".", nil, "-deps", "./cmd/analyze"),
		"queuebench/runner", "queuebench/queue/deltalake", "queuebench/objectstore/embedded", "github.com/johannesboyne/gofakes3")
}

func TestWASMLinksNoStoreServerOrParquetWriter(t *testing.T) {
	deps := list(t, "wasm", []string{"GOOS=js", "GOARCH=wasm"}, "-deps", "-tags", "minimal", ".", "./intake")
	refuse(t, "the WASM module", deps,
		"github.com/minio", "queuebench/objectstore", "queuebench/runner", "queuebench/rawlog/logwriter", "queuebench/site",
		"github.com/johannesboyne", "github.com/urfave", "net/http", "crypto/tls", "text/template", "html/template")
	for _, p := range deps {
		// The public format and encodings are read with; the root package writes.
		if p.ImportPath == "github.com/parquet-go/parquet-go" {
			t.Errorf("the WASM module links %s", p.ImportPath)
		}
	}
}

// brokerClients are the clients of brokers, each behind a build tag of its own.
var brokerClients = []string{"github.com/twmb/franz-go", "github.com/nats-io", "github.com/rabbitmq", "github.com/redis"}

func TestBenchMinLinksNoBrokerClient(t *testing.T) {
	refuse(t, "bench-min", list(t, ".", nil, "-deps", "-tags", "min", "./cmd/bench"), brokerClients...)
}

func TestBenchMinIsAtMost20MBStripped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bench-min")
	if out, err := exec.Command("go", "build", "-tags", "min", "-trimpath", "-ldflags=-s -w", "-o", path, "./cmd/bench").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("bench-min is %.1f MB stripped", float64(info.Size())/1e6)
	if info.Size() > 20e6 {
		t.Errorf("bench-min is %d bytes stripped, more than 20 MB", info.Size())
	}
}
