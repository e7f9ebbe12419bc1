// Package journal stores incoming entries until they have been processed. It is
// an append-only file of sealed entries.
//
// The words:
//
//   - An entry is opaque bytes. Its seq is its place in the journal. Seqs are
//     ascending, with gaps.
//   - A segment is one file of entries, sealed to the journal's recipient.
//     Appending needs only the public key, so that a locked node can take
//     events.
//   - An entry is acknowledged when Append has returned. It is then on the
//     disk, and can be read whatever happens to the process.
//   - The tail of a segment is torn if the writer was killed during a write. A
//     torn entry was never acknowledged.
//   - To release entries means to declare that they are processed. The store
//     records how far that is, not this package.
//
// Written bytes are never overwritten. After a restart, and after an error of a
// write or sync, a new segment is begun.
//
// The journal proves that an entry was not changed, but not who wrote it:
// anybody who can write to the folder and has the public key can add a segment.
// While a segment is being written, its key is in memory.
package journal

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/internal/diskspace"
	"github.com/locket-dev/locket/internal/sorting"
)

var (
	// ErrClosed: the journal is closed.
	ErrClosed = errors.New("journal is closed")
	// ErrCorrupt: written data can't be read; see [CorruptError].
	ErrCorrupt = errors.New("journal is damaged")
	// ErrIdentity: the identity does not belong to the journal's recipient.
	ErrIdentity = errors.New("identity is not the journal's")
	// ErrSize: an entry is larger than MaxEntry, or no entry was given.
	ErrSize = errors.New("entry size")
)

// MaxEntry is the largest entry, in bytes.
const MaxEntry = 16 << 20

// Defaults of [Options].
const (
	DefaultMaxSegment = 4 << 20
	DefaultReserve    = 64 << 20
)

// Options are the options of a journal. The zero value works.
type Options struct {
	// MaxSegment is the size in bytes at which a new segment is begun. A
	// segment can exceed it by one commit. 0 is DefaultMaxSegment.
	MaxSegment int64
	// Reserve is how many bytes must stay free on the disk after an append. 0
	// is DefaultReserve. A negative value means no reserve.
	Reserve int64
	// Free returns the bytes that are free in a folder for an ordinary user.
	// nil asks the operating system.
	Free func(dir string) (uint64, error)
	// Now is the clock for the creation time of segments. nil is time.Now.
	Now func() time.Time
}

// Stats are figures of a journal. Counters begin at Open.
type Stats struct {
	Segments int    `json:"segments"`
	Bytes    int64  `json:"bytes"`    // of all segments
	Entries  int64  `json:"entries"`  // in all segments, including released ones whose segment still exists
	Appended int64  `json:"appended"` // entries
	Commits  int64  `json:"commits"`  // syncs after which entries were acknowledged
	Refused  int64  `json:"refused"`  // entries that were refused because of a full disk or an error
	Torn     int64  `json:"torn"`     // bytes of torn tails in the segments that Open found
	Last     uint64 `json:"last"`     // seq of the last acknowledged entry; 0: none
}

// Journal is a journal that is open for appending and reading. Its methods are
// safe for concurrent use. Only one process may have a folder's journal open.
type Journal struct {
	dir  string
	to   *seal.Recipient
	opt  Options
	make func(path string) (file, error) // makes the file of a new segment

	turn chan struct{} // held by the goroutine that writes
	live *writer       // guarded by turn
	buf  []byte        // guarded by turn

	mu       sync.Mutex
	pending  []*request
	segments []*segment
	released uint32        // greatest number that was deleted
	grew     chan struct{} // closed and replaced when there is more to read
	closed   bool
	stats    Stats
}

// segment is what is known about a file without its key.
type segment struct {
	number uint32
	path   string
	size   int64  // bytes that are synced to the disk
	count  uint32 // acknowledged entries
	known  bool   // count is known; if not, its last frames and the next header are damaged
	live   bool
}

// file has the methods of *os.File that a segment needs.
type file interface {
	Write([]byte) (int, error)
	Sync() error
	Truncate(int64) error
	Close() error
}

