//go:build interop

package rabbitmq

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"queuebench/internal/secrettest"
)

// A run against a server that asks for a password: it is in nothing that is written.
func TestNoSecretGetsOutOfARun(t *testing.T) {
	marks := secrettest.Marks{"the password": "s3cr3t" + rand.Text()}
	n := startNode(t, "default_user = ann", "default_pass = "+marks["the password"])
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte(marks["the password"]), 0o600); err != nil {
		t.Fatal(err)
	}
	line := fmt.Sprintf("run --queue rabbitmq --rabbitmq-url amqp://127.0.0.1:%d --rate 200 --duration 500ms --calibrate=false --broker-user ann", n.port)
	marks.Bench(t, 0, []string{"RABBITMQ_PASSWORD=" + marks["the password"]}, strings.Fields(line)...)
	marks.Bench(t, 0, nil, strings.Fields(line+" --broker-password-file "+file)...)
	marks["a wrong password"] = "s3cr3t" + rand.Text()
	marks.Bench(t, 1, []string{"RABBITMQ_PASSWORD=" + marks["a wrong password"]}, strings.Fields(line)...)
}
