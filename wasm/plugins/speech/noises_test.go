package speech

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
)

var recordings = []string{"testdata/audio/jfk.wav", "testdata/audio/spk1_snt1.wav", "testdata/audio/spk1_snt2.wav",
	"testdata/audio/spk2_snt1.wav", "testdata/audio/spk2_snt2.wav"}

// clean returns the recordings at one level, with silences of 2 to 4 s around them, and for each
// frame whether it is speech: above -30 dB of the recording's loudest frame, including pauses of up
// to 300 ms.
func clean(t testing.TB) (sound []float64, truth []bool, power float64) {
	r := rand.New(rand.NewPCG(11, 11))
	pad := func(s float64) {
		n := int(s*rate) / hop * hop
		sound = append(sound, make([]float64, n)...)
		truth = append(truth, make([]bool, n/hop)...)
	}
	pad(3)
	var speechPower, speechFrames float64
	for _, name := range recordings {
		s := load(t, name)
		s = s[:len(s)/hop*hop]
		energy := make([]float64, len(s)/hop)
		top := 0.0
		for f := range energy {
			for _, v := range s[f*hop : (f+1)*hop] {
				energy[f] += v * v / hop
			}
			top = max(top, energy[f])
		}
		gain := 3000 / math.Sqrt(top)
		marks := make([]bool, len(energy))
		last := -100
		for f, e := range energy {
			if e > top*1e-3 {
				marks[f] = true
				if f-last <= 15 {
					for k := last + 1; k < f; k++ {
						marks[k] = true
					}
				}
				last = f
			}
		}
		for f, m := range marks {
			if m {
				speechPower += energy[f] * gain * gain
				speechFrames++
			}
		}
		for _, v := range s {
			sound = append(sound, v*gain)
		}
		truth = append(truth, marks...)
		pad(2 + 2*r.Float64())
	}
	return sound, truth, speechPower / speechFrames
}

// noises make n samples each, from a seed.
var noises = []struct {
	name string
	make func(t testing.TB, n int, r *rand.Rand) []float64
}{
	{"white", func(_ testing.TB, n int, r *rand.Rand) []float64 {
		s := make([]float64, n)
		for i := range s {
			s[i] = r.NormFloat64()
		}
		return s
	}},
	{"pink", func(_ testing.TB, n int, r *rand.Rand) []float64 {
		// Paul Kellet's filter: -3 dB an octave within 0.05 dB.
		var b [7]float64
		s := make([]float64, n)
		for i := range s {
			w := r.NormFloat64()
			b[0] = .99886*b[0] + w*.0555179
			b[1] = .99332*b[1] + w*.0750759
			b[2] = .96900*b[2] + w*.1538520
			b[3] = .86650*b[3] + w*.3104856
			b[4] = .55000*b[4] + w*.5329522
			b[5] = -.7616*b[5] - w*.0168980
			s[i] = b[0] + b[1] + b[2] + b[3] + b[4] + b[5] + b[6] + w*.5362
			b[6] = w * .115926
		}
		return s
	}},
	{"babble", func(t testing.TB, n int, r *rand.Rand) []float64 {
		s := make([]float64, n)
		for voice := range 14 {
			v := load(t, recordings[voice%len(recordings)])
			var p float64
			for _, x := range v {
				p += x * x
			}
			g := 1 / math.Sqrt(p/float64(len(v)))
			at, speed := r.Float64()*float64(len(v)), 0.85+0.3*r.Float64()
			for i := range s {
				s[i] += g * v[int(at)%len(v)]
				at += speed
			}
		}
		return s
	}},
	{"music", func(_ testing.TB, n int, r *rand.Rand) []float64 {
		s := make([]float64, n)
		chord := [4]float64{}
		for i := range s {
			beat := i % (rate / 2)
			if i%rate == 0 {
				root := 110 * math.Pow(2, float64(r.IntN(12))/12)
				chord = [4]float64{root, root * 1.26, root * 1.5, root * 2}
			}
			decay := math.Exp(-float64(beat) / (0.6 * rate))
			for _, f := range chord {
				for h := 1.0; h <= 4; h++ {
					s[i] += decay / h * math.Sin(2*math.Pi*f*h*float64(i)/rate)
				}
			}
			s[i] += 0.15 * r.NormFloat64()
		}
		return s
	}},
}

func mix(sound, noise []float64, power, snr float64) []byte {
	var p float64
	for _, v := range noise {
		p += v * v
	}
	g := math.Sqrt(power / math.Pow(10, snr/10) / (p / float64(len(noise))))
	b := make([]byte, 2*len(sound))
	for i := range sound {
		v := max(-32768, min(32767, sound[i]+g*noise[i]))
		binary.LittleEndian.PutUint16(b[2*i:], uint16(int16(v)))
	}
	return b
}
