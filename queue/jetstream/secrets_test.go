//go:build interop

package jetstream

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"queuebench/internal/secrettest"
)

// A run against a server that asks for a password or a token: it is in nothing that
// is written.
func TestNoSecretGetsOutOfARun(t *testing.T) {
	marks := secrettest.Marks{"the password": "s3cr3t" + rand.Text(), "the token": "s3cr3t" + rand.Text(), "a wrong one": "s3cr3t" + rand.Text()}
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte(marks["the password"]), 0o600); err != nil {
		t.Fatal(err)
	}
	line := func(s *process) []string {
		return strings.Fields(fmt.Sprintf("run --queue nats --nats-url %s --rate 200 --duration 500ms --calibrate=false", s.url))
	}
	s := start(t, serverConfig{Monitor: -1, User: "ann", Password: marks["the password"]})
	marks.Bench(t, 0, []string{"NATS_USER=ann", "NATS_PASSWORD=" + marks["the password"]}, line(s)...)
	marks.Bench(t, 0, []string{"NATS_USER=ann"}, append(line(s), "--broker-password-file", file)...)
	marks.Bench(t, 1, []string{"NATS_USER=ann", "NATS_PASSWORD=" + marks["a wrong one"]}, line(s)...)
	s = start(t, serverConfig{Monitor: -1, Token: marks["the token"]})
	marks.Bench(t, 0, []string{"NATS_TOKEN=" + marks["the token"]}, line(s)...)
	marks.Bench(t, 1, []string{"NATS_TOKEN=" + marks["a wrong one"]}, line(s)...)
}
