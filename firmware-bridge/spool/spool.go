// Package spool stores on disk what a bridge has published and the node has not acknowledged, so
// that nothing is lost if the bridge is killed. All of it is sealed to the node's journal: the
// bridge itself can't read it again, and sends it sealed.
//
// The words:
//
//   - To keep an entry is to store it on disk, synced.
//   - An entry is done once the node has answered it. It is due if it has to be sent from the
//     spool, because an earlier process left it, or because it came while the node had been away
//     for too long.
//   - To put an entry by is to quarantine it, because the node refused it for good. It is due again
//     at the next start, since a newer node may accept it.
package spool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/internal/filelock"
)

var (
	// ErrFull: the spool has reached its limit.
	ErrFull = errors.New("spool: full")
	// ErrNoKey: no node has sent the key to seal to.
	ErrNoKey = errors.New("spool: no key yet")
)

// Sizes, in bytes.
const (
	// DefaultLimit applies to all files together: about a day and a half of Opus.
	DefaultLimit = 1 << 30
	fileSize     = 256 << 10 // at this size another file is begun
)

// ID identifies an entry by the message within.
type ID struct{ Boot, Seq uint64 }

// Entry is a stored message.
type Entry struct {
	ID
	At   time.Time // time in its header; zero: none
	Data []byte    // an age file to the journal's recipient
}

// Spool holds the entries of one wearable. It is safe for concurrent use.
type Spool struct {
	dir   string
	limit int64
	lock  *filelock.Lock

	mu     sync.Mutex // guards the fields below
	to     *seal.Recipient
	files  []*file // oldest first; the last is written to
	by     *file   // entries that were put by; nil: none
	number uint32  // number of the latest file
	size   int64   // total size of all files
	where  map[ID]*file
	due    []ID
	more   chan struct{} // holds one element if something is due
}

// Open opens the spool in dir, which it creates if needed. lost describes what could not be read; a
// few bytes at the end of a file are left by a kill.
func Open(dir string, limit int64) (s *Spool, lost []string, err error) {
	if limit <= 0 {
		limit = DefaultLimit
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, nil, fmt.Errorf("spool: %w", err)
	}
	s = &Spool{dir: dir, limit: limit, where: map[ID]*file{}, more: make(chan struct{}, 1)}
	if s.lock, err = filelock.Take(filepath.Join(dir, "lock")); err != nil {
		return nil, nil, fmt.Errorf("spool: %w", err)
	}
	if lost, err = s.load(); err != nil {
		return nil, nil, errors.Join(err, s.Close())
	}
	return s, lost, nil
}

func (s *Spool) load() (lost []string, err error) {
	b, err := os.ReadFile(s.path(keyFile))
	switch {
	case err == nil:
		if s.to, err = seal.ParseRecipient(string(b)); err != nil {
			return nil, fmt.Errorf("spool: %s: %w", s.path(keyFile), err)
		}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("spool: %w", err)
	}
	names, err := fileNames(s.dir)
	if err != nil {
		return nil, fmt.Errorf("spool: %w", err)
	}
	for _, name := range append(names, byName) {
		f, left, err := openFile(s.path(name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("spool: %w", err)
		}
		if left > 0 {
			lost = append(lost, fmt.Sprintf("%s: the last %d bytes are not a whole entry", name, left))
		}
		s.size += f.size
		for _, id := range f.order {
			if s.where[id] == nil {
				s.where[id] = f
				s.due = append(s.due, id)
			} else {
				delete(f.open, id) // it was put by, and the process was killed before it was removed from here
			}
		}
		if name == byName {
			s.by = f
		} else {
			s.files, s.number = append(s.files, f), f.number
		}
	}
	for _, f := range append([]*file{s.by}, s.files...) {
		if f != nil && len(f.open) == 0 {
			s.drop(f)
		}
	}
	s.poke()
	return lost, nil
}

const keyFile = "recipient"

func (s *Spool) path(name string) string { return filepath.Join(s.dir, name) }

// SetKey sets the key to seal to from now on, and stores it for the next start.
func (s *Spool) SetKey(recipient string) error {
	to, err := seal.ParseRecipient(recipient)
	if err != nil {
		return fmt.Errorf("spool: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.to != nil && s.to.Equal(to) {
		return nil
	}
	s.to = to
	if err := atomicfile.Write(s.path(keyFile), []byte(recipient)); err != nil {
		return fmt.Errorf("spool: %w", err)
	}
	return nil
}

// Keep seals a wrapped message (wire.Wrap), and has stored it on disk when it returns. due says
// that it is to be sent from the spool.
func (s *Spool) Keep(id ID, at time.Time, plain []byte, due bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.where[id] != nil {
		return nil
	}
	e, err := s.sealed(id, at, plain)
	if err != nil {
		return err
	}
	f, err := s.current()
	if err != nil {
		return fmt.Errorf("spool: %w", err)
	}
	if err := s.append(f, e); err != nil {
		return err
	}
	if due {
		s.due = append(s.due, id)
		s.poke()
	}
	return nil
}

func (s *Spool) sealed(id ID, at time.Time, plain []byte) (Entry, error) {
	if s.to == nil {
		return Entry{}, ErrNoKey
	}
	b, err := seal.SealTo(s.to, plain)
	if err != nil {
		return Entry{}, fmt.Errorf("spool: %w", err)
	}
	if s.size+int64(len(b)) > s.limit {
		return Entry{}, ErrFull
	}
	return Entry{id, at, b}, nil
}

func (s *Spool) append(f *file, e Entry) error {
	before := f.size
	err := f.append(e)
	s.size += f.size - before
	if err != nil {
		return fmt.Errorf("spool: %w", err)
	}
	s.where[e.ID] = f
	return nil
}

// current returns the file that is written to.
func (s *Spool) current() (*file, error) {
	if n := len(s.files); n > 0 && s.files[n-1].size < fileSize && !s.files[n-1].failed {
		return s.files[n-1], nil
	}
	f, err := createFile(s.path(fileName(s.number+1)), s.number+1)
	if err != nil {
		return nil, err
	}
	s.number++
	s.size += f.size
	s.files = append(s.files, f)
	return f, nil
}

// Due returns how many entries wait to be sent from the spool.
func (s *Spool) Due() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.due)
}

