package cli

import (
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// TestPreviewShowsContent: a reader gets the content of a document, the steps of a how-to and the
// details of an event, so the preview has to show them, and not only the titles.
func TestPreviewShowsContent(t *testing.T) {
	long := strings.Repeat("beans ", 100)
	copies := []memory.Candidate{
		{Type: memory.Resource, Text: "garden", Fields: memory.Fields{Resource: &memory.ResourceFields{Title: "garden", MediaType: "text/markdown", Content: "Gruber,\n0664 123456"}}},
		{Type: memory.Resource, Text: "harvest", Fields: memory.Fields{Resource: &memory.ResourceFields{Title: "harvest", Content: long}}},
		{Type: memory.Procedural, Text: "How to make tea", Fields: memory.Fields{Procedural: &memory.ProceduralFields{Steps: []string{"Boil the water", "Ask Ben for the key"}}}},
		{Type: memory.Episodic, Text: "A visit.", Fields: memory.Fields{Episodic: &memory.EpisodicFields{Details: "Zuzana was ill"}}},
		{Type: memory.Semantic, Text: "Mei likes oat milk.", Fields: memory.Fields{Semantic: &memory.SemanticFields{Details: "likes oat milk"}}, Evidence: []memory.Evidence{{Excerpt: "I like oat milk, says Dora"}}},
	}
	p := &serve.SharePreview{}
	for i := range copies {
		p.Memories = append(p.Memories, serve.SharedCopy{Type: copies[i].Type, Text: copies[i].Text, Copy: copies[i]})
	}
	var b strings.Builder
	(&App{}).ShowPreview(&b, p)
	got := b.String()
	for _, want := range []string{
		"resource    garden\n            Gruber, 0664 123456\n",
		"resource    harvest\n            " + long[:400] + "… and 199 more characters; --json shows them\n",
		"procedural  How to make tea\n            Boil the water\n            Ask Ben for the key\n",
		"episodic    A visit.\n            Zuzana was ill\n",
		"\"I like oat milk, says Dora\"\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the preview lacks %q:\n%s", want, got)
		}
	}
	if strings.Count(got, "likes oat milk") != 1 {
		t.Errorf("the preview repeats what the text says:\n%s", got)
	}
}
