package store

import (
	"bytes"
	"compress/flate"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
)

// paged is a line of packedPage: for every other one, the row has the complete time.
func paged(n int) *memory.Utterance {
	u := heard(n, fmt.Sprint("said ", n))
	if n%2 == 0 {
		u.At = u.At.UTC()
	}
	return u
}

// packedPage returns a page with n lines, which a store packed.
func packedPage(tb testing.TB, n int) entry {
	s := open(tb, tb.TempDir())
	update(tb, s, func(tx *Tx) error {
		var errs []error
		for i := range n {
			errs = append(errs, tx.PutRemoteUtterance(paged(i)))
		}
		return errors.Join(errs...)
	})
	packAll(tb, s, noon.Add(time.Hour), never)
	var pages []entry
	view(tb, s, func(tx *Tx) error { pages = collect(tb, tx.scan(keyOf(kindLines), nil, false)); return nil })
	if len(pages) != 1 {
		tb.Fatalf("%d pages", len(pages))
	}
	return pages[0]
}

func mustEncode(tb testing.TB, v any) []byte {
	b, err := encode(v)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// deflated returns a block of a page that has this sample.
func deflated(tb testing.TB, sample []byte, parts ...[]byte) []byte {
	var b bytes.Buffer
	z, err := flate.NewWriterDict(&b, flate.BestCompression, sample)
	if err == nil {
		_, err = z.Write(slices.Concat(parts...))
	}
	if err = errors.Join(err, z.Close()); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// readAll reads every line of a page.
func readAll(key, plain []byte) error {
	g, err := readLines(new(inflaters), key, plain)
	if err != nil {
		return err
	}
	for i := range g.count() {
		if _, err := g.record(i); err != nil {
			return err
		}
	}
	return nil
}

const goldenPage = "testdata/lines-3.hex"

// A page from the time when format 3 was new can be read. A change that breaks it needs another
// format, and a migration. The flag golden writes it again.
func TestGoldenPage(t *testing.T) {
	const n = blockLines + 2
	if *golden {
		page := packedPage(t, n)
		if err := os.WriteFile(goldenPage, []byte(hex.EncodeToString(page.key)+"\n"+hex.EncodeToString(page.plain)+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(goldenPage)
	if err != nil {
		t.Fatal(err)
	}
	first, second, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	key, err := hex.DecodeString(first)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := hex.DecodeString(second)
	if err != nil {
		t.Fatal(err)
	}
	g, err := readLines(new(inflaters), key, plain)
	if err != nil {
		t.Fatal(err)
	}
	if g.count() != n {
		t.Errorf("%d lines, want %d", g.count(), n)
	}
	tx := &Tx{store: &Store{secrets: newSecrets(testKey())}}
	for i := range n {
		u := paged(i)
		at := g.find(u.ID)
		if at < 0 {
			t.Errorf("line %d is not there", i)
			continue
		}
		r, err := g.record(at)
		if a, b := mustEncode(t, r.Utterance), mustEncode(t, u); err != nil || !bytes.Equal(a, b) || r.Document != uint64(i+1) || r.Outbox != 0 {
			t.Errorf("line %d: %+v, %v", i, r, err)
		}
		if l := g.row(at); l.event != tx.eventHint(u.Event) || !l.at().Equal(u.At) {
			t.Errorf("line %d: %+v", i, l)
		}
	}
}

// A line is read from its own block only: another block may be damaged.
func TestLineIsReadFromItsBlock(t *testing.T) {
	page := packedPage(t, 3*blockLines+5)
	p, err := decode[linePage](page.key, page.plain)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Blocks) != 4 {
		t.Fatalf("%d blocks", len(p.Blocks))
	}
	p.Blocks[1] = []byte("nonsense")
	plain, err := encode(p)
	if err != nil {
		t.Fatal(err)
	}
	g, err := readLines(new(inflaters), page.key, plain)
	if err != nil {
		t.Fatal(err)
	}
	for i := range g.count() {
		r, err := g.record(g.find(testID(i)))
		if spoilt := i/blockLines == 1; spoilt != errors.Is(err, memory.ErrDamaged) || !spoilt && (err != nil || r.Utterance.Text != fmt.Sprint("said ", i)) {
			t.Errorf("line %d: %+v, %v", i, r, err)
		}
	}
}

// A page with impossible content is damage, and the error names its place.
func TestPageWithInvalidContent(t *testing.T) {
	page := packedPage(t, blockLines+1)
	good, err := decode[linePage](page.key, page.plain)
	if err != nil {
		t.Fatal(err)
	}
	block := func(parts ...[]byte) []byte { return deflated(t, good.Sample, parts...) }
	first, err := new(inflaters).inflate(good.Blocks[0], good.Sample)
	if err != nil {
		t.Fatal(err)
	}
	last := good.Blocks[1]
	for name, p := range map[string]linePage{
		"a row too many":          {Rows: append(slices.Clone(good.Rows), good.Rows[:rowSize]...), Blocks: good.Blocks},
		"a block's rows too many": {Rows: slices.Concat(good.Rows, good.Rows), Blocks: good.Blocks},
		"a row cut short":         {Rows: good.Rows[1:], Blocks: good.Blocks},
		"no rows":                 {Blocks: good.Blocks},
		"nothing":                 {},
		"a block too many":        {Rows: good.Rows, Blocks: append(slices.Clone(good.Blocks), last)},
		"a block too few":         {Rows: good.Rows, Blocks: good.Blocks[:1]},
		"nothing to inflate":      {Rows: good.Rows, Blocks: [][]byte{nil, last}},
		"a block cut short":       {Rows: good.Rows, Blocks: [][]byte{good.Blocks[0][:len(good.Blocks[0])-5], last}},
		"a byte after a block":    {Rows: good.Rows, Blocks: [][]byte{append(slices.Clone(good.Blocks[0]), 0), last}},
		"a record too many":       {Rows: good.Rows, Blocks: [][]byte{block(first, []byte{0x80}), last}},
		"a record too few":        {Rows: good.Rows, Blocks: [][]byte{last, last}},
		"what is no record":       {Rows: good.Rows, Blocks: [][]byte{block(first[:len(first)-1], []byte{0xff}), last}},
	} {
		p.Sample = good.Sample
		plain, err := encode(p)
		if err != nil {
			t.Fatal(err)
		}
		if err := readAll(page.key, plain); !errors.Is(err, memory.ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := new(inflaters).inflate(block(make([]byte, 4*maxPageBytes+1)), good.Sample); err == nil {
		t.Error("a block was inflated beyond what can be")
	}
}

// Any page can be read or is reported as damaged.
func FuzzLines(f *testing.F) {
	page := packedPage(f, blockLines+2)
	f.Add(page.plain)
	f.Add(page.plain[:len(page.plain)/2])
	f.Fuzz(func(t *testing.T, plain []byte) {
		if err := readAll(page.key, plain); err != nil && !errors.Is(err, memory.ErrDamaged) {
			t.Fatal(err)
		}
	})
}

// A time that is completely in the row is not stored again, and comes back as it was.
func TestTimesOfPackedLines(t *testing.T) {
	tx := &Tx{store: &Store{secrets: newSecrets(testKey())}}
	for at, want := range map[time.Time]bool{
		noon: true, noon.Add(time.Millisecond): true, time.UnixMilli(0).UTC(): true, time.Unix(math.MaxUint32, 999_999_999).UTC(): true,
		noon.Add(time.Nanosecond): true, noon.In(time.FixedZone("", 3600)): true, noon.Add(1).In(time.FixedZone("", -3600)): true,
		time.UnixMilli(-1).UTC(): false, time.Unix(math.MaxUint32+1, 0).UTC(): false, {}: false,
	} {
		u := heard(1, "one")
		u.At = at
		r := utteranceRecord{Document: 7, Outbox: 9}
		var err error
		if r.Utterance, err = encode(u); err != nil {
			t.Fatal(err)
		}
		l, ok, err := tx.pack(r, u)
		if err != nil || ok != want {
			t.Fatalf("%v: packed %v, %v", at, ok, err)
		}
		if !ok {
			continue
		}
		row := lineOfRow(l.appendRow(nil))
		row.plain = l.plain
		again, err := row.unpack(nil)
		if err != nil || !bytes.Equal(again.Utterance, r.Utterance) || again.Document != 7 || again.Outbox != 9 || row.event != l.event {
			t.Errorf("%v: %+v, %v", at, again, err)
		}
	}
}

// The sample of a page comes from a line that is in it.
func TestPageSampleFollowsItsLines(t *testing.T) {
	s := open(t, t.TempDir())
	update(t, s, func(tx *Tx) error {
		first := heard(1, "one")
		first.Speaker = sentinel
		return errors.Join(tx.PutRemoteUtterance(first), tx.PutRemoteUtterance(heard(9, "two")))
	})
	packAll(t, s, noon.Add(time.Hour), never)
	named := func() (n int) {
		view(t, s, func(tx *Tx) error {
			for _, e := range collect(t, tx.scan(keyOf(kindLines), nil, false)) {
				p, err := decode[linePage](e.key, e.plain)
				if err != nil {
					return err
				}
				n += strings.Count(string(p.Sample), sentinel)
			}
			return nil
		})
		return n
	}
	if n := named(); n != 1 {
		t.Errorf("the first line is the sample %d times", n)
	}
	update(t, s, func(tx *Tx) error { return tx.Erase(Targets{Utterances: []memory.ID{testID(1)}}) })
	if n := named(); n != 0 {
		t.Error("the sample has what was erased")
	}
}
