package store

import (
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"slices"

	"github.com/locket-dev/locket/crypto/length"
	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
)

// Packed is the result of [Tx.MakePack]: the sealed bodies of whole groups for a
// remote store, and what [Tx.Freeze] needs to replace the groups by stubs.
type Packed struct {
	Body  []byte
	Count int                  // number of memories in it
	Left  map[memory.ID]string // the requested memories that can't turn cold now, with the reason
	page  coldPage
	units []unitRecords
	last  []byte // plaintext of the last entry

	deflate *flate.Writer // takes 800 kB, and is used for all entries
}

// unitRecords are the records of a group on this device.
type unitRecords struct {
	name    string
	kept    []coldRecord // these go into the pack
	members []coldMember
	drop    [][]byte // other records that are deleted, because they follow from those kept
	said    []memory.Assertion
}

// Cooling has what the store itself can't know about memories that turn cold.
type Cooling struct {
	// Covered is the number of the document log up to which stored segments of
	// the index cover everything.
	Covered uint64
	// Notes returns the names of the small values that have to stay with a
	// memory's stub, because they are needed to erase it. nil: none.
	Notes func(memory.ID) []string
	// OnFrozen gets the assertions about the memories that turned cold, within the
	// transaction. It may be nil.
	OnFrozen func(*Tx, []memory.Assertion) error
}

func (c *Cooling) notes(id memory.ID) []string {
	if c.Notes == nil {
		return nil
	}
	return c.Notes(id)
}

// maxUnit bounds the number of records of a unit, and maxUnitBytes their size
// with keys and guards. One transaction must be able to bring the whole unit
// back and derive it again.
const (
	maxUnit      = 400
	maxUnitBytes = 250 << 10
)

// tooMuch is the reason for a group that one transaction could not bring back.
const tooMuch = "too much was said of it"

// MakePack seals the bodies of memories, each with its whole group. It changes
// nothing in the store. A memory is left out, with the reason in Left, if it is
// not at the relay or in the index's segments yet, if it is pinned, in the
// vault or a core block, or if it owns a blob.
func (t *Tx) MakePack(ids []memory.ID, c Cooling) (*Packed, error) {
	p := &Packed{Left: map[memory.ID]string{}}
	done := map[memory.ID]bool{}
	for _, id := range ids {
		if done[id] {
			continue
		}
		u, why, err := t.unitRecords(id, c)
		if err != nil {
			return nil, err
		}
		if why != "" {
			p.Left[id] = why
			continue
		}
		for i := range u.members {
			done[memory.ID(u.members[i].ID)] = true
		}
		if err := p.add(t, u); err != nil {
			return nil, err
		}
	}
	if p.Count > 0 {
		p.pad()
	}
	p.page.Size = int64(len(p.Body))
	return p, nil
}

// pad extends a pack to one of a few lengths, by zeros after the deflated bytes
// of its last entry, so that its size does not reveal how much was said.
func (p *Packed) pad() {
	u := &p.page.Units[len(p.page.Units)-1]
	more := int(length.Padded(int64(len(p.Body)))) - len(p.Body)
	p.Body = p.Body[:u.Off]
	u.Key, u.Len = p.put(append(p.last, make([]byte, more)...), u.Group)
}

// put seals an entry with a new key, and returns the key and the entry's
// length.
func (p *Packed) put(squeezed, group []byte) (key []byte, n uint32) {
	k := seal.NewKey()
	defer k.Zero()
	from := len(p.Body)
	p.Body = k.Seal(p.Body, squeezed, group)
	p.last = squeezed
	return k.Bytes(), uint32(len(p.Body) - from)
}

func (p *Packed) add(t *Tx, u *unitRecords) error {
	plain, err := encode(u.kept)
	if err != nil {
		return err
	}
	defer clear(plain)
	var b bytes.Buffer
	if p.deflate == nil {
		p.deflate, err = flate.NewWriter(&b, flate.DefaultCompression)
	} else {
		p.deflate.Reset(&b)
	}
	if err == nil {
		_, err = p.deflate.Write(plain)
		err = errors.Join(err, p.deflate.Close())
	}
	if err != nil {
		return fmt.Errorf("store: pack: %w", err)
	}
	mac := t.groupPrefix(u.name)[1:]
	from := len(p.Body)
	key, n := p.put(b.Bytes(), mac)
	p.page.Units = append(p.page.Units, coldUnit{Group: mac, Key: key, Off: uint32(from), Len: n, Members: u.members})
	p.units = append(p.units, *u)
	p.Count += len(u.members)
	return nil
}

