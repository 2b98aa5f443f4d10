package rawlog

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func read(text string) (*Manifest, error) { return ReadManifest(strings.NewReader(text)) }

func TestManifestRoundTrip(t *testing.T) {
	want := &Manifest{
		Schema: SchemaVersion, Run: "r", Complete: true, StartedNs: 1, Settings: map[string]string{"rates": "1,2"}, Warnings: []string{},
		Steps: []Step{
			{Step: 0, Rate: 1000, Settings: map[string]string{}, StartedNs: 5, DurationNs: 6, Producers: 1, Groups: []string{"g"},
				Accounting: Accounting{Scheduled: 3}, Parts: []PartInfo{{Name: PartName("sent", 0, 0, "producer-0", 0), Rows: 3, Part: Part{Table: "sent", WatermarkNs: 1 << 60}}}},
			{Step: 0, Repeat: 1, Settings: map[string]string{}, Groups: []string{}, Parts: []PartInfo{}},
		},
	}
	body, err := json.MarshalIndent(want, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got, err := read(string(body))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read %+v, want %+v", got, want)
	}
}

func TestManifestVersions(t *testing.T) {
	for _, schema := range []string{"queuebench.run/1", "queuebench.run/1.7"} {
		m, err := read(fmt.Sprintf(`{"schema":%q,"run":"r","added_later":{"x":[1]}}`, schema))
		if err != nil || m.Run != "r" {
			t.Errorf("%s: %v", schema, err)
		}
	}
	_, err := read(`{"schema":"queuebench.run/2","run":{"another":"shape"}}`)
	if !errors.Is(err, ErrNewer) || !strings.Contains(err.Error(), "this log is queuebench.run/2; this program reads /1: use a newer analyze") {
		t.Errorf("a newer major version: %v", err)
	}
}

func TestManifestsThatAreNone(t *testing.T) {
	for text, want := range map[string]error{
		``:                               ErrDamaged,
		`[]`:                             ErrDamaged,
		`hello`:                          ErrNotARun,
		`{}`:                             ErrNotARun,
		`{"schema":"other/1"}`:           ErrNotARun,
		`{"schema":"queuebench.run/x"}`:  ErrNotARun,
		`{"schema":"queuebench.run/0"}`:  ErrNotARun,
		`{"schema":"queuebench.run/1",`:  ErrDamaged,
		`{"schema":"queuebench.run/1"}x`: ErrDamaged,
		`{"schema":"queuebench.run/1","steps":[{"step":-1}]}`:                                  ErrDamaged,
		`{"schema":"queuebench.run/1","steps":[{"step":0},{"step":0}]}`:                        ErrDamaged,
		`{"schema":"queuebench.run/1","steps":[{"step":0,"parts":[{"name":"../../secret"}]}]}`: ErrDamaged,
		`{"schema":"queuebench.run/1","steps":[{"step":0,"parts":[{"name":"/etc/passwd"}]}]}`:  ErrDamaged,
		`{"schema":"queuebench.run/1","started_ns":"yesterday"}`:                               ErrDamaged,
	} {
		if _, err := read(text); !errors.Is(err, want) {
			t.Errorf("%s: error is %v, want %v", text, err, want)
		}
	}
}

func TestManifestSizeIsLimited(t *testing.T) {
	endless := endlessReader{}
	if _, err := ReadManifest(endless); !errors.Is(err, ErrUnsupported) {
		t.Errorf("an endless manifest: %v", err)
	}
}

type endlessReader struct{}

func (endlessReader) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

func FuzzReadManifest(f *testing.F) {
	f.Add(`{"schema":"queuebench.run/1","steps":[{"step":0,"parts":[{"name":"sent/a.parquet"}]}]}`)
	f.Add(`{"schema":"queuebench.run/2"}`)
	f.Fuzz(func(t *testing.T, text string) {
		m, err := read(text)
		if err == nil && m == nil {
			t.Error("neither a manifest nor an error")
		}
	})
}

func TestMissingManifestSaysWhatToDo(t *testing.T) {
	err := MissingManifest("./data")
	if !errors.Is(err, ErrNotARun) || !strings.Contains(err.Error(), "no run.json in ./data: give the address that bench printed last") {
		t.Error(err)
	}
}
