package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/locket-dev/locket/cmd/locket-bench/noisy"
)

func runSpeech(ctx context.Context, f *frame) error {
	seed := f.Uint64("seed", 1, "of noises and silences")
	takes := f.Int("takes", 0, "how many recordings, and how many sentences; 0: all")
	webrtc := f.String("webrtc", "", "the `DIR` of npm's webrtcvad_js 1.0.0, to measure WebRTC's detector too (needs node)")
	if !f.parsed() || f.NArg() > 0 || *takes < 0 {
		return f.usage("takes flags only, and --takes a number from 0")
	}
	detectors := []detector{{"locket", extractorFrames}, {"energy", energyFrames}}
	if *webrtc == "" {
		fmt.Fprintln(f.stderr, "locket-bench speech: WebRTC's detector is not measured: npm install webrtcvad_js@1.0.0, and give --webrtc node_modules/webrtcvad_js")
	} else {
		for mode := range 4 {
			detectors = append(detectors, detector{fmt.Sprint("webrtc_", mode), webrtcFrames(*webrtc, mode)})
		}
	}
	all, err := speechTakes(ctx, *takes, f.stderr)
	if err != nil {
		return err
	}
	track, err := noisy.NewTrack(all, rand.New(rand.NewPCG(*seed, 0)))
	if err != nil {
		return err
	}
	heard := hearing{}
	spent := time.Duration(0)
	for k, noise := range noisy.Noises() {
		sound := noise.Make(all, track.Len(), rand.New(rand.NewPCG(*seed, uint64(k)+1)))
		for _, snr := range speechRatios {
			pcm := track.Mix(sound, snr)
			for i, d := range detectors {
				begin := time.Now()
				got, err := d.frames(ctx, pcm)
				if err != nil {
					return err
				}
				if i == 0 {
					spent += time.Since(begin)
				}
				heard.count(hear{d.name, noise.Name, snr}, track, got)
			}
		}
	}
	return f.print(heard.results(detectors, track, spent), nil)
}

// speechRatios are signal to noise in dB.
var speechRatios = []float64{20, 10, 5, 0}

// speechTakes returns recordings and, if espeak-ng is installed, spoken sentences: at most n of
// each, or all if n is 0.
func speechTakes(ctx context.Context, n int, stderr io.Writer) ([]noisy.Take, error) {
	recorded, err := noisy.Recordings()
	if err != nil {
		return nil, err
	}
	said, err := noisy.Synthesise(ctx)
	if errors.Is(err, noisy.ErrNoSynthesiser) {
		fmt.Fprintf(stderr, "locket-bench speech: recordings alone: %v\n", err)
	} else if err != nil {
		return nil, err
	}
	if n > 0 {
		recorded, said = recorded[:min(n, len(recorded))], said[:min(n, len(said))]
	}
	return append(recorded, said...), nil
}

// hear names a detector in a noise.
type hear struct {
	detector, noise string
	snr             float64
}

// frameCount counts frames by decision and truth.
type frameCount struct{ hit, missed, alarm, quiet int }

func (c *frameCount) add(got, truth bool) {
	switch {
	case got && truth:
		c.hit++
	case truth:
		c.missed++
	case got:
		c.alarm++
	default:
		c.quiet++
	}
}

func fraction(n, of int) float64 { return float64(n) / float64(max(1, of)) }

func (c frameCount) precision() float64 { return fraction(c.hit, c.hit+c.alarm) }
func (c frameCount) recall() float64    { return fraction(c.hit, c.hit+c.missed) }
func (c frameCount) f1() float64        { return fraction(2*c.hit, 2*c.hit+c.alarm+c.missed) }
func (c frameCount) alarms() float64    { return fraction(c.alarm, c.alarm+c.quiet) }

// hearing counts frames by what was heard and by source. The source "" means the whole track.
type hearing map[hear]map[string]*frameCount

func (h hearing) count(of hear, track *noisy.Track, got []bool) {
	counts := map[string]*frameCount{}
	for f, truth := range track.Truth {
		at(counts, "").add(got[f], truth)
		if s := track.Sources[f]; s != "" {
			at(counts, s).add(got[f], truth)
		}
	}
	h[of] = counts
}

