package turns

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

// A key has its turns, others have theirs, and who gives up or ends leaves nothing behind.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := Turns{Each: 2}
		take := func(key string) func() {
			end, err := turns.Take(t.Context(), key)
			if err != nil {
				t.Fatal(err)
			}
			return end
		}
		one, two := take("a"), take("a")
		other := take("b")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := turns.Take(ctx, "a"); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		third := make(chan func())
		go func() { third <- take("a") }()
		synctest.Wait()
		select {
		case <-third:
			t.Fatal("a third one has a turn")
		default:
		}
		one()
		(<-third)()
		two()
		other()
		if len(turns.of) > 0 {
			t.Errorf("%d keys are left", len(turns.of))
		}
	})
}