// unitRecords reads the group of a memory. why says why the group can't turn cold; it is
// empty if it can.
func (t *Tx) unitRecords(id memory.ID, c Cooling) (u *unitRecords, why string, err error) {
	m, ok, err := t.memory(id)
	if err != nil || !ok {
		return nil, "it is not here", err
	}
	u = &unitRecords{name: m.Group}
	mac := t.groupPrefix(m.Group)[1:]
	if _, _, i, err := t.unitOfGroup(mac); err != nil || i >= 0 {
		return nil, "a part of its group is cold", err
	}
	var ids []memory.ID
	for e, err := range t.scan(t.groupPrefix(m.Group), nil, false) {
		if err != nil {
			return nil, "", err
		}
		ids = append(ids, memory.ID(e.key[1+macSize:]))
		u.drop = append(u.drop, e.key)
	}
	for _, id := range ids {
		if why, err := t.member(u, id, ids, c); err != nil || why != "" {
			return nil, why, err
		}
	}
	if len(u.kept) > maxUnit {
		return nil, tooMuch, nil
	}
	sorting.Sort(u.kept, func(a, b coldRecord) int { return bytes.Compare(a.Key, b.Key) })
	u.kept = slices.CompactFunc(u.kept, func(a, b coldRecord) bool { return bytes.Equal(a.Key, b.Key) })
	size := 0
	for _, r := range u.kept {
		size += len(r.Key) + len(r.Plain) + perRecord
	}
	if size > maxUnitBytes {
		return nil, tooMuch, nil
	}
	return u, "", nil
}

// member adds one memory of a group.
func (t *Tx) member(u *unitRecords, id memory.ID, group []memory.ID, c Cooling) (why string, err error) {
	// New words may have moved the memory into another group. If it lay in two packs, only the second would be found.
	if _, _, i, err := t.unitOf(id); err != nil || i >= 0 {
		return "a part of it is cold", err
	}
	key := memoryKey(id)
	plain, ok, err := t.get(key)
	if err != nil || !ok {
		return "one of its group follows from nothing", err
	}
	r, err := decode[memoryRecord](key, plain)
	if err != nil {
		return "", err
	}
	m, err := r.decode(key)
	if err != nil {
		return "", err
	}
	switch blob := m.Fields.Resource != nil && m.Fields.Resource.Blob != ""; {
	case m.Pinned:
		return "pinned", nil
	case m.Type == memory.Vault:
		return "in the vault", nil
	case m.Type == memory.Core:
		return "a core block", nil
	case blob:
		return "it has a recording or a photo", nil
	case r.Document > c.Covered:
		return "not in the index's segments yet", nil
	}
	u.kept = append(u.kept, coldRecord{Key: key, Plain: plain})
	u.drop = append(u.drop, memoryTimeKey(m), keyOf(kindDocument, u64(r.Document)))
	for e, err := range t.scan(keyOf(kindAssertion, id[:]), nil, false) {
		if err != nil {
			return "", err
		}
		a, err := decode[assertionRecord](e.key, e.plain)
		if err != nil {
			return "", err
		}
		if waits, err := t.posted(a.Outbox); err != nil || waits {
			return "not at the relay yet", err
		}
		u.kept = append(u.kept, coldRecord{Key: e.key, Plain: e.plain})
		u.drop = append(u.drop, keyOf(kindDot, dotKey(a.Assertion.Dot)))
		u.said = append(u.said, a.Assertion)
	}
	if why, err := t.changesFor(u, id, group); err != nil || why != "" {
		return why, err
	}
	cm := coldMember{ID: id[:], Type: uint8(slices.Index(memory.Types[:], m.Type)), State: uint8(slices.Index(coldStates[:], m.State)), Learnt: m.Learnt.UnixMilli()}
	for _, name := range c.notes(id) {
		key, err := t.namedKey(kindMeta, name)
		if err != nil {
			return "", err
		}
		plain, ok, err := t.get(key)
		if err != nil {
			return "", err
		}
		if ok {
			cm.Notes = append(cm.Notes, coldRecord{Key: key, Plain: plain})
			u.drop = append(u.drop, key)
		}
	}
	u.members = append(u.members, cm)
	return "", nil
}

