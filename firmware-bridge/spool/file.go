package spool

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locket-dev/locket/internal/atomicfile"
)

// Format of a file, version 1. NNNNNNNN.lks is the file with that number (decimal, from 1);
// refused.lks holds the quarantined entries. Whole numbers are big-endian. A header is followed by
// entries.
//
//	header
//	0       8     magic "locketS\n"
//	8       2     version: 1
//
//	entry
//	0    4   n: length of the sealed data
//	4       4     CRC-32C of bytes 8 to 32+n
//	8       8     boot
//	16      8     seq
//	24      8     at, ms since 1970-01-01 UTC, signed; 0: none
//	32   n   an age file (package seal) with the output of wire.Wrap
//
// The CRC tells a complete entry from one that a kill cut short. It is no protection: the sealed
// data has its own. The clear part reveals how many messages there were and when.

const (
	magic      = "locketS\n"
	version    = 1
	headSize   = 10
	entryHead  = 32
	maxSealed  = 2 << 20
	fileSuffix = ".lks"
	byName     = "refused" + fileSuffix
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func fileName(number uint32) string { return fmt.Sprintf("%08d%s", number, fileSuffix) }

// fileNames returns the numbered files, oldest first.
func fileNames(dir string) (names []string, err error) {
	list, err := os.ReadDir(dir)
	for _, d := range list { // sorted by name
		if base, ok := strings.CutSuffix(d.Name(), fileSuffix); ok && len(base) == 8 && strings.Trim(base, "0123456789") == "" {
			names = append(names, d.Name())
		}
	}
	return names, err
}

type place struct {
	at   int64 // offset in the file
	size int64
}

// file is a file of the spool. The spool's lock guards it.
type file struct {
	f      *os.File
	number uint32
	size   int64 // written and synced up to here
	failed bool  // a write failed: nothing more is written to it
	open   map[ID]place
	order  []ID // their order in the file; only of those that were there when it was opened
}

func createFile(path string, number uint32) (*file, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if _, err = f.Write(binary.BigEndian.AppendUint16([]byte(magic), version)); err == nil {
		err = atomicfile.SyncDir(filepath.Dir(path))
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &file{f: f, number: number, size: headSize, open: map[ID]place{}}, nil
}

// openFile reads a file. left is how many bytes at its end are not a complete entry; they are cut
// off, and overwritten by the next entry.
func openFile(path string) (f *file, left int64, err error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, 0, err
	}
	f = &file{open: map[ID]place{}, size: headSize}
	if n, err := strconv.ParseUint(strings.TrimSuffix(filepath.Base(path), fileSuffix), 10, 32); err == nil {
		f.number = uint32(n)
	}
	switch {
	case len(b) < headSize: // the process was killed while it created the file
		left, b = int64(len(b)), binary.BigEndian.AppendUint16([]byte(magic), version)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			return nil, 0, err
		}
	case !bytes.HasPrefix(b, []byte(magic)):
		return nil, 0, fmt.Errorf("%s is not a file of a spool", path)
	case binary.BigEndian.Uint16(b[len(magic):]) != version:
		return nil, 0, fmt.Errorf("%s: version %d, want %d", path, binary.BigEndian.Uint16(b[len(magic):]), version)
	}
	for {
		e, n := parseEntry(b[f.size:])
		if n == 0 {
			break
		}
		if _, twice := f.open[e.ID]; !twice {
			f.order = append(f.order, e.ID)
		}
		f.open[e.ID] = place{f.size, int64(n)}
		f.size += int64(n)
	}
	left = max(left, int64(len(b))-f.size)
	if f.f, err = os.OpenFile(path, os.O_RDWR, 0); err != nil {
		return nil, 0, err
	}
	if err := f.f.Truncate(f.size); err != nil {
		f.f.Close()
		return nil, 0, err
	}
	return f, left, nil
}

// parseEntry reads the entry at the beginning of b; n is 0 if it is incomplete.
func parseEntry(b []byte) (e Entry, n int) {
	if len(b) < entryHead {
		return e, 0
	}
	be := binary.BigEndian
	size := be.Uint32(b)
	if size > maxSealed || len(b) < entryHead+int(size) {
		return e, 0
	}
	n = entryHead + int(size)
	if crc32.Checksum(b[8:n], castagnoli) != be.Uint32(b[4:]) {
		return e, 0
	}
	e = Entry{ID: ID{be.Uint64(b[8:]), be.Uint64(b[16:])}, Data: b[entryHead:n:n]}
	if ms := int64(be.Uint64(b[24:])); ms != 0 {
		e.At = time.UnixMilli(ms)
	}
	return e, n
}

func appendEntry(b []byte, e Entry) []byte {
	be, at := binary.BigEndian, len(b)
	b = be.AppendUint32(b, uint32(len(e.Data)))
	b = be.AppendUint32(b, 0)
	b = be.AppendUint64(b, e.Boot)
	b = be.AppendUint64(b, e.Seq)
	ms := int64(0)
	if !e.At.IsZero() {
		ms = e.At.UnixMilli()
	}
	b = be.AppendUint64(b, uint64(ms))
	b = append(b, e.Data...)
	be.PutUint32(b[at+4:], crc32.Checksum(b[at+8:], castagnoli))
	return b
}

// append writes and syncs an entry.
func (f *file) append(e Entry) error {
	if len(e.Data) > maxSealed {
		return fmt.Errorf("an entry of %d bytes, at most %d", len(e.Data), maxSealed)
	}
	b := appendEntry(nil, e)
	_, err := f.f.WriteAt(b, f.size)
	if err == nil {
		err = f.f.Sync()
	}
	if err != nil {
		f.failed = true
		return err
	}
	f.open[e.ID] = place{f.size, int64(len(b))}
	f.size += int64(len(b))
	return nil
}

func (f *file) read(id ID) (Entry, error) {
	p := f.open[id]
	b := make([]byte, p.size)
	if _, err := f.f.ReadAt(b, p.at); err != nil {
		return Entry{}, err
	}
	e, n := parseEntry(b)
	if n == 0 || e.ID != id {
		return Entry{}, fmt.Errorf("entry of boot %d, seq %d was damaged on disk", id.Boot, id.Seq)
	}
	e.Data = slices.Clip(e.Data)
	return e, nil
}

// reset empties the file. If that has not reached the disk when the machine stops, old entries come
// again.
func (f *file) reset() bool {
	if f.failed || f.f.Truncate(headSize) != nil {
		return false
	}
	f.size = headSize
	return true
}

func (f *file) close() error { return f.f.Close() }

// remove deletes the file. If that fails, its entries come again at the next start, under the same
// identities.
func (f *file) remove() {
	f.f.Close()
	os.Remove(f.f.Name())
}
