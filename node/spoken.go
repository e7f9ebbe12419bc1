package node

import (
	"fmt"
	"slices"
	"time"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/questions"
	"github.com/locket-dev/locket/node/serve"
)

const (
	// maxOrderAge is how old a spoken order may be: stored sound arrives late, and slow ears take time.
	maxOrderAge = 10 * time.Minute
	// clockTolerance is how far a wearable's clock may be behind. An order of the last minute is
	// obeyed even if the pause was changed after its time.
	clockTolerance = time.Minute
)

// spokenOrders returns a function that recognises orders in lines, and obeys them. ring signs the pause.
// A screen, a camera, a folder, an app or an import has no microphone at this node, so its words
// are never orders.
func (n *Node) spokenOrders(ring *keyring.Ring) func(*memory.Event) bool {
	return func(ev *memory.Event) bool {
		order, ok := questions.ParseOrder(ev.Text)
		fleet := n.fleet()
		device := ev.ID.Device
		if !ok || fleet == nil || device == serve.APIDevice || !fleet.HasMicrophone(device) {
			return false
		}
		at, now := ev.At, time.Now()
		if at.After(now) {
			at = now // its clock is fast
		}
		if age := now.Sub(at); age > maxOrderAge || age > clockTolerance && at.Before(n.paused.changedAt()) {
			return false
		}
		text := "I am listening."
		if !order.Listen {
			var err error
			if text, err = n.pauseSince(at, order.For, "said to "+device, ring); err != nil {
				n.log.Error("the node was told to stop listening, but could not", "device", device, "error", err)
				text = "I could not stop listening."
			}
		}
		n.answerWearable(device, text)
		return true
	}
}

// answerWearable has the wearable that gave an order say what became of it, if it can.
func (n *Node) answerWearable(device, text string) {
	fleet := n.fleet()
	if text == "" || fleet == nil || !fleet.CanAnswer(device) {
		return
	}
	if err := fleet.Say(device, text); err != nil {
		n.log.Debug("a wearable could not be told of a pause", "device", device, "error", err)
	}
}

// pauseSince begins a pause at a time that has passed. It returns what the wearable is to say. It
// does not take n.mu, because Lock waits for the pump, which calls it.
func (n *Node) pauseSince(at time.Time, lasts time.Duration, why string, ring *keyring.Ring) (text string, err error) {
	s := serve.PauseState{Paused: true, Why: why}
	text = "I have stopped listening, until you resume me by hand."
	if lasts > 0 {
		s.Until = at.Add(lasts)
		text = fmt.Sprintf("I have stopped listening, until %s.", s.Until.In(n.zone).Format("15:04"))
		if !s.Until.After(time.Now()) {
			return "", nil // the pause is over already
		}
	}
	n.paused.changing.Lock()
	defer n.paused.changing.Unlock()
	if err := n.paused.begin(n.path(pauseFile), s, at, false, ring); err != nil {
		return "", err
	}
	if in := n.fleetIntake.Load(); in != nil {
		in.SetPaused(true)
	}
	return text, nil
}

// begin begins a pause at a time that has passed. If the node is paused already, the earlier
// beginning stays.
func (p *pauseTimer) begin(path string, s serve.PauseState, at time.Time, button bool, ring *keyring.Ring) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now().UTC()
	next := p.state.after(s, now)
	next.Button = button
	if next.Since.Equal(now) {
		next.Since, next.Took = at.UTC(), now
		if n := len(next.Past); n > 0 && next.Past[n-1].To.After(next.Since) {
			next.Since = next.Past[n-1].To
		}
	}
	if err := next.write(path, ring); err != nil {
		return err
	}
	p.uncertain = false
	p.setState(next)
	return nil
}

// offRecord reports whether a time lies between an order to stop and the pause that followed.
func (p *pauseTimer) offRecord(at time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := &p.state
	within := func(from, took time.Time) bool { return !took.IsZero() && !at.Before(from) && at.Before(took) }
	return r.Paused && within(r.Since, r.Took) || slices.ContainsFunc(r.Past, func(o pause) bool { return within(o.From, o.Took) })
}
