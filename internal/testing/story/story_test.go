package story

import (
	"bytes"
	"strings"
	"testing"
)

// The whole story has the right results, on a day for which nothing was made.
func TestStoryOnAGeneratedDay(t *testing.T) {
	var out bytes.Buffer
	if err := Run(t.Context(), &out, Options{Seed: 1001}); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	for _, s := range []string{"A phone is let in", "A worker hears and reads", "One thing is shared", "What the relay saw", "Everything came out"} {
		if !strings.Contains(out.String(), s) {
			t.Errorf("the story does not tell %q", s)
		}
	}
}
