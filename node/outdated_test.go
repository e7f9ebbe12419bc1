package node

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory/recall"
	"github.com/locket-dev/locket/node/serve"
)

// An index of another version of Locket, or a damaged one, is rebuilt: the home
// opens, and everything is found.
func TestIndexOfAnotherVersion(t *testing.T) {
	n := newNode(t, nil)
	ctx := t.Context()
	if _, err := n.Add(ctx, serve.AddRequest{Text: "I live in Ghent.", At: time.Date(2026, 9, 14, 7, 0, 0, 0, time.UTC)}); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func([]byte) []byte{
		"another analysis": func(b []byte) []byte { b[4]++; return b },
		"cut":              func(b []byte) []byte { return b[:5] },
	} {
		o, release, err := n.use()
		if err != nil {
			t.Fatal(err)
		}
		if err := o.index.Flush(ctx, o.index.Covered()); err != nil {
			t.Fatal(err)
		}
		words := segments{o.store, wordsPrefix}
		manifest, err := words.Get(ctx, "manifest")
		if err != nil {
			t.Fatal(err)
		}
		if err := words.Put(ctx, "manifest", change(bytes.Clone(manifest))); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(o.index.Close(), n.openIndex(ctx, o)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		res, err := o.index.Search(ctx, recall.Query{Text: "Ghent"})
		release()
		if err != nil || len(res.Hits) == 0 {
			t.Errorf("%s: %+v, %v", name, res, err)
		}
	}
}
