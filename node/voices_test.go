package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fxamacker/cbor/v2"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/internal/testing/speechtest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/forget"
	"github.com/locket-dev/locket/node/opened"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/node/voices"
)

// The voices of these tests are real: the wearer's is jfk.wav, the others are spk1 and spk2.

func enrol(t *testing.T, n *Node, name string, pcm []byte) {
	t.Helper()
	if _, err := n.EnrolVoice(t.Context(), serve.EnrolVoiceRequest{Name: name, Sound: wavOf(pcm)}); err != nil {
		t.Fatal(err)
	}
}

// Once the wearer's voice is known, a bystander's allergy is not the wearer's. The line and the
// memories from it belong to S1, and to Grace once that voice has her name. This also holds after
// the node was locked. Until the wearer's voice is known, all words count as the wearer's.
func TestThreatBystandersWords(t *testing.T) {
	s := speechtest.Whisper(t)
	n := running(t, nil)
	addEngine(t, n, "ears", s.URL)
	s.Says(says("I am allergic to nuts."))
	spk, other := takeOf(t, "spk1_snt1.wav", 1), takeOf(t, "spk1_snt2.wav", 1)
	count := 0
	hears := func(at time.Time, pcm []byte) memory.Utterance {
		t.Helper()
		soundComes(t, n, at, pcm)
		count++
		eventually(t, "words", func() bool { return len(heardBy(t, n)) == count })
		return heardBy(t, n)[count-1]
	}
	if u := hears(evening.Add(-time.Hour), spk); u.Speaker != "" {
		t.Errorf("before anybody is enrolled: %+v", u)
	}
	enrol(t, n, "", takeOf(t, "jfk.wav", 2))
	label := fmt.Sprintf("S1-%.4s", n.open.engine.Member())
	if u := hears(evening, spk); u.Speaker != label {
		t.Errorf("%+v", u)
	}
	of := func(speaker string) (out []*memory.Memory) {
		err := n.view(t.Context(), func(_ *session, tx *store.Tx) error {
			for m, err := range tx.Memories(store.Filter{Types: []memory.Type{memory.Semantic}}) {
				if err != nil {
					return err
				}
				if m.Evidence[0].Speaker == speaker {
					out = append(out, m)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for _, m := range of(label) {
		if strings.Contains(m.Text, "Ana") || m.Slot != nil && m.Slot.Subject == "user" {
			t.Errorf("the bystander's words became the wearer's: %+v", m.Candidate)
		}
	}
	if len(of(label)) == 0 {
		t.Error("nothing was made of the bystander's line")
	}
	if v, err := n.NameVoice(t.Context(), serve.NameVoiceRequest{Voice: "s1", Name: "Grace"}); err != nil || len(v.Voices) != 2 || v.Voices[1].Name != "Grace" || !v.Voices[1].Known {
		t.Fatalf("%+v, %v", v, err)
	}
	if u := hears(evening.Add(time.Minute), other); u.Speaker != "Grace" {
		t.Errorf("%+v", u)
	}
	if err := n.Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := n.Unlock(t.Context(), passphrase); err != nil {
		t.Fatal(err)
	}
	if u := hears(evening.Add(48*time.Hour), append(spk, other...)); u.Speaker != "Grace" {
		t.Errorf("after a lock: %+v", u)
	}
	for _, name := range []string{"S7", "S7-a41f", "Someone"} {
		if _, err := n.NameVoice(t.Context(), serve.NameVoiceRequest{Voice: "Grace", Name: name}); !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("a name like a label: %v", err)
		}
	}
}

// If only known voices are kept, the node stores neither the words nor the sound nor a print of
// another voice, and notes a gap. The same holds if two strangers speak at once, and if they speak
// together with the wearer and equally loudly.
func TestThreatBystandersConsent(t *testing.T) {
	n := running(t, func(c *config.Config) { c.Voices.KnownOnly = true })
	soundComes(t, n, evening, takeOf(t, "jfk.wav", 1))
	if who := recordings(t, n); len(who) != 0 {
		t.Errorf("before anybody is enrolled there are %q", who)
	}
	wearer, spk := takeOf(t, "jfk.wav", 2), takeOf(t, "spk1_snt1.wav", 1)
	enrol(t, n, "", wearer)
	soundComes(t, n, evening.Add(time.Minute), spk)
	strangers := mixed(spk, takeOf(t, "spk2_snt1.wav", 1))
	soundComes(t, n, evening.Add(2*time.Minute), strangers)
	soundComes(t, n, evening.Add(150*time.Second), mixed(wearer[:len(wearer)/4], strangers))
	if who := recordings(t, n); len(who) != 0 {
		t.Errorf("of strangers there are %q", who)
	}
	soundComes(t, n, evening.Add(3*time.Minute), wearer)
	if who := recordings(t, n); len(who) == 0 || slices.ContainsFunc(who, func(s string) bool { return s != "Ana" }) {
		t.Errorf("of the wearer there are %q", who)
	}
	err := n.view(t.Context(), func(_ *session, tx *store.Tx) error {
		for m, err := range tx.Memories(store.Filter{Types: []memory.Type{memory.Resource}}) {
			if err != nil || !slices.Contains(m.Tags, memory.KnownVoiceTag) {
				t.Errorf("%q has the tags %q, %v", m.Text, m.Tags, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if v, err := n.Voices(t.Context()); err != nil || len(v.Voices) != 1 || !v.KnownOnly {
		t.Errorf("%+v, %v", v, err)
	}
	d, err := n.Day(t.Context(), "2026-09-14")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(d.Refusals, func(r serve.DayRefusal) bool {
		return r.Kind == "gap" && strings.HasSuffix(r.Reason, "of a voice that nobody enrolled or named were not kept")
	}) {
		t.Errorf("the day has %+v", d.Refusals)
	}
}

// A voiceprint is in no export and, once it is forgotten, in no file of the home.
func TestThreatVoiceprint(t *testing.T) {
	n := initNode(t, nil, InitOptions{KeyFile: true})
	if err := n.unlock(t.Context(), keyring.KeyFile(keyring.DefaultKeyFile)); err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		hear(t, n, evening.Add(time.Duration(i)*time.Minute), "Ana", "The crane is grey.")
	}
	enrol(t, n, "Marguerite", takeOf(t, "jfk.wav", 2))
	enrol(t, n, "Bartholomew", takeOf(t, "spk1_snt1.wav", 5))
	for r, err := range n.Export(t.Context(), serve.ExportOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(r.Data), "Marguerite") {
			t.Errorf("the export has %s", r.Data)
		}
	}
	if v, err := n.ForgetVoice(t.Context(), "marguerite"); err != nil || len(v.Voices) != 1 {
		t.Fatalf("%+v, %v", v, err)
	}
	if _, err := n.ForgetVoice(t.Context(), "Marguerite"); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("%v", err)
	}
	stays := false
	for _, f := range dig(t, n, "Marguerite", "Bartholomew").Finds {
		if f.Needle == "Marguerite" {
			t.Errorf("%v", f)
		}
		stays = stays || f.Needle == "Bartholomew"
	}
	if !stays {
		t.Error("the search does not see the voice that stays")
	}
}

// The print of a voice that nobody named is in no file of the home, either, once its day is over,
// once it is forgotten by its label, or once the wearer keeps only known voices.
func TestUnnamedVoiceprintIsDeleted(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"its day is over", "it is forgotten", "only known voices are kept", "not yet"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			n := initNode(t, nil, InitOptions{KeyFile: true})
			open := func() {
				t.Helper()
				if err := n.unlock(t.Context(), keyring.KeyFile(keyring.DefaultKeyFile)); err != nil {
					t.Fatal(err)
				}
			}
			open()
			for i := range 10 {
				hear(t, n, evening.Add(time.Duration(i)*time.Minute), "Ana", "The crane is grey.")
			}
			enrol(t, n, "", takeOf(t, "jfk.wav", 2))
			soundComes(t, n, evening, takeOf(t, "spk1_snt1.wav", 1))
			first := unnamedPrint(t, n)
			soundComes(t, n, evening.Add(time.Minute), takeOf(t, "spk1_snt1.wav", 1)) // which adds to it
			needles := []string{first, unnamedPrint(t, n)}
			switch how {
			case "its day is over":
				now := n.now
				n.now = func() time.Time { return now().Add(25 * time.Hour) }
				if err := n.Lock(t.Context()); err != nil {
					t.Fatal(err)
				}
				open()
			case "it is forgotten":
				if _, err := n.ForgetVoice(t.Context(), "S1"); err != nil {
					t.Fatal(err)
				}
			case "only known voices are kept":
				if err := n.Lock(t.Context()); err != nil {
					t.Fatal(err)
				}
				n.cfg.Voices.KnownOnly = true
				open()
			}
			if found := len(dig(t, n, needles...).Finds) > 0; found != (how == "not yet") {
				t.Errorf("the print is in files: %v", found)
			}
		})
	}
}

// unnamedPrint returns numbers of the print of the one voice that has no name, as the records have
// them.
func unnamedPrint(t *testing.T, n *Node) string {
	t.Helper()
	var book struct {
		Labels []struct {
			Print struct{ Sum cbor.RawMessage }
		}
	}
	err := n.view(t.Context(), func(_ *session, tx *store.Tx) error {
		_, err := tx.Meta("voices", &book)
		return err
	})
	if err != nil || len(book.Labels) != 1 || len(book.Labels[0].Print.Sum) < 100 {
		t.Fatalf("%+v, %v", book, err)
	}
	return string(book.Labels[0].Print.Sum)
}

// If the files of the store could not be rewritten, the forgetting of a voice stays as an order:
// the same command continues it, and so does the node when it is opened again.
func TestInterruptedVoiceForgettingContinues(t *testing.T) {
	for _, how := range []string{"forgotten again", "opened again", "not yet"} {
		n := initNode(t, nil, InitOptions{KeyFile: true})
		if err := n.unlock(t.Context(), keyring.KeyFile(keyring.DefaultKeyFile)); err != nil {
			t.Fatal(err)
		}
		o := n.open
		for i := range 10 {
			hear(t, n, evening.Add(time.Duration(i)*time.Minute), "Ana", "The crane is grey.")
		}
		enrol(t, n, "Marguerite", takeOf(t, "jfk.wav", 2))
		full, fails := errors.New("no room"), true
		known, err := voices.Open(t.Context(), voices.Config{Engine: o.engine, Wearer: "Ana", PlanSweep: forget.PlanSweep, Now: n.now, Log: n.log,
			PurgeSwept: func(ctx context.Context, lock *engine.Writer) error {
				if fails {
					return full
				}
				return o.forgets.PurgeSwept(ctx, lock)
			}})
		if err != nil {
			t.Fatal(err)
		}
		v := voices.NewVoicer(opened.From(func() (*voices.Known, *opened.Life, func(), error) { return known, o.life, func() {}, nil }))
		if _, err := v.ForgetVoice(t.Context(), "Marguerite"); !errors.Is(err, full) {
			t.Errorf("%v", err)
		}
		if _, err := v.ForgetVoice(t.Context(), "Margareta"); !errors.Is(err, memory.ErrNotFound) {
			t.Errorf("another name: %v", err)
		}
		fails = false
		switch how {
		case "forgotten again":
			if list, err := v.ForgetVoice(t.Context(), "marguerite"); err != nil || len(list.Voices) != 0 {
				t.Errorf("%+v, %v", list, err)
			}
			if _, err := v.ForgetVoice(t.Context(), "Marguerite"); !errors.Is(err, memory.ErrNotFound) {
				t.Errorf("a third time: %v", err)
			}
		case "opened again":
			if err := n.Lock(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := n.unlock(t.Context(), keyring.KeyFile(keyring.DefaultKeyFile)); err != nil {
				t.Fatal(err)
			}
		}
		if found := len(dig(t, n, "Marguerite").Finds) > 0; found != (how == "not yet") {
			t.Errorf("%s: the print is in files: %v", how, found)
		}
	}
}

// What a wearable hears next is the wearer's voice; a recording with little speech is refused.
func TestEnrolFromAWearable(t *testing.T) {
	n := running(t, nil)
	if _, err := n.EnrolVoice(t.Context(), serve.EnrolVoiceRequest{Sound: wavOf(takeOf(t, "spk1_snt1.wav", 1))}); !errors.Is(err, memory.ErrInvalid) || !strings.Contains(err.Error(), "want 10 s at least") {
		t.Errorf("%v", err)
	}
	if _, err := n.EnrolVoice(t.Context(), serve.EnrolVoiceRequest{Device: "pin"}); !errors.Is(err, memory.ErrInvalid) || !strings.Contains(err.Error(), `no wearable is called "pin"`) {
		t.Errorf("%v", err)
	}
	if _, err := n.AddDevice(t.Context(), "pin"); err != nil {
		t.Fatal(err)
	}
	if v, err := n.EnrolVoice(t.Context(), serve.EnrolVoiceRequest{Device: "pin", Seconds: 10}); err != nil || v.Enrolling == nil || v.Enrolling.Want != 10 {
		t.Fatalf("%+v, %v", v, err)
	}
	for i := range 3 {
		soundComes(t, n, evening.Add(time.Duration(i)*time.Minute), takeOf(t, "jfk.wav", 1))
	}
	if v, err := n.Voices(t.Context()); err != nil || v.Enrolling != nil || len(v.Voices) != 1 || !v.Voices[0].Wearer || v.Voices[0].Seconds < 10 {
		t.Fatalf("%+v, %v", v, err)
	}
	if who := recordings(t, n); who[0] != "Ana" || who[len(who)-1] != "Ana" {
		t.Errorf("%q", who)
	}
}
