package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/memory"
)

// FORMAT of the anchor, a file beside the records
//
//	offset  size  field
//	0       8     "LKTANCH1"
//	8       81    sealed under a key of its own, with the magic as associated data:
//	              generation, u64 big-endian; MAC of the head of that generation, 32 bytes
//
// The anchor is replaced when the store closes, and after every
// [Options.AnchorEvery] commits. If the records are older than the anchor,
// somebody restored an old copy of them, and Open returns an error. If somebody
// restores old records together with their anchor, the store can't notice it.
// Only another member of the space, or a counter that can't be turned back,
// could.

const (
	anchorMagic = "LKTANCH1"
	anchorName  = "anchor"
)

// ErrRolledBack: the records are older than the anchor beside them, or are not
// the records for which it was written. It wraps [memory.ErrDamaged].
var ErrRolledBack = fmt.Errorf("rolled back: %w", memory.ErrDamaged)

type anchor struct {
	generation uint64
	head       [32]byte
}

func (s *secrets) anchorOf(h *head) anchor {
	return anchor{h.Generation, s.macs.MAC("head", u64(h.Generation), u64(h.Version), h.Total)}
}

func (s *secrets) writeAnchor(dir string, a anchor) error {
	plain := append(binary.BigEndian.AppendUint64(nil, a.generation), a.head[:]...)
	if err := atomicfile.Write(filepath.Join(dir, anchorName), s.anchor.Seal([]byte(anchorMagic), plain, []byte(anchorMagic))); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	return nil
}

// readAnchor returns ok == false if there is no anchor.
func (s *secrets) readAnchor(dir string) (a anchor, ok bool, err error) {
	b, err := os.ReadFile(filepath.Join(dir, anchorName))
	if errors.Is(err, fs.ErrNotExist) {
		return a, false, nil
	}
	if err != nil {
		return a, false, fmt.Errorf("store: anchor: %w", err)
	}
	bad := &Damage{Kind: "anchor", Key: anchorName, What: "was altered"}
	sealed, ok := bytes.CutPrefix(b, []byte(anchorMagic))
	if !ok {
		return a, false, bad
	}
	plain, err := s.anchor.Open(nil, sealed, []byte(anchorMagic))
	if err != nil || len(plain) != versionSize+len(a.head) {
		return a, false, bad
	}
	a.generation = binary.BigEndian.Uint64(plain)
	copy(a.head[:], plain[versionSize:])
	return a, true, nil
}

// checkAnchor compares the anchor with the stored head.
func (s *secrets) checkAnchor(dir string, h *head) error {
	a, ok, err := s.readAnchor(dir)
	switch {
	case err != nil:
		return err
	case !ok && h.Generation > 1: // the first anchor is written after the first head
		return &Damage{Kind: "anchor", Key: anchorName, What: "is missing"}
	case !ok || a.generation < h.Generation || a == s.anchorOf(h):
		return nil
	case a.generation == h.Generation:
		return fmt.Errorf("store: records at generation %d are not those of the anchor: %w", h.Generation, ErrRolledBack)
	}
	return fmt.Errorf("store: records at generation %d, anchor at %d: %w", h.Generation, a.generation, ErrRolledBack)
}
