package envelope

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/locket-dev/locket/internal/testing/golden"
)

// checkpointVectors is testdata/checkpoints.json, described in testdata/README.md.
type checkpointVectors struct {
	Log     []hexBytes        `json:"log"`
	Signed  []checkpointCase  `json:"signed"`
	Refused []refusedVector   `json:"refused"`
	Stands  []standingVector  `json:"standing"`
	Of      map[string]string `json:"members"`
}

type checkpointCase struct {
	Name    string   `json:"name"`
	What    string   `json:"what"` // checkpoint, vote
	Seed    hexBytes `json:"seed"`
	Message hexBytes `json:"message"`
	Hash    Hash     `json:"hash"`
	Wire    hexBytes `json:"wire"`
}

type standingVector struct {
	Name     string     `json:"name"`
	Wire     hexBytes   `json:"checkpoint"`
	Votes    []hexBytes `json:"votes"`
	Standing string     `json:"standing"`
}

var standings = map[Standing]string{Unverified: "unverified", Verified: "verified", Disputed: "disputed"}

func (h *history) checkpoint(by actor, ds ...*Delta) *Checkpoint {
	h.t.Helper()
	c := &Checkpoint{Space: space, Author: by.id, Head: h.state.Head(), Epoch: h.state.Epoch(), At: 1_790_000_100, Cursor: uint64(len(ds)),
		Manifest: Hash{7}, Size: 300}
	for _, d := range ds {
		c.Places = append(c.Places, Place{d.Header.Member, d.Header.Incarnation, d.Header.Seq, d.Header.Hash()})
	}
	if err := c.Sign(KeySigner(by.key)); err != nil {
		h.t.Fatal(err)
	}
	return c
}

func (h *history) vote(by actor, c *Checkpoint, v Verdict) *Vote {
	h.t.Helper()
	out := &Vote{Space: space, Member: by.id, Checkpoint: c.Hash(), Verdict: v, Head: h.state.Head()}
	if err := out.Sign(KeySigner(by.key)); err != nil {
		h.t.Fatal(err)
	}
	return out
}

