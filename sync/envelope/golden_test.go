package envelope

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"path/filepath"
	"slices"
	"testing"

	"github.com/locket-dev/locket/internal/testing/golden"
	"github.com/locket-dev/locket/memory"
)

var update = flag.Bool("update", false, "write testdata/vectors.json anew")

// hexBytes is bytes that JSON shows in hexadecimal.
type hexBytes []byte

func (b hexBytes) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(b)), nil }
func (b *hexBytes) UnmarshalText(t []byte) (err error) {
	*b, err = hex.DecodeString(string(t))
	return err
}

// vectors is testdata/vectors.json, described in testdata/README.md.
type vectors struct {
	Signing []signingVector `json:"signing"`
	Deltas  []deltaVector   `json:"deltas"`
	Log     []entryVector   `json:"log"`
	Refused []refusedVector `json:"refused"`
}

type signingVector struct {
	Seed      hexBytes `json:"seed"`
	Public    hexBytes `json:"public"`
	Domain    string   `json:"domain"`
	Message   hexBytes `json:"message"`
	Signed    hexBytes `json:"signed"`
	Signature hexBytes `json:"signature"`
}

type deltaVector struct {
	Name        string          `json:"name"`
	Seed        hexBytes        `json:"seed"`
	Space       hexBytes        `json:"space"`
	Member      memory.MemberID `json:"member"`
	Incarnation hexBytes        `json:"incarnation"` // 8 bytes, big-endian: JSON has no 64-bit integers
	Seq         uint64          `json:"seq"`
	Prev        Hash            `json:"prev"`
	Head        Hash            `json:"head"`
	Epoch       uint32          `json:"epoch"`
	Body        hexBytes        `json:"body"`
	Header      hexBytes        `json:"header"`
	Hash        Hash            `json:"hash"`
	Context     Hash            `json:"context"`
	Signature   hexBytes        `json:"signature"`
	Wire        hexBytes        `json:"wire"`
	Bare        hexBytes        `json:"wire_without_body"`
}

type entryVector struct {
	Name    string   `json:"name"`
	Seed    hexBytes `json:"seed"` // of the author
	Entry   hexBytes `json:"entry"`
	Hash    Hash     `json:"hash"`
	Wire    hexBytes `json:"wire"`
	Members []string `json:"members_after"` // "id role", ascending
	Epoch   uint32   `json:"epoch_after"`
}

type refusedVector struct {
	Name   string   `json:"name"`
	What   string   `json:"what"` // delta, chained, entry, founding: see testdata/README.md
	Wire   hexBytes `json:"wire"`
	Reason string   `json:"reason"` // form, signature, body, rule, head, gap, fork, known, older
}

func (a actor) seed() []byte { return a.key.Seed() }

func makeVectors(t *testing.T) vectors {
	h := household(t)
	var v vectors
	names := []string{"root founds the space with the glasses as owner", "owner adds a writer", "owner adds an extractor", "root adds a reader"}
	authors := []actor{theRoot, glasses, glasses, theRoot}
	first := h.delta(phone, nil, "body one")
	second := h.delta(phone, &first.Header, "body two")
	late := h.delta(worker, nil, "of a worker")
	next := h.delta(worker, &late.Header, "of a worker who is gone")
	h.append(glasses, h.removal(worker, late.Header.Position()))
	h.append(theRoot, &Entry{Action: Rekey, Epoch: 3, Wraps: wrapTo(theRoot.id, glasses.id, phone.id, reader.id)})
	names, authors = append(names, "owner removes the extractor", "root begins an epoch"), append(authors, glasses, theRoot)

	for _, domain := range []string{DomainDelta, DomainLog} {
		msg := []byte("message")
		sig, _ := KeySigner(phone.key)(domain, msg)
		v.Signing = append(v.Signing, signingVector{phone.seed(), phone.public(), domain, msg, signed(domain, msg), sig})
	}
	for i, d := range []*Delta{first, second, late} {
		who := []actor{phone, phone, worker}[i]
		hd := d.Header
		var inc [8]byte
		for j := range inc {
			inc[j] = byte(hd.Incarnation >> (56 - 8*j))
		}
		v.Deltas = append(v.Deltas, deltaVector{Name: []string{"first of a chain", "second of a chain", "the last that is accepted of the removed"}[i],
			Seed: who.seed(), Space: hd.Space[:], Member: hd.Member, Incarnation: inc[:], Seq: hd.Seq, Prev: hd.Prev, Head: hd.Head, Epoch: hd.Epoch,
			Body: d.Body, Header: hd.Bytes(), Hash: hd.Hash(), Context: hd.Context(), Signature: d.Signature, Wire: d.Bytes(), Bare: d.WithoutBody().Bytes()})
	}
	s := new(State)
	for i, e := range h.entries {
		if err := s.Append(e); err != nil {
			t.Fatal(err)
		}
		ev := entryVector{Name: names[i], Seed: authors[i].seed(), Entry: e.body(), Hash: e.Hash(), Wire: e.Bytes(), Epoch: s.Epoch()}
		for _, m := range s.Members() {
			ev.Members = append(ev.Members, m.ID.String()+" "+m.Role.String())
		}
		v.Log = append(v.Log, ev)
	}
	refuse := func(name, what, reason string, wire []byte) {
		v.Refused = append(v.Refused, refusedVector{name, what, wire, reason})
	}
	changed := func(b []byte, at int) []byte { b = bytes.Clone(b); b[at] ^= 1; return b }
	wire := first.Bytes()
	refuse("cut by a byte", "delta", "form", wire[:len(wire)-1])
	refuse("a byte more", "delta", "form", append(bytes.Clone(wire), 0))
	refuse("array of a length in two bytes", "delta", "form", append([]byte{0x98, 3}, wire[1:]...))
	refuse("version 1 in two bytes", "delta", "form", encode(wireDelta{Header: append([]byte{0xaa, 1, 0x18, 1}, first.Header.Bytes()[3:]...), Signature: first.Signature, Body: first.Body}))
	refuse("one bit of the signature", "delta", "signature", encode(wireDelta{Header: first.Header.Bytes(), Signature: changed(first.Signature, 3), Body: first.Body}))
	refuse("one bit of the body's hash", "delta", "signature", encode(wireDelta{Header: changed(first.Header.Bytes(), len(first.Header.Bytes())-4), Signature: first.Signature, Body: first.Body}))
	refuse("another body of that length", "delta", "body", encode(wireDelta{Header: first.Header.Bytes(), Signature: first.Signature, Body: []byte("body 0ne")}))
	refuse("of the removed, after its last", "delta", "rule", next.Bytes())
	refuse("of a reader", "delta", "rule", h.delta(reader, nil, "r").Bytes())
	refuse("of a stranger", "delta", "rule", h.delta(other, nil, "o").Bytes())
	refuse("the fourth again", "entry", "known", h.entries[3].Bytes())
	twin, err := VerifyLog(h.entries[:5])
	if err != nil {
		t.Fatal(err)
	}
	th := &history{t: t, state: twin}
	refuse("another sixth", "entry", "fork", th.append(glasses, &Entry{Action: Add, Epoch: 2, Member: other.member(Reader), Wraps: wrapTo(other.id)}).Bytes())
	refuse("a writer adds", "entry", "rule", h.sign(phone, &Entry{Action: Add, Epoch: 3, Member: other.member(Reader), Wraps: wrapTo(other.id)}).Bytes())
	good := h.sign(glasses, &Entry{Action: Add, Epoch: 3, Member: other.member(Reader), Wraps: wrapTo(other.id)})
	forged := *good
	forged.Signature = changed(good.Signature, 0)
	refuse("one bit of its signature", "entry", "signature", forged.Bytes())
	far := *good
	far.N++
	if err := far.Sign(KeySigner(glasses.key)); err != nil {
		t.Fatal(err)
	}
	refuse("one is missing before it", "entry", "gap", far.Bytes())
	v.Refused = append(v.Refused, refusedDeltas(t, h, first, second, late)...)
	v.Refused = append(v.Refused, refusedEntries(t, h)...)
	return v
}

