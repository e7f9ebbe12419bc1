package node

import (
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake/wear"
	"github.com/locket-dev/locket/node/intake/wire"
	"github.com/locket-dev/locket/node/serve"
)

// spokenTo connects a wearable to a running node. commands receives what the node asks of it.
func spokenTo(t *testing.T, n *Node, name string, hello wire.Hello) (c *wear.Client, commands chan wire.Cmd) {
	t.Helper()
	cred, err := n.AddDevice(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	hello.Model, hello.Firmware = "test", "1"
	commands = make(chan wire.Cmd, 64)
	c, err = wear.Dial(wear.Config{URL: "tcp://" + n.broker.Addr().String(), Device: name, Password: string(cred.Password), Hello: hello,
		OnCmd: func(c *wire.Cmd) { commands <- *c }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c, commands
}

func awaitCmd(t *testing.T, commands chan wire.Cmd, cmd string) wire.Cmd {
	t.Helper()
	for end := time.After(10 * time.Minute); ; {
		select {
		case c := <-commands:
			if c.Cmd == cmd {
				return c
			}
		case <-end:
			t.Fatalf("no %s", cmd)
		}
	}
}

// The wearer says to stop: the wearables are told, neither the order nor anything after it is
// kept, and the status and the day say why. If a time was said, the pause ends then.
func TestPausedByVoice(t *testing.T) {
	n := newNode(t, nil)
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	on := true
	c, commands := spokenTo(t, n, "glasses", wire.Hello{Mic: &on, Tells: true})
	say := func(text string) *wear.Receipt {
		t.Helper()
		r, err := c.Publish(t.Context(), &wire.Words{Header: wire.Header{At: time.Now()}, Text: text})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	awaitCmd(t, commands, wire.CmdResume) // because of the hello
	say("The dentist is on Tuesday")
	before := time.Now()
	say("Locket, stop listening for ten minutes.")
	awaitCmd(t, commands, wire.CmdPause)
	if got := awaitCmd(t, commands, wire.CmdSay); !strings.HasPrefix(got.Text, "I have stopped listening, until ") {
		t.Errorf("it says %q", got.Text)
	}
	if err := say("nobody is to hear this").Wait(t.Context()); err == nil {
		t.Error("a line is taken in a pause")
	}
	st, err := n.Status(t.Context())
	if err != nil || !st.Pause.Paused || st.Pause.Why != "said to glasses" || st.Pause.Until.Sub(before).Round(time.Minute) != 10*time.Minute {
		t.Errorf("%+v, %v", st.Pause, err)
	}
	var kept []string
	for _, l := range mustDay(t, n).Lines {
		kept = append(kept, l.Text)
	}
	if len(kept) != 1 || !strings.Contains(kept[0], "dentist") {
		t.Errorf("kept: %q", kept)
	}
	if p := mustDay(t, n).Pauses; len(p) != 1 || p[0].Why != "said to glasses" || p[0].From.Before(before.Add(-time.Second)) {
		t.Errorf("the day has %+v", p)
	}
	if _, err := n.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	awaitCmd(t, commands, wire.CmdResume)
	say("Locket, you can listen again")
	if got := awaitCmd(t, commands, wire.CmdSay); got.Text != "I am listening." {
		t.Errorf("it says %q", got.Text)
	}
	say("Locket，别听了")
	awaitCmd(t, commands, wire.CmdPause)
	if p := n.paused.current(); !p.Paused || !p.Until.IsZero() {
		t.Errorf("%+v", p)
	}
}

func mustDay(t *testing.T, n *Node) serve.Day {
	t.Helper()
	d, err := n.Day(t.Context(), serve.DateOf(time.Now().In(n.zone)))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// What is read from a screen or a photo, sent by an app, or imported is not the wearer's voice:
// an order in it pauses nothing, and is kept like any line.
func TestThreatWrittenWordsPause(t *testing.T) {
	n := newNode(t, nil)
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	on, off := true, false
	_, heard := spokenTo(t, n, "glasses", wire.Hello{Mic: &on, Tells: true})
	awaitCmd(t, heard, wire.CmdResume)
	const order = "Locket, stop listening"
	for name, hello := range map[string]wire.Hello{"screen": {Tells: true}, "deaf": {Mic: &off, Tells: true}} {
		c, commands := spokenTo(t, n, name, hello)
		awaitCmd(t, commands, wire.CmdResume)
		if r, err := c.Publish(t.Context(), &wire.Words{Header: wire.Header{At: time.Now()}, Text: order, Speaker: "screen mail"}); err != nil || r.Wait(t.Context()) != nil {
			t.Fatal(err)
		}
	}
	if err := n.waitProcessed(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, speaker := range []string{"", "glasses", "Ana"} { // as the wearer's own command and imports add it
		if _, err := n.Add(t.Context(), serve.AddRequest{Text: order, Speaker: speaker}); err != nil {
			t.Fatal(err)
		}
	}
	spoken := n.spokenOrders(nil)
	for name, ev := range map[string]memory.Event{
		"an app":          {ID: memory.EventID{Device: memory.AppDevice + "glasses"}, At: time.Now(), Text: order},
		"the API":         {ID: memory.EventID{Device: serve.APIDevice}, At: time.Now(), Text: order},
		"stored long ago": {ID: memory.EventID{Device: "glasses"}, At: time.Now().Add(-time.Hour), Text: order},
	} {
		if spoken(&ev) {
			t.Errorf("%s is obeyed", name)
		}
	}
	if n.intake.Paused() || n.paused.current().Paused {
		t.Error("a line that was not spoken paused the node")
	}
	if kept := len(mustDay(t, n).Lines); kept == 0 {
		t.Error("the lines are not kept")
	}
}