func makeCheckpointVectors(t *testing.T) checkpointVectors {
	h := household(t)
	ds := []*Delta{h.delta(glasses, nil, "of the glasses"), h.delta(phone, nil, "of the phone")}
	early := h.checkpoint(glasses, ds...)
	h.append(glasses, &Entry{Action: Add, Epoch: 1, Member: other.member(Owner), Wraps: wrapTo(other.id)})
	gone := h.checkpoint(other, ds...)
	goneVote := h.vote(other, early, Agree)
	h.append(theRoot, h.removal(other))
	good := h.checkpoint(glasses, ds...)
	agree, object := h.vote(phone, good, Agree), h.vote(phone, good, Object)
	own, ofWorker := h.vote(glasses, good, Agree), h.vote(worker, good, Agree)

	v := checkpointVectors{Of: map[string]string{"owner": glasses.id.String(), "writer": phone.id.String(), "removed owner": other.id.String(), "extractor": worker.id.String()}}
	for _, e := range h.entries {
		v.Log = append(v.Log, e.Bytes())
	}
	v.Signed = append(v.Signed, checkpointCase{"of the owner", "checkpoint", glasses.seed(), encode(good), good.Hash(), good.Bytes()},
		checkpointCase{"the writer agrees", "vote", phone.seed(), encode(agree), agree.Hash(), agree.Bytes()},
		checkpointCase{"the writer objects", "vote", phone.seed(), encode(object), object.Hash(), object.Bytes()})
	many := *good
	many.Places = manyPlaces(257)
	if err := many.Sign(KeySigner(glasses.key)); err != nil {
		t.Fatal(err)
	}
	v.Signed = append(v.Signed, checkpointCase{"of 257 chains", "checkpoint", glasses.seed(), encode(&many), many.Hash(), many.Bytes()})
	refuse := func(name, what, reason string, wire []byte) {
		v.Refused = append(v.Refused, refusedVector{name, what, wire, reason})
	}
	of := func(change func(c *Checkpoint), sign actor) []byte {
		c := *good
		change(&c)
		sig, err := KeySigner(sign.key)(DomainCheckpoint, encode(&c))
		if err != nil {
			t.Fatal(err)
		}
		c.Signature = sig
		return c.Bytes()
	}
	refuse("of an owner who was removed since", "checkpoint", "rule", gone.Bytes())
	refuse("of a writer", "checkpoint", "rule", of(func(c *Checkpoint) { c.Author = phone.id }, phone))
	refuse("signed by another", "checkpoint", "signature", of(func(*Checkpoint) {}, phone))
	refuse("of another space", "checkpoint", "rule", of(func(c *Checkpoint) { c.Space[0] ^= 1 }, glasses))
	refuse("under an epoch that was not in force", "checkpoint", "rule", of(func(c *Checkpoint) { c.Epoch-- }, glasses))
	refuse("of a head that is not known", "checkpoint", "unknown-head", of(func(c *Checkpoint) { c.Head[0] ^= 1 }, glasses))
	refuse("covers a stranger", "checkpoint", "rule", of(func(c *Checkpoint) { c.Places = []Place{{newActor("nobody").id, 1, 1, Hash{1}}} }, glasses))
	refuse("places in another order", "checkpoint", "form", of(func(c *Checkpoint) { c.Places = []Place{good.Places[1], good.Places[0]} }, glasses))
	refuse("no cursor", "checkpoint", "form", of(func(c *Checkpoint) { c.Cursor = 0 }, glasses))
	refuse("a byte more", "checkpoint", "form", append(good.Bytes(), 0))
	refuse("of an extractor", "vote", "rule", ofWorker.Bytes())
	refuse("of one who was removed", "vote", "rule", goneVote.Bytes())
	swapped := *agree
	swapped.Verdict = Object
	refuse("another verdict under the signature", "vote", "signature", swapped.Bytes())
	three := *agree
	three.Verdict = 3
	refuse("verdict 3", "vote", "form", three.Bytes())
	for _, s := range []struct {
		name  string
		c     *Checkpoint
		votes []*Vote
	}{
		{"on the author's word", good, nil}, {"the author agrees with itself", good, []*Vote{own}}, {"an extractor agrees", good, []*Vote{ofWorker}},
		{"another agrees", good, []*Vote{agree}}, {"another objects", good, []*Vote{agree, object}}, {"of another checkpoint", early, []*Vote{agree}},
		{"agreed by one who was removed", early, []*Vote{goneVote}},
	} {
		sv := standingVector{Name: s.name, Wire: s.c.Bytes(), Standing: standings[h.state.Standing(s.c, s.votes)]}
		for _, vote := range s.votes {
			sv.Votes = append(sv.Votes, vote.Bytes())
		}
		v.Stands = append(v.Stands, sv)
	}
	return v
}

// manyPlaces returns n chains of one member.
func manyPlaces(n int) (out []Place) {
	for i := range n {
		out = append(out, Place{Member: phone.id, Incarnation: uint64(i + 1), Seq: 1, Hash: Hash{1, byte(i >> 8), byte(i)}})
	}
	return out
}

// The largest possible checkpoint and heads can be parsed. With one more chain
// they are refused.
func TestCheckpointWithMostChains(t *testing.T) {
	h := household(t)
	c := h.checkpoint(glasses, h.delta(glasses, nil, "of the glasses"))
	c.Cursor, c.At, c.Size = 1<<64-1, -1<<63, MaxBody
	heads := &Heads{Space: c.Space, Member: glasses.id, Log: 1<<64 - 1, Head: c.Head, At: -1 << 63}
	largest := func(n int) []Place {
		ps := manyPlaces(n)
		for i := range ps {
			ps[i].Incarnation += 1 << 63
			ps[i].Seq = 1<<64 - 1
		}
		return ps
	}
	c.Places, heads.Places = largest(MaxPlaces), largest(MaxPlaces)
	sign := KeySigner(glasses.key)
	if err := errors.Join(c.Sign(sign), heads.Sign(sign)); err != nil {
		t.Fatal(err)
	}
	if got, err := ParseCheckpoint(c.Bytes()); err != nil || !slices.Equal(got.Places, c.Places) || h.state.AcceptsCheckpoint(got) != nil {
		t.Errorf("a checkpoint of %d bytes: %v", len(c.Bytes()), err)
	}
	if got, err := ParseHeadsText(heads.String()); err != nil || !slices.Equal(got.Places, heads.Places) {
		t.Errorf("heads of %d bytes: %v", len(heads.Bytes()), err)
	}
	c.Places, heads.Places = manyPlaces(MaxPlaces+1), manyPlaces(MaxPlaces+1)
	for what, err := range map[string]error{"checkpoint": c.Sign(sign), "heads": heads.Sign(sign)} {
		if !errors.Is(err, ErrForm) {
			t.Errorf("%s of one more: %v", what, err)
		}
	}
	if _, err := ParseCheckpoint(c.Bytes()); !errors.Is(err, ErrForm) {
		t.Errorf("a checkpoint of one more: %v", err)
	}
}

