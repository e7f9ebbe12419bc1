package carry

import "context"

const (
	// waitsPart is the part of the state that holds why something waits, for the command list.
	waitsPart = "waits"
	metered   = "the network is metered"
)

// StoredSound names, for [Conn.IsMetered], what waits on a device with storage.
const StoredSound = "stored sound"

// IsMetered reports whether the network to the node costs by the byte now, so that what can wait has
// to wait where it is. When that changes, a person is told; meanwhile [WaitReason] returns the reason.
// It may take as long as Options.Metered.
func (c *Conn) IsMetered(ctx context.Context, what string) bool {
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

// nothingWaits clears what the last start noted.
func (c *Config) nothingWaits() error {
	var why string
	if err := c.State.Part(waitsPart, &why); err != nil || why == "" {
		return err
	}
	return c.State.Keep(waitsPart, "")
}

// WaitReason reads from a state file why something waits in the device; empty: nothing waits.
func WaitReason(path string) (why string, err error) {
	s, err := OpenState(path)
	if err != nil {
		return "", err
	}
	return why, s.Part(waitsPart, &why)
}
