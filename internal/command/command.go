// Package command is what the command lines of bench and analyze share: how
// arguments are read, how help looks, how errors become exit statuses, and the
// progress line.
//
// It wires urfave/cli and decides nothing about measuring. It refuses to print
// a stack trace or more than one line for an error of the user.
package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"

	"queuebench/internal/nearest"
	"queuebench/internal/secret"
)

// The exit statuses of every command.
const (
	StatusOK          = 0
	StatusFailed      = 1   // it was asked for rightly and could not be done
	StatusMisused     = 2   // the command line is wrong
	StatusBroken      = 3   // an expectation was broken: a loss where none was promised
	StatusUnsupported = 4   // the data do not support a verdict
	StatusInterrupted = 130 // Ctrl-C

	statusUnread = 141 // as a shell tells it of a program that SIGPIPE ended
)

// statusError carries an exit status through an error's chain.
type statusError struct {
	status int
	err    error
}

func (e *statusError) Error() string { return e.err.Error() }
func (e *statusError) Unwrap() error { return e.err }

// Misuse marks an error as one of the command line: exit status 2.
func Misuse(err error) error { return &statusError{StatusMisused, err} }

// Misusef is Misuse of a formatted error.
func Misusef(format string, a ...any) error { return Misuse(fmt.Errorf(format, a...)) }

// Broken marks an error as an expectation that did not hold: exit status 3.
func Broken(err error) error { return &statusError{StatusBroken, err} }

// Unsupported marks an error as a verdict that the data do not support: exit
// status 4.
func Unsupported(err error) error { return &statusError{StatusUnsupported, err} }

// Interrupted marks an error as the result of Ctrl-C: exit status 130.
func Interrupted(err error) error { return &statusError{StatusInterrupted, err} }

// Status is the exit status that an error leads to.
func Status(err error) int {
	var s *statusError
	switch {
	case err == nil:
		return StatusOK
	case errors.As(err, &s):
		return s.status
	case errors.Is(err, context.Canceled):
		return StatusInterrupted
	}
	return StatusFailed
}

// Process runs an app as this process: its arguments, its standard streams, and
// a context that the first SIGINT or SIGTERM ends; a second one ends the
// process at once. It returns the exit status.
//
// Output that nobody reads any more, as that into head, ends the command as a
// failed write does, so that it removes what it made and stops what it started,
// where SIGPIPE would end the process on the spot. Nothing is said of it.
func Process(app *cli.App) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // from here on a signal has its default effect
	pipes := make(chan os.Signal, 1)
	signal.Notify(pipes, syscall.SIGPIPE) // and is looked at by nobody: the write has an error
	defer signal.Stop(pipes)
	return Main(ctx, app, os.Args, os.Stdout, os.Stderr)
}

// unread says that an error is only that of writing to a pipe of that name that
// nobody reads any more.
func unread(err error, name string) bool {
	switch e := err.(type) {
	case *fs.PathError:
		return e.Path == name && errors.Is(e.Err, syscall.EPIPE)
	case interface{ Unwrap() []error }:
		return !slices.ContainsFunc(e.Unwrap(), func(part error) bool { return !unread(part, name) })
	}
	inner := errors.Unwrap(err)
	return inner != nil && unread(inner, name)
}

// Main runs an app with arguments (args[0] is the program's name) and returns
// the exit status. Results go to stdout, all else to stderr, both without the
// secrets that are known.
//
// Of urfave/cli it uses the flags, commands and contexts, not App.Run: its help
// runs on text/template, whose reflection keeps every exported method of the
// whole program alive and makes bench 4.3 MB larger (measured: 21.6 to 17.3).
func Main(ctx context.Context, app *cli.App, args []string, stdout, stderr io.Writer) int {
	known := secret.NewKnown(os.Environ())
	results := secret.NewWriter(stdout, known)
	app.Writer, app.ErrWriter = results, stderr
	app.Commands = append(app.Commands, completionCommand(app))
	err := dispatch(secret.With(ctx, known), app, args[min(1, len(args)):])
	if flushed := results.Flush(); flushed != nil {
		err = errors.Join(err, fmt.Errorf("writing the result: %w", flushed))
	}
	if f, ok := stdout.(*os.File); ok && unread(err, f.Name()) {
		return statusUnread
	}
	if err != nil {
		text := known.Strike(oneLine(err))
		if Status(err) == StatusInterrupted && !strings.HasPrefix(text, "interrupted") {
			text = "interrupted: " + text // "context canceled" tells nobody
		}
		fmt.Fprintf(stderr, "%s: %s\n", app.Name, text)
	}
	return Status(err)
}

// dispatch finds the command that args name and runs it.
func dispatch(ctx context.Context, app *cli.App, args []string) error {
	if len(args) > 0 && args[len(args)-1] == completionWord {
		return complete(app, args[:len(args)-1])
	}
	if len(args) == 0 {
		return appHelp(app)
	}
	switch args[0] {
	case "help":
		if len(args) > 1 { // "help COMMAND" is "COMMAND --help"
			return dispatch(ctx, app, []string{args[1], "--help"})
		}
		return appHelp(app)
	case "--help", "-h":
		return appHelp(app)
	case "--version", "-v":
		return Print(app.Writer, "%s %s\n", app.Name, app.Version)
	}
	at := slices.IndexFunc(app.Commands, func(c *cli.Command) bool { return c.HasName(args[0]) })
	if at < 0 {
		var names []string
		for _, c := range app.Commands {
			names = append(names, c.Names()...)
		}
		return Misusef("there is no command %q%s; `%s --help` lists them", args[0], nearest.DidYouMean(args[0], names), app.Name)
	}
	command := app.Commands[at]
	set, err := parse(command, args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return commandHelp(app, command)
	}
	if err != nil {
		return Misusef("%s: %w; `%s %s --help` lists the flags", command.Name, err, app.Name, command.Name)
	}
	c := cli.NewContext(app, set, &cli.Context{Context: ctx})
	c.Command = command
	command.HelpName = app.Name + " " + command.Name
	return command.Action(c)
}

// oneLine keeps an error on one line, whatever a library put into it.
func oneLine(err error) string {
	return strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}

// Print writes a result and reports a writer that failed, such as a closed pipe.
func Print(w io.Writer, format string, a ...any) error {
	if _, err := fmt.Fprintf(w, format, a...); err != nil {
		return fmt.Errorf("writing the result: %w", err)
	}
	return nil
}
