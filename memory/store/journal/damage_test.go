package journal

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// folder is a journal's files in memory.
type folder map[string][]byte

func load(tb testing.TB, dir string) folder {
	tb.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		tb.Fatal(err)
	}
	f := folder{}
	for _, n := range names {
		if f[filepath.Base(n)], err = os.ReadFile(n); err != nil {
			tb.Fatal(err)
		}
	}
	return f
}

func (f folder) store(tb testing.TB, dir string) string {
	tb.Helper()
	for n, b := range f {
		if err := os.WriteFile(filepath.Join(dir, n), b, 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	return dir
}

// account checks that each of n entries came back as it was, or is named as lost.
func account(t *testing.T, what string, seqs []uint64, entries []Entry, damage []*CorruptError) {
	t.Helper()
	got := map[uint64][]byte{}
	for _, e := range entries {
		if got[e.Seq] != nil {
			t.Fatalf("%s: seq %x came twice", what, e.Seq)
		}
		got[e.Seq] = e.Data
	}
	for i, s := range seqs {
		named := false
		for _, d := range damage {
			if !errors.Is(d, ErrCorrupt) {
				t.Fatalf("%s: %v is no ErrCorrupt", what, d)
			}
			named = named || d.First <= s && s <= d.Last
		}
		switch b, ok := got[s]; {
		case ok && !bytes.Equal(b, entry(i)):
			t.Fatalf("%s: entry %d is %q", what, i, b)
		case !ok && !named:
			t.Fatalf("%s: entry %d is gone unseen; damage %v", what, i, damage)
		}
		delete(got, s)
	}
	if len(got) != 0 {
		t.Fatalf("%s: %d entries that nobody wrote", what, len(got))
	}
}

func headerSize(b []byte) int {
	return headFixed + int(binary.BigEndian.Uint32(b[26:])) + macSize
}

// Flips every bit of the frames and unencrypted fields of a segment in the middle, and of the last
// one; of the wrapped key only a sample, because the tests of package seal try them all. Whatever
// can't be read is named, and nothing else is lost.
func TestEveryBitFlip(t *testing.T) {
	dir := t.TempDir()
	opt := Options{MaxSegment: 1, Reserve: -1} // one segment per append
	j := open(t, dir, opt)
	var seqs []uint64
	for i := 0; i < 9; i += 3 {
		first, err := j.Append(context.Background(), entry(i), entry(i+1), entry(i+2))
		if err != nil {
			t.Fatal(err)
		}
		seqs = append(seqs, first, first+1, first+2)
	}
	j.Close()
	clean := load(t, dir)
	broken := t.TempDir()
	for _, name := range []string{fileName(2), fileName(3)} {
		clean.store(t, broken)
		b := clean[name]
		head := headerSize(b)
		for bit := 0; bit < len(b)*8; bit++ {
			if at := bit / 8; at >= headFixed && at < head && bit%509 != 0 {
				continue
			} else if at >= head && bit%3 != 0 {
				continue // skips two in three, to save time; every byte is still hit
			}
			c := bytes.Clone(b)
			c[bit/8] ^= 1 << (bit % 8)
			folder{name: c}.store(t, broken)
			j := open(t, broken, opt)
			entries, damage := drain(t, j, 0)
			account(t, name, seqs, entries, damage)
			lost := 9 - len(entries)
			if bit/8 >= head && lost > 1 || lost > 3 {
				t.Fatalf("%s: bit %d took %d entries with it", name, bit, lost)
			}
			if bit/8 < head && !slices.ContainsFunc(damage, func(c *CorruptError) bool {
				return c.File == name && strings.HasPrefix(c.Reason, "header: ")
			}) {
				t.Fatalf("%s: bit %d of the header is not named: %v", name, bit, damage)
			}
			if endFrame := len(b) - frameHead - tagSize; bit/8 < endFrame && len(damage) == 0 {
				t.Fatalf("%s: bit %d passed unseen", name, bit)
			}
		}
	}
}

// The last segment is cut at each length: what was before the cut is read, the torn rest is
// skipped, and new entries follow.
func TestTornTail(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir, small)
	var ends []int // of the frames
	fill(t, j, 0, 4)
	for range 4 {
		ends = append(ends, 0)
	}
	b := load(t, dir)[fileName(1)]
	ends[0] = headerSize(b) + frameHead + len(entry(0)) + tagSize
	for i := 1; i < 4; i++ {
		ends[i] = ends[i-1] + frameHead + len(entry(i)) + tagSize
	}
	if ends[3] != len(b) {
		t.Fatalf("frames end at %d of %d bytes", ends[3], len(b))
	}
	for cut := 0; cut <= len(b); cut++ {
		if cut > 0 && cut < headerSize(b)-2 && cut%101 != 0 || cut > headerSize(b)+frameHead+2 && cut%5 != 0 && !slices.Contains(ends, cut) {
			continue
		}
		whole := 0
		for whole < 4 && ends[whole] <= cut {
			whole++
		}
		torn := folder{fileName(1): b[:cut]}.store(t, t.TempDir())
		j := open(t, torn, small)
		fill(t, j, whole, 5)
		entries, damage := drain(t, j, 0)
		if expect(t, entries, 5); len(damage) != 0 {
			t.Fatalf("cut at %d: %v", cut, damage)
		}
		if after := load(t, torn)[fileName(1)]; !bytes.Equal(after, b[:cut]) {
			t.Fatalf("cut at %d: the torn segment was written to", cut)
		}
	}
}

func TestDamageHidesNoLaterEntries(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir, small)
	seqs := fill(t, j, 0, 200)
	j.Close()
	clean := load(t, dir)
	for name, change := range map[string]func(f folder){
		"a hole":    func(f folder) { clear(f[fileName(2)][2500:2700]) },
		"cut short": func(f folder) { f[fileName(2)] = f[fileName(2)][:2600] },
		"cut after the first frame": func(f folder) {
			b := f[fileName(2)]
			at := headerSize(b)
			f[fileName(2)] = b[:at+frameHead+int(binary.BigEndian.Uint32(b[at:]))]
		},
		"cut before the first frame": func(f folder) {
			b := f[fileName(2)]
			f[fileName(2)] = b[:headerSize(b)]
		},
		"cut in the header": func(f folder) { f[fileName(2)] = f[fileName(2)][:100] },
		"empty":             func(f folder) { f[fileName(2)] = nil },
		"a frame taken out": func(f folder) {
			b := f[fileName(2)]
			at := headerSize(b)
			n := frameHead + int(binary.BigEndian.Uint32(b[at:]))
			f[fileName(2)] = append(b[:at:at], b[at+n:]...)
		},
		"a frame twice": func(f folder) {
			b := f[fileName(2)]
			at := headerSize(b)
			n := frameHead + int(binary.BigEndian.Uint32(b[at:]))
			f[fileName(2)] = append(append(b[:at+n:at+n], b[at:at+n]...), b[at+n:]...)
		},
		"another's frames": func(f folder) {
			b, o := f[fileName(2)], f[fileName(3)]
			f[fileName(2)] = append(b[:headerSize(b):headerSize(b)], o[headerSize(o):]...)
		},
		"another's header": func(f folder) {
			b, o := f[fileName(2)], f[fileName(3)]
			f[fileName(2)] = append(o[:headerSize(o):headerSize(o)], b[headerSize(b):]...)
		},
		"another segment": func(f folder) { f[fileName(2)] = f[fileName(3)] },
	} {
		t.Run(name, func(t *testing.T) {
			f := folder{}
			for n, b := range clean {
				f[n] = bytes.Clone(b)
			}
			change(f)
			j := open(t, f.store(t, t.TempDir()), small)
			entries, damage := drain(t, j, 0)
			account(t, name, seqs, entries, damage)
			if len(damage) == 0 || damage[0].File != fileName(2) {
				t.Errorf("damage %v does not name %s", damage, fileName(2))
			}
			if last := entries[len(entries)-1]; last.Seq != seqs[199] {
				t.Errorf("the last entry is hidden")
			}
			if again, damage := drain(t, j, seqs[199]); len(again) != 1 || len(damage) != 0 {
				t.Errorf("from behind the damage: %d entries, %v", len(again), damage)
			}
		})
	}
	t.Run("a segment gone", func(t *testing.T) {
		f := folder{}
		for n, b := range clean {
			f[n] = b
		}
		delete(f, fileName(2))
		j := open(t, f.store(t, t.TempDir()), small)
		entries, damage := drain(t, j, 0)
		account(t, "a segment gone", seqs, entries, damage)
		if len(damage) != 1 || damage[0].File != fileName(2) || entries[len(entries)-1].Seq != seqs[199] {
			t.Errorf("%d entries, damage %v", len(entries), damage)
		}
	})
}