// mean over the noises.
func (h hearing) mean(detector string, snr float64, source string, of func(frameCount) float64) float64 {
	var v []float64
	for _, n := range noisy.Noises() {
		if c := h[hear{detector, n.Name, snr}][source]; c != nil {
			v = append(v, of(*c))
		}
	}
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(max(1, len(v)))
}

// worst noise in false alarms.
func (h hearing) worst(detector string, snr float64) (name string, share float64) {
	share = -1
	for _, n := range noisy.Noises() {
		if a := h[hear{detector, n.Name, snr}][""].alarms(); a > share {
			name, share = n.Name, a
		}
	}
	return name, share
}

func (h hearing) results(detectors []detector, track *noisy.Track, spent time.Duration) []result {
	n := len(track.Truth)
	var out []result
	add := func(r result, name string) {
		r.Suite, r.Case, r.N = "speech", name, n
		r.Value = thousandth(r.Value)
		out = append(out, r)
	}
	f1 := frameCount.f1
	for _, snr := range speechRatios {
		for i, d := range detectors {
			r := result{Value: h.mean(d.name, snr, "", f1), Unit: "F1", Note: fmt.Sprintf("mean of %d noises; false alarms %.1f %%", len(noisy.Noises()), 100*h.mean(d.name, snr, "", frameCount.alarms))}
			name := fmt.Sprintf("f1_%gdb", snr)
			if i > 0 {
				name += "_" + d.name
			} else {
				r = r.beside("energy", thousandth(h.mean("energy", snr, "", f1)), true)
			}
			add(r, name)
		}
		for _, s := range []string{noisy.Recorded, noisy.Synthesised} {
			if slices.Contains(track.Sources, s) {
				add(result{Value: h.mean("locket", snr, s, f1), Unit: "F1", Note: "frames of these takes alone"}, fmt.Sprintf("f1_%gdb_of_%s", snr, s))
			}
		}
		for i, d := range detectors {
			noise, share := h.worst(d.name, snr)
			r := result{Value: 100 * share, Unit: "%", Note: "in " + noise}
			name := fmt.Sprintf("false_alarms_%gdb_worst", snr)
			if i > 0 {
				name += "_" + d.name
			} else {
				_, energy := h.worst("energy", snr)
				r = r.beside("energy", thousandth(100*energy), false)
			}
			add(r, name)
		}
	}
	others := []string{"energy"}
	if w := h.best(detectors[2:]); w != "" {
		others = append(others, w)
	}
	for _, noise := range noisy.Noises() {
		for _, snr := range speechRatios {
			c := h[hear{"locket", noise.Name, snr}][""]
			note := fmt.Sprintf("precision %.3f, recall %.3f, false alarms %.1f %%", c.precision(), c.recall(), 100*c.alarms())
			for _, name := range others {
				o := h[hear{name, noise.Name, snr}][""]
				note += fmt.Sprintf("; %s F1 %.3f, %.1f %%", name, o.f1(), 100*o.alarms())
			}
			r := result{Value: c.f1(), Unit: "F1", Note: note}
			add(r.beside("energy", thousandth(h[hear{"energy", noise.Name, snr}][""].f1()), true), fmt.Sprintf("f1_%s_%gdb", noise.Name, snr))
		}
	}
	seconds := float64(n*len(h)/len(detectors)) * noisy.Frame / noisy.Rate
	add(result{Value: 1000 * spent.Seconds() / seconds, Unit: "ms", Note: "a second of sound, in events of 20 ms with their state"}, "took_1s")
	add(result{Value: 100 * fraction(speechFrames(track), n), Unit: "%", Note: fmt.Sprintf("of %.0f s is speech", float64(n)*noisy.Frame/noisy.Rate)}, "speech")
	return out
}

// best returns the detector with the highest F1 over all noises and ratios, or "" if there is none.
func (h hearing) best(of []detector) (name string) {
	most := -1.0
	for _, d := range of {
		sum := 0.0
		for _, snr := range speechRatios {
			sum += h.mean(d.name, snr, "", frameCount.f1)
		}
		if sum > most {
			name, most = d.name, sum
		}
	}
	return name
}

func speechFrames(t *noisy.Track) (n int) {
	for _, s := range t.Truth {
		if s {
			n++
		}
	}
	return n
}

// thousandth rounds to three digits.
func thousandth(v float64) float64 { return float64(int(v*1000+0.5)) / 1000 }
