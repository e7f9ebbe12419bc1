// Package turns lets only a few work at a time for each key, such as an account or an address, so
// that the others wait no longer than for those who came before them with another key.
package turns

import (
	"context"
	"sync"
)

// Turns gives each key a number of turns at a time. It is safe for concurrent use.
type Turns struct {
	Each int // turns of one key; at least 1

	mu sync.Mutex
	of map[string]*line // the keys that have a turn or wait for one
}

// line is those who have a turn of a key, or wait for one.
type line struct {
	slots chan struct{}
	users int // guarded by Turns.mu
}

// Take waits for a turn of a key until ctx is done. After it has succeeded, the caller has to call
// end once.
func (t *Turns) Take(ctx context.Context, key string) (end func(), err error) {
	l := t.enter(key)
	select {
	case l.slots <- struct{}{}:
	case <-ctx.Done():
		t.leave(key, l)
		return nil, context.Cause(ctx)
	}
	return func() {
		<-l.slots
		t.leave(key, l)
	}, nil
}

func (t *Turns) enter(key string) *line {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.of[key]
	if l == nil {
		if t.of == nil {
			t.of = map[string]*line{}
		}
		l = &line{slots: make(chan struct{}, t.Each)}
		t.of[key] = l
	}
	l.users++
	return l
}

func (t *Turns) leave(key string, l *line) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l.users--; l.users == 0 {
		delete(t.of, key)
	}
}
