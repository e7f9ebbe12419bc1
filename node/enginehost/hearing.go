package enginehost

import (
	"context"
	"iter"
	"slices"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/engines"
	"github.com/locket-dev/locket/node/serve"
)

// listen makes the Live through which an engine hears utterances while they are spoken.
func (h *Host) listen(s engines.Spec, q *engines.Queue) *engines.Live {
	paused := h.c.Paused
	if paused == nil {
		paused = func() bool { return false }
	}
	return engines.NewLive(engines.LiveConfig{Spec: s, Langs: h.c.Langs, Paused: paused, Clean: h.clean, Ready: q.Wake, Log: h.c.Log, Now: h.c.Now})
}

// clean returns words that may be shown. They are not kept, and a text that contains a secret
// is not shown at all.
func (h *Host) clean(ctx context.Context, text string) string {
	lock := h.c.Engine.AcquireWriter() // plugins change under this lock, and are asked by one call at a time
	defer lock.Release()
	if found, err := h.c.Extract.HoldsSecret(ctx, text); err != nil || found {
		return ""
	}
	return text
}

// Hear implements extract.Live.
func (h *Host) Hear(device string, fresh bool, pcm []int16) {
	if l := h.live.Load(); l != nil {
		l.Hear(device, fresh, pcm)
	}
}

// EndAsRecording implements extract.Live.
func (h *Host) EndAsRecording(device string, recording memory.ID) {
	if l := h.live.Load(); l != nil {
		l.EndAsRecording(device, recording)
	}
}

// Drop implements extract.Live.
func (h *Host) Drop(device string) {
	if l := h.live.Load(); l != nil {
		l.Drop(device)
	}
}

// lookAgain is how often Hearing checks whether another engine hears.
const lookAgain = time.Second

// Hearing implements serve.Hearer.
func (e Enginer) Hearing(ctx context.Context) iter.Seq2[[]serve.Hearing, error] {
	return func(yield func([]serve.Hearing, error) bool) {
		more := true
		err := e.of.During(ctx, func(ctx context.Context, h *Host) error {
			again := time.NewTicker(lookAgain)
			defer again.Stop()
			var was []serve.Hearing
			for ctx.Err() == nil && more {
				out := []serve.Hearing{}
				var change <-chan struct{}
				if l := h.live.Load(); l != nil {
					var now []engines.Partial
					now, change = l.Now()
					for _, p := range now {
						out = append(out, serve.Hearing(p))
					}
				}
				if !slices.Equal(out, was) {
					was = out
					if more = yield(out, nil); !more {
						return nil
					}
				}
				select {
				case <-ctx.Done():
				case <-change:
				case <-again.C:
				}
			}
			return nil
		})
		if err != nil && more {
			yield(nil, err)
		}
	}
}
