package jetstream

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// fileSync says how the server syncs its files, as its monitoring tells.
func (c Config) fileSync(ctx context.Context) string {
	if c.Monitor == "" {
		return "how often the server syncs its files a client is not told (every 2 minutes unless sync_interval says otherwise, and never before an acknowledgement unless it is always)"
	}
	text, err := askMonitor(ctx, c.Monitor)
	if err != nil {
		return fmt.Sprintf("how often the server syncs its files is not known (%v)", err)
	}
	return text
}

// askMonitor reads the settings of JetStream from /jsz of the server's
// monitoring.
func askMonitor(ctx context.Context, address string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(address, "/")+"/jsz?config=true", nil)
	if err != nil {
		return "", err
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	var jsz struct {
		Config *struct {
			SyncInterval time.Duration `json:"sync_interval"`
			SyncAlways   bool          `json:"sync_always"`
		} `json:"config"`
	}
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s answers %s", req.URL, resp.Status)
	}
	if err := json.NewDecoder(http.MaxBytesReader(nil, resp.Body, 1<<20)).Decode(&jsz); err != nil {
		return "", fmt.Errorf("%s: %w", req.URL, err)
	}
	switch {
	case jsz.Config == nil:
		return "", fmt.Errorf("%s tells no settings", req.URL)
	case jsz.Config.SyncAlways:
		return "the server syncs its file before it acknowledges (sync_interval: always)", nil
	case jsz.Config.SyncInterval == 0:
		return "", fmt.Errorf("%s tells no sync interval", req.URL)
	}
	return fmt.Sprintf("the server syncs its files every %v, not before it acknowledges", jsz.Config.SyncInterval), nil
}

// durability is what an acknowledgement means, in words. caveat is empty for none.
func (c Config) durability(version, sync, caveat string) string {
	where := "one server"
	if c.Replicas > 1 {
		where = fmt.Sprintf("a majority of %d replicas", c.Replicas)
	}
	var s string
	switch {
	case c.Storage == Memory:
		s = fmt.Sprintf("An acknowledged message is in the memory of %s, in no file", where)
	case c.Async:
		s = "An acknowledged message is in the memory of one server, which writes its file later (persist mode async)"
	case c.Replicas > 1:
		// The server flushes its own files late when there is a replicated log.
		s = fmt.Sprintf("An acknowledged message is in the log of %s, in a file; %s", where, sync)
	default:
		s = "An acknowledged message is written to a file of one server and outlives its process; " + sync
	}
	if c.Acks == AckNone {
		s += "; consumers do not acknowledge, so what was sent to one that fails is lost"
	}
	if caveat != "" {
		s += "; " + caveat
	}
	return s + fmt.Sprintf(" (nats-server %s, storage %s, %d replicas).", version, c.Storage, c.Replicas)
}
