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
	"slices"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/fb"
	"github.com/dgraph-io/badger/v4/pb"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/dgraph-io/badger/v4/y"
)

// wreck is a database of which any file may be damaged. It is read past
// Badger, one entry at a time: a bad byte costs what it lies in, and no more.
type wreck struct {
	dir     string // the store's
	records string
	secrets *secrets
	keys    []*pb.DataKey // that any file may be under; nil stands for none
	files   []string      // tables and logs, by path
	found   []Damage
}

// scrap is one entry of a wreck's files, under its key without the time.
type scrap struct {
	file  string
	key   []byte
	at    uint64 // Badger's number of the transaction
	value []byte // empty: the key was deleted
	sound bool   // the checksum over it fits
}

// survey finds the files and their keys. Tables that a sound list does not
// name were replaced, and are left out.
func (w *wreck) survey() error {
	w.records = filepath.Join(w.dir, recordsName)
	if _, err := os.Stat(w.records); errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(filepath.Join(w.dir, newName)); err == nil {
			w.records = filepath.Join(w.dir, newName) // a rewrite was cut off between two renames
		}
	}
	opt := badger.DefaultOptions(w.records).WithEncryptionKey(w.secrets.disk)
	w.keys = []*pb.DataKey{nil}
	for _, dir := range []string{w.records, filepath.Join(w.dir, spareName)} {
		keys, err := openKeys(dir, w.secrets.disk)
		if err == nil {
			w.keys = append(w.keys, dataKeys(keys)[1:]...)
		} else if dir == w.records {
			w.found = append(w.found, Damage{Kind: "key file", Key: badger.KeyRegistryFileName, What: "is not as it was written: " + err.Error()})
		}
	}
	if len(w.found) > 0 && len(w.keys) == 1 {
		return &w.found[0] // nothing can be read without it
	}
	manifest, err := readManifest(w.records, opt)
	d := new(Damage)
	listed := err == nil
	if errors.As(err, &d) {
		w.found = append(w.found, *d)
	} else if err != nil {
		return err
	}
	for _, pattern := range []string{"*.sst", "*.mem"} {
		paths, err := filepath.Glob(filepath.Join(w.records, pattern))
		if err != nil {
			return fmt.Errorf("store: %w", err)
		}
		for _, path := range paths {
			id, isTable := table.ParseFileID(filepath.Base(path))
			if _, named := manifest.Tables[id]; pattern == "*.sst" && isTable && listed && !named {
				continue
			}
			w.files = append(w.files, path)
		}
	}
	for id := range manifest.Tables {
		path := filepath.Join(w.records, table.IDToFilename(id))
		if !slices.Contains(w.files, path) {
			w.found = append(w.found, Damage{Kind: "table file", Key: filepath.Base(path), What: "is missing"})
		}
	}
	return nil
}

// openKeys reads the file of data keys in dir. Badger waits for ever, or asks
// for gigabytes, on some that were altered: lengths are looked at first.
func openKeys(dir string, disk []byte) (*badger.KeyRegistry, error) {
	if err := checkLengths(filepath.Join(dir, badger.KeyRegistryFileName), "key file", keyFileHeader); err != nil {
		return nil, err
	}
	return badger.OpenKeyRegistry(badger.KeyRegistryOptions{Dir: dir, ReadOnly: true, EncryptionKey: disk})
}

