package delta_test

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
)

var updateSnapshot = flag.Bool("update-snapshot", false, "write testdata/snapshot.json anew")

var snapshotOf = delta.Source{Space: memory.SpaceID{1}, Author: memory.MemberID{2}, Cursor: 7}

// snapshotItems returns one item of each kind, in order.
func snapshotItems() []delta.Item {
	said := func(n byte, member memory.MemberID, seq uint64, text string) delta.Item {
		return delta.Item{Member: member, Op: delta.Op{Assertion: &memory.Assertion{Dot: memory.Dot{Member: member, Seq: seq}, Clock: memory.Clock{Wall: 1_790_000_000_000},
			Rank: memory.RankDevice, Space: snapshotOf.Space, Memory: memory.ID{n}, Act: memory.ActPropose,
			Candidate: &memory.Candidate{Type: memory.Semantic, Text: text, Owner: memory.Owner{User: "wearer"}, Confidence: .8, Sensitivity: memory.Personal}}}}
	}
	return []delta.Item{
		said(1, memory.MemberID{2}, 4, "Ana likes plums."), said(1, memory.MemberID{3}, 1, "Ana likes plums."), said(9, memory.MemberID{2}, 2, "It rains."),
		{Op: delta.Op{Utterance: &memory.Utterance{ID: memory.ID{5}, Space: snapshotOf.Space, Text: "Ana likes plums."}}},
		{Op: delta.Op{Blob: &delta.Blob{Name: "b", Sealed: envelope.Hash{6}, Size: 9, Key: make([]byte, 32), Memory: memory.ID{1}}}},
		{Cited: &delta.Cited{Member: memory.MemberID{4}, Evidence: "e", Seqs: []uint64{2, 1}}},
		{Erased: []memory.ID{{7}, {8}}},
		{Dots: []memory.Dot{{Member: memory.MemberID{2}, Seq: 9}, {Member: memory.MemberID{3}, Seq: 1}}},
	}
}

func pack(t *testing.T, s delta.Source, items []delta.Item) (chunks [][]byte, digest envelope.Hash) {
	t.Helper()
	p := delta.NewPacker(s)
	for i := range items {
		c, err := p.Put(&items[i])
		if err != nil {
			t.Fatal(err)
		}
		if c != nil {
			chunks = append(chunks, c)
		}
	}
	c, err := p.Flush()
	if err != nil {
		t.Fatal(err)
	}
	if c != nil {
		chunks = append(chunks, c)
	}
	return chunks, p.Sum()
}

