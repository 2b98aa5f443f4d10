package objectstore_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"queuebench/internal/versitygw"
	"queuebench/objectstore"
	"queuebench/objectstore/embedded"
)

// prefixes counts the prefixes that tests of one server were given.
var prefixes atomic.Int64

func newPrefix() string { return fmt.Sprintf("t%d", prefixes.Add(1)) }

func open(t *testing.T, address string, creds objectstore.Credentials) objectstore.Store {
	t.Helper()
	s, err := objectstore.Open(t.Context(), address, objectstore.Options{Credentials: creds})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { objectstore.Close(s) })
	return s
}

func backends(t *testing.T) []backend {
	return []backend{
		{name: "folder", open: func(t *testing.T) objectstore.Store {
			s, err := objectstore.OpenFolder(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			return s
		}},
		{name: "folder without fsync", open: func(t *testing.T) objectstore.Store {
			s, err := objectstore.FolderOptions{NoSync: true}.Open(t.TempDir() + "/made/later")
			if err != nil {
				t.Fatal(err)
			}
			return s
		}},
		embeddedBackend(t),
		versitygwBackend(t),
	}
}

func embeddedBackend(t *testing.T) backend {
	server, err := embedded.Start(t.Context(), embedded.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := server.CreateBucket("bucket"); err != nil {
		t.Fatal(err)
	}
	return backend{
		name: "embedded",
		open: func(t *testing.T) objectstore.Store {
			return open(t, server.Address("bucket", newPrefix()).String(), server.Credentials())
		},
		wrongKeys: func(t *testing.T) objectstore.Store {
			return open(t, server.Address("bucket", "").String(), objectstore.StaticCredentials("another", "key", ""))
		},
		noBucket: func(t *testing.T) objectstore.Store {
			return open(t, server.Address("no-such-bucket", "").String(), server.Credentials())
		},
	}
}

func versitygwBackend(t *testing.T) backend {
	server := versitygw.Start(t)
	keys := objectstore.StaticCredentials(server.AccessKey, server.SecretKey, "")
	return backend{
		name: "versitygw", theirs: true,
		open: func(t *testing.T) objectstore.Store { return open(t, server.Address(newPrefix()), keys) },
		wrongKeys: func(t *testing.T) objectstore.Store {
			return open(t, server.Address(newPrefix()), objectstore.StaticCredentials(server.AccessKey, "wrong-secret", ""))
		},
		noBucket: func(t *testing.T) objectstore.Store {
			return open(t, "s3://no-such-bucket?endpoint="+server.Endpoint, keys)
		},
	}
}
