package appcmd

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// The programs that call the hook give it longer than it takes.
func TestHooksHaveTime(t *testing.T) {
	for _, file := range []string{"claude-code/hooks/hooks.json", "codex/hooks.json"} {
		b, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", file))
		if err != nil {
			t.Fatal(err)
		}
		var all struct {
			Hooks map[string][]struct{ Hooks []struct{ Timeout int } }
		}
		if err := json.Unmarshal(b, &all); err != nil || len(all.Hooks) == 0 {
			t.Fatalf("%s: %+v, %v", file, all, err)
		}
		for event, groups := range all.Hooks {
			for _, g := range groups {
				for _, h := range g.Hooks {
					if time.Duration(h.Timeout)*time.Second <= hookTime {
						t.Errorf("%s: %s: %d s", file, event, h.Timeout)
					}
				}
			}
		}
	}
}
