package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"queuebench/internal/command"
	"queuebench/objectstore"
	"queuebench/objectstore/embedded"
	"queuebench/queue"
	"queuebench/rawlog"
	"queuebench/runner/hostinfo"
)

// opened are the stores of a run, ready to use.
type opened struct {
	run    string
	tables objectstore.Store // of the queue; nil where none is needed
	log    objectstore.Store // at the run's own prefix
	prices objectstore.Prices
	store  rawlog.StoreInfo
	logAt  rawlog.StoreInfo
	// address is the run's own, complete as it stands.
	address  string
	warnings []string
	closers  []func() error
}

// close ends connections, and then the server if there is one: it would wait
// for connections that were never used.
func (o *opened) close() error {
	var err error
	for _, c := range slices.Backward(o.closers) {
		err = errors.Join(err, c())
	}
	return err
}

// open opens what a run needs, and asks each store whether it serves.
func (w where) open(ctx context.Context, k kind, run string) (_ *opened, err error) {
	o := &opened{run: run}
	defer func() {
		if err != nil {
			err = errors.Join(err, o.close())
		}
	}()
	var server *embedded.Server
	if w.embedded != "" && k.store {
		if server, err = embedded.Start(ctx, embedded.Options{Dir: w.embedded}); err != nil {
			return nil, err
		}
		o.closers = append(o.closers, server.Close)
		if err := server.CreateBucket(embeddedBucket); err != nil {
			return nil, err
		}
	}
	if err := w.openLog(ctx, o, server, run); err != nil {
		return nil, fmt.Errorf("the log's store: %w", err)
	}
	if !k.store {
		return o, nil
	}
	if err := w.openTables(ctx, o, server, run); err != nil {
		return nil, err
	}
	if w.sameLog {
		o.warnings = append(o.warnings, "the raw log goes to the store that is measured, so its uploads compete with the queue: --log-store names another")
	}
	return o, nil
}

// openLog opens the log's store. The embedded server's is read from its folder
// when the server is gone, so that is its address.
func (w where) openLog(ctx context.Context, o *opened, server *embedded.Server, run string) (err error) {
	var log objectstore.Store
	address := w.log
	switch {
	case w.sameLog && server != nil:
		log, err = server.Open(ctx, embeddedBucket, runsPrefix)
		address = objectstore.Address{Folder: filepath.Join(server.Folder(embeddedBucket), runsPrefix)}
	case w.sameLog && w.embedded != "":
		address = objectstore.Address{Folder: filepath.Join(w.embedded, embeddedBucket, runsPrefix)}
		log, err = objectstore.OpenAddress(ctx, address, w.options)
	default:
		log, err = objectstore.OpenAddress(ctx, address, w.options)
	}
	if err != nil {
		return err
	}
	o.closers = append(o.closers, func() error { return objectstore.Close(log) })
	if err := objectstore.CheckBucket(ctx, log); err != nil {
		return err
	}
	o.log = log.Sub(run)
	o.address = o.log.Address()
	if address.IsFolder() {
		o.address = below(address, run).String()
	}
	o.logAt = rawlog.StoreInfo{Address: o.address, Durability: log.Durability(), Embedded: w.sameLog && server != nil}
	if o.logAt.Embedded {
		o.logAt.Durability = embedded.Durability
	}
	return nil
}

// openTables opens the queue's store, apart from the log's so that requests
// are counted apart.
func (w where) openTables(ctx context.Context, o *opened, server *embedded.Server, run string) (err error) {
	var store objectstore.Store
	if server != nil {
		store, err = server.Open(ctx, embeddedBucket, "")
	} else {
		store, err = objectstore.OpenAddress(ctx, w.store, w.options)
	}
	if err != nil {
		return err
	}
	o.closers = append(o.closers, func() error { return objectstore.Close(store) })
	if err := objectstore.Probe(ctx, store, tablesPrefix+"/probe"); err != nil {
		return err
	}
	o.tables = store.Sub(tablesPrefix).Sub(run)
	o.store = rawlog.StoreInfo{Address: store.Address(), Durability: store.Durability()}
	if server != nil {
		o.store = rawlog.StoreInfo{Address: server.Folder(embeddedBucket), Durability: embedded.Durability, Embedded: true}
		o.warnings = append(o.warnings, "in-process floor: the store is the embedded server, in this process and without a network; name a store with --store to measure one")
	} else if host := onThisHost(ctx, w.store); host != "" {
		o.warnings = append(o.warnings, fmt.Sprintf("the store at %s runs on this machine and shares its processors with the load", host))
	}
	return nil
}

// labelled makes queues on the embedded server say so themselves: they know
// only that they talk to a server.
func (o *opened) labelled(open queueFactory) queueFactory {
	if !o.store.Embedded {
		return open
	}
	return func(ctx context.Context, name string) (queue.Queue, error) {
		q, err := open(ctx, name)
		if err != nil {
			return nil, err
		}
		return onEmbedded{q}, nil
	}
}

// onEmbedded is a queue on the embedded server.
type onEmbedded struct{ queue.Queue }

// Info is the queue's, with what the embedded server promises.
func (q onEmbedded) Info() queue.Info {
	info := q.Queue.Info()
	info.InProcess, info.Durability = true, embedded.Durability
	return info
}

// onThisHost is the host of an endpoint that is this machine, or empty.
func onThisHost(ctx context.Context, a objectstore.Address) string {
	u, err := url.Parse(a.Endpoint)
	if err != nil || !hostinfo.IsLocal(ctx, u.Hostname()) {
		return ""
	}
	return u.Host
}

// noteServers says which servers of the queue share this machine with the load.
func (o *opened) noteServers(c *cli.Context, k kind) {
	if k.servers == nil {
		return
	}
	for _, address := range k.servers(c) {
		host, _, err := net.SplitHostPort(address)
		if err == nil && hostinfo.IsLocal(c.Context, host) {
			o.warnings = append(o.warnings, fmt.Sprintf("the server at %s runs on this machine and shares its processors with the load", address))
		}
	}
}

// insecure is what of TLS a command line switches off, a sentence each.
func (w where) insecure(c *cli.Context, k kind) (all []string) {
	for _, a := range []struct {
		what string
		at   objectstore.Address
	}{{"the store", w.store}, {"the log's store", w.log}} {
		if w.options.Insecure && a.at.Bucket != "" && a.at.Encrypted() && !(w.sameLog && a.what != "the store") {
			all = append(all, fmt.Sprintf("insecure: the TLS certificate of %s was not verified (--insecure), so nobody knows who answered", a.what))
		}
	}
	if k.insecure != nil {
		all = append(all, k.insecure(c)...)
	}
	return all
}

// noteInsecure keeps such sentences with the run, each once.
func (o *opened) noteInsecure(all []string) {
	for _, text := range all {
		if !slices.Contains(o.warnings, text) {
			o.warnings = append(o.warnings, text)
		}
	}
}

// mustBeNew refuses a run id that has a log already.
func (o *opened) mustBeNew(ctx context.Context, run string) error {
	_, err := o.log.Head(ctx, rawlog.ManifestName)
	switch {
	case errors.Is(err, objectstore.ErrNotFound):
		return nil
	case err != nil:
		return err
	}
	return command.Misusef("--run-id %s: there is a run of that name at %s", run, o.address)
}
