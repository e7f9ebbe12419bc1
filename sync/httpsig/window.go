package httpsig

import (
	"crypto/sha256"
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
// made within the same ten minutes: 24 MB with the map's own cost.
const Remembered = 1 << 18

// maxSpans is how many spans a [Window] keeps for a clock that was elsewhere,
// and may be there again.
const maxSpans = 64

// Window takes each signature once, and only near its time. It forgets a nonce
// when its signature can't be fresh again, by the clock or by one that was more
// behind, and as much time has passed as a signature is fresh: a clock that is
// ahead for a while, as it may be behind a captive portal, lets nothing in twice
// when it comes back, and keeps nobody out. It refuses what comes when it is full
// rather than forget early. Safe for concurrent use.
type Window struct {
	Now   func() time.Time     // time.Now where nil
	Since func() time.Duration // time that has passed, whatever the clock is set to; by the system's where nil
	Max   int                  // nonces of one span; Remembered where zero

	mu    sync.Mutex
	began time.Time
	least time.Time       // when it began, by the clock that was most behind
	spans map[int64]*span // by the number of the ten minutes in which a signature says that it was made
}

// span is what was taken of signatures that were made in the same ten minutes.
type span struct {
	ids  map[[16]byte]struct{}
	last time.Duration // when the last came
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

// Take notes a signature that was verified, or says that it was seen before.
func (w *Window) Take(p Params) error {
	if err := w.Fresh(p); err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(p.KeyID + "\x00" + p.Nonce))
	var id [16]byte
	copy(id[:], sum[:])
	limit := w.Max
	if limit == 0 {
		limit = Remembered
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	passed := w.since()
	w.forget(passed, limit)
	for _, s := range w.spans {
		if _, ok := s.ids[id]; ok {
			return ErrReplayed
		}
	}
	n := p.Created.Unix() / int64(life/time.Second)
	s := w.spans[n]
	if s == nil {
		if w.spans == nil {
			w.spans = map[int64]*span{}
		}
		s = &span{ids: map[[16]byte]struct{}{}}
		w.spans[n] = s
	}
	if len(s.ids) >= limit {
		return ErrFull
	}
	s.ids[id], s.last = struct{}{}, passed
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
