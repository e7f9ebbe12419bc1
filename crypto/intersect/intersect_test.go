package intersect

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cloudflare/circl/group"
	"pgregory.net/rapid"
)

type fataler interface {
	Helper()
	Fatal(...any)
}

func made(t fataler, elements []string) (*Side, Offer) {
	t.Helper()
	s, err := New(elements)
	if err != nil {
		t.Fatal(err)
	}
	o, err := s.Offer()
	if err == nil {
		err = o.Check()
	}
	if err != nil {
		t.Fatal(err)
	}
	return s, o
}

// compared runs both directions of both stages, and returns what a learns of b.
func compared(t fataler, a, b *Side, oa, ob *Offer) (count int, which []string) {
	t.Helper()
	answer, err := b.CountFor(oa)
	if err != nil {
		t.Fatal(err)
	}
	if count, err = a.OpenCount(answer); err != nil {
		t.Fatal(err)
	}
	ev, err := b.CommonFor(oa)
	if err != nil {
		t.Fatal(err)
	}
	if which, err = a.Common(ob, &ev); err != nil {
		t.Fatal(err)
	}
	return count, which
}

// TestExactlyTheIntersection compares random sets: the elements completely, and the counts without
// padding, because padding makes a count a thousand times as much work.
func TestExactlyTheIntersection(t *testing.T) {
	set := rapid.SliceOfNDistinct(rapid.SampledFrom(strings.Fields("bees chess 园艺 go 围棋 jazz rust soup tea yoga zen drums")), 1, 6, rapid.ID)
	elements := func(s *Side) (out [][]byte) {
		for _, in := range s.Inputs {
			if in[0] == 1 {
				out = append(out, in)
			}
		}
		return out
	}
	rapid.Check(t, func(t *rapid.T) {
		as, bs := set.Draw(t, "a"), set.Draw(t, "b")
		var want []string
		for _, e := range as {
			if slices.Contains(bs, e) {
				want = append(want, e)
			}
		}
		slices.Sort(want)
		a, err := New(as)
		if err != nil {
			t.Fatal(err)
		}
		b, ob := made(t, bs)
		_, count, blinds, _ := a.numbers()
		var blinded [][]byte
		for i, in := range a.Inputs {
			blinded = append(blinded, pointBytes(blind(in, blinds[i])))
		}
		ev, err := b.CommonFor(&Offer{Blinded: blinded})
		if err != nil {
			t.Fatal(err)
		}
		if which, err := a.Common(&ob, &ev); err != nil || !slices.Equal(which, want) {
			t.Fatalf("%q and %q: %q, %v; want %q", as, bs, which, err, want)
		}
		var poly, answer []cipher
		key := curve.NewElement().MulGen(count)
		for _, c := range coefficients(elements(a)) {
			poly = append(poly, sealNumber(key, c))
		}
		for _, x := range evaluateSealed(key, poly, elements(b)) {
			u, _ := readPoint(x[:PointSize])
			v, _ := readPoint(x[PointSize:])
			answer = append(answer, cipher{u, v})
		}
		if n := zeros(count, answer); n != len(want) {
			t.Fatalf("%q and %q: %d, want %d", as, bs, n, len(want))
		}
	})
}

// TestBothWays compares in both directions, like two people, including full, equal and disjoint
// sets.
func TestBothWays(t *testing.T) {
	var full []string
	for i := range MaxSet {
		full = append(full, fmt.Sprint("thing ", i))
	}
	for name, c := range map[string]struct{ a, b, want []string }{
		"some": {[]string{"bees", "围棋", "soup"}, []string{"围棋", "tea", "bees"}, []string{"bees", "围棋"}},
		"none": {[]string{"bees"}, []string{"wasps"}, nil},
		"full": {full, full[1:], full[1:]},
	} {
		a, oa := made(t, c.a)
		b, ob := made(t, c.b)
		slices.Sort(c.want)
		for range 2 {
			if n, which := compared(t, a, b, &oa, &ob); n != len(c.want) || !slices.Equal(which, c.want) {
				t.Errorf("%s: %d, %q; want %q", name, n, which, c.want)
			}
			a, b, oa, ob = b, a, ob, oa
		}
	}
}

// flat lists everything that a run sends: points and tags.
func flat(o *Offer, count [][]byte, ev *Evaluation) (out [][]byte) {
	out = slices.Concat([][]byte{o.Key, o.Count}, o.Tags, o.Blinded, ev.Elements)
	for _, c := range slices.Concat(o.Poly, count) {
		out = append(out, c[:PointSize], c[PointSize:])
	}
	return out
}

// TestTranscriptRevealsNoElement: somebody who has everything that was sent and guesses every element
// finds none of them in it, while the key finds each. Nothing that was sent occurs in another run.
func TestTranscriptRevealsNoElement(t *testing.T) {
	words := []string{"bees", "chess", "园艺"}
	a, oa := made(t, words)
	b, ob := made(t, []string{"chess", "soup"})
	run := func(s *Side, o, theirs *Offer) [][]byte {
		count, err := s.CountFor(theirs)
		if err != nil {
			t.Fatal(err)
		}
		ev, err := s.CommonFor(theirs)
		if err != nil {
			t.Fatal(err)
		}
		return flat(o, count, &ev)
	}
	sent := slices.Concat(run(a, &oa, &ob), run(b, &ob, &oa))
	in := func(x []byte) bool {
		return slices.ContainsFunc(sent, func(s []byte) bool { return bytes.Equal(s, x) })
	}
	public, _ := readPoint(oa.Key)
	one := curve.NewScalar().SetUint64(1)
	key, _, _, _ := a.numbers()
	for _, w := range words {
		input := append([]byte{1}, w...)
		p, x := hashed(input), root(input)
		for name, guess := range map[string]group.Element{"mapped": p, "with the key": curve.NewElement().Add(p, public), "as a number": curve.NewElement().MulGen(x),
			"as a number under the key": curve.NewElement().Mul(public, x)} {
			if in(pointBytes(guess)) || in(tagOf(input, guess)) {
				t.Errorf("%s %s is in what was sent", w, name)
			}
		}
		if in(output(one, input)) || !in(output(key, input)) {
			t.Errorf("%s: its tag must be found with the key, and not without", w)
		}
	}
	_, again := made(t, words)
	for _, x := range flat(&again, nil, &Evaluation{}) {
		if in(x) {
			t.Errorf("%x was sent in two runs", x)
		}
	}
	if len(oa.Tags) != len(ob.Tags) || len(oa.Poly) != len(ob.Poly) || len(oa.Blinded) != len(ob.Blinded) {
		t.Error("the size of an offer tells the size of the set")
	}
}