// each calls fn with every entry that can be told from its surroundings; the
// first call notes which files are not as they were written.
func (w *wreck) each(fn func(scrap) error) error {
	for _, path := range w.files {
		p, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("store: %w", err)
		}
		if filepath.Ext(path) == ".sst" {
			err = w.table(path, p, fn)
		} else {
			err = w.logFile(path, p, fn)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *wreck) note(kind, path, what string) {
	d := Damage{Kind: kind, Key: filepath.Base(path), What: what}
	if !slices.ContainsFunc(w.found, func(o Damage) bool { return o.Kind == d.Kind && o.Key == d.Key }) {
		w.found = append(w.found, d)
	}
}

// span is where a block lies.
type span struct{ from, to int }

// spansOf reads a table's index under one key: blocks stand one behind another,
// from the first byte to the index. Under another key that does not come out.
func spansOf(index []byte, size int) (spans []span, ok bool) {
	defer func() {
		if recover() != nil { // flatbuffers are read without looking at bounds
			ok = false
		}
	}()
	root := fb.GetRootAsTableIndex(index, 0)
	n := root.OffsetsLength()
	if n == 0 || n > size {
		return nil, false
	}
	end := 0
	for i := range n {
		var at fb.BlockOffset
		if !root.Offsets(&at, i) || int(at.Offset()) != end || at.Len() == 0 || int(at.Len()) > size-end {
			return nil, false
		}
		spans = append(spans, span{end, end + int(at.Len())})
		end += int(at.Len())
	}
	return spans, end == size
}

func (w *wreck) table(path string, p []byte, fn func(scrap) error) error {
	rest, sum, ok := cutTail(p)
	blocks, index, ok2 := cutTail(rest)
	switch {
	case !ok || !ok2:
		w.note("table file", path, errShort.Error())
		return w.unindexed(path, p, fn)
	case !sumFits(index, sum):
		w.note("table file", path, errIndex.Error())
	}
	for _, key := range w.keys {
		plain, err := decrypt(index, key)
		if err != nil {
			continue
		}
		spans, ok := spansOf(plain, len(blocks))
		if !ok {
			continue
		}
		return w.blocks(path, p, key, spans, fn)
	}
	w.note("table file", path, "no key opens its index")
	return w.unindexed(path, p, fn)
}

// unindexed reads a table of which the index says nothing: its blocks are looked
// for.
func (w *wreck) unindexed(path string, p []byte, fn func(scrap) error) error {
	for _, key := range w.keys {
		if key == nil {
			continue
		}
		spans, err := findBlocks(p, key)
		if err != nil {
			return err
		}
		if len(spans) > 0 {
			return w.blocks(path, p, key, spans, fn)
		}
	}
	return nil
}

func (w *wreck) blocks(path string, p []byte, key *pb.DataKey, spans []span, fn func(scrap) error) error {
	for _, s := range spans {
		block, err := decrypt(p[s.from:s.to], key)
		if err != nil {
			continue
		}
		sound := blockSound(block)
		if !sound {
			w.note("table file", path, fmt.Sprintf("its block at byte %d was altered", s.from))
		}
		if err := blockEntries(block, func(key, value []byte) error { return w.give(fn, path, key, value, sound) }); err != nil {
			return err
		}
	}
	return nil
}

// blockEntries gives the entries of a block as far as their places make sense.
func blockEntries(p []byte, fn func(key, value []byte) error) error {
	p, _, ok := cutTail(p)
	if !ok || len(p) < 4 {
		return nil
	}
	n := uint64(binary.BigEndian.Uint32(p[len(p)-4:]))
	p = p[:len(p)-4]
	if n*4 > uint64(len(p)) {
		return nil
	}
	starts := p[len(p)-4*int(n):]
	p = p[:len(p)-4*int(n)]
	var base []byte
	for i := range int(n) {
		from, to := uint64(binary.LittleEndian.Uint32(starts[4*i:])), uint64(len(p))
		if i+1 < int(n) {
			to = uint64(binary.LittleEndian.Uint32(starts[4*i+4:]))
		}
		if from+4 > to || to > uint64(len(p)) {
			continue
		}
		e := p[from:to]
		shared, more := int(binary.LittleEndian.Uint16(e)), int(binary.LittleEndian.Uint16(e[2:]))
		if 4+more+2 > len(e) || shared > len(base) {
			continue
		}
		key := append(bytes.Clone(base[:shared]), e[4:4+more]...)
		if i == 0 {
			base = key
		}
		_, skip := binary.Uvarint(e[4+more+2:]) // when it expires
		if skip <= 0 {
			continue
		}
		if err := fn(key, e[4+more+2+skip:]); err != nil {
			return err
		}
	}
	return nil
}

// logFile reads a memory log. What stands behind the last end of a transaction was
// never committed.
func (w *wreck) logFile(path string, p []byte, fn func(scrap) error) error {
	if len(p) < logHeader {
		return nil
	}
	var key *pb.DataKey
	for _, k := range w.keys {
		if k != nil && k.KeyId == binary.BigEndian.Uint64(p) {
			key = k
		}
	}
	if key == nil {
		w.note("log file", path, "names a key that is not there")
		for _, k := range w.keys {
			if key == nil && k != nil && logUnder(p, k) {
				key = k
			}
		}
		if key == nil {
			return nil
		}
	}
	var open []logEntry // of the transaction that has not ended yet
	var keys [][]byte
	for at := logHeader; at < len(p); {
		e, ok := nextLogEntry(p[at:])
		if !ok || e.size > 0 && !e.sound {
			next := resyncLog(p, at)
			if next < 0 {
				return nil // as a crash leaves it
			}
			w.note("log file", path, fmt.Sprintf("its entry at byte %d was altered", at))
			at = next
			continue
		}
		if e.size == 0 {
			return nil
		}
		plain, err := logPlain(p, at, &e, key)
		if err != nil {
			return err
		}
		at += e.size
		if e.meta&logTxnEnd == 0 {
			e.value = plain[len(e.key):]
			open, keys = append(open, e), append(keys, plain[:len(e.key)])
			continue
		}
		if !bytes.HasPrefix(plain, []byte(logEndKey)) {
			w.note("log file", path, "its first 20 bytes were altered")
		}
		for i := range open {
			if err := w.give(fn, path, keys[i], open[i].value, true); err != nil {
				return err
			}
		}
		open, keys = open[:0], keys[:0]
	}
	return nil
}

// logUnder reports whether the first entry of a log opens under a key.
func logUnder(p []byte, key *pb.DataKey) bool {
	for at := logHeader; at < len(p); {
		e, ok := nextLogEntry(p[at:])
		if !ok || e.size == 0 || !e.sound {
			return false
		}
		if e.meta&logTxnEnd != 0 {
			plain, err := logPlain(p, at, &e, key)
			return err == nil && bytes.HasPrefix(plain, []byte(logEndKey))
		}
		at += e.size
	}
	return false
}

// logPlain decrypts key and value of an entry at a place.
func logPlain(p []byte, at int, e *logEntry, key *pb.DataKey) ([]byte, error) {
	iv := make([]byte, aes.BlockSize)
	copy(iv, p[8:logHeader])
	binary.BigEndian.PutUint32(iv[12:], uint32(at))
	plain, err := y.XORBlockAllocate(append(bytes.Clone(e.key), e.value...), key.Data, iv)
	if err != nil {
		return nil, fmt.Errorf("store: log: %w", err)
	}
	return plain, nil
}

// resyncLog gives the place of the next entry behind a bad one whose checksum
// fits, or -1.
func resyncLog(p []byte, at int) int {
	end := len(bytes.TrimRight(p, "\x00"))
	for at++; at < end; at++ {
		// What Badger writes: a deletion, a value, or the end of a transaction,
		// each within one, under a key of a kind or its own.
		if m := p[at] &^ (logTxnEnd | logTxn | logDeleted); m != 0 || p[at+1:][0] != 0 {
			continue
		}
		if e, ok := nextLogEntry(p[at:min(end+64, len(p))]); ok && e.size > 0 && e.sound && len(e.key) > seqSize {
			return at
		}
		if at+1 >= end {
			break
		}
	}
	return -1
}

const (
	logDeleted = 1 << 0 // meta of a deletion
	logTxn     = 1 << 6 // meta of an entry within a transaction
)

// give hands an entry of ours on; Badger's own are left out.
func (w *wreck) give(fn func(scrap) error, path string, key, value []byte, sound bool) error {
	if len(key) <= seqSize || bytes.HasPrefix(key, []byte(badgerPrefix)) {
		return nil
	}
	return fn(scrap{filepath.Base(path), y.ParseKey(key), y.ParseTs(key), value, sound})
}
