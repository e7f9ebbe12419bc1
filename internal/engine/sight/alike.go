package sight

import "image"

// Look is a photo in a few shades, for comparing it with others: the means of lookSide × lookSide
// fields of its grey, less their mean, so that a different exposure makes no difference.
type Look [lookSide * lookSide]float32

// For similar looks: how far the shades of a field may differ, of 255, and how many fields may
// differ more. Both are low: between two printed pages, or one that was scrolled by a line, far
// more fields differ, and nobody sees what is dropped as similar.
const (
	lookSide   = 48
	mostApart  = 10
	mostFields = lookSide * lookSide / 200
)

// lookOf returns the look of an upright photo.
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

// alike reports whether two photos would be said to show the same.
func (l *Look) alike(o *Look) bool {
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
