package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/locket-dev/locket/crypto/seal"
)

// small has small segments, and no reserve, so that a full temporary folder does not matter.
var small = Options{MaxSegment: 4 << 10, Reserve: -1}

func testIdentity(tb testing.TB) *seal.Identity {
	tb.Helper()
	k, err := seal.KeyFromBytes(bytes.Repeat([]byte{7}, seal.KeySize))
	if err != nil {
		tb.Fatal(err)
	}
	return seal.IdentityFromSeed(k)
}

func open(tb testing.TB, dir string, opt Options) *Journal {
	tb.Helper()
	j, err := Open(dir, testIdentity(tb).Recipient(), opt)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { j.Close() })
	return j
}

func entry(i int) []byte { return fmt.Appendf(nil, "entry %d %s", i, bytes.Repeat([]byte{'x'}, i%97)) }

// fill appends entries from to to-1, one by one, and returns their seqs.
func fill(tb testing.TB, j *Journal, from, to int) []uint64 {
	tb.Helper()
	var seqs []uint64
	for i := from; i < to; i++ {
		seq, err := j.Append(context.Background(), entry(i))
		if err != nil {
			tb.Fatal(err)
		}
		seqs = append(seqs, seq)
	}
	return seqs
}

// drain closes j and reads all entries, and all damage, from seq on.
func drain(tb testing.TB, j *Journal, from uint64) (entries []Entry, damage []*CorruptError) {
	tb.Helper()
	if err := j.Close(); err != nil {
		tb.Fatal(err)
	}
	r, err := j.Reader(testIdentity(tb), from)
	if err != nil {
		tb.Fatal(err)
	}
	defer r.Close()
	for {
		e, err := r.Next(context.Background())
		var c *CorruptError
		switch {
		case err == nil:
			entries = append(entries, e)
		case errors.As(err, &c):
			damage = append(damage, c)
		case errors.Is(err, ErrClosed):
			return entries, damage
		default:
			tb.Fatal(err)
		}
	}
}

// expect checks that entries are those that fill(…, 0, n) wrote.
func expect(t *testing.T, entries []Entry, n int) {
	t.Helper()
	if len(entries) != n {
		t.Fatalf("%d entries, want %d", len(entries), n)
	}
	for i, e := range entries {
		if !bytes.Equal(e.Data, entry(i)) {
			t.Fatalf("entry %d is %q", i, e.Data)
		}
		if i > 0 && e.Seq <= entries[i-1].Seq {
			t.Fatalf("seq %x follows %x", e.Seq, entries[i-1].Seq)
		}
	}
}

func TestAppendAndRead(t *testing.T) {
	dir := t.TempDir()
	seqs := fill(t, open(t, dir, small), 0, 300)
	j := open(t, dir, small)
	fill(t, j, 300, 400)
	entries, damage := drain(t, j, 0)
	expect(t, entries, 400)
	if len(damage) != 0 {
		t.Errorf("damage: %v", damage)
	}
	for i, s := range seqs {
		if entries[i].Seq != s {
			t.Fatalf("entry %d has seq %x, Append said %x", i, entries[i].Seq, s)
		}
	}
	st := j.Stats()
	if st.Entries != 400 || st.Appended != 100 || st.Last != entries[399].Seq || st.Segments < 5 {
		t.Errorf("stats: %+v", st)
	}
	for _, from := range []int{1, 57, 299, 300, 399} {
		got, _ := drain(t, j, seqs[0]+0)
		if len(got) != 400 {
			t.Fatal("from the first seq: not all")
		}
		got, _ = drain(t, j, entries[from].Seq)
		if len(got) != 400-from || got[0].Seq != entries[from].Seq {
			t.Errorf("from %d: %d entries", from, len(got))
		}
	}
}

func TestAppendBatchesAndLimits(t *testing.T) {
	j := open(t, t.TempDir(), small)
	ctx := context.Background()
	first, err := j.Append(ctx, entry(0), entry(1), entry(2))
	if err != nil {
		t.Fatal(err)
	}
	next, err := j.Append(ctx, entry(3))
	if err != nil || next != first+3 {
		t.Errorf("after three entries at %x the next is at %x, %v", first, next, err)
	}
	if _, err := j.Append(ctx); !errors.Is(err, ErrSize) {
		t.Errorf("no entry: %v", err)
	}
	if _, err := j.Append(ctx, make([]byte, MaxEntry+1)); !errors.Is(err, ErrSize) {
		t.Errorf("too large: %v", err)
	}
	if _, err := j.Append(ctx, nil, make([]byte, MaxEntry)); err != nil {
		t.Errorf("an empty entry and a largest one: %v", err)
	}
	got, damage := drain(t, j, 0)
	if len(got) != 6 || len(got[4].Data) != 0 || len(got[5].Data) != MaxEntry || len(damage) != 0 {
		t.Errorf("%d entries, damage %v", len(got), damage)
	}
	expect(t, got[:4], 4)
	if _, err := j.Append(ctx, entry(0)); !errors.Is(err, ErrClosed) {
		t.Errorf("append after close: %v", err)
	}
	if err := j.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
}

