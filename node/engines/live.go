package engines

import (
	"cmp"
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/locket-dev/locket/internal/engine/result"
	"github.com/locket-dev/locket/internal/engine/speech"
	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/extract/sound"
)

// Live lets an engine hear utterances while they are spoken, so that the words are available
// soon after an utterance ends. The [Queue] fetches the words and keeps them once. If the
// engine did not hear an utterance to its end, the Queue gives it the whole recording.
//
// Its methods are safe for concurrent use and don't block. It implements extract.Live.
type Live struct {
	c    LiveConfig
	work sync.WaitGroup // of all hearings

	mu     sync.Mutex             // guards the fields below
	closed bool                   // no new hearing may begin
	spoken map[string]*hearing    // utterances that are not over, by device
	ended  map[memory.ID]*hearing // utterances that are over, by recording
	change chan struct{}          // closed at the next change
}

// LiveConfig is what a Live needs.
type LiveConfig struct {
	Spec   Spec     // must be one that [Spec.Streams]
	Langs  []string // as in a Process
	Paused func() bool
	// Clean returns the words that may be shown: without those that may contain a secret.
	Clean func(ctx context.Context, text string) string
	// Ready is called when the words of a finished utterance are available, or will not be.
	Ready func()
	Log   *slog.Logger
	Now   func() time.Time
}

// Streams reports whether an engine hears utterances while they are spoken. An engine on
// another machine does not, because a secret that is said ten seconds later must still hold a
// recording back.
func (s *Spec) Streams() bool { return s.Engine == Wyoming && s.Local() }

// Settings of live hearing.
const (
	maxHearings = 8                      // at the same time, including those whose words nobody has fetched
	liveSilence = 3 * time.Second        // without sound: somebody paused, entered a private zone, or the device is gone
	liveLook    = 250 * time.Millisecond // how often a hearing checks whether there is a pause
	liveKeep    = 2 * time.Minute        // how long the words wait for the queue
	liveBuffer  = 64                     // messages of sound that an engine may be behind by
)

// hearing is an utterance that an engine hears.
type hearing struct {
	device string
	began  time.Time
	sound  chan []int16
	cancel context.CancelFunc

	// guarded by Live.mu
	partial string
	over    bool // the engine has finished, with or without success
	answer  *result.Answer
}

// NewLive makes a Live. Close ends it.
func NewLive(c LiveConfig) *Live {
	return &Live{c: c, spoken: map[string]*hearing{}, ended: map[memory.ID]*hearing{}, change: make(chan struct{})}
}

// Close ends all hearings and waits for them.
func (l *Live) Close() {
	l.mu.Lock()
	l.closed = true
	for _, h := range l.spoken {
		h.cancel()
	}
	for _, h := range l.ended {
		h.cancel()
	}
	l.mu.Unlock()
	l.work.Wait()
}

// Hear implements extract.Live.
func (l *Live) Hear(device string, fresh bool, pcm []int16) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.spoken[device]
	if fresh {
		l.drop(device)
		if h = nil; len(l.spoken)+len(l.ended) < maxHearings && !l.closed && !l.c.Paused() {
			h = l.begin(device)
		}
	}
	if h == nil {
		return
	}
	select {
	case h.sound <- pcm:
	default: // the engine is too slow to keep up
		l.drop(device)
	}
}

// begin makes the engine hear another utterance. The caller holds mu.
func (l *Live) begin(device string) *hearing {
	ctx, cancel := context.WithCancel(context.Background())
	h := &hearing{device: device, began: l.c.Now().UTC(), sound: make(chan []int16, liveBuffer), cancel: cancel}
	l.spoken[device] = h
	l.work.Go(func() {
		defer cancel()
		l.run(ctx, h)
	})
	return h
}

// EndAsRecording implements extract.Live.
func (l *Live) EndAsRecording(device string, recording memory.ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if h := l.spoken[device]; h != nil {
		delete(l.spoken, device)
		l.ended[recording] = h
		close(h.sound)
		time.AfterFunc(liveKeep, func() { l.forget(recording, h) })
	}
}

