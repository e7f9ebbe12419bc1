// Package journal keeps what came in until it has been worked on: an
// append-only file of sealed entries.
//
// The words:
//
//   - An entry is opaque bytes; its seq is its place in the journal. Seqs grow,
//     and are not contiguous.
//   - A segment is one file of entries, sealed to the journal's recipient. To
//     append needs the public key only, so that a locked node can take events in.
//   - An entry is acknowledged when Append has returned: it is on disk, and is
//     read back whatever happens to the process.
//   - The tail of a segment is torn when the writer was killed within a write.
//     What is torn was never acknowledged.
//   - To release is to say that entries are done with. The mark of how far that
//     is lies with their outcome, in the store, not here.
//
// Nothing that is written is written over. After a restart, and after any error
// of writing or syncing, a new segment is begun.
//
// The journal says that an entry is unchanged, not who wrote it: whoever can
// write to the folder and has the public key can add a segment. While a segment
// is being written, its key is in memory.
package journal

import (
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
	// ErrCorrupt: something that was written can't be read; see [CorruptError].
	ErrCorrupt = errors.New("journal is damaged")
	// ErrIdentity: the identity is not that of the journal's recipient.
	ErrIdentity = errors.New("identity is not the journal's")
	// ErrSize: an entry is over MaxEntry, or there is none.
	ErrSize = errors.New("entry size")
)

// MaxEntry is the largest entry, in bytes.
const MaxEntry = 16 << 20

// Defaults of [Options].
const (
	DefaultMaxSegment = 4 << 20
	DefaultReserve    = 64 << 20
)

// Options of a journal. The zero value works.
type Options struct {
	// MaxSegment is the size in bytes from which on a new segment is begun; a
	// segment is over it by one commit at most. 0 is DefaultMaxSegment.
	MaxSegment int64
	// Reserve is how many bytes must be left free on the disk after an append.
	// 0 is DefaultReserve, below 0 none.
	Reserve int64
	// Free measures the bytes free in a folder, for an ordinary user. nil asks
	// the operating system.
	Free func(dir string) (uint64, error)
	// Now is the clock for the creation time in segments; nil is time.Now.
	Now func() time.Time
}

// Stats of a journal. Counters are since Open.
type Stats struct {
	Segments int    `json:"segments"`
	Bytes    int64  `json:"bytes"`    // of all segments
	Entries  int64  `json:"entries"`  // in all segments, released ones in a kept segment too
	Appended int64  `json:"appended"` // entries
	Commits  int64  `json:"commits"`  // syncs that acknowledged something
	Refused  int64  `json:"refused"`  // entries, for want of space or by an error
	Torn     int64  `json:"torn"`     // bytes of torn tail in the segments found by Open
	Last     uint64 `json:"last"`     // seq of the last acknowledged entry, 0 for none
}

// Journal is open for appending and reading. Its methods may be called at the
// same time. One process may have a folder's journal open.
type Journal struct {
	dir  string
	to   *seal.Recipient
	opt  Options
	make func(path string) (file, error) // of a new segment

	turn chan struct{} // held by whoever writes
	live *writer       // turn
	buf  []byte        // turn

	mu       sync.Mutex
	pending  []*request
	segments []*segment
	released uint32        // highest number that was deleted
	grew     chan struct{} // closed and made anew when there is more to read
	closed   bool
	stats    Stats
}

// segment is what is known of one file without its key.
type segment struct {
	number uint32
	path   string
	size   int64  // up to here it is on disk
	count  uint32 // acknowledged entries
	known  bool   // count is known; else its last frames, and the next header, are damaged
	live   bool
}

// file is what a segment needs of an *os.File.
type file interface {
	Write([]byte) (int, error)
	Sync() error
	Truncate(int64) error
	Close() error
}

// Open opens the journal in dir, made with mode 0700 where there is none.
// Nothing is written before the first append.
func Open(dir string, to *seal.Recipient, opt Options) (*Journal, error) {
	if opt.MaxSegment == 0 {
		opt.MaxSegment = DefaultMaxSegment
	}
	if opt.Reserve == 0 {
		opt.Reserve = DefaultReserve
	}
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

// load finds the segments. How many entries of one were acknowledged is told
// by the header of the next, and by its frames where it is the last.
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

// loadLast counts the whole entries of the segment that was written to last.
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

// Stats tells how the journal stands.
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

// Newest is the number of the segment that was begun last, 0 where there is
// none: the upper half of a seq. It never goes back, unless segments are lost.
func (j *Journal) Newest() uint32 {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.segments) == 0 {
		return 0
	}
	return j.segments[len(j.segments)-1].number
}

// Close waits for the append that is being written, ends the segment, and lets
// waiting readers and appenders go with [ErrClosed].
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
