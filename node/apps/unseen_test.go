package apps_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// Searches don't reveal to an app that memories contain a word which it may not see:
// the answer to a hidden word is the same as to a word that is nowhere.
func TestHiddenWordsLookAbsent(t *testing.T) {
	ctx := t.Context()
	h := newHome(t)
	private, secret := memory.Private, func(text string, f *memory.SemanticFields) {
		r := plain(text)
		r.Sensitivity, r.Fields.Semantic = new(memory.Private), f
		h.add(t, h.Client, r)
	}
	secret("Yvonne Tresk is a patient of Doctor Feldmann", &memory.SemanticFields{Subject: "Yvonne Tresk", Predicate: "patient of", Object: "Doctor Feldmann"})
	secret("Nightingale is also known as Marlene Hofer", &memory.SemanticFields{Subject: "Nightingale", Predicate: "also known as", Object: "Marlene Hofer"})
	secret("The orchards were sold", nil)
	secret("张伟 was here", nil)
	h.add(t, h.Client, plain("Doctor Feldmann closes at noon"))
	h.add(t, h.Client, plain("Marlene Hofer plays the cello"))
	h.add(t, h.Client, plain("The orchard is in bloom, and the harbour is near"))
	for i := range 5 {
		h.add(t, h.Client, plain(fmt.Sprintf("Shelf %d of the cellar is full of plums", i)))
	}
	app := h.app(t, reads("reader", "semantic", "episodic"))
	lines := reads("listener", "semantic", "utterances")
	lines.Sensitivity = &private
	lines.Owner = memory.Owner{User: "nobody"}
	askers := map[string]*serve.Client{"an app": app, "an app that is held to another's": h.app(t, lines)}
	for _, of := range []struct{ hidden, nowhere string }{
		{"Yvonne Tresk", "Xaviera Blorp"},
		{"who is Yvonne Tresk a patient of", "who is Xaviera Blorp a patient of"},
		{"when does Yvonne Tresk's doctor close", "when does Xaviera Blorp's doctor close"},
		{"Nightingale", "Kookaburras"},
		{"cellar Nightingale", "cellar Kookaburras"},
		{"does the cellar belong to Nightingale", "does the cellar belong to Kookaburras"},
		{"patients of the cellar", "pelicans of the cellar"},
		{"Zhang Wei", "Zhang Wuo"},
		{"\"Yvonne Tresk\"", "\"Xaviera Blorp\""},
		{"Ivonne Tresk", "Ixaviera Blorp"},
		{"Nightingal", "Kookaburr"},
	} {
		for name, c := range askers {
			if got, as := answers(t, c, of.hidden), answers(t, c, of.nowhere); got != as {
				t.Errorf("%s asks %q:\n%s\n%q:\n%s", name, of.hidden, got, of.nowhere, as)
			}
		}
	}
	// The owner still gets hits for related names, and so does an app for what it
	// sees.
	if res, err := h.Search(ctx, serve.SearchRequest{Query: "Yvonne Tresk"}); err != nil || len(res.Hits) < 2 {
		t.Errorf("the owner finds %+v, %v", res, err)
	}
	sister := plain("Mia Torres is the sister of Ana")
	sister.Fields.Semantic = &memory.SemanticFields{Subject: "Mia Torres", Predicate: "sister of", Object: "Ana"}
	h.add(t, h.Client, sister)
	want := h.add(t, h.Client, plain("Mia Torres paints walls"))
	res, err := app.Search(ctx, serve.SearchRequest{Query: "Ana's sister"})
	if err != nil || !has(res.Hits, want) {
		t.Errorf("an app finds %+v, %v", res, err)
	}
}

func has(hits []serve.Hit, id memory.ID) bool {
	for i := range hits {
		if hits[i].ID == id {
			return true
		}
	}
	return false
}

// answers returns everything that an app is told about a question, without the
// question's own words.
func answers(t *testing.T, c *serve.Client, q string) string {
	t.Helper()
	res, err := c.Search(t.Context(), serve.SearchRequest{Query: q})
	if err != nil {
		t.Fatal(err)
	}
	a, err := c.Ask(t.Context(), serve.AskRequest{Question: q})
	if err != nil {
		t.Fatal(err)
	}
	a.Topic = ""
	b, err := json.MarshalIndent([]any{res, a}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
