package speech

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/engine"
	"github.com/locket-dev/locket/internal/testing/speechtest"
	"github.com/locket-dev/locket/wasm/plugins/speech/testdata/audio"
)

const jfkSaid = "And so my fellow Americans ask not what your country can do for you ask what you can do for your country"

func fault(t *testing.T, err error, kind engine.Kind, words string) {
	t.Helper()
	var f *engine.Fault
	if !errors.As(err, &f) || f.Kind != kind || !strings.Contains(f.Error(), words) {
		t.Fatalf("%v, want a fault of kind %s with %q", err, kind, words)
	}
}

func TestPocketSphinxAccuracy(t *testing.T) {
	p := &PocketSphinx{Command: engine.Command{Dir: t.TempDir()}}
	got, err := p.Transcribe(t.Context(), audio.Speech(), Hints{})
	if err != nil {
		t.Fatalf("%v (.ci/needs installs it)", err)
	}
	errs, words := speechtest.WordErrors(jfkSaid, got.Text)
	t.Logf("%d of %d words wrong (%.0f %%), confidence %.2f: %s", errs, words, 100*float64(errs)/float64(words), got.Confidence(), got.Text)
	if !strings.Contains(got.Text, "what you can do for your country") || errs*100 > words*40 {
		t.Error("more than 40 % of the words are wrong, or the end of the sentence is missing")
	}
	if got.Lang != "en-US" || len(got.Segments) < 2 {
		t.Errorf("%+v", got)
	}
	last := time.Duration(0)
	for _, s := range got.Segments {
		if s.From < last || s.To <= s.From || s.To > 11*time.Second || s.Confidence <= 0 || s.Confidence > 1 {
			t.Errorf("%+v after %s", s, last)
		}
		last = s.To
	}
}

func TestPocketSphinxRefuses(t *testing.T) {
	p := &PocketSphinx{}
	_, err := p.Transcribe(t.Context(), audio.Speech(), Hints{Lang: "zh-CN"})
	fault(t, err, engine.Refused, "no model for")
	_, err = p.Transcribe(t.Context(), []byte("ID3 an mp3 file"), Hints{})
	fault(t, err, engine.Refused, "not a WAV file")
	_, err = (&PocketSphinx{Command: engine.Command{Path: t.TempDir()}}).Transcribe(t.Context(), audio.Speech(), Hints{})
	fault(t, err, engine.Missing, "pocketsphinx_batch")
}

func TestSilenceHasNoWords(t *testing.T) {
	b := plainWAV(make([]byte, 2*Rate*2))
	got, err := (&PocketSphinx{}).Transcribe(t.Context(), b, Hints{})
	if err != nil || got.Text != "" {
		t.Fatalf("%q, %v", got.Text, err)
	}
}

func TestPocketSphinxModelMissing(t *testing.T) {
	err := (&PocketSphinx{Model: t.TempDir()}).Find()
	fault(t, err, engine.Missing, "en-us is not in")
}

// What a program prints is not trusted.
func TestCTM(t *testing.T) {
	got, err := parseCTM("in 1 0.05 0.15 and 0.5\nin 1 0.20 0.50 so 1.0003\nin 1 1.00 0.25 my 0.25\n")
	if err != nil || got.Text != "and so my" || len(got.Segments) != 2 {
		t.Fatalf("%+v, %v", got, err)
	}
	if s := got.Segments[0]; s.From != 50*time.Millisecond || s.To != 700*time.Millisecond || s.Confidence != 0.75 {
		t.Errorf("%+v", s)
	}
	for _, bad := range []string{"and so\n", "in 1 x 0.1 and 0.5\n", "in 1 0 -1 and 0.5\n", "in 1 0 NaN and 0.5\n", "in 1 0 1e300 and 0.5\n"} {
		_, err := parseCTM(bad)
		fault(t, err, engine.Babbled, "")
	}
}

func TestWAV(t *testing.T) {
	whole := audio.Speech()
	if n := Length(whole); n != 11*time.Second {
		t.Errorf("%s", n)
	}
	stereo := bytes.Clone(whole)
	stereo[22] = 2
	_, err := pcm("x", stereo)
	fault(t, err, engine.Refused, "2 channels")
	wide := bytes.Clone(whole)
	wide[22] = 5
	binary.LittleEndian.PutUint32(wide[24:], 96000)
	_, err = pcm("x", wide)
	fault(t, err, engine.Refused, "5 channels, 96000 Hz")
	_, err = pcm("x", plainWAV(make([]byte, 3*3600*Rate*2)))
	fault(t, err, engine.Refused, "345600044 bytes, at most")
	if b, err := pcm("x", plainWAV(nil)); err != nil || len(b) != 0 {
		t.Errorf("of 0 s: %d bytes, %v", len(b), err)
	}
	sound, err := pcm("x", whole)
	if err != nil {
		t.Fatal(err)
	}
	whole = plainWAV(sound)
	if again, err := pcm("x", whole); err != nil || !bytes.Equal(again, sound) {
		t.Fatal("a plain file holds something else", err)
	}
	endless := bytes.Clone(whole[:100]) // claims to be 11 s long
	if b, err := pcm("x", endless); err != nil || len(b) != 56 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	odd := append([]byte("RIFF\xff\xff\xff\xffWAVELIST\xff\xff\xff\xff"), whole[12:]...)
	_, err = pcm("x", odd)
	fault(t, err, engine.Refused, "no sound")
	for n := range 44 {
		if _, err := pcm("x", whole[:n]); err == nil {
			t.Fatalf("%d bytes were taken", n)
		}
	}
}

func TestLanguage(t *testing.T) {
	for in, want := range map[string]string{"english": "en", "Chinese": "zh", "zh_CN": "zh-CN", "de": "de", "": "", "klingonese": "", "e<": "", "auto": ""} {
		if got := language(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
