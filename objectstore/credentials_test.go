package objectstore_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"queuebench/objectstore"
)

// environment answers from a map and notes what it was asked for.
type environment struct {
	set   map[string]string
	asked map[string]bool
}

func env(t *testing.T, pairs ...string) *environment {
	e := &environment{map[string]string{"HOME": t.TempDir(), "AWS_EC2_METADATA_DISABLED": "true"}, map[string]bool{}}
	for i := 0; i < len(pairs); i += 2 {
		e.set[pairs[i]] = pairs[i+1]
	}
	return e
}

func (e *environment) get(name string) string {
	e.asked[name] = true
	return e.set[name]
}

// signedWith is the access key that requests are signed with.
func signedWith(t *testing.T, c objectstore.Credentials) (key, token string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, after, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
		key, _, _ = strings.Cut(after, "/")
		token = r.Header.Get("X-Amz-Security-Token")
		w.WriteHeader(http.StatusNotFound)
	}))
	defer server.Close()
	s, err := objectstore.Open(t.Context(), "s3://bucket?endpoint="+server.URL, objectstore.Options{Credentials: c})
	if err != nil {
		t.Fatal(err)
	}
	defer objectstore.Close(s)
	_, _, err = s.Get(t.Context(), "x")
	wantErr(t, err, objectstore.ErrNotFound)
	return key, token
}

func TestCredentialsComeFromTheChosenBackend(t *testing.T) {
	all := []string{
		"MINIO_S3_ACCESS_KEY", "minio-key", "MINIO_S3_SECRET_ACCESS_KEY", "geheim",
		"AWS_S3_ACCESS_KEY", "aws-s3-key", "AWS_S3_SECRET_ACCESS_KEY", "geheim",
		"AWS_ACCESS_KEY_ID", "aws-key", "AWS_SECRET_ACCESS_KEY", "geheim", "AWS_SESSION_TOKEN", "token",
	}
	check := func(backend, wantKey, wantToken, notAsked string, pairs ...string) {
		t.Helper()
		e := env(t, pairs...)
		c, err := objectstore.CredentialsFor(backend, e.get)
		if err != nil {
			t.Error(err)
			return
		}
		if key, token := signedWith(t, c); key != wantKey || token != wantToken {
			t.Errorf("%s signs with %q %q, want %q %q", backend, key, token, wantKey, wantToken)
		}
		for name := range e.asked {
			if strings.HasPrefix(name, notAsked) {
				t.Errorf("%s looked at %s", backend, name)
			}
		}
	}
	check("minio", "minio-key", "", "AWS_", all...)
	check("s3", "aws-s3-key", "", "MINIO_", all...)
	// Temporary keys have a token, of each form its own.
	tokens := append([]string{"MINIO_S3_SESSION_TOKEN", "minio-token", "AWS_S3_SESSION_TOKEN", "aws-s3-token"}, all...)
	check("minio", "minio-key", "minio-token", "AWS_", tokens...)
	check("s3", "aws-s3-key", "aws-s3-token", "MINIO_", tokens...)
	check("s3", "aws-key", "token", "MINIO_", append(tokens[:4:4], all[8:]...)...)
	check("minio", "aws-key", "token", "AWS_S3_", all[8:]...)
	check("s3", "aws-key", "token", "MINIO_", all[8:]...)
}

func TestCredentialsFile(t *testing.T) {
	e := env(t)
	file := filepath.Join(e.set["HOME"], ".aws", "credentials")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	text := "[default]\naws_access_key_id = first\naws_secret_access_key = geheim\n[other]\naws_access_key_id = second\naws_secret_access_key = geheim\naws_session_token = tok\n[half]\naws_access_key_id = third\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	check := func(wantKey, wantToken string) {
		t.Helper()
		c, err := objectstore.CredentialsFor("s3", e.get)
		if err != nil {
			t.Fatal(err)
		}
		if key, token := signedWith(t, c); key != wantKey || token != wantToken {
			t.Errorf("signs with %q %q", key, token)
		}
	}
	check("first", "")
	e.set["AWS_PROFILE"] = "other"
	check("second", "tok")
	e.set["AWS_SHARED_CREDENTIALS_FILE"] = file
	e.set["HOME"] = ""
	check("second", "tok")
	for profile, say := range map[string]string{"half": "half", "absent": "absent"} {
		e.set["AWS_PROFILE"] = profile
		if _, err := objectstore.CredentialsFor("s3", e.get); err == nil || !strings.Contains(err.Error(), say) || strings.Contains(err.Error(), "geheim") {
			t.Errorf("profile %s: %v", profile, err)
		}
	}
	e.set["AWS_SHARED_CREDENTIALS_FILE"] = file + ".absent"
	if _, err := objectstore.CredentialsFor("s3", e.get); err == nil || !strings.Contains(err.Error(), ".absent") {
		t.Errorf("an absent file: %v", err)
	}
	if err := os.WriteFile(file, []byte("[default]\naws_secret_access_key = geheim\n= geheim\n\"\"\"geheim"), 0o600); err != nil {
		t.Fatal(err)
	}
	e.set["AWS_SHARED_CREDENTIALS_FILE"], e.set["AWS_PROFILE"] = file, "default"
	if _, err := objectstore.CredentialsFor("s3", e.get); err == nil || strings.Contains(err.Error(), "geheim") {
		t.Errorf("a broken file: %v", err)
	}
}

