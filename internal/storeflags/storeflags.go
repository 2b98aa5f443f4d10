// Package storeflags has the flags with which both bench and analyze reach an
// object store. No secret is ever a flag: credentials come from the
// environment or a named file.
package storeflags

import (
	"os"

	"github.com/urfave/cli/v2"

	"queuebench/internal/command"
	"queuebench/objectstore"
)

// Flags are the flags that say how a store is reached.
func Flags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "s3-backend", Usage: "whose keys are read from the environment: minio (MINIO_S3_ACCESS_KEY, MINIO_S3_SECRET_ACCESS_KEY, MINIO_S3_SESSION_TOKEN) or s3 (AWS_S3_ACCESS_KEY, AWS_S3_SECRET_ACCESS_KEY, AWS_S3_SESSION_TOKEN), then the usual AWS ones (default: minio where the address has an endpoint, else s3)"},
		&cli.StringFlag{Name: "ca-file", Usage: "PEM file of certificate authorities to trust beside the system's"},
		&cli.BoolFlag{Name: "insecure", Usage: "do not verify TLS certificates"},
	}
}

// Options reads Flags.
func Options(c *cli.Context) (objectstore.Options, error) {
	opt := objectstore.Options{CAFile: c.String("ca-file"), Insecure: c.Bool("insecure")}
	var err error
	switch backend := c.String("s3-backend"); backend {
	case "":
	case "minio", "s3":
		opt.Credentials, err = objectstore.CredentialsFor(backend, os.Getenv)
	default:
		err = command.Misusef("--s3-backend %q: say minio or s3", backend)
	}
	return opt, err
}
