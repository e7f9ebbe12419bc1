package recall

import (
	"bytes"
	"encoding/hex"
	"errors"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/graph"
)

var update = flag.Bool("update", false, "write the golden files")

// sample is an index with every kind of field set somewhere.
func sample(t testing.TB, s Segments) *Index {
	x := openOn(t, s, Options{})
	docs := []Doc{
		{ID: idOf(1), Kind: Utterance, Session: "s1", At: june, Order: 1, Zone: "Europe/Paris", Speaker: "Ana Silva", Text: "Shall we meet at the dentist's on Tuesday?"},
		{ID: idOf(2), Kind: Utterance, Session: "s1", At: june.Add(time.Minute), Order: 2, Speaker: "Ben", Text: "好的，下周二十点在牙医那里见。", Place: "Office"},
		{ID: idOf(3), Kind: Memory, Type: memory.Episodic, At: june, Text: "Ana meets Ben at the dentist", Entities: []string{"Ana", "Ben"}, Source: idOf(1), Pinned: true},
		{ID: idOf(4), Kind: Memory, Type: memory.Semantic, Text: "The wifi password hint is the cat's name, 3 letters, said Tom Bell",
			Relations: []graph.Relation{{Subject: "Ana", Predicate: "sister of", Object: "Tom Bell", From: june}}},
	}
	if err := x.Add(docs...); err != nil {
		t.Fatal(err)
	}
	return x
}

func TestGoldenSegment(t *testing.T) {
	s := newShelf()
	if err := sample(t, s).Flush(t.Context(), 7); err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string]string{"manifest": "manifest-4.hex", "segment-0": "segment-0-4-2.hex"} {
		path := filepath.Join("testdata", file)
		if *update {
			if err := os.WriteFile(path, []byte(hex.Dump(s.m[name])), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := hex.Dump(s.m[name]); got != string(want) {
			t.Errorf("%s differs from its golden file: a new format or analysis needs a new number\n%s", name, got)
		}
	}
	x := openOn(t, s, Options{})
	if x.Covered() != 7 || x.Len() != 4 {
		t.Fatalf("covered %d, %d documents", x.Covered(), x.Len())
	}
	if r := find(t, x, Query{Text: "dentist", Now: june}); len(r.Hits) == 0 {
		t.Fatal("nothing found after opening")
	}
}

func TestCorruptSegmentsAreRefused(t *testing.T) {
	good := newShelf()
	if err := sample(t, good).Flush(t.Context(), 7); err != nil {
		t.Fatal(err)
	}
	seg := good.m["segment-0"]
	for i := range seg {
		for _, cut := range []bool{true, false} {
			s := newShelf()
			s.m["manifest"] = good.m["manifest"]
			b := bytes.Clone(seg)
			if cut {
				b = b[:i]
			} else {
				b[i] ^= 0xff
			}
			s.m["segment-0"] = b
			_, err := Open(t.Context(), s, Options{})
			if cut && !errors.Is(err, ErrCorrupt) {
				t.Fatalf("cut to %d bytes: %v, want ErrCorrupt", i, err)
			}
			if err != nil && !errors.Is(err, ErrCorrupt) {
				t.Fatalf("byte %d: %v is not ErrCorrupt", i, err)
			}
		}
	}
	bad := newShelf()
	bad.m["manifest"] = []byte("LKM1\x09\x00\x00\x00")
	if _, err := Open(t.Context(), bad, Options{}); !errors.Is(err, ErrOutdated) {
		t.Errorf("manifest of another analysis: %v", err)
	}
	bad.m["manifest"] = good.m["manifest"]
	if _, err := Open(t.Context(), bad, Options{}); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("segment missing: %v", err)
	}
	if err := Discard(t.Context(), good); err != nil || len(good.m) != 0 {
		t.Errorf("discard: %v, %d left", err, len(good.m))
	}
}