// Open opens the journal in dir. It makes the folder, with mode 0700, if there
// is none. It writes nothing before the first append.
func Open(dir string, to *seal.Recipient, opt Options) (*Journal, error) {
	opt.MaxSegment = cmp.Or(opt.MaxSegment, DefaultMaxSegment)
	opt.Reserve = cmp.Or(opt.Reserve, DefaultReserve)
	if opt.Free == nil {
		opt.Free = diskspace.Free
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if err := atomicfile.MkdirAll(dir); err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	j := &Journal{dir: dir, to: to, opt: opt, make: createFile, turn: make(chan struct{}, 1), grew: make(chan struct{})}
	if err := j.load(); err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	return j, nil
}

// load finds the segments. The header of the next segment says how many entries
// of a segment were acknowledged. For the last segment, the frames are counted.
func (j *Journal) load() error {
	names, err := os.ReadDir(j.dir)
	if err != nil {
		return err
	}
	for _, e := range names {
		digits, ok := strings.CutSuffix(e.Name(), fileSuffix)
		n, err := strconv.ParseUint(digits, 10, 32)
		if !ok || err != nil || n == 0 || len(digits) != 8 || !e.Type().IsRegular() {
			continue
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		j.segments = append(j.segments, &segment{number: uint32(n), path: filepath.Join(j.dir, e.Name()), size: info.Size()})
	}
	sorting.Sort(j.segments, func(a, b *segment) int { return int(a.number) - int(b.number) })
	for i, s := range j.segments {
		if i > 0 {
			if h, err := readHeader(s); err == nil && j.segments[i-1].number+1 == s.number {
				j.segments[i-1].count, j.segments[i-1].known = h.previous, true
			}
		}
		if i == len(j.segments)-1 {
			if err := j.loadLast(s); err != nil {
				return err
			}
		}
	}
	return nil
}

// loadLast counts the complete entries of the last segment.
func (j *Journal) loadLast(s *segment) error {
	f, err := os.Open(s.path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := &walker{f: f, number: s.number, next: 1}
	if h, err := readHeader(s); err == nil {
		w.off = int64(len(h.raw))
	}
	s.known = true
	for w.off < s.size {
		f, g, err := w.step(s.size)
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", filepath.Base(s.path), err)
		case g != nil && g.tail:
			j.stats.Torn += g.n
		case f != nil:
			s.count = f.index
		}
	}
	return nil
}

func readHeader(s *segment) (*header, error) {
	f, err := os.Open(s.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b := make([]byte, min(s.size, headFixed+maxWrapped+macSize))
	if err := readFull(f, b, 0); err != nil {
		return nil, err
	}
	return parseHeader(b, s.number)
}

// Stats returns the journal's figures.
func (j *Journal) Stats() Stats {
	j.mu.Lock()
	defer j.mu.Unlock()
	st := j.stats
	st.Segments = len(j.segments)
	for _, s := range j.segments {
		st.Bytes += s.size
		st.Entries += int64(s.count)
		if s.count > 0 {
			st.Last = seqOf(s.number, s.count)
		}
	}
	return st
}

// Newest returns the number of the newest segment, or 0 if there is none. It is
// the upper half of a seq. It never decreases, unless segments are lost.
func (j *Journal) Newest() uint32 {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.segments) == 0 {
		return 0
	}
	return j.segments[len(j.segments)-1].number
}

// Close waits for the running append and ends the segment. Waiting readers and
// appenders get [ErrClosed].
func (j *Journal) Close() error {
	j.turn <- struct{}{}
	defer func() { <-j.turn }()
	j.mu.Lock()
	if j.closed {
		j.mu.Unlock()
		return nil
	}
	j.closed = true
	pending := j.pending
	j.pending = nil
	close(j.grew)
	j.mu.Unlock()
	for _, q := range pending {
		q.finish(0, ErrClosed)
	}
	if err := j.endSegment(); err != nil {
		return fmt.Errorf("close journal: %w", err)
	}
	return nil
}
