package apps_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/delegate"
	"github.com/locket-dev/locket/node/serve"
)

// An app passes on a part of what it may see. The owner sees which key was used,
// and revokes one with all that follow from it.
func TestDelegatedKeys(t *testing.T) {
	ctx := t.Context()
	h := newHome(t)
	tea, walk := plain("Ana likes green tea"), plain("Ana walked along the harbour")
	tea.Tags, walk.Type = []string{"food"}, memory.Episodic
	fact, episode := h.add(t, h.Client, tea), h.add(t, h.Client, walk)
	r := reads("planner", "semantic", "episodic")
	r.Can, r.Delegate = append(r.Can, serve.RightAdd), 2
	n, err := h.AddApp(ctx, r)
	if err != nil {
		t.Fatal(err)
	}
	pass := func(key serve.Secret, narrow delegate.Narrow, more int) (*serve.Client, serve.Secret, string) {
		t.Helper()
		name := "planner"
		if delegate.Is(key) {
			name = ""
		}
		k, id, err := delegate.Pass(key, name, narrow, more)
		if err != nil {
			t.Fatal(err)
		}
		return h.WithKey(k), k, id
	}
	get := func(c *serve.Client, id memory.ID) error { _, err := c.Get(ctx, id.String()); return err }
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
	}
	helper, key, first := pass(n.Key, delegate.Narrow{Can: []string{"read"}, Types: []string{"semantic"}}, 1)
	second, deeper, last := pass(key, delegate.Narrow{Tags: []string{"food"}}, 0)
	other, _, _ := pass(n.Key, delegate.Narrow{Types: []string{"episodic"}}, 0)
	ok(get(helper, fact))
	ok(get(second, fact))
	ok(get(other, episode))
	want(t, get(helper, episode), memory.ErrNotFound, "")
	want(t, get(other, fact), memory.ErrNotFound, "")
	_, err = helper.Add(ctx, plain("Ana likes coffee"))
	want(t, err, serve.ErrForbidden, "may not add")
	over, _, _ := pass(n.Key, delegate.Narrow{Ends: time.Now().Unix() - 1}, 0)
	want(t, get(over, fact), serve.ErrKey, "")

	// Each key reports its own rights.
	ends := time.Now().Add(time.Hour).Truncate(time.Second).UTC()
	short, _, _ := pass(key, delegate.Narrow{Sensitivity: new(memory.Public), Ends: ends.Unix()}, 0)
	for _, of := range []struct {
		c       *serve.Client
		can     string
		types   string
		tags    string
		ends    time.Time
		further int
	}{
		{h.WithKey(n.Key), "[read add]", "[semantic episodic]", "[]", time.Time{}, 2},
		{helper, "[read]", "[semantic]", "[]", time.Time{}, 1},
		{second, "[read]", "[semantic]", "[food]", time.Time{}, 0},
		{short, "[read]", "[semantic]", "[]", ends, 0},
	} {
		self, err := of.c.Self(ctx)
		if err != nil || self.Owner || self.App == nil {
			t.Fatalf("%+v, %v", self, err)
		}
		if a := self.App; a.Name != "planner" || fmt.Sprint(a.Can) != of.can || fmt.Sprint(a.Types) != of.types || fmt.Sprint(a.Tags) != of.tags ||
			!a.Ends.Equal(of.ends) || a.Delegate != of.further || of.c == short && *a.Sensitivity != memory.Public {
			t.Errorf("%+v, want %+v", a, of)
		}
	}
	wide, _, err := delegate.Pass("lka_MADEUP", "planner", delegate.Narrow{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	want(t, get(h.WithKey(wide), fact), serve.ErrKey, "")
	if _, _, err := delegate.Pass(deeper, "", delegate.Narrow{}, 0); err == nil {
		t.Error("passed on further than allowed")
	}

	log, err := h.AppLog(ctx, "planner", 20)
	if err != nil {
		t.Fatal(err)
	}
	via := map[string]bool{}
	for _, u := range log.Entries {
		via[u.Via] = true
	}
	if !via[first] || !via[last] {
		t.Errorf("the account has %v, want %s and %s", via, first, last)
	}

	if _, err := h.RevokeApp(ctx, "planner:"+first); err != nil {
		t.Fatal(err)
	}
	want(t, get(helper, fact), serve.ErrKey, "")
	want(t, get(second, fact), serve.ErrKey, "")
	ok(get(other, episode))
	ok(get(h.WithKey(n.Key), fact))
	for _, bad := range []string{"planner:", "planner:xyz", "planner:" + strings.Repeat("0", 15)} {
		_, err := h.RevokeApp(ctx, bad)
		want(t, err, memory.ErrInvalid, "")
	}
	_, err = h.RevokeApp(ctx, "nobody:"+first)
	want(t, err, memory.ErrNotFound, "")
	if _, err := h.RevokeApp(ctx, "planner"); err != nil {
		t.Fatal(err)
	}
	want(t, get(other, episode), serve.ErrKey, "")

	// An app whose owner does not let it pass anything on.
	n, err = h.AddApp(ctx, reads("reader", "semantic"))
	if err != nil {
		t.Fatal(err)
	}
	k, _, err := delegate.Pass(n.Key, "reader", delegate.Narrow{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	want(t, get(h.WithKey(k), fact), serve.ErrKey, "")
	r.Delegate = delegate.MaxDepth + 1
	_, err = h.AddApp(ctx, r)
	want(t, err, memory.ErrInvalid, "delegate")
}
