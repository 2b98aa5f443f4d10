package importer

import "testing"

func FuzzParseColumns(f *testing.F) {
	for _, s := range []string{"intended=created_ms,received=got:us", "latency=l:s", "series=x,latency=y", "=", ",", "sent=a:b:ns,acked=c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		columns, err := ParseColumns(text)
		if err == nil && len(columns) == 0 {
			t.Errorf("%q names no column, and is no error", text)
		}
	})
}
