package query_test

import (
	"fmt"
	"testing"

	"github.com/locket-dev/locket/internal/testing/nodetest"
	"github.com/locket-dev/locket/memory/filter"
	"github.com/locket-dev/locket/node/serve"
)

// A question by an app whose rights have to be read from the records does not block the index
// for others meanwhile. What the app may not know of is treated as if it were not there, even
// if there is much of it.
func TestThreatAppHoldsTheIndex(t *testing.T) {
	n := nodetest.New(t, nil)
	no := false
	tell := func(text string) {
		t.Helper()
		if _, err := n.Add(t.Context(), serve.AddRequest{Text: text, Infer: &no}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 140 {
		tell(fmt.Sprintf("The key number %d is on shelf %d.", i, i))
	}
	tell("Heron is the password of the shed.")
	read := 0
	sees := filter.Only(func(it *filter.Item) bool {
		if read++; read == 1 {
			tell("Meanwhile it rains.") // which waits for ever if the search holds the index
		}
		return it.Memory != nil && it.Memory.Text != "Heron is the password of the shed."
	})
	for question, known := range map[string]bool{"key number 9": true, "shelf 139": true, "heron": false} {
		res, err := n.Search(t.Context(), serve.SearchRequest{Query: question, Filters: sees, Sees: sees})
		if err != nil {
			t.Fatal(err)
		}
		want, err := n.Search(t.Context(), serve.SearchRequest{Query: question})
		if err != nil {
			t.Fatal(err)
		}
		if res.Known != known || !want.Known || known && res.Hits[0].ID != want.Hits[0].ID {
			t.Errorf("%s: %t, %+v, want %+v", question, res.Known, res.Hits, want.Hits)
		}
	}
	read = 0
	if _, err := n.Search(t.Context(), serve.SearchRequest{Query: "key number 9", Sees: sees}); err != nil || read == 0 {
		t.Errorf("%d were read, %v", read, err)
	}
}
