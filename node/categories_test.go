package node

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/filter"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

// The wearer's own categories replace the default ones, and what an agent says
// through the extractors stays in its scope with its metadata.
func TestOwnCategoriesAndScopes(t *testing.T) {
	n := newNode(t, func(c *config.Config) {
		c.Categories = filepath.Join(t.TempDir(), config.CategoriesFile)
		if err := os.WriteFile(c.Categories, []byte("[rail]\nwords = [\"Lyon\"]\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	})
	ctx := t.Context()
	if _, err := n.Add(ctx, serve.AddRequest{Text: "I live in Lyon.", Agent: "helper", Run: "r1", Metadata: memory.Metadata{"project": "zeus"}}); err != nil {
		t.Fatal(err)
	}
	f, err := filter.Parse("categories = rail and agent = helper and run = r1 and metadata.project = zeus", nil)
	if err != nil {
		t.Fatal(err)
	}
	page, err := n.List(ctx, serve.ListQuery{Filters: f, Limit: 10})
	if err != nil || len(page.Memories) != 1 || !slices.Contains(page.Memories[0].Categories, "rail") {
		t.Fatalf("list: %+v, %v", page.Memories, err)
	}
	res, err := n.Search(ctx, serve.SearchRequest{Query: "Where do I live?", Filters: f})
	if err != nil || len(res.Hits) != 1 {
		t.Fatalf("search: %+v, %v", res.Hits, err)
	}
	if res, err = n.Search(ctx, serve.SearchRequest{Query: "Where do I live?", Agent: "another"}); err != nil || len(res.Hits) != 0 {
		t.Fatalf("another agent's search: %+v, %v", res.Hits, err)
	}
	big := serve.AddRequest{Text: "I live in Ghent.", Metadata: memory.Metadata{"k": strings.Repeat("x", memory.MaxMetadataValue+1)}}
	if _, err := n.Add(ctx, big); !errors.Is(err, memory.ErrInvalid) {
		t.Fatalf("too much metadata: %v", err)
	}
}

func TestMalformedCategories(t *testing.T) {
	for text, says := range map[string]string{
		"[rail]\nwrds = [\"tram\"]\n": "line 2: ", "[rail\n": "line 1: ", "[misc]\nwords=[\"x\"]\n": "misc", "[a]\nwords = []\n": "want 1 to",
	} {
		home := t.TempDir()
		path := filepath.Join(home, "own.toml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Open(config.Config{Home: home, Categories: path}, Options{})
		if err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), path) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
