package spool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
)

func open(t testing.TB, dir string, limit int64) *Spool {
	t.Helper()
	s, lost, err := Open(dir, limit)
	if err != nil || len(lost) > 0 {
		t.Fatal(lost, err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func keep(t testing.TB, s *Spool, seq uint64, due bool) {
	t.Helper()
	if err := s.Keep(ID{7, seq}, time.UnixMilli(1773489600000+int64(seq)), fmt.Appendf(nil, "message %d", seq), due); err != nil {
		t.Fatal(err)
	}
}

// next returns the entries that are due, opened.
func next(t testing.TB, s *Spool, id *seal.Identity) (out []uint64) {
	t.Helper()
	for s.Due() > 0 {
		e, err := s.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		b, err := seal.OpenWith(id, e.Data)
		if err != nil || string(b) != fmt.Sprintf("message %d", e.Seq) || e.Boot != 7 || e.At.UnixMilli() != 1773489600000+int64(e.Seq) {
			t.Fatalf("%+v: %q, %v", e.ID, b, err)
		}
		out = append(out, e.Seq)
	}
	return out
}

func TestSpool(t *testing.T) {
	dir, id := t.TempDir(), seal.NewIdentity()
	s := open(t, dir, 0)
	if err := s.Keep(ID{7, 1}, time.Now(), []byte("x"), false); !errors.Is(err, ErrNoKey) {
		t.Errorf("without a key: %v", err)
	}
	for _, bad := range []string{"", "age1pq1nonsense", id.Recipient().String() + "x"} {
		if err := s.SetKey(bad); err == nil {
			t.Errorf("key %.20q was taken", bad)
		}
	}
	if err := s.SetKey(id.Recipient().String()); err != nil {
		t.Fatal(err)
	}
	for seq := range uint64(10) {
		keep(t, s, seq, seq >= 8)
	}
	keep(t, s, 3, false) // keeping it twice stores it once
	for _, seq := range []uint64{0, 1, 2, 99} {
		s.Done(ID{7, seq})
	}
	if got := fmt.Sprint(next(t, s, id)); got != "[8 9]" || s.Len() != 7 {
		t.Errorf("%s are due, %d are kept", got, s.Len())
	}
	for _, seq := range []uint64{4, 99} {
		if err := s.Quarantine(ID{7, seq}); err != nil {
			t.Error(err)
		}
	}
	s.Requeue(ID{7, 9})
	if got := fmt.Sprint(next(t, s, id)); got != "[9]" {
		t.Errorf("%s are due", got)
	}
	if _, _, err := Open(dir, 0); err == nil {
		t.Error("two processes have one spool")
	}
	if n, size, err := Waiting(dir); err != nil || n < s.Len() || size == 0 {
		t.Errorf("%d entries wait, %d bytes, %v", n, size, err)
	}
	if n, _, err := Waiting(filepath.Join(dir, "none")); n != 0 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	// All unanswered entries are due at the next start. (Answered ones may come again with them:
	// the node knows them.)
	s = open(t, dir, 0)
	all := next(t, s, id)
	for _, want := range []uint64{3, 4, 5, 6, 7, 8, 9} {
		found := 0
		for _, got := range all {
			if got == want {
				found++
			}
		}
		if found != 1 {
			t.Errorf("%d is due %d times: %v", want, found, all)
		}
	}
	keep(t, s, 20, false) // the key was stored
	for _, seq := range append(all, 20) {
		s.Done(ID{7, seq})
	}
	if s.Len() != 0 {
		t.Errorf("%d are left", s.Len())
	}
	if _, err := os.Stat(filepath.Join(dir, byName)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what was put by is still there: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A refused entry stays where it is if it can't be put by, as on a full disk.
func TestRefusedStaysWithoutRoom(t *testing.T) {
	dir, id := t.TempDir(), seal.NewIdentity()
	s := open(t, dir, 0)
	if err := s.SetKey(id.Recipient().String()); err != nil {
		t.Fatal(err)
	}
	keep(t, s, 1, false)
	keep(t, s, 2, false)
	if err := s.Quarantine(ID{7, 1}); err != nil {
		t.Fatal(err)
	}
	full, err := os.Open(filepath.Join(dir, byName)) // nothing can be written to it
	if err != nil {
		t.Fatal(err)
	}
	s.by.f.Close()
	s.by.f = full
	if err := s.Quarantine(ID{7, 2}); err == nil || s.Len() != 2 {
		t.Errorf("%v, %d are kept", err, s.Len())
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir, 0)
	if got := fmt.Sprint(next(t, s, id)); got != "[1 2]" {
		t.Errorf("%s are due", got)
	}
}

// Each file is limited in size, and so are all files together.
func TestSpoolIsBounded(t *testing.T) {
	dir, id := t.TempDir(), seal.NewIdentity()
	s := open(t, dir, 600<<10)
	if err := s.SetKey(id.Recipient().String()); err != nil {
		t.Fatal(err)
	}
	b := bytes.Repeat([]byte("sound"), 10<<10)
	seq := uint64(0)
	for ; ; seq++ {
		err := s.Keep(ID{1, seq}, time.Time{}, b, false)
		if errors.Is(err, ErrFull) {
			break
		}
		if err != nil || seq > 100 {
			t.Fatal(seq, err)
		}
	}
	if names, err := fileNames(dir); err != nil || len(names) != 3 || seq < 10 {
		t.Errorf("%v, %v: %d entries", names, err, seq)
	}
	for i := range seq {
		s.Done(ID{1, i})
	}
	if names, err := fileNames(dir); err != nil || len(names) != 1 || s.size != headSize {
		t.Errorf("%v, %v: %d bytes", names, err, s.size)
	}
	keep(t, s, 1000, true)
}

// A file that is cut short anywhere still has each complete entry, and one with any changed byte
// has no entry that was not written.
func TestDamage(t *testing.T) {
	dir, id := t.TempDir(), seal.NewIdentity()
	s := open(t, dir, 0)
	if err := s.SetKey(id.Recipient().String()); err != nil {
		t.Fatal(err)
	}
	var ends []int64
	for seq := range uint64(3) {
		keep(t, s, seq, false)
		ends = append(ends, s.size)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, fileName(1))
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n <= len(whole); n += 13 {
		if err := os.WriteFile(path, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		f, left, err := openFile(path)
		if err != nil {
			t.Fatalf("%d bytes: %v", n, err)
		}
		want := 0
		for _, e := range ends {
			if int64(n) >= e {
				want++
			}
		}
		if len(f.open) != want || (left > 0) != (n > 0 && n != headSize && (want == 0 || int64(n) != ends[want-1])) {
			t.Errorf("%d bytes: %d entries, %d left", n, len(f.open), left)
		}
		f.close()
	}
	for i := headSize; i < len(whole); i += 7 {
		b := bytes.Clone(whole)
		b[i] ^= 0x40
		for at := headSize; ; {
			e, n := parseEntry(b[at:])
			if n == 0 {
				break
			}
			if got, err := seal.OpenWith(id, e.Data); err != nil || string(got) != fmt.Sprintf("message %d", e.Seq) {
				t.Fatalf("byte %d: %q, %v", i, got, err)
			}
			at += n
		}
	}
	for _, bad := range []string{"something else here", magic + "\x00\x02"} {
		if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := Open(dir, 0); err == nil {
			t.Errorf("%q was taken for a spool", bad)
		}
	}
}

// TestThreatStolenSpool: somebody who has a spool's files learns nothing of what was said. The
// process that continues with them cannot read earlier entries either.
func TestThreatStolenSpool(t *testing.T) {
	dir, id := t.TempDir(), seal.NewIdentity()
	s := open(t, dir, 0)
	if err := s.SetKey(id.Recipient().String()); err != nil {
		t.Fatal(err)
	}
	said := []byte("the dentist is on Tuesday")
	if err := s.Keep(ID{7, 1}, time.Now(), said, true); err != nil {
		t.Fatal(err)
	}
	e, err := s.Next(t.Context())
	if err != nil || bytes.Contains(e.Data, said) {
		t.Errorf("the spool can be read: %v", err)
	}
	if b, err := seal.OpenWith(id, e.Data); err != nil || !bytes.Equal(b, said) {
		t.Errorf("the journal's key does not open it: %v", err)
	}
	if err := s.Quarantine(e.ID); err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadDir(dir)
	if err != nil || len(list) < 3 {
		t.Fatal(list, err)
	}
	for _, d := range list {
		b, err := os.ReadFile(filepath.Join(dir, d.Name()))
		if err != nil || bytes.Contains(b, said[:8]) || bytes.Contains(b, []byte("AGE-SECRET-KEY")) {
			t.Errorf("%s: %v", d.Name(), err)
		}
		if info, err := d.Info(); err != nil || info.Mode().Perm()&0o077 != 0 && d.Name() != keyFile {
			t.Errorf("%s: %v, %v", d.Name(), info.Mode(), err)
		}
	}
}