// Waiting counts the entries of a spool that another process may have open, including those that
// were put by. A missing folder has none.
func Waiting(dir string) (entries int, size int64, err error) {
	names, err := fileNames(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, 0, nil
	}
	for _, name := range append(names, byName) {
		b, e := os.ReadFile(filepath.Join(dir, name))
		if e != nil {
			if !errors.Is(e, fs.ErrNotExist) {
				err = errors.Join(err, e)
			}
			continue
		}
		for at := headSize; at < len(b); {
			_, n := parseEntry(b[at:])
			if n == 0 {
				break
			}
			at += n
			entries, size = entries+1, size+int64(n)
		}
	}
	if err != nil {
		return 0, 0, fmt.Errorf("spool: %w", err)
	}
	return entries, size, nil
}

// Len returns how many entries are stored.
func (s *Spool) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.where)
}

// Next waits for an entry that is due, and returns it. The caller ends it by Done, Quarantine or Requeue.
// One that can't be read is an error, and is dropped.
func (s *Spool) Next(ctx context.Context) (Entry, error) {
	for {
		s.mu.Lock()
		for len(s.due) > 0 {
			id := s.due[0]
			s.due = s.due[1:]
			f := s.where[id]
			if f == nil {
				continue // it was answered
			}
			e, err := f.read(id)
			if err != nil {
				err = fmt.Errorf("spool: %w", err)
				s.done(id)
			}
			s.mu.Unlock()
			return e, err
		}
		s.mu.Unlock()
		select {
		case <-s.more:
		case <-ctx.Done():
			return Entry{}, ctx.Err()
		}
	}
}

// Requeue makes an entry due again, before all others.
func (s *Spool) Requeue(id ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.due = append([]ID{id}, s.due...)
	s.poke()
}

func (s *Spool) poke() {
	select {
	case s.more <- struct{}{}:
	default:
	}
}

// Done removes an entry; a missing one is no error.
func (s *Spool) Done(id ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done(id)
}

func (s *Spool) done(id ID) {
	f := s.where[id]
	if f == nil {
		return
	}
	delete(s.where, id)
	s.remove(f, id)
}

// remove removes an entry from a file, and the file with its last entry.
func (s *Spool) remove(f *file, id ID) {
	delete(f.open, id)
	if len(f.open) == 0 {
		s.drop(f)
	}
}

// drop removes a file in which every entry is done. The file that is written to is emptied instead,
// since a new one would have to be synced for each message.
func (s *Spool) drop(f *file) {
	s.size -= f.size
	if n := len(s.files); n > 0 && f == s.files[n-1] && f.reset() {
		s.size += f.size
		return
	}
	if f == s.by {
		s.by = nil
	}
	for i, o := range s.files {
		if o == f {
			s.files = append(s.files[:i], s.files[i+1:]...)
			break
		}
	}
	f.remove()
}

// Quarantine quarantines an entry that the node refused for good, until the next start. It is on disk
// when Quarantine returns.
func (s *Spool) Quarantine(id ID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.where[id]
	if f == nil || f == s.by {
		return nil
	}
	e, err := f.read(id)
	if err == nil && s.by == nil {
		if s.by, err = createFile(s.path(byName), 0); err == nil {
			s.size += s.by.size
		}
	}
	if err != nil {
		return fmt.Errorf("spool: %w", err)
	}
	if err := s.append(s.by, e); err != nil {
		return err
	}
	s.remove(f, id)
	return nil
}

// Close closes the files. It is safe to call twice.
func (s *Spool) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	for _, f := range append(s.files, s.by) {
		if f != nil {
			err = errors.Join(err, f.close())
		}
	}
	s.files, s.by, s.where = nil, nil, map[ID]*file{}
	if s.lock != nil {
		err = errors.Join(err, s.lock.Release())
		s.lock = nil
	}
	return err
}