// Drop implements extract.Live.
func (l *Live) Drop(device string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drop(device)
}

func (l *Live) drop(device string) {
	if h := l.spoken[device]; h != nil {
		delete(l.spoken, device)
		h.cancel()
		l.changed()
	}
}

// forget drops words that nobody has fetched.
func (l *Live) forget(recording memory.ID, h *hearing) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended[recording] == h {
		delete(l.ended, recording)
		h.cancel()
		l.changed()
		l.c.Ready()
	}
}

// run runs a hearing from beginning to end.
func (l *Live) run(ctx context.Context, h *hearing) {
	w := &speech.Wyoming{Address: l.c.Spec.host(), Model: l.c.Spec.Model}
	t, err := w.Listen(ctx, l.soundOf(ctx, h), speech.Hints{Lang: only(l.c.Langs)}, func(text string) {
		text = l.c.Clean(ctx, memory.Cut(text, memory.MaxText))
		l.mu.Lock()
		defer l.mu.Unlock()
		h.partial = text
		l.changed()
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	h.over = true
	switch {
	case err == nil:
		a := result.Heard(l.c.Spec.Name(), &t)
		h.answer = &a
	case l.spoken[h.device] == h:
		delete(l.spoken, h.device)
	}
	if err != nil && ctx.Err() == nil {
		l.c.Log.Info("an utterance could not be heard while it was spoken: its recording will be", "error", err)
	}
	if h.answer == nil {
		h.partial = ""
	}
	l.changed()
	l.c.Ready()
}

// soundOf returns the sound of an utterance until its end. It ends the hearing when there is a
// pause, or when no more sound arrives.
func (l *Live) soundOf(ctx context.Context, h *hearing) func(func([]byte) bool) {
	return func(yield func([]byte) bool) {
		look := time.NewTicker(liveLook)
		defer look.Stop()
		for silent := time.Duration(0); ctx.Err() == nil; {
			select {
			case <-ctx.Done():
			case pcm, more := <-h.sound:
				if !more {
					return
				}
				silent = 0
				if !l.c.Paused() && !yield(sound.AppendPCM(nil, pcm)) {
					return
				}
			case <-look.C:
				silent += liveLook
			}
			if l.c.Paused() || silent >= liveSilence {
				h.cancel()
			}
		}
	}
}

// words returns, once, what was heard of a recording. pending: it is still being heard. If
// there are no words and nothing is pending, the whole recording has to be heard.
func (l *Live) words(recording memory.ID) (a *result.Answer, pending bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.ended[recording]
	switch {
	case h == nil:
		return nil, false
	case !h.over:
		return nil, true
	}
	return h.answer, false
}

// dropWords says that a recording has its words, or no longer waits.
func (l *Live) dropWords(recording memory.ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if h := l.ended[recording]; h != nil {
		delete(l.ended, recording)
		h.cancel()
		l.changed()
	}
}

// changed notifies those who follow what is heard. The caller holds mu.
func (l *Live) changed() {
	close(l.change)
	l.change = make(chan struct{})
}

// Partial is what an engine has heard so far of an utterance.
type Partial struct {
	Device string
	Since  time.Time
	Text   string // without anything that may be a secret
}

// Now returns what is being said, the oldest first, and a channel that is closed when that
// changes.
func (l *Live) Now() (out []Partial, change <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	add := func(h *hearing) {
		if h.partial != "" {
			out = append(out, Partial{h.device, h.began, h.partial})
		}
	}
	for _, h := range l.spoken {
		add(h)
	}
	for _, h := range l.ended {
		add(h)
	}
	sorting.Sort(out, func(a, b Partial) int {
		return cmp.Or(a.Since.Compare(b.Since), strings.Compare(a.Device, b.Device))
	})
	return out, l.change
}
