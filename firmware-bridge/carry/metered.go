package carry

import "context"

const (
	// waitsPart is the part of the state that says why something waits, for list.
	waitsPart = "waits"
	metered   = "the network is metered"
)

// StoredSound is what waits of a device with storage, as [Conn.Costly] takes it.
const StoredSound = "stored sound"

// Costly reports whether the way to the node costs by the byte now, so that what can wait is to
// wait where it is. A person is told when it changes, and [Waits] gives the reason meanwhile.
// It may take as long as Options.Metered.
func (c *Conn) Costly(ctx context.Context, what string) bool {
	costly := c.Options.Metered != nil && c.Options.Metered(ctx)
	if costly == c.costly {
		return costly
	}
	c.costly = costly
	why, text := "", "the network is no longer metered: it goes on with "+what
	if costly {
		why = what + ": " + metered
		text = "waits: " + what + ": " + metered
	}
	c.Note("metered", "%s", text)
	if err := c.State.Keep(waitsPart, why); err != nil {
		c.Note("warning", "%v", err)
	}
	return costly
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
