package kubernetes

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

var folder = filepath.Join("..", "..", "deploy", "kubernetes")

// strict reads a manifest into its type; a field that this has not is an error.
func strict(t *testing.T, name string, into any) {
	t.Helper()
	body, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(body, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

func TestManifests(t *testing.T) {
	var job batchv1.Job
	strict(t, "job.yaml", &job)
	var settings corev1.ConfigMap
	strict(t, "configmap.yaml", &settings)
	var keys corev1.Secret
	strict(t, "secret.example.yaml", &keys)

	if job.APIVersion != "batch/v1" || job.Kind != "Job" || settings.Kind != "ConfigMap" || keys.Kind != "Secret" {
		t.Errorf("kinds %s, %s, %s", job.Kind, settings.Kind, keys.Kind)
	}
	s, pod := job.Spec, job.Spec.Template.Spec
	if s.CompletionMode == nil || *s.CompletionMode != batchv1.IndexedCompletion || *s.Completions != *s.Parallelism || *s.BackoffLimit != 0 || pod.RestartPolicy != corev1.RestartPolicyNever {
		t.Errorf("workers are numbered, run at once, and are not replaced: %+v", s)
	}
	c := pod.Containers[0]
	if x := c.SecurityContext; *x.AllowPrivilegeEscalation || !*x.ReadOnlyRootFilesystem || !*pod.SecurityContext.RunAsNonRoot || *pod.SecurityContext.RunAsUser == 0 {
		t.Errorf("it may do more than it needs: %+v", x)
	}
	if !slices.Contains(c.Args, "--workers=4") || *s.Completions != 4 {
		t.Errorf("%d pods, and %v", *s.Completions, c.Args)
	}
	if c.EnvFrom[0].SecretRef.Name != keys.Name || pod.Volumes[0].ConfigMap.Name != settings.Name {
		t.Error("the job names another ConfigMap or Secret")
	}
	for name, value := range keys.StringData {
		if strings.Contains(name, "KEY") && value != "" {
			t.Errorf("%s has a value", name)
		}
	}
}

// The command line of the pods is understood: with a worker's number that no pod
// has it is refused for that, and for nothing else.
func TestCommandLineIsUnderstood(t *testing.T) {
	var job batchv1.Job
	strict(t, "job.yaml", &job)
	var settings corev1.ConfigMap
	strict(t, "configmap.yaml", &settings)
	dir := t.TempDir()
	workload := filepath.Join(dir, "workload.yaml")
	if err := os.WriteFile(workload, []byte(settings.Data["workload.yaml"]), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"run", "./cmd/bench"}
	for _, a := range job.Spec.Template.Spec.Containers[0].Args {
		args = append(args, strings.Replace(a, "/etc/queuebench/workload.yaml", workload, 1))
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = filepath.Join("..", "..")
	cmd.Env = append(os.Environ(), "JOB_COMPLETION_INDEX=4")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "the number is 0 to 3") {
		t.Errorf("%v: %s", err, out)
	}
}
