package speech

import "math"

const (
	bands   = 20
	lowest  = 120.0  // Hz
	highest = 5000.0 // Hz: speech has little above, and noise much
)

// spectrum turns a window of samples into band energies. Its tables are read
// only.
type spectrum struct {
	window   [size]float32
	cos, sin [size / 2]float32
	reversed [size]uint16
	edge     [bands + 1]int // first bin of each band
}

func newSpectrum() spectrum {
	var s spectrum
	for i := range size {
		s.window[i] = float32(0.5 - 0.5*math.Cos(2*math.Pi*float64(i)/size))
		r := 0
		for b := range 9 {
			r |= i >> b & 1 << (8 - b)
		}
		s.reversed[i] = uint16(r)
	}
	for i := range size / 2 {
		sin, cos := math.Sincos(-2 * math.Pi * float64(i) / size)
		s.cos[i], s.sin[i] = float32(cos), float32(sin)
	}
	mel := func(f float64) float64 { return 2595 * math.Log10(1+f/700) } // O'Shaughnessy, 1987
	for b := range s.edge {
		m := mel(lowest) + (mel(highest)-mel(lowest))*float64(b)/bands
		f := 700 * (math.Pow(10, m/2595) - 1)
		s.edge[b] = int(math.Round(f * size / rate))
		if b > 0 {
			s.edge[b] = max(s.edge[b], s.edge[b-1]+1)
		}
	}
	return s
}

// energies returns the mean power of each band.
func (s *spectrum) energies(in *[size]float32, out *[bands]float32) {
	var re, im [size]float32
	for i := range size {
		re[s.reversed[i]] = in[i] * s.window[i]
	}
	for half, step := 1, size/2; half < size; half, step = half*2, step/2 {
		for base := 0; base < size; base += 2 * half {
			for k := range half {
				c, w := s.cos[k*step], s.sin[k*step]
				a, b := base+k, base+k+half
				tr, ti := re[b]*c-im[b]*w, re[b]*w+im[b]*c
				re[b], im[b] = re[a]-tr, im[a]-ti
				re[a], im[a] = re[a]+tr, im[a]+ti
			}
		}
	}
	for b := range bands {
		var sum float32
		for k := s.edge[b]; k < s.edge[b+1]; k++ {
			sum += re[k]*re[k] + im[k]*im[k]
		}
		out[b] = sum / float32(s.edge[b+1]-s.edge[b])
	}
}
