package replica

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"testing"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
)

// parts are the parts of a snapshot at a relay.
type parts struct {
	Remote
	sealed map[envelope.Hash][]byte
}

func (p *parts) Download(_ context.Context, id envelope.Hash, f io.ReadWriteSeeker, _ int64) error {
	if end, err := f.Seek(0, io.SeekEnd); end > 0 || err != nil {
		return err // this device has the part
	}
	_, err := f.Write(p.sealed[id])
	return err
}

// put seals and stores a part.
func (p *parts) put(t *testing.T, key *seal.Key, plain []byte) (envelope.Hash, uint32) {
	t.Helper()
	b, err := seal.SealBody(key, plain)
	if err != nil {
		t.Fatal(err)
	}
	id := envelope.Hash(sha256.Sum256(b))
	p.sealed[id] = b
	return id, uint32(len(b))
}

// oneKey has the key of one epoch.
type oneKey struct {
	Keys
	key *seal.Key
}

func (k oneKey) Epoch(uint32) (*seal.Key, bool) { return k.key, true }

// counted is an archive of some items, which counts the items that it is given.
type counted struct {
	items    []delta.Item
	restored int
}

func (s *counted) EachLive(_ context.Context, f func(*delta.Item) error) error {
	for i := range s.items {
		if err := f(&s.items[i]); err != nil {
			return err
		}
	}
	return nil
}

func (s *counted) NamedBlobs(context.Context) (map[envelope.Hash]bool, uint64, error) {
	return nil, 0, nil
}

func (s *counted) Restore(_ context.Context, items []delta.Item, _ *State) error {
	s.restored += len(items)
	return nil
}

// Items that differ from the digest in the manifest are neither taken nor agreed to, even if each
// is well-formed.
func TestDigestOfASnapshot(t *testing.T) {
	for name, lies := range map[string]bool{"as it is": false, "another": true} {
		t.Run(name, func(t *testing.T) {
			key := seal.NewKey()
			c := &envelope.Checkpoint{Space: memory.SpaceID{1}, Author: memory.MemberID{2}, Cursor: 3, Epoch: 1}
			l := &listed{Checkpoint: c, standing: envelope.Verified}
			at := &parts{sealed: map[envelope.Hash][]byte{}}
			archive := &counted{items: []delta.Item{{Op: delta.Op{Utterance: &memory.Utterance{ID: memory.ID{4}, Space: memory.SpaceID{1}, Event: memory.EventID{Device: "pin", Seq: 1}, Text: "Ana likes plums."}}}}}
			p, m := delta.NewPacker(l.source()), delta.Manifest{}
			if _, err := p.Put(&archive.items[0]); err != nil {
				t.Fatal(err)
			}
			chunk, err := p.Flush()
			if err != nil {
				t.Fatal(err)
			}
			id, size := at.put(t, key, chunk)
			m.Chunks, m.Digest = []delta.Chunk{{Sealed: id, Size: size}}, p.Sum()
			if lies {
				m.Digest[0] ^= 1
			}
			manifest, err := m.Pack(l.source())
			if err != nil {
				t.Fatal(err)
			}
			c.Manifest, c.Size = at.put(t, key, manifest)
			r := &Replica{c: Config{Space: c.Space, Remote: at, Keys: oneKey{key: key}, Temp: t.TempDir(), OnTaken: func(context.Context) {}, Snapshots: &Snapshots{Archive: archive}}}
			next := State{Cursor: 3}
			agreed := r.compare(t.Context(), l)
			taken := r.takeItems(t.Context(), archive, l, &next)
			if !lies && (agreed != nil || taken != nil || archive.restored != 1 || r.st.Cursor != 3) {
				t.Errorf("compared: %v; taken: %v, %d items", agreed, taken, archive.restored)
			}
			if lies && (!errors.Is(agreed, ErrSnapshot) || !errors.Is(taken, ErrSnapshot) || archive.restored != 0 || r.st.Cursor != 0) {
				t.Errorf("compared: %v; taken: %v, %d items", agreed, taken, archive.restored)
			}
		})
	}
}
