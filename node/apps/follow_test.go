package apps_test

import (
	"context"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// An app follows what it sees, is told when something goes, and pays no tokens for that.
// The first line has the number from which it can read changes.
func TestFollow(t *testing.T) {
	ctx := t.Context()
	h := newHome(t)
	tea := h.add(t, h.Client, plain("Ana likes green tea"))
	secret := plain("Ana's blood group is AB")
	private := memory.Private
	secret.Sensitivity = &private
	hidden := h.add(t, h.Client, secret)
	app := h.app(t, reads("reader", "semantic"))
	follow := func(q serve.FollowQuery) (func() (serve.Followed, error, bool), func()) {
		return iter.Pull2(app.Follow(ctx, q))
	}
	next, stop := follow(serve.FollowQuery{Memory: tea.String()[:8]})
	defer stop()
	first, err, ok := next()
	if err != nil || !ok || first.Change == 0 {
		t.Fatalf("%+v, %v", first, err)
	}
	kettle := h.add(t, h.Client, plain("The kettle is blue"))
	text := "Ana likes black tea"
	if _, err := h.Update(ctx, tea.String(), serve.UpdateRequest{Text: &text}); err != nil {
		t.Fatal(err)
	}
	second, err, _ := next()
	if err != nil || second.Change <= first.Change {
		t.Fatalf("%+v, %v", second, err)
	}
	var since []memory.ID
	for c, err := range app.Changes(ctx, first.Change, false) {
		if err != nil {
			t.Fatal(err)
		}
		since = append(since, c.Memory)
	}
	if len(since) < 2 || since[0] != kettle || since[len(since)-1] != tea {
		t.Errorf("%v, want %s and %s", since, kettle, tea)
	}
	if _, err := h.Delete(ctx, tea.String()); err != nil {
		t.Fatal(err)
	}
	if _, err, ok := next(); err != nil || !ok {
		t.Errorf("what went is not told: %v", err)
	}

	for _, q := range []serve.FollowQuery{{Memory: hidden.String()}, {Memory: tea.String()}, {Memory: strings.Repeat("0", 26)}} {
		next, stop := follow(q)
		_, err, _ := next()
		want(t, err, memory.ErrNotFound, "")
		stop()
	}
	for _, q := range []serve.FollowQuery{{}, {Memory: kettle.String(), Type: memory.Core}, {Type: "colour"}, {Memory: "a"}} {
		next, stop := follow(q)
		if _, err, _ := next(); err == nil {
			t.Errorf("%+v is followed", q)
		}
		stop()
	}

	// Following costs requests, and is in the log; the changes that were read cost tokens.
	l, err := h.AppLog(ctx, "reader", 0)
	if err != nil || len(l.Entries) == 0 || l.Entries[len(l.Entries)-1].Did != "follow" || l.Entries[len(l.Entries)-1].Tokens != 0 {
		t.Errorf("%+v, %v", l, err)
	}
	// If the key ends while the app follows, the app is told so.
	all, end := iter.Pull2(app.Follow(context.WithoutCancel(ctx), serve.FollowQuery{Since: time.Now().Add(-time.Hour)}))
	defer end()
	if _, err, _ := all(); err != nil {
		t.Fatal(err)
	}
	if _, err := h.RevokeApp(ctx, "reader"); err != nil {
		t.Fatal(err)
	}
	for err == nil { // earlier messages may come before it
		_, err, ok = all()
		if !ok {
			t.Fatal("the stream ended without an error")
		}
	}
	want(t, err, serve.ErrKey, "revoked")
}
