package extract

import (
	"fmt"
	"strconv"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake/wire"
)

// Limits for a photo that comes in parts.
const (
	maxParts      = 256
	maxPhotoBytes = 16 << 20
	maxPartial    = 96 << 20 // bytes of incomplete photos, plus partialCost each; a device has half of what the others leave
	partialCost   = 1 << 20
)

// partial is a photo of which parts are missing. Its events are held.
type partial struct {
	first  memory.Event // without data
	parts  [][]byte
	events []memory.EventID
	have   int
	size   int
	heard  time.Time
}

// assemblePhoto returns a photo's bytes once all parts are there. The event of an
// earlier part is held. A photo whose parts are inconsistent is refused.
func (x *Extractor) assemblePhoto(p *pending) (data []byte, ok bool) {
	ev := &p.event
	if ev.Metadata[wire.MetaParts] == "" {
		return ev.Data, true
	}
	part, err1 := strconv.Atoi(ev.Metadata[wire.MetaPart])
	parts, err2 := strconv.Atoi(ev.Metadata[wire.MetaParts])
	if err1 != nil || err2 != nil || parts < 2 || parts > maxParts || part < 0 || part >= parts || uint64(part) > ev.ID.Seq {
		p.refuse("", "unreadable", fmt.Sprintf("photo: part %q of %q", ev.Metadata[wire.MetaPart], ev.Metadata[wire.MetaParts]))
		return nil, false
	}
	key := memory.EventID{Device: ev.ID.Device, Boot: ev.ID.Boot, Seq: ev.ID.Seq - uint64(part)}
	ph := x.partial[key]
	switch {
	case !x.roomForPart(key, len(ev.Data)):
		p.refuse("", "incomplete", "photo: too many photos of this device are incomplete at once")
		return nil, false
	case ph == nil:
		ph = &partial{first: *ev, parts: make([][]byte, parts)}
		ph.first.Data = nil
		x.partial[key] = ph
	case len(ph.parts) != parts || ph.size+len(ev.Data) > maxPhotoBytes:
		p.refuse("", "unreadable", fmt.Sprintf("photo: part %d does not fit the parts before it", part))
		return nil, false
	}
	ph.heard = time.Now()
	if ph.parts[part] == nil {
		ph.parts[part] = ev.Data
		ph.events = append(ph.events, ev.ID)
		ph.have++
		ph.size += len(ev.Data)
	}
	if ph.have < parts {
		p.held = true
		return nil, false
	}
	for _, b := range ph.parts {
		data = append(data, b...)
	}
	p.event.Data, p.event.At = data, ph.first.At
	p.covers = append(p.covers, ph.events...)
	p.after = append(p.after, func() { delete(x.partial, key) })
	return data, true
}

// roomForPart reports whether a device may have so many more bytes of a photo held.
func (x *Extractor) roomForPart(photo memory.EventID, more int) bool {
	of, others := more, 0
	if x.partial[photo] == nil {
		of += partialCost
	}
	for key, ph := range x.partial {
		if n := ph.size + partialCost; key.Device == photo.Device {
			of += n
		} else {
			others += n
		}
	}
	return of <= (maxPartial-others)/2
}

// lostParts gives up photos whose remaining parts did not come.
func (x *Extractor) lostParts(after time.Duration) []*pending {
	var out []*pending
	for key, ph := range x.partial {
		if time.Since(ph.heard) < after {
			continue
		}
		p := &pending{event: ph.first, rewritten: map[memory.ID]string{}, covers: ph.events}
		p.refuse("", "incomplete", fmt.Sprintf("photo: %d of %d parts came", ph.have, len(ph.parts)))
		p.after = append(p.after, func() { delete(x.partial, key) })
		out = append(out, p)
	}
	return out
}
