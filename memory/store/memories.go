package store

import (
	"bytes"
	"cmp"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/fxamacker/cbor/v2"

	"github.com/locket-dev/locket/memory"
)

// memoryRecord is the stored form of a derived memory.
type memoryRecord struct {
	Group    string          `json:"g"`
	Document uint64          `json:"d"` // its number in the document log
	Memory   cbor.RawMessage `json:"m"`
}

func memoryKey(id memory.ID) []byte { return keyOf(kindMemory, id[:]) }

func memoryTimeKey(m *memory.Memory) []byte {
	return PlaceOf(m).key()
}

func memoryTimeValue(m *memory.Memory) []byte { return []byte(string(m.Type) + "/" + string(m.State)) }

func (r *memoryRecord) decode(key []byte) (*memory.Memory, error) {
	m, err := decode[memory.Memory](key, r.Memory)
	m.Group = r.Group
	return &m, err
}

func (t *Tx) memory(id memory.ID) (*memory.Memory, bool, error) {
	r, ok, err := load[memoryRecord](t, memoryKey(id))
	if err != nil || !ok {
		return nil, false, err
	}
	m, err := r.decode(memoryKey(id))
	return m, err == nil, err
}

// putMemory writes a derived memory if it differs from the stored one.
func (t *Tx) putMemory(m *memory.Memory) error {
	key := memoryKey(m.ID)
	old, known, err := load[memoryRecord](t, key)
	if err != nil {
		return err
	}
	plain, err := encode(m)
	if err != nil {
		return err
	}
	if known && old.Group == m.Group && bytes.Equal(old.Memory, plain) {
		return nil
	}
	indexed := false
	if known {
		was, err := old.decode(key)
		if err != nil {
			return err
		}
		if !bytes.Equal(memoryTimeKey(was), memoryTimeKey(m)) {
			if err := t.del(memoryTimeKey(was)); err != nil {
				return err
			}
		} else {
			indexed = bytes.Equal(memoryTimeValue(was), memoryTimeValue(m))
		}
	}
	if !indexed {
		if err := t.put(memoryTimeKey(m), memoryTimeValue(m)); err != nil {
			return err
		}
	}
	n, err := t.logDocument(old.Document, Document{Kind: MemoryDocument, ID: m.ID})
	if err != nil {
		return err
	}
	return t.save(key, memoryRecord{Group: m.Group, Document: n, Memory: plain})
}

// dropMemory removes a derived memory that no longer follows from any
// assertion.
func (t *Tx) dropMemory(id memory.ID) error {
	key := memoryKey(id)
	old, known, err := load[memoryRecord](t, key)
	if err != nil || !known {
		return err
	}
	was, err := old.decode(key)
	if err != nil {
		return err
	}
	if _, err := t.logDocument(old.Document, Document{Kind: MemoryDocument, ID: id, Gone: true}); err != nil {
		return err
	}
	if err := t.del(memoryTimeKey(was)); err != nil {
		return err
	}
	return t.del(key)
}

// Memory returns one memory, whatever its state. Of an erased memory, it
// returns only id and state. It returns [memory.ErrNotFound] for an unknown id,
// and a [memory.ColdError] for a cold memory. In a writing transaction, it also
// requests the cold memory.
func (t *Tx) Memory(id memory.ID) (*memory.Memory, error) {
	m, ok, err := t.memory(id)
	if err != nil || ok {
		return m, err
	}
	if _, erased, err := t.get(keyOf(kindErased, id[:])); err != nil || erased {
		return &memory.Memory{ID: id, State: memory.Erased}, err
	}
	if cold, err := t.wantCold(id); err != nil || cold {
		return nil, cmp.Or(err, error(&memory.ColdError{ID: id}))
	}
	return nil, fmt.Errorf("store: memory %s: %w", id, memory.ErrNotFound)
}

// MemoriesOf returns the memories with the given ids, in their order, as [Tx.Memory] does. It
// leaves out unknown ids, which are those of memories that were forgotten meanwhile. After an error
// it ends.
func (t *Tx) MemoriesOf(ids []memory.ID) iter.Seq2[*memory.Memory, error] {
	return func(yield func(*memory.Memory, error) bool) {
		for _, id := range ids {
			m, err := t.Memory(id)
			if errors.Is(err, memory.ErrNotFound) {
				continue
			}
			if !yield(m, err) || err != nil {
				return
			}
		}
	}
}

// Find returns the one memory whose id begins with prefix, ignoring case. It
// returns [memory.ErrAmbiguous] if there are several, and [memory.ErrNotFound]
// if there is none.
func (t *Tx) Find(prefix string) (*memory.Memory, error) {
	prefix = strings.ToLower(prefix)
	for _, k := range []kind{kindMemory, kindErased} {
		switch found, err := t.alike(k, prefix, 2); {
		case err != nil:
			return nil, err
		case len(found) == 1:
			return t.Memory(found[0])
		case len(found) == 2:
			return nil, fmt.Errorf("store: %q begins the ids of several memories, such as %s and %s: %w",
				prefix, found[0], found[1], memory.ErrAmbiguous)
		}
	}
	if id, err := t.findCold(prefix); err != nil || !id.IsZero() {
		return nil, cmp.Or(err, error(&memory.ColdError{ID: id}))
	}
	return nil, fmt.Errorf("store: no memory's id begins with %q: %w", prefix, memory.ErrNotFound)
}

// Alike returns the ids of the memories whose ids begin with prefix, ignoring case, in order and at
// most most. It leaves out erased and cold ones.
func (t *Tx) Alike(prefix string, most int) ([]memory.ID, error) {
	return t.alike(kindMemory, strings.ToLower(prefix), most)
}

