package httpsig

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"sync"
	"time"
)

// Skew is how far a signature's time may differ from the verifier's clock, in
// either direction.
const Skew = 5 * time.Minute

// life is how long a signature can be fresh.
const life = 2 * Skew

// Remembered is the greatest number of nonces that a [Window] keeps of signatures
// made within the same ten minutes. It allows 3,500 signatures a second, and
// takes 40 MB, including the map's own memory.
const Remembered = 1 << 21

// maxSpans is how many spans a [Window] keeps in case the clock is set back to
// their time.
const maxSpans = 64

// Window accepts each signature once, and only near its time. It forgets a nonce
// only when two conditions hold: its signature is too old by the clock, and by
// the slowest clock seen so far; and as much time has passed as a signature is
// fresh. If the clock is wrong for a while, for example behind a captive portal,
// no signature is accepted twice when the clock is set right again, and no sender
// is locked out. When the window is full, it refuses new signatures and does not
// forget early. One holder can't fill it alone, because a holder may use only a
// third of what the others leave. It is safe for concurrent use.
type Window struct {
	Now     func() time.Time     // nil: time.Now
	Elapsed func() time.Duration // time that has passed, independent of the clock's setting; nil: the system's monotonic clock
	Max     int                  // nonces of one span; 0: Remembered

	mu    sync.Mutex
	key   [16]byte // makes hashes unpredictable, so that nobody can choose two that are equal; set once
	began time.Time
	least time.Time       // the start of this window, by the slowest clock seen
	spans map[int64]*span // key: the number of the ten minutes that the signatures name as their time
}

// span holds the signatures that were made within the same ten minutes.
type span struct {
	ids  map[uint64]struct{}
	of   map[string]int // number of signatures of each holder
	last time.Duration  // when the last one came
}

// Fresh checks only the time. It is cheap, and can run before the key is looked
// up.
func (w *Window) Fresh(p Params) error {
	if p.Created.IsZero() || p.Nonce == "" || p.KeyID == "" {
		return fmt.Errorf("%w: created, nonce and keyid are needed", ErrMalformed)
	}
	if d := w.now().Sub(p.Created); d > Skew || d < -Skew {
		return fmt.Errorf("%w: by %s", ErrStale, d.Round(time.Second))
	}
	return nil
}

// Seen returns [ErrReplayed] if the signature was accepted before.
func (w *Window) Seen(p Params) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.checkNew(w.id(p))
}

func (w *Window) checkNew(id uint64) error {
	for _, s := range w.spans {
		if _, ok := s.ids[id]; ok {
			return ErrReplayed
		}
	}
	return nil
}

// id returns 64 bits that stand for a signature. With 2^23 remembered signatures,
// a new one is mistaken for a known one with a probability of 1 to 2^41.
func (w *Window) id(p Params) uint64 {
	if w.key == ([16]byte{}) {
		rand.Read(w.key[:])
	}
	sum := sha256.Sum256([]byte(string(w.key[:]) + p.KeyID + "\x00" + p.Nonce))
	return binary.BigEndian.Uint64(sum[:])
}

// Take records a verified signature, or returns [ErrReplayed]. of names the
// holder whose share of the window the signature takes. If of is empty, no share
// is counted.
func (w *Window) Take(p Params, of string) error {
	if err := w.Fresh(p); err != nil {
		return err
	}
	limit := cmp.Or(w.Max, Remembered)
	w.mu.Lock()
	defer w.mu.Unlock()
	passed := w.since()
	w.forget(passed, limit)
	id := w.id(p)
	if err := w.checkNew(id); err != nil {
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

// forget drops the nonces that no fresh signature can repeat, whatever time the
// clock showed before. Of those that could be repeated if the clock were set back
// again, it drops the oldest if there are too many.
func (w *Window) forget(passed time.Duration, limit int) {
	now := w.now().Round(0) // the wall clock, without the monotonic reading
	if least := now.Add(-passed); w.least.IsZero() || least.Before(w.least) {
		w.least = least
	}
	sure := w.least.Add(passed) // no clock seen so far was behind this time
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

// since uses the system's monotonic clock, which can't be set.
func (w *Window) since() time.Duration {
	if w.Elapsed != nil {
		return w.Elapsed()
	}
	if w.began.IsZero() {
		w.began = time.Now()
	}
	return time.Since(w.began)
}
