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
	"queuebench/internal/storeflags"
	"queuebench/objectstore"
	"queuebench/objectstore/embedded"
	"queuebench/queue"
	"queuebench/rawlog"
	"queuebench/runner"
)

// Where things lie below a store: a run's queue below tables/<run-id>/, its log
// below runs/<run-id>/, or directly below a log store of its own.
const (
	tablesPrefix = "tables"
	runsPrefix   = "runs"
)

// The folder of the embedded server, and its one bucket.
const (
	defaultData    = "queuebench-data"
	embeddedBucket = "queuebench"
)

// placeFlags say where the queue's objects and the log lie.
func placeFlags() []cli.Flag {
	return append([]cli.Flag{
		&cli.StringFlag{Name: "store", Usage: "where the queue's objects lie: a folder, or s3://bucket/prefix", DefaultText: "the bucket of the environment, or else the embedded server"},
		&cli.StringFlag{Name: "log-store", Usage: "where the raw log goes", DefaultText: "the store, below runs/"},
		&cli.StringFlag{Name: "bucket", Usage: "bucket, in the place of --store (environment: MINIO_S3_BUCKET, AWS_S3_BUCKET)"},
		&cli.StringFlag{Name: "endpoint", Usage: "S3-compatible server, such as http://localhost:9000 (environment: MINIO_S3_ENDPOINT, AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL)"},
		&cli.StringFlag{Name: "region", Usage: "region of the bucket (environment: MINIO_S3_REGION, AWS_REGION, AWS_DEFAULT_REGION)"},
		&cli.StringFlag{Name: "data", Usage: "folder of the embedded server", Value: defaultData},
	}, storeflags.Flags()...)
}

// backendVariables are the variables that a backend's bucket, endpoint and
// region are read from, the first that is set.
type backendVariables struct{ bucket, endpoint, region []string }

func variablesOf(backend string) backendVariables {
	if backend == objectstore.BackendS3 {
		return backendVariables{[]string{"AWS_S3_BUCKET"}, []string{"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"}, []string{"AWS_REGION", "AWS_DEFAULT_REGION"}}
	}
	return backendVariables{[]string{"MINIO_S3_BUCKET"}, []string{"MINIO_S3_ENDPOINT"}, []string{"MINIO_S3_REGION"}}
}

func firstSet(getenv func(string) string, names []string) string {
	for _, n := range names {
		if v := getenv(n); v != "" {
			return v
		}
	}
	return ""
}

// where is where a command line says that things lie.
type where struct {
	embedded string // folder of the embedded server; empty for none
	store    objectstore.Address
	log      objectstore.Address // a run's log lies below it under its id
	sameLog  bool                // the log goes to the store, since nothing else was said
	options  objectstore.Options
}

// places decides where things lie: flags, then the environment, then the
// embedded server.
func places(c *cli.Context, getenv func(string) string) (where, error) {
	w, err := placesOf(c, getenv)
	if err != nil {
		return w, err
	}
	w.options, err = optionsFor(c, w.store, w.log)
	return w, err
}

// optionsFor are the options to open addresses with. Keys are asked for only
// where one of them is a bucket.
func optionsFor(c *cli.Context, addresses ...objectstore.Address) (objectstore.Options, error) {
	for _, a := range addresses {
		if a.Bucket != "" {
			return storeflags.Options(c)
		}
	}
	return objectstore.Options{}, nil
}

