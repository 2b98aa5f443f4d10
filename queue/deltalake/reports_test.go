package deltalake

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// reports are failures that users of other engines reported, and the tests that
// provoke each here.
var reports = []struct{ report, what, tests string }{
	{"delta#41, delta-rs#911", "overwritten commits on S3", "TestUnfitStoresAreRefused TestSeveralWritersOnOneLog"},
	{"delta-rs#268, #540; trino#27701; delta#7345", "a lost response, then a duplicate", "TestExactlyOnceUnderFaults TestLateLandingCommit TestCommitProtocolExplored"},
	{"arrow-rs-object-store#852", "409 taken for \"exists\"", "TestExactlyOnceUnderFaults TestExactlyOnceUnderRandomFaults"},
	{"delta#6314", "a commit seen in a LIST vanishes", "TestRequestsOnTheWay TestGapIsFatalAndNamed"},
	{"delta#7052, delta-rs#1937", "gaps skipped", "TestGapIsFatalAndNamed"},
	{"delta#550, #1490", "compaction re-emits rows", "TestCompactionIsPassedOver"},
	{"delta-rs#2258, #2643, delta#5458", "a bad checkpoint makes a table unreadable", "TestBadCheckpointsAreFallenBackFrom"},
	{"delta-rs#2016, #3692, delta#606", "clean-up eats logs still needed", "TestCommitIsWhatTheProtocolAsks TestStartOlderThanTheLogIsItsOwnError"},
	{"delta-rs#3392, delta#577", "vacuum under a slow reader", "TestMissingDataIsFatalAndNamed"},
	{"delta-rs#1815, #2518", "thousands of versions make opening slow", "TestTenThousandCommits"},
	{"delta#7451", "nested keys taken for versions", "TestNestedKeysAreNoVersions"},
}

func TestEachReportHasItsTest(t *testing.T) {
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, f := range files {
		body, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(body)
	}
	for _, r := range reports {
		for name := range strings.FieldsSeq(r.tests) {
			if !strings.Contains(all.String(), "\nfunc "+name+"(t *testing.T)") {
				t.Errorf("%s (%s): there is no %s", r.report, r.what, name)
			}
		}
	}
}
