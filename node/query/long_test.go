package query_test

import (
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/testing/nodetest"
	"github.com/locket-dev/locket/memory/recall"
	"github.com/locket-dev/locket/node/serve"
)

// Only the beginning of a very long question is read. The work for a question grows with the square of its length,
// so that one app could keep both processors busy.
func TestLongQuestion(t *testing.T) {
	n := nodetest.New(t, nil)
	nodetest.Hear(t, n, time.Now().Add(-time.Hour), "Ana", "My sister Rita lives in Porto.")
	for _, word := range []string{"Rita and ", "a.b", "丽"} {
		long := strings.Repeat(word, 60_000/len(word))
		short := strings.ToValidUTF8(long[:recall.MaxQuestion], "")
		a, err := n.Search(t.Context(), serve.SearchRequest{Query: long})
		if err != nil {
			t.Fatal(err)
		}
		b, err := n.Search(t.Context(), serve.SearchRequest{Query: short})
		if err != nil || a.Known != b.Known || a.Confidence != b.Confidence || len(a.Hits) != len(b.Hits) {
			t.Errorf("%q: %v %.2f and %d hits, of its beginning %v %.2f and %d; %v", word, a.Known, a.Confidence, len(a.Hits), b.Known, b.Confidence, len(b.Hits), err)
		}
		got, err := n.Ask(t.Context(), serve.AskRequest{Question: long})
		if err != nil || len(got.Topic) > recall.MaxQuestion {
			t.Errorf("%q: asked of %d bytes; %v", word, len(got.Topic), err)
		}
	}
}
