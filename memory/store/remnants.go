package store

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/dgraph-io/badger/v4/y"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store/badgerfile"
)

// Remnant is one decrypted value that lies somewhere in a store's folder.
type Remnant struct {
	File   string // path within the folder
	What   string // kind and id of the record, or "clear" for a file that is not sealed
	Opened bool   // false: no known key decrypts it, and Data has the stored bytes
	Data   []byte
}

// FindRemnants finds everything in a store's folder that the master key can decrypt,
// even if the store would no longer return it: each version of each record in
// each table, memory log and value log, also in databases of interrupted
// rewrites; each line of a page of utterances; the blobs whose key is in any of
// those versions; the anchor; and every other file as it is stored. It does not
// use Badger's list of tables, and decodes the files itself. No process may
// have the store open.
//
// It serves to prove that something was really deleted.
func FindRemnants(dir string, master *seal.Key, found func(Remnant) error) error {
	x := &remnantSearch{dir: dir, secrets: newSecrets(master), found: found, blobs: map[memory.ID][]blobRecord{}}
	defer x.secrets.zero()
	var later []string // blobs, handled after all their keys are known
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if !d.Type().IsRegular() {
			return nil
		}
		switch name, parent := d.Name(), filepath.Base(filepath.Dir(path)); {
		case parent == blobsName:
			later = append(later, path)
			return nil
		case strings.HasPrefix(parent, recordsName):
			return badgerfile.Remnants(path, x.secrets.disk,
				func(key, value []byte) error { return x.value(path, key, value) },
				func(what string, clear bool, data []byte) error { return x.emit(path, what, clear, data) })
		case name == anchorName:
			return x.anchor(path)
		}
		return x.clear(path)
	})
	for _, path := range later {
		if err == nil {
			err = x.blob(path)
		}
	}
	if err != nil {
		return fmt.Errorf("find remnants: %w", err)
	}
	return nil
}

type remnantSearch struct {
	dir     string
	secrets *secrets
	found   func(Remnant) error
	blobs   map[memory.ID][]blobRecord
}

func (x *remnantSearch) emit(path, what string, opened bool, data []byte) error {
	rel, err := filepath.Rel(x.dir, path)
	if err != nil {
		return err
	}
	return x.found(Remnant{rel, what, opened, data})
}

func (x *remnantSearch) clear(path string) error {
	p, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return x.emit(path, "clear", true, p)
}

func (x *remnantSearch) anchor(path string) error {
	p, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if plain, err := x.secrets.anchor.Open(nil, bytes.TrimPrefix(p, []byte(anchorMagic)), []byte(anchorMagic)); err == nil {
		return x.emit(path, "anchor", true, plain)
	}
	return x.emit(path, "anchor", false, p)
}

// value decrypts one value of a record. Badger stores the transaction number at
// the end of a key.
func (x *remnantSearch) value(path string, key, value []byte) error {
	if len(value) == 0 {
		return nil // a deletion
	}
	key = y.ParseKey(key)
	name, id := describe(key)
	what := strings.TrimSpace(name + " " + id)
	_, plain, err := x.secrets.open(key, value)
	if err != nil {
		return x.emit(path, what, false, value)
	}
	if kind(key[0]) == kindBlob {
		r, err := decode[blobRecord](key, plain)
		if err != nil {
			return err
		}
		name := memory.ID(key[1:])
		x.blobs[name] = append(x.blobs[name], r)
	}
	if err := x.emit(path, what, true, plain); err != nil || kind(key[0]) != kindLines {
		return err
	}
	g, err := readLines(new(inflaters), key, plain)
	if err != nil {
		return err
	}
	all, err := g.all()
	for i := 0; i < len(all) && err == nil; i++ {
		err = x.emit(path, what+", line "+all[i].id.String(), true, all[i].plain)
	}
	return err
}

// blob decrypts a blob's file with any key that was ever stored for it. Without
// such a key nobody can decrypt it, because each blob has its own random key.
func (x *remnantSearch) blob(path string) error {
	p, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	id, err := memory.ParseID(strings.TrimSuffix(filepath.Base(path), ".tmp"))
	if err != nil {
		return x.emit(path, "clear", true, p)
	}
	for _, r := range x.blobs[id] {
		if plain, ok := openChunks(id, r, p); ok {
			return x.emit(path, "blob "+id.String(), true, plain)
		}
	}
	return x.emit(path, "blob "+id.String(), false, p)
}

func openChunks(id memory.ID, r blobRecord, p []byte) (plain []byte, ok bool) {
	k, err := seal.KeyFromBytes(r.Key)
	if err != nil {
		return nil, false
	}
	defer k.Zero()
	p = bytes.TrimPrefix(p, []byte(blobMagic))
	for n := uint64(0); len(p) > 0; n++ {
		chunk := p[:min(len(p), sealedSize)]
		p = p[len(chunk):]
		if plain, err = k.Open(plain, chunk, chunkAD(id, n, len(p) == 0)); err != nil {
			return nil, false
		}
	}
	return plain, true
}
