package lc3

import "math"

// Temporal noise shaping: a lattice filter over the spectrum, which shapes a frame's noise over
// time.

// shaping is the filter of a frame.
type shaping struct {
	reflection []float64 // empty: there is no filter
}

func readShaping(r *reader) (s shaping) {
	if r.bit() == 0 {
		return s
	}
	short := 0
	if 8*len(r.frame) < 480 {
		short = 1
	}
	order := 1 + r.symbol(&orderModels[short])
	s.reflection = make([]float64, min(order, len(reflectionModels)))
	for i := range s.reflection {
		angle := float64(r.symbol(&reflectionModels[i])-8) * math.Pi / 17
		s.reflection[i] = math.RoundToEven(math.Sin(angle)*(1<<15)) / (1 << 15)
	}
	return s
}

// apply filters a spectrum from 600 Hz up.
func (s shaping) apply(x []float64, wide bool) {
	if len(s.reflection) == 0 {
		return
	}
	end := coefficients / 2
	if wide {
		end = coefficients
	}
	var state [8]float64
	last := len(s.reflection) - 1
	for i := 12; i < end; i++ {
		v := x[i] - s.reflection[last]*state[last]
		for k := last - 1; k >= 0; k-- {
			v -= s.reflection[k] * state[k]
			state[k+1] = s.reflection[k]*v + state[k]
		}
		state[0] = v
		x[i] = v
	}
}
