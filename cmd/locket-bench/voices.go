package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/locket-dev/locket/cmd/locket-bench/noisy"
	"github.com/locket-dev/locket/internal/voiceprint"
	wave "github.com/locket-dev/locket/node/extract/sound"
)

// voiceNames are espeak-ng's variants that sound like people. The model was fitted to every second
// one, and is measured on the others.
var voiceNames = strings.Fields(`Alex Alicia Andrea Andy Annie Denis Diogo Gene Henrique Hugo Jacky Lee Marco Michel Nguyen adam anika
antonio belinda benjamin boris caleb david ed edward f1 f2 f3 f4 f5 gustave iven john linda m1 m2 m3 m4 m5 m7 m8 marcelo max
michael miguel mike pablo paul pedro quincy rob robert steph travis victor zac`)

// voiceLines are the sentences that each voice says.
var voiceLines = []string{
	"When the sunlight strikes raindrops in the air, they act like a prism and form a rainbow.",
	"Please call Stella and ask her to bring these things with her from the store.",
	"The gardener put the spade beside the gate, and we will go to meet her on Wednesday.",
	"I am allergic to nuts, so the cake has to be made without any of them at all.",
	"She had your dark suit in greasy wash water all year, and nobody asked why.",
	"My brother works in a bakery near the harbour and gets up at four every morning.",
}

// threePeople describes the people in the recordings.
const threePeople = "three people, who had no part in the model"

// aVoice is all that one speaker said.
type aVoice struct {
	name string
	pcm  []int16
}

func runVoices(ctx context.Context, f *frame) error {
	fit := f.Bool("fit", false, "print the model's numbers, from the voices that it is shaped on")
	few := f.Int("voices", 0, "how many of espeak-ng's voices; 0: all")
	if !f.parsed() || f.NArg() > 0 || *few < 0 {
		return f.usage("takes flags only, and --voices a number from 0")
	}
	names := voiceNames
	if *few > 0 {
		names = names[:min(*few, len(names))]
	}
	shaped, held, err := synthesised(ctx, names)
	if err != nil {
		return err
	}
	if *fit {
		return printShapes(f, shaped)
	}
	real, err := recordedVoices()
	if err != nil {
		return err
	}
	var out []result
	for _, set := range []struct {
		name   string
		voices []aVoice
		note   string
	}{
		{"", real, threePeople},
		{"_espeak", held, "espeak-ng's voices that had no part in the model"},
		{"_espeak_shaped", shaped, "espeak-ng's voices on which the model was shaped"},
	} {
		rate, n := equalErrorRate(set.voices)
		out = append(out, result{Suite: "voices", Case: "voice_eer" + set.name, N: n, Value: thousandth(100 * rate), Unit: "%",
			Note: "1.5 s against the first half of the same or another voice; " + set.note})
		out = append(out, diarised("voices", set.name, set.note, set.voices)...)
	}
	return f.print(out, nil)
}

// diarised measures how much speech is assigned to the wrong voice, compared with assigning all of
// it to one voice.
func diarised(suite, set, of string, voices []aVoice) []result {
	wrong, one, seconds := diarisation(voices)
	note := fmt.Sprintf("share of %.0f s of speech, two voices in turn, pauses of .25 s; %s", seconds, of)
	return []result{
		result{Suite: suite, Case: "diarisation_error" + set, N: len(voices), Value: thousandth(100 * wrong), Unit: "%", Note: note}.beside("one_speaker", thousandth(100*one), false),
		{Suite: suite, Case: "one_speaker" + set, N: len(voices), Value: thousandth(100 * one), Unit: "%", Note: "all of it given to one voice"}}
}

// synthesised lets espeak-ng speak, and divides the voices into those to which the model is fitted
// and the others.
func synthesised(ctx context.Context, names []string) (shaped, held []aVoice, err error) {
	program, err := exec.LookPath("espeak-ng")
	if err != nil {
		return nil, nil, noisy.ErrNoSynthesiser
	}
	dir, err := os.MkdirTemp("", "locket-bench-")
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	for i, name := range names {
		v := aVoice{name: name}
		for _, line := range voiceLines {
			path := filepath.Join(dir, "line.wav")
			cmd := exec.CommandContext(ctx, program, "-v", "en-us+"+name, "-s", "165", "-w", path, line)
			if said, err := cmd.CombinedOutput(); err != nil {
				return nil, nil, fmt.Errorf("espeak-ng -v en-us+%s: %w: %s", name, err, strings.TrimSpace(string(said)))
			}
			b, err := os.ReadFile(path)
			if err != nil {
				return nil, nil, err
			}
			pcm, err := wave.WAV(b)
			if err != nil {
				return nil, nil, err
			}
			v.pcm = append(v.pcm, pcm...)
		}
		if i%2 == 0 {
			shaped = append(shaped, v)
		} else {
			held = append(held, v)
		}
	}
	return shaped, held, nil
}

// recordedVoices are the people of the recordings: jfk, spk1 and spk2.
func recordedVoices() (out []aVoice, err error) {
	takes, err := noisy.Recordings()
	for _, k := range takes {
		name, _, _ := strings.Cut(strings.TrimSuffix(k.Name, ".wav"), "_")
		i := slices.IndexFunc(out, func(v aVoice) bool { return v.name == name })
		if i < 0 {
			i, out = len(out), append(out, aVoice{name: name})
		}
		out[i].pcm = append(out[i].pcm, k.Samples...)
	}
	return out, err
}

