package scenario

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"queuebench/internal/secret"
	"queuebench/internal/yamlfile"
)

// The variables of a file are written ${name}; $${ is a plain ${. They stand in
// arguments, environment variables, addresses, directories and settings. The
// text of a shell is left as it is, since it would be read again: it finds them
// as BENCH_DIR, BENCH_PORT_name and so on.
//
//	${dir}          a folder of this run, removed when it has ended
//	${here}         the folder of the scenario file
//	${pwd}          the folder in which bench was started
//	${bench}        this program
//	${run}          the id of the run
//	${port.NAME}    a free port of the loopback interface, named under ports
//	${secret.NAME}  a random text, the same wherever the name stands; it is
//	                struck out of what commands print, as is every variable
//	                whose name says that it is a secret
//	${env.NAME}     an environment variable, which must be set

// Variables are the values of a run's variables.
type Variables struct {
	dir, here, pwd, bench, run string
	ports                      map[string]int
	getenv                     func(string) (string, bool)

	mu      sync.Mutex // guards secrets
	secrets map[string]string
	known   *secret.Known // those, and others that must not be told
}

// NewVariables makes the variables of a file: it picks free ports and makes the
// run's folder below the system's folder for temporary files. bench is the path
// of this program, run the id of the run; known gets the secrets that are made.
func NewVariables(f *File, bench, run string, known *secret.Known) (*Variables, error) {
	here, err := filepath.Abs(filepath.Dir(f.Path))
	if err != nil {
		return nil, err
	}
	pwd, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	v := &Variables{here: here, pwd: pwd, bench: bench, run: run, ports: map[string]int{}, secrets: map[string]string{}, getenv: os.LookupEnv, known: known}
	if v.ports, err = freePorts(f.Ports); err != nil {
		return nil, err
	}
	if v.dir, err = os.MkdirTemp("", "queuebench-scenario-"); err != nil {
		return nil, fmt.Errorf("the scenario's folder: %w", err)
	}
	return v, nil
}

// Close removes the run's folder.
func (v *Variables) Close() error { return os.RemoveAll(v.dir) }

// freePorts are ports that nobody listens on, all different. Another program may
// take one before it is used: the part that needs it then says so.
func freePorts(names []string) (ports map[string]int, err error) {
	ports = map[string]int{}
	for _, name := range names {
		l, lerr := net.Listen("tcp", "127.0.0.1:0")
		if lerr != nil {
			return nil, fmt.Errorf("a free port for %s: %w", name, lerr)
		}
		defer func() { err = errors.Join(err, l.Close()) }() // all at once, so that they differ
		ports[name] = l.Addr().(*net.TCPAddr).Port
	}
	return ports, nil
}

// lookup is the value of a variable.
func (v *Variables) lookup(name string) (string, error) {
	switch name {
	case "dir":
		return v.dir, nil
	case "here":
		return v.here, nil
	case "pwd":
		return v.pwd, nil
	case "bench":
		return v.bench, nil
	case "run":
		return v.run, nil
	}
	kind, rest, _ := strings.Cut(name, ".")
	switch kind {
	case "port":
		return strconv.Itoa(v.ports[rest]), nil
	case "secret":
		v.mu.Lock()
		defer v.mu.Unlock()
		if v.secrets[rest] == "" {
			v.secrets[rest] = strings.ToLower(rand.Text())
			v.known.Note(v.secrets[rest])
		}
		return v.secrets[rest], nil
	}
	if value, ok := v.getenv(rest); ok {
		return value, nil
	}
	return "", fmt.Errorf("the environment variable %s is not set", rest)
}

// Expand replaces the variables of a text.
func (v *Variables) Expand(text string) (string, error) { return expand(text, v.lookup) }

// ExpandNode replaces the variables of all texts of settings.
func (v *Variables) ExpandNode(n *yamlfile.Node) (*yamlfile.Node, error) {
	out := *n
	var err error
	if n.Kind == yamlfile.Text {
		if out.Value, err = v.Expand(n.Value); err != nil {
			return nil, err
		}
	}
	out.Items, out.Fields = slices.Clone(n.Items), slices.Clone(n.Fields)
	for i := range out.Items {
		next, err := v.ExpandNode(&n.Items[i])
		if err != nil {
			return nil, err
		}
		out.Items[i] = *next
	}
	for i := range out.Fields {
		next, err := v.ExpandNode(&n.Fields[i].Value)
		if err != nil {
			return nil, err
		}
		out.Fields[i].Value = *next
	}
	return &out, nil
}

