package noisy

import (
	"math"
	"math/rand/v2"
)

// Noise is a kind of noise. Make returns n samples drawn from r, at no particular loudness. takes
// are the voices for babble.
type Noise struct {
	Name string
	Make func(takes []Take, n int, r *rand.Rand) []float64
}

// Noises are white, pink, babble and music.
func Noises() []Noise {
	return []Noise{{"white", white}, {"pink", pink}, {"babble", babble}, {"music", music}}
}

func white(_ []Take, n int, r *rand.Rand) []float64 {
	s := make([]float64, n)
	for i := range s {
		s[i] = r.NormFloat64()
	}
	return s
}

// pink falls by 3 dB an octave: white noise through Paul Kellet's filter of
// seven poles, right within 0.05 dB from 9.2 Hz up at 44.1 kHz.
func pink(_ []Take, n int, r *rand.Rand) []float64 {
	poles := [...]struct{ keep, take float64 }{
		{.99886, .0555179}, {.99332, .0750759}, {.96900, .1538520}, {.86650, .3104856}, {.55000, .5329522}, {-.7616, -.0168980}}
	var held [len(poles)]float64
	last := 0.0
	s := make([]float64, n)
	for i := range s {
		w := r.NormFloat64()
		s[i] = last + .5362*w
		for p, c := range poles {
			held[p] = c.keep*held[p] + c.take*w
			s[i] += held[p]
		}
		last = .115926 * w
	}
	return s
}

// How many voices babble at once: enough that none stands out for long.
const voices = 14

// babble mixes voices of the takes, equally loud, each from a different place and slower or faster
// by up to 15 %.
func babble(takes []Take, n int, r *rand.Rand) []float64 {
	s := make([]float64, n)
	for v := range voices {
		k := takes[v%len(takes)].Samples
		var p float64
		for _, x := range k {
			p += float64(x) * float64(x) / float64(len(k))
		}
		gain := 1 / math.Sqrt(max(p, 1))
		at, speed := r.Float64()*float64(len(k)), 0.85+0.3*r.Float64()
		for i := range s {
			s[i] += gain * float64(k[int(at)%len(k)])
			at += speed
		}
	}
	return s
}

// music is a chord a second, struck twice, of four notes with four partials
// each, and a little hiss.
func music(_ []Take, n int, r *rand.Rand) []float64 {
	const notes, partials = 4, 4
	s := make([]float64, n)
	var chord [notes]float64
	for i := range s {
		if i%Rate == 0 {
			root := 110 * math.Pow(2, float64(r.IntN(12))/12) // Hz: A2 and up
			chord = [notes]float64{root, root * 1.26, root * 1.5, root * 2}
		}
		decay := math.Exp(-float64(i%(Rate/2)) / (0.6 * Rate))
		for _, f := range chord {
			for h := 1.0; h <= partials; h++ {
				s[i] += decay / h * math.Sin(2*math.Pi*f*h*float64(i)/Rate)
			}
		}
		s[i] += 0.15 * r.NormFloat64()
	}
	return s
}
