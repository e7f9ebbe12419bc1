package forget

import (
	"errors"
	"strings"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/extract"
)

// takeQuarantined takes entries of the quarantine. For a text that was quarantined
// unread, the speaker, time and place are known. It is treated like the utterance
// that it may become.
func (c *chooser) takeQuarantined(w *Want) error {
	for m, err := range c.tx.Quarantined() {
		if err != nil {
			return err
		}
		u, err := extract.QuarantinedText(c.tx, &m)
		if err != nil && !errors.Is(err, memory.ErrDamaged) {
			return err
		}
		if u != nil {
			if w.matchesUtterance(u) {
				c.events[u.Event] = true
				c.quarantined = append(c.quarantined, m.Seq)
			}
			continue
		}
		of := w.Device == "" || strings.HasPrefix(m.Topic, w.Device+"/") || strings.HasPrefix(m.Topic, "text of "+w.Device+"/")
		if w.Place == "" && of && w.matchesTime(m.At, m.At) && w.matchesText(string(m.Data)+"\n"+m.Reason) {
			c.quarantined = append(c.quarantined, m.Seq)
		}
	}
	return nil
}

// takeRefused takes what became neither a memory nor an utterance: refusals and held
// events.
func (c *chooser) takeRefused(w *Want, held []extract.HeldEvent) error {
	for r, err := range c.tx.Refusals() {
		if err != nil {
			return err
		}
		if w.matchesTime(r.At, r.At) && (w.Device == "" || r.Event.Device == w.Device) && w.matchesText(r.Reason) {
			c.events[r.Event] = true
		}
	}
	if w.Words != "" || w.Person != "" {
		return nil // nobody knows yet what it says
	}
	for _, h := range held {
		if w.matchesTime(h.At, h.Received) && (w.Device == "" || h.ID.Device == w.Device) {
			c.events[h.ID] = true
		}
	}
	return nil
}
