//go:build !linux

package versitygw

import "os/exec"

// run starts the process and has a goroutine wait for it.
func (s *Server) run(cmd *exec.Cmd) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() {
		s.ended = cmd.Wait()
		close(s.done)
	}()
	return nil
}

// xattrs is false: a sidecar folder works on every system.
func xattrs(string) bool { return false }
