package container

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// instruction is a line of a Dockerfile, without its continuations.
type instruction struct{ verb, rest string }

// dockerfile reads the instructions of each stage.
func dockerfile(t *testing.T) (stages [][]instruction) {
	t.Helper()
	text, err := os.ReadFile("../../deploy/Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	joined := strings.ReplaceAll(string(text), "\\\n", "")
	for line := range strings.Lines(joined) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		verb, rest, _ := strings.Cut(line, " ")
		if verb == "FROM" {
			stages = append(stages, nil)
		}
		if len(stages) == 0 {
			t.Fatalf("%q comes before FROM", line)
		}
		last := len(stages) - 1
		stages[last] = append(stages[last], instruction{verb, strings.TrimSpace(rest)})
	}
	return stages
}

// buildCommand is how the programs are built.
func buildCommand(t *testing.T) string {
	t.Helper()
	for _, i := range dockerfile(t)[0] {
		if i.verb == "RUN" && strings.Contains(i.rest, "go build") {
			return i.rest
		}
	}
	t.Fatal("the first stage has no RUN … go build")
	return ""
}

// The image has no system, no shell, no root, and nothing that was not copied.
func TestTheImageIsOfScratchAndHasNoRoot(t *testing.T) {
	stages := dockerfile(t)
	if len(stages) != 2 {
		t.Fatalf("%d stages", len(stages))
	}
	last := map[string][]string{}
	for _, i := range stages[1] {
		last[i.verb] = append(last[i.verb], i.rest)
	}
	for verb, want := range map[string][]string{"FROM": {"scratch"}, "USER": {"65532:65532"}, "WORKDIR": {"/data"}, "ENTRYPOINT": {`["/bin/bench"]`}, "RUN": nil, "ADD": nil, "SHELL": nil, "CMD": nil} {
		if !slices.Equal(last[verb], want) {
			t.Errorf("%s is %q, expected %q", verb, last[verb], want)
		}
	}
	for _, c := range last["COPY"] {
		if !strings.Contains(c, "--from=build") {
			t.Errorf("COPY %s takes from the folder of the sources", c)
		}
	}
	command := buildCommand(t)
	for _, want := range []string{"CGO_ENABLED=0", "-trimpath", "version.commit=$COMMIT", "version.number=$VERSION"} {
		if !strings.Contains(command, want) {
			t.Errorf("the build has no %s: %s", want, command)
		}
	}
}