func TestFilesAreForTheOwnerOnly(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no modes")
	}
	dir := filepath.Join(t.TempDir(), "journal")
	fill(t, open(t, dir, small), 0, 200)
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("folder: %v, %v", info.Mode(), err)
	}
	names, _ := filepath.Glob(filepath.Join(dir, "*"))
	if len(names) < 2 {
		t.Fatalf("%d files", len(names))
	}
	for _, n := range names {
		if info, err := os.Stat(n); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", n, info.Mode(), err)
		}
	}
}

// A locked node has only the recipient: nothing that it writes is unencrypted, and no other
// identity can read it.
func TestLocked(t *testing.T) {
	dir := t.TempDir()
	r, err := seal.ParseRecipient(testIdentity(t).Recipient().String())
	if err != nil {
		t.Fatal(err)
	}
	j, err := Open(dir, r, small)
	if err != nil {
		t.Fatal(err)
	}
	fill(t, j, 0, 100)
	if _, err := j.Reader(seal.NewIdentity(), 0); !errors.Is(err, ErrIdentity) {
		t.Errorf("another identity: %v", err)
	}
	j.Close()
	names, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, n := range names {
		b, err := os.ReadFile(n)
		if err != nil || bytes.Contains(b, []byte("entry")) || bytes.Contains(b, []byte("xxxx")) {
			t.Fatalf("%s shows what it holds (%v)", n, err)
		}
	}
	got, _ := drain(t, open(t, dir, small), 0)
	expect(t, got, 100)
}

func TestReaderWithAZeroedIdentity(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir, small)
	fill(t, j, 0, 3)
	id := testIdentity(t)
	r, err := j.Reader(id, 0)
	if err != nil {
		t.Fatal(err)
	}
	id.Zero()
	for range 2 {
		if _, err := r.Next(context.Background()); !errors.Is(err, seal.ErrZeroed) {
			t.Fatalf("with a zeroed identity: %v", err)
		}
	}
}

func TestReaderWaits(t *testing.T) {
	j := open(t, t.TempDir(), small)
	r, err := j.Reader(testIdentity(t), 0)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := r.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("nothing there, context over: %v", err)
	}
	got, failed := make(chan Entry), make(chan error, 1)
	go func() {
		for {
			e, err := r.Next(context.Background())
			if err != nil {
				failed <- err
				return
			}
			got <- e
		}
	}()
	for i := range 150 { // over several segments
		fill(t, j, i, i+1)
		if e := <-got; !bytes.Equal(e.Data, entry(i)) {
			t.Fatalf("entry %d is %q", i, e.Data)
		}
	}
	j.Close()
	if err := <-failed; !errors.Is(err, ErrClosed) {
		t.Errorf("after close: %v", err)
	}
}

func TestReleaseAndRotate(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir, small)
	seqs := fill(t, j, 0, 300)
	before := j.Stats()
	if err := j.Release(seqs[149]); err != nil {
		t.Fatal(err)
	}
	after := j.Stats()
	if after.Segments >= before.Segments || after.Bytes >= before.Bytes {
		t.Errorf("release took nothing away: %+v, %+v", before, after)
	}
	names, _ := filepath.Glob(filepath.Join(dir, "*"))
	if len(names) != after.Segments {
		t.Errorf("%d files, %d segments", len(names), after.Segments)
	}
	r, err := j.Reader(testIdentity(t), seqs[150])
	if err != nil {
		t.Fatal(err)
	}
	for i := 150; i < 300; i++ {
		if e, err := r.Next(context.Background()); err != nil || !bytes.Equal(e.Data, entry(i)) {
			t.Fatalf("entry %d: %q, %v", i, e.Data, err)
		}
	}
	if err := j.Rotate(); err != nil {
		t.Fatal(err)
	}
	if err := j.Release(seqs[299]); err != nil {
		t.Fatal(err)
	}
	if st := j.Stats(); st.Entries != 0 || st.Segments != 1 {
		t.Errorf("everything rotated and released: %+v", st)
	}
	j.Close()

	j = open(t, dir, small)
	again := fill(t, j, 0, 2)
	if again[0] <= seqs[299] {
		t.Errorf("seq %x is used again: %x was released", again[0], seqs[299])
	}
	got, damage := drain(t, j, seqs[299]+1)
	expect(t, got, 2)
	if len(damage) != 0 {
		t.Errorf("damage: %v", damage)
	}
}
