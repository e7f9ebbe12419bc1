package node

import (
	"errors"
	"testing"
	"time"

	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/intake/wear"
	"github.com/locket-dev/locket/node/intake/wire"
	"github.com/locket-dev/locket/node/serve"
)

// pressing returns a node that a double press pauses, and a function that presses a button of
// its wearable and returns when the press is answered. Each press has a time of its own, even if
// the clock is coarse.
func pressing(t *testing.T) (n *Node, press func(wire.Button), commands chan wire.Cmd) {
	t.Helper()
	n = newNode(t, func(c *config.Config) { c.Pause.Button = "double" })
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	on := true
	c, commands := spokenTo(t, n, "pendant", wire.Hello{Mic: &on, Tells: true})
	awaitCmd(t, commands, wire.CmdResume) // because of the hello
	return n, func(b wire.Button) {
		t.Helper()
		if b.Gesture == "" {
			b.Gesture = "double"
		}
		if b.At.IsZero() {
			b.At = time.Now()
		}
		r, err := c.Publish(t.Context(), &b)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Wait(t.Context()); err != nil && !errors.Is(err, wear.ErrPaused) {
			t.Fatal(err)
		}
	}, commands
}

func (n *Node) wantPause(t *testing.T, when, why string) {
	t.Helper()
	p := n.paused.current()
	if p.Paused != (why != "") || n.intake.Paused() != p.Paused || p.Paused && p.Why != why {
		t.Errorf("%s: %+v, intake paused %v; want %q", when, p, n.intake.Paused(), why)
	}
}

const byPendant = "by a button of pendant"

// A press pauses and another one resumes, open and locked. It does not mark a moment.
func TestPausedByButton(t *testing.T) {
	n, press, commands := pressing(t)
	press(wire.Button{Gesture: "long"})
	n.wantPause(t, "another press", "")
	press(wire.Button{})
	n.wantPause(t, "a press", byPendant)
	awaitCmd(t, commands, wire.CmdPause)
	if c := awaitCmd(t, commands, wire.CmdSay); c.Text != "I have stopped listening, until the button is pressed again." {
		t.Errorf("it says %q", c.Text)
	}
	if p := mustDay(t, n).Pauses; len(p) != 1 || p[0].Why != byPendant {
		t.Errorf("the day has %+v", p)
	}
	press(wire.Button{})
	n.wantPause(t, "a second press", "")
	awaitCmd(t, commands, wire.CmdResume)
	if c := awaitCmd(t, commands, wire.CmdSay); c.Text != "I am listening." {
		t.Errorf("it says %q", c.Text)
	}
	if got := n.intake.Stats(); got.Received["button"] != 3 || got.Paused != 2 {
		t.Errorf("%d presses, %d dropped", got.Received["button"], got.Paused)
	}
	if err := n.Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	press(wire.Button{})
	n.wantPause(t, "a press while locked", byPendant)
	press(wire.Button{})
	n.wantPause(t, "a second press while locked", "")
}

// A pause that is known after a restart to come from a button is ended by a button.
func TestButtonAfterRestart(t *testing.T) {
	n, press, _ := pressing(t)
	press(wire.Button{})
	if paused, err := n.paused.load(n.path(pauseFile), n.public.Public().Device); err != nil || !paused {
		t.Fatalf("paused %v, %v", paused, err)
	}
	n.wantPause(t, "after a restart", byPendant)
	press(wire.Button{})
	n.wantPause(t, "a press after it", "")
}

// An accidental press in a pocket does not end a pause by command or by voice, or a private
// zone.
func TestThreatButtonEndsPause(t *testing.T) {
	n, press, commands := pressing(t)
	if _, err := n.Pause(t.Context(), time.Time{}); err != nil {
		t.Fatal(err)
	}
	press(wire.Button{})
	if p := n.paused.current(); !p.Paused || p.Why != "" {
		t.Errorf("by command: %+v", p)
	}
	if _, err := n.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := n.pauseSince(time.Now(), 0, "said to pendant", n.signer); err != nil {
		t.Fatal(err)
	}
	press(wire.Button{})
	n.wantPause(t, "by voice", "said to pendant")
	if _, err := n.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	press(wire.Button{})
	n.wantPause(t, "a press", byPendant)
	if _, err := n.Pause(t.Context(), time.Time{}); err != nil { // the wearer means it
		t.Fatal(err)
	}
	press(wire.Button{})
	if p := n.paused.current(); !p.Paused || p.Why != "" {
		t.Errorf("by command after a press: %+v", p)
	}
	if _, err := n.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	n.intake.SetPrivate(true)
	press(wire.Button{})
	press(wire.Button{})
	n.wantPause(t, "in a private zone", "")
	for len(commands) > 0 {
		<-commands
	}
	n.intake.SetPaused(false) // it announces itself again
	if c := awaitCmd(t, commands, wire.CmdPause); c.Why != wire.WhyPrivate {
		t.Errorf("the wearable is told %+v", c)
	}
}

// A press that waited, arrived twice, has no time, or comes from a device without a microphone
// does nothing.
func TestThreatOldPress(t *testing.T) {
	n, press, _ := pressing(t)
	press(wire.Button{Header: wire.Header{At: time.Now().Add(-2 * time.Minute)}})
	press(wire.Button{Header: wire.Header{At: time.Now().Add(2 * time.Minute)}})
	press(wire.Button{Header: wire.Header{At: time.Unix(1, 0)}}) // a clock that lost power
	n.wantPause(t, "old presses", "")
	c, commands := spokenTo(t, n, "screen", wire.Hello{Tells: true})
	awaitCmd(t, commands, wire.CmdResume)
	if r, err := c.Publish(t.Context(), &wire.Button{Header: wire.Header{At: time.Now()}, Gesture: "double"}); err != nil || r.Wait(t.Context()) != nil {
		t.Fatal(err)
	}
	n.wantPause(t, "a screen's press", "")

	first := wire.Header{Boot: 7, Seq: 5, At: time.Now()}
	press(wire.Button{Header: first})
	n.wantPause(t, "a press", byPendant)
	press(wire.Button{Header: first})
	n.wantPause(t, "the same", byPendant)
	second := wire.Header{Boot: 7, Seq: 6, At: time.Now()}
	press(wire.Button{Header: second})
	n.wantPause(t, "a second press", "")
	press(wire.Button{Header: second})
	press(wire.Button{Header: first})
	n.wantPause(t, "both again", "")
	if p, by := n.paused.byButton(time.Now()); p || by {
		t.Errorf("paused %v, by a button %v", p, by)
	}
	if _, err := n.togglePause("pendant", time.Now()); err != nil {
		t.Fatal(err)
	}
	if _, err := n.togglePause("pendant", time.Now().Add(-time.Second)); err != nil || n.paused.current() == (serve.PauseState{}) {
		t.Errorf("a press from before the pause ends it: %v", err)
	}
}
