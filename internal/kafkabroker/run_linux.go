package kafkabroker

import (
	"runtime"
	"syscall"
)

// run starts the process and has a goroutine wait for it. The system kills it
// when the thread that started it ends, so that it does not outlive a test
// that is killed; the goroutine keeps that thread for itself until then.
func (p *process) run() error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		err := p.cmd.Start()
		started <- err
		if err == nil {
			p.ended = p.cmd.Wait()
			close(p.done)
		}
	}()
	return <-started
}
