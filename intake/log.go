package intake

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"queuebench/analysis"
	"queuebench/clock"
	"queuebench/rawlog"
)

// source is a raw log whose objects have the names that their own metadata give
// them.
type source struct {
	address string
	objects map[string]rawlog.Object
	clock   clock.Identity // of a log without a manifest
}

// List implements rawlog.Source.
func (s *source) List(context.Context) ([]string, error) {
	var names []string
	for n := range s.objects {
		names = append(names, n)
	}
	return names, nil
}

// Open implements rawlog.Source.
func (s *source) Open(_ context.Context, name string) (rawlog.Object, error) {
	if o := s.objects[name]; o != nil {
		return kept{o}, nil
	}
	return nil, fmt.Errorf("%s was not opened", name)
}

// Address implements rawlog.Source.
func (s *source) Address() string { return s.address }

// kept is an object that outlives whoever reads it.
type kept struct{ rawlog.Object }

func (kept) Close() error { return nil }

// readLog reads the raw log that the files make up.
func (g *group) readLog(ctx context.Context, opt Options, p *teller) (*analysis.Digest, error) {
	if len(g.manifests) == 0 {
		if err := g.standIn(); err != nil {
			return nil, err
		}
	}
	d, err := analysis.Read(ctx, &g.source, analysis.Options{View: opt.View, Progress: p.records})
	if err != nil {
		return nil, g.named(err)
	}
	if f := g.files[0]; f.Remote && !d.Manifest.Complete {
		d.Manifest.Warnings = append(d.Manifest.Warnings, "It was read by address, where nothing can be listed: parts that its run.json does not name yet are not in it.")
	}
	return d, nil
}

// standIn makes the manifest of a log that was given without its own. It claims
// nothing: what is known of a step is then what its rows say, as of a run that
// was killed.
func (g *group) standIn() error {
	const why = "its run.json was not opened with it"
	m := rawlog.Manifest{
		Schema: rawlog.SchemaVersion, Run: g.run, Reason: why, Clock: g.source.clock, Settings: map[string]string{}, Steps: []rawlog.Step{},
		Warnings: []string{"The parts were opened without run.json: queue, settings, rates and the end of each step are not known."},
	}
	text, err := json.Marshal(&m)
	if err != nil {
		return err
	}
	g.source.objects[rawlog.ManifestName] = rawlog.Memory(text)
	return nil
}

// named adds to an error about a part the name that its file has.
func (g *group) named(err error) error {
	for name, i := range g.parts {
		if strings.Contains(err.Error(), name) && !strings.HasSuffix(g.files[i].Name, name) {
			return fmt.Errorf("%w; it is the file %s", err, g.files[i].Name)
		}
	}
	if errors.Is(err, context.Canceled) {
		return context.Canceled
	}
	return err
}
