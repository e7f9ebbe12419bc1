package voiceprint

import (
	"math"
	"slices"
	"sync"
)

const (
	hop             = Rate / 100       // samples between frames
	window          = Rate * 25 / 1000 // samples of a frame
	size            = 512              // of its transform
	bands           = 24
	lowest, highest = 100.0, 7000.0 // Hz
)

// frame has the features of one frame.
type frame struct {
	level  float64 // dB
	speech bool
	pitch  float64 // natural logarithm of Hz; 0: unvoiced
	shape  [cepstra]float64
}

// sounds are the frames of a recording.
type sounds struct{ list []frame }

// tables of the transform; read only. wasm/plugins/speech has a table of its own with another
// window and other bands, in float32, so sharing one would change the results of one of them.
type tables struct {
	hamming  [window]float64
	cos, sin [size / 2]float64
	reversed [size]int
	edge     [bands + 2]int // bins
	dct      [cepstra][bands]float64
}

var made = sync.OnceValue(func() *tables {
	t := &tables{}
	for i := range t.hamming {
		t.hamming[i] = 0.54 - 0.46*math.Cos(2*math.Pi*float64(i)/(window-1))
	}
	for i := range size {
		for b := range 9 {
			t.reversed[i] |= i >> b & 1 << (8 - b)
		}
	}
	for i := range size / 2 {
		t.sin[i], t.cos[i] = math.Sincos(-2 * math.Pi * float64(i) / size)
	}
	mel := func(f float64) float64 { return 2595 * math.Log10(1+f/700) } // O'Shaughnessy, 1987
	for b := range t.edge {
		m := mel(lowest) + (mel(highest)-mel(lowest))*float64(b)/(bands+1)
		t.edge[b] = int(math.Round(700 * (math.Pow(10, m/2595) - 1) * size / Rate))
		if b > 0 {
			t.edge[b] = max(t.edge[b], t.edge[b-1]+1)
		}
	}
	for c := range cepstra {
		for b := range bands {
			t.dct[c][b] = math.Sqrt(2.0/bands) * math.Cos(math.Pi*float64(c+1)*(float64(b)+0.5)/bands)
		}
	}
	return t
})

// analyse finds the frames of a recording, and which of them are speech: those within 30 dB of the
// loudest twentieth, and above the constant background.
func analyse(pcm []int16) sounds {
	if len(pcm) < window {
		return sounds{}
	}
	t := made()
	list := make([]frame, (len(pcm)-window)/hop+1)
	var levels []float64
	for i := range list {
		t.look(pcm[i*hop:i*hop+window], &list[i])
		levels = append(levels, list[i].level)
	}
	slices.Sort(levels)
	loud, floor := levels[len(levels)*19/20], levels[len(levels)/20]
	limit := max(loud-30, min(floor+6, loud-12), 20)
	for i := range list {
		f := &list[i]
		if f.speech = f.level >= limit; f.speech {
			f.pitch = pitch(pcm, i*hop+window/2)
		}
	}
	return sounds{list}
}

// look finds a frame's level and the shape of its spectrum.
func (t *tables) look(in []int16, f *frame) {
	var re, im [size]float64
	power, last := 1e-9, float64(in[0])
	for i, s := range in {
		v := float64(s)
		power += v * v
		re[t.reversed[i]] = (v - 0.97*last) * t.hamming[i]
		last = v
	}
	f.level = 10 * math.Log10(power/window)
	for half, step := 1, size/2; half < size; half, step = half*2, step/2 {
		for base := 0; base < size; base += 2 * half {
			for k := range half {
				c, w := t.cos[k*step], t.sin[k*step]
				a, b := base+k, base+k+half
				tr, ti := re[b]*c-im[b]*w, re[b]*w+im[b]*c
				re[b], im[b] = re[a]-tr, im[a]-ti
				re[a], im[a] = re[a]+tr, im[a]+ti
			}
		}
	}
	var logs [bands]float64
	for b := range bands {
		sum, from, mid, to := 0.0, t.edge[b], t.edge[b+1], t.edge[b+2]
		for k := from; k < to; k++ {
			w := float64(k-from+1) / float64(mid-from+1)
			if k >= mid {
				w = float64(to-k) / float64(to-mid)
			}
			sum += w * (re[k]*re[k] + im[k]*im[k])
		}
		logs[b] = math.Log(sum + 1e3) // about as much as one step of 16 bits
	}
	for c := range cepstra {
		for b, v := range logs {
			f.shape[c] += t.dct[c][b] * v
		}
	}
}

// The pitch is searched in 32 ms around a moment, at half the rate.
const (
	span            = 256            // samples at 8 kHz
	leastLag        = Rate / 2 / 400 // 400 Hz
	mostLag         = Rate / 2 / 60  // 60 Hz
	periodic        = 0.5            // correlation of a voiced frame
	shorterIsEnough = 0.9            // of the best correlation, so that half the pitch is not chosen
)

// pitch returns the natural logarithm of the pitch around a sample, or 0.
func pitch(pcm []int16, at int) float64 {
	var x [span + mostLag]float64
	from := at - len(x)
	if from < 0 || from+2*len(x) > len(pcm) {
		return 0
	}
	for i := range x {
		x[i] = float64(pcm[from+2*i]) + float64(pcm[from+2*i+1])
	}
	own := 1e-9
	for _, v := range x[:span] {
		own += v * v
	}
	var all [mostLag + 1]float64
	best, other := 0.0, 1e-9
	for _, v := range x[leastLag : leastLag+span] {
		other += v * v
	}
	for lag := leastLag; lag < mostLag; lag++ {
		sum := 0.0
		for i, v := range x[:span] {
			sum += v * x[i+lag]
		}
		all[lag] = sum / math.Sqrt(own*other)
		best = max(best, all[lag])
		other += x[lag+span]*x[lag+span] - x[lag]*x[lag]
	}
	if best < periodic {
		return 0
	}
	for lag := leastLag + 1; lag < mostLag-1; lag++ {
		if all[lag] >= shorterIsEnough*best && all[lag] >= all[lag-1] && all[lag] >= all[lag+1] {
			return math.Log(Rate / 2 / float64(lag))
		}
	}
	return 0
}

// print sums up the speech in some frames.
func (s *sounds) print(from, to int) (p Print) {
	for i := range s.list[from:to] {
		f := &s.list[from+i]
		if !f.speech {
			continue
		}
		p.Frames++
		for c, v := range f.shape {
			p.Sum[c] += v
			p.Square[c] += v * v
		}
		if f.pitch > 0 {
			p.Voiced++
			p.Sum[cepstra] += f.pitch
			p.Square[cepstra] += f.pitch * f.pitch
		}
	}
	return p
}
