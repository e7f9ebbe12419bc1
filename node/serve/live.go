package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"sync"
	"time"
)

// Watcher reports that something changed.
type Watcher interface {
	// Watch returns a number at once, and another each time that a line was
	// heard or forgotten, a memory changed, a pause began or ended, or the wearer's
	// consent was asked or given. It ends with ctx, or when the
	// node is locked.
	Watch(ctx context.Context) iter.Seq2[uint64, error]
}

// MediaTypeEvents is the content type of server-sent events.
const MediaTypeEvents = "text/event-stream"

// liveBeat is the interval of keep-alive messages on a stream without changes.
const liveBeat = 15 * time.Second

// Hearer reports what is being said.
type Hearer interface {
	// Hearing returns what engines have heard so far of the utterances that are being spoken. It
	// yields the list at each change, an empty one at the end of the last utterance. It ends
	// with ctx, or when the node is locked.
	Hearing(ctx context.Context) iter.Seq2[[]Hearing, error]
}

// Hearing is what an engine has heard so far of an utterance that is not over, or whose words
// are not stored yet.
type Hearing struct {
	Device string    `json:"device"`
	Since  time.Time `json:"since"`
	Text   string    `json:"text"` // never includes what may be a secret
}

// watcher is what the live route needs.
type watcher struct {
	Watcher
	hearer Hearer // may be nil
}

var liveTopic = topic[*watcher]{live.untyped}

var live = rawRoute[*watcher, none, string](RightOwner, spec{
	method: "GET", path: "/v1/live", id: "live",
	summary: "Follow what is heard and what changes, as server-sent events",
	about:   "An event of type change has a number. The number differs from the one before whenever a line was heard or forgotten, a memory changed, a pause began or ended, or your consent was asked or given; use other requests to find out which. An event of type hearing has a list of what is being said, if the ears recognise speech while it is spoken: objects with device, since, and text so far. These objects are not stored; an utterance leaves the list once its words are stored. A comment is sent every 15 s.",
	gives:   "Events, until the node is locked",
}, []Format{schema(MediaTypeEvents, "type", "string")}, func(w http.ResponseWriter, r *http.Request, s *watcher, _ none) error {
	rc := http.NewResponseController(w)
	ctx, stop := context.WithCancel(r.Context())
	defer stop()
	type item struct {
		n   uint64
		err error
	}
	items, said := make(chan item), make(chan string)
	var asking sync.WaitGroup
	asking.Go(func() {
		defer close(items)
		for n, err := range s.Watch(ctx) {
			select {
			case items <- item{n, err}:
			case <-ctx.Done():
				return
			}
		}
	})
	if s.hearer != nil {
		asking.Go(func() {
			for list, err := range s.hearer.Hearing(ctx) {
				b, _ := json.Marshal(list) // texts and times can always be encoded
				if err != nil {
					return // Watch reports it
				}
				select {
				case said <- fmt.Sprintf("event: hearing\ndata: %s\n\n", b):
				case <-ctx.Done():
					return
				}
			}
		})
	}
	defer func() { // whoever starts a goroutine waits for it
		stop()
		asking.Wait()
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
		case text = <-said:
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
