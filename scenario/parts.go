package scenario

import (
	"cmp"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"queuebench/internal/yamlfile"
)

// nameOf is what names ports and parts: it becomes a part of variables' names.
var nameOf = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,39}$`)

func fromNode(path string, root *yamlfile.Node) (*File, error) {
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	r := &reader{path: path, dir: dir}
	f := &File{Path: path, Command: "run"}
	err = r.mapping(root, "a scenario", fields{
		"name": r.text("name", &f.Name), "description": r.text("description", &f.Description), "command": r.text("command", &f.Command),
		"workload": func(n *yamlfile.Node) error {
			if err := r.text("workload", &f.Workload)(n); err != nil {
				return err
			}
			if !filepath.IsAbs(f.Workload) {
				f.Workload = filepath.Join(filepath.Dir(path), f.Workload)
			}
			return nil
		},
		"settings": func(n *yamlfile.Node) error {
			if n.Kind != yamlfile.Map {
				return r.errorf(n.Line, "settings is %s: write the names of flags with their values", n.Kind)
			}
			f.Settings = n
			return nil
		},
		"one-at-a-time": func(n *yamlfile.Node) error { return r.list(n, "one-at-a-time", f.option(r)) },
		"ports":         func(n *yamlfile.Node) error { return r.list(n, "ports", f.port(r)) },
		"env":           r.env("env", &f.Env),
		"environment":   func(n *yamlfile.Node) error { return r.list(n, "environment", f.part(r)) },
		"faults":        func(n *yamlfile.Node) error { return r.list(n, "faults", f.fault(r)) },
		"expect":        func(n *yamlfile.Node) error { return f.expect(r, n) },
	})
	if err != nil {
		return nil, err
	}
	return f, f.check(r)
}

func (f *File) option(r *reader) func(*yamlfile.Node) error {
	return func(n *yamlfile.Node) error {
		o := Option{Line: n.Line}
		settings := func(what string, out **yamlfile.Node) func(*yamlfile.Node) error {
			return func(n *yamlfile.Node) error {
				if n.Kind != yamlfile.Map || len(n.Fields) == 0 {
					return r.errorf(n.Line, "%s is %s: write the names of flags with their values", what, n.Kind)
				}
				*out = n
				return nil
			}
		}
		if err := r.mapping(n, "one of one-at-a-time", fields{"name": r.text("name", &o.Name), "off": settings("off", &o.Off), "on": settings("on", &o.On)}); err != nil {
			return err
		}
		if o.Name == "" || o.On == nil {
			return r.errorf(n.Line, "it needs a name, and what is set when it is on")
		}
		if slices.ContainsFunc(f.Options, func(p Option) bool { return p.Name == o.Name }) {
			return r.errorf(n.Line, "the name %.60q comes twice", o.Name)
		}
		f.Options = append(f.Options, o)
		return nil
	}
}

func (f *File) port(r *reader) func(*yamlfile.Node) error {
	return func(n *yamlfile.Node) error {
		if !n.Scalar() || !nameOf.MatchString(n.Value) || slices.Contains(f.Ports, n.Value) {
			return r.errorf(n.Line, "%.60q is no name for a port: write letters, digits, - and _, each name once", n.Value)
		}
		f.Ports = append(f.Ports, n.Value)
		return nil
	}
}

func (f *File) part(r *reader) func(*yamlfile.Node) error {
	return func(n *yamlfile.Node) error {
		p := Part{Line: n.Line, Directory: r.dir, Grace: DefaultGrace, Timeout: DefaultTimeout, Output: DefaultOutput}
		p.Ready.Timeout = DefaultReady
		err := r.mapping(n, "a part of the environment", fields{
			"name": r.text("name", &p.Name), "start": r.command("start", &p.Start), "run": r.command("run", &p.Run),
			"again": r.command("again", &p.Again), "stop": r.command("stop", &p.Stop),
			"directory": r.directory(&p.Directory), "env": r.env("env", &p.Env), "ready": func(n *yamlfile.Node) error { return p.Ready.read(r, n) },
			"grace": r.duration("grace", 0, &p.Grace), "timeout": r.duration("timeout", 1, &p.Timeout), "finish": r.duration("finish", 1, &p.Finish),
			"output": r.whole("output", 0, MaxOutput, &p.Output),
		})
		if err != nil {
			return err
		}
		switch {
		case !nameOf.MatchString(p.Name):
			return r.errorf(n.Line, "a part of the environment needs a name of letters, digits, - and _, not %.60q", p.Name)
		case slices.ContainsFunc(f.Environment, func(o Part) bool { return o.Name == p.Name }):
			return r.errorf(n.Line, "the name %s comes twice in the environment", p.Name)
		case p.Start.IsZero() == p.Run.IsZero():
			return r.errorf(n.Line, "%s needs one of start (it goes on) and run (it runs to its end)", p.Name)
		case p.Start.IsZero() && (!p.Again.IsZero() || p.Ready.asks() || p.Finish > 0):
			return r.errorf(n.Line, "%s is run to its end: again, ready and finish are for what start starts", p.Name)
		}
		f.Environment = append(f.Environment, p)
		return nil
	}
}

func (p *Ready) asks() bool { return p.TCP != "" || p.HTTP != "" || !p.Command.IsZero() }

func (p *Ready) read(r *reader, n *yamlfile.Node) error {
	err := r.mapping(n, "ready", fields{
		"tcp": r.text("tcp", &p.TCP), "http": r.text("http", &p.HTTP), "status": r.whole("status", 100, 599, &p.Status),
		"command": r.command("command", &p.Command), "timeout": r.duration("timeout", 1, &p.Timeout),
	})
	if err != nil {
		return err
	}
	asked := 0
	for _, has := range []bool{p.TCP != "", p.HTTP != "", !p.Command.IsZero()} {
		if has {
			asked++
		}
	}
	switch {
	case asked != 1:
		return r.errorf(n.Line, "ready needs one of tcp, http and command")
	case p.HTTP == "" && p.Status != 0:
		return r.errorf(n.Line, "ready: status is that of an http answer")
	case p.HTTP != "" && !strings.HasPrefix(p.HTTP, "http://") && !strings.HasPrefix(p.HTTP, "https://"):
		return r.errorf(n.Line, "ready: http needs an address that begins with http:// or https://")
	}
	return nil
}

func (f *File) fault(r *reader) func(*yamlfile.Node) error {
	return func(n *yamlfile.Node) error {
		x := Fault{Line: n.Line, At: -1, Restart: -1, Timeout: DefaultTimeout}
		err := r.mapping(n, "a fault", fields{
			"name": r.text("name", &x.Name), "at": r.duration("at", 0, &x.At), "for": r.duration("for", 1, &x.For),
			"signal": r.text("signal", &x.Signal), "process": r.text("process", &x.Process), "restart-after": r.duration("restart-after", 0, &x.Restart),
			"run": r.command("run", &x.Run), "undo": r.command("undo", &x.Undo), "timeout": r.duration("timeout", 1, &x.Timeout),
			"recovered_within": r.duration("recovered_within", 1, &x.Within),
		})
		if err != nil {
			return err
		}
		x.Signal = strings.TrimPrefix(strings.ToUpper(x.Signal), "SIG")
		if err := f.checkFault(r, &x); err != nil {
			return err
		}
		f.Faults = append(f.Faults, x)
		return nil
	}
}

func (f *File) checkFault(r *reader, x *Fault) error {
	switch {
	case x.At < 0:
		return r.errorf(x.Line, "a fault needs a time after the load's start: at: 10s")
	case (x.Signal == "") == x.Run.IsZero():
		return r.errorf(x.Line, "a fault needs one of signal (to a process) and run (a command)")
	case x.Signal == "" && (x.Process != "" || x.Restart >= 0):
		return r.errorf(x.Line, "process and restart-after belong to a signal")
	case x.Signal != "" && !x.Undo.IsZero():
		return r.errorf(x.Line, "undo belongs to run: after a signal, for sends SIGCONT")
	case x.Signal == "" && (x.For > 0) == x.Undo.IsZero():
		return r.errorf(x.Line, "a command that is undone needs both undo and for")
	case x.Signal != "" && !knownSignal(x.Signal):
		return r.errorf(x.Line, "signal %.20q: it is one of %s", x.Signal, strings.Join(signalNames(), ", "))
	case x.Signal != "STOP" && x.Signal != "" && x.For > 0:
		return r.errorf(x.Line, "for is for signal STOP, which SIGCONT ends")
	case x.Restart >= 0 && x.Signal != "KILL" && x.Signal != "TERM" && x.Signal != "INT":
		return r.errorf(x.Line, "restart-after is for a signal that ends the process: KILL, TERM or INT")
	}
	return nil
}

// check holds the parts of the file against each other.
func (f *File) check(r *reader) error {
	for i := range f.Faults {
		x := &f.Faults[i]
		if x.Signal != "" && f.Process(x.Process) == nil {
			var names []string
			for _, p := range f.Environment {
				if !p.Start.IsZero() {
					names = append(names, p.Name)
				}
			}
			return r.errorf(x.Line, "the fault is for process %.60q, which the environment does not start; it starts: %s", x.Process, strings.Join(names, ", "))
		}
	}
	slices.SortStableFunc(f.Faults, func(a, b Fault) int { return cmp.Compare(a.At, b.At) })
	return f.checkVariables(r)
}
