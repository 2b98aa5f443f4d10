// Package stats has the statistics that both the runner and the analysis need:
// histograms of signed nanoseconds, quantiles by nearest rank, and the test for
// growth.
//
// It refuses to average or merge percentiles: histograms are added. A quantile
// is given in [0,1]. Nothing is clipped: a value beyond the range of a
// histogram is an error, and the count of infinite values (messages that never
// came) is part of every rank.
package stats
