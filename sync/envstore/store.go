// Package envstore keeps a device's own copy of a space's envelopes, and copies
// them to and from remotes: relays, folders, and other devices.
//
// The words:
//
//   - A [Folder] has envelopes as files: on a USB stick, in a folder that another
//     program keeps in sync between machines, or inside a store.
//   - A [Store] is the envelopes that this device has, each of them checked. The
//     device's replica exchanges with the store. The store is always reachable,
//     and its cursors are independent of those of any relay.
//   - A remote is what envelopes are copied to and from. A [Carrier] copies
//     them.
//
// Each envelope is signed and can be checked by itself, so a remote need not be
// trusted. A remote can withhold envelopes, or go back to an earlier state. A
// [Carrier] detects and reports both.
package envstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

// FORMAT of a store: a folder, and these files beside it:
//
//	order   a line for each delta, in the order in which they came: CHAIN SEQ.
//	        The number of a line is the delta's cursor. A delta with a second line
//	        came with its body after it had come without.
//	gone    a line for each delta whose body was removed here: CHAIN SEQ
//	again   a line for each check of a blob: HASH, or HASH N if lines before it were
//	        dropped because they were no longer needed. N is the line's number;
//	        without it, it has the next one. Each remote is asked for the blob again.
//	unblob  a line for each deletion of a blob here: HASH. If a file is missing
//	        without such a line, it was lost, and is not deleted elsewhere.

// Store is the envelopes of a space on this device. It implements
// replica.Remote and replica.Blobs. It is safe for concurrent use within one process.
type Store struct {
	space  memory.SpaceID
	folder *Folder
	root   string

	mu      sync.Mutex                                   // guards what follows, down to changed
	log     *envelope.State                              // the membership log
	entries [][]byte                                     // its entries on the wire
	links   map[chain]envelope.Link                      // how far each chain goes
	order   []replica.Ref                                // the lines of the file order
	gone    map[replica.Ref]int                          // number of each removed body, in the order of the lines
	mayLog  func(context.Context, *envelope.Entry) error // asks the primary relay to take an entry first; see SetLogAppender
	blobAt  []func(context.Context, envelope.Hash, io.ReadWriteSeeker, int64) error
	changed chan struct{} // closed and replaced when something new has come

	blobs sync.Mutex // guards the files unblob and again
	looks int        // number of lines at which the file again is shortened
}

var _ replica.Remote = (*Store)(nil)

// Open opens a store. If there is none, it makes one with the space's first log
// entry. It repairs differences between files and lines that a crash left. No other process may
// have the store open.
func Open(dir string, genesis []byte) (*Store, error) {
	first, err := envelope.ParseEntry(genesis)
	if err != nil {
		return nil, fmt.Errorf("envelope store: %w", err)
	}
	s := &Store{space: first.Space, folder: OpenFolder(dir, first.Space), root: filepath.Join(dir, first.Space.String()), log: new(envelope.State),
		links: map[chain]envelope.Link{}, gone: map[replica.Ref]int{}, changed: make(chan struct{})}
	if err := s.folder.sweep(); err != nil {
		return nil, err
	}
	if err := s.folder.putEntry(first); err != nil {
		return nil, err
	}
	for _, name := range []string{"", "log", "deltas"} { // the process that made them may have been killed before it synced them
		if err := atomicfile.SyncDir(filepath.Join(s.root, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	if err := s.readLog(first); err != nil {
		return nil, fmt.Errorf("envelope store: %w", err)
	}
	if err := s.readOrder(); err != nil {
		return nil, fmt.Errorf("envelope store: %w", err)
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

// TakeDelta checks a delta from any source and stores it. fresh reports that the
// delta or its body is new. Errors: [envelope.ErrGap] if earlier deltas are
// missing, [envelope.ErrUnknownHead] if a log entry is missing, a
// [*envelope.ForkError] if the author signed another delta at that place, and
// [envelope.ErrChains] if the author has as many chains here as a member may
// have. Any other error means that it is no delta of the space, or that the disk
// failed.
func (s *Store) TakeDelta(d *envelope.Delta) (fresh bool, err error) {
	return s.takeDelta(d, envelope.MaxIncarnations)
}

// takeDelta is TakeDelta with a limit of the number of chains of a member.
func (s *Store) takeDelta(d *envelope.Delta, most int) (fresh bool, err error) {
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
	if link.Seq == 0 && s.begun(h.Member) >= most { // no earlier delta of this chain was taken, so this is not a gap
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
	if h.Seq <= link.Seq { // the line is written first: after a crash, each body must have a line
		if err := s.note(ref); err != nil {
			return false, err
		}
		if err := s.folder.put(d); err != nil { // if the disk is full, this is tried again and again
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
	if err := s.note(ref); err != nil { // the delta does not count as taken; it comes again, and the same file is written
		return false, err
	}
	s.links[c] = h.Next()
	return true, nil
}

// begun counts the chains of a member. The caller holds mu.
func (s *Store) begun(m memory.MemberID) (n int) {
	for c := range s.links {
		if c.member == m {
			n++
		}
	}
	return n
}

// TakeEntry checks a log entry from any source and stores it. It returns nil for
// a known entry.
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

// late returns why a delta of the store is too late according to the present
// log: its author was removed before it. Otherwise it returns nil.
func (s *Store) late(d *envelope.Delta) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.log.Accepts(&d.Header, d.Signature); errors.Is(err, envelope.ErrLate) {
		return err
	}
	return nil
}

// Members returns the members of the space, according to the log entries that
// the store has.
func (s *Store) Members() []envelope.Member {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.Members()
}

// Changed returns a channel that is closed when something new has come.
func (s *Store) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// read returns the delta at a place.
func (s *Store) read(r replica.Ref) (*envelope.Delta, error) {
	return s.folder.delta(chain{r.Member, r.Incarnation}, r.Seq)
}

// since returns a copy of the order after line n.
func (s *Store) since(n int) []replica.Ref {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.order[min(n, len(s.order)):])
}

// Space returns the space of these envelopes.
func (s *Store) Space() memory.SpaceID { return s.space }

// Position returns the number of log entries and the last cursor.
func (s *Store) Position() (log, cursor uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.N(), uint64(len(s.order))
}

// OpenBlob opens a blob of the store and returns its size in bytes. It returns
// [replica.ErrNotFound] if there is none. The blob may be removed while it is
// open.
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