func TestCredentialsOfTheInstance(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPut:
			fmt.Fprint(w, "token")
		case strings.HasSuffix(r.URL.Path, "security-credentials/"):
			fmt.Fprint(w, "role")
		default:
			fmt.Fprint(w, `{"Code":"Success","AccessKeyId":"of-the-role","SecretAccessKey":"geheim","Token":"t","Expiration":"2126-01-01T00:00:00Z"}`)
		}
	}))
	defer server.Close()
	e := env(t, "AWS_EC2_METADATA_DISABLED", "", "AWS_EC2_METADATA_SERVICE_ENDPOINT", server.URL)
	c, err := objectstore.CredentialsFor("s3", e.get)
	if err != nil {
		t.Fatal(err)
	}
	if key, token := signedWith(t, c); key != "of-the-role" || token != "t" {
		t.Errorf("signs with %q %q", key, token)
	}
	// With anything else set, the instance is not asked.
	server.Close()
	e.set["AWS_ACCESS_KEY_ID"], e.set["AWS_SECRET_ACCESS_KEY"] = "set", "geheim"
	if _, err := objectstore.CredentialsFor("s3", e.get); err != nil || e.asked["AWS_REGION"] == false {
		t.Errorf("%v", err)
	}
}

func TestMissingCredentialsNameWhatWouldServe(t *testing.T) {
	for backend, want := range map[string]string{"minio": "MINIO_S3_ACCESS_KEY and MINIO_S3_SECRET_ACCESS_KEY", "s3": "AWS_S3_ACCESS_KEY and AWS_S3_SECRET_ACCESS_KEY"} {
		_, err := objectstore.CredentialsFor(backend, env(t).get)
		var missing *objectstore.NoCredentialsError
		if !errors.As(err, &missing) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "AWS_ACCESS_KEY_ID") {
			t.Errorf("%s: %v", backend, err)
		}
	}
	for _, pair := range [][2]string{{"MINIO_S3_ACCESS_KEY", "MINIO_S3_SECRET_ACCESS_KEY"}, {"AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID"}} {
		_, err := objectstore.CredentialsFor("minio", env(t, pair[0], "geheim").get)
		if err == nil || !strings.Contains(err.Error(), pair[1]+" is not") || strings.Contains(err.Error(), "geheim") {
			t.Errorf("half of a pair: %v", err)
		}
	}
	if _, err := objectstore.CredentialsFor("gcs", env(t).get); err == nil || !strings.Contains(err.Error(), `"minio"`) {
		t.Errorf("an unknown backend: %v", err)
	}
}

func TestSecretsAreNeverShown(t *testing.T) {
	c := objectstore.StaticCredentials("access-geheim", "secret-geheim", "token-geheim")
	opt := objectstore.Options{Credentials: c}
	asJSON, err := json.Marshal(opt.Credentials)
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, "s3://bucket?endpoint=http://127.0.0.1:1", c)
	_, _, err = s.Get(t.Context(), "x")
	for _, shown := range []string{
		fmt.Sprint(c), fmt.Sprintf("%v %+v %#v %s %q %d %x", c, c, c, c, c, c, c), fmt.Sprintf("%+v %#v", opt, opt), fmt.Sprintf("%+v %#v", &opt, &opt),
		fmt.Sprintf("%+v", s), string(asJSON), fmt.Sprint(err), fmt.Sprintf("%+v %#v", err, err), s.Address(), s.Durability(),
	} {
		if strings.Contains(shown, "geheim") {
			t.Errorf("shows a secret: %s", shown)
		}
	}
}