// TestCountRevealsNoElement: a side that asks with a made-up polynomial gets numbers of which the
// non-zero ones match no guess, in no order.
func TestCountRevealsNoElement(t *testing.T) {
	a, oa := made(t, []string{"bees", "chess", "soup"})
	var theirs []string
	for i := range MaxSet {
		theirs = append(theirs, fmt.Sprint("thing ", i))
	}
	theirs[5] = "chess"
	b, _ := made(t, theirs)
	_, count, _, err := a.numbers()
	if err != nil {
		t.Fatal(err)
	}
	poly := coefficients(a.Inputs)
	at := func(input []byte) group.Element { // P(x)*G
		x, sum := root(input), curve.NewScalar().SetUint64(1)
		for i := len(poly) - 1; i >= 0; i-- {
			sum.Mul(sum, x)
			sum.Add(sum, poly[i])
		}
		return curve.NewElement().MulGen(sum)
	}
	places := map[int]bool{}
	var first [][]byte
	for range 6 {
		answer, err := b.CountFor(&oa)
		if err != nil {
			t.Fatal(err)
		}
		list, _ := readCiphers(answer)
		for i, c := range list {
			plain := curve.NewElement().Neg(curve.NewElement().Mul(c.u, count))
			plain.Add(plain, c.v)
			if plain.IsIdentity() {
				places[i] = true
				continue
			}
			for _, in := range b.Inputs {
				if plain.IsEqual(at(in)) {
					t.Fatalf("a result opens to the value at %q", in)
				}
			}
			if b := pointBytes(plain); slices.ContainsFunc(first, func(f []byte) bool { return bytes.Equal(f, b) }) {
				t.Fatal("a result opens to the same in two answers")
			} else {
				first = append(first, b)
			}
		}
	}
	if len(places) < 2 {
		t.Errorf("the common element was at %v in each of six answers", places)
	}
}

// TestChangedKeyOrSetIsRefused: an answer with another key, or for other elements, is refused.
func TestChangedKeyOrSetIsRefused(t *testing.T) {
	a, oa := made(t, []string{"bees", "chess"})
	b, ob := made(t, []string{"chess"})
	liar, lied := made(t, []string{"chess", "bees"})
	ev, err := liar.CommonFor(&oa)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Common(&ob, &ev); !errors.Is(err, ErrProof) {
		t.Errorf("another key: %v, want ErrProof", err)
	}
	swapped := ob
	swapped.Tags = lied.Tags // tags under the liar's key, which are not those of the offered key
	if ev, err = b.CommonFor(&oa); err != nil {
		t.Fatal(err)
	}
	if both, err := a.Common(&swapped, &ev); err != nil || len(both) != 0 {
		t.Errorf("tags of another key: %q, %v", both, err)
	}
	ev.Elements[0], ev.Elements[1] = ev.Elements[1], ev.Elements[0]
	if _, err := a.Common(&ob, &ev); !errors.Is(err, ErrProof) {
		t.Errorf("answers in another order: %v, want ErrProof", err)
	}
}

func TestInvalidSets(t *testing.T) {
	for name, set := range map[string][]string{"empty": nil, "too many": strings.Fields(strings.Repeat("x ", 33)), "twice": {"a", "a"}, "no name": {""}, "1 MB": {strings.Repeat("x", 1<<20)}} {
		if _, err := New(set); !errors.Is(err, ErrSet) {
			t.Errorf("%s: %v, want ErrSet", name, err)
		}
	}
	_, good := made(t, []string{"a"})
	for name, change := range map[string]func(*Offer){
		"no tags":        func(o *Offer) { o.Tags = nil },
		"a short tag":    func(o *Offer) { o.Tags[3] = o.Tags[3][:8] },
		"a tag twice":    func(o *Offer) { o.Tags[3] = o.Tags[2] },
		"33 blinded":     func(o *Offer) { o.Blinded = append(o.Blinded, o.Blinded[0]) },
		"the identity":   func(o *Offer) { o.Blinded[0] = make([]byte, PointSize) },
		"no key":         func(o *Offer) { o.Key = nil },
		"count under 0":  func(o *Offer) { o.Count = make([]byte, PointSize) },
		"no polynomial":  func(o *Offer) { o.Poly = nil },
		"half a number":  func(o *Offer) { o.Poly[0] = o.Poly[0][:PointSize] },
		"not an element": func(o *Offer) { o.Poly[0] = bytes.Repeat([]byte{255}, CipherSize) },
	} {
		o := good
		o.Tags, o.Blinded, o.Poly = slices.Clone(o.Tags), slices.Clone(o.Blinded), slices.Clone(o.Poly)
		change(&o)
		if err := o.Check(); !errors.Is(err, ErrForm) {
			t.Errorf("%s: %v, want ErrForm", name, err)
		}
	}
}
