package kafka

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"queuebench/queue"
)

// trouble counts errors of a consumer that come one after the other.
type trouble struct {
	row int
}

func (t *trouble) passed() { t.row = 0 }

// trouble judges what a poll without records brought: nil to poll again. What a
// broker answers and may pass is tried again after retryPause, and maxErrors of
// it in a row are fatal. A connection that is lost is no answer: the client
// makes it anew for as long as the caller wants to wait, and tells of it as an
// event.
func (c *Consumer) trouble(ctx context.Context, fetches kgo.Fetches) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for _, f := range fetches.Errors() {
		var lost *kgo.ErrDataLoss
		var group *kgo.ErrGroupSession
		err := f.Err
		switch {
		case errors.Is(err, kgo.ErrClientClosed):
			return errClosed
		case errors.As(err, &lost):
			c.hooks.event(queue.Event{Kind: "data-loss", Text: fmt.Sprintf("partition %d: %v", f.Partition, err)})
			continue
		case errors.As(err, &group):
			err = group.Err
		}
		if unanswered(err) {
			continue
		}
		err = fmt.Errorf("kafka: %s: %w", c.where(f), err)
		if !kerr.IsRetriable(f.Err) {
			return err
		}
		if c.err.row++; c.err.row >= maxErrors {
			return fmt.Errorf("%w; that was the %dth error in a row", err, c.err.row)
		}
		c.hooks.event(queue.Event{Kind: "retry", Text: err.Error()})
		if !c.wait(ctx, retryPause) {
			return c.ended(ctx, errClosed)
		}
	}
	return nil
}

func (c *Consumer) where(f kgo.FetchError) string {
	if f.Partition < 0 {
		return "reading topic " + c.q.cfg.Topic
	}
	if errors.Is(f.Err, kerr.OffsetOutOfRange) {
		return fmt.Sprintf("partition %d of topic %s: what was to be read next is gone", f.Partition, c.q.cfg.Topic)
	}
	return fmt.Sprintf("partition %d of topic %s", f.Partition, c.q.cfg.Topic)
}

// unanswered tells whether an error is of a connection, not an answer.
func unanswered(err error) bool {
	var op *net.OpError
	var dns *net.DNSError
	return errors.As(err, &op) || errors.As(err, &dns) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || errors.Is(err, context.DeadlineExceeded) || kgo.IsRetryableBrokerErr(err)
}