// A file that shrinks while the journal is open: the missing entries are named.
func TestTruncatedWhileOpen(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir, small)
	seqs := fill(t, j, 0, 100)
	b := load(t, dir)[fileName(1)]
	at := headerSize(b)
	for _, n := range []int{at + frameHead + int(binary.BigEndian.Uint32(b[at:])), at, at - 1, 0} {
		if err := os.Truncate(filepath.Join(dir, fileName(1)), int64(n)); err != nil {
			t.Fatal(err)
		}
		entries, damage := drain(t, j, 0)
		account(t, "cut while open", seqs, entries, damage)
		if entries[len(entries)-1].Seq != seqs[99] {
			t.Errorf("cut to %d: the last entry is hidden", n)
		}
	}
	if err := os.Remove(filepath.Join(dir, fileName(1))); err != nil {
		t.Fatal(err)
	}
	entries, damage := drain(t, j, 0)
	account(t, "removed while open", seqs, entries, damage)
}

// A frame with a right CRC and a wrong tag was changed by someone who knows the format.
func TestForgedFrame(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir, small)
	seqs := fill(t, j, 0, 4)
	j.Close()
	f := load(t, dir)
	b := f[fileName(1)]
	at := headerSize(b)
	n := int(binary.BigEndian.Uint32(b[at:]))
	b[at+frameHead] ^= 1
	binary.BigEndian.PutUint32(b[at+12:], checksum(b[at:], b[at+frameHead:at+frameHead+n]))
	entries, damage := drain(t, open(t, f.store(t, t.TempDir()), small), 0)
	account(t, "forged", seqs, entries, damage)
	if len(entries) != 3 || len(damage) != 1 || damage[0].First != seqs[0] || damage[0].Last != seqs[0] {
		t.Errorf("%d entries, damage %v", len(entries), damage)
	}
}

// The journal survives any bytes at the end of a segment.
func FuzzSegment(f *testing.F) {
	dir := f.TempDir()
	j := open(f, dir, small)
	seqs := fill(f, j, 0, 3)
	j.Close()
	b := load(f, dir)[fileName(1)]
	head := headerSize(b)
	f.Add(uint16(head), b[head:])
	f.Add(uint16(0), []byte(magic))
	f.Add(uint16(head), binary.BigEndian.AppendUint64([]byte{0, 0, 0, 16}, seqOf(1, 1)))
	f.Add(uint16(rand.N(len(b))), []byte{1, 2, 3})
	f.Fuzz(func(t *testing.T, keep uint16, rest []byte) {
		c := append(bytes.Clone(b[:min(int(keep), len(b))]), rest...)
		j := open(t, folder{fileName(1): c}.store(t, t.TempDir()), small)
		entries, _ := drain(t, j, 0)
		for _, e := range entries {
			if e.Seq < seqs[0] || e.Seq > seqs[2] || !bytes.Equal(e.Data, entry(int(e.Seq-seqs[0]))) {
				t.Fatalf("entry %x is %q", e.Seq, e.Data)
			}
		}
	})
}
