package serve

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"time"
)

// Watcher reports that something changed.
type Watcher interface {
	// Watch returns a number at once, and another each time that a line was
	// heard or forgotten, a memory changed, or a pause began or ended. It ends with ctx, or when the
	// node is locked.
	Watch(ctx context.Context) iter.Seq2[uint64, error]
}

// MediaTypeEvents is that of server-sent events.
const MediaTypeEvents = "text/event-stream"

// liveBeat is the interval of signs of life on a stream without changes.
const liveBeat = 15 * time.Second

var watching = topic[Watcher]{live}

var live = writes[Watcher, none, string](RightOwner, spec{
	method: "GET", path: "/v1/live", id: "live",
	summary: "Be told when something was heard or has changed",
	about:   "Server-sent events. An event of type change has a number, which is another one than before whenever a line was heard or forgotten, a memory has changed, or a pause began or ended; what it was is asked for elsewhere. A comment comes every 15 s.",
	gives:   "Events, until the node is locked",
}, []Format{schema(MediaTypeEvents, "type", "string")}, func(w http.ResponseWriter, r *http.Request, s Watcher, _ none) error {
	rc := http.NewResponseController(w)
	ctx, stop := context.WithCancel(r.Context())
	defer stop()
	type item struct {
		n   uint64
		err error
	}
	items := make(chan item)
	go func() {
		defer close(items)
		for n, err := range s.Watch(ctx) {
			select {
			case items <- item{n, err}:
			case <-ctx.Done():
				return
			}
		}
	}()
	defer func() { // whoever starts a goroutine waits for it
		stop()
		for range items {
		}
	}()
	beat := time.NewTicker(liveBeat)
	defer beat.Stop()
	begun := false
	for {
		text := ": alive\n\n"
		select {
		case it, more := <-items:
			if it.err != nil && !begun {
				return it.err
			}
			if !more || it.err != nil {
				return nil // an event stream can't carry an error, so it ends
			}
			text = fmt.Sprintf("event: change\ndata: %d\n\n", it.n)
		case <-beat.C:
		}
		if !begun {
			w.Header().Set("Content-Type", MediaTypeEvents)
			w.WriteHeader(http.StatusOK)
			begun = true
		}
		if _, err := w.Write([]byte(text)); err != nil {
			return nil
		}
		_ = rc.Flush()
	}
})
