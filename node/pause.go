package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/locket-dev/locket/internal/whole"
	"github.com/locket-dev/locket/node/serve"
)

// pauseFile remembers a pause over restarts; a locked node obeys it too.
const pauseFile = "pause.json"

// pauseTimer ends a pause at its time.
type pauseTimer struct {
	turn  sync.Mutex // held from a change until the intake knows of it; before mu
	mu    sync.Mutex
	state serve.PauseState
	timer *time.Timer
	fire  func()
}

func (p *pauseTimer) load(path string) (paused bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	b, err := whole.ReadChecked(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &p.state)
	}
	if err != nil {
		return false, fmt.Errorf("pause: %s: %w", path, err)
	}
	if p.over() {
		p.state = serve.PauseState{}
	}
	return p.state.Paused, nil
}

func (p *pauseTimer) over() bool {
	return p.state.Paused && !p.state.Until.IsZero() && !time.Now().Before(p.state.Until)
}

// clear ends a pause that has run out, also where that can't be written: what
// is on the disk says so by its time.
func (p *pauseTimer) clear(path string) (ended bool, err error) {
	p.mu.Lock()
	over := p.over()
	p.mu.Unlock()
	if !over {
		return false, nil // another one was begun meanwhile
	}
	if err = p.set(path, serve.PauseState{}); err != nil {
		p.mu.Lock()
		p.state = serve.PauseState{}
		p.mu.Unlock()
	}
	return true, err
}

func (p *pauseTimer) now() serve.PauseState {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state
}

func (p *pauseTimer) set(path string, s serve.PauseState) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	b, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("pause: %w", err)
	}
	if err := whole.WriteChecked(path, b); err != nil {
		return fmt.Errorf("pause: %w", err)
	}
	p.state = s
	p.arm()
	return nil
}

// watch has fire called when the pause that is set runs out.
func (p *pauseTimer) watch(fire func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fire = fire
	p.arm()
}

func (p *pauseTimer) arm() {
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
	if p.fire != nil && p.state.Paused && !p.state.Until.IsZero() {
		p.timer = time.AfterFunc(time.Until(p.state.Until), p.fire)
	}
}

func (p *pauseTimer) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fire = nil
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
	n.paused.turn.Lock()
	defer n.paused.turn.Unlock()
	if err := n.paused.set(n.path(pauseFile), s); err != nil {
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
	n.paused.turn.Lock()
	defer n.paused.turn.Unlock()
	ended, err := n.paused.clear(n.path(pauseFile))
	if err != nil {
		n.log.Warn("the pause has ended, which is not written down", "error", err)
	}
	if ended && n.running {
		n.intake.SetPaused(false)
	}
}
