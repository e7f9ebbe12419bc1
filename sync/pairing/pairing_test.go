package pairing

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/membership"
)

// post is a mailbox that waits for messages. change, if set, may change the messages.
type post struct {
	mu     sync.Mutex
	more   *sync.Cond
	rows   map[[16]byte][][]byte
	change func(row int, m []byte) []byte
}

func newPost() *post {
	p := &post{rows: map[[16]byte][][]byte{}}
	p.more = sync.NewCond(&p.mu)
	return p
}

func (p *post) Post(_ context.Context, box [16]byte, m []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.change != nil {
		m = p.change(len(p.rows[box]), slices.Clone(m))
	}
	p.rows[box] = append(p.rows[box], m)
	p.more.Broadcast()
	return nil
}

func (p *post) Message(ctx context.Context, box [16]byte, n int) ([]byte, error) {
	stop := context.AfterFunc(ctx, p.more.Broadcast)
	defer stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.rows[box]) <= n {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		p.more.Wait()
	}
	return p.rows[box][n], nil
}

func (p *post) FirstMessage(_ context.Context, box [16]byte) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.rows[box]) == 0 {
		return nil, nil
	}
	return p.rows[box][0], nil
}

// met is the result of one side.
type met struct {
	m   *Meeting
	err error
}

func meet(ctx context.Context, inviter Mailbox, joiner Box, a, b Code, in, fresh *keyring.Device) (met, met) {
	out := make(chan met)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		m, err := Invite(ctx, inviter, a, PartyOf(membership.MemberOf(in, envelope.Owner), "old"))
		if err != nil {
			stop()
		}
		out <- met{m, err}
	}()
	m, err := Join(ctx, joiner, b, PartyOf(membership.MemberOf(fresh, envelope.Owner), "new"))
	if err != nil {
		stop()
	}
	return <-out, met{m, err}
}

func TestPair(t *testing.T) {
	p, code := newPost(), NewCode()
	in, fresh := keyring.NewDevice(), keyring.NewDevice()
	a, b := meet(t.Context(), p, p, code, code, in, fresh)
	if a.err != nil || b.err != nil {
		t.Fatal(a.err, b.err)
	}
	if !slices.Equal(a.m.Words(), b.m.Words()) || len(a.m.Words()) != 5 {
		t.Fatalf("words %v and %v", a.m.Words(), b.m.Words())
	}
	if a.m.Other.Member != fresh.ID || b.m.Other.Member != in.ID || a.m.Other.Name != "new" {
		t.Errorf("each other: %+v, %+v", a.m.Other, b.m.Other)
	}
	agreed := make(chan error)
	go func() { agreed <- a.m.Agree(t.Context()) }()
	if err := errors.Join(b.m.Agree(t.Context()), <-agreed); err != nil {
		t.Fatal(err)
	}
	want := Grant{Space: memory.SpaceID{1}, Genesis: envelope.Hash{2}, Relay: "http://relay", Wearer: "Maja"}
	ring, _, err := keyring.Create(t.TempDir(), keyring.CreateOptions{KeyFile: keyring.DefaultKeyFile, FoundSpace: membership.FoundSpace("")})
	if err != nil {
		t.Fatal(err)
	}
	defer ring.Close()
	// A grant that another key signed is refused.
	if err := a.m.SendGrant(t.Context(), want, ring.DeviceSign); err != nil {
		t.Fatal(err)
	}
	if _, err := b.m.ReceiveGrant(t.Context(), fresh.Open); !errors.Is(err, ErrTampered) {
		t.Errorf("grant of a stranger: %v", err)
	}
	if err := a.m.SendGrant(t.Context(), want, in.Sign); err != nil {
		t.Fatal(err)
	}
	if got, err := b.m.ReceiveGrant(t.Context(), fresh.Open); err != nil || got != want {
		t.Errorf("grant %+v, %v", got, err)
	}
}

// A second device with the code gets an error, shows no words, and leaves nothing that would end
// the pairing of the first.
func TestUsedCode(t *testing.T) {
	p, code := newPost(), NewCode()
	a, b := meet(t.Context(), p, p, code, code, keyring.NewDevice(), keyring.NewDevice())
	if a.err != nil || b.err != nil {
		t.Fatal(a.err, b.err)
	}
	again := func() {
		t.Helper()
		if m, err := Join(t.Context(), p, code, PartyOf(membership.MemberOf(keyring.NewDevice(), envelope.Owner), "late")); !errors.Is(err, ErrUsed) || m != nil {
			t.Errorf("a second device: %v, %v", m, err)
		}
	}
	again()
	agreed := make(chan error)
	go func() { agreed <- a.m.Agree(t.Context()) }()
	if err := errors.Join(b.m.Agree(t.Context()), <-agreed); err != nil {
		t.Errorf("after a second came: %v", err)
	}
	again()
}

// blind is a mailbox that both devices check before either has left anything.
type blind struct{ *post }

func (blind) FirstMessage(context.Context, [16]byte) ([]byte, error) { return nil, nil }

