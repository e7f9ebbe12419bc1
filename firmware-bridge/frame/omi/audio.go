package omi

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// One audio notification (omi/firmware/omi/src/lib/core/transport.c):
//
//	0  u16  packet id: one more with each notification, 65535 is followed by 0
//	2  u8   fragment index within the frame, from 0
//	3  …    bytes of the frame
//
// The end of a frame is not marked: the next index 0 ends it.

const audioHeader = 3

// maxFrame limits a frame that never ends. It is the largest Opus packet that docs/mqtt.md allows;
// the firmware's own limit is 160 bytes of Opus, 640 of PCM.
const maxFrame = 4000

// maxSkipped is how many missing ids are remembered, to recognise late ones.
const maxSkipped = 64

// AudioItem is one of Frame, Gap, Reset and Damaged.
type AudioItem interface{ audioItem() }

// Frame is the bytes of one frame.
type Frame []byte

// Gap is a run of missing notifications.
type Gap struct {
	First  uint16 // id of the first missing one
	Count  int    // 1 to 32766
	Broken bool   // a frame that had begun is dropped
}

// Last is the id of the last missing notification.
func (g Gap) Last() uint16 { return g.First + uint16(g.Count-1) }

// Reset says that the ids restarted, as after a restart of the device. How much is missing is not
// known.
type Reset struct {
	Before, After uint16
	Broken        bool
}

// Damaged is a notification that could not be used.
type Damaged struct{ Reason string }

func (Frame) audioItem()   {}
func (Gap) audioItem()     {}
func (Reset) audioItem()   {}
func (Damaged) audioItem() {}

// Audio puts frames together again. The zero value is ready, for one connection. Ids are judged as
// in Omi's app (ble_packet_continuity.dart), by their distance modulo 65536: 1 is the next one, 2
// to 32767 is a gap, more is a reset, and 0 is a duplicate if nothing else differs.
//
// There is one difference: an id that comes after it was reported missing is late, and a [Damaged],
// where the app would reset.
type Audio struct {
	seen    bool
	last    []byte // the latest notification
	open    bool   // a frame has begun
	frame   []byte
	next    byte // the fragment index that continues it
	skipped []uint16
	Doubles int // duplicate notifications
}

// Push takes a notification, which is not kept.
func (a *Audio) Push(b []byte) []AudioItem {
	if len(b) < audioHeader {
		return []AudioItem{Damaged{"audio notification of less than 3 bytes"}}
	}
	var out []AudioItem
	id := binary.LittleEndian.Uint16(b)
	if a.seen {
		before := binary.LittleEndian.Uint16(a.last)
		switch step := id - before; {
		case step == 0 && bytes.Equal(a.last, b):
			a.Doubles++
			return nil
		case step == 1:
		case step >= 2 && step < 0x8000:
			out = append(out, Gap{before + 1, int(step) - 1, a.drop()})
			a.skip(before+1, int(step)-1)
		case slices.Contains(a.skipped, id):
			return []AudioItem{Damaged{"audio notification came late"}}
		default:
			out = append(out, Reset{before, id, a.drop()})
			a.skipped = a.skipped[:0]
		}
	}
	a.seen = true
	a.last = append(a.last[:0], b...)
	return a.fragment(out, b[2], b[audioHeader:])
}

func (a *Audio) fragment(out []AudioItem, index byte, data []byte) []AudioItem {
	switch {
	case index == 0:
		out = a.finish(out)
		a.open, a.next = true, 0
	case !a.open:
		return out // its beginning is lost, which was reported
	case index != a.next:
		a.drop()
		return append(out, Damaged{"audio fragments are not in order"})
	}
	a.frame = append(a.frame, data...)
	a.next++
	if len(a.frame) > maxFrame || a.next == 0 {
		a.drop()
		return append(out, Damaged{"audio frame does not end"})
	}
	return out
}

// Flush returns the last frame once the connection has ended or is idle. The frame may lack its
// last fragments.
func (a *Audio) Flush() []AudioItem { return a.finish(nil) }

func (a *Audio) finish(out []AudioItem) []AudioItem {
	if a.open && len(a.frame) > 0 {
		out = append(out, Frame(bytes.Clone(a.frame)))
	}
	a.drop()
	return out
}

// drop drops the pending frame, and reports whether there was one.
func (a *Audio) drop() bool {
	was := a.open
	a.open, a.frame, a.next = false, a.frame[:0], 0
	return was
}

func (a *Audio) skip(first uint16, n int) {
	for i := max(0, n-maxSkipped); i < n; i++ {
		a.skipped = append(a.skipped, first+uint16(i))
	}
	if over := len(a.skipped) - maxSkipped; over > 0 {
		a.skipped = slices.Delete(a.skipped, 0, over)
	}
}
