package main

import (
	"flag"
	"math/rand/v2"
	"net/url"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/urfave/cli/v2"

	"queuebench/analysis"
)

// viewOfFlags is the view of a command line of commands that draw.
func viewOfFlags(t *testing.T, args []string) analysis.View {
	t.Helper()
	set := flag.NewFlagSet("analyze", flag.ContinueOnError)
	for _, f := range viewFlags() {
		if err := f.Apply(set); err != nil {
			t.Fatal(err)
		}
	}
	if err := set.Parse(args); err != nil {
		t.Fatalf("%q: %v", args, err)
	}
	c := cli.NewContext(nil, set, nil)
	v, err := viewOf(c)
	if err != nil {
		t.Fatalf("%q: %v", args, err)
	}
	if !c.IsSet("percentiles") {
		v.Percentiles = nil // the same as those that it has by default
	}
	return v
}

// flagsOf are the flags of a view: its address's keys under the same names.
func flagsOf(t *testing.T, v analysis.View) (args []string) {
	t.Helper()
	values, err := url.ParseQuery(v.Fragment())
	if err != nil {
		t.Fatal(err)
	}
	for key := range values {
		args = append(args, "--"+key, values.Get(key))
	}
	return args
}

// anyField gives a field of a view a value of its own, other than its default.
var anyField = map[string]func(r *rand.Rand, v *analysis.View){
	"Warmup": func(r *rand.Rand, v *analysis.View) { v.Warmup = new(time.Duration(r.Int64N(1e12))) },
	"Steady": func(r *rand.Rand, v *analysis.View) { v.Steady, v.Warmup, v.WarmupUntil = true, nil, 0 },
	"WarmupUntil": func(r *rand.Rand, v *analysis.View) {
		v.WarmupUntil, v.Warmup, v.Steady = 1+r.Int64N(1<<62), nil, false
	},
	"Cooldown": func(r *rand.Rand, v *analysis.View) { v.Cooldown = 1 + time.Duration(r.Int64N(1e12)) },
	"From":     func(r *rand.Rand, v *analysis.View) { v.From = 1 + time.Duration(r.Int64N(1e12)) },
	"To":       func(r *rand.Rand, v *analysis.View) { v.To = 1e12 + 1 + time.Duration(r.Int64N(1e12)) },
	"Interval": func(r *rand.Rand, v *analysis.View) { v.Interval = 1 + time.Duration(r.Int64N(1e11)) },
	"Percentiles": func(r *rand.Rand, v *analysis.View) {
		v.Percentiles = [][]float64{{50}, {50, 99.9}, {1, 50, 99.99, 99.9999999}, {12.5, 50}}[r.IntN(4)]
	},
	"Kind":     func(r *rand.Rand, v *analysis.View) { v.Kind = 1 + analysis.Kind(r.IntN(int(analysis.NumKinds)-1)) },
	"LogScale": func(_ *rand.Rand, v *analysis.View) { v.LogScale = true },
	"Lines": func(r *rand.Rand, v *analysis.View) {
		v.Lines = [][]string{{"50"}, {"50", analysis.LineMax}, {analysis.LineBand, analysis.LineSlowest}, slices.Clone(analysis.LineParts)}[r.IntN(4)]
	},
}

// Every field of a view goes from flags to the view, to an address, back to a
// view and back to flags, alone and beside the others. A field that has no such
// way fails here, so that nobody can add one that a link loses.
func TestEveryFieldOfAViewIsAFlagAndAKey(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	round := func(what string, v analysis.View) {
		t.Helper()
		args := flagsOf(t, v)
		parsed, err := analysis.ParseFragment(v.Fragment())
		if err != nil || !reflect.DeepEqual(parsed, v) {
			t.Errorf("%s: the address %q of %+v is read as %+v, %v", what, v.Fragment(), v, parsed, err)
		}
		got := viewOfFlags(t, args)
		if !reflect.DeepEqual(got, v) {
			t.Errorf("%s: the flags %q of %+v are read as %+v", what, args, v, got)
		}
		if got.Fragment() != v.Fragment() {
			t.Errorf("%s: the flags %q have the address %q, not %q", what, args, got.Fragment(), v.Fragment())
		}
	}
	round("the usual view", analysis.View{})
	fields := reflect.VisibleFields(reflect.TypeFor[analysis.View]())
	for _, f := range fields {
		change := anyField[f.Name]
		if change == nil {
			t.Fatalf("nothing is known of the field %s of a view: give it a flag, a key of the address, and a value here", f.Name)
		}
		for range 20 {
			var v analysis.View
			change(r, &v)
			if reflect.ValueOf(v).FieldByIndex(f.Index).IsZero() || v.Fragment() == "" {
				t.Fatalf("%s: %+v has the address %q", f.Name, v, v.Fragment())
			}
			round(f.Name, v)
		}
	}
	for range 300 {
		var v analysis.View
		for _, f := range fields {
			if r.IntN(2) == 0 {
				anyField[f.Name](r, &v)
			}
		}
		round("several fields", v)
	}
	if len(anyField) != len(fields) {
		t.Errorf("%d fields are known, a view has %d", len(anyField), len(fields))
	}
}
