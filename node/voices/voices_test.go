package voices

import (
	"errors"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/internal/voiceprint"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/reconcile"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/extract"
	"github.com/locket-dev/locket/node/extract/sound"
	"github.com/locket-dev/locket/node/opened"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/wasm/plugins/speech/testdata/audio"
)

// bench is Known voices whose clock the test sets. Its wearer is Ana, whose voice is jfk.wav.
type bench struct {
	*testing.T
	*Known
	v   Voicer
	c   Config
	now time.Time
}

func newBench(t *testing.T, change func(*Config)) *bench {
	t.Helper()
	s, err := store.Open(store.Options{Dir: t.TempDir(), Key: seal.NewKey(), Derive: reconcile.Derive, Diff: reconcile.Diff, Small: true, Reserve: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	b := &bench{T: t, now: time.Date(2026, 9, 14, 19, 0, 0, 0, time.UTC)}
	b.c = Config{Engine: engine.New(engine.Config{Space: memory.SpaceID{1}, Member: memory.MemberID{0xa4, 0x1f}, Store: s, Clock: new(memory.Ticker)}), Wearer: "Ana",
		Devices: func() ([]string, error) { return []string{"pin"}, nil }, Now: func() time.Time { return b.now }, Log: slog.New(slog.DiscardHandler)}
	if change != nil {
		change(&b.c)
	}
	life := opened.NewLife(nil)
	b.v = NewVoicer(opened.From(func() (*Known, *opened.Life, func(), error) { return b.Known, life, func() {}, nil }))
	b.open()
	return b
}

// open reads the voices again, as an unlock does.
func (b *bench) open() {
	b.Helper()
	r, err := Open(b.Context(), b.c)
	if err != nil {
		b.Fatal(err)
	}
	b.Known = r
}

// take returns a recording, repeated times over.
func (b *bench) take(name string, times int) (pcm []int16) {
	b.Helper()
	wav, err := audio.Files.ReadFile(name)
	if err != nil {
		b.Fatal(err)
	}
	one, err := sound.WAV(wav)
	if err != nil {
		b.Fatal(err)
	}
	for range times {
		pcm = append(pcm, one...)
	}
	return pcm
}

func (b *bench) enrols(name string, pcm []int16) error {
	_, err := b.v.EnrolVoice(b.Context(), serve.EnrolVoiceRequest{Name: name, Sound: sound.ToWAV(pcm)})
	return err
}

// hears returns the voice of an utterance in which one person speaks, and keeps what was learnt.
func (b *bench) hears(at time.Time, pcm []int16) extract.Voice {
	b.Helper()
	out := b.Turns("pin", at, pcm)
	if len(out) != 1 {
		b.Fatalf("%+v", out)
	}
	if err := b.c.Engine.Commit(b.Context(), b.Save); err != nil {
		b.Fatal(err)
	}
	b.OnSaved()
	return out[0]
}

func (b *bench) names() (out []string) {
	b.Helper()
	v, err := b.v.Voices(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	for _, o := range v.Voices {
		out = append(out, o.Name)
	}
	return out
}

// While a wearable learns a voice, strangers are told apart from it: what they say is not added to
// the print, and is kept no more than before.
func TestBystanderWhileEnrolling(t *testing.T) {
	for _, knownOnly := range []bool{true, false} {
		b := newBench(t, func(c *Config) { c.KnownOnly = knownOnly })
		if _, err := b.v.EnrolVoice(t.Context(), serve.EnrolVoiceRequest{Device: "pin", Seconds: 20}); err != nil {
			t.Fatal(err)
		}
		own, stranger := b.take("jfk.wav", 1), b.take("spk1_snt1.wav", 1)
		if v := b.hears(b.now, own); v.Speaker != "Ana" || v.Stranger != knownOnly || v.To != len(own) {
			t.Errorf("the wearer reads: %+v", v)
		}
		before := b.enrol.print.Speech()
		for _, v := range b.Turns("pin", b.now, stranger) {
			if v.Speaker == "Ana" || v.Stranger != knownOnly {
				t.Errorf("a stranger speaks: %+v", v)
			}
		}
		if after := b.enrol.print.Speech(); after != before {
			t.Errorf("the print has %v of speech after a stranger, and had %v", after, before)
		}
		for range 2 {
			b.hears(b.now, own)
		}
		if v := b.hears(b.now, own); v.Speaker != "Ana" || v.Stranger {
			t.Errorf("once the voice is enrolled: %+v", v)
		}
	}
}

// If the two halves of what a wearable heard are not of one voice, nothing is enrolled, and the
// wearer is told why until another enrolment begins.
func TestFailedEnrolment(t *testing.T) {
	b := newBench(t, nil)
	ask := serve.EnrolVoiceRequest{Device: "pin", Seconds: 20}
	if _, err := b.v.EnrolVoice(t.Context(), ask); err != nil {
		t.Fatal(err)
	}
	b.hears(b.now, b.take("jfk.wav", 1))
	b.enrol.halves[0] = voiceprint.Of(b.take("spk1_snt1.wav", 5)) // somebody else began
	b.hears(b.now, b.take("jfk.wav", 2))
	v, err := b.v.Voices(t.Context())
	if err != nil || len(v.Voices) != 0 || v.Enrolling != nil || !strings.HasPrefix(v.Failed, "pin: ") || !strings.Contains(v.Failed, "do not sound like one voice") {
		t.Errorf("%+v, %v", v, err)
	}
	if v, err := b.v.EnrolVoice(t.Context(), ask); err != nil || v.Failed != "" {
		t.Errorf("%+v, %v", v, err)
	}
}

// A fan or a street is not enrolled as a voice, neither from a file nor from a wearable.
func TestNoiseIsNotEnrolled(t *testing.T) {
	b := newBench(t, nil)
	draw := rand.New(rand.NewPCG(20, 1))
	noise := make([]int16, 31*voiceprint.Rate)
	for i := range noise {
		noise[i] = int16(draw.IntN(18_000) - 9_000)
	}
	if err := b.enrols("", noise); !errors.Is(err, memory.ErrInvalid) || !strings.Contains(err.Error(), "no voice") {
		t.Errorf("from a file: %v", err)
	}
	if _, err := b.v.EnrolVoice(t.Context(), serve.EnrolVoiceRequest{Device: "pin", Seconds: 20}); err != nil {
		t.Fatal(err)
	}
	b.Turns("pin", b.now, noise)
	v, err := b.v.Voices(t.Context())
	if err != nil || len(v.Voices) != 0 || v.Enrolling == nil || v.Enrolling.Have > 0 {
		t.Errorf("from a wearable: %+v, %v", v, err)
	}
	if err := b.enrols("", b.take("jfk.wav", 2)); err != nil {
		t.Errorf("a voice: %v", err)
	}
}

// A wearable whose clock is far ahead ends only the session that it is in. Later labels hold for their
// session, also if such a time was stored.
func TestDeviceClockAhead(t *testing.T) {
	b := newBench(t, nil)
	if err := b.enrols("", b.take("jfk.wav", 2)); err != nil {
		t.Fatal(err)
	}
	stranger := b.take("spk1_snt1.wav", 1)
	b.hears(b.now.AddDate(70, 0, 0), stranger)
	if heard := b.book.Labels[0].Heard; heard.After(b.now) {
		t.Errorf("a voice was heard at %v, and it is %v", heard, b.now)
	}
	for _, stored := range []bool{false, true} {
		if stored {
			b.book.Last, b.dirty = b.now.AddDate(70, 0, 0), true
			if err := b.c.Engine.Commit(t.Context(), b.Save); err != nil {
				t.Fatal(err)
			}
			b.open()
		}
		first := b.hears(b.now, stranger).Speaker
		b.now = b.now.Add(time.Minute)
		if second := b.hears(b.now, stranger).Speaker; second != first {
			t.Errorf("one voice in one session is %s and %s (stored: %v)", first, second, stored)
		}
	}
}

// The print of a voice without a name is removed a day after the voice was last heard, even if
// nobody speaks after that; and at once if only known voices are kept from now on.
func TestUnnamedVoicesExpire(t *testing.T) {
	b := newBench(t, nil)
	if err := b.enrols("", b.take("jfk.wav", 2)); err != nil {
		t.Fatal(err)
	}
	prune := func(want bool, left int) {
		t.Helper()
		swept := false
		got, err := b.Prune(t.Context(), func(*store.Tx) error { swept = true; return nil })
		if err != nil || got != want || swept != want || len(b.book.Labels) != left {
			t.Errorf("pruned %v and swept %v, want %v; %d left, want %d; %v", got, swept, want, len(b.book.Labels), left, err)
		}
	}
	ago := b.now.AddDate(-1, 0, 0) // it was stored long ago
	b.hears(ago, b.take("spk1_snt1.wav", 1))
	prune(false, 1)
	b.now = b.now.Add(23 * time.Hour)
	b.hears(b.now, b.take("spk2_snt1.wav", 1))
	b.now = b.now.Add(2 * time.Hour)
	if names := b.names(); len(names) != 2 {
		t.Errorf("there are %q", names)
	}
	prune(true, 1)
	b.open()
	prune(false, 1)
	b.c.KnownOnly = true
	b.open()
	prune(true, 0)
	b.open()
	prune(false, 0)
}

// The wearer's voice can't be given another name: then no voice would be the wearer's, and what others say
// would count as the wearer's words. Any other voice can be named, also as the wearer's.
func TestNameVoice(t *testing.T) {
	b := newBench(t, nil)
	if err := b.enrols("", b.take("jfk.wav", 2)); err != nil {
		t.Fatal(err)
	}
	name := func(voice, name string) error {
		_, err := b.v.NameVoice(t.Context(), serve.NameVoiceRequest{Voice: voice, Name: name})
		return err
	}
	if err := name("ana", "Grace"); !errors.Is(err, memory.ErrInvalid) || !strings.Contains(err.Error(), "locket voice forget Ana") || b.book.wearer() == nil {
		t.Errorf("%v, and the wearer is %+v", err, b.book.wearer())
	}
	label := b.hears(b.now, b.take("spk1_snt1.wav", 1)).Speaker
	if label != "S1-a41f" {
		t.Errorf("the label is %s", label)
	}
	if err := errors.Join(name("s1", "Grace"), name("Grace", "Ada"), name("Ana", "ANA")); err != nil || !slices.Equal(b.names(), []string{"Ana", "Ada"}) {
		t.Errorf("%q, %v", b.names(), err)
	}
	if err := name("Ada", "Ana"); err != nil || !slices.Equal(b.names(), []string{"Ana"}) {
		t.Errorf("%q, %v", b.names(), err)
	}
}

// A voice is enrolled once: under a second name it is refused, and under its own it is replaced.
func TestEnrolTheSameVoiceTwice(t *testing.T) {
	b := newBench(t, nil)
	own := b.take("jfk.wav", 2)
	if err := b.enrols("", own); err != nil {
		t.Fatal(err)
	}
	if err := b.enrols("Grace", own); !errors.Is(err, memory.ErrInvalid) || !strings.Contains(err.Error(), "locket voice forget Ana") {
		t.Errorf("%v", err)
	}
	if err := errors.Join(b.enrols("ana", own), b.enrols("Grace", b.take("spk1_snt1.wav", 5)), b.enrols("Ada", b.take("spk2_snt1.wav", 7))); err != nil || !slices.Equal(b.names(), []string{"Ana", "Ada", "Grace"}) {
		t.Errorf("%q, %v", b.names(), err)
	}
}
