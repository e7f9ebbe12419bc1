package carry

import (
	"context"
	"time"
)

const (
	// waitsPart is the part of the state that says why something waits, for list.
	waitsPart = "waits"
	metered   = "the network costs by the byte"
	askAgain  = 30 // FirstWaits between questions about the network
)

// StoredSound is what waits of a device with storage, as [Conn.Costly] takes it.
const StoredSound = "stored sound"

// line is what is known of the way to the node.
type line struct {
	asked  time.Time
	costly bool
}

// Costly reports whether the way to the node costs by the byte now, so that what can wait is to
// wait where it is. It asks every half minute, which may take 2 s. A person is told when it
// changes, and [Waits] gives the reason meanwhile.
func (c *Conn) Costly(ctx context.Context, what string) bool {
	if c.Options.Metered == nil || !c.line.asked.IsZero() && time.Since(c.line.asked) < askAgain*c.FirstWait {
		return c.line.costly
	}
	was := c.line.costly
	c.line = line{time.Now(), c.Options.Metered(ctx)}
	if c.line.costly == was {
		return was
	}
	why, text := "", "the network costs no more: it goes on with "+what
	if c.line.costly {
		why = what + ": " + metered
		text = "waits: " + what + ": " + metered
	}
	c.Note("metered", "%s", text)
	if err := c.State.Keep(waitsPart, why); err != nil {
		c.Note("warning", "%v", err)
	}
	return c.line.costly
}

// nothingWaits takes back what the last start said.
func (c *Config) nothingWaits() error {
	var why string
	if err := c.State.Part(waitsPart, &why); err != nil || why == "" {
		return err
	}
	return c.State.Keep(waitsPart, "")
}

// Waits reads from a state file why something waits in the device; empty: nothing does.
func Waits(path string) (why string, err error) {
	s, err := OpenState(path)
	if err != nil {
		return "", err
	}
	return why, s.Part(waitsPart, &why)
}
