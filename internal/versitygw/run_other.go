//go:build !linux

package versitygw

// run starts the process and has a goroutine wait for it.
func (p *process) run() error {
	if err := p.cmd.Start(); err != nil {
		return err
	}
	go func() {
		p.ended = p.cmd.Wait()
		close(p.done)
	}()
	return nil
}

// xattrs is false: a sidecar folder works on every system.
func xattrs(string) bool { return false }
