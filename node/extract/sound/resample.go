package sound

import "math"

// resampler converts rates by a windowed sinc, keeping its history from one
// message to the next, so that a stream has no seams.
type resampler struct {
	up, down int
	width    int         // input samples that go into one output sample
	phases   [][]float32 // taps of the prototype filter for each phase; nil: not needed yet
	history  []float32
	phase    int // phase of the next output sample, in 1/up of an input sample
}

func newResampler(from, to int) *resampler {
	g := gcd(from, to)
	r := &resampler{up: to / g, down: from / g}
	r.width = (2*r.zeros()+1)/r.up + 1
	r.phases = make([][]float32, r.up)
	r.history = make([]float32, r.width-1)
	return r
}

// zeros returns the length of each half of the prototype filter.
func (r *resampler) zeros() int { return 12 * max(r.up, r.down) }

// taps returns the filter of one phase. With an odd rate the whole filter has 4.6 million taps, and
// a short message needs few of them.
func (r *resampler) taps(phase int) []float32 {
	if r.phases[phase] == nil {
		taps, zeros := make([]float32, r.width), r.zeros()
		// The pass band ends below half of the lower of the two rates.
		cutoff := 0.92 / float64(max(r.up, r.down))
		for k := range taps {
			i := phase + k*r.up
			if i > 2*zeros {
				break
			}
			t := float64(i - zeros)
			sinc := cutoff
			if t != 0 {
				sinc = math.Sin(math.Pi*t*cutoff) / (math.Pi * t)
			}
			x := t / float64(zeros)
			window := 0.42 + 0.5*math.Cos(math.Pi*x) + 0.08*math.Cos(2*math.Pi*x) // Blackman
			taps[k] = float32(sinc * window * float64(r.up))
		}
		r.phases[phase] = taps
	}
	return r.phases[phase]
}

func (r *resampler) next(in []int16) []int16 {
	x := make([]float32, len(r.history), len(r.history)+len(in))
	copy(x, r.history)
	for _, s := range in {
		x = append(x, float32(s))
	}
	out := make([]int16, 0, int64(len(in))*int64(r.up)/int64(r.down)+1)
	at := len(r.history) // newest input sample that goes into the next output sample
	pos, phase := at+r.phase/r.up, r.phase%r.up
	for pos < len(x) {
		var sum float32
		for k, tap := range r.taps(phase) {
			sum += tap * x[pos-k]
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
