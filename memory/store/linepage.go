package store

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/fxamacker/cbor/v2"

	"github.com/locket-dev/locket/memory"
)

// FORMAT of a page of utterances: a CBOR array of rows, sample and blocks.
//
//	rows    26 bytes each, by place
//	        0   16  id
//	        16  6   time in milliseconds since 1970
//	        22  4   begin of the MAC of its event
//	sample  what lines of this page look like: the dictionary of each block
//	blocks  a CBOR array of byte strings. The first has the first 16 lines, the
//	        next the next, the last what is left: deflated (RFC 1951) with the
//	        sample as preset dictionary, one packedRecord after the other
//
// So one line is read by its row and the block that it is in, whatever else the
// page has.
type linePage struct {
	_      struct{} `cbor:",toarray"`
	Rows   []byte
	Sample []byte
	Blocks [][]byte
}

const (
	rowSize    = idSize + rowTime + eventHint
	rowTime    = 6
	eventHint  = 4 // bytes of a MAC
	blockLines = 16
	maxSample  = 1 << 10

	maxPageLines = 128
	maxPageBytes = 128 << 10 // of records, before they are deflated
	maxPageLine  = 16 << 10  // of one; a longer one is not packed
)

// packedRecord is what a page has of an utterance beside its row.
type packedRecord struct {
	_         struct{} `cbor:",toarray"`
	Document  uint64   // its number in the document log
	Outbox    uint64   // its number in the outbox, or 0
	Utterance memory.Utterance
	// The utterance has no id, and no time where the row has all of it.
}

// packedNumbers is a packedRecord of which the utterance is not looked at.
type packedNumbers struct {
	_         struct{} `cbor:",toarray"`
	Document  uint64
	Outbox    uint64
	Utterance cbor.RawMessage
}

// packedLine is an utterance as it lies in a page.
type packedLine struct {
	id    memory.ID
	time  [timeSize]byte // as in a key
	event [eventHint]byte
	plain []byte // a packedRecord; nil where only the row was read
}

func lineOfRow(row []byte) (l packedLine) {
	l.id = memory.ID(row[:idSize])
	copy(l.time[timeSize-rowTime:], row[idSize:])
	l.time[0] = 1 << 7 // the bit that [timeKey] turns
	l.event = [eventHint]byte(row[idSize+rowTime:])
	return l
}

func (l *packedLine) appendRow(rows []byte) []byte {
	return append(append(append(rows, l.id[:]...), l.time[timeSize-rowTime:]...), l.event[:]...)
}

func (l *packedLine) place() []byte { return keyOf(kindLines, l.time[:], l.id[:]) }

// at is the time, to the millisecond.
func (l *packedLine) at() time.Time { return time.UnixMilli(millisOfTime(l.time)).UTC() }

func millisOfTime(t [timeSize]byte) int64 { return int64(binary.BigEndian.Uint64(t[:]) ^ 1<<63) }

// secondOf gives the second of a time, as hints name it; ok is false for what no
// hint can name, and no row.
func secondOf(time [timeSize]byte) (second uint32, ok bool) {
	ms := millisOfTime(time)
	return uint32(ms / 1000), ms >= 0 && ms/1000 <= 1<<32-1
}

// record decodes what is packed; an error names the page.
func (l *packedLine) record(page []byte) (r packedRecord, err error) {
	r, err = decode[packedRecord](page, l.plain)
	r.Utterance.ID = l.id
	if r.Utterance.At.IsZero() {
		r.Utterance.At = l.at()
	}
	return r, err
}

func (l *packedLine) numbers(page []byte) (packedNumbers, error) {
	return decode[packedNumbers](page, l.plain)
}

// whole gives the record as it is outside of a page.
func (l *packedLine) whole(page []byte) (r utteranceRecord, err error) {
	p, err := l.record(page)
	if err != nil {
		return r, err
	}
	r = utteranceRecord{Document: p.Document, Outbox: p.Outbox}
	r.Utterance, err = encode(&p.Utterance)
	return r, err
}

// pack gives an utterance as it is to lie in a page; ok is false where it would
// not come out again as it is here.
func (t *Tx) pack(r utteranceRecord, u *memory.Utterance) (l packedLine, ok bool, err error) {
	l = packedLine{id: u.ID, event: t.eventHint(u.Event)}
	copy(l.time[:], timeKey(u.At))
	if _, ok = secondOf(l.time); !ok {
		return l, false, nil
	}
	p := packedRecord{Document: r.Document, Outbox: r.Outbox, Utterance: *u}
	p.Utterance.ID = memory.ID{}
	if _, east := u.At.Zone(); east == 0 && u.At.Equal(l.at()) {
		p.Utterance.At = time.Time{}
	}
	if l.plain, err = encode(&p); err != nil {
		return l, false, err
	}
	again, err := l.whole(utteranceKey(u.ID))
	return l, err == nil && bytes.Equal(again.Utterance, r.Utterance), nil
}

// lines is a page that was read. Its blocks are opened as they are needed. It is
// for one goroutine.
type lines struct {
	linePage
	key     []byte
	plain   []byte // from which it was decoded
	records [][][]byte
	inflate *inflaters
}

