package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"queuebench/analysis"
	"queuebench/importer"
	"queuebench/importer/parquetfile"
	"queuebench/internal/command"
	"queuebench/rawlog"
)

// importFlags say what files of other tools do not.
func importFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "columns", Usage: "read a plain CSV or Parquet: its columns by role, such as intended=created:ms,received=got_us (roles: intended, sent, acked, received, latency, series)"},
		&cli.StringFlag{Name: "unit", Usage: "unit of values in a file that carries none: ns, us, ms or s"},
		&cli.GenericFlag{Name: "metric", Usage: "metric of a k6 file; may be given several times", Value: &command.Strings{}},
	}
}

// referenceFlag lays published or imported series beside a run.
func referenceFlag() cli.Flag {
	return &cli.GenericFlag{Name: "reference", Usage: "lay what others say beside the run, apart from it: a file of summaries (docs/formats.md), or one that is built in: " +
		strings.Join(importer.Published(), ", ") + "; may be given several times", Value: &command.Strings{}}
}

func importCommand() *cli.Command {
	return &cli.Command{
		Name:      "import",
		Usage:     "read what another tool recorded",
		ArgsUsage: "FILE…",
		Description: "Writes files of other tools as one digest and prints its path, and on standard error what each file is\n" +
			"and by which definition its percentiles are. A file is known by its content; the other commands take\n" +
			"it as it is, too. Percentiles of raw values are computed, those of summaries are carried.\n\n" +
			"Known are: " + strings.Join(importer.Formats(), ", ") + ";\nand any CSV or Parquet with --columns.",
		UsageText: "   analyze import results.hlog -o results.digest.gz\n" +
			"   analyze import latencies.csv --columns intended=due_ns,received=got_ns -o latencies.digest.gz",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "file to write", Value: "import.digest.gz"},
		}, importFlags()...),
		Action: func(c *cli.Context) error {
			if c.NArg() == 0 {
				return command.Misusef("import takes at least one FILE that another tool wrote")
			}
			path, err := outFile(c)
			if err != nil {
				return err
			}
			d, err := importFiles(c, c.Args().Slice(), analysis.View{})
			if err != nil {
				return err
			}
			if err := tellImports(c.App.ErrWriter, d); err != nil {
				return err
			}
			if err := writeFile(path, func(w io.Writer) error { return analysis.PackDigest(w, d) }); err != nil {
				return err
			}
			return printWritten(c, path)
		},
	}
}

func tellImports(w io.Writer, d *analysis.Digest) error {
	var lines []string
	tell := func(file, format, latency, percentiles string, notes []string) {
		lines = append(lines, file+": "+format, "  latency: "+latency, "  percentiles: "+percentiles)
		for _, n := range notes {
			lines = append(lines, "  "+n)
		}
	}
	for _, x := range d.Manifest.Imports {
		tell(x.File, x.Format, x.Latency, x.Percentiles, x.Notes)
	}
	for _, r := range d.References {
		tell(r.Source, r.Format+", "+r.Name, r.Latency, r.PercentileDefinition, r.Notes)
	}
	return command.Print(w, "%s\n", strings.Join(lines, "\n"))
}

// isFile tells a file that holds what was recorded from the place of a run.
func isFile(address string) bool {
	info, err := os.Stat(address)
	return err == nil && !info.IsDir() && !rawlog.IsManifestName(filepath.Base(address))
}

// importOptions reads importFlags; a command may lack them.
func importOptions(c *cli.Context) (opt importer.Options, err error) {
	if text := c.String("columns"); text != "" {
		if opt.Columns, err = importer.ParseColumns(text); err != nil {
			return opt, command.Misusef("--columns: %w", err)
		}
	}
	if text := c.String("unit"); text != "" {
		if opt.Unit, err = importer.ParseUnit(text); err != nil {
			return opt, command.Misusef("--unit: %w", err)
		}
	}
	opt.Metrics = stringsOf(c, "metric")
	return opt, nil
}

// importFiles reads digests and files of other tools into one digest.
func importFiles(c *cli.Context, names []string, v analysis.View) (*analysis.Digest, error) {
	opt, err := importOptions(c)
	if err != nil {
		return nil, err
	}
	var all []*analysis.Digest
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return nil, command.Misusef("%s takes one of them twice: %s", c.Command.HelpName, name)
		}
		d, err := importFile(name, opt)
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	d, err := importer.Combine(all...)
	if err != nil {
		return nil, command.Misusef("%s takes one run: %w", c.Command.HelpName, err)
	}
	return d, v.Check(d)
}

func importFile(name string, opt importer.Options) (*analysis.Digest, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, 4)
	if n, _ := f.ReadAt(head, 0); n == 4 && string(head) == "PAR1" && len(opt.Columns) > 0 {
		info, err := f.Stat()
		if err != nil {
			return nil, err
		}
		return parquetfile.Read(name, f, info.Size(), opt.Columns)
	}
	d, err := importer.Read(name, f, opt)
	if errors.Is(err, importer.ErrUnknown) {
		return nil, fmt.Errorf("%w; a run is given by its folder", err)
	}
	return d, err
}

// withReferences reads a run and lays references beside it.
func withReferences(c *cli.Context, v analysis.View, read func() (*analysis.Digest, error)) (*analysis.Digest, error) {
	var all []analysis.Reference
	for _, name := range stringsOf(c, "reference") {
		rs, err := referencesOf(c, name)
		if err != nil {
			return nil, err
		}
		all = append(all, rs...)
	}
	d, err := read()
	if err == nil && len(all) > 0 {
		d.References = append(slices.Clone(d.References), all...)
	}
	return d, err
}

// referencesOf are the references of a file, or of a name that is built in.
func referencesOf(c *cli.Context, name string) ([]analysis.Reference, error) {
	if importer.IsPublished(name) && !isFile(name) {
		return importer.ReadPublished(name)
	}
	if !isFile(name) {
		return nil, command.Misusef("--reference %s: there is no such file, and built in is %s", name, strings.Join(importer.Published(), ", "))
	}
	opt, err := importOptions(c)
	if err != nil {
		return nil, err
	}
	opt.Columns = nil
	d, err := importFile(name, opt)
	if err != nil {
		return nil, err
	}
	if len(d.References) == 0 {
		return nil, command.Misusef("--reference %s has values, and no summary to lay beside a run: import it as a run of its own", name)
	}
	return d.References, nil
}
