package serve_test

import (
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// retention names what would go; a locked node can't say.
func retention(t *testing.T, c *serve.Client) {
	added(t, c, plain("The bike is blue"))
	a, err := c.Retention(t.Context(), serve.RetentionQuery{})
	if err != nil || a.Rules == nil || len(a.Memories) != 0 || len(a.Utterances) != 0 {
		t.Fatalf("%+v, %v", a, err)
	}
	a, err = c.Retention(t.Context(), serve.RetentionQuery{Try: "retention.rules=type:core forever"})
	if err != nil || len(a.Rules) != 1 || a.Rules[0] != "type:core forever" {
		t.Errorf("a rule that is tried: %+v, %v", a, err)
	}
	_, err = c.Retention(t.Context(), serve.RetentionQuery{Try: "wearer=Ann"})
	want(t, err, memory.ErrInvalid)
	if _, err := c.Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err = c.Retention(t.Context(), serve.RetentionQuery{})
	want(t, err, memory.ErrLocked)
}
