package framing

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/twmb/franz-go/pkg/sr"

	"queuebench/internal/secret"
)

// Registry is a registry of schemas: Confluent's, Redpanda's or one that speaks
// its protocol.
type Registry struct {
	URL string // without a user or a password
	// User and Password are of basic authentication, Token of a bearer's; empty
	// for none.
	User            string
	Password, Token secret.Text
	TLS             *tls.Config // nil for the system's
}

// registryTimeout bounds a question to the registry with its retries.
const registryTimeout = 15 * time.Second

// Schema is one that the registry has.
type Schema struct {
	Frame   Frame // without an index
	Subject string
	Version int // 0 where it is not known
	// Made: it was registered now.
	Made bool
}

// CheckURL refuses an address that cannot be asked, or that holds a secret.
func CheckURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return errors.New("it holds what is no address: write http://host:8081 or https://host")
	case u.User != nil:
		return errors.New("the address must hold no user or password, since it is recorded with the run: set SCHEMA_REGISTRY_USER and SCHEMA_REGISTRY_PASSWORD, or SCHEMA_REGISTRY_TOKEN")
	}
	return nil
}

func (r *Registry) client() (*sr.Client, error) {
	if err := CheckURL(r.URL); err != nil {
		return nil, err
	}
	opts := []sr.ClientOpt{sr.URLs(r.URL), sr.UserAgent("queuebench")}
	switch {
	case !r.Token.IsZero():
		opts = append(opts, sr.BearerToken(r.Token.Reveal()))
	case r.User != "":
		opts = append(opts, sr.BasicAuth(r.User, r.Password.Reveal()))
	}
	if r.TLS != nil {
		opts = append(opts, sr.DialTLSConfig(r.TLS))
	}
	return sr.NewClient(opts...)
}

// ask puts a question, and says of an error what to do.
func (r *Registry) ask(ctx context.Context, what string, f func(context.Context, *sr.Client) error) error {
	c, err := r.client()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, registryTimeout)
	defer cancel()
	err = f(ctx, c)
	if err == nil {
		return nil
	}
	hint := "is it a registry of schemas, and does it run?"
	var answer *sr.ResponseError
	if errors.As(err, &answer) {
		err = fmt.Errorf("it answers %d: %s", answer.StatusCode, answer.Message)
		switch {
		case answer.StatusCode == 401 || answer.StatusCode == 403:
			hint = "set SCHEMA_REGISTRY_USER and SCHEMA_REGISTRY_PASSWORD, or SCHEMA_REGISTRY_TOKEN, to ones that may"
		case answer.StatusCode == 404:
			hint = "name one that is there, or give its schema by --schema-file, which is registered"
		case answer.StatusCode == 409:
			hint = "the subject asks for a schema that is compatible with what it has: change the schema, or name another subject"
		case answer.StatusCode == 422:
			hint = "the registry does not take this schema: correct it, or its --schema-type"
		}
	}
	return fmt.Errorf("the schema registry at %s, %s: %w (%s)", r.URL, what, err, hint)
}

// Latest is the newest schema of a subject.
func (r *Registry) Latest(ctx context.Context, subject string) (out Schema, err error) {
	err = r.ask(ctx, "the latest schema of subject "+subject, func(ctx context.Context, c *sr.Client) error {
		s, err := c.SchemaByVersion(ctx, subject, -1)
		out = schemaOf(s, false)
		return err
	})
	return out, err
}

// Of is the schema of a text in a subject, which registers it where it is not
// there. A schema that was registered stays: what was written with it needs it.
func (r *Registry) Of(ctx context.Context, subject, text string, t sr.SchemaType) (out Schema, err error) {
	s := sr.Schema{Schema: text, Type: t}
	err = r.ask(ctx, "the schema for subject "+subject, func(ctx context.Context, c *sr.Client) error {
		found, err := c.LookupSchema(ctx, subject, s)
		var answer *sr.ResponseError
		if err == nil || !errors.As(err, &answer) || answer.StatusCode != 404 {
			out = schemaOf(found, false)
			return err
		}
		found, err = c.CreateSchema(ctx, subject, s)
		out = schemaOf(found, true)
		return err
	})
	return out, err
}

// ByID is the schema of an id.
func (r *Registry) ByID(ctx context.Context, id int) (out Schema, err error) {
	err = r.ask(ctx, fmt.Sprintf("the schema id %d", id), func(ctx context.Context, c *sr.Client) error {
		s, err := c.SchemaByID(ctx, id)
		out = Schema{Frame: Frame{ID: id, Type: s.Type}}
		return err
	})
	return out, err
}

func schemaOf(s sr.SubjectSchema, made bool) Schema {
	return Schema{Frame: Frame{ID: s.ID, Type: s.Type}, Subject: s.Subject, Version: s.Version, Made: made}
}
