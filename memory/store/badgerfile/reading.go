package badgerfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/pb"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/dgraph-io/badger/v4/y"
)

// Reading reads a database in which any file may be damaged, one entry at a
// time. A wrong byte costs only the entry or block that contains it.
type Reading struct {
	dir   string
	keys  []*pb.DataKey // all keys that a file may use; nil stands for none
	files []string      // tables and logs, by path
	found []Damage
}

// Entry is one entry of a table or a log.
type Entry struct {
	File  string // name of the file
	Key   []byte // without the transaction number
	At    uint64 // number of the transaction
	Value []byte // empty if the key was deleted
	Sound bool   // the checksum over it is right
}

// stampSize is how many bytes at the end of a key are the number of the
// transaction that wrote it.
const stampSize = 8

// Read finds the files of the database in dir and their keys. It changes
// nothing. The folder copies may hold a copy of the key file. If the table list
// is sound, tables that it does not name were replaced, and are left out. Read
// returns a [Damage] of the key file if nothing can be read without it.
func Read(dir, copies string, key []byte) (*Reading, error) {
	r := &Reading{dir: dir}
	opt := badger.DefaultOptions(r.dir).WithEncryptionKey(key)
	r.keys = []*pb.DataKey{nil}
	for _, dir := range []string{dir, copies} {
		keys, err := openKeys(dir, key)
		if err == nil {
			r.keys = append(r.keys, dataKeys(keys)[1:]...)
		} else if dir == r.dir {
			r.found = append(r.found, Damage{Kind: "key file", File: badger.KeyRegistryFileName, What: "is not as it was written: " + err.Error()})
		}
	}
	if len(r.found) > 0 && len(r.keys) == 1 {
		return nil, &r.found[0] // without the key file nothing can be read
	}
	manifest, err := readManifest(r.dir, opt)
	d := new(Damage)
	listed := err == nil
	if errors.As(err, &d) {
		r.found = append(r.found, *d)
	} else if err != nil {
		return nil, err
	}
	for _, pattern := range []string{"*.sst", "*.mem"} {
		paths, err := filepath.Glob(filepath.Join(r.dir, pattern))
		if err != nil {
			return nil, fmt.Errorf("badger: %w", err)
		}
		for _, path := range paths {
			id, isTable := table.ParseFileID(filepath.Base(path))
			if _, named := manifest.Tables[id]; pattern == "*.sst" && isTable && listed && !named {
				continue
			}
			r.files = append(r.files, path)
		}
	}
	for id := range manifest.Tables {
		path := filepath.Join(r.dir, table.IDToFilename(id))
		if !slices.Contains(r.files, path) {
			r.found = append(r.found, Damage{Kind: "table file", File: filepath.Base(path), What: "is missing"})
		}
	}
	return r, nil
}

// Damage returns the files that are not as they were written.
func (r *Reading) Damage() []Damage { return slices.Clone(r.found) }

// Each calls fn with every entry that can be recognised. The first call also
// finds out which tables and logs are damaged.
func (r *Reading) Each(fn func(Entry) error) error {
	for _, path := range r.files {
		p, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("badger: %w", err)
		}
		if filepath.Ext(path) == ".sst" {
			err = r.table(path, p, fn)
		} else {
			err = r.logFile(path, p, fn)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *Reading) note(kind, path, what string) {
	d := Damage{Kind: kind, File: filepath.Base(path), What: what}
	if !slices.ContainsFunc(r.found, func(o Damage) bool { return o.Kind == d.Kind && o.File == d.File }) {
		r.found = append(r.found, d)
	}
}

func (r *Reading) table(path string, p []byte, fn func(Entry) error) error {
	rest, sum, ok := cutTail(p)
	blocks, index, ok2 := cutTail(rest)
	switch {
	case !ok || !ok2:
		r.note("table file", path, errShort.Error())
		return r.unindexed(path, p, fn)
	case !sumFits(index, sum):
		r.note("table file", path, errIndex.Error())
	}
	for _, key := range r.keys {
		plain, err := decrypt(index, key)
		if err != nil {
			continue
		}
		spans, ok := spansOf(plain, len(blocks))
		if !ok {
			continue
		}
		return r.blocks(path, p, key, spans, fn)
	}
	r.note("table file", path, "no key opens its index")
	return r.unindexed(path, p, fn)
}

// unindexed reads a table whose index is of no use. It searches for the table's
// blocks.
func (r *Reading) unindexed(path string, p []byte, fn func(Entry) error) error {
	for _, key := range r.keys {
		if key == nil {
			continue
		}
		spans, err := findBlocks(p, key)
		if err != nil {
			return err
		}
		if len(spans) > 0 {
			return r.blocks(path, p, key, spans, fn)
		}
	}
	return nil
}

func (r *Reading) blocks(path string, p []byte, key *pb.DataKey, spans []span, fn func(Entry) error) error {
	for _, s := range spans {
		block, err := decrypt(p[s.from:s.to], key)
		if err != nil {
			continue
		}
		sound := blockSound(block)
		if !sound {
			r.note("table file", path, fmt.Sprintf("its block at byte %d was altered", s.from))
		}
		if err := blockEntries(block, func(key, value []byte) error { return r.deliver(fn, path, key, value, sound) }); err != nil {
			return err
		}
	}
	return nil
}

// logFile reads a memory log. Entries after the last end of a transaction were
// never committed, and are left out.
func (r *Reading) logFile(path string, p []byte, fn func(Entry) error) error {
	if len(p) < logHeader {
		return nil
	}
	var key *pb.DataKey
	for _, k := range r.keys {
		if k != nil && k.KeyId == binary.BigEndian.Uint64(p) {
			key = k
		}
	}
	if key == nil {
		r.note("log file", path, "names a key that is not there")
		for _, k := range r.keys {
			if key == nil && k != nil && logUnder(p, k) {
				key = k
			}
		}
		if key == nil {
			return nil
		}
	}
	p, altered := restoreIV(p, key)
	if altered {
		r.note("log file", path, "its first 20 bytes were altered")
	}
	var open []logEntry // of the transaction that has not ended yet
	var keys [][]byte
	commit := func() error {
		for i := range open {
			if err := r.deliver(fn, path, keys[i], open[i].value, true); err != nil {
				return err
			}
		}
		open, keys = open[:0], keys[:0]
		return nil
	}
	for at := logHeader; at < len(p); {
		e, ok := nextLogEntry(p[at:])
		if (!ok || !e.sound) && endAltered(p, at, key) {
			r.note("log file", path, fmt.Sprintf("its entry at byte %d was altered", at))
			if err := commit(); err != nil {
				return err
			}
		}
		if !ok || e.size > 0 && !e.sound {
			next := resyncLog(p, at)
			if next < 0 {
				return nil // as after a crash
			}
			r.note("log file", path, fmt.Sprintf("its entry at byte %d was altered", at))
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
		if err := commit(); err != nil {
			return err
		}
	}
	return nil
}

// deliver passes an entry to fn, unless it is one of Badger's own.
func (r *Reading) deliver(fn func(Entry) error, path string, key, value []byte, sound bool) error {
	if len(key) <= stampSize || bytes.HasPrefix(key, []byte(own)) {
		return nil
	}
	return fn(Entry{filepath.Base(path), y.ParseKey(key), y.ParseTs(key), value, sound})
}