// alike returns the ids of records of a kind that begin with prefix, in order and at most most.
func (t *Tx) alike(k kind, prefix string, most int) (out []memory.ID, err error) {
	start, err := leastID(prefix)
	if err != nil {
		return nil, err
	}
	from, skip := keyOf(k, start[:]), []byte(nil)
	for len(out) < most {
		page, err := t.page(keyOf(k), from, skip, false, min(most-len(out), alikePage))
		if err != nil || len(page) == 0 {
			return out, err
		}
		for _, e := range page {
			id := memory.ID(e.key[1:])
			if !strings.HasPrefix(id.String(), prefix) {
				return out, nil
			}
			out = append(out, id)
			from, skip = e.key, e.key
		}
	}
	return out, nil
}

// alikePage is how many records alike reads at a time, at most.
const alikePage = 16

var idText = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// leastID returns the first id that begins with prefix.
func leastID(prefix string) (id memory.ID, err error) {
	const chars = 26
	if prefix == "" || len(prefix) > chars {
		return id, fmt.Errorf("%w: id %q: want 1 to %d characters", memory.ErrInvalid, prefix, chars)
	}
	b, err := idText.DecodeString(prefix + strings.Repeat("0", chars-len(prefix)))
	if err != nil {
		return id, fmt.Errorf("%w: id %q: want digits, and letters but i, l, o and u", memory.ErrInvalid, prefix)
	}
	return memory.ID(b), nil
}

// Filter selects memories. The zero Filter selects all but the erased ones.
type Filter struct {
	Types  []memory.Type  // nil: all
	States []memory.State // nil: all
	Since  time.Time      // learnt at this time or later
	Until  time.Time      // learnt before this time; zero: no end
	Limit  int            // 0: no limit
	After  Place          // continue after this one; zero: from the beginning
	Oldest bool           // oldest first; otherwise newest first
}

// Place is the position of a memory in the order of [Tx.Memories]. It stays valid when the memory
// is gone.
type Place struct {
	Learnt time.Time // to the millisecond
	ID     memory.ID
}

// PlaceOf returns the place of a memory as it is stored.
func PlaceOf(m *memory.Memory) Place { return Place{m.Learnt, m.ID} }

// IsZero reports whether p is the zero place.
func (p Place) IsZero() bool { return p.ID.IsZero() && p.Learnt.IsZero() }

func (p Place) key() []byte { return keyOf(kindMemoryTime, timeKey(p.Learnt), p.ID[:]) }

// Memories returns the memories that match, by the time when they were learnt.
// After an error it ends.
func (t *Tx) Memories(f Filter) iter.Seq2[*memory.Memory, error] {
	return func(yield func(*memory.Memory, error) bool) {
		given, after := 0, f.After.key()
		for e, err := range t.scan(keyOf(kindMemoryTime), f.start(), !f.Oldest) {
			if err != nil {
				yield(nil, err)
				return
			}
			at, id := millisOf(e.key), memory.ID(e.key[1+timeSize:])
			switch early, late := !f.Since.IsZero() && at < f.Since.UnixMilli(), !f.Until.IsZero() && at >= f.Until.UnixMilli(); {
			case f.Oldest && late, !f.Oldest && early:
				return
			case early, late, !f.After.IsZero() && bytes.Equal(e.key, after), !f.fits(e.plain):
				continue
			}
			m, err := t.Memory(id)
			if !yield(m, err) || err != nil {
				return
			}
			if given++; given == f.Limit {
				return
			}
		}
	}
}

// All returns every memory that is hot, erased ones excepted, in the order of
// their ids. It is the quickest way to read them all. After an error it ends.
func (t *Tx) All() iter.Seq2[*memory.Memory, error] {
	return each(t, keyOf(kindMemory), nil, false, func(e entry) (*memory.Memory, error) {
		r, err := decode[memoryRecord](e.key, e.plain)
		if err != nil {
			return nil, err
		}
		return r.decode(e.key)
	})
}

// Hot returns the ids of the memories that [Tx.All] returns, without reading
// these, in a transaction that only reads.
func (t *Tx) Hot() iter.Seq[memory.ID] {
	return func(yield func(memory.ID) bool) {
		opt := badger.DefaultIteratorOptions
		opt.Prefix, opt.PrefetchValues = keyOf(kindMemory), false
		it := t.txn.NewIterator(opt)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			if !yield(memory.ID(it.Item().Key()[1:])) {
				return
			}
		}
	}
}

// start returns the key at which a scan begins, or nil for the first.
func (f *Filter) start() []byte {
	switch {
	case !f.After.IsZero():
		return f.After.key()
	case f.Oldest && !f.Since.IsZero():
		return keyOf(kindMemoryTime, timeKey(f.Since))
	case !f.Oldest && !f.Until.IsZero():
		return keyOf(kindMemoryTime, timeKey(f.Until))
	}
	return nil
}

func (f *Filter) fits(typeAndState []byte) bool {
	typ, state, _ := strings.Cut(string(typeAndState), "/")
	return (f.Types == nil || slices.Contains(f.Types, memory.Type(typ))) &&
		(f.States == nil && memory.State(state) != memory.Erased || slices.Contains(f.States, memory.State(state)))
}

// millisOf returns the time at the beginning of a key, in ms since 1970.
func millisOf(key []byte) int64 { return int64(binary.BigEndian.Uint64(key[1:]) ^ 1<<63) }

// seqOf returns the number at the end of a key.
func seqOf(key []byte) uint64 { return binary.BigEndian.Uint64(key[len(key)-seqSize:]) }
