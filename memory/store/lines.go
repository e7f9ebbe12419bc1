package store

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/locket-dev/locket/memory"
)

// A packed utterance lies with its neighbours in time in one record, a page, and
// has no other record: no index by time or event, and no entry in the document
// log. It is here whole, and everything finds it as before. To change it is to
// take it out of its page first.
//
// Pages part time among them: an utterance belongs to the page with the greatest
// key that is not after its own place, which is its time and then its id.
//
// FORMAT of a page: a CBOR array of rows and body.
//
//	rows  28 bytes each, by place
//	      0   16  id
//	      16  8   time in milliseconds, as in the key
//	      24  4   begin of the MAC of its event
//	body  zlib over a CBOR array of utteranceRecord, in the order of the rows;
//	      their ids are empty
//
// What was taken out stays in Badger's files until [Store.Compact], as
// everything that is replaced does.
type linePage struct {
	_    struct{} `cbor:",toarray"`
	Rows []byte
	Body []byte
}

const (
	rowSize   = idSize + timeSize + eventHint
	eventHint = 4 // bytes of a MAC

	maxPageLines = 128
	maxPageBytes = 128 << 10 // of records, before they are deflated
	maxPageLine  = 16 << 10  // of one; a longer one is not packed
)

// packedLine is an utterance as it lies in a page.
type packedLine struct {
	id     memory.ID
	time   [timeSize]byte
	event  [eventHint]byte
	record utteranceRecord // its utterance has no id
}

func (l *packedLine) place() []byte { return keyOf(kindLines, l.time[:], l.id[:]) }

// utterance gives what is packed; an error names the page.
func (l *packedLine) utterance(page []byte) (u memory.Utterance, err error) {
	u, err = decode[memory.Utterance](page, l.record.Utterance)
	u.ID = l.id
	return u, err
}

// whole gives the record as it is outside of a page.
func (l *packedLine) whole(page []byte) (r utteranceRecord, err error) {
	u, err := l.utterance(page)
	if err != nil {
		return r, err
	}
	r = l.record
	r.Utterance, err = encode(&u)
	return r, err
}

// pack gives an utterance as it is to lie in a page; ok is false where it would
// not come out again as it is here.
func (t *Tx) pack(r utteranceRecord, u *memory.Utterance) (l packedLine, ok bool, err error) {
	l = packedLine{id: u.ID, record: r}
	copy(l.time[:], timeKey(u.At))
	l.event = t.eventHint(u.Event)
	bare := *u
	bare.ID = memory.ID{}
	if l.record.Utterance, err = encode(&bare); err != nil {
		return l, false, err
	}
	again, err := l.whole(utteranceKey(u.ID))
	return l, err == nil && bytes.Equal(again.Utterance, r.Utterance), nil
}

func (t *Tx) eventHint(e memory.EventID) (h [eventHint]byte) {
	copy(h[:], t.eventPrefix(kindUtteranceEvent, e)[1:])
	return h
}

// lines is a page that was read.
type lines struct {
	key   []byte
	plain []byte // from which it was decoded
	all   []packedLine
}

// readLines decodes a page.
func readLines(key, plain []byte) (*lines, error) {
	p, err := decode[linePage](key, plain)
	if err != nil {
		return nil, err
	}
	z, err := zlib.NewReader(bytes.NewReader(p.Body))
	if err != nil {
		return nil, damaged(key, "can't be inflated: "+err.Error())
	}
	body, err := io.ReadAll(io.LimitReader(z, 4*maxPageBytes))
	if err != nil {
		return nil, damaged(key, "can't be inflated: "+err.Error())
	}
	records, err := decode[[]utteranceRecord](key, body)
	if err != nil {
		return nil, err
	}
	if len(records) == 0 || len(p.Rows) != len(records)*rowSize {
		return nil, damaged(key, "says what can't be")
	}
	g := &lines{key: key, plain: plain, all: make([]packedLine, len(records))}
	for i := range records {
		g.all[i] = lineOfRow(p.Rows[i*rowSize:])
		g.all[i].record = records[i]
	}
	return g, nil
}

func lineOfRow(row []byte) (l packedLine) {
	l.id = memory.ID(row[:idSize])
	l.time = [timeSize]byte(row[idSize:])
	l.event = [eventHint]byte(row[idSize+timeSize:])
	return l
}

