package envstore

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/replica"
)

func (s *Store) readOrder() error {
	order, err := readRefs(filepath.Join(s.root, "order"))
	if err != nil {
		return err
	}
	there := map[replica.Ref]bool{}
	for _, r := range order {
		there[r] = true
	}
	chains, err := s.folder.chains(math.MaxInt) // no limit, because these chains were taken before
	if err != nil {
		return err
	}
	s.order = order
	for c, seqs := range chains {
		for i, seq := range seqs {
			if seq != uint64(i)+1 {
				return fmt.Errorf("delta %s/%d: %w: it is missing", c, i+1, memory.ErrDamaged)
			}
			if !there[c.ref(seq)] { // a crash happened between writing the file and its line
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
		if _, again := s.gone[r]; !again {
			s.gone[r] = len(s.gone)
		}
		if d, err := s.read(r); err != nil {
			return err
		} else if d.Body != nil {
			if r != gone[len(gone)-1] { // only the last removal can have been interrupted, by a crash or, in version 0.1.0, again and again by a full disk
				return fmt.Errorf("gone: line %d: %w: %s of %s has its body", i+1, memory.ErrDamaged, r.Position, r.Member)
			}
			if err := s.folder.put(d.WithoutBody()); err != nil {
				return err
			}
		}
	}
	return nil
}

// note appends a line for a delta to the order. The delta's file must exist.
func (s *Store) note(r replica.Ref) error {
	if err := appendRef(filepath.Join(s.root, "order"), r); err != nil {
		return err
	}
	s.order = append(s.order, r)
	close(s.changed)
	s.changed = make(chan struct{})
	return nil
}

// unnote removes the last line. The caller has held mu since the line was
// written, so nobody has read it.
func (s *Store) unnote() error {
	if err := cutLine(filepath.Join(s.root, "order")); err != nil {
		return err
	}
	s.order = s.order[:len(s.order)-1]
	return nil
}

// cutLine removes the last line of a file.
func cutLine(path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.Truncate(path, int64(bytes.LastIndexByte(bytes.TrimSuffix(b, []byte("\n")), '\n')+1))
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

// appendRef writes and syncs a line. On error it writes nothing.
func appendRef(path string, r replica.Ref) error {
	return appendLine(path, fmt.Sprintf("%s %d", chain{r.Member, r.Incarnation}, r.Seq))
}

// cutTorn removes an incomplete line, left by a crash, from the end of a
// file.
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

// uncut returns the complete lines of b, which is the content of a file, and
// cuts an incomplete line off the file.
func uncut(path string, b []byte) ([]byte, error) {
	end := bytes.LastIndexByte(b, '\n') + 1
	if end == len(b) {
		return b, nil
	}
	return b[:end], os.Truncate(path, int64(end))
}

// appendLine writes and syncs a line. On error it writes nothing.
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
		return errors.Join(err, os.Truncate(path, info.Size())) // otherwise the next line would be joined to a part of this one
	}
	if info.Size() > 0 {
		return nil
	}
	return atomicfile.SyncDir(filepath.Dir(path)) // the file may be new, or its creator may have been killed before this sync
}
