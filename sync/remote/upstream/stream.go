package upstream

import (
	"context"
	"sync"
	"time"

	"github.com/locket-dev/locket/sync/remote/page"
)

const (
	// restAfter is how long a stream of wake-ups continues while nobody waits for it: about as long
	// as a round takes, in which local changes are sent. Opening a stream again for each change
	// costs a connection, and over TLS more bytes than the change.
	restAfter = 5 * time.Second
	// lookAgain is how long to wait if a relay claims for the second time that it has something,
	// but shows nothing.
	lookAgain = 20 * time.Second
)

// stream is a relay's stream of wake-ups, shared by all that wait for one.
type stream struct {
	wake func(context.Context, func(page.Head) error) error

	mu      sync.Mutex
	end     context.CancelFunc // ends the running stream; nil: none is running
	changed chan struct{}      // closed when something below has changed
	head    page.Head          // the last head received, over all streams
	heard   bool               // a head was received
	now     bool               // the running stream has sent its first head
	news    bool               // the log or the records have changed
	told    page.Head          // the head for which a wait ended last
	err     error              // why the last stream ended
	waiting int
	idle    *time.Timer
}

// wait returns when there may be something after a cursor.
func (t *stream) wait(ctx context.Context, after uint64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waiting++
	if t.idle != nil {
		t.idle.Stop()
	}
	defer t.leave()
	var patience <-chan time.Time
	for ctx.Err() == nil {
		switch {
		case t.news, t.now && t.head.Cursor > after && t.head != t.told:
			t.news, t.told = false, t.head
			return nil
		case t.err != nil:
			err := t.err
			t.err = nil
			return err
		case t.end == nil:
			t.begin()
		}
		if patience == nil && t.now && t.head.Cursor > after {
			again := time.NewTimer(lookAgain)
			defer again.Stop()
			patience = again.C
		}
		changed := t.changed
		t.mu.Unlock()
		select {
		case <-ctx.Done():
		case <-changed:
		case <-patience:
			t.mu.Lock()
			return nil
		}
		t.mu.Lock()
	}
	return ctx.Err()
}

// begin opens a stream. t.mu is held.
func (t *stream) begin() {
	ctx, end := context.WithCancel(context.Background()) // longer than the present wait
	t.end, t.now, t.changed = end, false, make(chan struct{})
	go func() {
		err := t.wake(ctx, func(h page.Head) error { t.listen(ctx, h); return nil })
		t.mu.Lock()
		defer t.mu.Unlock()
		if ctx.Err() == nil { // nobody has ended it
			t.err, t.end = err, nil
			end()
			close(t.changed)
		}
	}()
}

func (t *stream) listen(ctx context.Context, h page.Head) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if ctx.Err() != nil {
		return
	}
	t.news = t.news || h.Records != t.head.Records || t.heard && h.Log != t.head.Log
	t.head, t.heard, t.now = h, true, true
	close(t.changed)
	t.changed = make(chan struct{})
}

// leave ends a wait. t.mu is held.
func (t *stream) leave() {
	t.waiting--
	if t.waiting == 0 && t.end != nil {
		t.idle = time.AfterFunc(restAfter, t.endIdle)
	}
}

// endIdle ends a stream that nobody waits for.
func (t *stream) endIdle() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.waiting == 0 && t.end != nil {
		t.end()
		t.end = nil
	}
}
