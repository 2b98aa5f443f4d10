package kafka

import (
	"testing"
)

// The prefix of run 1 must not touch run 10, and no other topic.
func TestRemoveTopicsOfOneRun(t *testing.T) {
	k := cluster(t)
	names := []string{"queuebench.1.step-0", "queuebench.1.step-1", "queuebench.10.step-0", "theirs"}
	for _, name := range names {
		if err := k.CreateTopic(name, 1, nil); err != nil {
			t.Fatal(err)
		}
	}
	n, err := RemoveTopics(t.Context(), config(k).Settings, "queuebench.1.")
	if n != 2 || err != nil {
		t.Errorf("removed %d, %v", n, err)
	}
	for i, name := range names {
		if there := k.TopicInfo(name) != nil; there != (i > 1) {
			t.Errorf("topic %s is there: %v", name, there)
		}
	}
	if _, err := RemoveTopics(t.Context(), config(k).Settings, ""); err == nil {
		t.Error("an empty prefix was taken")
	}
}
