package scene

import "encoding/binary"

// maxViews is how many earlier photos are compared with: what a state holds.
const maxViews = 26

// view is what is kept of a photo: its fine cells in 64 shades, of which the
// lightest is 63 and the darkest 0.
type view struct {
	event  string
	hash   uint64
	shades [fineWide * fineHigh]byte
}

func newView(event string, hash uint64, fine cells) view {
	v := view{event: event, hash: hash}
	low, high := fine.v[0], fine.v[0]
	for _, c := range fine.v {
		low, high = min(low, c), max(high, c)
	}
	step := max(high-low, 8) / 63 // what differs by less is noise
	for i, c := range fine.v {
		v.shades[i] = byte((c-low)/step + .5)
	}
	return v
}

// cells gives the picture back, 0 to 252.
func (v *view) cells() cells {
	c := newCells(fineWide, fineHigh)
	for i, s := range v.shades {
		c.v[i] = float32(s) * 4
	}
	return c
}

// coarse gives the picture in coarse cells.
func (v *view) coarse() cells {
	c := newCells(coarseWide, coarseHigh)
	const by = fineWide / coarseWide
	for y := range fineHigh {
		row := v.shades[y*fineWide:][:fineWide]
		out := c.v[y/by*coarseWide:][:coarseWide]
		for x := range out {
			s := int(row[by*x]) + int(row[by*x+1]) + int(row[by*x+2]) + int(row[by*x+3])
			out[x] += float32(s)
		}
	}
	for i := range c.v {
		c.v[i] *= 4. / by / by
	}
	return c
}

// The state: a byte 2 for the layout's version, then for each view, oldest
// first, hash (8 bytes, big endian), the shades, four in three bytes, length of
// the event's id (1 byte), the id.
const (
	stateVersion = 2
	packed       = fineWide * fineHigh * 3 / 4
)

func encodeViews(views []view) []byte {
	views = views[max(0, len(views)-maxViews):]
	b := append(make([]byte, 0, 1+len(views)*(8+packed+64)), stateVersion)
	for i := range views {
		v := &views[i]
		id := v.event[:min(len(v.event), 128)]
		b = binary.BigEndian.AppendUint64(b, v.hash)
		for s := v.shades[:]; len(s) > 0; s = s[4:] {
			b = append(b, s[0]<<2|s[1]>>4, s[1]<<4|s[2]>>2, s[2]<<6|s[3])
		}
		b = append(b, byte(len(id)))
		b = append(b, id...)
	}
	return b
}

// decodeViews reads what encodeViews wrote; a state that it does not
// understand counts as none, from where it breaks off.
func decodeViews(b []byte) []view {
	if len(b) == 0 || b[0] != stateVersion {
		return nil
	}
	const fixed = 8 + packed + 1
	views := make([]view, 0, maxViews)
	for b = b[1:]; len(b) >= fixed && len(views) < maxViews; {
		n := int(b[fixed-1])
		if fixed+n > len(b) {
			break
		}
		views = append(views, view{event: string(b[fixed : fixed+n]), hash: binary.BigEndian.Uint64(b)})
		s := views[len(views)-1].shades[:]
		for p := b[8 : fixed-1]; len(p) > 0; p, s = p[3:], s[4:] {
			s[0], s[1], s[2], s[3] = p[0]>>2, p[0]<<4&63|p[1]>>4, p[1]<<2&63|p[2]>>6, p[2]&63
		}
		b = b[fixed+n:]
	}
	return views
}
