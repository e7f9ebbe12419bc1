package envelope

import (
	"bytes"
	"errors"
	"testing"

	"github.com/locket-dev/locket/memory"
)

func TestDeltaRoundTrip(t *testing.T) {
	h := household(t)
	d := h.delta(phone, nil, "sealed body")
	for _, want := range []*Delta{d, d.WithoutBody(), h.delta(phone, &d.Header, "second")} {
		got, err := ParseDelta(want.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if err := got.Verify(phone.public()); err != nil {
			t.Fatal(err)
		}
		if got.Header != want.Header || !bytes.Equal(got.Body, want.Body) || (got.Body == nil) != (want.Body == nil) {
			t.Errorf("came back as %+v", got)
		}
		if err := h.state.Accepts(&got.Header, got.Signature); err != nil {
			t.Error(err)
		}
	}
}

// Any single changed bit of a delta must be detected by the parser, by the
// signature, or by the body's hash.
func TestEveryBitOfADeltaCounts(t *testing.T) {
	h := household(t)
	for _, d := range []*Delta{h.delta(phone, nil, "sealed body"), h.delta(phone, nil, "sealed body").WithoutBody()} {
		wire := d.Bytes()
		for i := range len(wire) * 8 {
			b := bytes.Clone(wire)
			b[i/8] ^= 1 << (i % 8)
			got, err := ParseDelta(b)
			if err == nil {
				err = got.Verify(phone.public())
			}
			if err == nil {
				t.Fatalf("bit %d of byte %d changed unseen", i%8, i/8)
			}
			if !errors.Is(err, ErrForm) && !errors.Is(err, ErrSignature) && !errors.Is(err, ErrBody) {
				t.Fatalf("bit %d of byte %d: %v", i%8, i/8, err)
			}
		}
	}
}

func TestDeltaIsRefused(t *testing.T) {
	h := household(t)
	good := h.delta(phone, nil, "sealed body")
	wire := good.Bytes()
	header := good.Header.Bytes()
	reparse := func(hdr []byte) []byte {
		return encode(wireDelta{Header: hdr, Signature: good.Signature, Body: good.Body})
	}
	for name, b := range map[string][]byte{
		"nothing":              {},
		"cut":                  wire[:len(wire)-1],
		"longer":               append(bytes.Clone(wire), 0),
		"empty body":           encode(wireDelta{Header: header, Signature: good.Signature, Body: []byte{}}),
		"short signature":      encode(wireDelta{Header: header, Signature: good.Signature[:63], Body: good.Body}),
		"indefinite array":     append(append([]byte{0x9f}, wire[1:]...), 0xff),
		"long length of array": append([]byte{0x98, 3}, wire[1:]...),
		"version as u8":        reparse(append([]byte{header[0], 1, 0x18, 1}, header[3:]...)),
		"keys out of order":    reparse(append(append([]byte{header[0]}, header[3:21]...), append(header[1:3:3], header[21:]...)...)),
		"a key twice":          reparse(append(append([]byte{header[0] + 1}, header[1:3]...), header[1:]...)),
		"a key more":           reparse(append(append([]byte{header[0] + 1}, header[1:]...), 11, 0)),
		"a tag around":         append([]byte{0xc1}, wire...),
		"space as array":       reparse(bytes.Replace(header, append([]byte{2, 0x50}, space[:]...), append([]byte{2, 0x90}, space[:]...), 1)),
		"space cut short":      reparse(bytes.Replace(header, append([]byte{2, 0x50}, space[:]...), append([]byte{2, 0x4f}, space[:15]...), 1)),
		"space too long":       reparse(bytes.Replace(header, append([]byte{2, 0x50}, space[:]...), append([]byte{2, 0x51}, append(space[:], 0)...), 1)),
		"too large":            make([]byte, MaxDelta+1),
	} {
		if _, err := ParseDelta(b); !errors.Is(err, ErrForm) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, change := range map[string]func(*Header){
		"version":       func(h *Header) { h.Version = 2 },
		"no space":      func(h *Header) { h.Space = memory.SpaceID{} },
		"no member":     func(h *Header) { h.Member = memory.MemberID{} },
		"seq 0":         func(h *Header) { h.Seq = 0 },
		"prev of first": func(h *Header) { h.Prev = Hash{1} },
		"no prev":       func(h *Header) { h.Seq = 2 },
		"no head":       func(h *Header) { h.Head = Hash{} },
		"epoch 0":       func(h *Header) { h.Epoch = 0 },
		"no body":       func(h *Header) { h.BodySize = 0 },
		"huge body":     func(h *Header) { h.BodySize = MaxBody + 1 },
	} {
		bad := good.Header
		change(&bad)
		if _, err := ParseHeader(bad.Bytes()); !errors.Is(err, ErrForm) {
			t.Errorf("%s: %v", name, err)
		}
		if err := bad.Verify(phone.public(), good.Signature); !errors.Is(err, ErrForm) {
			t.Errorf("%s: verify: %v", name, err)
		}
	}
	if err := good.Verify(glasses.public()); !errors.Is(err, ErrSignature) {
		t.Errorf("another's key: %v", err)
	}
	swapped := *good
	swapped.Body = []byte("another bod")
	if err := swapped.Verify(phone.public()); !errors.Is(err, ErrBody) {
		t.Errorf("another body: %v", err)
	}
	if _, err := Sign(good.Header, nil, KeySigner(phone.key)); !errors.Is(err, ErrForm) {
		t.Errorf("sign no body: %v", err)
	}
	if _, err := Sign(good.Header, make([]byte, MaxBody+1), KeySigner(phone.key)); !errors.Is(err, ErrForm) {
		t.Errorf("sign a body that is too large: %v", err)
	}
	refusal := errors.New("no key")
	if _, err := Sign(good.Header, []byte("x"), func(string, []byte) ([]byte, error) { return nil, refusal }); !errors.Is(err, refusal) {
		t.Errorf("signer fails: %v", err)
	}
}

// A signature for the log is invalid for a delta, even over the same bytes.
func TestSignatureDomainsAreSeparate(t *testing.T) {
	msg := []byte("the same bytes")
	sig, _ := KeySigner(phone.key)(DomainLog, msg)
	if !Verify(phone.public(), DomainLog, msg, sig) || Verify(phone.public(), DomainDelta, msg, sig) {
		t.Error("a domain doesn't count")
	}
	if Verify(nil, DomainLog, msg, sig) {
		t.Error("no key verifies")
	}
}

func TestChain(t *testing.T) {
	h := household(t)
	first := h.delta(phone, nil, "1")
	second := h.delta(phone, &first.Header, "2")
	third := h.delta(phone, &second.Header, "3")
	otherSecond := h.delta(phone, &first.Header, "two")
	otherThird := h.delta(phone, &otherSecond.Header, "3")

	var l Link
	if err := l.Check(&second.Header); !errors.Is(err, ErrGap) {
		t.Errorf("second before first: %v", err)
	}
	for _, d := range []*Delta{first, second} {
		if err := l.Check(&d.Header); err != nil {
			t.Fatal(err)
		}
		l = d.Header.Next()
	}
	if err := l.Check(&second.Header); !errors.Is(err, ErrKnown) {
		t.Errorf("again: %v", err)
	}
	if err := l.Check(&first.Header); !errors.Is(err, ErrRule) {
		t.Errorf("older: %v", err)
	}
	var fork *ForkError
	if err := l.Check(&otherSecond.Header); !errors.As(err, &fork) || fork.Ours != second.Header.Hash() || fork.Theirs != otherSecond.Header.Hash() {
		t.Errorf("another second: %v", err)
	}
	if err := l.Check(&otherThird.Header); !errors.As(err, &fork) || fork.At != 2 || fork.Theirs != otherSecond.Header.Hash() {
		t.Errorf("third after another second: %v", err)
	}
	if err := l.Check(&third.Header); err != nil {
		t.Error(err)
	}
}

// The context is the same before and after sealing, and differs if anything
// differs that a body must be bound to.
func TestContext(t *testing.T) {
	h := household(t)
	d := h.delta(phone, nil, "sealed")
	c := d.Header
	c.BodyHash, c.BodySize = Hash{}, 0
	if c.Context() != d.Header.Context() {
		t.Error("context depends on the body")
	}
	for name, change := range map[string]func(*Header){
		"space":       func(h *Header) { h.Space[0]++ },
		"member":      func(h *Header) { h.Member[0]++ },
		"incarnation": func(h *Header) { h.Incarnation++ },
		"seq":         func(h *Header) { h.Seq++ },
		"prev":        func(h *Header) { h.Prev[0]++ },
		"head":        func(h *Header) { h.Head[0]++ },
		"epoch":       func(h *Header) { h.Epoch++ },
	} {
		x := d.Header
		change(&x)
		if x.Context() == d.Header.Context() {
			t.Errorf("%s is not in the context", name)
		}
	}
}
