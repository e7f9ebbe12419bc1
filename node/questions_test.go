package node

import (
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/node/intake/wear"
	"github.com/locket-dev/locket/node/intake/wire"
)

// A wearable that shows answers can be asked after a press, and by the node's name, and shows
// what is known; the question does not become its own answer.
func TestAskedOnAWearable(t *testing.T) {
	n := newNode(t, nil)
	hear(t, n, monday, "Ana", "My dentist appointment is on Tuesday at four")
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	cred, err := n.AddDevice(t.Context(), "glasses")
	if err != nil {
		t.Fatal(err)
	}
	said := make(chan string, 8)
	c, err := wear.Dial(wear.Config{URL: "tcp://" + n.broker.Addr().String(), Device: "glasses", Password: string(cred.Password), Hello: wire.Hello{Model: "test", Firmware: "1", Tells: true},
		OnCmd: func(c *wire.Cmd) {
			if c.Cmd == wire.CmdSay {
				said <- c.Text
			}
		}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ask := func(messages ...wire.Message) string {
		t.Helper()
		for _, m := range messages {
			m.Head().At = time.Now()
			if _, err := c.Publish(t.Context(), m); err != nil {
				t.Fatal(err)
			}
		}
		select {
		case s := <-said:
			return s
		case <-time.After(10 * time.Minute):
			t.Fatal("no answer")
		}
		return ""
	}
	if got := ask(&wire.Button{Gesture: "single"}, &wire.Words{Text: "When is my dentist appointment?"}); !strings.Contains(got, "Tuesday") {
		t.Errorf("after a press: %q", got)
	}
	if got := ask(&wire.Words{Text: "Hey Locket, when is my dentist appointment?"}); !strings.Contains(got, "Tuesday") {
		t.Errorf("by name: %q", got)
	}
	if got := ask(&wire.Words{Text: "Locket, who discovered quantum chromodynamics?"}); got != "I don't know." {
		t.Errorf("what is not known: %q", got)
	}
}