func placesOf(c *cli.Context, getenv func(string) string) (where, error) {
	var w where
	var err error
	switch backend := c.String("s3-backend"); backend {
	case "", objectstore.BackendMinIO, objectstore.BackendS3:
	default:
		return w, command.Misusef("--s3-backend %q: say minio or s3", backend)
	}
	if c.IsSet("store") && c.IsSet("bucket") {
		return w, command.Misusef("--store and --bucket both say where the queue's objects lie: give one")
	}
	backend := c.String("s3-backend")
	address := c.String("store")
	if bucket := c.String("bucket"); bucket != "" {
		address = "s3://" + bucket
	}
	if address == "" {
		if address, backend, err = bucketOf(c, backend, getenv); err != nil {
			return w, err
		}
	}
	if address == "" {
		if c.IsSet("endpoint") || c.IsSet("region") {
			return w, command.Misusef("--endpoint and --region need a bucket: add --store s3://bucket/prefix")
		}
		w.embedded, err = filepath.Abs(c.String("data"))
		if err != nil {
			return w, err
		}
	} else if w.store, err = complete(c, address, backend, getenv); err != nil {
		return w, err
	}
	if log := c.String("log-store"); log != "" {
		w.log, err = complete(c, log, backend, getenv)
		return w, err
	}
	w.sameLog = true
	w.log = below(w.store, runsPrefix)
	return w, nil
}

// bucketOf is the address that the environment names, if any, and its backend.
func bucketOf(c *cli.Context, backend string, getenv func(string) string) (address, ofBackend string, err error) {
	backends := []string{backend}
	if backend == "" {
		backends = []string{objectstore.BackendMinIO, objectstore.BackendS3}
	}
	for _, b := range backends {
		v := variablesOf(b)
		if bucket := firstSet(getenv, v.bucket); bucket != "" {
			return "s3://" + bucket, b, nil
		}
	}
	if backend == objectstore.BackendS3 || backend != "" && (c.IsSet("endpoint") || firstSet(getenv, []string{"MINIO_S3_ENDPOINT", "MINIO_S3_ACCESS_KEY"}) != "") {
		return "", "", command.Misusef("--s3-backend %s needs a bucket: add --store s3://bucket/prefix, or set %s", backend, variablesOf(backend).bucket[0])
	}
	return "", backend, nil
}

// complete reads an address and fills in endpoint and region from flags and
// environment.
func complete(c *cli.Context, address, backend string, getenv func(string) string) (objectstore.Address, error) {
	a, err := objectstore.ParseAddress(address)
	if err != nil {
		return a, command.Misuse(err)
	}
	if a.IsFolder() {
		a.Folder, err = filepath.Abs(a.Folder)
		return a, err
	}
	if backend == "" && getenv("MINIO_S3_ENDPOINT") != "" && getenv("AWS_S3_ACCESS_KEY") == "" {
		backend = objectstore.BackendMinIO
	}
	if backend == "" {
		backend = objectstore.BackendS3
	}
	v := variablesOf(backend)
	if endpoint := or(a.Endpoint, c.String("endpoint"), firstSet(getenv, v.endpoint)); endpoint != "" {
		if a.Endpoint, err = objectstore.ParseEndpoint(endpoint); err != nil {
			return a, command.Misuse(err)
		}
	}
	a.Region = or(a.Region, c.String("region"), firstSet(getenv, v.region))
	// The address has the last word on what is valid in it.
	if a, err = objectstore.ParseAddress(a.String()); err != nil {
		return a, command.Misuse(err)
	}
	return a, nil
}

func or(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// below is an address with a further prefix.
func below(a objectstore.Address, prefix string) objectstore.Address {
	switch {
	case a.IsFolder():
		a.Folder = filepath.Join(a.Folder, filepath.FromSlash(prefix))
	case a.Prefix == "":
		a.Prefix = prefix
	default:
		a.Prefix += "/" + prefix
	}
	return a
}

// opened are the stores of a run, ready to use.
type opened struct {
	tables objectstore.Store // of the queue; nil where none is needed
	log    objectstore.Store // at the run's own prefix
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
	o := &opened{}
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
	} else if host := loopback(w.store); host != "" {
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
	return func(ctx context.Context, p runner.Plan) (queue.Queue, error) {
		q, err := open(ctx, p)
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

// loopback is the host of an endpoint on this machine, or empty.
func loopback(a objectstore.Address) string {
	u, err := url.Parse(a.Endpoint)
	if err != nil || u.Hostname() == "" {
		return ""
	}
	if ip := net.ParseIP(u.Hostname()); u.Hostname() == "localhost" || ip != nil && ip.IsLoopback() {
		return u.Host
	}
	return ""
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
