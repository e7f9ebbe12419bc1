package node

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/node/statefile"
)

// pauseFile remembers a pause over restarts; a locked node obeys it too.
const pauseFile = "pause.json"

// pauseTimer ends a pause at its time, and remembers earlier pauses.
type pauseTimer struct {
	changing  sync.Mutex // held from a change until the intake knows of it; taken before mu
	mu        sync.Mutex // guards the rest
	state     pauseRecord
	changes   uint64 // grows with each change of state
	uncertain bool   // something else may have written the file, so intake stays paused
	timer     *time.Timer
	onEnd     func()
}

// pauseRecord is the content of the file.
type pauseRecord struct {
	serve.PauseState
	Since time.Time `json:"since,omitzero"` // when it began
	Took  time.Time `json:"took,omitzero"`  // when the spoken order or the press was understood that began the pause at Since; zero: it began otherwise
	// Button: a button began the pause, and nothing else has paused the node since.
	Button bool    `json:"button,omitempty"`
	Past   []pause `json:"past,omitempty"` // the latest, oldest first
}

// pause is an earlier pause, from From until just before To.
type pause struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
	Took time.Time `json:"took,omitzero"`
	Why  string    `json:"why,omitempty"`
}

// maxPast is how many pauses are remembered. Data that a device stored during an
// older pause is taken in like any other.
const maxPast = 256

// after returns the record after the change to the state s, which begins or ends a
// pause.
func (r pauseRecord) after(s serve.PauseState, now time.Time) pauseRecord {
	next := pauseRecord{PauseState: s, Past: r.Past}
	switch ended := r.endTime(now); {
	case r.Paused && s.Paused && ended.Equal(now):
		next.Since, next.Took = r.Since, r.Took // it goes on
		return next
	case r.Paused && !r.Since.IsZero() && r.Since.Before(ended):
		next.Past = append(slices.Clone(r.Past), pause{r.Since, ended, r.Took, r.Why})
		next.Past = next.Past[max(0, len(next.Past)-maxPast):]
	}
	if s.Paused {
		next.Since = now.UTC()
	}
	return next
}

// endTime returns the time at which the pause ended, if it is ended now: Until, if that
// has passed.
func (r *pauseRecord) endTime(now time.Time) time.Time {
	if !r.Until.IsZero() && r.Until.Before(now) {
		return r.Until
	}
	return now
}

// wasPaused reports whether the node was paused at a time.
func (p *pauseTimer) wasPaused(at time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := &p.state
	if r.Paused && !r.Since.IsZero() && !at.Before(r.Since) && (r.Until.IsZero() || at.Before(r.Until)) {
		return true
	}
	return slices.ContainsFunc(r.Past, func(o pause) bool { return !at.Before(o.From) && at.Before(o.To) })
}

// changedAt returns when the last pause began or ended; zero: unknown.
func (p *pauseTimer) changedAt() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := &p.state
	switch n := len(r.Past); {
	case p.uncertain:
	case r.Paused:
		return r.Since
	case n > 0:
		return r.Past[n-1].To
	}
	return time.Time{}
}

// PausesBetween implements query.Pauses.
func (p *pauseTimer) PausesBetween(from, to time.Time) []serve.Span {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := []serve.Span{}
	for _, o := range p.state.Past {
		if o.From.Before(to) && o.To.After(from) {
			out = append(out, serve.Span{From: o.From, To: o.To, Why: o.Why})
		}
	}
	if r := &p.state; r.Paused && !r.Since.IsZero() && r.Since.Before(to) && (r.Until.IsZero() || r.Until.After(from)) {
		out = append(out, serve.Span{From: r.Since, To: r.Until, Why: r.Why})
	}
	return out
}

