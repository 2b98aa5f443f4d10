package queue

import "time"

// Stage is a part of a batch's way whose time is recorded.
type Stage int

// The stages, in the order in which a batch passes them.
const (
	StageWait      Stage = iota // first message taken → commit begun
	StageEncode                 // rows → file
	StageDataPut                // PUT of the data
	StageCommitPut              // PUT of the commit, with its retries
	StageDiscover               // the reader's polls and sleeps before the commit was found
	StageCommitGet              // GET of the commit that was found
	StageDataGet                // GET of the data
	StageDecode                 // file → rows
	StageDeliver                // rows → the caller took them
	NumStages
)

var stageNames = [NumStages]string{"wait", "encode", "data_put", "commit_put", "discover", "commit_get", "data_get", "decode", "deliver"}

// String is the stage's name as the raw log's columns have it, without "_ns".
func (s Stage) String() string { return stageNames[s] }

// Trace is one commit of a producer or one fetch of a consumer.
type Trace struct {
	Partition int32
	Offset    int64 // Delta: the version; −1 where it is not known
	Messages  int
	Bytes     int64 // of the data as stored
	Tries     int   // requests that it took to commit, 1 when the first succeeded
	Took      [NumStages]time.Duration
	Has       [NumStages]bool // which stages of Took were measured
}

// Set records a stage.
func (t *Trace) Set(s Stage, d time.Duration) { t.Took[s], t.Has[s] = d, true }
