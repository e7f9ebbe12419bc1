package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/locket-dev/locket/internal/filelock"
	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store/badgerfile"
)

// Salvaged is the result of salvaging a damaged store.
type Salvaged struct {
	Files []Damage // files that are not as they were written
	Lost  []Damage // records that existed and could not be restored
	// Orphans are memories without any assertion left. They are shown until their
	// group is derived again; see [Tx.WithoutAssertions].
	Orphans []memory.ID
	// Blobs are blobs of memories whose files are damaged or missing.
	Blobs []memory.ID
}

// Salvage makes a new store in the folder into, which must not exist, from
// everything that can still be read in opt.Dir. It restores each record that
// can be decrypted, unless something shows that it is not the last version of
// its key. A record without a guard is restored. A record whose guard names a
// later version is not, nor a record of something erased. Records that follow
// from others are made again, and every document is added to the document log
// after what the index's segments cover. Only the data in damaged places is
// lost. Salvage only reads opt.Dir. Blobs are hard-linked if the file system
// allows it, and otherwise copied.
//
// The new store is consistent, but may have less content than the old one. Lost
// names the records that are missing, or a bucket if it can't be known which of
// its records are.
func Salvage(ctx context.Context, opt Options, into string) (r Salvaged, err error) {
	if _, err := os.Lstat(into); !errors.Is(err, fs.ErrNotExist) {
		return r, fmt.Errorf("salvage: %s is there already: %w", into, fs.ErrExist)
	}
	l, err := filelock.Take(filepath.Join(opt.Dir, lockName))
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, l.Release()) }()
	s := newSalvage(opt)
	defer s.secrets.zero()
	if err := s.look(ctx); err != nil {
		return r, err
	}
	target := opt
	target.Dir = into
	if s.to, err = Open(target); err != nil {
		return r, err
	}
	err = errors.Join(s.fill(ctx), s.to.Close())
	s.out.Files = s.found
	if err != nil {
		return s.out, errors.Join(fmt.Errorf("salvage: %w", err), os.RemoveAll(into))
	}
	return s.out, nil
}

func newSalvage(opt Options) *salvage {
	return &salvage{dir: opt.Dir, secrets: newSecrets(opt.Key), newest: map[string]copyOf{}, guards: map[string]guardOf{},
		deleted: map[string]uint64{}, unread: map[string]string{}, doubted: map[string]bool{}, excluded: map[string]bool{}}
}

// look reads everything and writes nothing.
func (s *salvage) look(ctx context.Context) error {
	s.records = filepath.Join(s.dir, recordsName)
	if _, err := os.Stat(s.records); errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(filepath.Join(s.dir, newName)); err == nil {
			s.records = filepath.Join(s.dir, newName) // a rewrite was interrupted between two renames
		}
	}
	var err error
	if s.raw, err = badgerfile.Read(s.records, filepath.Join(s.dir, spareName), s.secrets.disk); err != nil {
		return fileError(err)
	}
	if err := s.raw.Each(func(e badgerfile.Entry) error { return s.noteEntry(ctx, e) }); err != nil {
		return err
	}
	for _, d := range s.raw.Damage() {
		s.found = append(s.found, *fileDamage(&d))
	}
	return s.anchored()
}

// anchored records a fault if the anchor is damaged, or knows a later state.
func (s *salvage) anchored() error {
	err := s.secrets.checkAnchor(s.dir, &s.head)
	d := new(Damage)
	switch {
	case errors.As(err, &d):
		s.found = append(s.found, *d)
	case errors.Is(err, ErrRolledBack):
		s.found = append(s.found, Damage{Kind: "folder", Key: recordsName, What: "was put back to an older state, or has lost its last changes: the anchor knows later ones"})
	default:
		return err
	}
	return nil
}

type salvage struct {
	dir     string // folder of the store
	records string // folder of the database
	secrets *secrets
	raw     *badgerfile.Reading
	found   []Damage // files that are not as they were written

	newest  map[string]copyOf  // by key: the last version that can be decrypted
	guards  map[string]guardOf // by the key of the guarded record
	deleted map[string]uint64  // Badger's transaction in which a key was deleted last
	unread  map[string]string  // keys of values that can't be decrypted, with the file
	doubted map[string]bool    // keys that a block with a wrong checksum deletes
	head    head               // the last one that can be decrypted
	buckets buckets

	excluded map[string]bool // keys that were deleted, according to the digests of the buckets
	to       *Store
	out      Salvaged

	batch []entry
	size  int
}

// copyOf is one version of a record.
type copyOf struct {
	version uint64 // the store's own, sealed with the value
	at      uint64 // Badger's
	tag     [tagSize]byte
}

type guardOf struct {
	copyOf
	key string // of the guard
}

