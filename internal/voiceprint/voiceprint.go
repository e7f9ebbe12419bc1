// Package voiceprint distinguishes voices by their sound, and says which parts of a recording
// belong to one voice.
//
// The words:
//
//   - A frame is 25 ms of sound, every 10 ms. Its features are 16 cepstral coefficients (the shape
//     of its spectrum on the mel scale) and, if it is voiced, the logarithm of its pitch.
//   - A [Print] has the count, mean and spread of the features of a voice's frames. No words can be
//     reconstructed from it, but it is biometric: it identifies the speaker.
//   - A score compares two prints. It is the logarithm of how much more likely they belong to one
//     voice than to two, in a model in which each value is Gaussian within a voice and between
//     voices ([Compare]).
//   - A [Turn] is a range of a recording in which one voice speaks.
//
// Only prints are learnt from recordings here. The model's numbers are in shape.go, with what they
// were measured on.
package voiceprint

import (
	"math"
	"time"
)

// Rate is samples a second: sound is PCM16 of one channel.
const Rate = 16000

const (
	cepstra  = 16
	features = cepstra + 1 // including the pitch
	// Values is how many numbers [Compare] uses.
	Values = 2 * features
)

// Print describes a voice's sound. The zero value has no sound. Its fields are sums, so prints of
// one voice can be added.
type Print struct {
	Frames int               `json:"frames"` // of speech, 10 ms each
	Voiced int               `json:"voiced"` // how many of these have a pitch
	Sum    [features]float64 `json:"sum"`
	Square [features]float64 `json:"square"`
}

// Of makes a print of the speech in a recording.
func Of(pcm []int16) Print {
	f := analyse(pcm)
	return f.print(0, len(f.list))
}

// Speech returns how long the voice has spoken in the print's sound.
func (p *Print) Speech() time.Duration { return time.Duration(p.Frames) * 10 * time.Millisecond }

// IsVoice reports whether the sound is that of a voice, and not of a fan or a street. At least 3 in 4
// frames of people who speak are voiced, and at most 1 in 5 of noise.
func (p *Print) IsVoice() bool { return 3*p.Voiced > p.Frames }

// Add adds sound of the same voice.
func (p *Print) Add(o *Print) {
	p.Frames += o.Frames
	p.Voiced += o.Voiced
	for i := range features {
		p.Sum[i] += o.Sum[i]
		p.Square[i] += o.Square[i]
	}
}

// count returns for how many frames a feature is known.
func (p *Print) count(i int) int {
	if i == cepstra {
		return p.Voiced
	}
	return p.Frames
}

// Values returns the mean of each feature, and then the logarithm of each feature's deviation.
func (p *Print) Values() (v [Values]float64) {
	for i := range features {
		n := float64(p.count(i))
		if n == 0 {
			continue
		}
		mean := p.Sum[i] / n
		least := 1e-2
		if i == cepstra {
			least = 1e-4
		}
		v[i], v[features+i] = mean, 0.5*math.Log(max(p.Square[i]/n-mean*mean, least))
	}
	return v
}

// fewest is the least number of frames with which a feature is compared.
const fewest = 10

// Compare scores two prints: above zero, one voice is more likely. Prints of little speech score
// near zero. The model is that of two covariances (Brümmer and de Villiers, The Speaker
// Partitioning Problem, 2010) with diagonal matrices, applied only to the difference between the
// prints, so that a microphone's effect on all voices cancels out. Each value has a variance
// between voices, a variance within a voice, and a variance by chance in a second of speech, which
// falls with the amount of speech.
func Compare(a, b *Print) float64 {
	va, vb := a.Values(), b.Values()
	sum := 0.0
	for i := range Values {
		na, nb := a.count(i%features), b.count(i%features)
		if na < fewest || nb < fewest {
			continue
		}
		s := &shapes[i]
		within := 2*s.within + s.chance*100*(1/float64(na)+1/float64(nb))
		apart := within + 2*s.between
		d := (va[i] - vb[i]) * (va[i] - vb[i])
		score := (d/apart - d/within + math.Log(apart/within)) / 2
		sum += max(-most, min(score, most))
	}
	return sum
}
