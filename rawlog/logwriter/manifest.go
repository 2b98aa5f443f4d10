package logwriter

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"queuebench/objectstore"
	"queuebench/rawlog"
)

// manifestAttempts bound how long WriteManifest tries, some three seconds; it
// is written again after each step.
const manifestAttempts = 6

// Begin stores the first manifest, whole or not at all. When the store does not
// take it there is no run yet, and nothing is left behind.
func (l *Log) Begin(ctx context.Context, m *rawlog.Manifest) error {
	l.manifests.Lock()
	defer l.manifests.Unlock()
	body, err := l.encodeManifest(m)
	if err != nil {
		return err
	}
	if err := l.putManifest(ctx, m.Name(), body); err != nil {
		return fmt.Errorf("raw log: storing its first object, %s: %w", m.Name(), err)
	}
	return nil
}

// WriteManifest stores the manifest, whole or not at all. When the store does not
// take it, it is left in the spool, beside the parts that wait there, and the
// error says so; the next call tries anew.
func (l *Log) WriteManifest(ctx context.Context, m *rawlog.Manifest) error {
	l.manifests.Lock() // the last call is the one that stays
	defer l.manifests.Unlock()
	body, err := l.encodeManifest(m)
	if err != nil {
		return err
	}
	inSpool := l.spool.path(m.Name())
	if err = l.putManifest(ctx, m.Name(), body); err == nil {
		if err := os.Remove(inSpool); err != nil && !os.IsNotExist(err) {
			return fmt.Errorf("raw log: %s is stored, its old copy in the spool cannot be removed: %w", m.Name(), err)
		}
		return nil
	}
	if spoolErr := writeFileAtomic(inSpool, body); spoolErr != nil {
		return fmt.Errorf("raw log: storing %s: %w; and it cannot be left in the spool: %w", m.Name(), err, spoolErr)
	}
	return fmt.Errorf("raw log: storing %s: %w: it was left in the spool as %s, from where `bench upload %s` stores it", m.Name(), err, inSpool, l.opt.SpoolDir)
}

func (l *Log) encodeManifest(m *rawlog.Manifest) ([]byte, error) {
	body, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("raw log: encoding %s: %w", m.Name(), err)
	}
	if l.opt.Strike != nil {
		body = []byte(l.opt.Strike(string(body)))
	}
	return append(body, '\n'), nil
}

// putManifest tries for some seconds.
func (l *Log) putManifest(ctx context.Context, name string, body []byte) (err error) {
	for attempt := range manifestAttempts {
		if attempt > 0 {
			pause(ctx, attempt-1)
		}
		err = l.opt.Store.Put(ctx, name, body, objectstore.PutOptions{ContentType: "application/json", CacheControl: "no-cache"})
		if err == nil || ctx.Err() != nil {
			return err
		}
	}
	return err
}

func writeFileAtomic(path string, body []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path+OpenSuffix, body, 0o644); err != nil {
		return err
	}
	return os.Rename(path+OpenSuffix, path)
}
