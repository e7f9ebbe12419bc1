package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
)

// A cold memory is one of which this device has only a stub: its id, type,
// state, the time when it was learnt, and the key of its body. The bodies of
// many memories lie together in a pack. The pack lies in a remote store (at the
// relay), under a name that this store gave it.
//
// FORMAT of a pack: entries, one after the other. Each is the records of a unit
// (CBOR: pairs of key and value), deflated, and sealed with a key of its own;
// the associated data is the unit's group. In the last entry, zeros follow the
// deflated bytes, so that the pack has a length of [length.Padded]. Nothing in
// a pack is in clear, not even where its entries end.
//
//   - A unit is a whole group, because memories that are reconciled together
//     turn cold together.
//   - A page is the record of one pack: its name, its size, and its stubs.
//
// A unit's key is only in its stub. When the stub is deleted, nobody can
// decrypt the body, whoever still has it.
type coldPage struct {
	_     struct{} `cbor:",toarray"`
	At    []byte   // name in the remote store
	Size  int64    // of the pack, in bytes
	Units []coldUnit
}

type coldUnit struct {
	_        struct{} `cbor:",toarray"`
	Group    []byte   // mac16
	Key      []byte
	Off, Len uint32 // position in the pack, in bytes
	Members  []coldMember
}

type coldMember struct {
	_      struct{} `cbor:",toarray"`
	ID     []byte
	Type   uint8 // index in memory.Types
	State  uint8 // index in states
	Learnt int64 // ms since 1970
	Notes  []coldRecord
}

// coldRecord is a record with its key. It lies in a pack, or in a stub if it is
// a small value that is needed here to erase the memory.
type coldRecord struct {
	_     struct{} `cbor:",toarray"`
	Key   []byte
	Plain []byte
}

var coldStates = [...]memory.State{memory.Active, memory.Superseded, memory.Archived, memory.Erased}

// Stub is what this device has of a cold memory.
type Stub struct {
	ID     memory.ID
	Type   memory.Type
	State  memory.State
	Learnt time.Time // precise to the millisecond
	Pack   uint64    // number of the pack that holds its body
}

func (m *coldMember) stub(pack uint64) Stub {
	return Stub{ID: memory.ID(m.ID), Type: memory.Types[m.Type], State: coldStates[m.State], Learnt: time.UnixMilli(m.Learnt).UTC(), Pack: pack}
}

// sound returns false for a page that this program can't have written.
func (p *coldPage) sound() bool {
	for i := range p.Units {
		u := &p.Units[i]
		if len(u.Group) != macSize || int64(u.Off)+int64(u.Len) > p.Size || len(u.Members) == 0 {
			return false
		}
		for j := range u.Members {
			if m := &u.Members[j]; len(m.ID) != idSize || int(m.Type) >= len(memory.Types) || int(m.State) >= len(coldStates) {
				return false
			}
		}
	}
	return true
}

func coldKey(pack uint64) []byte { return keyOf(kindCold, u64(pack)) }

func (t *Tx) coldPage(pack uint64) (p coldPage, ok bool, err error) {
	p, ok, err = load[coldPage](t, coldKey(pack))
	if err == nil && !p.sound() {
		err = damaged(coldKey(pack), "says what can't be")
	}
	return p, ok && err == nil, err
}

// unitOf finds the unit of a cold memory. The index is -1 if there is none.
func (t *Tx) unitOf(id memory.ID) (pack uint64, p coldPage, i int, err error) {
	return t.unit(binary.BigEndian.Uint64(id[:]), func(u *coldUnit) bool {
		return slices.ContainsFunc(u.Members, func(m coldMember) bool { return bytes.Equal(m.ID, id[:]) })
	})
}

// unitOfGroup finds the unit of a group. The index is -1 if there is none.
func (t *Tx) unitOfGroup(mac []byte) (pack uint64, p coldPage, i int, err error) {
	return t.unit(binary.BigEndian.Uint64(mac), func(u *coldUnit) bool { return bytes.Equal(u.Group, mac) })
}

func (t *Tx) unit(hint uint64, is func(*coldUnit) bool) (pack uint64, p coldPage, i int, err error) {
	pack, ok := t.store.cold.find(hint)
	if !ok {
		return 0, p, -1, nil
	}
	if p, ok, err = t.coldPage(pack); err != nil || !ok {
		return 0, p, -1, err
	}
	for i := range p.Units {
		if is(&p.Units[i]) {
			return pack, p, i, nil
		}
	}
	return 0, p, -1, nil
}

// Stub returns the stub of a cold memory. ok is false if the memory is hot or
// unknown.
func (t *Tx) Stub(id memory.ID) (s Stub, ok bool, err error) {
	if !t.store.cold.any() {
		return s, false, nil
	}
	if _, hot, err := t.get(memoryKey(id)); err != nil || hot {
		return s, false, err
	}
	return t.Cold(id)
}

// Cold is Stub for a memory about which new assertions may be here. ok is false
// only if no pack has the memory.
func (t *Tx) Cold(id memory.ID) (s Stub, ok bool, err error) {
	pack, p, i, err := t.unitOf(id)
	if err != nil || i < 0 {
		return s, false, err
	}
	for j := range p.Units[i].Members {
		if m := &p.Units[i].Members[j]; bytes.Equal(m.ID, id[:]) {
			s = m.stub(pack)
		}
	}
	return s, true, nil
}

// Stubs returns the stubs of all cold memories, pack by pack. If something new
// was said about a cold memory, [Tx.Memories] returns the new part as well.
func (t *Tx) Stubs() iter.Seq2[Stub, error] {
	return func(yield func(Stub, error) bool) {
		for p, err := range t.Packs() {
			if err != nil {
				yield(Stub{}, err)
				return
			}
			for _, s := range p.Stubs {
				if !yield(s, nil) {
					return
				}
			}
		}
	}
}

