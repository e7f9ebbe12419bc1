package badgerfile

import (
	"bytes"
	"crypto/aes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/fb"
	"github.com/dgraph-io/badger/v4/pb"
	"github.com/dgraph-io/badger/v4/y"
)

// Remnants returns everything in a file of a database, including what is no
// longer in use: entries of tables that no list names, entries of transactions
// that were not committed, and each version of a key. entry gets each key with
// its transaction number. rest gets bytes that are not an entry, with a
// description, and whether they can be read without a key.
func Remnants(path string, key []byte, entry func(key, value []byte) error, rest func(what string, clear bool, data []byte) error) error {
	x := remnants{rest: rest, entry: func(key, value []byte) error {
		if bytes.HasPrefix(key, []byte(own)) {
			return rest("badger's own", true, value)
		}
		return entry(key, value)
	}}
	dir := filepath.Dir(path)
	keys, err := badger.OpenKeyRegistry(badger.KeyRegistryOptions{Dir: dir, ReadOnly: true, EncryptionKey: key})
	if err != nil {
		return err
	}
	p, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	switch filepath.Ext(path) {
	case ".sst":
		return x.table(p, dataKeys(keys))
	case ".mem", ".vlog":
		return x.logFile(p, keys)
	}
	return rest("clear", true, p)
}

type remnants struct {
	entry func(key, value []byte) error
	rest  func(what string, clear bool, data []byte) error
}

func (x remnants) logFile(p []byte, keys *badger.KeyRegistry) error {
	if len(p) < logHeader {
		return nil
	}
	key, err := keys.DataKey(binary.BigEndian.Uint64(p))
	if err != nil {
		return x.rest("log", false, p)
	}
	for at := logHeader; ; {
		e, ok := nextLogEntry(p[at:])
		if !ok || e.size == 0 {
			if rest := bytes.Trim(p[at:], "\x00"); len(rest) > 0 {
				return x.rest("log's end", false, rest)
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
		if err := x.entry(both[:len(e.key)], both[len(e.key):]); err != nil {
			return err
		}
		at += e.size
	}
}

// table reads a table file with whichever key opens its index.
func (x remnants) table(p []byte, keys []*pb.DataKey) error {
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
			if err := x.block(block); err != nil {
				return err
			}
		}
		return nil
	}
	return x.rest("table", false, p)
}

// block reads the entries of a table's block (Badger's table/builder.go). An
// entry is a header, the rest of the key, and the value. The header says how
// many bytes of the block's first key the entry's key shares, and how many
// follow, in two bytes each, little-endian. The offsets of the entries stand
// after them, also little-endian.
func (x remnants) block(p []byte) error {
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
		if err := x.entry(key, v.Value); err != nil {
			return err
		}
	}
	return nil
}