// A segment of version 1 is read as ever, and written as version 2.
func TestFirstVersionIsRead(t *testing.T) {
	dump, err := os.ReadFile("testdata/segment-0-4.hex")
	if err != nil {
		t.Fatal(err)
	}
	first := undumped(t, string(dump))
	if string(first[:4]) != firstMagic {
		t.Fatalf("%q", first[:4])
	}
	s := newShelf()
	if err := sample(t, s).Flush(t.Context(), 7); err != nil {
		t.Fatal(err)
	}
	a, b := newCore(), newCore()
	of, err := a.read(first)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.read(s.m["segment-0"]); err != nil {
		t.Fatal(err)
	}
	for i := range a.docs {
		if x, y := a.docs[i], b.docs[i]; x != y || a.sourceOf(&x) != b.sourceOf(&y) || !maps.Equal(maps.Collect(a.terms(uint32(i))), maps.Collect(b.terms(uint32(i)))) {
			t.Errorf("document %d: %+v, %+v", i, x, y)
		}
	}
	if !bytes.Equal(encode(a, of), s.m["segment-0"]) {
		t.Error("it is written as another segment")
	}
	if names, terms, ok, err := Contents(first); !ok || err != nil || len(names) == 0 || len(terms) == 0 {
		t.Errorf("contents: %v, %v, %v, %v", names, terms, ok, err)
	}
	for i := range first {
		if _, err := newCore().read(first[:i]); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("cut to %d bytes: %v", i, err)
		}
	}
}

// undumped is what hex.Dump was given.
func undumped(t *testing.T, dump string) (b []byte) {
	for line := range strings.Lines(dump) {
		line, _, _ = strings.Cut(line, "|")
		row, err := hex.DecodeString(strings.ReplaceAll(line[8:], " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		b = append(b, row...)
	}
	return b
}

// Bytes from anywhere are refused or make an index that works; never a panic.
func FuzzSegment(f *testing.F) {
	s := newShelf()
	if err := sample(f, s).Flush(f.Context(), 7); err != nil {
		f.Fatal(err)
	}
	f.Add(s.m["segment-0"])
	f.Add([]byte(segmentMagic + "\x00\x00\x00"))
	f.Add([]byte(firstMagic + "\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		c := newCore()
		docs, err := c.read(b)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Fatalf("%v is not ErrCorrupt", err)
			}
			return
		}
		again := encode(c, docs)
		fresh := newCore()
		if _, err := fresh.read(again); err != nil {
			t.Fatalf("what was read can't be written and read: %v", err)
		}
		x := &Index{core: c}
		x.scratch.New = func() any { return new(scratch) }
		if _, err := x.Search(t.Context(), Query{Text: "dentist tuesday Ana 牙医", Now: june}); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzManifest(f *testing.F) {
	f.Add(encodeManifest(7, 3, []uint64{0, 2}))
	f.Fuzz(func(t *testing.T, b []byte) {
		covered, next, numbers, err := decodeManifest(b)
		if err == nil && !bytes.Equal(encodeManifest(covered, next, numbers), b) {
			t.Fatalf("%x was taken, and is not what would be written", b)
		}
	})
}

func TestForgottenWordsLeaveTheSegments(t *testing.T) {
	s := newShelf()
	x := sample(t, s)
	if err := x.Flush(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	holds := func() bool {
		for _, b := range s.m {
			if strings.Contains(string(b), "wifi") || strings.Contains(string(b), string(idOf(4).String())) {
				return true
			}
		}
		return false
	}
	if !holds() {
		t.Fatal("the word is not in the segments to begin with")
	}
	if err := x.Remove(idOf(4)); err != nil {
		t.Fatal(err)
	}
	if r := find(t, x, Query{Text: "wifi password hint"}); len(r.Hits) > 0 && r.Hits[0].ID == idOf(4) {
		t.Error("found after Remove")
	}
	if err := x.Flush(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	if holds() {
		t.Error("the word is still in a segment after Flush")
	}
}
