// Package envstore keeps the envelopes of a space on a device, and carries them
// between places: relays, folders, other devices.
//
// The words:
//
//   - A [Folder] is envelopes as files, whosever they are: a USB stick, a folder
//     that another program keeps alike on several machines, a shelf's own.
//   - A [Shelf] is the envelopes that this device has, each of them checked. It
//     is what the device's replica exchanges with: it is always there, and
//     where it stands has nothing to do with where any relay does.
//   - A place is where envelopes are carried to and from: see [Carrier].
//
// An envelope proves itself: a place is believed nothing. What it can do is
// withhold, and go back; [Carrier] names that.
package envstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

// FORMAT of a shelf: a folder, and beside it
//
//	order   a line for each delta, in the order in which they came: CHAIN SEQ.
//	        The number of a line is the delta's cursor. One that is there again
//	        came with a body after it had come without.
//	gone    a line for each delta whose body was taken away here: CHAIN SEQ
//	again   a line for each time that a blob was looked at: HASH, or HASH N where
//	        lines before it went, as they were of no use any more. N is its number,
//	        else it has the next. Each place is asked for it once more
//	unblob  a line for each time that a blob was deleted here: HASH. A file that is not
//	        there without a line is lost, and taken from nobody.

// Store implements replica.Remote. Safe for concurrent use; of one process.
type Store struct {
	space  memory.SpaceID
	folder *Folder
	root   string

	mu      sync.Mutex
	log     *envelope.State
	entries [][]byte
	links   map[chain]envelope.Link
	order   []replica.Ref
	gone    map[replica.Ref]int // by the number of its line
	mayLog  func(context.Context, *envelope.Entry) error
	blobAt  []func(context.Context, envelope.Hash, io.ReadWriteSeeker, int64) error
	changed chan struct{} // closed, and made anew, when something came

	blobs sync.Mutex // of the files unblob and again
	looks int        // lines of again, above which it is made shorter
}

var _ replica.Remote = (*Store)(nil)

