package store

import (
	"bytes"
	"crypto/aes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/fb"
	"github.com/dgraph-io/badger/v4/pb"
	"github.com/dgraph-io/badger/v4/y"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
)

// Remnant is one value that lies somewhere in a store's folder, opened.
type Remnant struct {
	File   string // path within the folder
	What   string // what it is of, as a kind and an id; "clear" of a file that is not sealed
	Opened bool   // false: no key that there is opens it, and Data is what lies there
	Data   []byte
}

// Exhume gives everything that the master key opens in a store's folder,
// whether the store would still show it or not: each version of each record in
// each table, memory log and value log, in databases of rewrites that were cut
// off too, and each line of a page of utterances; blobs whose key is in any of those versions; the anchor; and every
// other file as it lies there. It trusts no list of Badger's, and decodes the
// files itself. No process may have the store open.
//
// It is there to prove that something is gone.
func Exhume(dir string, master *seal.Key, found func(Remnant) error) error {
	x := &exhumation{dir: dir, secrets: newSecrets(master), found: found, blobs: map[memory.ID][]blobRecord{}}
	defer x.secrets.zero()
	var later []string // blobs, once all of their keys are known
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
			return x.database(path)
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
		return fmt.Errorf("exhume: %w", err)
	}
	return nil
}

type exhumation struct {
	dir     string
	secrets *secrets
	found   func(Remnant) error
	blobs   map[memory.ID][]blobRecord
}

func (x *exhumation) emit(path, what string, opened bool, data []byte) error {
	rel, err := filepath.Rel(x.dir, path)
	if err != nil {
		return err
	}
	return x.found(Remnant{rel, what, opened, data})
}

func (x *exhumation) clear(path string) error {
	p, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return x.emit(path, "clear", true, p)
}

func (x *exhumation) anchor(path string) error {
	p, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if plain, err := x.secrets.anchor.Open(nil, bytes.TrimPrefix(p, []byte(anchorMagic)), []byte(anchorMagic)); err == nil {
		return x.emit(path, "anchor", true, plain)
	}
	return x.emit(path, "anchor", false, p)
}

// database reads one file of a Badger database.
func (x *exhumation) database(path string) error {
	dir := filepath.Dir(path)
	keys, err := badger.OpenKeyRegistry(badger.KeyRegistryOptions{Dir: dir, ReadOnly: true, EncryptionKey: x.secrets.disk})
	if err != nil {
		return err
	}
	p, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	switch filepath.Ext(path) {
	case ".sst":
		return x.table(path, p, dataKeys(keys))
	case ".mem", ".vlog":
		return x.logFile(path, p, keys)
	}
	return x.emit(path, "clear", true, p)
}

// dataKeys are all keys of a database, and none: of a table that no list names
// it is not known which is its own.
func dataKeys(keys *badger.KeyRegistry) []*pb.DataKey {
	all := []*pb.DataKey{nil}
	for id := uint64(1); ; id++ {
		k, err := keys.DataKey(id)
		if err != nil {
			return all
		}
		all = append(all, k)
	}
}

func (x *exhumation) logFile(path string, p []byte, keys *badger.KeyRegistry) error {
	if len(p) < logHeader {
		return nil
	}
	key, err := keys.DataKey(binary.BigEndian.Uint64(p))
	if err != nil {
		return x.emit(path, "log", false, p)
	}
	for at := logHeader; ; {
		e, ok := nextLogEntry(p[at:])
		if !ok || e.size == 0 {
			if rest := bytes.Trim(p[at:], "\x00"); len(rest) > 0 {
				return x.emit(path, "log's end", false, rest)
			}
			return nil
		}
		both := append(bytes.Clone(e.key), e.value...)
		if key != nil {
			iv := make([]byte, aes.BlockSize)
			copy(iv, p[8:logHeader])
			binary.BigEndian.PutUint32(iv[12:], uint32(at))
			if both, err = y.XORBlockAllocate(both, key.Data, iv); err != nil {
				return err
			}
		}
		if err := x.value(path, both[:len(e.key)], both[len(e.key):]); err != nil {
			return err
		}
		at += e.size
	}
}

// table reads a table file under whichever key its index opens with.
func (x *exhumation) table(path string, p []byte, keys []*pb.DataKey) error {
	for _, key := range keys {
		if tableSound(p, key) != nil {
			continue
		}
		rest, _, _ := cutTail(p)
		blocks, index, _ := cutTail(rest)
		index, err := decrypt(index, key)
		if err != nil {
			return err
		}
		root := fb.GetRootAsTableIndex(index, 0)
		for n := range root.OffsetsLength() {
			var at fb.BlockOffset
			root.Offsets(&at, n)
			block, err := decrypt(blocks[at.Offset():][:at.Len()], key)
			if err != nil {
				return err
			}
			if err := x.block(path, block); err != nil {
				return err
			}
		}
		return nil
	}
	return x.emit(path, "table", false, p)
}

// block reads the entries of a table's block (Badger's table/builder.go): each
// a header of how many bytes of the first key it shares and how many more it
// has, two bytes each, little-endian; the rest of the key; the value. Where they
// begin stands behind them, little-endian too.
func (x *exhumation) block(path string, p []byte) error {
	p, _, _ = cutTail(p)
	n := int(binary.BigEndian.Uint32(p[len(p)-4:]))
	p = p[:len(p)-4]
	starts := p[len(p)-4*n:]
	p = p[:len(p)-4*n]
	var base []byte
	for i := range n {
		from, to := int(binary.LittleEndian.Uint32(starts[4*i:])), len(p)
		if i+1 < n {
			to = int(binary.LittleEndian.Uint32(starts[4*i+4:]))
		}
		if from+4 > to || to > len(p) {
			return errors.New("block: entries out of order")
		}
		e := p[from:to]
		shared, more := int(binary.LittleEndian.Uint16(e)), int(binary.LittleEndian.Uint16(e[2:]))
		if 4+more > len(e) || shared > len(base) {
			return errors.New("block: a key out of range")
		}
		key := append(bytes.Clone(base[:shared]), e[4:4+more]...)
		if i == 0 {
			base = key
		}
		var v y.ValueStruct
		v.Decode(e[4+more:])
		if err := x.value(path, key, v.Value); err != nil {
			return err
		}
	}
	return nil
}

// value opens one value of a record; Badger keeps the time of writing at the
// end of a key.
func (x *exhumation) value(path string, key, value []byte) error {
	if bytes.HasPrefix(key, []byte(badgerPrefix)) {
		return x.emit(path, "badger's own", true, value)
	}
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

// badgerPrefix begins the keys that Badger writes for itself.
const badgerPrefix = "!badger!"

// blob opens a blob's file by any key that was ever kept for it. One without is
// opened by nobody: blobs have random keys of their own.
func (x *exhumation) blob(path string) error {
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
