package page

import (
	"bytes"
	"slices"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

// Any input is refused, or within its limits.
func FuzzDecode(f *testing.F) {
	f.Add(EncodeItems([][]byte{{1, 2, 3}, {}}))
	f.Add(EncodeRefs([]Ref{{Member: memory.MemberID{1}, Incarnation: 1 << 63, Seq: 1}}))
	f.Add(EncodePlaced([]Placed{{Cursor: 1, Delta: []byte{1}}, {Cursor: 2, Delta: nil}}))
	f.Add(EncodeCursors([]uint64{1, 2, 3}))
	f.Add(EncodePlaces([]envelope.Place{{Member: memory.MemberID{1}, Incarnation: 1 << 63, Seq: 1, Hash: envelope.Hash{2}}}))
	f.Add(bytes.Repeat([]byte{0x81}, 100))
	f.Fuzz(func(t *testing.T, b []byte) {
		if items, err := DecodeItems(b, 2); err == nil && len(items) > 2 {
			t.Fatal(len(items))
		}
		if refs, err := DecodeRefs(b); err == nil && len(refs) > MaxRefs {
			t.Fatal(len(refs))
		}
		ds, err := DecodePlaced(b, 7)
		for i, d := range ds {
			if err == nil && d.Cursor != 8+uint64(i) {
				t.Fatal(ds)
			}
		}
		if ps, err := DecodePlaces(b); err == nil && len(ps) > envelope.MaxPlaces {
			t.Fatal(len(ps))
		}
		if c, err := DecodeCursors(b, 3); err == nil && len(c) != 3 {
			t.Fatal(c)
		}
	})
}

func TestRoundTrip(t *testing.T) {
	items, err := DecodeItems(EncodeItems([][]byte{{1}, {2, 3}}), 2)
	if err != nil || len(items) != 2 || !bytes.Equal(items[1], []byte{2, 3}) {
		t.Fatal(items, err)
	}
	if items, err = DecodeItems(EncodeItems(nil), 2); err != nil || len(items) != 0 {
		t.Fatal(items, err)
	}
	want := Ref{Member: memory.MemberID{1, 2}, Incarnation: 1<<64 - 1, Seq: 9}
	refs, err := DecodeRefs(EncodeRefs([]Ref{want}))
	if err != nil || len(refs) != 1 || refs[0] != want {
		t.Fatal(refs, err)
	}
	ds, err := DecodePlaced(EncodePlaced([]Placed{{Cursor: 5, Delta: []byte{6}}}), 4)
	if err != nil || len(ds) != 1 || ds[0].Cursor != 5 || !bytes.Equal(ds[0].Delta, []byte{6}) {
		t.Fatal(ds, err)
	}
	places := make([]envelope.Place, envelope.MaxPlaces)
	for i := range places {
		places[i] = envelope.Place{Member: memory.MemberID{1}, Incarnation: 1<<64 - 1, Seq: 1<<64 - 1, Hash: envelope.Hash{2}}
	}
	if b := EncodePlaces(places); len(b) > MaxPlaces {
		t.Fatal(len(b))
	}
	if got, err := DecodePlaces(EncodePlaces(places)); err != nil || !slices.Equal(got, places) {
		t.Fatal(len(got), err)
	}
	if got, err := DecodePlaces(EncodePlaces(append(places, places[0]))); err == nil {
		t.Fatal(len(got))
	}
	if p, kind := ParseProblem([]byte(`{"type":"urn:locket:problem:quota","status":429}`)); kind != Quota || p.Status != 429 {
		t.Fatal(p, kind)
	}
	for _, other := range []string{"", "x", "{}", `{"type":"about:blank"}`, `{"type":"urn:locket:problem:"}`} {
		if _, kind := ParseProblem([]byte(other)); kind != "" {
			t.Errorf("%q is %q", other, kind)
		}
	}
}
