package lc3

import "math"

// Spectral noise shaping: sixteen scale factors describe the envelope of the spectrum. They are the
// sum of a line from each of two codebooks and a vector of a few unit pulses, which is identified
// by its number among all such vectors.

const (
	factors     = 16
	regularSize = 2390004  // vectors of 10 pulses in 10 places, without the first sign
	nearSize    = 15158272 // of 8 in 16
	farSize     = 1549824 / 2
)

// envelope holds a frame's parameters of the scale factors.
type envelope struct {
	low, high int // lines of the codebooks
	shape     int // index of the pulses' shape
	gain      int // index of the gain
	pulses    [factors]float64
}

// shapes are the possible pulse vectors: how many pulses in how many places, and the gains. The
// first shape has one more pulse in the other six places.
var shapes = [4]struct {
	pulses, places int
	gains          []float64 // in 1/4096
}{
	{10, 10, []float64{8915, 12054}},
	{10, 10, []float64{6245, 15043, 17861, 21014}},
	{8, 16, []float64{7099, 9132, 11253, 14808}},
	{6, 16, []float64{4336, 5067, 5895, 8149, 10235, 12825, 16868, 19882}},
}

// fewer[n][k] is how many vectors of n+1 places with k pulses have fewer pulses in the first place
// than the vector that is searched for: the specification's MPVQ_offsets.
var fewer = func() (t [factors][11]int) {
	for n := range t {
		for k := 1; k < len(t[n]); k++ {
			t[n][k] = 1
			if n > 0 {
				t[n][k] = t[n-1][k] + t[n][k-1] + t[n-1][k-1]
			}
		}
	}
	return t
}()

// readEnvelope reads the scale factors, and reports whether an encoder can have written them.
func readEnvelope(r *reader) (e envelope, ok bool) {
	e.low, e.high = r.uint(5), r.uint(5)
	far := r.bit()
	e.gain = r.uint(1 + far)
	sign := r.bit()
	index := r.uint(25 - far)
	if far == 0 {
		rest := index / regularSize
		index %= regularSize
		switch {
		case rest >= 14:
			return e, false
		case rest >= 2:
			vector(e.pulses[10:], (rest-2)/2, (rest-2)%2, 1)
		default:
			e.shape, e.gain = 1, 2*e.gain+rest
		}
	} else {
		e.shape = 2
		if rest := index - nearSize; rest >= 2*farSize {
			return e, false
		} else if rest >= 0 {
			e.shape, e.gain, index = 3, 2*e.gain+rest%2, rest/2
		}
	}
	vector(e.pulses[:shapes[e.shape].places], index, sign, shapes[e.shape].pulses)
	return e, true
}

// vector writes the vector with the given index and number of pulses to out. The index is below the
// number of such vectors.
func vector(out []float64, index, sign, pulses int) {
	for i := range out {
		n := len(out) - 1 - i
		here := pulses
		if index > 0 {
			for here = 0; here < pulses && index < fewer[n][pulses-here]; here++ {
			}
			index -= fewer[n][pulses-here]
		}
		out[i] = float64(here * (1 - 2*sign))
		if pulses -= here; pulses == 0 {
			return
		}
		if here > 0 {
			sign, index = index&1, index>>1
		}
	}
}

// cosines[k][n] is the inverse of the orthogonal DCT of size sixteen.
var cosines = func() (t [factors][factors]float64) {
	for k := range t {
		for n := range t[k] {
			t[k][n] = math.Sqrt(2./factors) * math.Cos(math.Pi/factors*(float64(n)+.5)*float64(k))
			if k == 0 {
				t[k][n] = math.Sqrt(1. / factors)
			}
		}
	}
	return t
}()

// scales returns the factors, as exponents of 2.
func (e *envelope) scales() (scf [factors]float64) {
	copy(scf[:], lowCodebook[e.low][:])
	copy(scf[factors/2:], highCodebook[e.high][:])
	var energy float64
	for _, v := range e.pulses {
		energy += v * v
	}
	gain := shapes[e.shape].gains[e.gain] / 4096 / math.Sqrt(energy)
	for k, v := range e.pulses {
		if v != 0 {
			for n := range scf {
				scf[n] += gain * v * cosines[k][n]
			}
		}
	}
	return scf
}

// bands says where each of the 64 bands ends: the specification's I_16000_10ms.
var bands = [64]uint8{
	1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 30, 32, 34, 36,
	38, 40, 42, 44, 46, 48, 50, 52, 55, 58, 61, 64, 67, 70, 73, 76, 80, 84, 88, 92, 96, 101, 106, 111, 116, 121, 127, 133,
	139, 146, 153, 160,
}

// apply gives a spectrum its envelope. Over the four bands between two factors it is interpolated
// linearly.
func (e *envelope) apply(x []float64) {
	scf := e.scales()
	at := 0
	for b, end := range bands {
		left := min(max(b-2, 0)/4, factors-2)
		step := float64(b-2-4*left)/4 + 1./8
		if b < 2 {
			step = 0
		}
		gain := math.Exp2(scf[left] + step*(scf[left+1]-scf[left]))
		for ; at < int(end); at++ {
			x[at] *= gain
		}
	}
}
