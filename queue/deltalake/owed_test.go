package deltalake

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// owed are what this queue must be tested for, and where: the name of a test, or
// its room and name where it stands in another. docs/delta.md names the parts.
// What users of other engines reported is in reports.
var owed = []struct{ what, tests string }{
	// Faults and the commit protocol.
	{"a lost response after the commit, 409, 503, time-outs, truncated bodies, slow responses", "TestExactlyOnceUnderFaults TestExactlyOnceUnderRandomFaults TestStoreThatStaysAway"},
	{"a commit that lands late", "TestLateLandingCommit TestCommitOfTheDeadLandsBehindItsHeir"},
	{"two writers and a reader, crashes at every step, exhaustively", "TestCommitProtocolExplored"},
	{"two and eight writers on one log", "TestSeveralWritersOnOneLog TestConflictsAreBounded"},
	{"a zombie writer that wakes up", "TestZombieIsFenced"},
	{"a winner that changes protocol or metaData", "TestWinnerThatChangesTheTable"},
	{"a reader that starts in the middle", "TestStartPositions"},
	{"10,000 commits with flat latency", "TestTenThousandCommits"},
	{"a producer that is killed and restarted 20 times", "TestKilledProducerProcess TestProducerKilledAndRestarted"},
	{"neither LIST nor HEAD on the way of a message", "TestRequestsOnTheWay"},
	{"stores without conditional PUT, and a 403 where a 404 is due", "TestUnfitStoresAreRefused"},
	// What is written and read.
	{"what a commit holds", "TestCommitIsWhatTheProtocolAsks TestActionsRoundTrip"},
	{"paths decoded once, none outside of the table", "TestPathsAreDecodedOnce TestPathsOutsideTheTableAreRefused"},
	{"unsupported features refused by name", "TestUnsupportedTablesAreRefusedByName"},
	{"removes refused by a queue", "TestRemovedRowsAreRefused"},
	{"checkpoints: ours, those of others, of version 2, bad ones", "TestCheckpointsHoldWhatTheLogHolds TestCheckpointsAreOfThePlainestParquet TestCheckpointsOfOthers TestBadV2CheckpointsAreFallenBackFrom TestV2CheckpointNeedsItsFeature"},
	{"tables of other engines: rows of each snapshot, tails, refusals", "TestForeignSnapshotRows TestForeignTablesAsQueues TestForeignTablesAreNotAppendedTo"},
	{"tables of others as a queue: column, stamps, retractions, nothing written", "TestStamps TestStampsBesideRetractions TestReadOnlyWritesNothing TestInspect cmd/bench:TestTailOfATableThatOthersWrite"},
	{"copies in the commit", "TestInlinePayloadSavesTheGet TestInlinePayloadThatIsWrong TestInlinePayloadUnderFaults TestInlineRoundTrip"},
	{"stage times", "TestTraces analysis:TestStagesAndTheirSum"},
	{"commit and poll interval chosen for a target", "TestTune"},
	{"the round trips of the pathway preset", "TestAsPathwayMakesItsRoundTrips"},
	// Stores.
	{"S3 and a folder", "TestConformanceS3 TestConformanceFolder"},
	{"both styles, TLS with an authority of one's own, session tokens", "objectstore:TestStylesOverTLS objectstore:TestCredentialsComeFromTheChosenBackend cmd/bench:TestRunOverTLSWithAnAuthorityOfItsOwn"},
	{"S3 Express: endpoint, prices, no order of a LIST", "objectstore:TestExpressBucketsAreReachedInTheirZone cmd/bench:TestPricesGoByTheBucket TestListingsInNoOrder"},
	// Other engines.
	{"delta-rs and DuckDB", "interop/deltatable:TestOthersReadWhatWeWrite interop/deltatable:TestWeConsumeOnceWhatOthersWriteWhileWeTail interop/deltatable:TestOthersCheckpointAndCompactWhatWeTail interop/deltatable:TestBenchTailsWhatDeltaRSWrites"},
	{"Spark", "interop/deltaspark:TestSparkReadsWhatWeWrite interop/deltaspark:TestWeConsumeOnceWhatSparkWrites"},
}

func TestEachThingThatIsOwedHasItsTest(t *testing.T) {
	rooms := map[string]string{}
	source := func(room string) string {
		if rooms[room] == "" {
			files, err := filepath.Glob(filepath.Join(room, "*_test.go"))
			if err != nil || len(files) == 0 {
				t.Fatalf("%s has no tests: %v", room, err)
			}
			for _, f := range files {
				body, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				rooms[room] += "\n" + string(body)
			}
		}
		return rooms[room]
	}
	for _, o := range owed {
		for name := range strings.FieldsSeq(o.tests) {
			room := "."
			if r, n, ok := strings.Cut(name, ":"); ok {
				room, name = filepath.Join("../..", filepath.FromSlash(r)), n
			}
			if !strings.Contains(source(room), "\nfunc "+name+"(t *testing.T)") {
				t.Errorf("%s: there is no %s in %s", o.what, name, room)
			}
		}
	}
}
