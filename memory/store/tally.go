package store

// Tally counts the outcomes of what was heard since the store was made. Unlike
// the refusals, it is never truncated, and it has no names.
type Tally struct {
	Taken   uint64            `json:"t"` // candidates that became a memory, or evidence for one
	Refused map[string]uint64 `json:"r"` // by kind
}

const tallyMeta = "tally"

// CountAccepted counts candidates that were accepted.
func (t *Tx) CountAccepted(n int) error {
	if n == 0 {
		return nil
	}
	return t.tally(n, "")
}

func (t *Tx) tally(taken int, refused string) error {
	c, err := t.Tally()
	if err != nil {
		return err
	}
	c.Taken += uint64(taken)
	if refused != "" {
		c.Refused[refused]++
	}
	return t.PutMeta(tallyMeta, c)
}

// untally takes back one refusal.
func (t *Tx) untally(refused string) error {
	c, err := t.Tally()
	if err != nil {
		return err
	}
	if c.Refused[refused] > 1 {
		c.Refused[refused]--
	} else {
		delete(c.Refused, refused)
	}
	return t.PutMeta(tallyMeta, c)
}

// Tally returns the counts.
func (t *Tx) Tally() (Tally, error) {
	var c Tally
	_, err := t.Meta(tallyMeta, &c)
	if c.Refused == nil {
		c.Refused = map[string]uint64{}
	}
	return c, err
}