// Open reads a shelf, or begins one with the space's first log entry. What a
// crash left between a file and its line is put in order.
func Open(dir string, genesis []byte) (*Store, error) {
	first, err := envelope.ParseEntry(genesis)
	if err != nil {
		return nil, fmt.Errorf("shelf: %w", err)
	}
	s := &Store{space: first.Space, folder: OpenFolder(dir, first.Space), root: filepath.Join(dir, first.Space.String()), log: new(envelope.State),
		links: map[chain]envelope.Link{}, gone: map[replica.Ref]int{}, changed: make(chan struct{})}
	if err := s.folder.putEntry(first); err != nil {
		return nil, err
	}
	for _, name := range []string{"", "log", "deltas"} { // whoever made what is in them may have been killed before they were synced
		if err := atomicfile.SyncDir(filepath.Join(s.root, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	if err := s.readLog(first); err != nil {
		return nil, fmt.Errorf("shelf: %w", err)
	}
	if err := s.readOrder(); err != nil {
		return nil, fmt.Errorf("shelf: %w", err)
	}
	return s, nil
}

func (s *Store) readLog(first *envelope.Entry) error {
	entries, err := s.folder.entries(func(_ string, err error) error { return err })
	if err != nil {
		return err
	}
	for _, b := range entries {
		e, err := envelope.ParseEntry(b)
		if err == nil {
			err = s.log.Append(e)
		}
		if err != nil {
			return fmt.Errorf("log: %w", err)
		}
		s.entries = append(s.entries, b)
	}
	if s.log.N() == 0 || !bytes.Equal(s.entries[0], first.Bytes()) {
		return fmt.Errorf("log: %w: it does not begin with the space's first entry", memory.ErrDamaged)
	}
	return nil
}

func (s *Store) readOrder() error {
	order, err := readRefs(filepath.Join(s.root, "order"))
	if err != nil {
		return err
	}
	there := map[replica.Ref]bool{}
	for _, r := range order {
		there[r] = true
	}
	chains, err := s.folder.chains(math.MaxInt) // they were taken
	if err != nil {
		return err
	}
	s.order = order
	for c, seqs := range chains {
		for i, seq := range seqs {
			if seq != uint64(i)+1 {
				return fmt.Errorf("delta %s/%d: %w: it is missing", c, i+1, memory.ErrDamaged)
			}
			if !there[c.ref(seq)] { // the file was written, and its line not
				if err := atomicfile.SyncDir(filepath.Dir(s.folder.deltaPath(c, seq))); err != nil {
					return err
				}
				if err := s.note(c.ref(seq)); err != nil {
					return err
				}
			}
		}
		last, err := s.folder.delta(c, seqs[len(seqs)-1])
		if err != nil {
			return err
		}
		s.links[c] = last.Header.Next()
	}
	gone, err := readRefs(filepath.Join(s.root, "gone"))
	if err != nil {
		return err
	}
	for i, r := range gone {
		s.gone[r] = i
		if d, err := s.read(r); err != nil {
			return err
		} else if d.Body != nil { // a crash came between
			if err := s.folder.put(d.Bare()); err != nil {
				return err
			}
		}
	}
	return nil
}

// note puts a delta at the end of the order. The file of the delta is there.
func (s *Store) note(r replica.Ref) error {
	if err := appendRef(filepath.Join(s.root, "order"), r); err != nil {
		return err
	}
	s.order = append(s.order, r)
	close(s.changed)
	s.changed = make(chan struct{})
	return nil
}

// unnote takes the last line back, which nobody has read: the caller has held mu
// since it was written.
func (s *Store) unnote() error {
	path := filepath.Join(s.root, "order")
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	last := bytes.LastIndexByte(bytes.TrimSuffix(b, []byte("\n")), '\n') + 1
	if err := os.Truncate(path, int64(last)); err != nil {
		return err
	}
	s.order = s.order[:len(s.order)-1]
	return nil
}

func readRefs(path string) ([]replica.Ref, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if b, err = uncut(path, b); err != nil {
		return nil, err
	}
	var out []replica.Ref
	for line := range strings.Lines(string(b)) {
		name, number, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		c, ok := parseChain(name)
		seq, err := strconv.ParseUint(number, 10, 64)
		if !ok || err != nil || seq == 0 {
			return nil, fmt.Errorf("%s: line %d: %w", path, len(out)+1, memory.ErrDamaged)
		}
		out = append(out, c.ref(seq))
	}
	return out, nil
}

// appendRef writes a line, and on the disk, or none.
func appendRef(path string, r replica.Ref) error {
	return appendLine(path, fmt.Sprintf("%s %d", chain{r.Member, r.Incarnation}, r.Seq))
}

// cutTorn removes what a crash left of a line at the end of a file.
func cutTorn(path string) error {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = uncut(path, b)
	return err
}

// uncut gives the whole lines of a file that is b, and cuts the rest off it: half
// of a line is what a crash left.
func uncut(path string, b []byte) ([]byte, error) {
	end := bytes.LastIndexByte(b, '\n') + 1
	if end == len(b) {
		return b, nil
	}
	return b[:end], os.Truncate(path, int64(end))
}

// appendLine writes a line, and on the disk, or none.
func appendLine(path, line string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return errors.Join(err, f.Close())
	}
	_, err = fmt.Fprintln(f, line)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Truncate(path, info.Size())) // the next would join a part of a line
	}
	if info.Size() > 0 {
		return nil
	}
	return atomicfile.SyncDir(filepath.Dir(path)) // it is new, or whoever made it may have been killed before this
}

// Take checks a delta from anywhere, and keeps it. fresh: it was not here, or
// not with its body. [envelope.ErrGap]: some before it are missing;
// [envelope.ErrUnknownHead]: a log entry is; a [*envelope.ForkError] where its
// author signed something else in that place; [envelope.ErrChains] where its
// author has begun as many chains here as a member may; else it is no delta of
// the space.
func (s *Store) Take(d *envelope.Delta) (fresh bool, err error) {
	return s.take(d, envelope.MaxIncarnations)
}

