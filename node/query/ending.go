package query

import (
	"time"

	"github.com/locket-dev/locket/memory"
)

// read adds or replaces what is known of a memory.
func (o *overview) read(m *memory.Memory) {
	o.replace(m.ID, o.outlineOf(m))
	if ends := m.Ends(); !ends.IsZero() {
		o.ends[m.ID] = ends
		if o.next.IsZero() || ends.Before(o.next) {
			o.next = ends
		}
	}
}

// expire drops what has expired, even though it is erased only later.
func (o *overview) expire() {
	now := o.now()
	if o.next.IsZero() || now.Before(o.next) {
		return
	}
	for id, at := range o.ends {
		if !now.Before(at) {
			o.replace(id, nil)
		}
	}
	o.next = time.Time{}
	for _, at := range o.ends {
		if o.next.IsZero() || at.Before(o.next) {
			o.next = at
		}
	}
}
