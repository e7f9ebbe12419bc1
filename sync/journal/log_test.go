package journal_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

// The largest possible log entry can be stored.
func TestLargestLogEntry(t *testing.T) {
	a := newMember(t, serveRelay(t), nil)
	if err := a.journal().Save(t.Context(), replica.State{Incarnation: 1}, make([]byte, envelope.MaxEntry)); err != nil {
		t.Fatal(err)
	}
	if got, err := a.journal().Entries(t.Context()); err != nil || len(got) != 1 || len(got[0]) != envelope.MaxEntry {
		t.Error(len(got), err)
	}
}

// A device and the recovery phrase add members to a space of four that was
// rotated daily for half a year. New members and those who were away read the
// whole log.
func TestManyEpochs(t *testing.T) {
	a, phrase := newMemberWords(t, serveRelay(t))
	a.close()
	a.more = seal.Epochs{}
	a.open()
	away := a.let(a.url, envelope.Owner, nil)
	for range 2 {
		a.let(a.url, envelope.Reader, nil)
	}
	a.say(fact(1, "In the first epoch."))
	a.sync()
	const epochs = 190 // of these, 177 fit into the wraps of all entries but additions
	for n := uint32(2); n <= epochs; n++ {
		if e, err := a.Rotate(t.Context()); err != nil || e != n {
			t.Fatal(e, err)
		}
	}
	a.say(fact(2, fmt.Sprintf("In epoch %d.", epochs)))
	a.sync()
	b := a.let(a.url, envelope.Owner, nil)
	for _, m := range []*member{b, away} {
		m.close()
		m.more = seal.Epochs{}
		m.open()
		m.sync()
		if !slices.Equal(m.knows(), a.knows()) || len(m.knows()) != 2 {
			t.Errorf("it knows %q; %q", m.knows(), m.problems())
		}
	}

	rec, err := keyring.Recover(phrase)
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Zero()
	entries, err := a.at.Log(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	all := seal.Epochs{}
	for _, e := range entries {
		for _, w := range e.Wraps {
			if w.To == (memory.MemberID{}) {
				got, err := seal.OpenEpochs(rec.Identity(), rec.Space(), w.Keys)
				if err != nil {
					t.Fatal(err)
				}
				for n, k := range got {
					all[n] = k
				}
			}
		}
	}
	if len(all) != epochs {
		t.Errorf("recovery has %d keys", len(all))
	}
}

// The keys of as many epochs as rotations may begin fit into an addition.
func TestMostEpochs(t *testing.T) {
	id := seal.NewIdentity()
	all := seal.Epochs{}
	for n := range uint32(envelope.MaxEpochs + 300) {
		all[n+1] = seal.NewKey()
	}
	sealed, err := seal.SealEpochs(id.Recipient(), [16]byte{1}, all)
	if err != nil || len(sealed) > envelope.MaxHistory {
		t.Fatalf("%d bytes, %v", len(sealed), err)
	}
	if got, err := seal.OpenEpochs(id, [16]byte{1}, sealed); err != nil || len(got) != len(all) {
		t.Fatal(len(got), err)
	}
}
