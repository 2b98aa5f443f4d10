package rawlog

import (
	"context"
	"fmt"
	"strings"
)

// Joined is one source of several that hold parts of one run: its halves were
// recorded to different places, each under names of its own.
func Joined(sources ...Source) Source {
	if len(sources) == 1 {
		return sources[0]
	}
	return &joined{sources: sources}
}

type joined struct {
	sources []Source
	where   map[string]Source
}

// List implements Source. Two sources that both have a name are an error: they
// are two copies, or two runs.
func (j *joined) List(ctx context.Context) ([]string, error) {
	j.where = map[string]Source{}
	var all []string
	for _, s := range j.sources {
		names, err := s.List(ctx)
		if err != nil {
			return nil, err
		}
		for _, n := range names {
			if other, twice := j.where[n]; twice && (IsManifestName(n) || IsPartName(n)) {
				return nil, fmt.Errorf("%w: %s and %s both have %s: they are two runs, or one of them twice", ErrNotHalves, other.Address(), s.Address(), n)
			}
			j.where[n] = s
			all = append(all, n)
		}
	}
	return all, nil
}

// Open implements Source.
func (j *joined) Open(ctx context.Context, name string) (Object, error) {
	if s := j.where[name]; s != nil {
		return s.Open(ctx, name)
	}
	return nil, fmt.Errorf("%s is in none of %s", name, j.Address())
}

// Address implements Source.
func (j *joined) Address() string {
	var all []string
	for _, s := range j.sources {
		all = append(all, s.Address())
	}
	return strings.Join(all, " + ")
}
