package speech

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/locket-dev/locket/internal/engine"
)

// PocketSphinx runs pocketsphinx_batch (5prealpha, as in Debian and Ubuntu) with its American
// English model. It needs no network and a fraction of real time on one core, but recognises
// poorly. The zero value works.
//
// It uses the batch program, and not pocketsphinx_continuous, because the former adapts to a whole
// recording before it decodes it, and the latter adapts meanwhile: 20 % against 34 % of words wrong
// on five clean clips of 50 words.
type PocketSphinx struct {
	Command engine.Command // Engine and Program are filled in if empty
	Model   string         // folder of en-us, en-us.lm.bin and cmudict-en-us.dict; empty: Debian's
}

const pocketSphinx = "pocketsphinx"

// sphinxModel is the path of Debian's pocketsphinx-en-us.
const sphinxModel = "/usr/share/pocketsphinx/model/en-us"

// sphinxPause is the silence after which a new segment begins.
const sphinxPause = 300 * time.Millisecond

// Name returns "pocketsphinx en-us".
func (p *PocketSphinx) Name() string { return pocketSphinx + " en-us" }

func (p *PocketSphinx) command() engine.Command {
	c := p.Command
	c.Engine = cmp.Or(c.Engine, pocketSphinx)
	c.Program = cmp.Or(c.Program, "pocketsphinx_batch")
	c.Reads = []string{p.model()}
	return c
}

func (p *PocketSphinx) model() string { return cmp.Or(p.Model, sphinxModel) }

// Find returns a Fault of kind Missing unless the program and its model are there.
func (p *PocketSphinx) Find() error {
	c := p.command()
	if _, err := c.Find(); err != nil {
		return err
	}
	for _, name := range []string{"en-us", "en-us.lm.bin", "cmudict-en-us.dict"} {
		if _, err := os.Stat(filepath.Join(p.model(), name)); err != nil {
			return engine.Faultf(pocketSphinx, engine.Missing, "its model: %s is not in %s", name, p.model())
		}
	}
	return nil
}

// Transcribe accepts English, and recordings whose language is not known.
func (p *PocketSphinx) Transcribe(ctx context.Context, wav []byte, hint Hints) (Transcript, error) {
	sound, err := pcm(pocketSphinx, wav)
	if err != nil {
		return Transcript{}, err
	}
	if hint.Lang != "" && !English(hint.Lang) {
		return Transcript{}, engine.Faultf(pocketSphinx, engine.Refused, "it has no model for %q, only for American English", hint.Lang)
	}
	if err := p.Find(); err != nil {
		return Transcript{}, err
	}
	c := p.command()
	m := p.model()
	out, err := c.Run(ctx, engine.Input{File: plainWAV(sound), FileName: "in.wav", Stdin: []byte("in\n")},
		"-ctl", "/dev/stdin", "-cepdir", ".", "-cepext", ".wav", "-adcin", "yes", "-adchdr", "44",
		"-hmm", filepath.Join(m, "en-us"), "-lm", filepath.Join(m, "en-us.lm.bin"), "-dict", filepath.Join(m, "cmudict-en-us.dict"),
		"-hyp", "/dev/null", "-ctm", "/dev/stdout", "-logfn", "/dev/null") // the log contains what was heard
	if err != nil {
		return Transcript{}, err
	}
	t, err := parseCTM(string(out))
	if err != nil {
		return Transcript{}, err
	}
	return checked(pocketSphinx, t)
}

// parseCTM reads NIST's CTM, a line for each word: recording, channel, start
// and duration in seconds, word, confidence, which is a posterior.
func parseCTM(out string) (Transcript, error) {
	var t Transcript
	var all []string
	var sum float64
	words := 0
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		if len(f) != 6 {
			return Transcript{}, engine.Faultf(pocketSphinx, engine.Babbled, "a line of %d fields, want 6", len(f))
		}
		var n [3]float64
		for i, s := range []string{f[2], f[3], f[5]} {
			v, err := strconv.ParseFloat(s, 64)
			if err != nil || !(v >= 0 && v < 1e6) {
				return Transcript{}, engine.Faultf(pocketSphinx, engine.Babbled, "%q where a number belongs", s)
			}
			n[i] = v
		}
		from, to := seconds(n[0]), seconds(n[0]+n[1])
		last := len(t.Segments) - 1
		if last < 0 || from-t.Segments[last].To >= sphinxPause {
			t.Segments = append(t.Segments, Segment{From: from})
			last, sum, words = last+1, 0, 0
		}
		s := &t.Segments[last]
		s.To = max(s.To, to)
		s.Words = append(s.Words, Word{From: from, To: to, Text: f[4], Confidence: min(n[2], 1)})
		s.Text += " " + f[4]
		sum += min(n[2], 1)
		words++
		s.Confidence = sum / float64(words)
		all = append(all, f[4])
	}
	t.Text = strings.Join(all, " ")
	if t.Text != "" {
		t.Lang = "en-US"
	}
	return t, nil
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
