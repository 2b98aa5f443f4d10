package objectstore

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"

	"queuebench/internal/secret"
)

// The backends, which differ in whose credentials are asked for.
const (
	BackendS3    = "s3"
	BackendMinIO = "minio"
)

// Credentials sign requests. They never show what they hold: printed in any
// way, they are the name of where they came from.
type Credentials struct {
	source string
	chain  *credentials.Credentials
}

// IsZero says that there are none.
func (c Credentials) IsZero() bool { return c.chain == nil }

// String names the source, never the secret.
func (c Credentials) String() string {
	if c.IsZero() {
		return "no credentials"
	}
	return "credentials from " + c.source
}

// Format keeps every verb from looking inside.
func (c Credentials) Format(s fmt.State, _ rune) { _, _ = s.Write([]byte(c.String())) }

// MarshalText keeps encoders from looking inside.
func (c Credentials) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// StaticCredentials are keys that the caller has; token may be empty.
func StaticCredentials(accessKey, secretKey, token string) Credentials {
	return Credentials{source: "the program", chain: credentials.NewStaticV4(accessKey, secretKey, token)}
}

// Anonymous signs nothing, for buckets that everybody may read.
func Anonymous() Credentials {
	return Credentials{source: "nowhere (anonymous)", chain: credentials.NewStatic("", "", "", credentials.SignatureAnonymous)}
}

// metadataTimeout bounds the question to a metadata service that may not exist.
const metadataTimeout = 2 * time.Second

// CredentialsFor finds the credentials of a backend ("minio" or "s3") in its own
// variables (key, secret and, for temporary ones, MINIO_S3_SESSION_TOKEN or
// AWS_S3_SESSION_TOKEN), then in the usual AWS chain: AWS_ACCESS_KEY_ID,
// AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN; the shared credentials file and
// AWS_PROFILE; and last, only when nothing else is set, the roles of containers
// and instances. The other backend's variables are never looked at. A nil
// getenv is os.Getenv.
func CredentialsFor(backend string, getenv func(string) string) (Credentials, error) {
	if getenv == nil {
		getenv = os.Getenv
	}
	var own [2]string
	ownToken := ""
	switch backend {
	case BackendMinIO:
		own, ownToken = [2]string{"MINIO_S3_ACCESS_KEY", "MINIO_S3_SECRET_ACCESS_KEY"}, "MINIO_S3_SESSION_TOKEN"
	case BackendS3:
		own, ownToken = [2]string{"AWS_S3_ACCESS_KEY", "AWS_S3_SECRET_ACCESS_KEY"}, "AWS_S3_SESSION_TOKEN"
	default:
		return Credentials{}, fmt.Errorf("there is no backend %q: it is %q or %q", backend, BackendS3, BackendMinIO)
	}
	usual := [2]string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}
	for _, pair := range [][2]string{own, usual} {
		access, secret := getenv(pair[0]), getenv(pair[1])
		switch {
		case access != "" && secret != "":
			// A token belongs to the pair that it was issued with.
			token := getenv(ownToken)
			if pair == usual {
				token = getenv("AWS_SESSION_TOKEN")
			}
			return Credentials{source: pair[0], chain: credentials.NewStaticV4(access, secret, token)}, nil
		case access != "":
			return Credentials{}, fmt.Errorf("%s is set and %s is not: set both", pair[0], pair[1])
		case secret != "":
			return Credentials{}, fmt.Errorf("%s is set and %s is not: set both", pair[1], pair[0])
		}
	}
	if c, err := fileCredentials(getenv); err != nil || !c.IsZero() {
		return c, err
	}
	if c, ok := roleCredentials(getenv); ok {
		return c, nil
	}
	return Credentials{}, &NoCredentialsError{Backend: backend, Own: own}
}

// NoCredentialsError says that nothing was found, and what would serve.
type NoCredentialsError struct {
	Backend string
	Own     [2]string // the backend's own pair of variables
}

