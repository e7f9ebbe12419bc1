package recall

import (
	"bytes"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
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

// sample makes an index with every kind of field set somewhere.
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
	s := newSegments()
	if err := sample(t, s).Flush(t.Context(), 7); err != nil {
		t.Fatal(err)
	}
	golden := newSegments()
	for name, file := range map[string]string{"manifest": "manifest-6.hex", "segment-0": "segment-0-6.hex"} {
		path := filepath.Join("testdata", file)
		if *update {
			if err := os.WriteFile(path, []byte(hex.Dump(s.m[name])), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		golden.m[name] = undumped(t, path)
		// Another version of Go may deflate a segment differently.
		if got, want := plain(t, s.m[name]), plain(t, golden.m[name]); !bytes.Equal(got, want) {
			t.Errorf("%s differs from its golden file: a new format or analysis needs a new number\n%s", name, hex.Dump(got))
		}
	}
	x := openOn(t, golden, Options{})
	if x.Covered() != 7 || x.Len() != 4 {
		t.Fatalf("covered %d, %d documents", x.Covered(), x.Len())
	}
	if r := find(t, x, Query{Text: "dentist", Now: june}); len(r.Hits) == 0 {
		t.Fatal("nothing found after opening")
	}
}

// plain returns the inflated content of each deflated file.
func plain(t testing.TB, b []byte) []byte {
	rest, is := bytes.CutPrefix(b, []byte(segmentMagic))
	if !is {
		return b
	}
	out, err := inflated(rest)
	if err != nil {
		t.Fatal(err)
	}
	return append([]byte(segmentMagic), out...)
}

func TestCorruptSegmentsAreRefused(t *testing.T) {
	good := newSegments()
	if err := sample(t, good).Flush(t.Context(), 7); err != nil {
		t.Fatal(err)
	}
	seg := good.m["segment-0"]
	for i := range seg {
		for _, cut := range []bool{true, false} {
			s := newSegments()
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
	bad := newSegments()
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

// A segment that inflates to more than the limit is refused before it is in memory, and so are
// bytes after its end.
func TestDecompressionIsBounded(t *testing.T) {
	if out, err := inflated(deflated("", make([]byte, 1<<20))); err != nil || len(out) != 1<<20 {
		t.Fatalf("%d bytes, %v", len(out), err)
	}
	if _, err := newCore().read(deflated(segmentMagic, make([]byte, maxSegment+1))); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "more than") {
		t.Errorf("too much: %v", err)
	}
	s := newSegments()
	if err := sample(t, s).Flush(t.Context(), 7); err != nil {
		t.Fatal(err)
	}
	if _, err := newCore().read(append(s.m["segment-0"], 0)); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a byte behind the end: %v", err)
	}
}

// A memory in the words of its line takes little more than its id, and so do lines of one day by
// the same speakers.
func TestMemoryAndItsLineShareDisk(t *testing.T) {
	size := func(pairs bool) int {
		s := newSegments()
		x := openOn(t, s, Options{})
		for i := range 200 {
			text := fmt.Sprintf("The kettle of room %d is to be descaled by %s with vinegar, and not with number %d", i, []string{"Ana", "Ben"}[i%2], i*7919%1000)
			docs := []Doc{{ID: idOf(2*i + 1), Kind: Utterance, Session: "s", At: june.Add(time.Duration(i) * time.Minute), Speaker: "Ana", Text: text}}
			if pairs {
				m := docs[0]
				m.ID, m.Kind, m.Type, m.Source = idOf(2*i+2), Memory, memory.Semantic, m.ID
				docs = append(docs, m)
			}
			if err := x.Add(docs...); err != nil {
				t.Fatal(err)
			}
		}
		if err := x.Flush(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		return len(s.m["segment-0"])
	}
	alone, both := size(false), size(true)
	if more := both - alone; more > 200*10 {
		t.Errorf("200 lines take %d bytes, and %d more with a memory each", alone, more)
	}
	t.Logf("%d bytes, %d with a memory each", alone, both)
}

// undumped returns the bytes of a file that hex.Dump made.
func undumped(t *testing.T, path string) (b []byte) {
	dump, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(dump)) {
		line, _, _ = strings.Cut(line, "|")
		row, err := hex.DecodeString(strings.ReplaceAll(line[8:], " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		b = append(b, row...)
	}
	return b
}

// Arbitrary bytes are refused or make an index that works; they never cause a panic.
func FuzzSegment(f *testing.F) {
	s := newSegments()
	if err := sample(f, s).Flush(f.Context(), 7); err != nil {
		f.Fatal(err)
	}
	f.Add(plain(f, s.m["segment-0"])[4:])
	f.Add([]byte("\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := newCore().read(append([]byte(segmentMagic), b...)); err != nil && !errors.Is(err, ErrCorrupt) {
			t.Fatalf("%v is not ErrCorrupt", err)
		}
		c := newCore()
		docs, err := c.read(deflated(segmentMagic, b))
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
	s := newSegments()
	x := sample(t, s)
	if err := x.Flush(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	holds := func() bool {
		for _, b := range s.m {
			b = plain(t, b)
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

// Who may see a memory depends on type, sensitivity and owner, also after the index was opened
// again. A memory in a segment from before sensitivities were stored has none.
func TestSensitivityIsKept(t *testing.T) {
	s := newSegments()
	x := openOn(t, s, Options{})
	want := map[memory.ID]About{}
	for i := range 2 * (1 + int(memory.Secret)) {
		level := memory.Sensitivity(i / 2)
		d := Doc{ID: idOf(i), Kind: Memory, Type: memory.Types[i%len(memory.Types)], Text: "Ana likes tea", Sensitivity: &level, Plain: i%3 == 0}
		want[d.ID] = About{d.ID, Memory, d.Type, level, true, d.Plain}
		if err := x.Add(d); err != nil {
			t.Fatal(err)
		}
	}
	line := Doc{ID: idOf(100), Kind: Utterance, Text: "I like tea"}
	old := Doc{ID: idOf(101), Kind: Memory, Type: memory.Core, Text: "Ben likes tea"}
	want[line.ID], want[old.ID] = About{ID: line.ID, Kind: Utterance}, About{ID: old.ID, Kind: Memory, Type: memory.Core}
	if err := x.Add(line, old); err != nil {
		t.Fatal(err)
	}
	check := func(x *Index) {
		t.Helper()
		got := map[memory.ID]About{}
		find(t, x, Query{Text: "tea", Allow: func(a About) bool { got[a.ID] = a; return true }})
		if !maps.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
	check(x)
	if err := x.Flush(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	check(openOn(t, s, Options{}))

	over := memory.Secret + 1
	for name, d := range map[string]Doc{
		"none":             {ID: idOf(1), Kind: Memory, Type: memory.Core, Text: "x", Sensitivity: &over},
		"line":             {ID: idOf(1), Kind: Utterance, Text: "x", Sensitivity: new(memory.Sensitivity)},
		"line of an owner": {ID: idOf(1), Kind: Utterance, Text: "x", Plain: true},
	} {
		if err := x.Add(d); !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, kind := range map[string]byte{"over": byte(2+memory.Secret)<<2 | byte(Memory), "line": 1<<2 | byte(Utterance), "neither": 3} {
		one := openOn(t, newSegments(), Options{})
		if err := one.Add(old); err != nil {
			t.Fatal(err)
		}
		b := plainSegment(one.core, []uint32{0})
		at := bytes.Index(b, old.ID[:]) + len(old.ID)
		if b[at] != byte(Memory) {
			t.Fatalf("%x", b)
		}
		b[at] = kind
		if _, err := newCore().read(deflated(segmentMagic, b)); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
