package match

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/sync/envelope"
)

// Guessing by asking is limited: for each peer, and in the total number, also after a
// restart, after a comparison was forgotten, and after a clock was set back.
func TestThreatInterestsGuessed(t *testing.T) {
	victim, liar := newHome(t, "bees", "chess"), newHome(t, "bees")
	again := func(h *home, other *home, name string) error {
		t.Helper()
		_, _, err := h.Ask(t.Context(), name, other.key)
		return err
	}
	first := liar.ask("victim", victim)
	victim.take(first, "liar")
	// The liar's program respects no limit.
	forget := func() {
		liar.state(func(_ *keyring.Device, s *state) error { s.Begun, s.Runs = nil, nil; return nil })
	}
	for _, change := range []func(){
		func() {},
		func() { victim.Matcher = &Matcher{Dir: victim.Dir, Now: victim.Now} },
		func() {
			if err := victim.Forget(t.Context(), "liar"); err != nil {
				t.Fatal(err)
			}
		},
		func() { victim.at, liar.at = victim.at.Add(-20*24*time.Hour), liar.at.Add(-20*24*time.Hour) },
		func() { victim.at, liar.at = victim.at.Add(29*24*time.Hour), liar.at.Add(29*24*time.Hour) },
	} {
		change()
		forget()
		victim.wantErr(ErrTooSoon, liar.ask("victim", victim))
		if err := again(victim, liar, "them"); !errors.Is(err, ErrTooSoon) {
			t.Fatalf("the victim asks: %v, want ErrTooSoon", err)
		}
	}
	// After a month another one is allowed.
	victim.at, liar.at = victim.at.Add(24*time.Hour), liar.at.Add(24*time.Hour)
	forget()
	victim.take(liar.ask("victim", victim), "liar again")
	// Other keys share a limit, too.
	for i := range MostAtOnce - 1 {
		sybil := newHome(t, "bees")
		sybil.at = victim.at
		victim.take(sybil.ask("victim", victim), fmt.Sprint("sybil ", i))
	}
	sybil := newHome(t, "bees")
	sybil.at = victim.at
	victim.wantErr(ErrTooSoon, sybil.ask("victim", victim))
	// The first message is too old by now.
	victim.at = victim.at.Add(Period)
	victim.wantErr(ErrMessage, first)
	t.Run("the id of another comparison", guessedByID)
}

// A clock that once was ahead uses up an allowance only for one period, counted from when it
// is right again.
func TestAllowanceAfterAClockJump(t *testing.T) {
	a, b := newHome(t, "bees"), newHome(t, "bees")
	right := a.at
	a.at = right.AddDate(10, 0, 0)
	a.ask("Ben", b)
	for _, days := range []int{0, 29} {
		a.at = right.AddDate(0, 0, days)
		if err := a.Forget(t.Context(), "Ben"); err != nil && days == 0 {
			t.Fatal(err)
		}
		if _, _, err := a.Ask(t.Context(), "Ben", b.key); !errors.Is(err, ErrTooSoon) {
			t.Fatalf("after %d days: %v, want ErrTooSoon", days, err)
		}
	}
	a.at = right.Add(Period)
	a.ask("Ben", b)
}

// guessedByID has a liar ask with the id of a comparison between the victim and a friend,
// who asks afterwards: whatever room the friend's comparison gets, the liar gets none.
func guessedByID(t *testing.T) {
	victim, friend, liar := newHome(t, "bees"), newHome(t, "bees"), newHome(t, "bees")
	var keys [2][]byte
	for i, h := range []*home{victim, friend} {
		h.state(func(d *keyring.Device, _ *state) error { keys[i] = bytes.Clone(d.Key()); return nil })
	}
	if bytes.Compare(keys[0], keys[1]) < 0 { // the lower key asked
		victim, friend = friend, victim
	}
	victim.ask("friend", friend)
	var id [16]byte
	victim.state(func(_ *keyring.Device, s *state) error { id = s.Runs[0].ID; return nil })
	liar.ask("victim", victim)
	var forged string
	liar.state(func(d *keyring.Device, s *state) (err error) {
		r := s.Runs[0]
		m := message{Version: 1, Kind: asks, ID: id, To: r.Peer.Key, At: liar.at.Unix(), Offer: r.Mine}
		if m.Request, err = envelope.SignRequest(envelope.Request{Key: d.Key(), Recipient: d.Recipient().String()}, d.Sign); err != nil {
			return err
		}
		forged, _, err = sealed(d, &m, &r.Peer)
		return err
	})
	victim.wantErr(ErrMessage, forged)
	// Even if the id were accepted for both, the friend's room is the friend's alone.
	peer, err := envelope.ParseRequest(liar.key)
	if err != nil {
		t.Fatal(err)
	}
	victim.state(func(_ *keyring.Device, s *state) error {
		s.Begun = append(s.Begun, attempt{peer.Key, id, victim.at})
		return nil
	})
	victim.take(friend.ask("victim", victim), "")
	liar.state(func(_ *keyring.Device, s *state) error { s.Begun, s.Runs = nil, nil; return nil })
	victim.wantErr(ErrTooSoon, liar.ask("victim", victim))
}
