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

// WriteManifest stores the manifest, whole or not at all. When the store does not
// take it, it is left in the spool, beside the parts that wait there, and the
// error says so; the next call tries anew.
func (l *Log) WriteManifest(ctx context.Context, m *rawlog.Manifest) error {
	body, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("raw log: encoding %s: %w", m.Name(), err)
	}
	body = append(body, '\n')

	l.manifests.Lock() // the last call is the one that stays
	defer l.manifests.Unlock()
	inSpool := l.spool.path(m.Name())
	for attempt := range manifestAttempts {
		if attempt > 0 {
			pause(ctx, attempt-1)
		}
		err = l.opt.Store.Put(ctx, m.Name(), body, objectstore.PutOptions{ContentType: "application/json", CacheControl: "no-cache"})
		if err == nil {
			if err := os.Remove(inSpool); err != nil && !os.IsNotExist(err) {
				return fmt.Errorf("raw log: %s is stored, its old copy in the spool cannot be removed: %w", m.Name(), err)
			}
			return nil
		}
		if ctx.Err() != nil {
			break
		}
	}
	if spoolErr := writeFileAtomic(inSpool, body); spoolErr != nil {
		return fmt.Errorf("raw log: storing %s: %w; and it cannot be left in the spool: %w", m.Name(), err, spoolErr)
	}
	return fmt.Errorf("raw log: storing %s: %w: it was left in the spool as %s", m.Name(), err, inSpool)
}

func writeFileAtomic(path string, body []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path+openSuffix, body, 0o644); err != nil {
		return err
	}
	return os.Rename(path+openSuffix, path)
}
