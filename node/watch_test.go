package node

import (
	"testing"
	"time"

	"github.com/locket-dev/locket/node/serve"
)

// A pause that began and ended between two looks is told to whoever watches: who asked
// in its midst would show it for ever.
func TestWatchTellsOfAShortPause(t *testing.T) {
	n := newNode(t, nil)
	told := make(chan uint64, 8)
	go func() {
		for count := range n.Watch(t.Context()) {
			told <- count
		}
		close(told)
	}()
	<-told // how it stands
	if _, err := n.Pause(t.Context(), time.Time{}); err != nil {
		t.Fatal(err)
	}
	if s, err := n.Resume(t.Context()); err != nil || s != (serve.PauseState{}) {
		t.Fatal(s, err)
	}
	select {
	case <-told:
	case <-time.After(10 * time.Minute):
		t.Fatal("nothing was told")
	}
}