// cuts returns the voiceprints of a voice's sound, cut into pieces of this many seconds.
func (v *aVoice) cuts(seconds float64) (out []voiceprint.Print) {
	n := int(seconds * voiceprint.Rate)
	for at := 0; at+n <= len(v.pcm); at += n {
		if p := voiceprint.Of(v.pcm[at : at+n]); p.Speech().Seconds() > seconds/2 {
			out = append(out, p)
		}
	}
	return out
}

// equalErrorRate returns the error rate at which the share of a voice's pieces that are refused
// equals the share of others' pieces that are accepted.
func equalErrorRate(voices []aVoice) (rate float64, trials int) {
	var same, other []float64
	for i := range voices {
		learnt := voiceprint.Of(voices[i].pcm[:len(voices[i].pcm)/2])
		for j := range voices {
			v := aVoice{pcm: voices[j].pcm[len(voices[j].pcm)/2:]}
			for _, p := range v.cuts(1.5) {
				if s := voiceprint.Compare(&learnt, &p); i == j {
					same = append(same, s)
				} else {
					other = append(other, s)
				}
			}
		}
	}
	slices.Sort(same)
	slices.Sort(other)
	rate, least := 1.0, 2.0
	for _, limit := range same {
		refused, _ := slices.BinarySearch(same, limit)
		under, _ := slices.BinarySearch(other, limit)
		fr, fa := fraction(refused, len(same)), fraction(len(other)-under, len(other))
		if d := math.Abs(fr - fa); d < least {
			rate, least = (fr+fa)/2, d
		}
	}
	return rate, len(same) + len(other)
}

// diarisation lets each voice talk with the next in turns. It returns the share of speech that is
// assigned to a wrong voice, the same share if all is assigned to one voice, and the seconds of
// speech. Each voice of the answer is matched with the voice with which it shares most speech.
func diarisation(voices []aVoice) (wrong, one, seconds float64) {
	for i := range voices {
		a, b := &voices[i], &voices[(i+1)%len(voices)]
		pcm, truth := twoVoices(a.pcm, b.pcm)
		var common [2]map[int]int
		common[0], common[1] = map[int]int{}, map[int]int{}
		said := [2]int{}
		for _, t := range voiceprint.Turns(pcm) {
			for _, who := range truth[t.From:t.To] {
				if who >= 0 {
					common[who][t.Voice]++
					said[who]++
				}
			}
		}
		right := 0
		for x, nx := range common[0] {
			for y, ny := range common[1] {
				if x != y {
					right = max(right, nx+ny)
				}
			}
			right = max(right, nx)
		}
		for _, ny := range common[1] {
			right = max(right, ny)
		}
		all := said[0] + said[1]
		wrong += float64(all-right) / voiceprint.Rate
		one += float64(min(said[0], said[1])) / voiceprint.Rate
		seconds += float64(all) / voiceprint.Rate
	}
	return wrong / seconds, one / seconds, seconds
}

// twoVoices lets two voices speak in turns of 2 to 3 s, with .25 s between them. truth says whose
// each sample is; −1 means silence.
func twoVoices(a, b []int16) (pcm []int16, truth []int) {
	lengths := []int{2 * voiceprint.Rate, 3 * voiceprint.Rate, 5 * voiceprint.Rate / 2}
	both := [2][]int16{a, b}
	for turn := range 8 {
		who, n := turn%2, lengths[turn%len(lengths)]
		n = min(n, len(both[who]))
		if n < voiceprint.Rate {
			break
		}
		pcm = append(append(pcm, both[who][:n]...), make([]int16, voiceprint.Rate/4)...)
		truth = append(append(truth, slices.Repeat([]int{who}, n)...), slices.Repeat([]int{-1}, voiceprint.Rate/4)...)
		both[who] = both[who][n:]
	}
	return pcm, truth
}

// printShapes prints the numbers of internal/voiceprint/shape.go: variances between voices, within
// a voice, and from what is said in a second.
func printShapes(f *frame, voices []aVoice) error {
	pooled := func(value int, seconds float64) float64 {
		sum, n := 0.0, 0
		for i := range voices {
			var all []float64
			for _, p := range voices[i].cuts(seconds) {
				all = append(all, p.Values()[value])
			}
			if len(all) > 1 {
				sum, n = sum+variance(all)*float64(len(all)-1), n+len(all)-1
			}
		}
		return sum / float64(max(n, 1))
	}
	for value := range voiceprint.Values {
		var means []float64
		for i := range voices {
			p := voiceprint.Of(voices[i].pcm)
			means = append(means, p.Values()[value])
		}
		between, short, long := variance(means), pooled(value, 1), pooled(value, 4)
		chance := max((short-long)*4/3, 0.3*short)
		if _, err := fmt.Fprintf(f.stdout, "{%.3g, %.3g, %.3g},\n", between, max(long-chance/4, between/20), chance); err != nil {
			return err
		}
	}
	return nil
}

func variance(all []float64) float64 {
	mean, sum := 0.0, 0.0
	for _, v := range all {
		mean += v / float64(len(all))
	}
	for _, v := range all {
		sum += (v - mean) * (v - mean)
	}
	return sum / float64(max(len(all)-1, 1))
}
