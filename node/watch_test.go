package node

import (
	"testing"
	"time"

	"github.com/locket-dev/locket/node/serve"
)

// A pause that began and ended between two checks is reported to watchers: one that
// asked in the middle of it would otherwise show it for ever.
func TestWatchReportsAShortPause(t *testing.T) {
	n := newNode(t, nil)
	told := make(chan uint64, 8)
	go func() {
		for count := range n.Watch(t.Context()) {
			told <- count
		}
		close(told)
	}()
	<-told // the current state
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
