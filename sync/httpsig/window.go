package httpsig

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"sync"
	"time"
)

// Skew is how far a signature's time may lie from the clock of who checks it,
// either way.
const Skew = 5 * time.Minute

// life is how long a signature may be fresh.
const life = 2 * Skew

// Remembered is how many nonces a [Window] keeps at most of signatures that were
// made within the same ten minutes: 3,500 a second, and 40 MB with the map's own
// cost.
const Remembered = 1 << 21

// maxSpans is how many spans a [Window] keeps for a clock that was elsewhere,
// and may be there again.
const maxSpans = 64

// Window takes each signature once, and only near its time. It forgets a nonce
// when its signature can't be fresh again, by the clock or by one that was more
// behind, and as much time has passed as a signature is fresh: a clock that is
// ahead for a while, as it may be behind a captive portal, lets nothing in twice
// when it comes back, and keeps nobody out. It refuses what comes when it is full
// rather than forget early; and it is never full for all, since one holder may
// have a third of what the others leave. Safe for concurrent use.
type Window struct {
	Now   func() time.Time     // time.Now where nil
	Since func() time.Duration // time that has passed, whatever the clock is set to; by the system's where nil
	Max   int                  // nonces of one span; Remembered where zero

	mu    sync.Mutex
	key   [16]byte // so that nobody can choose what is alike; set once
	began time.Time
	least time.Time       // when it began, by the clock that was most behind
	spans map[int64]*span // by the number of the ten minutes in which a signature says that it was made
}

// span is what was taken of signatures that were made in the same ten minutes.
type span struct {
	ids  map[uint64]struct{}
	of   map[string]int // how many are each holder's
	last time.Duration  // when the last came
}

// Fresh checks the time alone: cheap, and before any key is looked up.
func (w *Window) Fresh(p Params) error {
	if p.Created.IsZero() || p.Nonce == "" || p.KeyID == "" {
		return fmt.Errorf("%w: created, nonce and keyid are needed", ErrMalformed)
	}
	if d := w.now().Sub(p.Created); d > Skew || d < -Skew {
		return fmt.Errorf("%w: by %s", ErrStale, d.Round(time.Second))
	}
	return nil
}

// Seen says that a signature was taken before.
func (w *Window) Seen(p Params) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seen(w.id(p))
}

func (w *Window) seen(id uint64) error {
	for _, s := range w.spans {
		if _, ok := s.ids[id]; ok {
			return ErrReplayed
		}
	}
	return nil
}

// id is 64 bits: of 2^23 that are remembered, one in 2^41 is taken for another.
func (w *Window) id(p Params) uint64 {
	if w.key == ([16]byte{}) {
		rand.Read(w.key[:])
	}
	sum := sha256.Sum256([]byte(string(w.key[:]) + p.KeyID + "\x00" + p.Nonce))
	return binary.BigEndian.Uint64(sum[:])
}

// Take notes a signature that was verified, or says that it was seen before. of
// names whose share of the window it takes; where empty, there are no shares.
func (w *Window) Take(p Params, of string) error {
	if err := w.Fresh(p); err != nil {
		return err
	}
	limit := w.Max
	if limit == 0 {
		limit = Remembered
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	passed := w.since()
	w.forget(passed, limit)
	id := w.id(p)
	if err := w.seen(id); err != nil {
		return err
	}
	n := p.Created.Unix() / int64(life/time.Second)
	s := w.spans[n]
	if s == nil {
		if w.spans == nil {
			w.spans = map[int64]*span{}
		}
		s = &span{ids: map[uint64]struct{}{}, of: map[string]int{}}
		w.spans[n] = s
	}
	if others := len(s.ids) - s.of[of]; len(s.ids) >= limit || of != "" && 3*s.of[of] >= limit-others {
		return ErrFull
	}
	s.ids[id], s.last = struct{}{}, passed
	s.of[of]++
	return nil
}

// forget drops what no signature that is fresh can repeat, wherever the clock
// was; of what one could if the clock went back there once more, the oldest,
// where that is too much.
func (w *Window) forget(passed time.Duration, limit int) {
	now := w.now().Round(0) // as it is set
	if least := now.Add(-passed); w.least.IsZero() || least.Before(w.least) {
		w.least = least
	}
	sure := w.least.Add(passed) // no clock so far was behind it
	oldest, spans, ids := int64(0), 0, 0
	for n, s := range w.spans {
		from := time.Unix(n*int64(life/time.Second), 0)
		switch to := from.Add(life); {
		case passed-s.last < life || !now.Before(from.Add(-Skew)) && !now.After(to.Add(Skew)):
		case sure.After(to.Add(Skew)):
			delete(w.spans, n)
		default:
			if spans == 0 || s.last < w.spans[oldest].last {
				oldest = n
			}
			spans++
			ids += len(s.ids)
		}
	}
	if spans > maxSpans || ids > limit {
		delete(w.spans, oldest)
	}
}

func (w *Window) now() time.Time {
	if w.Now == nil {
		return time.Now()
	}
	return w.Now()
}

// since is by the system's monotonic clock, which nobody sets.
func (w *Window) since() time.Duration {
	if w.Since != nil {
		return w.Since()
	}
	if w.began.IsZero() {
		w.began = time.Now()
	}
	return time.Since(w.began)
}