// load reads the file. If this device did not sign it, the state is uncertain.
func (p *pauseTimer) load(path string, device ed25519.PublicKey) (paused bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	b, signed, err := statefile.Read(path, device)
	p.state = pauseRecord{}
	if err == nil && len(b) > 0 {
		err = json.Unmarshal(b, &p.state)
	}
	if err != nil {
		return false, fmt.Errorf("pause: %s: %w", path, err)
	}
	p.uncertain = !signed
	if p.hasEnded() {
		p.state = p.state.after(serve.PauseState{}, time.Now())
	}
	return p.state.Paused || p.uncertain, nil
}

func (p *pauseTimer) hasEnded() bool {
	return !p.uncertain && p.state.Paused && !p.state.Until.IsZero() && !time.Now().Before(p.state.Until)
}

// endIfDue ends a pause whose time is up. It does so even if it can't write the file,
// as while the home is locked, because the file contains the time at which the
// pause ends.
func (p *pauseTimer) endIfDue(path string, ring *keyring.Ring) (ended bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.hasEnded() {
		return false, nil // another pause has begun meanwhile
	}
	next := p.state.after(serve.PauseState{}, time.Now())
	if ring != nil {
		err = next.write(path, ring)
	}
	p.setState(next)
	return true, err
}

// setState sets the new state. The caller holds mu.
func (p *pauseTimer) setState(next pauseRecord) {
	p.state = next
	p.changes++
	p.arm()
}

// Changes implements query.Pauses.
func (p *pauseTimer) Changes() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.changes
}

func (p *pauseTimer) isUncertain() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.uncertain
}

func (p *pauseTimer) current() serve.PauseState {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.uncertain {
		return serve.PauseState{Paused: true}
	}
	return p.state.PauseState
}

// set begins or ends a pause. If the ring is not open, the file is not signed, and
// the state is uncertain after a restart.
func (p *pauseTimer) set(path string, s serve.PauseState, ring *keyring.Ring) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	next := p.state.after(s, time.Now())
	if err := next.write(path, ring); err != nil {
		return err
	}
	p.uncertain = false
	p.setState(next)
	return nil
}

func (r *pauseRecord) write(path string, ring *keyring.Ring) error {
	b, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("pause: %w", err)
	}
	if err := statefile.Write(path, b, ring); err != nil {
		return fmt.Errorf("pause: %w", err)
	}
	return nil
}

// start calls onEnd when the current pause runs out.
func (p *pauseTimer) start(onEnd func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.onEnd = onEnd
	p.arm()
}

func (p *pauseTimer) arm() {
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
	if p.onEnd != nil && !p.uncertain && p.state.Paused && !p.state.Until.IsZero() {
		p.timer = time.AfterFunc(time.Until(p.state.Until), p.onEnd)
	}
}

func (p *pauseTimer) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.onEnd = nil
	p.arm()
}

// Pause implements serve.Intake.
func (n *Node) Pause(_ context.Context, until time.Time) (serve.PauseState, error) {
	return n.setPause(serve.PauseState{Paused: true, Until: until})
}

// Resume implements serve.Intake.
func (n *Node) Resume(context.Context) (serve.PauseState, error) {
	return n.setPause(serve.PauseState{})
}

func (n *Node) setPause(s serve.PauseState) (serve.PauseState, error) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	n.paused.changing.Lock()
	defer n.paused.changing.Unlock()
	if !s.Paused && n.open == nil && n.stateUncertain() {
		return serve.PauseState{}, fmt.Errorf("%w: what this home obeys while it is locked was changed; nothing is taken in until it is unlocked", memory.ErrLocked)
	}
	if err := n.paused.set(n.path(pauseFile), s, n.keys()); err != nil {
		return serve.PauseState{}, err
	}
	if n.running {
		n.intake.SetPaused(s.Paused)
	}
	return s, nil
}

// endPause is called when a pause has run out.
func (n *Node) endPause() {
	n.mu.RLock()
	defer n.mu.RUnlock()
	n.paused.changing.Lock()
	defer n.paused.changing.Unlock()
	ended, err := n.paused.endIfDue(n.path(pauseFile), n.keys())
	if err != nil {
		n.log.Warn("the pause has ended, but that could not be saved", "error", err)
	}
	if ended && n.running {
		n.intake.SetPaused(false)
	}
}
