package omi

import (
	"time"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	frame "github.com/locket-dev/locket/firmware-bridge/frame/omi"
	"github.com/locket-dev/locket/node/intake/wire"
)

const (
	// group is how many records make a message. A message begins at each number that is a multiple
	// of group, wherever a batch begins, so that fetching again with other bounds makes the same
	// messages as far as possible.
	group = 10
	// steady is the most by which a record's time, in whole seconds, may differ from the end of the
	// sound before it for the record still to follow on from it.
	steady = 2 * time.Second
)

// flow places records on the clock. The zero value is ready.
type flow struct {
	next   time.Time     // end of the sound before; zero: not known
	uptime time.Duration // the same, since the device started; 0: not known
}

// place returns when a record began, and whether it follows on from the one before. A record that
// only has the time since the device's start gets no time of day, because nothing tells which start
// that was.
func (f *flow) place(r frame.Record, lasts time.Duration) (at time.Time, follows bool) {
	switch known := !f.next.IsZero(); {
	case !r.At.IsZero():
		follows = known && r.At.Sub(f.next).Abs() < steady
	case r.Uptime >= 0:
		follows = !known && f.uptime > 0 && (r.Uptime-f.uptime).Abs() < steady
	default:
		follows = !known && f.uptime == 0
	}
	at = r.At
	if follows && !at.IsZero() {
		at = f.next
	}
	before := f.uptime
	*f = flow{}
	switch {
	case !at.IsZero():
		f.next = at.Add(lasts)
	case r.Uptime >= 0 && follows:
		f.uptime = before + lasts
	case r.Uptime >= 0:
		f.uptime = r.Uptime + lasts
	}
	return at, follows
}

// storedSound makes messages of a batch's bytes, which are whole records; end says that nothing is
// stored after them. Frames that can't be used are counted.
func storedSound(c frame.Codec, boot, first uint64, b []byte, f *flow, end bool) (out []*wire.Audio, bad int, err error) {
	var m *wire.Audio
	for n := first; len(b) > 0; n, b = n+1, b[frame.RecordSize:] {
		r, err := frame.ParseRecord(b[:frame.RecordSize])
		if err != nil {
			return nil, 0, err
		}
		var data []byte
		var lasts time.Duration
		for _, frame := range r.Frames {
			longer, err := carry.AppendFrame(c.Name, data, frame)
			if err != nil {
				bad++
				continue
			}
			data, lasts = longer, lasts+c.Duration(frame)
		}
		if len(data) == 0 {
			continue
		}
		at, follows := f.place(r, lasts)
		if m != nil && !follows {
			m.Last, m = true, nil
		}
		if m == nil || n%group == 0 {
			m = &wire.Audio{Header: wire.Header{Boot: boot, Seq: n, At: at}, Codec: c.Name, Rate: c.Rate}
			out = append(out, m)
		}
		m.Data = append(m.Data, data...)
	}
	if m != nil && end {
		m.Last = true
	}
	return out, bad, nil
}
