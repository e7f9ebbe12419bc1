package trust

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"

	"github.com/locket-dev/locket/internal/atomicfile"
)

// bookVersion is the version of the file's format.
const bookVersion = 1

// Book holds the pins, in a sealed JSON file. It is not safe for concurrent use; only the holder of
// the home writes it.
type Book struct {
	path string
	key  atomicfile.Sealer
	pins map[string]Pin
}

type bookFile struct {
	Version int            `json:"version"`
	Pins    map[string]Pin `json:"pins"`
}

// OpenBook reads the pins; without a file there are none yet. A file that can't be read, or whose
// seal does not match key, is an error: continuing without it would forget who may publish what.
// Without a key the file can be read, but not written.
func OpenBook(path string, key atomicfile.Sealer) (*Book, error) {
	b := &Book{path: path, key: key, pins: map[string]Pin{}}
	text, err := atomicfile.ReadSealed(path, key)
	if errors.Is(err, fs.ErrNotExist) {
		return b, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading plugin pins: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	var f bookFile
	if err := d.Decode(&f); err != nil {
		return nil, fmt.Errorf("reading plugin pins: %s: %w", path, err)
	}
	if f.Version != bookVersion {
		return nil, fmt.Errorf("reading plugin pins: %s has version %d, this program knows %d", path, f.Version, bookVersion)
	}
	maps.Copy(b.pins, f.Pins)
	return b, nil
}

// Pins returns a copy of the pins, by plugin id.
func (b *Book) Pins() map[string]Pin { return maps.Clone(b.pins) }

// Put adds a plugin, and writes the file atomically.
func (b *Book) Put(id string, p Pin) error {
	next := maps.Clone(b.pins)
	next[id] = p
	return b.write(next)
}

// Forget removes a pin, so that the next installation of id pins it again.
func (b *Book) Forget(id string) error {
	next := maps.Clone(b.pins)
	delete(next, id)
	return b.write(next)
}

func (b *Book) write(pins map[string]Pin) error {
	text, err := json.MarshalIndent(bookFile{bookVersion, pins}, "", "  ")
	if err != nil {
		return fmt.Errorf("writing plugin pins: %w", err)
	}
	if err := atomicfile.MkdirAll(filepath.Dir(b.path)); err != nil {
		return fmt.Errorf("writing plugin pins: %w", err)
	}
	if err := atomicfile.WriteSealed(b.path, text, b.key); err != nil {
		return fmt.Errorf("writing plugin pins: %w", err)
	}
	b.pins = pins
	return nil
}
