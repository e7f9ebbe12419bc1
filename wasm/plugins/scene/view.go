package scene

import "encoding/binary"

// maxViews is how many earlier photos are compared: as many as a state holds.
const maxViews = 26

// view is what is kept of a photo: its fine cells in 64 shades, of which the lightest is 63 and the
// darkest 0, four of them in three bytes.
type view struct {
	event  string
	hash   uint64
	shades []byte // packed bytes, read only
}

const packed = fineWide * fineHigh * 3 / 4

func newView(event string, hash uint64, fine *cells) view {
	v := view{event: event, hash: hash, shades: make([]byte, 0, packed)}
	low, high := fine[0], fine[0]
	for _, c := range fine {
		if c < low {
			low = c
		}
		if c > high {
			high = c
		}
	}
	shades := 63 / max(high-low, 8) // smaller differences are noise
	for c := fine[:]; len(c) >= 4; c = c[4:] {
		a, b, c, d := int((c[0]-low)*shades+.5), int((c[1]-low)*shades+.5), int((c[2]-low)*shades+.5), int((c[3]-low)*shades+.5)
		s := a<<18 | b<<12 | c<<6 | d
		v.shades = append(v.shades, byte(s>>16), byte(s>>8), byte(s))
	}
	return v
}

// grid unpacks the shades, 0 to 63.
func (v *view) grid() grid {
	g := newGrid(fineWide, fineHigh)
	to := g.v
	for p := v.shades; len(p) >= 3 && len(to) >= 4; p, to = p[3:], to[4:] {
		s := uint32(p[0])<<16 | uint32(p[1])<<8 | uint32(p[2])
		to[0], to[1], to[2], to[3] = int32(s>>18), int32(s>>12&63), int32(s>>6&63), int32(s&63)
	}
	return g
}

// coarse returns the sums of each 4×4 shades, 0 to 1008.
func (v *view) coarse() grid {
	const row = fineWide * 3 / 4
	g := newGrid(coarseWide, coarseHigh)
	for y := range coarseHigh {
		p := v.shades[4*row*y:][:4*row]
		for x := range coarseWide {
			var s uint32 // two sums of shades, 12 bits apart
			for i := 3 * x; i < 4*row; i += row {
				q := uint32(p[i])<<16 | uint32(p[i+1])<<8 | uint32(p[i+2])
				s += q&0x03f03f + q>>6&0x03f03f
			}
			g.v[y*coarseWide+x] = int32(s>>12 + s&0xfff)
		}
	}
	return g
}

// The state: a byte 2 for the layout's version, then for each view, oldest first, hash (8
// bytes, big endian), the shades, four in three bytes, length of the event's id (1 byte), the
// id.
const stateVersion = 2

func encodeViews(views []view) []byte {
	views = views[max(0, len(views)-maxViews):]
	b := append(make([]byte, 0, 1+len(views)*(8+packed+64)), stateVersion)
	for i := range views {
		v := &views[i]
		id := v.event[:min(len(v.event), 128)]
		b = binary.BigEndian.AppendUint64(b, v.hash)
		b = append(b, v.shades...)
		b = append(b, byte(len(id)))
		b = append(b, id...)
	}
	return b
}

// decodeViews reads what encodeViews wrote. It ignores a state that it does not understand, from
// the point where it breaks off. The shades alias b.
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
		views = append(views, view{string(b[fixed : fixed+n]), binary.BigEndian.Uint64(b), b[8 : fixed-1]})
		b = b[fixed+n:]
	}
	return views
}
