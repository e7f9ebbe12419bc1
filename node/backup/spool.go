package backup

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// spool is a local file of sealed pieces that wait until the export was read. While an
// export is read it holds the store's read lock, which must not last as long as a slow
// bucket or network disk takes.
type spool struct {
	file  *os.File
	size  int64
	list  []spooled
	named map[string]bool // by the names of the pieces
}

type spooled struct {
	name     string
	at, size int64
}

const spoolName = "backup-*.spool"

// newSpool makes the file, and removes those of processes that were killed. The system
// either removes an open file only when it is closed, or refuses to remove it, so the
// files of running processes are safe.
func newSpool(dir string) (*spool, error) {
	if dir == "" {
		dir = os.TempDir()
	}
	left, err := filepath.Glob(filepath.Join(dir, spoolName))
	if err != nil {
		return nil, fmt.Errorf("backup: spool: %w", err)
	}
	for _, path := range left {
		_ = os.Remove(path) // a file of a running process, or another user's
	}
	file, err := os.CreateTemp(dir, spoolName)
	if err != nil {
		return nil, fmt.Errorf("backup: spool: %w", err)
	}
	_ = os.Remove(file.Name()) // where an open file can be removed
	return &spool{file: file, named: map[string]bool{}}, nil
}

func (s *spool) close() error {
	err := s.file.Close()
	_ = os.Remove(s.file.Name()) // where that was not possible at the beginning
	return err
}

func (s *spool) add(name string, sealed []byte) error {
	if _, err := s.file.WriteAt(sealed, s.size); err != nil {
		return fmt.Errorf("backup: spool: %w", err)
	}
	s.list = append(s.list, spooled{name, s.size, int64(len(sealed))})
	s.size += int64(len(sealed))
	s.named[name] = true
	return nil
}

// send writes the pieces to their place.
func (s *spool) send(ctx context.Context, to Place) error {
	for _, p := range s.list {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		sealed := make([]byte, p.size)
		if _, err := s.file.ReadAt(sealed, p.at); err != nil {
			return fmt.Errorf("backup: spool: %w", err)
		}
		if err := to.Write(ctx, p.name, sealed); err != nil {
			return err
		}
	}
	return nil
}
