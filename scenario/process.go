package scenario

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"
)

// drainOutput is how long the output of a process that has ended is still read:
// one that left its group may hold it open.
const drainOutput = time.Second

// process is a command that was started, with all that it started in its group.
type process struct {
	name string
	pid  int
	done chan struct{} // closed when it has ended, its group with it, and its output is read
	err  error         // how it ended; read it after done

	mu     sync.Mutex
	reaped bool // its number may be another's
	asked  bool // it was asked to end
}

// start starts a command. Its output goes to out, whose close is called after
// the last of it.
func start(name string, args, env []string, dir string, out *output) (*process, error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = dir, env
	ownGroup(cmd)
	// A pipe of our own: Wait would wait for whoever holds it.
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = write, write
	p := &process{name: name, done: make(chan struct{})}
	started := make(chan error)
	go func() {
		// The system kills the process when the thread that started it ends.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		write.Close()
		if err == nil {
			p.pid = cmd.Process.Pid
		}
		started <- err
		if err == nil {
			p.wait(cmd, read, out)
		}
	}()
	if err := <-started; err != nil {
		read.Close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}

// wait waits for the end, and ends the rest of the group with it.
func (p *process) wait(cmd *exec.Cmd, read *os.File, out *output) {
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		out.copy(read)
	}()
	p.reap(cmd)
	timer := time.NewTimer(drainOutput)
	defer timer.Stop()
	select {
	case <-copied:
	case <-timer.C:
	}
	read.Close()
	<-copied
	out.end()
	close(p.done)
}

// reap waits for the end of the process. Where the system lets it, the rest of
// its group is killed while the group's number is certainly its own.
func (p *process) reap(cmd *exec.Cmd) {
	if !awaitEnd(p.pid) {
		err := cmd.Wait()
		p.mu.Lock()
		defer p.mu.Unlock()
		p.err, p.reaped = err, true
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	left := signalGroup(p.pid, "KILL")
	p.err, p.reaped = cmd.Wait(), true
	if left != nil {
		p.err = errors.Join(p.err, fmt.Errorf("ending what it left behind: %w", left))
	}
}

// signal sends a signal to the process and its group.
func (p *process) signal(name string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reaped {
		return fmt.Errorf("%s has ended", p.name)
	}
	return signalGroup(p.pid, name)
}

// expectEnd notes that an end is no surprise from here on.
func (p *process) expectEnd() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = true
}

func (p *process) wasAsked() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked
}

// hasEnded says that the process has ended.
func (p *process) hasEnded() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// end asks the process to end, and kills it when it has not after a grace, or
// when ctx ends.
func (p *process) end(ctx context.Context, grace time.Duration) {
	p.expectEnd()
	// A process that was stopped hears of it only when it goes on. An error
	// says that it has ended.
	_ = p.signal("TERM")
	_ = p.signal("CONT")
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.done:
		return
	case <-timer.C:
	case <-ctx.Done():
	}
	_ = p.signal("KILL")
	<-p.done
}
