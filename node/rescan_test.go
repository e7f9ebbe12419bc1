package node

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/locket-dev/locket/internal/testing/plugintest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

// If a plugin that redacts words fails, everything said is quarantined; after
// three faults, doctor and the status say that the plugin holds everything up.
// Once it is gone, what was quarantined can be processed again, with the result
// that it would have had, and only once.
func TestRescan(t *testing.T) {
	n := newNode(t, func(c *config.Config) { c.Plugins.Disabled = []string{"speech", "scene", "howto", "plans", "language"} })
	ctx := t.Context()
	p, err := n.InstallPlugin(ctx, plugintest.Trapping())
	if err != nil {
		t.Fatal(err)
	}
	blocks := func() bool {
		t.Helper()
		s, err := n.Status(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(s.Plugins, func(s serve.PluginStatus) bool { return s.Name == p.ID && s.Blocks && !s.Enabled })
	}
	finding := func() (f serve.Finding) {
		t.Helper()
		r, err := n.Doctor(ctx, false)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range r.Findings {
			if f.Check == "plugin "+p.ID {
				if f.Level == serve.LevelError == r.OK {
					t.Errorf("%+v, and all is well: %v", f, r.OK)
				}
				return f
			}
		}
		return f
	}
	if blocks() || finding().Level != "" {
		t.Error("the plugin is reported as faulty before it failed")
	}
	lines := []string{"I live in Ghent.", "My wifi password is Xq7-pine-Tr0ut-88.", "My dentist is Dr Novak."}
	for i, l := range lines {
		res, err := n.Add(ctx, serve.AddRequest{Text: l, Speaker: "Ana"})
		if err != nil || len(res.Changes) > strings.Count(l, "password") || !slices.ContainsFunc(res.Refusals, func(r memory.Refusal) bool { return r.Kind == "unscanned" }) {
			t.Fatalf("%q: %+v, %v", l, res, err)
		}
		if i == 0 && (blocks() || finding().Level != serve.LevelWarning) {
			t.Errorf("after one fault of three: %+v", finding())
		}
	}
	if f := finding(); !blocks() || f.Level != serve.LevelError || !strings.Contains(f.Detail, "everything that is said is set aside") || !strings.Contains(f.Advice, "locket plugin enable "+p.ID) {
		t.Errorf("status says so: %v; doctor: %+v", blocks(), f)
	}
	if _, err := n.Rescan(ctx); !errors.Is(err, serve.ErrConflict) || !strings.Contains(err.Error(), p.ID) {
		t.Errorf("while it is disabled: %v", err)
	}
	if _, err := n.EnablePlugin(ctx, p.ID, true); err != nil {
		t.Fatal(err)
	}
	if blocks() {
		t.Error("it was enabled, and is said to hold things up")
	}
	// The speaker counts for forgetting, as if the line had been read.
	if _, err := n.Add(ctx, serve.AddRequest{Text: "The key lies under the mat.", Speaker: "Bo"}); err != nil {
		t.Fatal(err)
	}
	plan, err := n.PlanForget(ctx, serve.ForgetSelection{Person: "Bo"})
	if err == nil {
		_, err = n.Forget(ctx, plan)
	}
	if err != nil || len(plan.Quarantined) != 1 {
		t.Errorf("forgetting what was set aside: %+v, %v", plan, err)
	}
	if got, err := n.Rescan(ctx); err != nil || got.Texts != 3 || got.Left != 3 {
		t.Errorf("while it fails: %+v, %v", got, err)
	}
	if err := n.RemovePlugin(ctx, p.ID); err != nil {
		t.Fatal(err)
	}
	got, err := n.Rescan(ctx)
	if err != nil || got.Texts != 3 || got.Left != 0 || len(got.Changes) < 2 {
		t.Fatalf("%+v, %v", got, err)
	}
	if hits := search(t, n, serve.SearchRequest{Query: "Where does Ana live?"}); len(hits) == 0 {
		t.Error("nothing is found of what was set aside")
	}
	if all := remembered(t, n); strings.Contains(all, "Xq7-pine") || !strings.Contains(all, "Ghent") || !strings.Contains(all, "Novak") {
		t.Errorf("%s", all)
	}
	if got, err := n.Rescan(ctx); err != nil || got.Texts != 0 || len(got.Changes) != 0 {
		t.Errorf("twice: %+v, %v", got, err)
	}
	vault, err := n.List(ctx, serve.ListQuery{Type: memory.Vault, Limit: 10})
	if err != nil || len(vault.Memories) != 1 {
		t.Fatalf("%+v, %v", vault, err)
	}
	if history, err := n.History(ctx, vault.Memories[0].ID); err != nil || len(history) != 1 {
		t.Errorf("the password, which another plugin had found, is there %d times, %v", len(history), err)
	}
	q, err := n.Quarantine(ctx, 10)
	if err != nil || len(q) != 0 {
		t.Errorf("set aside still: %+v, %v", q, err)
	}
}
