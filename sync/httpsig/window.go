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

// Remembered is how many nonces a [Window] keeps for each span of 2×[Skew] at
// most: 24 MB with the map's own cost.
const Remembered = 1 << 18

// Window takes each signature once, and only near its time. It forgets a nonce
// after the time at which its signature is stale anyway, and refuses what comes
// when it is full rather than forget early. Safe for concurrent use.
type Window struct {
	Now func() time.Time // time.Now where nil
	Max int              // nonces in each half; Remembered where zero

	mu    sync.Mutex
	half  int64 // number of the span of 2×Skew that young belongs to
	young map[[16]byte]struct{}
	old   map[[16]byte]struct{}
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
	w.turn()
	if _, ok := w.young[id]; ok {
		return ErrReplayed
	}
	if _, ok := w.old[id]; ok {
		return ErrReplayed
	}
	if len(w.young) >= limit {
		return ErrFull
	}
	w.young[id] = struct{}{}
	return nil
}

// turn drops what no signature that is fresh can repeat. A signature is fresh
// for 2×Skew at most, so that two spans of that length hold all that matter.
func (w *Window) turn() {
	span := int64(2 * Skew / time.Second)
	half := w.now().Unix() / span
	switch {
	case w.young == nil || half > w.half+1:
		w.young, w.old = map[[16]byte]struct{}{}, nil
	case half == w.half+1:
		w.young, w.old = map[[16]byte]struct{}{}, w.young
	default:
		return // also where the clock went back: keep all
	}
	w.half = half
}

func (w *Window) now() time.Time {
	if w.Now == nil {
		return time.Now()
	}
	return w.Now()
}
