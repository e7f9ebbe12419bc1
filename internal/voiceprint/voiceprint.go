// Package voiceprint tells voices apart by their sound, and says which parts of a
// recording are of one voice.
//
// The words:
//
//   - A frame is 25 ms of sound, every 10 ms. Its features are 16 cepstral
//     coefficients (the shape of its spectrum on the mel scale) and, where it is
//     voiced, the logarithm of its pitch.
//   - A [Print] has the count, mean and spread of the features of a voice's frames.
//     No words can be had from it, but it is biometric: it says who spoke.
//   - A score compares two prints. It is the logarithm of how much more likely they
//     are of one voice than of two, in a model in which each value is
//     Gaussian within a voice and between voices ([Compare]).
//   - A [Turn] is a range of a recording in which one voice speaks.
//
// Nothing is learnt from recordings here but prints. The model's numbers stand in
// shape.go, with what they were measured on.
package voiceprint

import (
	"math"
	"time"
)

// Rate is samples a second: sound is PCM16 of one channel.
const Rate = 16000

const (
	cepstra  = 16
	features = cepstra + 1 // and the pitch
	// Values is how many numbers [Compare] looks at.
	Values = 2 * features
)

// Print is what is known of a voice's sound. The zero value is of no sound. Its
// fields are sums, so prints of one voice are added up.
type Print struct {
	Frames int               `json:"frames"` // of speech, 10 ms each
	Voiced int               `json:"voiced"` // of these, how many have a pitch
	Sum    [features]float64 `json:"sum"`
	Square [features]float64 `json:"square"`
}

// Of makes a print of a recording's speech.
func Of(pcm []int16) Print {
	f := analyse(pcm)
	return f.print(0, len(f.list))
}

// Speech is how long the voice has spoken in what the print was made of.
func (p *Print) Speech() time.Duration { return time.Duration(p.Frames) * 10 * time.Millisecond }

// Add adds sound of the same voice.
func (p *Print) Add(o *Print) {
	p.Frames += o.Frames
	p.Voiced += o.Voiced
	for i := range features {
		p.Sum[i] += o.Sum[i]
		p.Square[i] += o.Square[i]
	}
}

// count is of how many frames a feature is known.
func (p *Print) count(i int) int {
	if i == cepstra {
		return p.Voiced
	}
	return p.Frames
}

// Values gives the mean of each feature, and then the logarithm of each feature's deviation.
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

// fewest frames of a feature that can be compared.
const fewest = 10

// Compare scores two prints: over zero, one voice is the more likely. Prints of
// little speech score near zero. The model is that of two covariances (Brümmer and
// de Villiers, The Speaker Partitioning Problem, 2010) with diagonal matrices, of the
// difference between the prints alone: what a microphone adds to all voices drops out.
// Each value has its variance between voices, within a voice, and by chance in a
// second of speech, which falls with how much speech there is.
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
