package apps_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/filter"
	"github.com/locket-dev/locket/node/apps"
	"github.com/locket-dev/locket/node/serve"
)

// What an app writes has its name and the lowest rank, replaces nothing, and can be reverted
// by the name.
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
		if p, ok := errors.AsType[*serve.Problem](err); !ok || p.Field != field {
			t.Errorf("%+v, want the field %s", p, field)
		}
	}
	// An app's own key: what another app added with the same key does not matter.
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

func TestAppForgets(t *testing.T) {
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

// Everything that a filter finds is erased, as far as the app sees it; if the wearer pinned
// one of these memories, nothing is.
func TestEraseByFilter(t *testing.T) {
	ctx := t.Context()
	h := newHome(t)
	ann := func(text string) serve.AddRequest { r := plain(text); r.User = "ann"; return r }
	h.add(t, h.Client, ann("Ann likes green tea"))
	pinned := h.add(t, h.Client, ann("Ann rides a red bike"))
	episode := ann("Ann met Zora at the harbour")
	episode.Type = memory.Episodic
	unseen, other := h.add(t, h.Client, episode), h.add(t, h.Client, plain("The kettle is blue"))
	of, err := filter.Parse("user = ann", time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	r := reads("eraser", "semantic")
	r.Can = append(r.Can, serve.RightForget)
	app := h.app(t, r)
	blind := reads("blind", "semantic")
	blind.Can = []serve.Right{serve.RightForget}
	for _, c := range []*serve.Client{h.app(t, reads("reader", "semantic")), h.app(t, blind)} {
		_, err := c.Erase(ctx, of)
		want(t, err, serve.ErrForbidden, "may not")
	}
	_, err = app.Erase(ctx, filter.Filter{})
	want(t, err, memory.ErrInvalid, "filters")
	if _, err := h.Pin(ctx, pinned.String(), true); err != nil {
		t.Fatal(err)
	}
	_, err = app.Erase(ctx, of)
	want(t, err, serve.ErrForbidden, "nothing was erased")
	if _, err := h.Pin(ctx, pinned.String(), false); err != nil {
		t.Fatal(err)
	}
	if got, err := app.Erase(ctx, of); err != nil || len(got.Erased) != 2 {
		t.Errorf("%+v, %v", got, err)
	}
	page, err := h.List(ctx, serve.ListQuery{State: serve.AnyState})
	if err != nil || len(page.Memories) != 2 || page.Memories[0].ID != other || page.Memories[1].ID != unseen {
		t.Errorf("%+v, %v", page, err)
	}
	if log, err := h.AppLog(ctx, "eraser", 10); err != nil || len(log.Entries) == 0 || len(log.Entries[0].Wrote) != 2 {
		t.Errorf("%+v, %v", log, err)
	}
}

// vanishing is a writer that has somebody else erase a memory between the evaluation of a
// filter and the order to erase what it found.
type vanishing struct {
	serve.Writer
	gone []memory.ID // one for each attempt
}

func (v *vanishing) Delete(ctx context.Context, ids ...memory.ID) error {
	if len(v.gone) > 0 {
		id := v.gone[0]
		v.gone = v.gone[1:]
		if err := v.Writer.Delete(ctx, id); err != nil {
			return err
		}
	}
	return v.Writer.Delete(ctx, ids...)
}

// A memory that vanishes meanwhile does not prevent the others from being erased.
func TestEraseWhileOthersErase(t *testing.T) {
	ctx := t.Context()
	h := newHome(t)
	first, second, third := h.add(t, h.Client, plain("Ann likes green tea")), h.add(t, h.Client, plain("Ann rides a red bike")), h.add(t, h.Client, plain("The kettle is blue"))
	services := h.node.Services()
	services.Writer = &vanishing{services.Writer, []memory.ID{first, second}}
	e := apps.Guard(services, new(apps.Book), "Ann").Eraser
	of, err := filter.Parse("type = semantic", time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	got, err := e.Erase(ctx, serve.EraseRequest{Filters: of})
	if err != nil || len(got.Erased) != 1 || got.Erased[0] != third {
		t.Errorf("%+v, %v", got, err)
	}
}

// The extractors make only memories of the app's types from an app's text, and the app is
// told what was left out.
func TestInferredTypes(t *testing.T) {
	ctx := t.Context()
	h := newHome(t)
	r := reads("diary", "episodic")
	r.Can = append(r.Can, serve.RightAdd)
	diary := h.app(t, r)
	r = reads("facts", "semantic")
	r.Can = append(r.Can, serve.RightAdd)
	facts := h.app(t, r)
	r = reads("lines", "utterances")
	r.Can, r.Sensitivity = append(r.Can, serve.RightAdd), new(memory.Private)
	lines := h.app(t, r)

	_, err := diary.Add(ctx, serve.AddRequest{Text: "Kept words gnu", Keep: true})
	want(t, err, serve.ErrForbidden, "keep")
	for _, c := range []*serve.Client{diary, lines} {
		res, err := c.Add(ctx, serve.AddRequest{Text: "Norbert works at Siemens."})
		if err != nil || len(res.Changes) != 0 || len(res.Refusals) != 1 || res.Refusals[0].Kind != "type" || !strings.Contains(res.Refusals[0].Reason, "semantic") {
			t.Errorf("%+v, %v", res, err)
		}
	}
	for m, err := range h.All(ctx, serve.ListQuery{State: serve.AnyState}) {
		if err != nil || m.Type != memory.Vault {
			t.Errorf("it added %+v, %v", m, err)
		}
	}
	if res, err := facts.Add(ctx, serve.AddRequest{Text: "Greta works at Bosch."}); err != nil || len(res.Changes) != 1 {
		t.Errorf("%+v, %v", res, err)
	}
	if res, err := facts.Add(ctx, serve.AddRequest{Text: "Kept words yak", Keep: true}); err != nil || len(res.Changes) != 1 {
		t.Errorf("%+v, %v", res, err)
	}
	// The app is told that the wearer has something left out, but not in the wearer's words.
	if err := h.SetInstructions(ctx, "Leave out everything about work."); err != nil {
		t.Fatal(err)
	}
	if res, err := facts.Add(ctx, serve.AddRequest{Text: "Otto works at Lidl."}); err != nil || len(res.Refusals) != 1 || res.Refusals[0].Kind != "instructions" || strings.Contains(res.Refusals[0].Reason, "work") {
		t.Errorf("%+v, %v", res, err)
	}
	// A secret goes to the vault whatever the app's types are.
	if res, err := diary.Add(ctx, serve.AddRequest{Text: "The wifi password is hunter2-Zebra-99."}); err != nil || res.Redacted == 0 {
		t.Errorf("%+v, %v", res, err)
	}
	vault, err := h.List(ctx, serve.ListQuery{Type: memory.Vault})
	if err != nil || len(vault.Memories) != 1 {
		t.Errorf("%+v, %v", vault, err)
	}
}

// For a memory that the app sees, it is told which parts of a text had no effect, and for
// others not.
func TestRemainderOfKnownText(t *testing.T) {
	ctx := t.Context()
	h := newHome(t)
	hidden := plain("Ana keeps ducks")
	private := memory.Private
	hidden.Sensitivity = &private
	h.add(t, h.Client, hidden)
	h.add(t, h.Client, plain("Ana keeps bees"))
	r := reads("tagger", "semantic")
	r.Can = append(r.Can, serve.RightAdd)
	app := h.app(t, r)
	for text, left := range map[string]int{"Ana keeps bees": 1, "Ana keeps ducks": 0} {
		tagged := plain(text)
		tagged.Tags = []string{"farm"}
		if res, err := app.Add(ctx, tagged); err != nil || len(res.Left) != left || len(res.Changes) != left {
			t.Errorf("%s: %+v, %v", text, res, err)
		}
	}
}

// An app can neither set nor remove a tag that has a meaning for the node, in whatever way
// it tries. Nobody can set an empty tag.
func TestTagsOfTheNode(t *testing.T) {
	ctx := t.Context()
	h := newHome(t)
	r := reads("tagger", "semantic", "episodic")
	r.Can = append(r.Can, serve.RightAdd, serve.RightUpdate)
	app := h.app(t, r)
	own := h.add(t, app, plain("Ana keeps bees"))
	for _, tag := range []string{"locket:rules", "Locket:Rules", "locket:anything", " hearsay", "known-voice", "visit", "entity"} {
		tagged := plain("Ana keeps hens")
		tagged.Tags = []string{"farm", tag}
		_, err := app.Add(ctx, tagged)
		want(t, err, serve.ErrForbidden, "is reserved for the node")
		for _, p := range []serve.UpdateRequest{{Tag: []string{tag}}, {Untag: []string{tag}}} {
			_, err = app.Update(ctx, own.String(), p)
			want(t, err, serve.ErrForbidden, "is reserved for the node")
		}
		res, err := app.Batch(ctx, []serve.Operation{{Add: &tagged}, {ID: own.String(), Update: &serve.UpdateRequest{Tag: []string{tag}}}})
		if err != nil || res.Failed != 2 {
			t.Errorf("%q in a batch: %+v, %v", tag, res, err)
		}
	}
	for _, tag := range []string{"", " ", "\u3000"} {
		for _, c := range []*serve.Client{app, h.Client} {
			tagged := plain("Ana keeps hens")
			tagged.Tags = []string{tag}
			_, err := c.Add(ctx, tagged)
			want(t, err, memory.ErrInvalid, "tags[0]")
			_, err = c.Update(ctx, own.String(), serve.UpdateRequest{Tag: []string{tag}})
			want(t, err, memory.ErrInvalid, "tag[0]")
		}
	}
	page, err := h.List(ctx, serve.ListQuery{State: serve.AnyState})
	if err != nil || len(page.Memories) != 1 || len(page.Memories[0].Tags) != 0 {
		t.Errorf("%+v, %v", page, err)
	}
	if m, err := app.Update(ctx, own.String(), serve.UpdateRequest{Tag: []string{"farm", "locket"}}); err != nil || len(m.Tags) != 2 {
		t.Errorf("%+v, %v", m, err)
	}
}
