package deltalake

import (
	"context"
	"errors"
	"fmt"
	"time"

	"queuebench/objectstore"
)

// A GET that takes longer than HedgeAfter is made once more, on another
// connection; who answers first is believed, and the other one is cancelled (a
// hedged request: Dean and Barroso, "The Tail at Scale", 2013). It shortens the
// tail of a store that is slow now and then, and costs a request each time. A
// PUT is never hedged: two answers to a commit are what the protocol avoids.

// answer is one of two answers.
type answer struct {
	body    []byte
	checked bool
	err     error
	second  bool
}

// get reads an object for the tail, hedged if it is to be; buf is memory that
// may be used, and is not to be used again if hedged is true. checked is that of
// getInto.
func (t *tail) get(ctx context.Context, key string, buf []byte) (body []byte, checked, hedged bool, err error) {
	after := t.t.cfg.HedgeAfter
	if after == 0 {
		body, checked, err = t.t.getInto(ctx, key, buf)
		return body, checked, false, err
	}
	asked := t.t.cfg.Clock.Now()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // the one that lost
	answers := make(chan answer, 2)
	ask := func(buf []byte, second bool) {
		t.asking.Go(func() {
			body, checked, err := t.t.getInto(ctx, key, buf)
			answers <- answer{body, checked, err, second}
		})
	}
	ask(buf, false)
	timer := time.NewTimer(after)
	defer timer.Stop()
	select {
	case a := <-answers:
		return a.body, a.checked, false, a.err
	case <-timer.C:
	}
	ask(nil, true)
	a := <-answers
	if a.err != nil && !errors.Is(a.err, objectstore.ErrNotFound) { // that is an answer, too
		failed := a.err
		if a = <-answers; a.err != nil && !errors.Is(a.err, objectstore.ErrNotFound) {
			a.err = errors.Join(failed, a.err)
		}
	}
	if ctx.Err() == nil {
		which := "the first one answered first all the same"
		if a.second {
			which = "the second one answered first"
		}
		t.g.event(t, "hedged", fmt.Sprintf("the GET of %s took longer than %v and was made again: %s, after %v", key, after, which, time.Duration(t.t.cfg.Clock.Now()-asked).Round(10*time.Microsecond)))
	}
	return a.body, a.checked, true, a.err
}
