//go:build unix

package payload

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Opening a pipe waits for its writer, which may never come.
func TestAPipeIsRefusedAtOnce(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	refused := make(chan error, 1)
	go func() {
		_, err := OpenLines(pipe)
		refused <- err
	}()
	select {
	case err := <-refused:
		if err == nil || !strings.Contains(err.Error(), "no regular file") {
			t.Errorf("a pipe: %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("a pipe without a writer hangs")
	}
}
