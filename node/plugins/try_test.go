package plugins_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/locket-dev/locket/internal/testing/nodetest"
	"github.com/locket-dev/locket/internal/testing/plugintest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// A line is shown to one plugin. Nothing of it is kept, and a plugin that may not
// see secrets is not shown one.
func TestTryPlugin(t *testing.T) {
	n := nodetest.New(t, nil)
	ctx := t.Context()
	v, err := n.TryPlugin(ctx, "facts", "I live in Lindau now. The password of my bank is Tulip-42-Karst.")
	if err != nil || v.Error != "" || len(v.Memories) == 0 || v.Memories[0].Type != memory.Semantic || !strings.Contains(v.Memories[0].Text, "Lindau") {
		t.Errorf("%+v, %v", v, err)
	}
	if strings.Contains(v.Shown, "Tulip") || !strings.Contains(v.Shown, "Lindau") {
		t.Errorf("it was shown %q", v.Shown)
	}
	v, err = n.TryPlugin(ctx, "secrets", "The password of my bank is Tulip-42-Karst.")
	if err != nil || !strings.Contains(v.Shown, "Tulip") || strings.Contains(v.Left, "Tulip") || len(v.Memories) != 1 || v.Memories[0].Type != memory.Vault || strings.Contains(v.Memories[0].Text, "Tulip") {
		t.Errorf("%+v, %v", v, err)
	}
	if v, err = n.TryPlugin(ctx, "facts", "Good morning."); err != nil || len(v.Memories) != 0 || v.Left != "" {
		t.Errorf("%+v, %v", v, err)
	}
	if page, err := n.List(ctx, serve.ListQuery{State: serve.AnyState}); err != nil || len(page.Memories) != 0 {
		t.Errorf("kept: %+v, %v", page, err)
	}
	for id, is := range map[string]error{"facts": memory.ErrInvalid, "none/such": memory.ErrNotFound, "scene": memory.ErrInvalid} {
		text := "I live in Lindau."
		if id == "facts" {
			text = strings.Repeat("a", serve.MaxTried+1)
		}
		if _, err := n.TryPlugin(ctx, id, text); !errors.Is(err, is) {
			t.Errorf("%s: %v", id, err)
		}
	}
	if _, err := n.EnablePlugin(ctx, "howto", false); err != nil {
		t.Fatal(err)
	}
	if _, err := n.TryPlugin(ctx, "howto", "To reset it, hold the button."); !errors.Is(err, serve.ErrConflict) {
		t.Errorf("off: %v", err)
	}
	traps := plugintest.Silent("1.0.0", "")
	traps.Module = append(traps.Module[:len(traps.Module)-4:len(traps.Module)-4], 0, 0, 0, 0x0b)
	if _, err := n.InstallPlugin(ctx, traps); err != nil {
		t.Fatal(err)
	}
	if v, err := n.TryPlugin(ctx, "suite/silent", "Hello."); err != nil || v.Error == "" {
		t.Errorf("one that traps: %+v, %v", v, err)
	}
}
