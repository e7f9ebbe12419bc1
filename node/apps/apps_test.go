package apps_test

import (
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/testing/llmtest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/atlas"
	"github.com/locket-dev/locket/memory/filter"
	"github.com/locket-dev/locket/node"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

// home is an open node with its API, as the owner asks it.
type home struct {
	*serve.Client
	node *node.Node
	api  http.Handler
}

func newHome(t *testing.T, change ...func(*config.Config)) *home {
	t.Helper()
	cfg := config.Config{Home: filepath.Join(t.TempDir(), "home"), Wearer: "Ana", Zone: "Europe/Lisbon", Broker: config.Broker{Listen: "127.0.0.1:0"}, Disk: config.Disk{Reserve: 32e6}}
	cfg.Defaults()
	for _, c := range change {
		c(&cfg)
	}
	if _, err := node.Init(cfg, node.InitOptions{Passphrase: "correct horse battery", Work: 4}); err != nil {
		t.Fatal(err)
	}
	h := &home{}
	var err error
	h.node, err = node.Open(cfg, node.Options{Cache: filepath.Join(cfg.Home, "cache")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.node.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := h.node.Unlock(t.Context(), "correct horse battery"); err != nil {
		t.Fatal(err)
	}
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

// app lets one in.
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

// What an app may not see is as if it were not there, whichever way it asks.
func TestUnseen(t *testing.T) {
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
	// Pages and counts are of what it sees: the newest memory is hidden.
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

	// One that may see lines finds what was said.
	lines := reads("listener", "utterances")
	lines.Sensitivity = &private
	res, err := h.app(t, lines).Search(ctx, serve.SearchRequest{Query: "who moves to Faro"})
	if err != nil || len(res.Hits) == 0 || res.Hits[0].Utterance == nil {
		t.Errorf("%+v, %v", res, err)
	}
}

// Lines of one time tell an app nothing of another: neither when what they say
// stopped being so, nor what is being said now.
func TestUnseenTimes(t *testing.T) {
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

// An app can't choose by what it is not shown.
func TestFiltersOfUnseen(t *testing.T) {
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

// A memory that was corrected shows an app nothing of what it was before.
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

// What an app writes has its name and the lowest rank, replaces nothing, and is
// taken back by the name.
func TestWrites(t *testing.T) {
	ctx := t.Context()
	h := newHome(t)
	home := plain("Ana lives in Lisbon")
	home.Slot = &memory.Slot{Subject: "user", Attribute: "home", Value: "Lisbon"}
	own := h.add(t, h.Client, home)
	heard, err := h.Add(ctx, serve.AddRequest{Text: "I work at the aquarium."})
	if err != nil {
		t.Fatal(err)
	}
	app := h.app(t, serve.AppRequest{Name: "claude", Can: []serve.Right{serve.RightRead, serve.RightAdd, serve.RightUpdate}, Types: []string{"semantic"}})
	no := false
	moved := serve.AddRequest{Text: "Ana lives in Porto", Infer: &no, Slot: &memory.Slot{Subject: "user", Attribute: "home", Value: "Porto"}}
	theirs := h.add(t, app, moved)
	works, err := app.Add(ctx, serve.AddRequest{Text: "I work at the bakery."})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []memory.ID{own, heard.Changes[0].Memory} {
		if m, err := h.Get(ctx, id.String()); err != nil || m.State != memory.Active {
			t.Errorf("an app's word ended %+v, %v", m, err)
		}
	}
	m, err := h.Get(ctx, theirs.String())
	if err != nil || m.Rank != memory.RankCloud || m.Source.App() != "claude" {
		t.Errorf("%+v, %v", m, err)
	}
	for _, c := range works.Changes {
		if m, err := h.Get(ctx, c.Memory.String()); err != nil || m.Rank != memory.RankCloud || m.Source.App() != "claude" {
			t.Errorf("%+v, %v", m, err)
		}
	}
	text := "Ana lives in Porto, near the river"
	if _, err := app.Update(ctx, theirs.String(), serve.UpdateRequest{Text: &text}); err != nil {
		t.Error(err)
	}
	if m, err := h.Get(ctx, theirs.String()); err != nil || m.Text != text || m.Rank != memory.RankCloud {
		t.Errorf("%+v, %v", m, err)
	}
	_, err = app.Update(ctx, own.String(), serve.UpdateRequest{Text: &text})
	want(t, err, serve.ErrForbidden, "wrote itself")
	_, err = app.Delete(ctx, theirs.String())
	want(t, err, serve.ErrForbidden, "may not forget")
	_, err = app.Pin(ctx, theirs.String(), true)
	want(t, err, serve.ErrForbidden, "owner")
	for field, r := range map[string]serve.AddRequest{
		"type":        {Text: "x y", Infer: &no, Type: memory.Episodic},
		"sensitivity": {Text: "x y", Infer: &no, Sensitivity: new(memory.Secret)},
		"tags":        {Text: "Ana is Bob", Infer: &no, Tags: []string{"entity"}},
		"fields":      {Text: "x y", Infer: &no, Type: memory.Semantic, Fields: memory.Fields{Resource: &memory.ResourceFields{Blob: strings.Repeat("0", 26)}}},
	} {
		_, err := app.Add(ctx, r)
		want(t, err, serve.ErrForbidden, field)
	}
	// A key of its own: what another called the same is no answer.
	keyed := plain("The tram is late")
	keyed.Key = "k1"
	h.add(t, h.Client, keyed)
	keyed.Text = "The ferry is late"
	if res, err := app.Add(ctx, keyed); err != nil || res.Repeated {
		t.Errorf("%+v, %v", res, err)
	}

	plan, err := h.Revert(ctx, serve.RevertRequest{App: "claude", Plan: true})
	if err != nil || plan.Claims < 3 {
		t.Errorf("%+v, %v", plan, err)
	}
	if v, err := h.Revert(ctx, serve.RevertRequest{Source: "worker"}); err != nil || v.Claims != 0 {
		t.Errorf("an app is no worker: %+v, %v", v, err)
	}
	done, err := h.Revert(ctx, serve.RevertRequest{App: "claude"})
	if err != nil || done.Claims != plan.Claims || done.Lines == 0 {
		t.Errorf("%+v, %v", done, err)
	}
	for m, err := range h.All(ctx, serve.ListQuery{State: serve.AnyState}) {
		if err != nil || m.State == memory.Active && m.Source.App() != "" {
			t.Errorf("left: %+v, %v", m, err)
		}
	}
	if res, err := h.Search(ctx, serve.SearchRequest{Query: "bakery"}); err != nil || len(res.Hits) != 0 {
		t.Errorf("the line is left: %+v, %v", res, err)
	}
	if _, err := h.Revert(ctx, serve.RevertRequest{Undo: done.ID}); err != nil {
		t.Error(err)
	}
	if m, err := h.Get(ctx, theirs.String()); err != nil || m.State != memory.Active {
		t.Errorf("undone: %+v, %v", m, err)
	}
}

func TestForgets(t *testing.T) {
	ctx := t.Context()
	h := newHome(t)
	kept, gone := h.add(t, h.Client, plain("The kettle is blue")), h.add(t, h.Client, plain("The stove is red"))
	if _, err := h.Pin(ctx, kept.String(), true); err != nil {
		t.Fatal(err)
	}
	app := h.app(t, serve.AppRequest{Name: "cleaner", Can: []serve.Right{serve.RightForget}, Types: []string{"semantic"}})
	if _, err := app.Delete(ctx, gone.String()); err != nil {
		t.Error(err)
	}
	_, err := h.Get(ctx, gone.String())
	want(t, err, memory.ErrNotFound, "")
	_, err = app.Delete(ctx, kept.String())
	want(t, err, serve.ErrForbidden, "pinned")
	_, err = app.Get(ctx, kept.String())
	want(t, err, serve.ErrForbidden, "may not read")
}

// The account says which memories went to whom, and what was refused.
func TestAccount(t *testing.T) {
	ctx := t.Context()
	h := newHome(t)
	id := h.add(t, h.Client, plain("Ana likes green tea"))
	app := h.app(t, reads("reader", "semantic"))
	if res, err := app.Search(ctx, serve.SearchRequest{Query: "green tea"}); err != nil || len(res.Hits) != 1 {
		t.Fatalf("%+v, %v", res, err)
	}
	_, err := app.Add(ctx, plain("Ana likes coffee"))
	want(t, err, serve.ErrForbidden, "app reader may not add: it may read")
	_, err = app.Batch(ctx, []serve.Operation{{Delete: true, ID: id.String()}})
	want(t, err, serve.ErrForbidden, "may only read")
	l, err := h.AppLog(ctx, "reader", 0)
	if err != nil || len(l.Entries) != 3 || l.Today.Refused != 2 || l.Today.Tokens == 0 {
		t.Fatalf("%+v, %v", l, err)
	}
	if e := l.Entries[1]; e.Did != "addMemory" || !strings.Contains(e.Refused, "may not add") || e.At.IsZero() {
		t.Errorf("%+v", e)
	}
	if e := l.Entries[2]; e.Did != "search" || !slices.Equal(e.Shown, []memory.ID{id}) || e.Tokens == 0 {
		t.Errorf("%+v", e)
	}
	_, err = h.AppLog(ctx, "nobody", 0)
	want(t, err, memory.ErrNotFound, "")
	_, err = app.AppLog(ctx, "reader", 0)
	want(t, err, serve.ErrForbidden, "owner")
	if s, err := app.Self(ctx); err != nil || s.Owner || s.App == nil || s.App.Name != "reader" {
		t.Errorf("%+v, %v", s, err)
	}
	if s, err := h.Self(ctx); err != nil || !s.Owner {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestLimits(t *testing.T) {
	ctx := t.Context()
	h := newHome(t)
	h.add(t, h.Client, plain("Ana likes green tea"))
	few := reads("few", "semantic")
	few.Requests = 3
	app := h.app(t, few)
	var err error
	for range 4 {
		_, err = app.List(ctx, serve.ListQuery{})
	}
	want(t, err, serve.ErrLimit, "3 requests a minute")
	little := reads("little", "semantic")
	little.Tokens = 30
	app = h.app(t, little)
	shown := 0
	for err = nil; err == nil && shown < 31; shown++ {
		_, err = app.List(ctx, serve.ListQuery{})
	}
	want(t, err, serve.ErrLimit, "of the 30 of today are left")
	if l, err := h.AppLog(ctx, "little", 0); err != nil || l.Today.Tokens > 30 || l.Today.Tokens == 0 {
		t.Errorf("%+v, %v", l, err)
	}
}

// An app that has used up its day costs the owner no more of a language model.
func TestAsksNoModelInVain(t *testing.T) {
	ctx := t.Context()
	s := llmtest.New(t, llmtest.Options{Key: "a key of the model"})
	s.Otherwise(llmtest.Say("Green tea."))
	h := newHome(t, func(c *config.Config) { c.LLM = config.LLM{URL: s.URL, Model: s.Model(), Key: "a key of the model"} })
	h.add(t, h.Client, plain("Ana likes green tea"))
	r := reads("little", "semantic")
	r.Tokens = serve.DefaultBudget
	app, q := h.app(t, r), serve.AskRequest{Question: "what tea does Ana like"}
	if a, err := app.Ask(ctx, q); err != nil || a.Model == "" {
		t.Fatalf("%+v, %v", a, err)
	}
	asked := len(s.Requests())
	for range 3 {
		if a, err := app.Ask(ctx, q); err != nil || a.Model != "" || len(a.Evidence) == 0 {
			t.Errorf("%+v, %v", a, err)
		}
	}
	if n := len(s.Requests()); n != asked {
		t.Errorf("the model was asked %d times more", n-asked)
	}
}
