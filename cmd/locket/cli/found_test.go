package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// The output says when recall is not sure, and counts the minor hits.
func TestUnsureHits(t *testing.T) {
	first, second := serve.Hit{ID: memory.ID{1}, Text: "The red kayak lies in Lindau"}, serve.Hit{ID: memory.ID{2}, Text: "I know Lindau", Minor: true}
	for _, tt := range []struct {
		r       serve.SearchResult
		how     HitStyle
		want    string // the beginning
		without string
	}{
		{serve.SearchResult{Hits: []serve.Hit{first}}, HitStyle{}, "Not sure. The nearest is:\n", "more"},
		{serve.SearchResult{Known: true, Hits: []serve.Hit{first, second}}, HitStyle{}, " 0.00  ", "I know"},
		{serve.SearchResult{Known: true, Hits: []serve.Hit{first, second}}, HitStyle{Minor: true}, " 0.00  ", "more"},
		{serve.SearchResult{Hits: []serve.Hit{second}}, HitStyle{}, "Nothing is known about that. -n 1 shows what is nearest.\n", "Lindau"},
		{serve.SearchResult{Unquoted: true, Hits: []serve.Hit{second}}, HitStyle{}, "Nothing is known about that. -n 1 ", "phrase"},
		{serve.SearchResult{}, HitStyle{}, "Nothing is known about that.\n", "-n"},
	} {
		var out bytes.Buffer
		(&App{}).ShowHits(&out, &tt.r, tt.how)
		if got := out.String(); !strings.HasPrefix(got, tt.want) || strings.Contains(got, tt.without) {
			t.Errorf("%q", got)
		}
	}
}
