package node

import (
	"time"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

// pauseGesture returns the button gesture that pauses the node; empty: none does.
func (n *Node) pauseGesture() string {
	if n.cfg.Pause.Button == config.NoButton {
		return ""
	}
	return n.cfg.Pause.Button
}

// signWith sets the keys that sign a pause by a button; nil: the node is locked.
func (n *Node) signWith(ring *keyring.Ring) {
	n.paused.changing.Lock()
	defer n.paused.changing.Unlock()
	n.signer = ring
}

// onPress handles a press of a wearable's button: it begins a pause, or ends one that a button
// began. It does not take n.mu, because Stop waits for the intake, which calls it.
func (n *Node) onPress(device string, at time.Time) {
	text, err := n.togglePause(device, at)
	if err != nil {
		n.log.Error("a button was pressed, but the node could not pause or resume", "device", device, "error", err)
		text = "I could not do that."
	}
	n.answerWearable(device, text)
}

// togglePause begins or ends a pause and returns what the wearable is to say. It leaves alone a pause
// that something other than a button began, or that began after the press.
func (n *Node) togglePause(device string, at time.Time) (text string, err error) {
	n.paused.changing.Lock()
	defer n.paused.changing.Unlock()
	var next serve.PauseState
	p := &n.paused
	switch paused, byButton := p.byButton(at); {
	case !paused:
		next = serve.PauseState{Paused: true, Why: "by a button of " + device}
		text = "I have stopped listening, until the button is pressed again."
		if now := time.Now(); at.After(now) {
			at = now // its clock is fast
		}
		err = p.begin(n.path(pauseFile), next, at, true, n.signer)
	case byButton && !n.stateUncertain():
		text = "I am listening."
		err = p.set(n.path(pauseFile), next, n.signer)
	default:
		return "I am not listening, until you resume me by hand.", nil
	}
	if in := n.fleetIntake.Load(); err == nil && in != nil {
		in.SetPaused(next.Paused)
	}
	return text, err
}

// byButton reports whether there is a pause, and whether a button began it before a time.
func (p *pauseTimer) byButton(at time.Time) (paused, byButton bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	paused = p.uncertain || p.state.Paused
	return paused, !p.uncertain && p.state.Paused && p.state.Button && at.After(p.state.Since)
}
