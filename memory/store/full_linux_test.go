package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/internal/diskspace"
	"github.com/locket-dev/locket/memory"
)

// endless is a reader for the data of other programs that fill the disk.
type endless struct{}

func (endless) Read(b []byte) (int, error) { return len(b), nil }

// leave fills a disk until only this many bytes are free.
func leave(t *testing.T, disk string, n uint64) {
	t.Helper()
	free, err := diskspace.Free(disk)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(disk, "others"))
	if err == nil && free > n {
		_, err = io.CopyN(f, endless{}, int64(free-n))
	}
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

// On a disk that other programs have really filled, a killed store opens with room for one table,
// can be read, rests and is closed.
func TestFullDisk(t *testing.T) {
	disk := t.TempDir()
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=160m"); err != nil {
		t.Fatalf("a small file system is needed for this test, which takes root: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(disk, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	opt := Options{Dir: filepath.Join(disk, "store"), Key: seal.NewKey(), Small: true}
	s, err := Open(opt)
	if err != nil {
		t.Fatal(err)
	}
	n, value := pile(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(opt); err != nil { // no table is being written now
		t.Fatal(err)
	}
	update(t, s, func(tx *Tx) error { return tx.PutMeta(fmt.Sprint(n), value) })
	n++
	killed := opt
	killed.Dir = filepath.Join(disk, "killed")
	if err := os.CopyFS(killed.Dir, os.DirFS(opt.Dir)); err != nil { // as a killed process leaves it
		t.Fatal(err)
	}
	if err := errors.Join(s.Close(), os.RemoveAll(opt.Dir)); err != nil {
		t.Fatal(err)
	}
	leave(t, disk, 12<<20)
	if s, err = Open(killed); err != nil {
		t.Fatal(err)
	}
	if err := s.MaintainCompaction(); err != nil {
		t.Error(err)
	}
	for s.compacts && !settled(s.db) { // which ends the process
		if err := s.MaintainCompaction(); err != nil {
			t.Error(err)
		}
	}
	if err := s.UpdateInReserve(t.Context(), func(*Tx) error { return nil }); !errors.Is(err, memory.ErrNoSpace) {
		t.Errorf("it is written: %v", err)
	}
	hasAll(t, s, n, value)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(disk, "others")); err != nil {
		t.Fatal(err)
	}
}

// On a disk without room for what a killed store has left, the store is opened for reading alone,
// and for writing as soon as there is room.
func TestOpenOnAFullDisk(t *testing.T) {
	disk := t.TempDir()
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=160m"); err != nil {
		t.Fatalf("a small file system is needed for this test, which takes root: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(disk, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	opt := Options{Dir: filepath.Join(disk, "store"), Key: seal.NewKey(), Small: true}
	s, err := Open(opt)
	if err != nil {
		t.Fatal(err)
	}
	n, value := pile(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(opt); err != nil { // no table is being written now
		t.Fatal(err)
	}
	for range 8 { // only in the log
		update(t, s, func(tx *Tx) error { return tx.PutMeta(fmt.Sprint(n), value) })
		n++
	}
	killed := opt
	killed.Dir = filepath.Join(disk, "killed")
	if err := os.CopyFS(killed.Dir, os.DirFS(opt.Dir)); err != nil { // as a killed process leaves it
		t.Fatal(err)
	}
	if err := errors.Join(s.Close(), os.RemoveAll(opt.Dir)); err != nil {
		t.Fatal(err)
	}
	leave(t, disk, 0)
	for range 2 { // a store that is closed while the disk is full opens again
		if s, err = Open(killed); err != nil {
			t.Fatal(err)
		}
		if err := s.MaintainCompaction(); err != nil {
			t.Error(err)
		}
		if err := s.FlushAndCompact(t.Context()); !errors.Is(err, memory.ErrNoSpace) {
			t.Errorf("it is settled: %v", err)
		}
		for _, write := range []func(context.Context, func(*Tx) error) error{s.Update, s.UpdateInReserve} {
			if err := write(t.Context(), func(*Tx) error { return nil }); !errors.Is(err, memory.ErrNoSpace) {
				t.Errorf("it is written: %v", err)
			}
		}
		if err := s.Compact(t.Context()); !errors.Is(err, memory.ErrNoSpace) {
			t.Errorf("it is rewritten: %v", err)
		}
		hasAll(t, s, n, value)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if s, err = Open(killed); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(disk, "others")); err != nil {
		t.Fatal(err)
	}
	update(t, s, func(tx *Tx) error { return tx.PutMeta(fmt.Sprint(n), value) })
	if s.isFull() {
		t.Error("it is open for reading alone, and there is room")
	}
	hasAll(t, s, n+1, value)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(killed); err != nil {
		t.Fatal(err)
	}
	hasAll(t, s, n+1, value)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
