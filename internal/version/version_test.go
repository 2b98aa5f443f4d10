package version

import (
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

func TestWhichBuildItIs(t *testing.T) {
	const revision = "0123456789abcdef0123456789abcdef01234567"
	where := " (" + runtime.Version() + ", " + runtime.GOOS + "/" + runtime.GOARCH + "); "
	for _, c := range []struct {
		main           string
		settings       string
		commit, number string
		want           string
	}{
		{"", "", "", "", "devel" + where + "commit not known; no tags"},
		{"(devel)", "vcs.revision=" + revision + " vcs.modified=false", "", "", "devel-0123456789ab" + where + "commit " + revision + "; no tags"},
		{"(devel)", "vcs.revision=" + revision + " vcs.modified=true -tags=min", "", "", "devel-0123456789ab+changes" + where + "commit " + revision + " with changes; tags min"},
		{"v1.2.3", "vcs.revision=" + revision + " vcs.modified=false", "other", "v9", "v1.2.3" + where + "commit " + revision + "; no tags"},
		{"(devel)", "", revision, "v1.2.3", "v1.2.3" + where + "commit " + revision + "; no tags"},
		{"(devel)", "-tags=nokafka,nonats", revision + "+changes", "", "devel-0123456789ab+changes" + where + "commit " + revision + " with changes; tags nokafka,nonats"},
		{"v1.2.3", "", "", "", "v1.2.3" + where + "commit not known; no tags"}, // go install …@v1.2.3
	} {
		info := &debug.BuildInfo{Main: debug.Module{Version: c.main}}
		for s := range strings.FieldsSeq(c.settings) {
			name, value, _ := strings.Cut(s, "=")
			info.Settings = append(info.Settings, debug.BuildSetting{Key: name, Value: value})
		}
		if got := of(info, c.commit, c.number).String(); got != c.want {
			t.Errorf("%q with %q is %q\nexpected %q", c.main, c.settings, got, c.want)
		}
	}
}