// saveLines writes a page, or takes it away where nothing is left for it.
func (t *Tx) saveLines(key []byte, all []packedLine) error {
	if len(all) == 0 {
		return t.del(key)
	}
	var p linePage
	records := make([]utteranceRecord, len(all))
	for i := range all {
		l := &all[i]
		p.Rows = append(append(append(p.Rows, l.id[:]...), l.time[:]...), l.event[:]...)
		records[i] = l.record
	}
	plain, err := encode(records)
	if err != nil {
		return err
	}
	defer clear(plain)
	var b bytes.Buffer
	z, err := zlib.NewWriterLevel(&b, zlib.BestCompression)
	if err == nil {
		_, err = z.Write(plain)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		return fmt.Errorf("store: page of utterances: %w", err)
	}
	p.Body = b.Bytes()
	return t.save(key, p)
}

// linesFrom gives the pages in which what lies from one place on may be, as far
// as the last: the one that begins before it, and those that begin after.
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

// lines reads a page, and keeps the last that was read: neighbours are often
// asked for together.
func (t *Tx) lines(e entry) (g *lines, err error) {
	if t.read != nil && bytes.Equal(t.read.key, e.key) && bytes.Equal(t.read.plain, e.plain) {
		return t.read, nil
	}
	if g, err = readLines(e.key, e.plain); err == nil {
		t.read = g
	}
	return g, err
}

// placesOf are the bounds of what a second holds.
func placesOf(second uint32) (first, last []byte) {
	from, to := int64(second)*1000, int64(second)*1000+999
	return keyOf(kindLines, u64(uint64(from)^1<<63)), append(keyOf(kindLines, u64(uint64(to)^1<<63)), bytes.Repeat([]byte{0xff}, idSize)...)
}

// packedAt looks for a packed utterance; its index is -1 where there is none.
func (t *Tx) packedAt(id memory.ID) (g *lines, at int, err error) {
	for _, second := range t.store.lines.ofID(id) {
		first, last := placesOf(second)
		at = -1
		err = t.linesFrom(first, last, func(p *lines) (bool, error) {
			g, at = p, slices.IndexFunc(p.all, func(l packedLine) bool { return l.id == id })
			return at < 0, nil
		})
		if err != nil || at >= 0 {
			return g, at, err
		}
	}
	return nil, -1, nil
}

// packedOf gives the ids of the packed utterances of one event.
func (t *Tx) packedOf(e memory.EventID) (ids []memory.ID, err error) {
	hint := t.eventHint(e)
	for _, second := range t.store.lines.ofEvent(hint) {
		first, last := placesOf(second)
		err := t.linesFrom(first, last, func(p *lines) (bool, error) {
			for i := range p.all {
				if p.all[i].event != hint {
					continue
				}
				u, err := p.all[i].utterance(p.key)
				if err != nil {
					return false, err
				}
				if u.Event == e {
					ids = append(ids, u.ID)
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

// utteranceRecord gives an utterance's record wherever it lies.
func (t *Tx) utteranceRecord(id memory.ID) (r utteranceRecord, packed, ok bool, err error) {
	r, ok, err = load[utteranceRecord](t, utteranceKey(id))
	if err != nil || ok {
		return r, false, ok, err
	}
	g, i, err := t.packedAt(id)
	if err != nil || i < 0 {
		return r, false, false, err
	}
	r, err = g.all[i].whole(g.key)
	return r, true, err == nil, err
}

// loosen gives a packed utterance records of its own again.
func (t *Tx) loosen(id memory.ID) (r utteranceRecord, err error) {
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

// leavePage takes an utterance out of its page, where it lies in one.
func (t *Tx) leavePage(id memory.ID) error {
	g, i, err := t.packedAt(id)
	if err != nil || i < 0 {
		return err
	}
	return t.saveLines(g.key, slices.Delete(slices.Clone(g.all), i, i+1))
}

// comparePlaces orders by time, then by id.
func comparePlaces(a, b packedLine) int {
	return cmp.Or(bytes.Compare(a.time[:], b.time[:]), bytes.Compare(a.id[:], b.id[:]))
}

// secondOf gives the second of a time, as hints name it; ok is false for what no
// hint can name.
func secondOf(time [timeSize]byte) (second uint32, ok bool) {
	ms := int64(binary.BigEndian.Uint64(time[:]) ^ 1<<63)
	return uint32(ms / 1000), ms >= 0 && ms/1000 <= 1<<32-1
}

// eachPacked gives everything that is packed, by place.
func (t *Tx) eachPacked() iter.Seq2[*packedLine, error] {
	return func(yield func(*packedLine, error) bool) {
		if !t.store.lines.any() {
			return
		}
		for e, err := range t.scan(keyOf(kindLines), nil, false) {
			var g *lines
			if err == nil {
				g, err = t.lines(e)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range g.all {
				if !yield(&g.all[i], nil) {
					return
				}
			}
		}
	}
}
