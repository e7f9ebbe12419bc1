package cli

import (
	"bufio"
	"context"
	"strings"
	"testing"
)

// TestYesAsksAgain: a mistyped answer, or the answer to another question, is neither yes nor no.
func TestYesAsksAgain(t *testing.T) {
	for _, c := range []struct {
		typed string
		want  bool
		again int
	}{{"y\n", true, 0}, {"Yes\n", true, 0}, {"\n", false, 0}, {"n\n", false, 0}, {"http://127.0.0.1:9999 qwen\ny\n", true, 1}, {"yesterday\nu\nNo\n", false, 2}} {
		var told strings.Builder
		a := &App{Stderr: &told, In: bufio.NewReader(strings.NewReader(c.typed))}
		s := &Asker{App: a, Ctx: context.Background(), IsInteractive: true}
		if got, err := s.Yes("Use it?"); err != nil || got != c.want {
			t.Errorf("%q: %v, %v", c.typed, got, err)
		}
		if got := strings.Count(told.String(), "want y or n"); got != c.again {
			t.Errorf("%q was asked again %d times, want %d:\n%s", c.typed, got, c.again, told.String())
		}
	}
}
