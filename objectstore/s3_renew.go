package objectstore

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// renewPause is between two questions for new keys that brought none.
const renewPause = 5 * time.Second

// renewal asks the source of the keys for new ones when the store takes them no
// more: a session's end, or a key that was exchanged in the file. What a store
// refuses for its keys it has not done, so the request is made again, once.
type renewal struct {
	keys *credentials.Credentials

	mu    sync.Mutex
	times int64     // renewed so far
	vain  time.Time // when it was last asked in vain
}

func (r *renewal) done() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.times
}

// renew says whether there are other keys now than those that were refused; before is
// how often they had been renewed when they were used.
func (r *renewal) renew(ctx context.Context, before int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.keys == nil:
		return false
	case r.times != before:
		return true
	case !r.vain.IsZero() && time.Since(r.vain) < renewPause:
		return false
	}
	old, err := r.keys.GetWithContext(nil)
	if err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	r.keys.Expire()
	now, err := r.keys.GetWithContext(&credentials.CredContext{Context: ctx})
	if err != nil || now == old {
		r.vain = time.Now()
		return false
	}
	r.times++
	return true
}

// keysRefused says of an answer that the store does not take the keys, whatever the
// request.
func keysRefused(err error) bool {
	var resp minio.ErrorResponse
	if !errors.As(err, &resp) {
		return false
	}
	switch resp.Code {
	case "ExpiredToken", "ExpiredTokenException", "InvalidToken", "TokenRefreshRequired", "InvalidAccessKeyId", "XAdminUserNotFound", "SignatureDoesNotMatch":
		return true
	}
	return false
}

// fileKeys are the keys of a profile. minio-go takes keys that have no end for ended
// ones and reads the file for each request, in which another program may be writing:
// here they hold until the store refuses them.
type fileKeys struct {
	credentials.FileAWSCredentials
	endless bool
}

func (f *fileKeys) RetrieveWithCredContext(cc *credentials.CredContext) (credentials.Value, error) {
	v, err := f.FileAWSCredentials.RetrieveWithCredContext(cc)
	f.endless = err == nil && v.Expiration.IsZero()
	return v, err
}

func (f *fileKeys) IsExpired() bool { return !f.endless && f.FileAWSCredentials.IsExpired() }
