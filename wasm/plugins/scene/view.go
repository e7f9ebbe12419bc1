package scene

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// maxViews is how many earlier photos are compared with.
const maxViews = 64

// When two pictures show one scene. Bits of unlike pictures differ by 32±4.
const (
	sureBits  = 6    // at most so many differing bits: the same scene without a second look
	maybeBits = 26   // up to so many: compare the thumbnails
	likeAt    = 0.92 // their correlation, best over small moves, from here on the same
	climbFrom = 0.6  // correlation without a move, below which none is tried
)

// view is what is kept of a photo.
type view struct {
	event string
	hash  uint64
	thumb thumb
}

// find gives the place in views of the photo that shows the scene of v, the
// latest first, and their likeness; or -1 and the likeness to the last view.
func (v *view) find(views []view) (int, float64) {
	last := 0.0
	for i := len(views) - 1; i >= 0; i-- {
		d := bits.OnesCount64(v.hash ^ views[i].hash)
		like := 1 - float64(d)/64
		if d > sureBits && d <= maybeBits {
			like = likeness(&v.thumb, &views[i].thumb)
		}
		if d <= sureBits || d <= maybeBits && like >= likeAt {
			return i, like
		}
		if i == len(views)-1 {
			last = like
		}
	}
	return -1, last
}

// likeness is the correlation of two thumbnails, best over what a hand that
// moved a little does: shifts, scales and small turns, found by climbing from
// no move at all. 1 is the same picture, whatever its brightness and contrast.
func likeness(a, b *thumb) float64 {
	type move struct{ scale, turn, dx, dy float64 }
	at := move{scale: 1}
	best := correlate(a, b, 1, 0, 0, 0)
	if best < climbFrom {
		return best
	}
	steps := [...]move{{dx: 1}, {dx: -1}, {dy: 1}, {dy: -1}, {scale: .08}, {scale: -.08}, {turn: .05}, {turn: -.05}}
	for size := 1.0; size >= 0.25 && best < 0.995; size /= 2 {
		for range 6 {
			from := at
			for _, s := range steps {
				m := move{from.scale + size*s.scale, from.turn + size*s.turn, from.dx + size*s.dx, from.dy + size*s.dy}
				if m.scale < 0.75 || m.scale > 1.33 || m.turn < -0.12 || m.turn > 0.12 {
					continue
				}
				if c := correlate(a, b, m.scale, m.turn, m.dx, m.dy); c > best {
					best, at = c, m
				}
			}
			if at == from {
				break
			}
		}
	}
	return best
}

// correlate compares a with b seen through a scale, a turn in radians and a
// shift in cells; 0 where less than 60 % of a lies within b.
func correlate(a, b *thumb, scale, turn, dx, dy float64) float64 {
	const mid = (thumbSize - 1) / 2.0
	sin, cos := turn*scale, scale // small turns: sin t = t, cos t = 1
	var n, sa, sb, saa, sbb, sab float32
	for y := range thumbSize {
		for x := range thumbSize {
			px, py := float64(x)-mid, float64(y)-mid
			bx, by := cos*px-sin*py+mid+dx, sin*px+cos*py+mid+dy
			if bx < 0 || by < 0 || bx > thumbSize-1 || by > thumbSize-1 {
				continue
			}
			ix, iy := min(int(bx), thumbSize-2), min(int(by), thumbSize-2)
			fx, fy := float32(bx-float64(ix)), float32(by-float64(iy))
			i := iy*thumbSize + ix
			top := float32(b[i])*(1-fx) + float32(b[i+1])*fx
			low := float32(b[i+thumbSize])*(1-fx) + float32(b[i+thumbSize+1])*fx
			va, vb := float32(a[y*thumbSize+x]), top*(1-fy)+low*fy
			n++
			sa += va
			sb += vb
			saa += va * va
			sbb += vb * vb
			sab += va * vb
		}
	}
	if n < 0.6*thumbSize*thumbSize {
		return 0
	}
	va, vb := float64(saa-sa*sa/n), float64(sbb-sb*sb/n)
	if va <= 0 || vb <= 0 {
		return 0
	}
	return float64(sab-sa*sb/n) / math.Sqrt(va*vb)
}

// The state: a byte 1 for the layout's version, then for each view, oldest
// first, hash (8 bytes, big endian), thumbnail (256 bytes), length of the
// event's id (1 byte), the id.
const stateVersion = 1

func encodeViews(views []view) []byte {
	views = views[max(0, len(views)-maxViews):]
	b := append(make([]byte, 0, 1+len(views)*320), stateVersion)
	for _, v := range views {
		id := v.event[:min(len(v.event), 255)]
		b = binary.BigEndian.AppendUint64(b, v.hash)
		b = append(b, v.thumb[:]...)
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
	var views []view
	const fixed = 8 + len(thumb{}) + 1
	for b = b[1:]; len(b) >= fixed && len(views) < maxViews; {
		v := view{hash: binary.BigEndian.Uint64(b), thumb: thumb(b[8 : fixed-1])}
		n := int(b[fixed-1])
		b = b[fixed:]
		if n > len(b) {
			break
		}
		v.event = string(b[:n])
		b = b[n:]
		views = append(views, v)
	}
	return views
}
