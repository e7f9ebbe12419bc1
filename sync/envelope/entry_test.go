package envelope

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
)

// Any single changed bit of an entry must be detected.
func TestEveryBitOfAnEntryCounts(t *testing.T) {
	h := household(t)
	h.append(glasses, h.removal(worker, Position{Incarnation: 5, Seq: 9}))
	for n, e := range h.entries {
		before, err := VerifyLog(h.entries[:n])
		if err != nil {
			t.Fatal(err)
		}
		wire := e.Bytes()
		for i := range len(wire) * 8 {
			b := bytes.Clone(wire)
			b[i/8] ^= 1 << (i % 8)
			got, err := ParseEntry(b)
			if err == nil {
				err = before.Append(got)
			}
			if err == nil {
				t.Fatalf("entry %d: bit %d of byte %d changed unseen", n+1, i%8, i/8)
			}
			var fork *ForkError
			if errors.As(err, &fork) {
				t.Fatalf("entry %d: bit %d of byte %d: called a fork, unsigned: %v", n+1, i%8, i/8, err)
			}
		}
	}
}

func TestEntryFieldsAreChecked(t *testing.T) {
	h := household(t)
	for name, f := range map[string]func(*Entry){
		"version":             func(e *Entry) { e.Version = 2 },
		"no space":            func(e *Entry) { e.Space = memory.SpaceID{} },
		"n 0":                 func(e *Entry) { e.N = 0 },
		"first, not founding": func(e *Entry) { e.N, e.Prev = 1, Hash{} },
		"second without prev": func(e *Entry) { e.Prev = Hash{} },
		"founds again":        func(e *Entry) { e.Action = Found },
		"action 0":            func(e *Entry) { e.Action = 0 },
		"action 5":            func(e *Entry) { e.Action = 5 },
		"epoch 0":             func(e *Entry) { e.Epoch = 0 },
		"a root":              func(e *Entry) { e.Root = theRoot.public() },
		"a recovery":          func(e *Entry) { e.Recovery = "age1" },
		"no member":           func(e *Entry) { e.Member = nil },
		"removes too":         func(e *Entry) { e.Removed = &phone.id },
		"last of nobody":      func(e *Entry) { e.Last = []Position{{1, 1}} },
		"member without id":   func(e *Entry) { e.Member.ID = memory.MemberID{} },
		"short key":           func(e *Entry) { e.Member.Key = e.Member.Key[:31] },
		"no recipient":        func(e *Entry) { e.Member.Recipient = "" },
		"long recipient":      func(e *Entry) { e.Member.Recipient = string(make([]byte, MaxRecipient+1)) },
		"role 0":              func(e *Entry) { e.Member.Role = 0 },
		"role 5":              func(e *Entry) { e.Member.Role = 5 },
		"long name":           func(e *Entry) { e.Member.Name = make([]byte, MaxSealedName+1) },
		"long grant":          func(e *Entry) { e.Member.Grant = make([]byte, MaxGrant+1) },
		"no wraps":            func(e *Entry) { e.Wraps = nil },
		"an empty wrap":       func(e *Entry) { e.Wraps[0].Keys = nil },
		"a huge wrap":         func(e *Entry) { e.Wraps[0].Keys = make([]byte, MaxHistory+1) },
		"a huge wrap of two":  func(e *Entry) { e.Wraps = wrapTo(phone.id, glasses.id); e.Wraps[0].Keys = make([]byte, MaxWrap+1) },
		"a huge wrap of an epoch": func(e *Entry) {
			*e = Entry{Version: e.Version, Space: e.Space, N: e.N, Prev: e.Prev, Author: e.Author, At: e.At, Action: Rekey, Epoch: 2, Wraps: wrapTo(glasses.id)}
			e.Wraps[0].Keys = make([]byte, MaxWrap+1)
		},
		"wraps out of order":   func(e *Entry) { e.Wraps = append(wrapTo(phone.id), wrapTo(glasses.id)...) },
		"a wrap twice":         func(e *Entry) { e.Wraps = append(wrapTo(phone.id), wrapTo(phone.id)...) },
		"too many wraps":       func(e *Entry) { e.Wraps = make([]Wrap, MaxMembers+2) },
		"a rekey with member":  func(e *Entry) { e.Action = Rekey },
		"a removal with one":   func(e *Entry) { e.Action, e.Removed = Remove, &phone.id },
		"last out of order":    func(e *Entry) { *e = *h.removal(worker, Position{2, 1}, Position{1, 1}) },
		"last with seq 0":      func(e *Entry) { *e = *h.removal(worker, Position{2, 0}) },
		"too many last":        func(e *Entry) { *e = *h.removal(worker, make([]Position, MaxIncarnations+1)...) },
		"founding by a member": func(e *Entry) { *e = *founding(); e.N, e.Author = 1, glasses.id },
		"founding, short root": func(e *Entry) { *e = *founding(); e.N, e.Root = 1, e.Root[:31] },
	} {
		e := &Entry{Action: Add, Epoch: 1, Member: other.member(Writer), Wraps: wrapTo(other.id)}
		h.sign(glasses, e)
		f(e)
		if e.Space.IsZero() && name != "no space" {
			e.Version, e.Space, e.N = Version, space, max(e.N, 1)
			if e.Action != Found {
				e.N, e.Prev = 5, h.state.Head()
			}
			e.Signature = make([]byte, 64)
		}
		if _, err := ParseEntry(e.Bytes()); !errors.Is(err, ErrForm) {
			t.Errorf("%s: parse: %v", name, err)
		}
		if err := h.state.Append(e); !errors.Is(err, ErrForm) {
			t.Errorf("%s: append: %v", name, err)
		}
		if err := e.Sign(KeySigner(glasses.key)); !errors.Is(err, ErrForm) && name != "version" {
			t.Errorf("%s: sign: %v", name, err)
		}
	}
}

// An addition with the greatest possible content fits its limits.
func TestLargestAdditionFits(t *testing.T) {
	h := household(t)
	m := other.member(Extractor)
	m.Recipient, m.Name, m.Grant = strings.Repeat("r", MaxRecipient), make([]byte, MaxSealedName), make([]byte, MaxGrant)
	e := &Entry{Action: Add, Epoch: 1, Member: m, Wraps: []Wrap{{To: m.ID, Keys: make([]byte, MaxHistory)}}}
	h.append(glasses, e)
	if _, err := ParseEntry(e.Bytes()); err != nil {
		t.Error(err)
	}
}
