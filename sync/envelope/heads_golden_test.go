package envelope

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locket-dev/locket/internal/testing/golden"
)

// headsVectors is testdata/heads.json, described in testdata/README.md.
type headsVectors struct {
	Log     []hexBytes   `json:"log"`
	Taken   []headsCase  `json:"taken"`
	Refused []headsCase  `json:"refused"`
	Of      []headsPlace `json:"places"` // places of the first one in taken
}

type headsCase struct {
	Name   string `json:"name"`
	Text   string `json:"text"`
	Reason string `json:"reason,omitempty"`
}

type headsPlace struct {
	Member      string   `json:"member"`
	Incarnation hexBytes `json:"incarnation"`
	Seq         uint64   `json:"seq"`
	Hash        Hash     `json:"hash"`
}

func makeHeadsVectors(t *testing.T) (v headsVectors) {
	t.Helper()
	h := household(t)
	h.append(glasses, &Entry{Action: Add, Epoch: 1, Member: other.member(Owner), Wraps: wrapTo(other.id)})
	h.append(theRoot, h.removal(other))
	for _, e := range h.entries {
		v.Log = append(v.Log, e.Bytes())
	}
	d := h.delta(glasses, nil, "of the glasses")
	made := func(by actor, signer actor, change func(*Heads)) *Heads {
		out := &Heads{Space: space, Member: by.id, Log: h.state.N(), Head: h.state.Head(), At: 1_790_000_100,
			Places: []Place{{d.Header.Member, d.Header.Incarnation, d.Header.Seq, d.Header.Hash()}}}
		change(out)
		if err := out.Sign(KeySigner(signer.key)); err != nil {
			t.Fatal(err)
		}
		return out
	}
	as := func(*Heads) {}
	take := func(name, text string) { v.Taken = append(v.Taken, headsCase{Name: name, Text: text}) }
	refuse := func(name, reason, text string) { v.Refused = append(v.Refused, headsCase{name, text, reason}) }
	right := made(phone, phone, as).String()
	v.Of = []headsPlace{{d.Header.Member.String(), hexBytes{0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88}, 1, d.Header.Hash()}}
	take("of the writer", right)
	take("with white space", " "+right[:40]+"\n"+right[40:80]+"\t"+right[80:]+"\n")
	take("of a reader, with no chain", made(reader, reader, func(h *Heads) { h.Places = nil }).String())
	take("of a shorter log", made(phone, phone, func(x *Heads) { x.Log, x.Head = 5, h.entries[4].Hash() }).String())
	take("of a longer log", made(phone, phone, func(x *Heads) { x.Log, x.Head = 9, Hash{9} }).String())

	refuse("another log", "fork", made(phone, phone, func(h *Heads) { h.Head[0] ^= 1 }).String())
	refuse("another log, shorter", "fork", made(phone, phone, func(h *Heads) { h.Log-- }).String())
	refuse("of another space", "rule", made(phone, phone, func(h *Heads) { h.Space[0] ^= 1 }).String())
	refuse("of one who was removed", "rule", made(other, other, as).String())
	stranger := newActor("nobody")
	refuse("of no member", "rule", made(stranger, stranger, as).String())
	refuse("of one who may come later in the log", "unknown-head", made(stranger, stranger, func(h *Heads) { h.Log, h.Head = 9, Hash{9} }).String())
	refuse("signed by another", "signature", made(phone, glasses, as).String())
	refuse("cut", "form", right[:len(right)-2])
	refuse("another beginning", "form", strings.Replace(right, "heads-1", "heads-2", 1))
	refuse("with padding", "form", right+"=")
	twice := made(phone, phone, as)
	twice.Places = append(twice.Places, twice.Places[0])
	refuse("a place twice", "form", twice.String())
	none := made(phone, phone, as)
	none.Log = 0
	refuse("no log", "form", none.String())
	return v
}

func TestHeadsGolden(t *testing.T) {
	var v headsVectors
	golden.JSON(t, filepath.Join("testdata", "heads.json"), makeHeadsVectors(t), &v, *update)
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
	look := func(text string) error {
		h, err := ParseHeadsText(text)
		if err != nil {
			return err
		}
		return s.AcceptsHeads(h)
	}
	for _, c := range v.Taken {
		if err := look(c.Text); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
	}
	reasons := map[string]error{"form": ErrForm, "signature": ErrSignature, "rule": ErrRule, "unknown-head": ErrUnknownHead}
	for _, c := range v.Refused {
		err := look(c.Text)
		var fork *ForkError
		if c.Reason == "fork" && !errors.As(err, &fork) || c.Reason != "fork" && !errors.Is(err, reasons[c.Reason]) {
			t.Errorf("%s: %v, want %s", c.Name, err, c.Reason)
		}
	}
}