// The file of version 1 must keep its meaning: writing it again gives the same
// bytes, and its values are parsed, verified and refused as it says.
func TestGolden(t *testing.T) {
	path := filepath.Join("testdata", "vectors.json")
	var v vectors
	golden.JSON(t, path, makeVectors(t), &v, *update)
	for _, s := range v.Signing {
		if !Verify([]byte(s.Public), s.Domain, s.Message, s.Signature) || !bytes.Equal(signed(s.Domain, s.Message), s.Signed) {
			t.Errorf("signing in %s", s.Domain)
		}
	}
	s := new(State)
	for i, ev := range v.Log {
		e, err := ParseEntry(ev.Wire)
		if err == nil {
			err = s.Append(e)
		}
		if err != nil || e.Hash() != ev.Hash || sha256.Sum256(ev.Entry) != [32]byte(ev.Hash) || s.Epoch() != ev.Epoch {
			t.Fatalf("log %d: %v", i+1, err)
		}
		var members []string
		for _, m := range s.Members() {
			members = append(members, m.ID.String()+" "+m.Role.String())
		}
		if !slices.Equal(members, ev.Members) {
			t.Errorf("log %d: members %v", i+1, members)
		}
	}
	var last Link // of the phone's chain
	for _, dv := range v.Deltas {
		d, err := ParseDelta(dv.Wire)
		if err == nil && d.Header.Member == phone.id {
			if err = last.Check(&d.Header); err == nil {
				last = d.Header.Next()
			}
		}
		if err == nil {
			err = s.Accepts(&d.Header, d.Signature)
		}
		if err != nil || d.Header.Hash() != dv.Hash || d.Header.Context() != dv.Context || !bytes.Equal(d.WithoutBody().Bytes(), dv.Bare) {
			t.Errorf("%s: %v", dv.Name, err)
		}
	}
	reasons := map[string]error{"form": ErrForm, "signature": ErrSignature, "body": ErrBody, "rule": ErrRule, "gap": ErrGap, "known": ErrKnown,
		"head": ErrUnknownHead, "older": ErrRule}
	for _, r := range v.Refused {
		var err error
		switch r.What {
		case "delta", "chained":
			var d *Delta
			if d, err = ParseDelta(r.Wire); err != nil {
				break
			}
			if err = s.Accepts(&d.Header, d.Signature); err == nil && r.What == "chained" {
				err = last.Check(&d.Header)
			} else if err == nil {
				err = d.Verify(phone.public())
			}
		default:
			on := s.Clone()
			if r.What == "founding" {
				on = new(State)
			}
			var e *Entry
			if e, err = ParseEntry(r.Wire); err == nil {
				err = on.Append(e)
			}
		}
		var fork *ForkError
		if r.Reason == "fork" && !errors.As(err, &fork) || r.Reason != "fork" && !errors.Is(err, reasons[r.Reason]) || err == nil {
			t.Errorf("%s: %v, want %s", r.Name, err, r.Reason)
		}
	}
}
