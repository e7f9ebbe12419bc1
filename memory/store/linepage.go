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
//	rows    26 bytes each, ordered by place
//	        0   16  id
//	        16  6   time in milliseconds since 1970
//	        22  4   first bytes of the MAC of its event
//	sample  a typical line of this page: the dictionary of each block
//	blocks  a CBOR array of byte strings. The first has the first 16 lines, the
//	        next the next 16, the last the rest: deflated (RFC 1951) with the
//	        sample as preset dictionary, one packedRecord after the other
//
// So one line is read by its row and its block, whatever else the page has.
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
	maxPageLine  = 16 << 10  // of one record; a longer one is not packed
)

// packedRecord is what a page stores of an utterance besides its row.
type packedRecord struct {
	_         struct{} `cbor:",toarray"`
	Document  uint64   // its number in the document log
	Outbox    uint64   // its number in the outbox, or 0
	Utterance memory.Utterance
	// The utterance has no id. Its time is missing if the row has it
	// completely.
}

// packedNumbers is a packedRecord without its utterance.
type packedNumbers struct {
	_         struct{} `cbor:",toarray"`
	Document  uint64
	Outbox    uint64
	Utterance cbor.RawMessage
}

// packedLine is an utterance in the form in which a page has it.
type packedLine struct {
	id    memory.ID
	time  [timeSize]byte // as in a key
	event [eventHint]byte
	plain []byte // a packedRecord; nil if only the row was read
}

func lineOfRow(row []byte) (l packedLine) {
	l.id = memory.ID(row[:idSize])
	copy(l.time[timeSize-rowTime:], row[idSize:])
	l.time[0] = 1 << 7 // the bit that [timeKey] inverts
	l.event = [eventHint]byte(row[idSize+rowTime:])
	return l
}

func (l *packedLine) appendRow(rows []byte) []byte {
	return append(append(append(rows, l.id[:]...), l.time[timeSize-rowTime:]...), l.event[:]...)
}

func (l *packedLine) place() []byte { return keyOf(kindLines, l.time[:], l.id[:]) }

// at returns the time, precise to the millisecond.
func (l *packedLine) at() time.Time { return time.UnixMilli(millisOfTime(l.time)).UTC() }

func millisOfTime(t [timeSize]byte) int64 { return int64(binary.BigEndian.Uint64(t[:]) ^ 1<<63) }

// secondOf returns the second of a time, in the form that hints use. ok is
// false if neither hints nor rows can express it.
func secondOf(time [timeSize]byte) (second uint32, ok bool) {
	ms := millisOfTime(time)
	return uint32(ms / 1000), ms >= 0 && ms/1000 <= 1<<32-1
}

// record parses the packed record. Its error names the page.
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

// unpack returns the record in the form that it has outside a page.
func (l *packedLine) unpack(page []byte) (r utteranceRecord, err error) {
	p, err := l.record(page)
	if err != nil {
		return r, err
	}
	r = utteranceRecord{Document: p.Document, Outbox: p.Outbox}
	r.Utterance, err = encode(&p.Utterance)
	return r, err
}

// pack returns an utterance in its packed form. ok is false if unpacking would
// not give exactly the same utterance.
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
	again, err := l.unpack(utteranceKey(u.ID))
	return l, err == nil && bytes.Equal(again.Utterance, r.Utterance), nil
}

// lines is a page that was read. Its blocks are inflated when they are needed.
// It must be used by one goroutine only.
type lines struct {
	linePage
	key     []byte
	plain   []byte // the bytes from which it was decoded
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

// count returns the number of lines.
func (g *lines) count() int { return len(g.Rows) / rowSize }

// row returns a line without its text.
func (g *lines) row(i int) packedLine { return lineOfRow(g.Rows[i*rowSize:]) }

// find returns the index of a line, or -1 if no line has the id.
func (g *lines) find(id memory.ID) int {
	for i := range g.count() {
		if memory.ID(g.Rows[i*rowSize:][:idSize]) == id {
			return i
		}
	}
	return -1
}

// line returns a line with its record.
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

// record returns the record of the line with an index.
func (g *lines) record(i int) (r packedRecord, err error) {
	l, err := g.line(i)
	if err != nil {
		return r, err
	}
	return l.record(g.key)
}

// all returns every line with its record.
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

// open returns the records of a block.
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

// saveLines writes a page, or deletes it if no lines are left.
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
	t.store.lines.addPage(key) // before the commit, like all hints
	return t.save(key, p)
}

// sampleOf makes a page's sample from a line that is in the page, so that a
// line that was taken out leaves no trace.
func sampleOf(page []byte, l *packedLine) ([]byte, error) {
	r, err := decode[packedRecord](page, l.plain)
	if err != nil {
		return nil, err
	}
	r.Utterance.Text = ""
	b, err := encode(&r)
	return b[:min(len(b), maxSample)], err
}

// inflaters is a pool of readers for deflated blocks, because they are large to
// make. It is safe for concurrent use.
type inflaters struct{ idle sync.Pool }

// inflate returns the plaintext of a block. Nothing may follow the deflated
// data.
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