// take is Take, of a member that may have begun so many chains.
func (s *Store) take(d *envelope.Delta, most int) (fresh bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := &d.Header
	if err := s.log.Accepts(h, d.Signature); err != nil {
		return false, err
	}
	m, ok := s.log.Member(h.Member)
	if !ok {
		m, _, _ = s.log.Past(h.Member)
	}
	if err := d.Verify(m.Key); err != nil {
		return false, err
	}
	c := chainOf(h)
	link := s.links[c]
	if link.Seq == 0 && s.begun(h.Member) >= most { // nothing of it is taken: what follows is no gap
		return false, fmt.Errorf("delta %s of %s: %w", h.Position(), h.Member, envelope.ErrChains)
	}
	ref := c.ref(h.Seq)
	if h.Seq <= link.Seq {
		here, err := s.folder.delta(c, h.Seq)
		if errors.Is(err, envelope.ErrForm) {
			err = fmt.Errorf("%w: %w", memory.ErrDamaged, err)
		}
		if err != nil {
			return false, err
		}
		if ours, theirs := here.Header.Hash(), h.Hash(); ours != theirs {
			return false, &envelope.ForkError{What: "member " + h.Member.String(), At: h.Seq, Ours: ours, Theirs: theirs}
		}
		if _, gone := s.gone[ref]; gone || here.Body != nil || d.Body == nil {
			return false, nil
		}
	} else if err := link.Check(h); err != nil {
		return false, err
	}
	if h.Seq <= link.Seq { // its line first: a crash between must not leave a body that nobody is told of
		if err := s.note(ref); err != nil {
			return false, err
		}
		if err := s.folder.put(d); err != nil { // a disk that is full is tried again and again
			if now, e := s.folder.delta(c, h.Seq); e == nil && now.Body == nil {
				err = errors.Join(err, s.unnote())
			}
			return false, err
		}
		return true, nil
	}
	if err := s.folder.put(d); err != nil {
		return false, err
	}
	if err := s.note(ref); err != nil { // not taken: it comes again, and writes the same file
		return false, err
	}
	s.links[c] = h.Next()
	return true, nil
}

// begun is how many chains of a member are here. The lock is held.
func (s *Store) begun(m memory.MemberID) (n int) {
	for c := range s.links {
		if c.member == m {
			n++
		}
	}
	return n
}

// TakeEntry checks a log entry from anywhere, and keeps it; one that is known
// is no error.
func (s *Store) TakeEntry(e *envelope.Entry) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.takeEntry(e)
}

func (s *Store) takeEntry(e *envelope.Entry) error {
	next := s.log.Clone()
	if err := next.Append(e); errors.Is(err, envelope.ErrKnown) {
		return nil
	} else if err != nil {
		return err
	}
	if err := s.folder.putEntry(e); err != nil {
		return err
	}
	s.log, s.entries = next, append(s.entries, e.Bytes())
	close(s.changed)
	s.changed = make(chan struct{})
	return nil
}

// late is why a delta of the shelf is too late, as the log is known by now: its
// author was removed before it. Else nil.
func (s *Store) late(d *envelope.Delta) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.log.Accepts(&d.Header, d.Signature); errors.Is(err, envelope.ErrLate) {
		return err
	}
	return nil
}

// Members gives who belongs, as far as the log is known here.
func (s *Store) Members() []envelope.Member {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.Members()
}

// Changed is closed when something has come that was not there at the call.
func (s *Store) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// read gives what is on the shelf at a place in the order.
func (s *Store) read(r replica.Ref) (*envelope.Delta, error) {
	return s.folder.delta(chain{r.Member, r.Incarnation}, r.Seq)
}

// since gives the order after a number of lines, a copy.
func (s *Store) since(n int) []replica.Ref {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.order[min(n, len(s.order)):])
}

// Space is whose envelopes these are.
func (s *Store) Space() memory.SpaceID { return s.space }

// At tells where the shelf is: entries of the log, and the last cursor.
func (s *Store) At() (log, cursor uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.N(), uint64(len(s.order))
}

// OpenBlob gives a blob that is on the shelf, and its size in bytes; else
// [replica.ErrNotFound]. It may be removed meanwhile.
func (s *Store) OpenBlob(id envelope.Hash) (*os.File, int64, error) {
	f, err := s.folder.openBlob(id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, fmt.Errorf("blob %s: %w", id, replica.ErrNotFound)
	}
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}
