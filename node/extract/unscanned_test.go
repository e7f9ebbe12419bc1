package extract

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/wasm/abi"
)

// Texts that were quarantined unread go through the chain once the plugin that
// looks for secrets works: in their session, under the ids that they would have
// had, without the secret, and once. Texts that still fail stay in quarantine,
// and the present continues.
func TestRescan(t *testing.T) {
	broken := true
	secrets := &script{id: "secrets", first: true, kinds: "text", answer: func(ev *abi.Event) (abi.Output, error) {
		if broken && strings.Contains(ev.Text, "tulip") || strings.Contains(ev.Text, "crash") {
			return abi.Output{}, errors.New("trapped")
		}
		i := strings.Index(ev.Text, "tulip-42")
		if i < 0 {
			return abi.Output{State: []byte("now")}, nil
		}
		return abi.Output{State: []byte("then"), Redactions: []abi.Redaction{{Span: abi.Span{Start: i, End: i + 8}, Kind: "password"}}}, nil
	}}
	facts := &script{id: "facts", kinds: "text", answer: func(ev *abi.Event) (abi.Output, error) {
		return remember("heard: "+ev.Text, abi.Span{Start: 0, End: len(ev.Text)}), nil
	}}
	b := newBench(t, secrets, facts)
	b.must(b.text("Here is the cupboard."))
	ev := b.text("Its code is tulip-42, write it down.")
	ev.Speaker, ev.Zone = "Bo", "Europe/Lisbon"
	b.must(ev)
	b.must(b.text("crash now"))
	b.must(b.text("Thank you."))
	again := func() Rescanned {
		t.Helper()
		res, err := b.x.Rescan(t.Context(), b.whole)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	held := func(from time.Time) (held bool) {
		t.Helper()
		err := b.store.View(t.Context(), func(tx *store.Tx) (err error) {
			held, err = IsHeldBack(tx, &memory.Memory{Candidate: memory.Candidate{TrueFrom: from, TrueTo: from.Add(5 * time.Second)}})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return held
	}
	// Somebody speaks in it, and nobody knows what is said, so the sound stays
	// here.
	if !held(ev.At.Add(-HeldAround)) || held(ev.At.Add(-time.Hour)) {
		t.Errorf("recordings are held back: near what is unread %v, elsewhere %v", held(ev.At.Add(-HeldAround)), held(ev.At.Add(-time.Hour)))
	}
	before, session := b.everything(), b.x.session.saved
	if res := again(); res.Texts != 2 || res.Left != 2 || len(res.Changes) > 0 || b.everything() != before {
		t.Fatalf("it is broken still: %+v\n%s", res, b.everything())
	}
	broken = false
	facts.saw = nil
	if res := again(); res.Texts != 2 || res.Left != 1 || len(res.Changes) != 1 {
		t.Fatalf("%+v", res)
	}
	after := b.everything()
	if !strings.Contains(after, "heard: Its code is [password], write it down.") || strings.Contains(after, "tulip") || strings.Count(after, "aside ") != 1 {
		t.Errorf("%s", after)
	}
	if len(facts.saw) != 1 || len(facts.saw[0].Before) != 1 || facts.saw[0].Before[0].Text != "Here is the cupboard." || facts.saw[0].Speaker != "Bo" {
		t.Errorf("given %+v", facts.saw)
	}
	if b.x.session.saved != session {
		t.Errorf("the session of the present is %+v, was %+v", b.x.session.saved, session)
	}
	var state []byte
	err := b.store.View(t.Context(), func(tx *store.Tx) error {
		u, err := tx.Utterance(b.x.keys.MemoryID(ev.ID, "", "utterance"))
		if err != nil || u.Session != session.Name || u.Speaker != "Bo" || u.Zone != "Europe/Lisbon" || u.Redacted != 1 || !u.At.Equal(ev.At) {
			t.Errorf("%+v, %v", u, err)
		}
		_, err = tx.Meta(stateKey{"secrets", talk}.meta(), &state)
		return err
	})
	if err != nil || string(state) != "now" {
		t.Errorf("what the plugin remembers is %q, %v", state, err)
	}
	if res := again(); res.Texts != 1 || res.Left != 1 || b.everything() != after {
		t.Errorf("again: %+v\n%s", res, b.everything())
	}
	// A damaged text does not prevent the others from being tried.
	err = b.store.Update(t.Context(), func(tx *store.Tx) error {
		for m, err := range tx.Quarantined() {
			if err != nil {
				return err
			}
			u, err := QuarantinedText(tx, &m)
			if err != nil || u.Text != "crash now" || u.Session != session.Name || u.At.IsZero() {
				t.Errorf("%+v, %v", u, err)
			}
			if err := tx.DropQuarantined(m.Seq); err != nil {
				return err
			}
		}
		return tx.Quarantine(store.Quarantined{Topic: "torn", Again: []byte("{")})
	})
	if err != nil {
		t.Fatal(err)
	}
	b.must(b.text("crash again, " + strings.Repeat("and again, ", 1000) + "at the end"))
	if res, err := b.x.Rescan(t.Context(), b.whole); !errors.Is(err, memory.ErrDamaged) || res.Texts != 1 || res.Left != 1 {
		t.Errorf("beside a damaged one: %+v, %v", res, err)
	}
	err = b.store.Update(t.Context(), func(tx *store.Tx) error {
		for m, err := range tx.Quarantined() {
			if err != nil || m.Topic == "torn" {
				continue
			}
			if u, err := QuarantinedText(tx, &m); err != nil || !strings.HasSuffix(u.Text, "at the end") {
				t.Errorf("the whole of it: %+v, %v", u, err)
			}
			return nil
		}
		return errors.New("it is gone")
	})
	if err != nil {
		t.Error(err)
	}
	// A text that was forgotten is not tried again.
	err = b.store.Update(t.Context(), func(tx *store.Tx) error {
		for m, err := range tx.Quarantined() {
			if err != nil {
				return err
			}
			if err := tx.DropQuarantined(m.Seq); err != nil {
				return err
			}
		}
		return nil
	})
	if res := again(); err != nil || res.Texts != 0 {
		t.Errorf("%+v, %v", res, err)
	}
	if err := b.x.rescan(t.Context(), b.w, &store.Quarantined{Seq: 99, Again: []byte(`{}`), Blob: memory.ID{1}}, new(Rescanned)); err != nil {
		t.Errorf("one that went meanwhile: %v", err)
	}
}