func TestCheckpointGolden(t *testing.T) {
	path := filepath.Join("testdata", "checkpoints.json")
	var v checkpointVectors
	golden.JSON(t, path, makeCheckpointVectors(t), &v, *update)
	s := new(State)
	for _, b := range v.Log {
		e, err := ParseEntry(b)
		if err == nil {
			err = s.Append(e)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	look := func(what string, wire []byte) (Hash, error) {
		if what == "vote" {
			vote, err := ParseVote(wire)
			if err != nil {
				return Hash{}, err
			}
			return vote.Hash(), s.AcceptsVote(vote)
		}
		c, err := ParseCheckpoint(wire)
		if err != nil {
			return Hash{}, err
		}
		return c.Hash(), s.AcceptsCheckpoint(c)
	}
	for _, c := range v.Signed {
		if h, err := look(c.What, c.Wire); err != nil || h != c.Hash {
			t.Errorf("%s: %s, %v", c.Name, h, err)
		}
	}
	reasons := map[string]error{"form": ErrForm, "signature": ErrSignature, "rule": ErrRule, "unknown-head": ErrUnknownHead}
	for _, r := range v.Refused {
		if _, err := look(r.What, r.Wire); err == nil || !errors.Is(err, reasons[r.Reason]) {
			t.Errorf("%s: %v, want %s", r.Name, err, r.Reason)
		}
	}
	want := map[string]string{"on the author's word": "unverified", "the author agrees with itself": "unverified", "an extractor agrees": "unverified",
		"another agrees": "verified", "another objects": "disputed", "of another checkpoint": "unverified", "agreed by one who was removed": "unverified"}
	for _, sv := range v.Stands {
		c, err := ParseCheckpoint(sv.Wire)
		if err != nil {
			t.Fatal(err)
		}
		var votes []*Vote
		for _, b := range sv.Votes {
			vote, err := ParseVote(b)
			if err != nil {
				t.Fatal(err)
			}
			votes = append(votes, vote)
		}
		if got := standings[s.Standing(c, votes)]; got != sv.Standing || got != want[sv.Name] {
			t.Errorf("%s: %s, want %s", sv.Name, got, want[sv.Name])
		}
	}
}

// If the author is the only owner or writer, its own word is enough.
func TestCheckpointOfASingleMember(t *testing.T) {
	h := &history{t: t, state: new(State)}
	h.append(theRoot, founding())
	d := h.delta(glasses, nil, "alone")
	c := h.checkpoint(glasses, d)
	if got := h.state.Standing(c, nil); got != Verified {
		t.Errorf("alone: %s", standings[got])
	}
	h.append(glasses, &Entry{Action: Add, Epoch: 1, Member: reader.member(Reader), Wraps: wrapTo(reader.id)})
	if got := h.state.Standing(c, nil); got != Verified {
		t.Errorf("with a reader: %s", standings[got])
	}
	h.append(glasses, &Entry{Action: Add, Epoch: 1, Member: phone.member(Owner), Wraps: wrapTo(phone.id)})
	if got := h.state.Standing(c, nil); got != Unverified {
		t.Errorf("with another owner: %s", standings[got])
	}
	for i := range c.Bytes() { // each changed byte is refused
		b := c.Bytes()
		b[i] ^= 1
		if back, err := ParseCheckpoint(b); err == nil && h.state.AcceptsCheckpoint(back) == nil {
			t.Fatalf("byte %d changed, and taken", i)
		}
	}
}
