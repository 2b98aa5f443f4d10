//go:build trino

package trino

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// server is a Trino of one node, over local files, with its metastore in a folder.
type server struct{ url string }

// oneCompiler has the server start faster.
const oneCompiler = "-XX:TieredStopAtLevel=1"

// start starts the Trino in TRINO_HOME with the Java in JAVA, until the test ends.
func start(t testing.TB) *server {
	t.Helper()
	home, java := os.Getenv("TRINO_HOME"), os.Getenv("JAVA")
	if home == "" || java == "" {
		t.Fatal("TRINO_HOME and JAVA name no Trino and no Java 23 or later: scripts/test-trino.sh sets them up")
	}
	dir := t.TempDir()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	_, port, _ := net.SplitHostPort(address)
	for name, text := range map[string]string{
		"etc/config.properties":       fmt.Sprintf("coordinator=true\nnode-scheduler.include-coordinator=true\nhttp-server.http.port=%s\ndiscovery.uri=http://%s\ncatalog.config-dir=%s/etc/catalog\nplugin.dir=%s/plugin\nspill-enabled=true\nspiller-spill-path=%s/spill\n", port, address, dir, home, dir),
		"etc/catalog/runs.properties": fmt.Sprintf("connector.name=hive\nhive.metastore=file\nhive.metastore.catalog.dir=file://%s/catalog\nfs.hadoop.enabled=true\n", dir),
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	memory := os.Getenv("TRINO_MEMORY")
	if memory == "" {
		memory = "2G"
	}
	cmd := exec.Command(java, "-Xmx"+memory, "-XX:+UseSerialGC", oneCompiler, "--add-modules=jdk.incubator.vector", "--sun-misc-unsafe-memory-access=allow", "-Dconfig="+dir+"/etc/config.properties",
		"-Dnode.environment=test", "-Dnode.id=one", "-Dnode.data-dir="+dir+"/data", "-Dnode.internal-address=127.0.0.1", "-Dnode.bind-ip=127.0.0.1", "-cp", home+"/lib/*", "io.trino.server.TrinoServer")
	if os.Getenv("TRINO_MEMORY") != "" {
		cmd.Args = slices.DeleteFunc(cmd.Args, func(a string) bool { return a == oneCompiler }) // long queries are worth the other one
	}
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.Dir = &output, &output, dir
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); cmd.Wait() }()
	t.Cleanup(func() { cmd.Process.Kill(); <-ended })
	s := &server{"http://" + address}
	for until := time.Now().Add(10 * time.Minute); ; time.Sleep(500 * time.Millisecond) {
		select {
		case <-ended:
			t.Fatalf("Trino ended: %s", tail(output.String()))
		default:
		}
		if s.ready(t.Context()) {
			return s
		}
		if time.Now().After(until) {
			t.Fatal("Trino did not start within 10 minutes")
		}
	}
}

func tail(s string) string {
	lines := strings.Split(s, "\n")
	return strings.Join(lines[max(0, len(lines)-30):], "\n")
}

func (s *server) ready(ctx context.Context) bool {
	var info struct{ Starting bool }
	return s.call(ctx, http.MethodGet, s.url+"/v1/info", "", &info) == nil && !info.Starting
}

func (s *server) call(ctx context.Context, method, url, body string, to any) error {
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return err
	}
	for name, value := range map[string]string{"X-Trino-User": "test", "X-Trino-Catalog": "runs", "X-Trino-Schema": "s"} {
		req.Header.Set(name, value)
	}
	r, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, r.Status)
	}
	return json.NewDecoder(r.Body).Decode(to)
}

// query runs one statement, by Trino's own protocol, and returns its rows by the
// names of their columns.
func (s *server) query(t testing.TB, sql string) (rows []map[string]any) {
	t.Helper()
	url, method := s.url+"/v1/statement", http.MethodPost
	for url != "" {
		var r struct {
			NextUri string
			Columns []struct{ Name string }
			Data    [][]any
			Error   *struct{ Message string }
		}
		if err := s.call(t.Context(), method, url, sql, &r); err != nil {
			t.Fatal(err)
		}
		if r.Error != nil {
			t.Fatalf("Trino: %s\n%s", r.Error.Message, sql)
		}
		for _, values := range r.Data {
			row := map[string]any{}
			for i, v := range values {
				row[r.Columns[i].Name] = v
			}
			rows = append(rows, row)
		}
		url, method, sql = r.NextUri, http.MethodGet, ""
	}
	return rows
}

// tables makes the tables that a printed query says to make, in its comments, in
// a schema of their own.
func (s *server) tables(t testing.TB, query string) {
	t.Helper()
	for _, drop := range []string{"DROP SCHEMA IF EXISTS s CASCADE", "CREATE SCHEMA s"} {
		s.query(t, drop)
	}
	var text strings.Builder
	for line := range strings.Lines(query) {
		if rest, ok := strings.CutPrefix(line, "--   "); ok {
			text.WriteString(rest)
		}
	}
	n := 0
	for statement := range strings.SplitSeq(text.String(), ";") {
		if statement = strings.TrimSpace(statement); statement != "" {
			s.query(t, statement)
			n++
		}
	}
	if n != 4 {
		t.Fatalf("the query has %d statements in its comments: %s", n, query)
	}
}
