package versitygw

import (
	"fmt"
	"testing"

	"github.com/minio/minio-go/v7/pkg/cors"
)

// MakePublic lets anyone read the objects of the server's bucket, as the owner
// of a published site does.
func (s *Server) MakePublic(t testing.TB) {
	t.Helper()
	policy := fmt.Sprintf(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":"*","Action":["s3:GetObject"],"Resource":["arn:aws:s3:::%s/*"]}]}`, s.Bucket)
	if err := s.client.SetBucketPolicy(t.Context(), s.Bucket, policy); err != nil {
		t.Fatalf("versitygw: the bucket's policy: %v", err)
	}
}

// SetCORS sets the rules by which pages of other hosts may read the bucket.
func (s *Server) SetCORS(t testing.TB, rules []cors.Rule) {
	t.Helper()
	if err := s.client.SetBucketCors(t.Context(), s.Bucket, cors.NewConfig(rules)); err != nil {
		t.Fatalf("versitygw: the bucket's CORS: %v", err)
	}
}