// readLines reads a page's rows.
func readLines(in *inflaters, key, plain []byte) (*lines, error) {
	p, err := decode[linePage](key, plain)
	if err != nil {
		return nil, err
	}
	n := len(p.Rows) / rowSize
	if n == 0 || len(p.Rows)%rowSize != 0 || len(p.Blocks) != (n+blockLines-1)/blockLines {
		return nil, damaged(key, "says what can't be")
	}
	return &lines{linePage: p, key: key, plain: plain, records: make([][][]byte, len(p.Blocks)), inflate: in}, nil
}

// count is how many lines there are.
func (g *lines) count() int { return len(g.Rows) / rowSize }

// row gives a line without what was said.
func (g *lines) row(i int) packedLine { return lineOfRow(g.Rows[i*rowSize:]) }

// find gives the index of a line, -1 where there is none of the id.
func (g *lines) find(id memory.ID) int {
	for i := range g.count() {
		if memory.ID(g.Rows[i*rowSize:][:idSize]) == id {
			return i
		}
	}
	return -1
}

// line gives a line with its record.
func (g *lines) line(i int) (l packedLine, err error) {
	l = g.row(i)
	b := i / blockLines
	if g.records[b] == nil {
		if g.records[b], err = g.open(b); err != nil {
			return l, err
		}
	}
	l.plain = g.records[b][i%blockLines]
	return l, nil
}

// record gives what was said as the line of an index.
func (g *lines) record(i int) (r packedRecord, err error) {
	l, err := g.line(i)
	if err != nil {
		return r, err
	}
	return l.record(g.key)
}

// all gives every line with its record.
func (g *lines) all() ([]packedLine, error) {
	out := make([]packedLine, g.count())
	for i := range out {
		var err error
		if out[i], err = g.line(i); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// open gives the records of a block.
func (g *lines) open(b int) ([][]byte, error) {
	rest, err := g.inflate.inflate(g.Blocks[b], g.Sample)
	if err != nil {
		return nil, damaged(g.key, "can't be inflated: "+err.Error())
	}
	records := make([][]byte, min(blockLines, g.count()-b*blockLines))
	var one cbor.RawMessage
	for i := range records {
		after, err := decoding.UnmarshalFirst(rest, &one)
		if err != nil {
			return nil, damaged(g.key, "can't be decoded: "+err.Error())
		}
		records[i], rest = rest[:len(rest)-len(after)], after
	}
	if len(rest) > 0 {
		return nil, damaged(g.key, "says what can't be")
	}
	return records, nil
}

// saveLines writes a page, or takes it away where nothing is left for it.
func (t *Tx) saveLines(key []byte, all []packedLine) error {
	if len(all) == 0 {
		return t.del(key)
	}
	var p linePage
	var err error
	if p.Sample, err = sampleOf(key, &all[0]); err != nil {
		return err
	}
	var b bytes.Buffer
	z, err := flate.NewWriterDict(&b, flate.BestCompression, p.Sample)
	for i := range all {
		p.Rows = all[i].appendRow(p.Rows)
		if err == nil {
			_, err = z.Write(all[i].plain)
		}
		if err == nil && (i%blockLines == blockLines-1 || i == len(all)-1) {
			if err = z.Close(); err == nil {
				p.Blocks = append(p.Blocks, bytes.Clone(b.Bytes()))
				b.Reset()
				z.Reset(&b)
			}
		}
	}
	if err != nil {
		return fmt.Errorf("store: page of utterances: %w", err)
	}
	t.store.lines.addPage(key) // before the commit, as all hints
	return t.save(key, p)
}

// sampleOf makes a page's sample of a line that is in it: what is taken out of
// the page leaves no trace there.
func sampleOf(page []byte, l *packedLine) ([]byte, error) {
	r, err := decode[packedRecord](page, l.plain)
	if err != nil {
		return nil, err
	}
	r.Utterance.Text = ""
	b, err := encode(&r)
	return b[:min(len(b), maxSample)], err
}

// inflaters are readers of deflated blocks, which are large to make. Concurrent
// use is fine.
type inflaters struct{ idle sync.Pool }

// inflate gives the plaintext of a block, of which nothing is to follow.
func (f *inflaters) inflate(block, sample []byte) ([]byte, error) {
	from := bytes.NewReader(block)
	z, ok := f.idle.Get().(io.ReadCloser)
	if !ok {
		z = flate.NewReaderDict(from, sample)
	} else if err := z.(flate.Resetter).Reset(from, sample); err != nil {
		return nil, err
	}
	defer f.idle.Put(z)
	var b bytes.Buffer
	b.Grow(8 << 10)
	n, err := b.ReadFrom(io.LimitReader(z, 4*maxPageBytes+1))
	switch {
	case err != nil:
		return nil, err
	case n > 4*maxPageBytes:
		return nil, fmt.Errorf("over %d bytes", 4*maxPageBytes)
	case from.Len() > 0:
		return nil, fmt.Errorf("%d bytes too many", from.Len())
	}
	return b.Bytes(), nil
}
