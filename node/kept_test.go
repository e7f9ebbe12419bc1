package node

import (
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// What somebody adds by hand is kept verbatim if no extractor finds anything in it, unless
// it is a question or greeting, or contains a secret; what is merely heard is not.
func TestTextAddedByHand(t *testing.T) {
	t.Parallel()
	n := newNode(t, nil)
	for _, tt := range []struct {
		text string
		keep bool
		kept int
	}{
		{"大伟最爱吃千层面。", true, 1},
		{"大卫最爱吃饺子。", false, 0},
		{"Stop at the blue gate", true, 1},
		{"Where did I put the keys?", true, 0},
		{"Good morning!", true, 0},
		{"The wifi password of garage is Tr0ut-pine-88", true, 0},
	} {
		res, err := n.Add(t.Context(), serve.AddRequest{Text: tt.text, Keep: tt.keep})
		if err != nil {
			t.Fatal(err)
		}
		kept := 0
		for _, c := range res.Changes {
			if c.Verdict == memory.Add && c.New == tt.text {
				kept++
			}
		}
		if kept != tt.kept || kept == 1 && len(res.Refusals) > 0 {
			t.Errorf("%q: %+v", tt.text, res)
		}
	}
	res, err := n.Add(t.Context(), serve.AddRequest{Text: "Stop at the red gate", Keep: true, Key: "one"})
	if err != nil || len(res.Changes) != 1 {
		t.Fatalf("%+v, %v", res, err)
	}
	if res, err = n.Add(t.Context(), serve.AddRequest{Text: "Stop at the red gate", Keep: true, Key: "one"}); err != nil || len(res.Changes) != 0 {
		t.Errorf("again with the same key: %+v, %v", res, err)
	}
}

// What is kept verbatim is quoted from its line, so that a search returns the text once,
// with its speaker.
func TestVerbatimTextIsFoundOnce(t *testing.T) {
	t.Parallel()
	n := newNode(t, nil)
	const text = "Stop at the green gate"
	res, err := n.Add(t.Context(), serve.AddRequest{Text: text, Keep: true, Speaker: "Bo"})
	if err != nil || len(res.Changes) != 1 {
		t.Fatalf("%+v, %v", res, err)
	}
	found, err := n.Search(t.Context(), serve.SearchRequest{Query: "the green gate"})
	if err != nil || len(found.Hits) != 1 {
		t.Fatalf("%+v, %v", found, err)
	}
	if e := found.Hits[0].Evidence; found.Hits[0].Memory == nil || len(e) != 1 || e[0].Speaker != "Bo" || e[0].Utterance != res.Line {
		t.Errorf("%+v, of line %s", found.Hits[0], res.Line)
	}
	plain := false
	if _, err := n.Add(t.Context(), serve.AddRequest{Text: "Turn at the mill", Infer: &plain, Speaker: "Bo"}); err != nil {
		t.Fatal(err)
	}
	list, err := n.Search(t.Context(), serve.SearchRequest{Query: "turn at the mill", Only: serve.OnlyMemories})
	if err != nil || len(list.Hits) == 0 || list.Hits[0].Evidence[0].Speaker != "Bo" {
		t.Errorf("as it stands: %+v, %v", list, err)
	}
}