func TestSnapshotRoundTrip(t *testing.T) {
	items := snapshotItems()
	chunks, digest := pack(t, snapshotOf, items)
	if len(chunks) != 1 {
		t.Fatal(len(chunks), "chunks")
	}
	got, err := delta.Unpack(snapshotOf, 1, chunks[0])
	if err != nil || !reflect.DeepEqual(got, items) {
		t.Fatalf("%+v, %v", got, err)
	}
	d := delta.NewDigest(snapshotOf.Space)
	for i := range got {
		if _, err := d.Add(&got[i]); err != nil {
			t.Fatal(err)
		}
	}
	if d.Sum() != digest {
		t.Error("another digest")
	}
	m := delta.Manifest{Digest: digest, Chunks: []delta.Chunk{{Sealed: envelope.Hash{1}, Size: 300}}}
	b, err := m.Pack(snapshotOf)
	if err != nil {
		t.Fatal(err)
	}
	if back, err := delta.UnpackManifest(snapshotOf, b); err != nil || !reflect.DeepEqual(*back, m) {
		t.Errorf("%+v, %v", back, err)
	}
	// A part fits no other snapshot.
	for _, s := range []delta.Source{{snapshotOf.Space, snapshotOf.Author, 8}, {snapshotOf.Space, memory.MemberID{3}, 7}, {memory.SpaceID{2}, snapshotOf.Author, 7}} {
		if _, err := delta.Unpack(s, 1, chunks[0]); !errors.Is(err, delta.ErrContext) {
			t.Errorf("%+v: %v", s, err)
		}
		if _, err := delta.UnpackManifest(s, b); !errors.Is(err, delta.ErrContext) {
			t.Errorf("manifest of %+v: %v", s, err)
		}
	}
	if _, err := delta.Unpack(snapshotOf, 2, chunks[0]); !errors.Is(err, delta.ErrContext) {
		t.Errorf("in another place: %v", err)
	}
	// Items that are not in order are refused.
	items[0], items[2] = items[2], items[0]
	p := delta.NewPacker(snapshotOf)
	if _, err := p.Put(&items[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Put(&items[1]); !errors.Is(err, delta.ErrForm) {
		t.Errorf("out of order: %v", err)
	}
}

// The digest covers each item's own encoding, wherever its chunk begins.
func TestSnapshotOfManyChunks(t *testing.T) {
	var items []delta.Item
	for i := range 5000 {
		it := snapshotItems()[0]
		a := *it.Op.Assertion
		a.Memory, a.Dot.Seq = memory.ID{1, byte(i >> 8), byte(i)}, uint64(i+1)
		it.Op.Assertion = &a
		items = append(items, it)
	}
	chunks, digest := pack(t, snapshotOf, items)
	if len(chunks) != 3 {
		t.Fatal(len(chunks), "chunks")
	}
	d, n := delta.NewDigest(snapshotOf.Space), 0
	for i, c := range chunks {
		got, err := delta.Unpack(snapshotOf, i+1, c)
		if err != nil {
			t.Fatal(err)
		}
		for j := range got {
			if _, err := d.Add(&got[j]); err != nil {
				t.Fatal(err)
			}
			n++
		}
	}
	if n != len(items) || d.Sum() != digest {
		t.Error("not what was packed")
	}
}

// A snapshot names erased records by their ids only. As an assertion, an
// erasure would be taken like any other, and all that it erases at once.
func TestSnapshotWithAnErasureIsRefused(t *testing.T) {
	i := delta.Item{Member: memory.MemberID{2}, Op: delta.Op{Assertion: &memory.Assertion{Dot: memory.Dot{Member: memory.MemberID{2}, Seq: 1}, Rank: memory.RankPerson,
		Space: snapshotOf.Space, Memory: memory.ID{1}, Act: memory.ActArchive}}}
	for _, want := range []error{nil, delta.ErrForm} {
		if _, err := delta.NewDigest(snapshotOf.Space).Add(&i); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", i.Op.Assertion.Act, err, want)
		}
		if _, err := delta.NewPacker(snapshotOf).Put(&i); !errors.Is(err, want) {
			t.Errorf("%s is packed: %v, want %v", i.Op.Assertion.Act, err, want)
		}
		i.Op.Assertion.Act = memory.ActErase
	}
}

// snapshotVector is testdata/snapshot.json, described in its README.
type snapshotVector struct {
	Space     string        `json:"space"`
	Author    string        `json:"author"`
	Cursor    uint64        `json:"cursor"`
	Items     []string      `json:"items"` // the items' own encodings
	Digest    envelope.Hash `json:"digest"`
	Chunk     string        `json:"chunk"`    // plaintext of chunk 1
	Manifest  string        `json:"manifest"` // plaintext
	Sealed    envelope.Hash `json:"manifest_chunk_sealed"`
	ChunkSize uint32        `json:"manifest_chunk_size"`
}

func TestSnapshotGolden(t *testing.T) {
	path := filepath.Join("testdata", "snapshot.json")
	items := snapshotItems()
	chunks, digest := pack(t, snapshotOf, items)
	m := delta.Manifest{Digest: digest, Chunks: []delta.Chunk{{Sealed: envelope.Hash{1}, Size: 300}}}
	manifest, err := m.Pack(snapshotOf)
	if err != nil {
		t.Fatal(err)
	}
	v := snapshotVector{Space: hex.EncodeToString(snapshotOf.Space[:]), Author: hex.EncodeToString(snapshotOf.Author[:]), Cursor: snapshotOf.Cursor, Digest: digest,
		Chunk: hex.EncodeToString(chunks[0]), Manifest: hex.EncodeToString(manifest), Sealed: m.Chunks[0].Sealed, ChunkSize: m.Chunks[0].Size}
	for i := range items {
		b, err := items[i].Bytes(snapshotOf.Space)
		if err != nil {
			t.Fatal(err)
		}
		v.Items = append(v.Items, hex.EncodeToString(b))
	}
	if *updateSnapshot {
		b, err := json.MarshalIndent(v, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, append(b, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var want snapshotVector
	if err := json.Unmarshal(b, &want); err != nil {
		t.Fatal(err)
	}
	// Another compressor may give other bytes, but their content must be the same.
	old, err := hex.DecodeString(want.Chunk)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := delta.Unpack(snapshotOf, 1, old); err != nil || !reflect.DeepEqual(got, items) {
		t.Errorf("the chunk that was written: %v", err)
	}
	if old, err = hex.DecodeString(want.Manifest); err != nil {
		t.Fatal(err)
	}
	if got, err := delta.UnpackManifest(snapshotOf, old); err != nil || !reflect.DeepEqual(*got, m) {
		t.Errorf("the manifest that was written: %v", err)
	}
	if !reflect.DeepEqual(v.Items, want.Items) || v.Digest != want.Digest {
		t.Error("items or digest are not what they were")
	}
}
