package apps_test

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/locket-dev/locket/internal/testing/llmtest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

// An app's log says which memories it was shown, and what it was refused.
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

// passes checks that the answer says in how many seconds the request may be repeated.
func passes(t *testing.T, err error, least, most int) {
	t.Helper()
	h := http.Header{}
	if p, ok := errors.AsType[*serve.Problem](err); ok {
		p.Header(h)
	}
	if n, err := strconv.Atoi(h.Get("Retry-After")); err != nil || n < least || n > most {
		t.Errorf("Retry-After %q, want %d to %d", h.Get("Retry-After"), least, most)
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
	passes(t, err, 1, 20) // the next one of three
	little := reads("little", "semantic")
	little.Tokens = 30
	app = h.app(t, little)
	shown := 0
	for err = nil; err == nil && shown < 31; shown++ {
		_, err = app.List(ctx, serve.ListQuery{})
	}
	want(t, err, serve.ErrLimit, "of the 30 of today are left")
	passes(t, err, 1, 86400) // at midnight
	if l, err := h.AppLog(ctx, "little", 0); err != nil || l.Today.Tokens > 30 || l.Today.Tokens == 0 {
		t.Errorf("%+v, %v", l, err)
	}
}

// An app that has used up its tokens of the day causes no more costs for a language model.
func TestSpentTokensAskNoModel(t *testing.T) {
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

// An app that has exceeded its tokens of the day, by a long answer of a model, can still
// write and learns the results. It is shown nothing more.
func TestWritesWithoutTokens(t *testing.T) {
	ctx := t.Context()
	s := llmtest.New(t, llmtest.Options{Key: "a key of the model"})
	s.Otherwise(llmtest.Say("Green tea, " + strings.Repeat("and green tea, ", 1000)))
	h := newHome(t, func(c *config.Config) { c.LLM = config.LLM{URL: s.URL, Model: s.Model(), Key: "a key of the model"} })
	tea := h.add(t, h.Client, plain("Ana likes green tea"))
	r := reads("little", "semantic")
	r.Can, r.Tokens = append(r.Can, serve.RightAdd, serve.RightUpdate, serve.RightForget), serve.DefaultBudget
	app := h.app(t, r)
	if a, err := app.Ask(ctx, serve.AskRequest{Question: "what tea does Ana like"}); err != nil || a.Model == "" {
		t.Fatalf("%+v, %v", a, err)
	}
	if l, err := h.AppLog(ctx, "little", 0); err != nil || l.Today.Tokens <= r.Tokens {
		t.Fatalf("%+v, %v", l.Today, err)
	}
	own := h.add(t, app, plain("Ana keeps bees"))
	if _, err := app.Update(ctx, own.String(), serve.UpdateRequest{Tag: []string{"farm"}}); err != nil {
		t.Error(err)
	}
	if res, err := app.Batch(ctx, []serve.Operation{{ID: own.String(), Delete: true}}); err != nil || res.Failed > 0 {
		t.Errorf("%+v, %v", res, err)
	}
	if l, err := h.AppLog(ctx, "little", 0); err != nil || len(l.Entries) != 4 {
		t.Errorf("%+v, %v", l.Entries, err)
	}
	_, err := app.Get(ctx, tea.String())
	want(t, err, serve.ErrLimit, "are left")
	_, err = app.Pin(ctx, tea.String(), true)
	want(t, err, serve.ErrForbidden, "owner")
}