func (e *NoCredentialsError) Error() string {
	return fmt.Sprintf("no credentials for the backend %s: set %s and %s, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE with its credentials file", e.Backend, e.Own[0], e.Own[1])
}

// fileCredentials reads the shared credentials file. One that is named, by file
// or by profile, must be there.
func fileCredentials(getenv func(string) string) (Credentials, error) {
	file, profile := getenv("AWS_SHARED_CREDENTIALS_FILE"), getenv("AWS_PROFILE")
	named := file != "" || profile != ""
	if file == "" {
		home := getenv("HOME")
		if home == "" {
			return Credentials{}, nil
		}
		file = filepath.Join(home, ".aws", "credentials")
	}
	if profile == "" {
		profile = "default"
	}
	if _, err := os.Stat(file); errors.Is(err, os.ErrNotExist) && !named {
		return Credentials{}, nil
	}
	if err := secret.CheckFile(file); err != nil && !errors.Is(err, os.ErrNotExist) {
		return Credentials{}, fmt.Errorf("the file of credentials: %w", err)
	}
	source := fmt.Sprintf("profile %s in %s", profile, file)
	chain := credentials.New(&fileKeys{FileAWSCredentials: credentials.FileAWSCredentials{Filename: file, Profile: profile}})
	value, err := retrieve(chain, startTimeout)
	switch {
	case err != nil && named:
		return Credentials{}, fmt.Errorf("%s: %s", source, withoutSecrets(err, value))
	case err != nil || value.AccessKeyID == "" || value.SecretAccessKey == "":
		if named {
			return Credentials{}, fmt.Errorf("%s holds no aws_access_key_id and aws_secret_access_key", source)
		}
		return Credentials{}, nil
	}
	return Credentials{source: source, chain: chain}, nil
}

// retrieve asks for credentials, for a bounded time: a profile may name a process
// or a service that has them.
func retrieve(chain *credentials.Credentials, timeout time.Duration) (credentials.Value, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return chain.GetWithContext(&credentials.CredContext{Context: ctx})
}

// withoutSecrets is an error's text with a secret cut out, should the parser of
// the file have quoted the line that it choked on.
func withoutSecrets(err error, value credentials.Value) string {
	text := err.Error()
	for _, s := range []string{value.SecretAccessKey, value.SessionToken} {
		if s != "" {
			text = strings.ReplaceAll(text, s, "…")
		}
	}
	if i := strings.IndexAny(text, "=\n"); i >= 0 {
		text = text[:i] + "…"
	}
	return text
}

// roleCredentials asks for the role of the container or of the instance. Where
// nothing says that there is one, it waits a short time only: outside of a cloud
// nobody answers.
func roleCredentials(getenv func(string) string) (Credentials, bool) {
	timeout := metadataTimeout
	for _, name := range []string{"AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI"} {
		if getenv(name) != "" {
			timeout = startTimeout
		}
	}
	if timeout == metadataTimeout && strings.EqualFold(getenv("AWS_EC2_METADATA_DISABLED"), "true") {
		return Credentials{}, false
	}
	provider := &credentials.IAM{
		Client:   &http.Client{Timeout: timeout},
		Endpoint: getenv("AWS_EC2_METADATA_SERVICE_ENDPOINT"),
		Region:   getenv("AWS_REGION"),
	}
	provider.EKSIdentity.TokenFile = getenv("AWS_WEB_IDENTITY_TOKEN_FILE")
	provider.EKSIdentity.RoleARN = getenv("AWS_ROLE_ARN")
	provider.EKSIdentity.RoleSessionName = getenv("AWS_ROLE_SESSION_NAME")
	provider.Container.CredentialsRelativeURI = getenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI")
	provider.Container.CredentialsFullURI = getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI")
	chain := credentials.New(provider)
	if value, err := retrieve(chain, timeout); err != nil || value.AccessKeyID == "" {
		return Credentials{}, false
	}
	return Credentials{source: "the role of this container or instance", chain: chain}, true
}