// noteEntry records an entry. The store's own version decides which copy is the
// last. Badger's version is not protected: whoever can change a bit can change
// it.
func (s *salvage) noteEntry(ctx context.Context, e badgerfile.Entry) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	key := string(e.Key)
	if len(e.Value) == 0 {
		if e.Sound {
			s.deleted[key] = max(s.deleted[key], e.At)
		} else {
			s.doubted[key] = true
		}
		return nil
	}
	version, plain, err := s.secrets.open(e.Key, e.Value)
	if err != nil {
		s.unread[key] = e.File
		return nil
	}
	c := copyOf{version, e.At, [tagSize]byte(tagOf(e.Value))}
	if have, ok := s.newest[key]; ok && have.version >= version {
		return nil
	}
	s.newest[key] = c
	switch {
	case kind(e.Key[0]) != kindHead:
	case len(e.Key) == 1:
		if h, err := decode[head](e.Key, plain); err == nil {
			s.head = h
		}
	default:
		_ = s.buckets.merge(e.Key, version, plain) // what it would have told is missing then
	}
	if kind(e.Key[0]) == kindGuard && len(plain) >= tagSize {
		s.guards[string(plain[tagSize:])] = guardOf{copyOf{version, e.At, [tagSize]byte(plain[:tagSize])}, key}
	}
	return nil
}

// deletedAfter reports whether a key was deleted after the copy was written.
func (s *salvage) deletedAfter(key string, c copyOf) bool { return s.deleted[key] > c.at }

// refuses returns why the last readable copy of a record is not restored, or ""
// if it is. quiet says that nothing is lost by that.
func (s *salvage) refuses(key string, c copyOf) (why string, quiet bool) {
	g, guarded := s.guards[key]
	guard := s.deleted[string(s.secrets.guardKey([]byte(key)))]
	switch {
	case !guarded && (s.deletedAfter(key, c) || guard > c.at), guarded && s.deletedAfter(g.key, g.copyOf):
		return "was deleted", true // the store deletes a record together with its guard
	case guarded && g.version > c.version:
		return "was put back to an older version", false
	case guarded && g.version == c.version && g.tag != c.tag:
		return "was replaced by another value of the same version", false
	}
	if id, ok := subjectOf([]byte(key)); ok {
		x := string(keyOf(kindErased, id[:]))
		if c, erased := s.newest[x]; erased && !s.deletedAfter(x, c) && kind(key[0]) != kindAssertion {
			return "was erased", true
		}
	}
	return "", false
}

// subjectOf returns the memory or utterance whose words a record may contain.
func subjectOf(key []byte) (id memory.ID, ok bool) {
	switch kind(key[0]) {
	case kindAssertion, kindMemory, kindUtterance:
		if len(key) >= 1+idSize {
			return memory.ID(key[1 : 1+idSize]), true
		}
	}
	return id, false
}

// fill writes what is restored, and what follows from it.
func (s *salvage) fill(ctx context.Context) error {
	if err := s.count(); err != nil {
		return err
	}
	left := s.choose()
	err := s.raw.Each(func(e badgerfile.Entry) error {
		key := string(e.Key)
		c, ok := left[key]
		if !ok || len(e.Value) == 0 || ctx.Err() != nil {
			return ctx.Err()
		}
		version, plain, err := s.secrets.open(e.Key, e.Value)
		if err != nil || version != c.version {
			return nil
		}
		delete(left, key)
		return s.writeRecord(e.Key, plain)
	})
	if err = errors.Join(err, s.flush()); err != nil {
		return err
	}
	return s.repairGroups(ctx)
}

// choose returns the records to restore, by key, and adds those that can't be
// restored to Lost.
func (s *salvage) choose() map[string]copyOf {
	chosen := map[string]copyOf{}
	s.exclude()
	for key, c := range s.newest {
		if k := kind(key[0]); k == kindHead || k == kindGuard || s.excluded[key] {
			continue
		}
		why, quiet := s.refuses(key, c)
		switch {
		case why == "":
			chosen[key] = c
		case !quiet:
			s.out.Lost = append(s.out.Lost, *damaged([]byte(key), why))
		}
	}
	s.miss()
	return chosen
}

// miss adds records to Lost that existed and have no copy left.
func (s *salvage) miss() {
	lose := func(key, file string) {
		what := "is missing"
		if file != "" {
			what = "can't be read from " + file
		}
		s.out.Lost = append(s.out.Lost, *damaged([]byte(key), what))
	}
	for key, g := range s.guards {
		if _, ok := s.newest[key]; !ok && !s.deletedAfter(g.key, g.copyOf) && !s.excluded[key] {
			lose(key, s.unread[key])
		}
	}
	// Both a value and its guard may be unreadable. If the guard's key, which
	// is a MAC of the record's key, also exists, the record's key is genuine,
	// and not a key with a changed bit.
	for key, file := range s.unread {
		_, guarded := s.guards[key]
		_, there := s.newest[key]
		if guarded || there {
			continue
		}
		if _, lost := s.unread[string(s.secrets.guardKey([]byte(key)))]; lost {
			lose(key, file)
		}
	}
	s.short()
	s.out.Lost = slices.DeleteFunc(s.out.Lost, func(d Damage) bool { return madeAnew[d.Kind] })
	sorting.Sort(s.out.Lost, func(a, b Damage) int { return strings.Compare(a.Kind+" "+a.Key, b.Kind+" "+b.Key) })
}
