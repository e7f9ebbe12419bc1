package query_test

import (
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/testing/nodetest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/filter"
	"github.com/locket-dev/locket/node/serve"
)

// TestMemoryIsReturnedWithItsLine: a memory that contains only a part of what was said is returned with the
// whole line, if the line has more of the question. An app, whose rights may not cover the whole
// line, gets the memory.
func TestMemoryIsReturnedWithItsLine(t *testing.T) {
	n := nodetest.New(t, nil)
	const line = "Tom fixes the bike, he has a shop on Mill Road."
	nodetest.Hear(t, n, time.Now().Add(-time.Hour), "Ana", line)
	for _, tt := range []struct {
		r    serve.ContextRequest
		want string
	}{
		{serve.ContextRequest{Topic: "who fixes the bike"}, line},
		{serve.ContextRequest{Topic: "where is Tom's shop"}, ""},
		{serve.ContextRequest{Topic: "who fixes the bike", NoQuotes: true}, ""},
		{serve.ContextRequest{Topic: "who fixes the bike", Sees: filter.Only(func(*filter.Item) bool { return true })}, ""},
	} {
		res, err := n.Context(t.Context(), tt.r)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, it := range res.Items {
			if it.Section == string(memory.Semantic) {
				found = true
				if it.Said != tt.want {
					t.Errorf("%+v: %q is said with %q", tt.r, it.Text, it.Said)
				}
			}
		}
		if !found || tt.want != "" && !strings.Contains(res.Text, tt.want) {
			t.Errorf("%+v: %s", tt.r, res.Text)
		}
	}
}
