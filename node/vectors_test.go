package node

import (
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/testing/llmtest"
	"github.com/locket-dev/locket/memory/recall"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

// withVectors returns a node that uses a server of embeddings and a reranker.
func withVectors(t *testing.T) (*Node, *llmtest.Server) {
	s := llmtest.New(t, llmtest.Options{Key: "key"})
	n := newNode(t, func(c *config.Config) {
		c.Dense = config.Dense{URL: s.URL, Model: s.Model(), RerankURL: s.URL, Key: "key", Within: config.Duration(20 * time.Second)}
	})
	return n, s
}

// embedAll has the queue processed, as the daemon does in the background.
func embedAll(t *testing.T, n *Node) {
	t.Helper()
	for more := true; more; {
		var err error
		if more, err = n.open.meaning.Keeper().Step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func dense(t *testing.T, n *Node) (names []string) {
	t.Helper()
	names, err := segments{n.open.store, meaningPrefix}.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// Documents get vectors, and the hits name their part in the score; a secret
// gets none; of what is forgotten none remain; and without the setting nothing
// is kept.
func TestSearchByMeaning(t *testing.T) {
	n, s := withVectors(t)
	ctx := t.Context()
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	hear(t, n, at, "Ana", "The heron stands in the pond.")
	hear(t, n, at.Add(time.Hour), "Ana", "I live in Lisbon.")
	hear(t, n, at.Add(2*time.Hour), "Ana", "The wifi password is tulip-42-harbor.")
	if res, err := n.Search(ctx, serve.SearchRequest{Query: "heron pond"}); err != nil || len(res.Hits) == 0 {
		t.Fatalf("before anything has a vector: %+v, %v", res, err)
	}
	embedAll(t, n)
	res, err := n.Search(ctx, serve.SearchRequest{Query: "the heron stands"})
	if err != nil || len(res.Hits) == 0 || len(res.Skipped) > 0 || res.Hits[0].Parts[recall.PartEmbedding] == 0 || res.Hits[0].Parts[recall.PartRerank] == 0 {
		t.Fatalf("%+v, %v", res, err)
	}
	if s.Reranks() == 0 {
		t.Error("the reranker was not asked")
	}
	ids := n.open.index.IDs()
	if got := n.open.meaning.Keeper().Status().Documents; got == 0 || got >= len(ids) {
		t.Errorf("%d of %d documents have a vector: those of the vault must not", got, len(ids))
	}
	page, err := n.List(ctx, serve.ListQuery{Limit: 10, Type: "vault"})
	if err != nil || len(page.Memories) != 1 {
		t.Fatal(page, err)
	}
	texts, err := n.open.meaning.Texts(ctx, ids)
	if err != nil || texts[page.Memories[0].ID] != "" {
		t.Errorf("a vault memory is shown to a model: %v, %v", texts, err)
	}
	if err := n.open.flush(ctx); err != nil {
		t.Fatal(err)
	}
	if len(dense(t, n)) < 2 {
		t.Fatal("no vectors are kept")
	}
	heron := res.Hits[0]
	plan, err := n.PlanForget(ctx, serve.ForgetSelection{Query: "heron"})
	if err == nil {
		_, err = n.Forget(ctx, plan)
	}
	if err != nil {
		t.Fatal(err)
	}
	err = n.open.store.View(ctx, func(tx *store.Tx) error {
		for _, name := range dense(t, n) {
			b, err := segments{n.open.store, meaningPrefix}.Get(ctx, name)
			if err != nil {
				return err
			}
			if strings.Contains(string(b), string(heron.ID[:])) {
				t.Errorf("%s holds a vector of what was forgotten", name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	doctor, err := n.Doctor(ctx, false)
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	for _, f := range doctor.Findings {
		if f.Check == "search by meaning" && f.Level == serve.LevelOK {
			told++
		}
	}
	if told != 2 {
		t.Errorf("doctor: %+v", doctor.Findings)
	}

	if err := n.Lock(ctx); err != nil {
		t.Fatal(err)
	}
	n.cfg.Dense = config.Dense{}
	if err := n.Unlock(ctx, passphrase); err != nil {
		t.Fatal(err)
	}
	if left := dense(t, n); len(left) > 0 {
		t.Errorf("switched off, and kept: %v", left)
	}
}

// A model that takes too long is skipped, and the answer says so.
func TestSlowEmbeddingModelIsSkipped(t *testing.T) {
	n, _ := withVectors(t)
	hear(t, n, time.Now(), "Ana", "The heron stands in the pond.")
	hear(t, n, time.Now(), "Ana", "The heron is grey.")
	embedAll(t, n)
	if err := n.Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	n.cfg.Dense.Within = 1 // ns
	if err := n.Unlock(t.Context(), passphrase); err != nil {
		t.Fatal(err)
	}
	res, err := n.Search(t.Context(), serve.SearchRequest{Query: "heron"})
	if err != nil || len(res.Hits) < 2 || len(res.Skipped) != 2 || res.Skipped[0].Reason != string(recall.SkippedLate) {
		t.Fatalf("%+v, %v", res, err)
	}
}
