package apps

import (
	"context"
	"fmt"
	"time"

	"github.com/locket-dev/locket/node/serve"
)

// pace is how many requests an app has left: a token bucket that fills within a minute.
type pace struct {
	left float64
	at   time.Time
}

// pace takes one of the requests that an app may make in a minute. If none is left, it returns
// how long to wait for the next one; otherwise 0.
func (b *Book) pace(name string, perMinute int) (wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p, now := b.paces[name], b.now()
	if p == nil {
		p = &pace{float64(perMinute), now}
		b.paces[name] = p
	}
	p.left = min(float64(perMinute), p.left+max(now.Sub(p.at), 0).Minutes()*float64(perMinute))
	p.at = now
	if p.left < 1 {
		return max(1, time.Duration((1-p.left)/float64(perMinute)*float64(time.Minute)))
	}
	p.left--
	return 0
}

// draws lets only one graph of an app be drawn at a time, because that reads all memories that
// the app sees, and takes a while.
func (v *visit) draws() (done func(), err error) {
	b := v.book
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.drawing[v.Name()] {
		return nil, serve.WithRetryAfter(time.Second, fmt.Errorf("%w: a graph is being drawn already", serve.ErrLimit))
	}
	b.drawing[v.Name()] = true
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.drawing, v.Name())
	}, nil
}

// An app's searches keep a processor busy, and the owner's questions wait for it. Only one
// request writes at a time, and what a wearable sends waits for it.
const (
	maxRecalls = 4                // of one app at the same time
	maxWrites  = 1                // of one app at the same time
	placeWait  = 45 * time.Second // how long a further one waits for a place: MCP clients give up after 60 s
)

func (v *visit) recalls(ctx context.Context) (done func(), err error) {
	return v.place(ctx, "searches, questions and lists", maxRecalls)
}

func (v *visit) writing(ctx context.Context) (done func(), err error) {
	return v.place(ctx, "changes", maxWrites)
}

// place waits for a place among an app's current requests of a kind; the error is
// serve.ErrLimit if none is free in time.
func (v *visit) place(ctx context.Context, of string, most int) (done func(), err error) {
	b, name := v.book, v.Name()+" "+of
	b.mu.Lock()
	places := b.places[name]
	if places == nil {
		places = make(chan struct{}, most)
		b.places[name] = places
	}
	b.mu.Unlock()
	late := time.NewTimer(placeWait)
	defer late.Stop()
	select {
	case places <- struct{}{}:
		return func() { <-places }, nil
	case <-late.C:
		return nil, serve.WithRetryAfter(time.Second, fmt.Errorf("%w: %d %s of this app under way: wait for the answer before the next", serve.ErrLimit, most, of))
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