// ColdPack describes a pack.
type ColdPack struct {
	Number uint64
	At     []byte // name in the remote store
	Size   int64  // bytes
	Stubs  []Stub // none: nothing needs the pack any more
}

// Packs returns all packs, the oldest first.
func (t *Tx) Packs() iter.Seq2[ColdPack, error] {
	return func(yield func(ColdPack, error) bool) {
		if !t.store.cold.any() {
			return
		}
		each(t, keyOf(kindCold), nil, false, func(e entry) (ColdPack, error) {
			p, err := soundPage(e)
			return p.pack(seqOf(e.key)), err
		})(yield)
	}
}

// soundPage decodes a page, and checks it.
func soundPage(e entry) (coldPage, error) {
	p, err := decode[coldPage](e.key, e.plain)
	if err == nil && !p.sound() {
		err = damaged(e.key, "says what can't be")
	}
	if err != nil {
		return coldPage{}, err
	}
	return p, nil
}

func (p *coldPage) pack(n uint64) ColdPack {
	out := ColdPack{Number: n, At: p.At, Size: p.Size}
	for i := range p.Units {
		for j := range p.Units[i].Members {
			out.Stubs = append(out.Stubs, p.Units[i].Members[j].stub(n))
		}
	}
	return out
}

// Pack returns a pack by its number, or [memory.ErrNotFound].
func (t *Tx) Pack(n uint64) (ColdPack, error) {
	p, ok, err := t.coldPage(n)
	if err == nil && !ok {
		err = fmt.Errorf("store: pack %d: %w", n, memory.ErrNotFound)
	}
	return p.pack(n), err
}

// DropPack removes the page of a pack that nothing needs. Otherwise it returns
// [memory.ErrInvalid].
func (t *Tx) DropPack(n uint64) error {
	p, _, err := t.coldPage(n)
	if err == nil && len(p.Units) > 0 {
		err = fmt.Errorf("%w: store: pack %d has the body of %d groups", memory.ErrInvalid, n, len(p.Units))
	}
	if err != nil {
		return err
	}
	return t.del(coldKey(n))
}

// hintChars is how many characters of an id are needed to compute its hint.
const hintChars = 13

// findCold returns the cold memory whose id begins with prefix. If the prefix
// is long enough for a hint, one page is read, otherwise all pages are.
func (t *Tx) findCold(prefix string) (found memory.ID, err error) {
	stubs := t.Stubs()
	if len(prefix) >= hintChars {
		least, err := leastID(prefix)
		if err != nil {
			return found, err
		}
		stubs = t.hinted(binary.BigEndian.Uint64(least[:]))
	}
	for s, err := range stubs {
		switch {
		case err != nil:
			return found, err
		case !strings.HasPrefix(s.ID.String(), prefix):
		case !found.IsZero() && found != s.ID:
			return found, fmt.Errorf("store: %q begins the ids of several memories, such as %s and %s: %w", prefix, found, s.ID, memory.ErrAmbiguous)
		default:
			found = s.ID
		}
	}
	return found, nil
}

// hinted returns the stubs of the page that a hint names.
func (t *Tx) hinted(hint uint64) iter.Seq2[Stub, error] {
	return func(yield func(Stub, error) bool) {
		pack, ok := t.store.cold.find(hint)
		if !ok {
			return
		}
		p, _, err := t.coldPage(pack)
		if err != nil {
			yield(Stub{}, err)
			return
		}
		for _, s := range p.pack(pack).Stubs {
			if !yield(s, nil) {
				return
			}
		}
	}
}

// ColdCount is how many memories are cold.
func (t *Tx) ColdCount() (int, error) {
	if t.state != nil {
		return t.state.head.Seq.Cold, nil
	}
	h, _, err := t.store.secrets.readHead(t.txn)
	return h.Seq.Cold, err
}

// HotCount returns the number of memories that are completely on this device,
// in every state.
func (t *Tx) HotCount() (n int, err error) {
	prefix := keyOf(kindMemoryTime)
	opt := badger.DefaultIteratorOptions
	opt.Prefix, opt.PrefetchValues = prefix, false
	it := t.txn.NewIterator(opt)
	defer it.Close()
	for it.Rewind(); it.ValidForPrefix(prefix); it.Next() {
		n++
	}
	return n, nil
}

// perRecord is how many bytes a record takes besides its value: its key twice,
// its guard, its version and seals, and Badger's overhead.
const perRecord = 2*40 + 2*(versionSize+seal.Overhead) + tagSize + 2*24

// MemorySize returns about how many bytes a memory takes on this disk, with its
// assertions and its history.
func (t *Tx) MemorySize(id memory.ID) (n int64, err error) {
	plain, _, err := t.get(memoryKey(id))
	if err != nil {
		return 0, err
	}
	n = int64(len(plain)) + 4*perRecord // with its records by group and time, and in the document log
	for e, err := range t.scan(keyOf(kindAssertion, id[:]), nil, false) {
		if err != nil {
			return 0, err
		}
		n += int64(len(e.plain)) + 2*perRecord // with the record of its dot
	}
	for e, err := range t.scan(keyOf(kindChangeOf, id[:]), nil, false) {
		if err != nil {
			return 0, err
		}
		c, _, err := t.get(changeKey(seqOf(e.key)))
		if err != nil {
			return 0, err
		}
		n += int64(len(c)) + 2*perRecord
	}
	return n, nil
}
