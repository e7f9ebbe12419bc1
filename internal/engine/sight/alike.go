package sight

import "image"

// Look is a photo in a few shades, to compare it with others: means of
// lookSide × lookSide fields of its grey, less their mean, so that another
// exposure is no other picture.
type Look [lookSide * lookSide]float32

// Of looks that are alike: how far the shades of a field may be apart, of 255,
// and how many fields may be further. Both are low: of two pages of print, or of
// one that was scrolled by a line, far more fields differ, and what is dropped
// as alike is seen by nobody.
const (
	lookSide   = 48
	mostApart  = 10
	mostFields = lookSide * lookSide / 200
)

// lookOf returns that of a photo, which is upright.
func lookOf(m *image.Gray) *Look {
	var l Look
	w, h := m.Rect.Dx(), m.Rect.Dy()
	mean := float32(0)
	for y := range lookSide {
		y0, y1 := y*h/lookSide, max((y+1)*h/lookSide, y*h/lookSide+1)
		for x := range lookSide {
			x0, x1 := x*w/lookSide, max((x+1)*w/lookSide, x*w/lookSide+1)
			sum := 0
			for j := y0; j < y1; j++ {
				for _, p := range m.Pix[j*m.Stride+x0 : j*m.Stride+x1] {
					sum += int(p)
				}
			}
			l[y*lookSide+x] = float32(sum) / float32((y1-y0)*(x1-x0))
			mean += l[y*lookSide+x] / (lookSide * lookSide)
		}
	}
	for i := range l {
		l[i] -= mean
	}
	return &l
}

// Alike reports whether two photos show the same, as far as anybody would say.
func (l *Look) Alike(o *Look) bool {
	far := 0
	for i := range l {
		if d := l[i] - o[i]; d > mostApart || d < -mostApart {
			if far++; far > mostFields {
				return false
			}
		}
	}
	return true
}
