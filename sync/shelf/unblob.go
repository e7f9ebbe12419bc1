package shelf

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/locket-dev/locket/internal/whole"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

func (s *Shelf) unblobPath() string { return filepath.Join(s.root, "unblob") }

// deleted gives the blobs that were deleted here, not those whose files are lost.
func (s *Shelf) deleted() ([]envelope.Hash, error) {
	s.blobs.Lock()
	defer s.blobs.Unlock()
	return s.readDeleted()
}

func (s *Shelf) readDeleted() (out []envelope.Hash, err error) { return readHashes(s.unblobPath()) }

// readHashes reads a file of a hash a line; none where it is not there.
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

func (s *Shelf) againPath() string { return filepath.Join(s.root, "again") }

// askAgain notes that each place is to be asked once more whether it has a blob.
func (s *Shelf) askAgain(id envelope.Hash) error {
	s.blobs.Lock()
	defer s.blobs.Unlock()
	return appendLine(s.againPath(), id.String())
}

// again gives the blobs that the places are to be asked for, in the order in which
// they were noted. What a crash left of a line is put in order.
func (s *Shelf) again() ([]envelope.Hash, error) {
	s.blobs.Lock()
	defer s.blobs.Unlock()
	if err := cutTorn(s.againPath()); err != nil {
		return nil, err
	}
	return readHashes(s.againPath())
}

// delete notes that a blob is deleted, before its file goes: once more where it was
// before, as another member may have put it at a place since.
func (s *Shelf) delete(id envelope.Hash) error {
	return s.changeDeleted(func(all []envelope.Hash) []envelope.Hash { return append(all, id) })
}

// undelete takes that back, where the same bytes come once more.
func (s *Shelf) undelete(id envelope.Hash) error {
	return s.changeDeleted(func(all []envelope.Hash) []envelope.Hash {
		return slices.DeleteFunc(all, func(h envelope.Hash) bool { return h == id })
	})
}

func (s *Shelf) changeDeleted(change func([]envelope.Hash) []envelope.Hash) error {
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
	return whole.Write(s.unblobPath(), []byte(b.String()))
}
