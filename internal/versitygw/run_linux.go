package versitygw

import (
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
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

// xattrs says whether files in dir can have extended attributes, in which
// versitygw keeps what it knows of its objects.
func xattrs(dir string) bool {
	return unix.Setxattr(dir, "user.queuebench", []byte("x"), 0) == nil
}