// If two devices come at the same time, the second in the mailbox gets an error.
func TestConcurrentUseOfACode(t *testing.T) {
	p, code := newPost(), NewCode()
	first, err := newTalk(p, code, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := first.send(t.Context(), stepCommit, false, make([]byte, 32)); err != nil {
		t.Fatal(err)
	}
	var in sync.WaitGroup
	defer in.Wait()
	in.Go(func() { // ends because of the second device's message, or because of the other's invalid answer
		Invite(t.Context(), p, code, PartyOf(membership.MemberOf(keyring.NewDevice(), envelope.Owner), "old"))
	})
	if m, err := Join(t.Context(), blind{p}, code, PartyOf(membership.MemberOf(keyring.NewDevice(), envelope.Owner), "late")); !errors.Is(err, ErrUsed) {
		t.Errorf("%v, %v", m, err)
	}
	if _, err := first.receive(t.Context(), stepInvite); err != nil {
		t.Errorf("the first: %v", err)
	}
}

func TestRefused(t *testing.T) {
	p, code := newPost(), NewCode()
	a, b := meet(t.Context(), p, p, code, code, keyring.NewDevice(), keyring.NewDevice())
	if a.err != nil || b.err != nil {
		t.Fatal(a.err, b.err)
	}
	if err := b.m.Refuse(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := a.m.Agree(t.Context()); !errors.Is(err, ErrRefused) {
		t.Errorf("the other refused: %v", err)
	}
}

// A relay that changes a message without knowing the code is detected.
func TestChangedMessage(t *testing.T) {
	for row := range 3 {
		p, code := newPost(), NewCode()
		p.change = func(n int, m []byte) []byte {
			if n == row {
				var v message
				if err := json.Unmarshal(m, &v); err != nil {
					t.Error(err)
				}
				v.Body[len(v.Body)/2] ^= 1
				m, _ = json.Marshal(v)
			}
			return m
		}
		a, b := meet(t.Context(), p, p, code, code, keyring.NewDevice(), keyring.NewDevice())
		if !errors.Is(a.err, ErrTampered) && !errors.Is(b.err, ErrTampered) {
			t.Errorf("message %d changed: %v, %v", row+1, a.err, b.err)
		}
	}
}

// A relay that knows the code is a man in the middle: it pairs with each side under keys of its
// own. Both sides show words, and these differ.
func TestThreatSwappedKeysAtPairing(t *testing.T) {
	left, right, code := newPost(), newPost(), NewCode()
	in, fresh, mallory := keyring.NewDevice(), keyring.NewDevice(), keyring.NewDevice()
	type pair struct{ victim, middle met }
	side := make(chan pair)
	go func() {
		a, m := meet(t.Context(), left, left, code, code, in, mallory)
		side <- pair{a, m}
	}()
	m, b := meet(t.Context(), right, right, code, code, mallory, fresh)
	l := <-side
	for _, err := range []error{l.victim.err, l.middle.err, m.err, b.err} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if slices.Equal(l.victim.m.Words(), b.m.Words()) {
		t.Error("the words are the same, with a relay in the middle")
	}
}

// A party that commits to one side, and reveals another after it has seen the inviter's, is
// detected, so nobody can search for a side with the same words.
func TestBrokenCommitmentIsDetected(t *testing.T) {
	p, code := newPost(), NewCode()
	in, mallory := keyring.NewDevice(), keyring.NewDevice()
	done := make(chan error)
	go func() {
		_, err := Invite(t.Context(), p, code, PartyOf(membership.MemberOf(in, envelope.Owner), "old"))
		done <- err
	}()
	tk, err := newTalk(p, code, true)
	if err != nil {
		t.Fatal(err)
	}
	first := newSide(PartyOf(membership.MemberOf(mallory, envelope.Owner), "m"))
	sum := first.hash()
	if err := tk.send(t.Context(), stepCommit, false, sum[:]); err != nil {
		t.Fatal(err)
	}
	if _, err := tk.see(t.Context(), stepInvite); err != nil {
		t.Fatal(err)
	}
	second := newSide(first.Party) // the same keys with another nonce
	if err := tk.show(t.Context(), stepReveal, &second); err != nil {
		t.Fatal(err)
	}
	if err := <-done; !errors.Is(err, ErrTampered) {
		t.Errorf("another side than the one committed to: %v", err)
	}
}

func TestCode(t *testing.T) {
	for range 20 {
		c := NewCode()
		got, err := parseCode(" " + strings.ToUpper(c.String()) + " ")
		if err != nil || got != c {
			t.Errorf("%s: %s, %v", c, got, err)
		}
		relay, got, err := ParseLink(Link("http://10.0.0.1:8080", c))
		if err != nil || got != c || relay != "http://10.0.0.1:8080" {
			t.Errorf("link of %s: %s %s, %v", c, relay, got, err)
		}
	}
	if c, err := parseCode("OIL0-1abc"); err != nil || c != "01101abc" {
		t.Errorf("letters that look alike: %q, %v", c, err)
	}
	for _, bad := range []string{"", "abc", "abcd-efgh-j", "abcd-efg!", "uuuu-uuuu"} {
		if c, err := parseCode(bad); !errors.Is(err, ErrCode) {
			t.Errorf("%q: %q, %v", bad, c, err)
		}
	}
	if q, err := QR(Link("http://10.0.0.1:8080", NewCode())); err != nil || strings.Count(q, "\n") < 15 {
		t.Errorf("QR: %v", err)
	}
}
