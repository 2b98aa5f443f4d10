package analysis

import (
	"fmt"
	"strings"
)

func stepFailed(c *cut) *Finding {
	if c.step.Failure == "" {
		return nil
	}
	return finding("step-failed", Failure, "The step failed: %s.", "What was recorded until then is shown. Remove the cause and run this rate again.",
		strings.TrimSuffix(c.step.Failure, "."))
}

func stepIncomplete(c *cut) *Finding {
	if c.step.Complete || c.step.Accounting.Unknown == 0 && (c.step.Failure != "" || missingHalf(&c.digest.Manifest) != "" || c.run != nil && c.run.SharedGroups) {
		return nil
	}
	return finding("step-incomplete", Warning, "The log of this step is incomplete: %s lie beyond its watermark and are unknown, not lost.",
		"The numbers hold up to the watermark. Run the step again for the whole.", plural(c.step.Accounting.Unknown, "message")).with("unknown", float64(c.step.Accounting.Unknown))
}

func nothingAcknowledged(c *cut) *Finding {
	a := &c.step.Accounting
	if a.Attempted == 0 || a.Acked > 0 || a.Failed+a.Unconfirmed == 0 {
		return nil
	}
	return finding("nothing-acknowledged", Failure, "The queue acknowledged none of %s: %s failed, %s unconfirmed.",
		"See the events of the run for the first error: the store's address, its credentials and its permissions come first.",
		plural(a.Attempted, "message"), FormatCount(a.Failed), FormatCount(a.Unconfirmed)).with("attempted", float64(a.Attempted)).with("failed", float64(a.Failed)).with("unconfirmed", float64(a.Unconfirmed))
}

func noData(c *cut) *Finding {
	if k := c.step.main(); c.has("window-empty") || c.total[k].N+c.never[k] > 0 || c.step.NoEndToEnd != "" && c.step.Accounting.RecordsUsed > 0 || c.warmup >= c.step.Duration && c.warmup > 0 {
		return nil
	}
	where := "after the warm-up of " + formatDuration(c.warmup)
	if c.view.Windowed() {
		where = c.where()
	}
	return finding("no-data", Warning, "No data: there is no message %s.",
		"A percentile of nothing is not shown. See whether the step ran at all, and for how long.", where)
}

// accountingBreach holds the sums of the rows against each other and against
// what the runner counted while it ran. A difference is an error of ours, never
// of the queue.
func accountingBreach(c *cut) *Finding {
	a := &c.step.Accounting
	var breach []string
	differ := func(what string, x, y int64) {
		if x != y {
			breach = append(breach, fmt.Sprintf("%s: %s against %s", what, FormatCount(x), FormatCount(y)))
		}
	}
	differ("scheduled and its fates", a.Scheduled, a.Attempted+a.Overrun+a.Unknown)
	differ("attempted and its fates", a.Attempted, a.Acked+a.Failed+a.Unconfirmed)
	if c.step.tails() && c.step.Complete {
		t := c.step.Own.Tail
		differ("received and what became of it", a.Received, t.PresentRows+t.Unstamped+a.RecordsUsed+a.RecordsRejected)
	}
	if c.run != nil && c.step.Complete {
		m := &c.run.Accounting
		differ("scheduled, rows and runner", a.Scheduled, m.Scheduled)
		differ("attempted, rows and runner", a.Attempted, m.Attempted)
		differ("acknowledged, rows and runner", a.Acked, m.Acked)
		differ("failed, rows and runner", a.Failed, m.Failed)
		differ("unconfirmed, rows and runner", a.Unconfirmed, m.Unconfirmed)
		differ("overrun, rows and runner", a.Overrun, m.Overrun)
		if len(c.digest.Manifest.Processes) == 0 { // neither half alone knows
			differ("lost, rows and runner", a.Lost, m.Lost)
		}
		if c.run.SharedGroups { // none of the processes knows what another got
			if len(c.run.Groups) <= 1 {
				differ("deliveries, rows and runner", a.Received+a.Duplicates, m.Received+m.Duplicates)
			}
		} else {
			differ("duplicates, rows and runner", a.Duplicates, m.Duplicates)
			differ("out of order, rows and runner", a.OutOfOrder, m.OutOfOrder)
		}
		if len(c.run.Groups) <= 1 && !c.run.SharedGroups {
			differ("received, rows and runner", a.Received, m.Received)
		}
	}
	if len(breach) == 0 {
		return nil
	}
	return finding("accounting-breach", Failure, "The counts do not agree (%s). This is an error of this program or of the log, not of the queue.",
		"Do not use this step. Please report it together with run.json.", strings.Join(breach, "; "))
}

