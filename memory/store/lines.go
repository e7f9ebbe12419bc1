package store

import (
	"bytes"
	"cmp"
	"iter"
	"slices"

	"github.com/locket-dev/locket/memory"
)

// A packed utterance lies in a page: one record that it shares with its
// neighbours in time. It has no other record: no index by time or event, and no
// entry in the document log. The utterance is complete, and every search finds
// it as before. To change it, it is first taken out of its page.
//
// Pages divide time: an utterance belongs to the page with the greatest key
// that is not after the utterance's place, which is its time followed by its
// id.
//
// After an utterance was taken out, Badger's files still contain it until
// [Store.Compact], like everything that is replaced.

func (t *Tx) eventHint(e memory.EventID) (h [eventHint]byte) {
	copy(h[:], t.eventPrefix(kindUtteranceEvent, e)[1:])
	return h
}

// linesFrom reads the pages that may have what lies between two places: the one
// that begins before from, and those that begin after it.
func (t *Tx) linesFrom(from, last []byte, look func(*lines) (more bool, err error)) error {
	at, err := t.page(keyOf(kindLines), from, nil, true, 1)
	if err != nil {
		return err
	}
	if len(at) == 0 {
		at, err = t.page(keyOf(kindLines), from, nil, false, 1)
	}
	for err == nil && len(at) > 0 && bytes.Compare(at[0].key, last) <= 0 {
		g, err := t.lines(at[0])
		if err != nil {
			return err
		}
		if more, err := look(g); err != nil || !more {
			return err
		}
		at, err = t.page(keyOf(kindLines), g.key, g.key, false, 1)
		if err != nil {
			return err
		}
	}
	return err
}

// lines reads a page. It caches the last page, because neighbours are often
// read together.
func (t *Tx) lines(e entry) (g *lines, err error) {
	if t.read != nil && bytes.Equal(t.read.key, e.key) && bytes.Equal(t.read.plain, e.plain) {
		return t.read, nil
	}
	if g, err = readLines(&t.store.inflate, e.key, e.plain); err == nil {
		t.read = g
	}
	return g, err
}

// placesOf returns the bounds of a second.
func placesOf(second uint32) (first, last []byte) {
	from, to := int64(second)*1000, int64(second)*1000+999
	return keyOf(kindLines, u64(uint64(from)^1<<63)), append(keyOf(kindLines, u64(uint64(to)^1<<63)), bytes.Repeat([]byte{0xff}, idSize)...)
}

// packedAt finds a packed utterance. The index is -1 if there is none.
func (t *Tx) packedAt(id memory.ID) (g *lines, at int, err error) {
	for _, second := range t.store.lines.ofID(id) {
		first, last := placesOf(second)
		for _, key := range t.store.lines.pagesOf(first, last) {
			plain, ok, err := t.get(key)
			if err == nil && ok {
				g, err = t.lines(entry{key, plain})
			}
			if err != nil {
				return nil, -1, err
			}
			if ok {
				if at = g.find(id); at >= 0 {
					return g, at, nil
				}
			}
		}
		at = -1 // the cached page is of another state of the store
		err = t.linesFrom(first, last, func(p *lines) (bool, error) {
			g, at = p, p.find(id)
			return at < 0, nil
		})
		if err != nil || at >= 0 {
			return g, at, err
		}
	}
	return nil, -1, nil
}

// packedOf returns the ids of the packed utterances of one event.
func (t *Tx) packedOf(e memory.EventID) (ids []memory.ID, err error) {
	hint := t.eventHint(e)
	for _, second := range t.store.lines.ofEvent(hint) {
		first, last := placesOf(second)
		err := t.linesFrom(first, last, func(p *lines) (bool, error) {
			for i := range p.count() {
				if l := p.row(i); l.event != hint {
					continue
				}
				r, err := p.record(i)
				if err != nil {
					return false, err
				}
				if r.Utterance.Event == e {
					ids = append(ids, r.Utterance.ID)
				}
			}
			return true, nil
		})
		if err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// utteranceRecord returns an utterance's record, packed or not.
func (t *Tx) utteranceRecord(id memory.ID) (r utteranceRecord, packed, ok bool, err error) {
	r, ok, err = load[utteranceRecord](t, utteranceKey(id))
	if err != nil || ok {
		return r, false, ok, err
	}
	g, i, err := t.packedAt(id)
	if err != nil || i < 0 {
		return r, false, false, err
	}
	l, err := g.line(i)
	if err != nil {
		return r, false, false, err
	}
	r, err = l.unpack(g.key)
	return r, true, err == nil, err
}

// unpackLine takes an utterance out of its page and gives it records of its own.
func (t *Tx) unpackLine(id memory.ID) (r utteranceRecord, err error) {
	r, packed, _, err := t.utteranceRecord(id)
	if err != nil || !packed {
		return r, err
	}
	u, err := decode[memory.Utterance](utteranceKey(id), r.Utterance)
	if err == nil {
		err = t.leavePage(id)
	}
	if err != nil {
		return r, err
	}
	for _, k := range t.utteranceIndex(&u) {
		if err := t.put(k, nil); err != nil {
			return r, err
		}
	}
	if r.Document, err = t.logDocument(0, Document{Kind: UtteranceDocument, ID: id}); err != nil {
		return r, err
	}
	return r, t.save(utteranceKey(id), r)
}

// leavePage removes an utterance from its page, if it is in one.
func (t *Tx) leavePage(id memory.ID) error {
	g, i, err := t.packedAt(id)
	if err != nil || i < 0 {
		return err
	}
	all, err := g.all()
	if err != nil {
		return err
	}
	return t.saveLines(g.key, slices.Delete(all, i, i+1))
}

// comparePlaces orders lines by time, then by id.
func comparePlaces(a, b packedLine) int {
	return cmp.Or(bytes.Compare(a.time[:], b.time[:]), bytes.Compare(a.id[:], b.id[:]))
}

// eachPacked returns everything that is packed, by place.
func (t *Tx) eachPacked() iter.Seq2[packedLine, error] {
	return func(yield func(packedLine, error) bool) {
		if !t.store.lines.any() {
			return
		}
		for e, err := range t.scan(keyOf(kindLines), nil, false) {
			var g *lines
			if err == nil {
				g, err = t.lines(e)
			}
			if err != nil {
				yield(packedLine{}, err)
				return
			}
			for i := range g.count() {
				l, err := g.line(i)
				if !yield(l, err) || err != nil {
					return
				}
			}
		}
	}
}
