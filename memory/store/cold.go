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

// A cold memory is one of which only a stub is here: its id, type, state, when
// it was learnt, and the key of its body. The body lies, with others, in a pack
// on a shelf (at the relay), under a name that the shelf gave.
//
// FORMAT of a pack: entries, one after the other, each a unit's records
// (CBOR: pairs of key and value), deflated, sealed under a key of its own, with
// the unit's group as associated data. In the last one zeros follow what is
// deflated, so that the whole has a length of [length.Padded]. Nothing of it
// is in clear, its entries' bounds neither.
//
//   - A unit is a whole group: what is reconciled together turns cold together.
//   - A page is the record of one pack: name, size, and the stubs.
//
// A unit's key is nowhere but in its stub. Once that is gone, nothing opens the
// body, whoever kept it.
type coldPage struct {
	_     struct{} `cbor:",toarray"`
	At    []byte   // name at the shelf
	Size  int64    // bytes of the pack
	Units []coldUnit
}

type coldUnit struct {
	_        struct{} `cbor:",toarray"`
	Group    []byte   // mac16
	Key      []byte
	Off, Len uint32 // in the pack
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

// coldRecord is a record with its key: in a pack, or in a stub (a small value
// that whoever erases the memory has to find here).
type coldRecord struct {
	_     struct{} `cbor:",toarray"`
	Key   []byte
	Plain []byte
}

var coldStates = [...]memory.State{memory.Active, memory.Superseded, memory.Archived, memory.Erased}

// Stub is what is here of a cold memory.
type Stub struct {
	ID     memory.ID
	Type   memory.Type
	State  memory.State
	Learnt time.Time // to the millisecond
	Pack   uint64    // number of the pack that holds its body
}

func (m *coldMember) stub(pack uint64) Stub {
	return Stub{ID: memory.ID(m.ID), Type: memory.Types[m.Type], State: coldStates[m.State], Learnt: time.UnixMilli(m.Learnt).UTC(), Pack: pack}
}

// sound refuses a page that this program has not written.
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

// unitOf finds the unit of a cold memory; its index is -1 where there is none.
func (t *Tx) unitOf(id memory.ID) (pack uint64, p coldPage, i int, err error) {
	return t.unit(binary.BigEndian.Uint64(id[:]), func(u *coldUnit) bool {
		return slices.ContainsFunc(u.Members, func(m coldMember) bool { return bytes.Equal(m.ID, id[:]) })
	})
}

// unitOfGroup finds the unit of a group; its index is -1 where there is none.
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

// Stub gives that of a cold memory; ok is false where it is hot, or unknown.
func (t *Tx) Stub(id memory.ID) (s Stub, ok bool, err error) {
	if !t.store.cold.any() {
		return s, false, nil
	}
	if _, hot, err := t.get(memoryKey(id)); err != nil || hot {
		return s, false, err
	}
	return t.Cold(id)
}

// Cold is Stub for a memory of which something new may be here: ok is false
// only where no pack holds it.
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

// Stubs gives those of all cold memories, by packs. Of a memory of which
// something new was said since, the new part is among [Tx.Memories] as well.
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

// ColdPack is a pack as its page has it.
type ColdPack struct {
	Number uint64
	At     []byte // name at the shelf
	Size   int64  // bytes
	Stubs  []Stub // none: nothing needs it any more
}

// Packs gives all, the oldest first.
func (t *Tx) Packs() iter.Seq2[ColdPack, error] {
	return func(yield func(ColdPack, error) bool) {
		if !t.store.cold.any() {
			return
		}
		for e, err := range t.scan(keyOf(kindCold), nil, false) {
			var p coldPage
			if err == nil {
				p, err = decode[coldPage](e.key, e.plain)
			}
			if err == nil && !p.sound() {
				err = damaged(e.key, "says what can't be")
			}
			if err != nil {
				yield(ColdPack{}, err)
				return
			}
			if !yield(p.pack(seqOf(e.key)), nil) {
				return
			}
		}
	}
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

// Pack gives one by its number, or [memory.ErrNotFound].
func (t *Tx) Pack(n uint64) (ColdPack, error) {
	p, ok, err := t.coldPage(n)
	if err == nil && !ok {
		err = fmt.Errorf("store: pack %d: %w", n, memory.ErrNotFound)
	}
	return p.pack(n), err
}

// DropPack removes the page of a pack that nothing needs: [memory.ErrInvalid]
// where something does.
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

// hintChars is of how many characters of an id its hint can be told.
const hintChars = 13

// findCold gives the cold memory whose id begins with prefix. One as long as a
// hint is looks into one page, a shorter one into all.
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

// hinted gives the stubs of the page that a hint leads to.
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

// HotCount is how many memories are here whole, of every state.
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

// perRecord is what a record takes beside its value: its key twice, its guard,
// its version and seals, and Badger's own.
const perRecord = 2*40 + 2*(versionSize+seal.Overhead) + tagSize + 2*24

// Weigh is about how many bytes of disk a memory takes here, with what was said
// of it and its history.
func (t *Tx) Weigh(id memory.ID) (n int64, err error) {
	plain, _, err := t.get(memoryKey(id))
	if err != nil {
		return 0, err
	}
	n = int64(len(plain)) + 4*perRecord // with its place in its group, by time, and in the document log
	for e, err := range t.scan(keyOf(kindAssertion, id[:]), nil, false) {
		if err != nil {
			return 0, err
		}
		n += int64(len(e.plain)) + 2*perRecord // with its dot
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
