package store

import (
	"fmt"
	"slices"

	"github.com/locket-dev/locket/memory"
)

// markPage is how many event numbers one record covers. Events come in order
// and mostly have the same outcome, so a record usually has one or two ranges.
const markPage = 1024

// markRange says that the events Lo to Hi of a page had the outcome Outcome.
type markRange struct {
	Lo      uint16 `json:"l"`
	Hi      uint16 `json:"h"`
	Outcome string `json:"o"`
}

func (t *Tx) markKey(e memory.EventID) []byte {
	return keyOf(kindMarks, t.store.secrets.mac16("boot", []byte(e.Device), u64(e.Boot)), u64(e.Seq/markPage))
}

// MarkEvent records that an event was processed, and its outcome in one word. A
// later mark replaces an earlier one.
func (t *Tx) MarkEvent(e memory.EventID, outcome string) error {
	if e.Device == "" || outcome == "" || len(outcome) > memory.MaxName {
		return fmt.Errorf("%w: event mark: device and outcome of 1 to %d bytes are needed", memory.ErrInvalid, memory.MaxName)
	}
	key := t.markKey(e)
	page, _, err := load[[]markRange](t, key)
	if err != nil {
		return err
	}
	n := uint16(e.Seq % markPage)
	next := setMark(page, n, outcome)
	if slices.Equal(page, next) {
		return nil
	}
	return t.save(key, next)
}

// setMark returns the ranges after changing one event's outcome.
func setMark(page []markRange, n uint16, outcome string) []markRange {
	var out []markRange
	add := func(r markRange) {
		if last := len(out) - 1; last >= 0 && out[last].Outcome == r.Outcome && out[last].Hi+1 == r.Lo {
			out[last].Hi = r.Hi
		} else {
			out = append(out, r)
		}
	}
	mark, done := markRange{n, n, outcome}, false
	for _, r := range page {
		if r.Hi < n {
			add(r)
			continue
		}
		if r.Lo < n {
			add(markRange{r.Lo, n - 1, r.Outcome})
		}
		if !done {
			add(mark)
			done = true
		}
		switch {
		case r.Lo > n:
			add(r)
		case r.Hi > n:
			add(markRange{n + 1, r.Hi, r.Outcome})
		}
	}
	if !done {
		add(mark)
	}
	return out
}

// EventMark returns an event's outcome. ok is false if the event was not
// processed.
func (t *Tx) EventMark(e memory.EventID) (outcome string, ok bool, err error) {
	page, _, err := load[[]markRange](t, t.markKey(e))
	n := uint16(e.Seq % markPage)
	for _, r := range page {
		if r.Lo <= n && n <= r.Hi {
			return r.Outcome, true, err
		}
	}
	return "", false, err
}
