package store

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
)

// Limits of one packing transaction, and of what it reads.
const (
	packLines = 256
	packBytes = 128 << 10 // of records before they are deflated
	packLooks = 2048
)

// PackUtterances packs utterances from since until before, if stored segments of the index hold
// them: their number in the document log is at most covered. Utterances in the outbox may be
// packed, and are sent from their page. One call does a limited amount of work, and returns from
// where to continue, or zero when all is done.
func (t *Tx) PackUtterances(since, before time.Time, covered uint64) (packed int, next time.Time, err error) {
	if t.state == nil {
		return 0, next, errReadOnly
	}
	var start []byte
	if !since.IsZero() {
		start = keyOf(kindUtteranceTime, timeKey(since))
	}
	var add []packedLine
	size, looked := 0, 0
	for e, err := range t.scan(keyOf(kindUtteranceTime), start, false) {
		if err != nil {
			return 0, next, err
		}
		if millisOf(e.key) >= before.UnixMilli() {
			break
		}
		// The last utterance may be read again in the next call, because others
		// may have the same time.
		if len(add) >= packLines || size >= packBytes || looked >= packLooks && millisOf(e.key) > since.UnixMilli() {
			next = time.UnixMilli(millisOf(e.key)).UTC()
			break
		}
		looked++
		l, ok, err := t.packable(memory.ID(e.key[1+timeSize:]), covered)
		if err != nil {
			return 0, next, err
		}
		if ok {
			add = append(add, l)
			size += len(l.plain)
		}
	}
	if len(add) == 0 {
		return 0, next, nil
	}
	t.store.lines.add(add) // before the commit, because the page decides
	for i := range add {
		if err := t.unindexLine(&add[i]); err != nil {
			return 0, next, err
		}
	}
	return len(add), next, t.intoPages(add)
}

// packable returns an utterance in its packed form. ok is false if it must not
// be packed.
func (t *Tx) packable(id memory.ID, covered uint64) (l packedLine, ok bool, err error) {
	key := utteranceKey(id)
	r, there, err := load[utteranceRecord](t, key)
	if err != nil || !there || r.Document == 0 || r.Document > covered || len(r.Utterance) > maxPageLine {
		return l, false, err
	}
	u, err := decode[memory.Utterance](key, r.Utterance)
	if err != nil {
		return l, false, err
	}
	return t.pack(r, &u)
}

// unindexLine removes the records of an utterance that goes into a page.
func (t *Tx) unindexLine(l *packedLine) error {
	r, err := l.record(utteranceKey(l.id))
	if err != nil {
		return err
	}
	t.state.head.Seq.Packed = max(t.state.head.Seq.Packed, r.Document)
	for _, key := range append(t.utteranceIndex(&r.Utterance), utteranceKey(l.id), keyOf(kindDocument, u64(r.Document))) {
		if err := t.del(key); err != nil {
			return err
		}
	}
	return nil
}

// intoPages puts utterances into the pages to which they belong by their
// places.
func (t *Tx) intoPages(add []packedLine) error {
	for len(add) > 0 {
		first := add[0].place()
		key, all := first, []packedLine(nil)
		at, err := t.page(keyOf(kindLines), first, nil, true, 1)
		if err != nil {
			return err
		}
		if len(at) > 0 {
			g, err := t.lines(at[0])
			if err != nil {
				return err
			}
			key = g.key
			if all, err = g.all(); err != nil {
				return err
			}
		}
		after, err := t.page(keyOf(kindLines), append(slices.Clone(first), 0), nil, false, 1)
		if err != nil {
			return err
		}
		k := len(add)
		if len(after) > 0 {
			k = slices.IndexFunc(add, func(l packedLine) bool { return bytes.Compare(l.place(), after[0].key) >= 0 })
			if k < 0 {
				k = len(add)
			}
		}
		all = slices.DeleteFunc(all, func(l packedLine) bool {
			return slices.ContainsFunc(add[:k], func(n packedLine) bool { return n.id == l.id })
		})
		all = append(all, add[:k]...)
		sorting.Sort(all, comparePlaces)
		if err := t.savePages(key, all); err != nil {
			return err
		}
		add = add[k:]
	}
	return nil
}

// savePages writes what lies between a key and the next page, as one or several
// pages.
func (t *Tx) savePages(key []byte, all []packedLine) error {
	for len(all) > 0 {
		n, size := 0, 0
		for n < len(all) && n < maxPageLines && (n == 0 || size+len(all[n].plain) <= maxPageBytes) {
			size += len(all[n].plain)
			n++
		}
		if err := t.saveLines(key, all[:n]); err != nil {
			return err
		}
		if all = all[n:]; len(all) > 0 {
			key = all[0].place()
		}
	}
	return nil
}

// LooseUtterances counts the utterances before a time that have records of
// their own.
func (t *Tx) LooseUtterances(before time.Time) (n int, err error) {
	prefix := keyOf(kindUtteranceTime)
	opt := badger.DefaultIteratorOptions
	opt.Prefix, opt.PrefetchValues = prefix, false
	it := t.txn.NewIterator(opt)
	defer it.Close()
	for it.Rewind(); it.ValidForPrefix(prefix) && millisOf(it.Item().Key()) < before.UnixMilli(); it.Next() {
		n++
	}
	return n, nil
}

// pendingPacked returns the documents of packed utterances with numbers greater
// than seq, in order. Packed utterances have no entry in the document log.
func (t *Tx) pendingPacked(seq uint64) (out []Document, err error) {
	if !t.store.lines.any() {
		return nil, nil
	}
	packed := uint64(0)
	if t.state != nil {
		packed = t.state.head.Seq.Packed
	} else if h, _, err := t.store.secrets.readHead(t.txn); err != nil {
		return nil, err
	} else {
		packed = h.Seq.Packed
	}
	if seq >= packed {
		return nil, nil
	}
	for l, err := range t.eachPacked() {
		if err != nil {
			return nil, err
		}
		n, err := l.numbers(l.place())
		if err != nil {
			return nil, err
		}
		if n.Document > seq {
			out = append(out, Document{Seq: n.Document, Kind: UtteranceDocument, ID: l.id})
		}
	}
	sorting.Sort(out, func(a, b Document) int { return cmp.Compare(a.Seq, b.Seq) })
	return out, nil
}
