package main

import (
	"bytes"
	"context"
	"fmt"
	"os"

	"queuebench/objectstore"
	"queuebench/rawlog"
)

// readManifests reads the manifests of a run's address: run.json, or those of
// its processes. There is at least one.
func readManifests(ctx context.Context, a objectstore.Address, options objectstore.Options) ([]*rawlog.Manifest, error) {
	none := fmt.Errorf("there is no run at %s: it has no %s", a, rawlog.ManifestName)
	if a.IsFolder() {
		// Opening a folder would make it.
		if _, err := os.Stat(a.Folder); err != nil {
			return nil, none
		}
	}
	store, err := objectstore.OpenAddress(ctx, a, options)
	if err != nil {
		return nil, err
	}
	all, err := manifestsIn(ctx, store)
	if err != nil {
		return nil, fmt.Errorf("at %s: %w", a, err)
	}
	if len(all) == 0 {
		return nil, none
	}
	return all, nil
}

// manifestsIn reads the manifests of the run of which log is the prefix.
func manifestsIn(ctx context.Context, log objectstore.Store) ([]*rawlog.Manifest, error) {
	var names []string
	err := log.List(ctx, objectstore.ListOptions{Prefix: "run", Delimiter: "/"}, func(i objectstore.Info) error {
		if rawlog.IsManifestName(i.Key) {
			names = append(names, i.Key)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var all []*rawlog.Manifest
	for _, name := range names {
		body, _, err := log.Get(ctx, name)
		if err != nil {
			return nil, err
		}
		m, err := rawlog.ReadManifest(bytes.NewReader(body))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, m)
	}
	return all, nil
}
