package versitygw

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// writeUsers makes the folder in which the server finds its users.
func writeUsers(t testing.TB, users map[string]string) (dir string, err error) {
	type account struct {
		Access string `json:"access"`
		Secret string `json:"secret"`
		Role   string `json:"role"`
	}
	all := map[string]account{}
	for access, secret := range users {
		all[access] = account{access, secret, "user"}
	}
	body, err := json.Marshal(map[string]any{"accessAccounts": all})
	if err != nil {
		return "", err
	}
	dir = t.TempDir()
	return dir, os.WriteFile(filepath.Join(dir, "users.json"), body, 0o600)
}

// SetPolicy sets the bucket's policy: for each user the statements of an IAM
// policy, in the JSON form of AWS, in which names of replace were replaced.
func (s *Server) SetPolicy(t testing.TB, policies map[string][]byte, replace *strings.Replacer) {
	t.Helper()
	var statements []map[string]any
	for user, policy := range policies {
		var p struct{ Statement []map[string]any }
		if err := json.Unmarshal([]byte(replace.Replace(string(policy))), &p); err != nil {
			t.Fatal(err)
		}
		for _, st := range p.Statement {
			st["Principal"] = map[string]any{"AWS": []string{user}}
			delete(st, "Sid")
			statements = append(statements, st)
		}
	}
	body, err := json.Marshal(map[string]any{"Version": "2012-10-17", "Statement": statements})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.client.SetBucketPolicy(t.Context(), s.Bucket, string(body)); err != nil {
		t.Fatalf("versitygw: the bucket's policy: %v\n%s", err, body)
	}
}
