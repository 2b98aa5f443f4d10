package objectstore_test

import (
	"errors"
	"strings"
	"testing"

	"queuebench/internal/versitygw"
	"queuebench/objectstore"
)

// versitygw answers an access key that it does not know with 404.
func TestAnUnknownAccessKeyIsNoMissingBucket(t *testing.T) {
	server := versitygw.Start(t)
	s, err := objectstore.Open(t.Context(), server.Address("p"), objectstore.Options{Credentials: objectstore.StaticCredentials("nobody", "secret", "")})
	if err != nil {
		t.Fatal(err)
	}
	err = objectstore.CheckBucket(t.Context(), s)
	if !errors.Is(err, objectstore.ErrDenied) || errors.Is(err, objectstore.ErrNoBucket) || !strings.Contains(err.Error(), "does not know this access key") {
		t.Errorf("an unknown access key: %v", err)
	}
}
