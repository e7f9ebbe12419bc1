package apps_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/testing/nodetest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/atlas"
	"github.com/locket-dev/locket/memory/filter"
	"github.com/locket-dev/locket/node"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

func TestMain(m *testing.M) { nodetest.Main(m) }

// home is an open node with its API, with the owner's rights.
type home struct {
	*serve.Client
	node *node.Node
	api  http.Handler
}

func newHome(t *testing.T, change ...func(*config.Config)) *home {
	t.Helper()
	h := &home{node: nodetest.New(t, func(cfg *config.Config) {
		for _, c := range change {
			c(cfg)
		}
	})}
	h.api = serve.New(serve.Options{Services: h.node.Services()})
	h.Client = serve.InProcess(h.api)
	t.Cleanup(h.Client.Close)
	return h
}

func plain(text string) serve.AddRequest {
	no := false
	return serve.AddRequest{Text: text, Infer: &no}
}

func (h *home) add(t *testing.T, c *serve.Client, r serve.AddRequest) memory.ID {
	t.Helper()
	res, err := c.Add(t.Context(), r)
	if err != nil || len(res.Changes) == 0 {
		t.Fatalf("%+v, %v", res, err)
	}
	return res.Changes[0].Memory
}

// app adds an app.
func (h *home) app(t *testing.T, r serve.AppRequest) *serve.Client {
	t.Helper()
	n, err := h.AddApp(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return h.WithKey(n.Key)
}

func want(t *testing.T, err, sentinel error, words string) {
	t.Helper()
	if !errors.Is(err, sentinel) || !strings.Contains(err.Error(), words) {
		t.Errorf("%v, want %v with %q", err, sentinel, words)
	}
}

func reads(name string, types ...string) serve.AppRequest {
	return serve.AppRequest{Name: name, Can: []serve.Right{serve.RightRead}, Types: types}
}

// budget returns what the right to buy needs.
func budget() *serve.AppBuying {
	return &serve.AppBuying{Market: "https://market.example", Budget: "8.00 EUR"}
}

// What an app may not see looks as if it did not exist, in whatever way the app
// asks.
func TestHiddenMemoriesLookAbsent(t *testing.T) {
	ctx := t.Context()
	h := newHome(t)
	private, secretly := memory.Private, plain("Ana's sister Zora is pregnant")
	secretly.Sensitivity = &private
	secretly.Fields = memory.Fields{Semantic: &memory.SemanticFields{Subject: "Zora", Predicate: "expects", Object: "a child"}}
	hidden := h.add(t, h.Client, secretly)
	episode := plain("Ana met Zora at the harbour")
	episode.Type = memory.Episodic
	other := h.add(t, h.Client, episode)
	seen := h.add(t, h.Client, plain("Ana likes green tea"))
	block := plain("Zora is on Ana's mind")
	block.Type, block.Sensitivity, block.Fields.Core = memory.Core, &private, &memory.CoreFields{Block: "human", Limit: 2000}
	core := h.add(t, h.Client, block)
	if _, err := h.Add(ctx, serve.AddRequest{Text: "Zora told me that she moves to Faro on Friday."}); err != nil {
		t.Fatal(err)
	}
	app := h.app(t, reads("reader", "semantic", "core"))

	for _, id := range []memory.ID{hidden, other, core} {
		for _, text := range []string{id.String(), id.String()[:12]} {
			_, err := app.Get(ctx, text)
			want(t, err, memory.ErrNotFound, text)
			never := strings.Repeat("0", len(text))
			_, nothing := app.Get(ctx, never)
			if got, as := strings.ReplaceAll(err.Error(), text, ""), strings.ReplaceAll(nothing.Error(), never, ""); got != as {
				t.Errorf("what is hidden: %q, what is not there: %q", got, as)
			}
			_, err = app.Why(ctx, text)
			want(t, err, memory.ErrNotFound, text)
			_, err = app.History(ctx, text)
			want(t, err, memory.ErrNotFound, text)
			_, err = app.GetAt(ctx, text, time.Now(), time.Time{})
			want(t, err, memory.ErrNotFound, text)
			_, _, err = app.Media(ctx, text, new(strings.Builder))
			want(t, err, memory.ErrNotFound, "")
		}
	}
	if m, err := app.Get(ctx, seen.String()); err != nil || m.Text != "Ana likes green tea" {
		t.Errorf("%+v, %v", m, err)
	}
	page, err := app.List(ctx, serve.ListQuery{State: serve.AnyState})
	if err != nil || len(page.Memories) != 1 || page.Memories[0].ID != seen {
		t.Errorf("listed %+v, %v", page, err)
	}
	// Pages and counts cover only what it sees: the newest memory is hidden.
	if page, err := app.List(ctx, serve.ListQuery{Limit: 1}); err != nil || len(page.Memories) != 1 || page.Next != "" {
		t.Errorf("a page of one: %+v, %v", page, err)
	}
	if page, err := app.List(ctx, serve.ListQuery{Limit: 1, Skip: 1}); err != nil || len(page.Memories) != 0 || page.Next != "" {
		t.Errorf("the page after: %+v, %v", page, err)
	}
	if owners, err := app.Owners(ctx, filter.Filter{}); err != nil || len(owners) != 1 || owners[0].Memories != 1 {
		t.Errorf("owners: %+v, %v", owners, err)
	}
	if res, err := app.Search(ctx, serve.SearchRequest{Query: "who is pregnant"}); err != nil || res.Known || res.Missing != 0 {
		t.Errorf("known: %+v, %v", res, err)
	}
	for m, err := range app.All(ctx, serve.ListQuery{}) {
		if err != nil || m.ID != seen {
			t.Errorf("listed all: %+v, %v", m, err)
		}
	}
	for _, q := range []string{"Zora", "who is pregnant", "where did Ana meet Zora", "Zora moves to Faro"} {
		res, err := app.Search(ctx, serve.SearchRequest{Query: q, History: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, hit := range res.Hits {
			if hit.ID != seen {
				t.Errorf("%q found %s", q, hit.Text)
			}
		}
		a, err := app.Ask(ctx, serve.AskRequest{Question: q})
		if err != nil || strings.Contains(fmt.Sprint(a), "Zora ") && a.Known {
			t.Errorf("asked %q: %+v, %v", q, a, err)
		}
		c, err := app.Context(ctx, serve.ContextRequest{Topic: q})
		if err != nil || strings.Contains(c.Text, "Zora") {
			t.Errorf("context of %q: %s, %v", q, c.Text, err)
		}
	}
	g, err := app.Graph(ctx, atlas.Query{})
	if err != nil || strings.Contains(fmt.Sprintf("%+v", g), "Zora") {
		t.Errorf("graph: %+v, %v", g, err)
	}
	if g, err := h.Graph(ctx, atlas.Query{}); err != nil || !strings.Contains(fmt.Sprintf("%+v", g), "Zora") {
		t.Errorf("the owner's graph: %+v, %v", g, err)
	}
	for c, err := range app.Changes(ctx, 0, false) {
		if err != nil || c.Memory != seen {
			t.Errorf("change %+v, %v", c, err)
		}
	}
	_, err = app.Context(ctx, serve.ContextRequest{})
	want(t, err, serve.ErrForbidden, "what is being said")
	_, err = app.List(ctx, serve.ListQuery{KnownAt: time.Now()})
	want(t, err, serve.ErrForbidden, "known_at")
	_, err = app.Search(ctx, serve.SearchRequest{Query: "tea", KnownAt: time.Now()})
	want(t, err, serve.ErrForbidden, "known_at")

	// An app that may see lines finds what was said.
	lines := reads("listener", "utterances")
	lines.Sensitivity = &private
	res, err := h.app(t, lines).Search(ctx, serve.SearchRequest{Query: "who moves to Faro"})
	if err != nil || len(res.Hits) == 0 || res.Hits[0].Utterance == nil {
		t.Errorf("%+v, %v", res, err)
	}
}

// An app that may see lines of one time learns nothing about another time:
// neither when a line stopped being true, nor what is being said now.
func TestHiddenTimesLookAbsent(t *testing.T) {
	ctx := t.Context()
	h := newHome(t)
	private, now := memory.Private, time.Now()
	for i, text := range []string{"I live in Beijing.", "I moved to Shanghai."} {
		if _, err := h.Add(ctx, serve.AddRequest{Text: text, Speaker: "Ana", At: now.Add(time.Duration(i-1) * 48 * time.Hour)}); err != nil {
			t.Fatal(err)
		}
	}
	q := serve.SearchRequest{Query: "Do I live in Beijing?", Only: serve.OnlyUtterances}
	if res, err := h.Search(ctx, q); err != nil || len(res.Hits) == 0 || res.Hits[0].Until.IsZero() {
		t.Fatalf("the owner's: %+v, %v", res, err)
	}
	r := reads("listener", "utterances")
	r.Sensitivity, r.Until = &private, now.Add(-24*time.Hour)
	app := h.app(t, r)
	res, err := app.Search(ctx, q)
	if err != nil || len(res.Hits) != 1 || !res.Hits[0].Until.IsZero() {
		t.Errorf("the line's end: %+v, %v", res, err)
	}
	c, err := app.Context(ctx, serve.ContextRequest{Topic: "where do I live"})
	if err != nil || !strings.Contains(c.Text, "Beijing") || strings.Contains(c.Text, now.UTC().Format(time.DateOnly)) {
		t.Errorf("context: %+v, %v", c, err)
	}
	if c, err := h.Context(ctx, serve.ContextRequest{}); err != nil || !strings.Contains(c.Topic, "Shanghai") {
		t.Fatalf("the owner's session: %+v, %v", c, err)
	}
	if c, err := app.Context(ctx, serve.ContextRequest{}); err != nil || c.Topic != "" || c.Text != "" {
		t.Errorf("the session of another time: %+v, %v", c, err)
	}
}

// An app can't filter by what it is not shown.
func TestFiltersOnHiddenFields(t *testing.T) {
	ctx := t.Context()
	h := newHome(t)
	now := time.Now()
	for i, text := range []string{"I work at the aquarium.", "I work at the aquarium, as I said."} {
		if _, err := h.Add(ctx, serve.AddRequest{Text: text, At: now.Add(time.Duration(i-1) * 48 * time.Hour)}); err != nil {
			t.Fatal(err)
		}
	}
	var late filter.Filter
	if err := late.UnmarshalJSON([]byte(`{"said": {"gt": "` + now.Add(-time.Hour).UTC().Format(time.RFC3339) + `"}}`)); err != nil {
		t.Fatal(err)
	}
	q := serve.ListQuery{State: serve.AnyState, Filters: late}
	r := reads("reader", "semantic")
	r.Until = now.Add(-24 * time.Hour)
	app := h.app(t, r)
	all, err := app.List(ctx, serve.ListQuery{State: serve.AnyState})
	if err != nil || len(all.Memories) == 0 {
		t.Fatalf("%+v, %v", all, err)
	}
	both := false
	for _, m := range all.Memories {
		o, err := h.Get(ctx, m.ID.String())
		if err != nil {
			t.Fatal(err)
		}
		both = both || len(o.Evidence) > len(m.Evidence)
	}
	if !both {
		t.Fatalf("no memory has evidence of both times: %+v", all.Memories)
	}
	if page, err := app.List(ctx, q); err != nil || len(page.Memories) != 0 {
		t.Errorf("listed by evidence of another time: %+v, %v", page.Memories, err)
	}
	if list, err := app.Owners(ctx, late); err != nil || len(list) != 0 {
		t.Errorf("counted by it: %+v, %v", list, err)
	}
	if res, err := app.Search(ctx, serve.SearchRequest{Query: "aquarium", Filters: late, History: true}); err != nil || len(res.Hits) != 0 {
		t.Errorf("found by it: %+v, %v", res.Hits, err)
	}
}

// If a memory was corrected, an app is not shown what it was before.
func TestEarlierTexts(t *testing.T) {
	ctx := t.Context()
	h := newHome(t)
	private, personal := memory.Private, memory.Personal
	r := plain("Ana's doctor is a psychiatrist")
	r.Sensitivity = &private
	id := h.add(t, h.Client, r)
	text := "Ana has a doctor"
	if _, err := h.Update(ctx, id.String(), serve.UpdateRequest{Text: &text, Sensitivity: &personal}); err != nil {
		t.Fatal(err)
	}
	app := h.app(t, reads("reader", "semantic"))
	why, err := app.Why(ctx, id.String())
	if err != nil {
		t.Fatal(err)
	}
	history, err := app.History(ctx, id.String())
	if err != nil || len(history) < 2 {
		t.Fatalf("%+v, %v", history, err)
	}
	gathered, err := app.Context(ctx, serve.ContextRequest{Topic: "Ana's doctor"})
	if err != nil || !strings.Contains(gathered.Text, text) {
		t.Errorf("%+v, %v", gathered, err)
	}
	asked, err := app.Ask(ctx, serve.AskRequest{Question: "does Ana have a doctor"})
	if err != nil || len(asked.Evidence) == 0 {
		t.Errorf("%+v, %v", asked, err)
	}
	found, err := app.Search(ctx, serve.SearchRequest{Query: "Ana's doctor"})
	if err != nil || len(found.Hits) != 1 {
		t.Errorf("%+v, %v", found, err)
	}
	var changes []memory.Change
	for c, err := range app.Changes(ctx, 0, false) {
		if err != nil {
			t.Fatal(err)
		}
		changes = append(changes, c)
	}
	if all := fmt.Sprintf("%+v %+v %+v %+v %+v %+v %+v", why, history, changes, gathered, asked, found.Hits, found.Hits[0].Memory); strings.Contains(all, "psychiatrist") {
		t.Error(all)
	}
}
