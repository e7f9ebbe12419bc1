package node_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/retrieve"
	"github.com/locket-dev/locket/node/apps"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/node/share"
)

// hooked is an app with a hook, as the sender of its messages sees it.
type hooked struct {
	*apps.Book
	*serve.Client
	hook apps.Hook
}

func (d *device) hooked(name string, rights ...serve.Right) *hooked {
	d.t.Helper()
	return d.hookedBy(name, 0, rights...)
}

// hookedBy is hooked with a number of tokens a day; 0: the default.
func (d *device) hookedBy(name string, tokens int, rights ...serve.Right) *hooked {
	d.t.Helper()
	book := d.Services().Apps.(*apps.Book)
	owner := serve.InProcess(serve.New(serve.Options{Services: d.Services()}))
	d.t.Cleanup(owner.Close)
	n, err := owner.AddApp(d.t.Context(), serve.AppRequest{Name: name, Can: append(rights, serve.RightRead), Types: []string{"semantic"}, Hook: "https://hook.example/", Tokens: tokens})
	if err != nil {
		d.t.Fatal(err)
	}
	list, err := book.Hooks(d.t.Context())
	i := slices.IndexFunc(list, func(h apps.Hook) bool { return h.App == name })
	if err != nil || i < 0 {
		d.t.Fatal(list, err)
	}
	return &hooked{book, owner.WithKey(n.Key), list[i]}
}

// conflicts returns what the app is sent about conflicts, from its last position.
func (h *hooked) conflicts(t *testing.T) (out []apps.Conflict) {
	t.Helper()
	for {
		told, cursor, err := h.NextChange(t.Context(), h.hook)
		if err != nil {
			t.Fatal(err)
		}
		if h.hook.Cursor = cursor; told == nil {
			return out
		}
		if told.Conflict != nil {
			out = append(out, *told.Conflict)
			h.hook.Conflict = told.Conflict.ID
		}
	}
}

// An app with a hook is sent that memories contradict each other, on both devices that were
// offline, if it may read every side. It is sent nothing about a side that it may not read,
// about the other value of a field, or about what is settled.
func TestHookConflictNotification(t *testing.T) {
	relay := serveRelay(t)
	a, b := newDevice(t, relay.url, 43), newDevice(t, relay.url, 44)
	a.init()
	note := a.tell("The key is under the mat.", nil)
	a.well()
	a.pair(b)
	b.well()
	at, there := a.hooked("bridge"), b.hooked("bridge")
	a.home("Ghent")
	b.home("Antwerp")
	private := memory.Private
	hidden := a.tell("User works at the mint.", &memory.Slot{Subject: "user", Attribute: "work", Value: "the mint"})
	if _, err := a.Update(t.Context(), hidden, serve.UpdateRequest{Sensitivity: &private}); err != nil {
		t.Fatal(err)
	}
	b.tell("User works at the zoo.", &memory.Slot{Subject: "user", Attribute: "work", Value: "the zoo"})
	for d, text := range map[*device]string{a: "The key is in the shed.", b: "The key is with Tom."} {
		if _, err := d.Update(t.Context(), note, serve.UpdateRequest{Text: &text}); err != nil {
			t.Fatal(err)
		}
	}
	if got := append(at.conflicts(t), there.conflicts(t)...); len(got) > 0 {
		t.Errorf("before they met: %+v", got)
	}
	a.well()
	b.well()
	a.well()
	var ids []string
	room := -1 // one token less than both sides need
	for name, h := range map[string]*hooked{"first": at, "second": there} {
		got := h.conflicts(t)
		if len(got) != 1 {
			t.Fatalf("%s: told of %+v", name, got)
		}
		for _, c := range got {
			var values []string
			for _, m := range c.Memories {
				values = append(values, m.Slot.Value)
				if h == at {
					room += retrieve.Tokens(m.AllText())
				}
			}
			slices.Sort(values)
			if c.Kind != "slot" || !slices.Equal(values, []string{"Antwerp", "Ghent"}) {
				t.Errorf("%s: %s between %q", name, c.Kind, values)
			}
			ids = append(ids, c.ID)
		}
		log, err := h.Book.AppLog(t.Context(), "bridge", 1)
		if err != nil || len(log.Entries) != 1 || log.Entries[0].Did != "hook" {
			t.Errorf("%s: %+v, %v", name, log, err)
		}
	}
	if slices.Sort(ids); ids[0] != ids[len(ids)-1] {
		t.Errorf("the devices name one conflict %q", ids)
	}
	// If a conflict exceeds the tokens of a whole day, the change is sent without it.
	narrow := a.hookedBy("narrow", room)
	narrow.hook.Cursor = 0
	var texts []string
	for range 20 {
		told, cursor, err := narrow.NextChange(t.Context(), narrow.hook)
		if errors.Is(err, serve.ErrLimit) {
			a.skew += 24 * time.Hour
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if narrow.hook.Cursor = cursor; told == nil {
			break
		}
		if texts = append(texts, told.Memory.Text); told.Conflict != nil {
			t.Errorf("told of %+v", told.Conflict)
		}
	}
	a.skew = 0
	if !slices.Contains(texts, "User lives in Antwerp.") || !slices.Contains(texts, "User works at the zoo.") {
		t.Errorf("told of %q", texts)
	}
	if _, err := a.Settle(t.Context(), ids[0], serve.SettleRequest{Choose: 1}); err != nil {
		t.Fatal(err)
	}
	a.well()
	b.well()
	if got := append(at.conflicts(t), there.conflicts(t)...); len(got) > 0 {
		t.Errorf("of what is settled: %+v", got)
	}
}

// An app that may share is sent the end of its own shares, and of no others.
func TestHookShareNotification(t *testing.T) {
	relay := serveRelay(t)
	d := newDevice(t, relay.url, 45)
	ctx := t.Context()
	d.init()
	d.tell("The tomatoes are ripe.", nil)
	club, other, reads := d.hooked("club", serve.RightShare), d.hooked("other", serve.RightShare), d.hooked("reads")
	reader := &share.Reader{Dir: t.TempDir(), Reserve: 1}
	key, _, err := reader.Key()
	if err != nil {
		t.Fatal(err)
	}
	made, err := club.CreateShare(ctx, serve.ShareRequest{Types: []memory.Type{memory.Semantic}, To: []string{"Ann=" + key}, Title: "the club"})
	if err != nil {
		t.Fatal(err)
	}
	next := func(h *hooked) *apps.ShareEnd {
		t.Helper()
		e, err := h.NextShareEnd(ctx, h.hook)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	if e := next(club); e != nil {
		t.Errorf("a share that is read: %+v", e)
	}
	if _, err := club.RevokeShare(ctx, made.ID.String(), ""); err != nil {
		t.Fatal(err)
	}
	d.skew += time.Minute
	e := next(club)
	if e == nil || e.ID != made.ID || e.Title != "the club" || e.Ended.IsZero() {
		t.Fatalf("%+v", e)
	}
	if got := []*apps.ShareEnd{next(other), next(reads)}; got[0] != nil || got[1] != nil {
		t.Errorf("other apps are told %+v", got)
	}
	club.hook.Ended, club.hook.EndedID = e.Ended, e.ID
	if e := next(club); e != nil {
		t.Errorf("told again: %+v", e)
	}
}
