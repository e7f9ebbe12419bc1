package lc3

import "math"

const (
	coefficients  = frameSamples // in a spectrum
	longFrame     = 40           // bytes; longer frames have another context model
	maxPlanes     = 14           // planes of bits below a pair's two highest
	escape        = 16           // the symbol that means: read one more bit of each
	noiseFrom     = 24           // the lowest coefficient that noise may fill
	noiseDistance = 3            // coefficients on either side of a filled one that have to be 0
)

// spectrum holds a frame's quantised coefficients and their parameters.
type spectrum struct {
	coded  int  // how many coefficients are coded; the others are 0
	late   bool // the lowest bits of large coefficients are at the end, as far as there is room
	gain   int  // index of the gain
	quiet  int  // noise level, 0 (loud) to 7
	x      [coefficients]float64
	planes [coefficients]uint8 // bits below the two highest
	seed   int                 // seed of the noise
}

// side reads the parameters before the coefficients.
func (s *spectrum) side(r *reader) bool {
	s.coded = 2 * (r.uint(7) + 1)
	s.late = r.bit() == 1
	s.gain = r.uint(8)
	return s.coded <= coefficients
}

// read reads the coefficients, fills the gaps with noise, and scales them. It reports whether an
// encoder can have written them. wide: the frame has frequencies above 4 kHz.
func (s *spectrum) read(r *reader, wide bool) bool {
	s.quiet = r.uint(3)
	if !s.pairs(r) || r.broken() {
		return false
	}
	if s.late {
		s.lowestBits(r)
	}
	for i, v := range s.x {
		s.seed += i * int(math.Abs(v))
	}
	if !s.late {
		s.residual(r)
	}
	s.noise(wide) // The specification leaves noise out of a silent frame, whose gain is so small that no sample shows it.
	nbits := 8 * len(r.frame)
	gain := math.Pow(10, float64(s.gain-min(115, nbits/20)-115)/28)
	for i := range s.x {
		s.x[i] *= gain
	}
	return true
}

// pairs reads the pairs of coefficients. The model of each depends on the two pairs before it.
func (s *spectrum) pairs(r *reader) bool {
	context, long := 0, 0
	if len(r.frame) > longFrame {
		long = 512
	}
	for i := 0; i < s.coded; i += 2 {
		at := context + long
		if i > coefficients/2 {
			at += 256
		}
		a, b, plane, symbol := 0, 0, 0, 0
		for ; ; plane++ {
			m := unbase64(spectrumLookup[at+1024*min(plane, 3)])
			if symbol = r.symbol(&spectrumModels[m]); symbol < escape {
				break
			}
			if plane == maxPlanes {
				return false
			}
			if plane > 0 || !s.late {
				a |= r.bit() << plane
				b |= r.bit() << plane
			}
		}
		high, higher := symbol%4, symbol/4
		s.x[i] = sign(r, a|high<<plane)
		s.x[i+1] = sign(r, b|higher<<plane)
		s.planes[i], s.planes[i+1] = uint8(plane), uint8(plane)

		next := 12 + min(plane, 3)
		if plane <= 1 {
			next = 1 + (high+higher)*(plane+1)
		}
		context = context&15<<4 + next
	}
	return true
}

// sign reads the sign of a coefficient; a zero has none.
func sign(r *reader, v int) float64 {
	if v != 0 && r.bit() == 1 {
		return float64(-v)
	}
	return float64(v)
}

// unbase64 is the value of a letter of base64's alphabet.
func unbase64(c byte) int {
	switch {
	case c >= 'a':
		return int(c) - 'a' + 26
	case c >= 'A':
		return int(c) - 'A'
	case c >= '0':
		return int(c) - '0' + 52
	case c == '+':
		return 62
	}
	return 63
}

// lowestBits reads the lowest bit of each coefficient that has more than two, until the frame ends.
func (s *spectrum) lowestBits(r *reader) {
	left := r.left()
	for i := 0; i < s.coded && left > 0; i++ {
		if s.planes[i] == 0 {
			continue
		}
		left--
		if r.bit() == 0 {
			continue
		}
		switch {
		case s.x[i] > 0:
			s.x[i]++
		case s.x[i] < 0:
			s.x[i]--
		case left > 0:
			left--
			s.x[i] = 1 - 2*float64(r.bit())
		}
	}
}

// residual moves each coefficient that is not 0 up or down within its step, until the frame ends. The step is wider
// towards 0.
func (s *spectrum) residual(r *reader) {
	left := r.left()
	for i := 0; i < s.coded && left > 0; i++ {
		if s.x[i] == 0 {
			continue
		}
		left--
		up := r.bit() == 1
		switch {
		case up && s.x[i] > 0:
			s.x[i] += 5. / 16
		case up:
			s.x[i] += 3. / 16
		case s.x[i] > 0:
			s.x[i] -= 3. / 16
		default:
			s.x[i] -= 5. / 16
		}
	}
}

// noise fills each coefficient in the middle of seven zeros.
func (s *spectrum) noise(wide bool) {
	end := coefficients / 2
	if wide {
		end = coefficients
	}
	level := float64(8-s.quiet) / 16
	zeros := 0 // before at
	for at := noiseFrom - noiseDistance; at < end+noiseDistance; at++ {
		zeros++
		if at < end && s.x[at] != 0 {
			zeros = 0
		}
		if zeros > 2*noiseDistance {
			s.seed = (13849 + s.seed*31821) & 0xffff
			v := level
			if s.seed >= 0x8000 {
				v = -level
			}
			s.x[at-noiseDistance] = v
		}
	}
}