// environ are the variables as every command finds them in its environment.
func (v *Variables) environ() (all []string) {
	for name, port := range v.ports {
		all = append(all, fmt.Sprintf("BENCH_PORT_%s=%d", name, port))
	}
	slices.Sort(all)
	return append(all, "BENCH_DIR="+v.dir, "BENCH_HERE="+v.here, "BENCH_PWD="+v.pwd, "BENCH_PROGRAM="+v.bench, "BENCH_RUN="+v.run)
}

// Strike takes secrets out of what a command printed: those of ${secret.NAME},
// and the values of variables whose names say that they are secrets, of this
// process and of the file.
func (v *Variables) Strike(text string) string { return v.known.Strike(text) }

// Hide notes a value of the file that is a secret by its name.
func (v *Variables) Hide(name, value string) {
	if secret.NamesSecret(name) {
		v.known.Note(value)
	}
}

// expand replaces ${name} by what lookup says, and $${ by ${.
func expand(text string, lookup func(name string) (string, error)) (string, error) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "${")
		if !found {
			b.WriteString(text)
			return b.String(), nil
		}
		if plain, ok := strings.CutSuffix(before, "$"); ok {
			b.WriteString(plain + "${")
			text = rest
			continue
		}
		name, after, closed := strings.Cut(rest, "}")
		if !closed {
			return "", fmt.Errorf("a ${ is not closed: write ${name}, or $${ for the text itself")
		}
		value, err := lookup(name)
		if err != nil {
			return "", err
		}
		b.WriteString(before + value)
		text = after
	}
}

// known refuses a variable that no run of the file would have.
func (f *File) known(name string) (string, error) {
	kind, rest, dotted := strings.Cut(name, ".")
	switch {
	case slices.Contains([]string{"dir", "here", "pwd", "bench", "run"}, name):
	case dotted && kind == "port" && slices.Contains(f.Ports, rest):
	case dotted && kind == "port":
		return "", fmt.Errorf("${%.60s}: name the port under ports", name)
	case dotted && (kind == "secret" || kind == "env") && rest != "":
	default:
		return "", fmt.Errorf("${%.60s} is no variable: there are dir, here, pwd, bench, run, port.NAME, secret.NAME and env.NAME", name)
	}
	return "", nil
}

// checkVariables refuses unknown variables wherever they may stand.
func (f *File) checkVariables(r *reader) error {
	check := func(line int, texts ...string) error {
		for _, text := range texts {
			if _, err := expand(text, f.known); err != nil {
				return r.errorf(line, "%v", err)
			}
		}
		return nil
	}
	env := func(line int, all []Env) error {
		for _, e := range all {
			if err := check(line, e.Value); err != nil {
				return err
			}
		}
		return nil
	}
	errs := []error{env(1, f.Env)}
	for _, p := range f.Environment {
		errs = append(errs, check(p.Line, p.Directory, p.Ready.TCP, p.Ready.HTTP), env(p.Line, p.Env))
		for _, c := range []Command{p.Start, p.Run, p.Again, p.Stop, p.Ready.Command} {
			errs = append(errs, check(c.Line, c.Args...))
		}
	}
	for _, x := range f.Faults {
		errs = append(errs, check(x.Run.Line, x.Run.Args...), check(x.Undo.Line, x.Undo.Args...))
	}
	var settings func(n *yamlfile.Node)
	settings = func(n *yamlfile.Node) {
		if n == nil {
			return
		}
		errs = append(errs, check(n.Line, n.Value))
		for i := range n.Items {
			settings(&n.Items[i])
		}
		for i := range n.Fields {
			settings(&n.Fields[i].Value)
		}
	}
	settings(f.Settings)
	for _, o := range f.Options {
		settings(o.Off)
		settings(o.On)
	}
	for _, err := range errs {
		if err != nil {
			return err // the first: one line is enough
		}
	}
	return nil
}
