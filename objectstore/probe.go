package objectstore

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/minio/minio-go/v7"
)

// startTimeout bounds each question that is asked before anything starts.
const startTimeout = 10 * time.Second

// CheckBucket asks whether the store is there and may be listed, with one LIST.
// It tells apart a missing bucket (ErrNoBucket), wrong credentials (ErrDenied)
// and a server that cannot be reached, the last within 10 s.
func CheckBucket(ctx context.Context, s Store) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	err := s.List(ctx, ListOptions{Limit: 1}, func(Info) error { return nil })
	return inTime(ctx, s, err)
}

// inTime explains the end of the time that a check has.
func inTime(ctx context.Context, s Store, err error) error {
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) && errors.Is(err, context.DeadlineExceeded) {
		return &Error{Op: "open", Object: s.Address(), Cause: err, Hint: fmt.Sprintf("there was no answer within %v: check endpoint and network", startTimeout)}
	}
	return err
}

// Probe asks whether a queue may live on the store: the bucket is there, a
// missing object is answered 404, and of two conditional PUTs of one new key
// the second is refused and changes nothing. It writes below key, an object
// that it removes again, and needs six requests.
func Probe(ctx context.Context, s Store, key string) error {
	if err := CheckBucket(ctx, s); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 3*startTimeout)
	defer cancel()
	for try := 1; ; try++ {
		err := probeOnce(ctx, s, key+"."+rand.Text())
		if !errors.Is(err, errNotTaken) || try == probeTries {
			return inTime(ctx, s, err)
		}
		select {
		case <-time.After(probePause):
		case <-ctx.Done():
		}
	}
}

// ProbeRead asks what Probe asks, of a store that is only read from: the bucket
// is there, and a missing object is answered 404. It writes nothing.
func ProbeRead(ctx context.Context, s Store, key string) error {
	if err := CheckBucket(ctx, s); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	return inTime(ctx, s, probeMiss(ctx, s, key+"."+rand.Text()))
}

// A store that keeps objects as files can refuse a PUT while another process
// removes the last object of the same folder: two probes at one time, with
// versitygw 409 ExistingObjectIsDirectory. That passes; a store that does not
// know conditional PUT stays as it is.
const (
	probeTries = 3
	probePause = 100 * time.Millisecond
)

// errNotTaken: a conditional PUT of a new object was refused.
var errNotTaken = errors.New("it did not take a conditional PUT of a new object")

func probeOnce(ctx context.Context, s Store, key string) error {
	if err := probeMiss(ctx, s, key); err != nil {
		return err
	}
	err := probeConditional(ctx, s, key)
	// Also after an error, and when ctx has ended meanwhile.
	clean, cancelClean := context.WithTimeout(context.WithoutCancel(ctx), startTimeout)
	defer cancelClean()
	return errors.Join(err, s.Delete(clean, key))
}

// probeMiss expects that nothing is found where nothing is.
func probeMiss(ctx context.Context, s Store, key string) error {
	_, _, err := s.Get(ctx, key)
	switch {
	case errors.Is(err, ErrNotFound):
		return nil
	case errors.Is(err, ErrDenied):
		return &Error{Op: "probe", Object: s.Address(), Cause: err, Hint: "a missing object must be answered 404, not 403: grant these credentials s3:ListBucket on the bucket"}
	case err != nil:
		return err
	}
	return &Error{Op: "probe", Object: s.Address(), Cause: errors.New("the store returned an object that does not exist"), Hint: "it is no S3 store, or something stands in between"}
}

// probeConditional expects that the first of two PUTs wins.
func probeConditional(ctx context.Context, s Store, key string) error {
	unfit := func(what, cause error) error {
		return &Error{Op: "probe", Object: s.Address(), Cause: errors.Join(what, cause),
			Hint: "commits could overwrite each other: a store without conditional PUT (If-None-Match) cannot be used, choose another one"}
	}
	first, second := []byte("first "+rand.Text()), []byte("second "+rand.Text())
	if err := s.Put(ctx, key, first, PutOptions{IfAbsent: true}); err != nil {
		if saysNothing(err) {
			return err
		}
		return unfit(errNotTaken, err)
	}
	switch err := s.Put(ctx, key, second, PutOptions{IfAbsent: true}); {
	case err == nil:
		return unfit(errors.New("it took a second conditional PUT of one object"), nil)
	case saysNothing(err):
		return err
	case !errors.Is(err, ErrExists):
		return unfit(errors.New("it did not answer 412 to a second conditional PUT of one object"), err)
	}
	body, _, err := s.Get(ctx, key)
	switch {
	case err != nil:
		return err
	case !bytes.Equal(body, first):
		return unfit(errors.New("it refused a second conditional PUT of one object and yet changed it"), nil)
	}
	return nil
}

// saysNothing says of the failure of a conditional PUT that it tells nothing of
// what the store can do: the credentials, a store that is busy (409, 429, 503)
// or failing (5xx), a network that is. The probe may be tried again.
func saysNothing(err error) bool {
	for _, kind := range []error{ErrDenied, ErrNoBucket, ErrThrottled, ErrConflict, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, kind) {
			return true
		}
	}
	var resp minio.ErrorResponse
	if errors.As(err, &resp) {
		return failedStatus(resp.StatusCode) && resp.StatusCode != http.StatusNotImplemented
	}
	var e net.Error
	return errors.As(err, &e) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// Close ends the idle connections of a store that has some. A store can be
// used on after it.
func Close(s Store) error {
	if c, ok := s.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
