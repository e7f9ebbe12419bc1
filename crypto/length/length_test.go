package length

import (
	"testing"

	"pgregory.net/rapid"
)

func TestPadded(t *testing.T) {
	for n, want := range map[int64]int64{0: 256, 256: 256, 257: 272, 272: 272, 273: 288, 1000: 1024, 1025: 1088, 1 << 20: 1 << 20} {
		if got := Padded(n); got != want {
			t.Errorf("Padded(%d) = %d, want %d", n, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(257, 1<<40).Draw(t, "n")
		p := Padded(n)
		if p < n || float64(p) > 1.12*float64(n) || Padded(p) != p {
			t.Fatalf("%d is padded to %d", n, p)
		}
	})
}
