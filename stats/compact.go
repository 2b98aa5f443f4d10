package stats

// Compact is a histogram at rest: the buckets that have a count, and exact
// count, minimum, maximum and sum. The zero value is empty. It is never
// changed: Accumulate adds it to a Histogram.
type Compact struct {
	N, Min, Max int64
	Sum         float64 // ns
	// Buckets are ascending by Index.
	Buckets []Bucket
}

// Bucket is a count of values in one bucket of an HdrHistogram with a lowest
// value of 1 ns and 3 significant digits. The bucket of a negative value v has
// the index −1 − (the index of −v).
type Bucket struct {
	Index int32
	Count int64
}