// changesFor adds a memory's history. If a change has words of a memory outside
// the group, the whole history stays on the device, because erasing that memory
// has to reach the words.
func (t *Tx) changesFor(u *unitRecords, id memory.ID, group []memory.ID) (why string, err error) {
	for e, err := range t.scan(keyOf(kindChangeOf, id[:]), nil, false) {
		if err != nil {
			return "", err
		}
		u.kept = append(u.kept, coldRecord{Key: e.key})
		key := changeKey(seqOf(e.key))
		plain, ok, err := t.get(key)
		if err != nil {
			return "", err
		}
		if !ok {
			continue
		}
		c, err := decode[memory.Change](key, plain)
		if err != nil {
			return "", err
		}
		for _, named := range []memory.ID{c.Memory, c.Other} {
			if !named.IsZero() && !slices.Contains(group, named) {
				return "its history names another", nil
			}
		}
		u.kept = append(u.kept, coldRecord{Key: key, Plain: plain})
	}
	return "", nil
}

// Freeze replaces packed groups by stubs, after the remote store has
// acknowledged the pack under the name at. A group that has changed since stays
// as it is, and the key of its entry is discarded. Freeze returns how many
// memories turned cold. c must be as for MakePack.
func (t *Tx) Freeze(p *Packed, at []byte, c Cooling) (frozen int, err error) {
	if t.state == nil {
		return 0, errReadOnly
	}
	page := coldPage{At: at, Size: p.page.Size}
	byMember := map[memory.MemberID]dots{}
	for i := range p.units {
		u := &p.units[i]
		now, why, err := t.unitRecords(memory.ID(u.members[0].ID), c)
		if err != nil {
			return 0, err
		}
		if why != "" || !u.same(now) {
			continue
		}
		for _, r := range u.kept {
			if err := t.del(r.Key); err != nil {
				return 0, err
			}
		}
		for _, key := range u.drop {
			if err := t.del(key); err != nil {
				return 0, err
			}
		}
		if c.OnFrozen != nil {
			if err := c.OnFrozen(t, u.said); err != nil {
				return 0, err
			}
		}
		for i := range u.said {
			d := u.said[i].Dot
			if _, ok := byMember[d.Member]; !ok {
				if byMember[d.Member], err = t.coldDots(d.Member); err != nil {
					return 0, err
				}
			}
			byMember[d.Member] = byMember[d.Member].with(d.Seq)
		}
		page.Units = append(page.Units, p.page.Units[i])
		frozen += len(u.members)
	}
	for member, d := range byMember {
		if d, err = t.fill(member, d); err != nil {
			return 0, err
		}
		if err := t.save(coldDotsKey(member), d); err != nil {
			return 0, err
		}
	}
	// A pack from which no memory turned cold gets a page, too, because the
	// page names what has to be deleted from the remote store.
	t.state.head.Seq.Cold += frozen
	t.state.head.Seq.Pack++
	n := t.state.head.Seq.Pack
	t.store.cold.add(n, &page) // before the commit, because the page decides
	return frozen, t.save(coldKey(n), page)
}

// same reports whether a group is still as it was packed.
func (u *unitRecords) same(now *unitRecords) bool {
	equal := func(a, b coldRecord) bool { return bytes.Equal(a.Key, b.Key) && bytes.Equal(a.Plain, b.Plain) }
	return u.name == now.name && slices.EqualFunc(u.kept, now.kept, equal) &&
		slices.EqualFunc(u.members, now.members, func(a, b coldMember) bool {
			return bytes.Equal(a.ID, b.ID) && slices.EqualFunc(a.Notes, b.Notes, equal)
		})
}
