package envstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

func (s *Store) unblobPath() string { return filepath.Join(s.root, "unblob") }

// deleted returns the blobs that were deleted here. It leaves out those whose
// files were lost.
func (s *Store) deleted() ([]envelope.Hash, error) {
	s.blobs.Lock()
	defer s.blobs.Unlock()
	return s.readDeleted()
}

func (s *Store) readDeleted() (out []envelope.Hash, err error) { return readHashes(s.unblobPath()) }

// readHashes reads a file with one hash a line. A missing file is empty.
func readHashes(path string) (out []envelope.Hash, err error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(b)) {
		var id envelope.Hash
		if err := id.UnmarshalText([]byte(strings.TrimSuffix(line, "\n"))); err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", path, len(out)+1, memory.ErrDamaged)
		}
		out = append(out, id)
	}
	return out, nil
}

func (s *Store) againPath() string { return filepath.Join(s.root, "again") }

// askAgain records that each remote has to be asked once more for a blob.
func (s *Store) askAgain(id envelope.Hash) error {
	s.blobs.Lock()
	defer s.blobs.Unlock()
	return appendLine(s.againPath(), id.String())
}

// looked is a line of the file again.
type looked struct {
	n  int // its number, from 1; the numbers only grow
	id envelope.Hash
}

// blobsToAskFor returns the blobs for which remotes have to be asked, in the order in
// which they were recorded. It removes an incomplete line that a crash left,
// and may drop lines that are no longer needed.
func (s *Store) blobsToAskFor() ([]looked, error) {
	s.blobs.Lock()
	defer s.blobs.Unlock()
	if err := cutTorn(s.againPath()); err != nil {
		return nil, err
	}
	all, err := readLooked(s.againPath())
	if err != nil || len(all) <= s.looks {
		return all, err
	}
	left, err := s.lastLooked(all)
	if err != nil {
		return nil, err
	}
	if s.looks = max(minLooks, 2*len(left)); len(all) <= s.looks {
		return all, nil
	}
	var b strings.Builder
	for _, l := range left {
		fmt.Fprintln(&b, l.id, l.n)
	}
	return left, atomicfile.Write(s.againPath(), []byte(b.String()))
}

// minLooks is the least number of lines at which the file again is shortened.
const minLooks = 1000

// lastLooked returns the last line of each blob of the store, and the very last
// line, because the numbers continue from it.
func (s *Store) lastLooked(all []looked) (left []looked, err error) {
	blobs, err := s.folder.blobs()
	if err != nil {
		return nil, err
	}
	here := setOf(blobs)
	for i, l := range slices.Backward(all) {
		if here[l.id] || i == len(all)-1 {
			left = append(left, l)
		}
		delete(here, l.id)
	}
	slices.Reverse(left)
	return left, nil
}

// readLooked reads the file again. A line has a number if lines before it were
// dropped; otherwise its number is one more than that of the line before. A
// missing file has no lines.
func readLooked(path string) (out []looked, err error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	last := 0
	for line := range strings.Lines(string(b)) {
		l := looked{n: last + 1}
		id, number, has := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		err := l.id.UnmarshalText([]byte(id))
		if has && err == nil {
			l.n, err = strconv.Atoi(number)
		}
		if err != nil || l.n <= last {
			return nil, fmt.Errorf("%s: line %d: %w", path, len(out)+1, memory.ErrDamaged)
		}
		last = l.n
		out = append(out, l)
	}
	return out, nil
}

// delete records that a blob is deleted. It is called before the blob's file is
// removed. It adds a line each time, because another member may have uploaded
// the blob to a remote since the last deletion.
func (s *Store) delete(id envelope.Hash) error {
	return s.changeDeleted(func(all []envelope.Hash) []envelope.Hash { return append(all, id) })
}

// undelete removes the record when the same bytes are stored again.
func (s *Store) undelete(id envelope.Hash) error {
	return s.changeDeleted(func(all []envelope.Hash) []envelope.Hash {
		return slices.DeleteFunc(all, func(h envelope.Hash) bool { return h == id })
	})
}

func (s *Store) changeDeleted(change func([]envelope.Hash) []envelope.Hash) error {
	s.blobs.Lock()
	defer s.blobs.Unlock()
	all, err := s.readDeleted()
	if err != nil {
		return err
	}
	before := len(all)
	if all = change(all); len(all) == before {
		return nil
	}
	var b strings.Builder
	for _, h := range all {
		fmt.Fprintln(&b, h)
	}
	return atomicfile.Write(s.unblobPath(), []byte(b.String()))
}
