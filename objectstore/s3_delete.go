package objectstore

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/minio/minio-go/v7"
)

// Delete removes an object.
func (s *s3Store) Delete(ctx context.Context, key string) error {
	err := s.call(ctx, "delete", key, func(ctx context.Context) error {
		return s.core.RemoveObject(ctx, s.addr.Bucket, s.prefix+key, minio.RemoveObjectOptions{})
	})
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// deleteMany removes up to deleteAtOnce objects by one request (DeleteObjects). What
// the store did not delete by it is left, for Delete to try and to explain; all of
// it, where the store does not know the request. An error is one that a later try may
// not meet.
func (s *s3Store) deleteMany(ctx context.Context, keys []string) (left []string, err error) {
	var batch []minio.ObjectInfo
	for _, key := range keys {
		if checkForeignKey(key) != nil || checkText(s.prefix+key) != nil {
			left = append(left, key)
			continue
		}
		batch = append(batch, minio.ObjectInfo{Key: s.prefix + key})
	}
	if len(batch) == 0 {
		return left, nil
	}
	err = s.call(ctx, "delete", keys[0], func(ctx context.Context) error {
		left = left[:len(keys)-len(batch)]
		results, err := s.core.RemoveObjectsWithIter(ctx, s.addr.Bucket, slices.Values(batch), minio.RemoveObjectsOptions{})
		if err != nil {
			return err
		}
		for r := range results {
			var answer minio.ErrorResponse
			switch {
			case r.Err == nil:
			case errors.As(r.Err, &answer) && answer.StatusCode == 0 && len(r.ObjectName) > len(s.prefix):
				left = append(left, r.ObjectName[len(s.prefix):]) // refused alone, by an answer that went well
			default:
				err = r.Err
			}
		}
		if err == nil {
			err = ctx.Err() // it ends in silence then
		}
		return err
	})
	var answer minio.ErrorResponse
	switch {
	case err == nil:
		return left, nil
	case errors.As(err, &answer) && (answer.StatusCode == http.StatusNotImplemented || answer.StatusCode/100 == 4 && !failedStatus(answer.StatusCode)):
		return keys, nil
	}
	return keys, err
}
