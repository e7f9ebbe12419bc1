package node

import (
	"fmt"
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// A long page is found by the content of any part of it, once, and the hit
// names the part. What a correction or an erasure removes is not found any
// more.
func TestChunksAreFound(t *testing.T) {
	n := newNode(t, nil)
	ctx := t.Context()
	page := func(secretary string) string {
		var b strings.Builder
		for i := range 12 {
			b.WriteString(strings.Repeat(fmt.Sprintf("Paragraph %d is about the tides of the estuary and the boats in it. ", i), 12))
			if i == 7 {
				b.WriteString("The harbour's secretary is " + secretary + ". ")
			}
			b.WriteString("\n\n")
		}
		return b.String()
	}
	r := serve.AddRequest{Text: "Handbook of the harbour", Infer: new(bool), Type: memory.Resource,
		Fields: memory.Fields{Resource: &memory.ResourceFields{Title: "Handbook", MediaType: "text/plain", Content: page("Zuzana Quillfeather")}}}
	o, release, err := n.use()
	if err != nil {
		t.Fatal(err)
	}
	release() // the node stays open, and the erasure runs alone
	empty := o.index.Len()
	res, err := n.Add(ctx, r)
	if err != nil {
		t.Fatal(err)
	}
	id := res.Changes[0].Memory
	ask := func(q string) []serve.Hit { return search(t, n, serve.SearchRequest{Query: q, Only: "memories"}) }
	hits := ask("Quillfeather")
	if len(hits) != 1 || hits[0].ID != id || hits[0].Memory == nil || hits[0].Chunk == nil || !strings.Contains(hits[0].Chunk.Text, "Quillfeather") {
		t.Fatalf("%+v", hits)
	}
	if hits = ask("tides estuary"); len(hits) != 1 {
		t.Errorf("one page is %d hits", len(hits))
	}
	if hits = search(t, n, serve.SearchRequest{Query: "Quillfeather", Tag: "nothing"}); len(hits) != 0 {
		t.Errorf("a chunk does not have the tags of its resource: %+v", hits)
	}
	f := memory.Fields{Resource: &memory.ResourceFields{Title: "Handbook", MediaType: "text/plain", Content: page("Bo")[:9000]}}
	if _, err := n.Update(ctx, id, serve.UpdateRequest{Fields: &f}); err != nil {
		t.Fatal(err)
	}
	if hits = ask("Quillfeather"); len(hits) != 0 {
		t.Errorf("corrected, and found: %+v", hits)
	}
	if hits = ask("harbour's secretary Bo"); len(hits) == 0 || hits[0].Chunk == nil {
		t.Errorf("the correction is not found: %+v", hits)
	}
	if err := n.Delete(ctx, id); err != nil {
		t.Fatal(err)
	}
	if hits = ask("tides estuary boats"); len(hits) != 0 {
		t.Errorf("erased, and found: %+v", hits)
	}
	if left := o.index.Len() - empty; left != 0 {
		t.Errorf("erased, and the index holds %d documents of it", left)
	}
}