func messagesLost(c *cut) *Finding {
	a := &c.step.Accounting
	if a.Lost == 0 {
		return nil
	}
	if c.digest.Manifest.Queue.LosesNothing {
		return finding("messages-lost", Failure, "%s of %s acknowledged never came (%s), though the queue promises to lose none.",
			"They rank as infinite in every percentile. Look for the gap in the events and in the offsets of the log; a longer drain deadline tells late from lost.",
			plural(a.Lost, "message"), FormatCount(a.Acked), formatShare(a.Lost, a.Acked)).with("lost", float64(a.Lost)).with("acked", float64(a.Acked))
	}
	return finding("messages-lost", Warning, "%s of %s acknowledged never came (%s). The queue does not promise otherwise.",
		"They rank as infinite in every percentile. Ask for stronger acknowledgements, or wait longer for the drain.",
		plural(a.Lost, "message"), FormatCount(a.Acked), formatShare(a.Lost, a.Acked)).with("lost", float64(a.Lost)).with("acked", float64(a.Acked))
}

func duplicates(c *cut) *Finding {
	a := &c.step.Accounting
	if a.Duplicates == 0 {
		return nil
	}
	severity, promise := Warning, "The queue delivers at least once and does not promise otherwise."
	if c.digest.Manifest.Queue.DeliversOnce {
		severity, promise = Failure, "The queue promises to deliver each message once."
	}
	return finding("duplicates", severity, "%s beyond the first of a message (%s of those received). %s",
		"Only the first delivery is measured. Look for retries and rebalances in the events; an idempotent producer or stored offsets prevent most.",
		plural(a.Duplicates, "delivery"), formatShare(a.Duplicates, a.Received), promise).with("duplicates", float64(a.Duplicates)).with("received", float64(a.Received))
}

func outOfOrder(c *cut) *Finding {
	a := &c.step.Accounting
	if a.OutOfOrder == 0 {
		return nil
	}
	return finding("out-of-order", Warning, "%s came after a later one of the same producer and partition (%s of those received).",
		"Retries with several requests in flight are the usual cause: allow one at a time, or make the producer idempotent.",
		plural(a.OutOfOrder, "message"), formatShare(a.OutOfOrder, a.Received)).with("out_of_order", float64(a.OutOfOrder)).with("received", float64(a.Received))
}

func failedMessages(c *cut) *Finding {
	a := &c.step.Accounting
	if a.Failed == 0 || c.has("nothing-acknowledged") {
		return nil
	}
	return finding("messages-failed", Warning, "The queue refused %s of %s (%s).",
		"They count as never published. See the events for the error; throttling asks for fewer or larger requests.",
		plural(a.Failed, "message"), FormatCount(a.Attempted), formatShare(a.Failed, a.Attempted)).with("failed", float64(a.Failed)).with("attempted", float64(a.Attempted))
}

func unconfirmedMessages(c *cut) *Finding {
	a := &c.step.Accounting
	if a.Unconfirmed == 0 || c.has("nothing-acknowledged") {
		return nil
	}
	return finding("messages-unconfirmed", Warning, "The fate of %s of %s is not known (%s): nothing was heard before the drain deadline.",
		"They count as never published. A longer drain deadline tells slow from silent.",
		plural(a.Unconfirmed, "message"), FormatCount(a.Attempted), formatShare(a.Unconfirmed, a.Attempted)).with("unconfirmed", float64(a.Unconfirmed)).with("attempted", float64(a.Attempted))
}

func receivedUnacknowledged(c *cut) *Finding {
	a := &c.step.Accounting
	if a.ReceivedUnacked == 0 {
		return nil
	}
	return finding("received-unacknowledged", Note, "%s came although the producer was told that they failed, or nothing at all.",
		"A producer that sends such a message again makes a duplicate of it.", plural(a.ReceivedUnacked, "message")).with("received_unacked", float64(a.ReceivedUnacked))
}

func overrun(c *cut) *Finding {
	a := &c.step.Accounting
	if a.Overrun == 0 {
		return nil
	}
	return finding("overrun", Warning, "%s of the schedule (%s) could not be sent before the step ended: the rate was not reached.",
		"They rank as infinite in every percentile. Give a lower rate, more producers, or larger batches.",
		plural(a.Overrun, "message"), formatShare(a.Overrun, a.Scheduled)).with("overrun", float64(a.Overrun)).with("scheduled", float64(a.Scheduled))
}

func foreignMessages(c *cut) *Finding {
	a := &c.step.Accounting
	if a.Foreign == 0 {
		return nil
	}
	return finding("foreign-messages", Warning, "%s of messages that this step did not send.",
		"They were counted, not measured. Something else writes to this queue, or an earlier run was not removed: use a prefix or topic of its own.",
		plural(a.Foreign, "delivery")).with("foreign", float64(a.Foreign))
}

func rejectedRows(c *cut) *Finding {
	a := &c.step.Accounting
	if a.RecordsRejected == 0 {
		return nil
	}
	return finding("rows-rejected", Warning, "%s of the log could not be used: an unknown status, a latency beyond 30 days or a second row of the same message.",
		"Nothing stands for them in the numbers. Please report it together with run.json.", plural(a.RecordsRejected, "row")).with("rejected", float64(a.RecordsRejected))
}
