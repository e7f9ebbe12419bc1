package journal_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"path/filepath"
	"testing"

	"github.com/locket-dev/locket/crypto/length"
	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/remote/upstream"
	"github.com/locket-dev/locket/sync/replica"
)

// At the relay, pictures of nearly the same length have one length. Whoever downloads them gets
// each as it was.
func TestBlobsArePadded(t *testing.T) {
	a, b := pair(t)
	var sizes []int64
	for i, n := range []int{70_000, 70_600} {
		picture := bytes.Repeat([]byte{1, 2, 0}, n)[:n]
		kept, err := a.store.WriteBlob(t.Context(), bytes.NewReader(picture))
		if err != nil {
			t.Fatal(err)
		}
		a.update(func(tx *store.Tx) error { return tx.KeepBlob(kept, memory.ID{byte(i + 1)}) })
		a.say(fact(byte(i+1), "A plum."))
		a.sync()
		b.sync()
		note, err := b.journal().RemoteBlob(t.Context(), kept.ID)
		if err != nil {
			t.Fatal(err)
		}
		_, size, err := a.at.HasBlob(t.Context(), remote.BlobID(note.Sealed))
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, size)
		if err := b.FetchBlob(t.Context(), kept.ID); err != nil {
			t.Fatal(err)
		}
		if got := b.blob(kept.ID); !bytes.Equal(got, picture) {
			t.Errorf("%d bytes came of %d", len(got), n)
		}
	}
	if want := length.Stream(length.Padded(70_600)); sizes[0] != want || sizes[1] != want {
		t.Errorf("%d bytes lie at the relay, want %d twice", sizes, want)
	}
}

// A blob without padding arrives complete. If a member's note says something wrong about its blob,
// nothing of the blob is kept.
func TestBlobMustMatchItsNote(t *testing.T) {
	a, b := pair(t)
	picture := bytes.Repeat([]byte("a plum "), 100)
	seq := uint64(0)
	for name, c := range map[string]struct {
		padded []byte
		plain  int
		kept   bool
	}{
		"not padded":               {picture, 0, true},
		"padded":                   {append(bytes.Clone(picture), make([]byte, 4)...), 700, true},
		"said to be shorter":       {append(bytes.Clone(picture), make([]byte, 4)...), 699, false},
		"something in the padding": {append(bytes.Clone(picture), 0, 0, 0, 1), 700, false},
	} {
		key := seal.NewKey()
		sealed, err := io.ReadAll(seal.SealStream(key, bytes.NewReader(c.padded)))
		if err != nil {
			t.Fatal(err)
		}
		id, err := upstream.New(a.at, "").Upload(t.Context(), bytes.NewReader(sealed))
		if err != nil || id != envelope.Hash(sha256.Sum256(sealed)) {
			t.Fatal(id, err)
		}
		blob := &delta.Blob{Name: memory.ID{byte(len(name))}.String(), Sealed: id, Size: uint64(len(sealed)), Key: key.Bytes(), Plain: uint64(c.plain)}
		seq++
		from := envelope.Member{ID: memory.MemberID{2}}
		h := &envelope.Header{Version: envelope.Version, Space: b.journal().Space, Member: from.ID, Incarnation: 1, Seq: seq}
		if err := b.journal().Apply(t.Context(), replica.Incoming{Author: from, Header: h, Ops: []delta.Op{{Blob: blob}}}, replica.State{}); err != nil {
			t.Fatal(err)
		}
		parsed, err := memory.ParseID(blob.Name)
		if err != nil {
			t.Fatal(err)
		}
		err = b.FetchBlob(t.Context(), parsed)
		if left, e := filepath.Glob(filepath.Join(b.dir, "parts", "*")); e != nil || len(left) > 0 {
			t.Errorf("%s: left on the way: %v, %v", name, left, e)
		}
		if c.kept && (err != nil || !bytes.Equal(b.blob(parsed), picture)) {
			t.Errorf("%s: %v", name, err)
		}
		if !c.kept {
			if !errors.Is(err, seal.ErrOpen) {
				t.Errorf("%s: %v", name, err)
			}
			if _, _, err := b.journal().OpenBlob(t.Context(), parsed); !errors.Is(err, memory.ErrNotFound) {
				t.Errorf("%s: it was kept: %v", name, err)
			}
		}
	}
}

// blob returns the whole content of a blob that is here.
func (m *member) blob(name memory.ID) []byte {
	m.t.Helper()
	f, _, err := m.journal().OpenBlob(m.t.Context(), name)
	if err != nil {
		m.t.Fatal(err)
	}
	b, err := io.ReadAll(f)
	if err := errors.Join(err, f.Close()); err != nil {
		m.t.Fatal(err)
	}
	return b
}
