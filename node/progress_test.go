package node_test

import (
	"sync"
	"testing"

	"github.com/locket-dev/locket/sync/remote/page"
)

// A request for the state of sync does not wait for a round that takes long,
// and reports how much the round has received.
func TestSyncReportsProgress(t *testing.T) {
	relay := serveRelay(t)
	a, b := newDevice(t, relay.url, 51), newDevice(t, relay.url, 52)
	a.init()
	for _, text := range []string{"The tram was late.", "The bus was early."} {
		a.tell(text, nil)
		a.well()
	}
	a.pair(b)

	asked, slow, goOn := 0, make(chan struct{}), make(chan struct{})
	b.net.lie(pages(t, func(ds []page.Placed) []page.Placed {
		if asked++; asked == 2 { // the first page has been received
			close(slow)
			<-goOn
		}
		return ds
	}))
	var done sync.WaitGroup
	done.Go(func() { b.sync() })
	<-slow
	s, err := b.SyncStatus(t.Context())
	if err != nil || !s.Busy || s.Took != 2 || s.Relay == "" || s.Error != "" {
		t.Errorf("meanwhile: %+v, %v", s, err)
	}
	close(goOn)
	done.Wait()
	b.net.lie(nil)
	if s := b.sync(); s.Busy || s.Took != 0 || s.Error != "" || s.Cursor < 2 {
		t.Errorf("afterwards: %+v", s)
	}
}
