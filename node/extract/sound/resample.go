package sound

import "math"

// resampler converts rates by a windowed sinc, keeping its history from one
// message to the next, so that a stream has no seams.
type resampler struct {
	up, down int
	taps     []float32 // of the prototype filter, up phases interleaved
	width    int       // input samples that go into one output sample
	history  []float32
	phase    int // phase of the next output sample, in 1/up of an input sample
}

func newResampler(from, to int) *resampler {
	g := gcd(from, to)
	r := &resampler{up: to / g, down: from / g}
	// The pass band ends below half of the lower of the two rates.
	cutoff := 0.92 / float64(max(r.up, r.down))
	zeros := 12 * max(r.up, r.down)
	n := 2*zeros + 1
	r.width = n/r.up + 1
	proto := make([]float64, r.width*r.up)
	for i := range n {
		t := float64(i - zeros)
		sinc := cutoff
		if t != 0 {
			sinc = math.Sin(math.Pi*t*cutoff) / (math.Pi * t)
		}
		x := t / float64(zeros)
		window := 0.42 + 0.5*math.Cos(math.Pi*x) + 0.08*math.Cos(2*math.Pi*x) // Blackman
		proto[i] = sinc * window * float64(r.up)
	}
	r.taps = make([]float32, len(proto))
	for i, v := range proto {
		r.taps[i] = float32(v)
	}
	r.history = make([]float32, r.width-1)
	return r
}

func (r *resampler) next(in []int16) []int16 {
	x := make([]float32, len(r.history), len(r.history)+len(in))
	copy(x, r.history)
	for _, s := range in {
		x = append(x, float32(s))
	}
	out := make([]int16, 0, len(in)*r.up/r.down+1)
	at := len(r.history) // newest input sample that goes into the next output sample
	pos, phase := at+r.phase/r.up, r.phase%r.up
	for pos < len(x) {
		var sum float32
		for k, j := 0, phase; j < len(r.taps); k, j = k+1, j+r.up {
			sum += r.taps[j] * x[pos-k]
		}
		out = append(out, clip(sum))
		phase += r.down
		pos, phase = pos+phase/r.up, phase%r.up
	}
	r.phase = (pos-len(x))*r.up + phase
	r.history = append(r.history[:0], x[len(x)-len(r.history):]...)
	return out
}

func clip(v float32) int16 {
	return int16(min(max(math.Round(float64(v)), math.MinInt16), math.MaxInt16))
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
