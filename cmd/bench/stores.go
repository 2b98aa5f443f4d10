package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"queuebench/internal/command"
	"queuebench/internal/storeflags"
	"queuebench/objectstore"
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
	return command.Under("STORE", append([]cli.Flag{
		&cli.StringFlag{Name: "store", Usage: "where the queue's objects lie: a folder, or s3://bucket/prefix", DefaultText: "the bucket of the environment, or else the embedded server"},
		&cli.StringFlag{Name: "log-store", Usage: "where the raw log goes", DefaultText: "the store, below runs/"},
		&cli.StringFlag{Name: "bucket", Usage: "bucket, in the place of --store (environment: MINIO_S3_BUCKET, AWS_S3_BUCKET)"},
		&cli.StringFlag{Name: "endpoint", Usage: "S3-compatible server, such as http://localhost:9000 (environment: MINIO_S3_ENDPOINT, AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL)"},
		&cli.StringFlag{Name: "region", Usage: "region of the bucket (environment: MINIO_S3_REGION, AWS_REGION, AWS_DEFAULT_REGION)"},
		&cli.BoolFlag{Name: "path-style", Usage: "name the bucket in the path of requests; =false in the host", DefaultText: "true with an endpoint, else false"},
		&cli.StringFlag{Name: "prices", Usage: "what requests cost: standard, express (S3 One Zone), or dollars as put=5e-6,get=4e-7,list=5e-6", DefaultText: "standard, or express of a bucket NAME--ZONE--x-s3"},
		&cli.StringFlag{Name: "data", Usage: "folder of the embedded server", Value: defaultData},
	}, storeflags.Flags()...)...)
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

// noteUnverified says, of a command that leaves no run to say so, that nobody knows
// who answers at one of the addresses.
func noteUnverified(c *cli.Context, options objectstore.Options, addresses ...objectstore.Address) {
	if options.Insecure && slices.ContainsFunc(addresses, func(a objectstore.Address) bool { return a.Bucket != "" && a.Encrypted() }) {
		fmt.Fprintln(c.App.ErrWriter, "bench: note: TLS certificates are not verified (--insecure): nobody knows who answers")
	}
}

func placesOf(c *cli.Context, getenv func(string) string) (where, error) {
	var w where
	var err error
	switch backend := c.String("s3-backend"); backend {
	case "", objectstore.BackendMinIO, objectstore.BackendS3:
	default:
		return w, command.Misusef("--s3-backend %q: say minio or s3", backend)
	}
	if command.IsSet(c, "store") && command.IsSet(c, "bucket") {
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
		if command.IsSet(c, "endpoint") || command.IsSet(c, "region") {
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
		if w.log, err = complete(c, log, backend, getenv); err != nil {
			return w, err
		}
		if tables := below(w.tablesStore(), tablesPrefix); contains(tables, w.log) {
			return w, command.Misusef("--log-store %s lies among the tables, which are removed after each step and by `bench clean`: name a place outside of %s", w.log, tables)
		}
		return w, nil
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
	if backend == objectstore.BackendS3 || backend != "" && (command.IsSet(c, "endpoint") || firstSet(getenv, []string{"MINIO_S3_ENDPOINT", "MINIO_S3_ACCESS_KEY"}) != "") {
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
	if command.IsSet(c, "path-style") && a.Style == objectstore.StyleDefault {
		a.Style = objectstore.StyleVirtualHost
		if c.Bool("path-style") {
			a.Style = objectstore.StylePath
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

// pricesOf is what requests to a store cost: as asked, or by its bucket's name.
func pricesOf(c *cli.Context, store objectstore.Address) (objectstore.Prices, error) {
	text := c.String("prices")
	if text == "" && store.IsExpress() {
		return objectstore.Express, nil
	}
	p, err := objectstore.ParsePrices(or(text, "standard"))
	if err != nil {
		return p, command.Misusef("--prices %w", err)
	}
	return p, nil
}

// tablesStore is the store of the queue's objects as an address.
func (w where) tablesStore() objectstore.Address {
	if w.embedded != "" {
		return objectstore.Address{Folder: filepath.Join(w.embedded, embeddedBucket)}
	}
	return w.store
}

// contains says that b is a or lies below it.
func contains(a, b objectstore.Address) bool {
	if a.IsFolder() || b.IsFolder() {
		return a.IsFolder() && b.IsFolder() && strings.HasPrefix(b.Folder+string(filepath.Separator), a.Folder+string(filepath.Separator))
	}
	return a.Endpoint == b.Endpoint && a.Bucket == b.Bucket && strings.HasPrefix(b.Prefix+"/", a.Prefix+"/")
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
