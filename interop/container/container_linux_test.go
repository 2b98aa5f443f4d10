//go:build interop

package container

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// nobody is the user of the image.
const nobody = 65532

// root is a folder that is the whole file system of a program.
type root struct {
	dir string
	env []string
}

// run starts a program in it as nobody, who may write nowhere but where the image
// says.
func (r root) run(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	cmd := &exec.Cmd{Path: args[0], Args: args, Dir: "/data", Env: r.env}
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: r.dir}
	if os.Getuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	} else { // a user namespace lets anybody change the root
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: nobody, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: nobody, HostID: os.Getgid(), Size: 1}}
	}
	err := cmd.Run()
	if cmd.ProcessState == nil {
		t.Fatalf("%q does not start: %v", args, err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// build runs the Dockerfile's build command, with what it would copy.
func build(t *testing.T, commit string) (out string) {
	t.Helper()
	out = t.TempDir()
	command := strings.ReplaceAll(buildCommand(t), "/out/", out+"/")
	cmd := exec.Command("sh", "-euc", command)
	cmd.Dir = "../.."
	cmd.Env = append(os.Environ(), "COMMIT="+commit, "VERSION=v9.8.7")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", command, err, text)
	}
	return out
}

// imageOf is the image's file system: with what it says that it has, or with nothing
// but the programs and the folder that is mounted.
func imageOf(t *testing.T, out string, bare bool) root {
	t.Helper()
	r := root{dir: t.TempDir(), env: []string{"HOME=/data", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}}
	must(t, os.Mkdir(filepath.Join(r.dir, "bin"), 0o755))
	for _, name := range []string{"bench", "analyze"} {
		must(t, os.Link(filepath.Join(out, name), filepath.Join(r.dir, "bin", name)))
	}
	must(t, os.Mkdir(filepath.Join(r.dir, "data"), 0o755))
	if os.Getuid() == 0 {
		must(t, os.Chown(filepath.Join(r.dir, "data"), nobody, nobody))
	}
	if !bare {
		must(t, os.MkdirAll(filepath.Join(r.dir, "etc", "ssl", "certs"), 0o755))
		must(t, os.WriteFile(filepath.Join(r.dir, "etc", "ssl", "certs", "ca-certificates.crt"), nil, 0o644))
		must(t, os.Mkdir(filepath.Join(r.dir, "tmp"), 0o777))
		must(t, os.Chmod(filepath.Join(r.dir, "tmp"), 0o1777))
	}
	// Nobody may write into the root itself: read-only, but for the folders above.
	must(t, os.Chmod(r.dir, 0o555))
	t.Cleanup(func() { _ = os.Chmod(r.dir, 0o755) })
	// The folders above it are the test's, and of mode 0700.
	for dir := filepath.Dir(r.dir); strings.HasPrefix(dir, os.TempDir()) && dir != os.TempDir(); dir = filepath.Dir(dir) {
		must(t, os.Chmod(dir, 0o755))
	}
	return r
}

// The programs need no system: no /etc, no /tmp, no /proc, no shell, no other file.
func TestTheImagesProgramsNeedNothingElse(t *testing.T) {
	const commit = "0123456789abcdef0123456789abcdef01234567"
	out := build(t, commit+"+changes")
	for _, name := range []string{"bench", "analyze"} {
		f, err := elf.Open(filepath.Join(out, name))
		must(t, err)
		if libraries, err := f.ImportedLibraries(); err != nil || len(libraries) > 0 || f.Section(".interp") != nil {
			t.Errorf("%s is not static: %q, %v", name, libraries, err)
		}
		f.Close()
	}
	for _, bare := range []bool{false, true} {
		r := imageOf(t, out, bare)
		run := func(args string) string {
			t.Helper()
			status, stdout, stderr := r.run(t, strings.Fields(args)...)
			if status != 0 {
				t.Fatalf("bare %v: %s: status %d\n%s%s", bare, args, status, stdout, stderr)
			}
			return stdout
		}
		if v := run("/bin/bench --version"); !strings.Contains(v, "v9.8.7") || !strings.Contains(v, "commit "+commit+" with changes") || !strings.Contains(v, "queues delta") {
			t.Errorf("the version is %q", v)
		}
		for _, queue := range []string{"memory", "delta --commit-interval 50ms", "kafka --brokers embedded"} {
			lines := strings.Split(strings.TrimSpace(run("/bin/bench run --rate 1000 --duration 1s --quiet --queue "+queue)), "\n")
			address := lines[len(lines)-1]
			if s := run("/bin/analyze summary " + address); !strings.Contains(s, "end-to-end") {
				t.Errorf("%s: the summary of %s is %s", queue, address, s)
			}
			run("/bin/analyze report " + address + " -o /data/report.html")
		}
		// A place that nobody may write to is named.
		if status, _, stderr := r.run(t, "/bin/bench", "run", "--queue", "memory", "--rate", "10", "--duration", "100ms", "--log-store", "/elsewhere"); status != 1 || !strings.Contains(stderr, "/elsewhere") {
			t.Errorf("status %d: %s", status, stderr)
		}
	}
}
