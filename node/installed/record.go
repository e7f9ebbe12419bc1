package installed

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/locket-dev/locket/internal/atomicfile"
)

// record is installed.json.
type record struct {
	Version int      `json:"version"` // 1
	Plugins []Entry  `json:"plugins"` // by id
	Off     []string `json:"off"`     // built-in plugins that the wearer turned off
	// Pinned says that there are pins, which outlast the plugins.
	Pinned bool `json:"pinned,omitempty"`
}

func (f *Folder) readRecord() error {
	f.r = record{Version: 1}
	b, err := atomicfile.ReadSealed(filepath.Join(f.dir, recordFile), f.key)
	if errors.Is(err, fs.ErrNotExist) {
		if _, e := os.Lstat(filepath.Join(f.dir, pinsFile)); !errors.Is(e, fs.ErrNotExist) {
			return errors.Join(fmt.Errorf("installed plugins: %s %w", recordFile, ErrGone), e)
		}
		return nil
	}
	if err == nil {
		err = json.Unmarshal(b, &f.r)
	}
	if err != nil {
		return fmt.Errorf("installed plugins: %s: %w", recordFile, err)
	}
	if f.r.Version != 1 {
		return fmt.Errorf("installed plugins: %s is of version %d, which a later Locket wrote", recordFile, f.r.Version)
	}
	return nil
}

func (f *Folder) clone() record {
	return record{f.r.Version, slices.Clone(f.r.Plugins), slices.Clone(f.r.Off), f.r.Pinned}
}

// save replaces the record. The caller holds f.mu.
func (f *Folder) save(next record) error {
	if f.pins != nil && len(f.pins.Pins()) > 0 {
		next.Pinned = true
	}
	b, err := json.MarshalIndent(next, "", "\t")
	if err != nil {
		return err
	}
	if err := atomicfile.MkdirAll(f.dir); err != nil {
		return fmt.Errorf("installed plugins: %w", err)
	}
	if err := atomicfile.WriteSealed(filepath.Join(f.dir, recordFile), b, f.key); err != nil {
		return fmt.Errorf("installed plugins: %w", err)
	}
	f.r = next
	return nil
}
