package store

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/memory"
)

// writeRecord writes one record of the kinds that do not follow from others.
func (s *salvage) writeRecord(key, plain []byte) error {
	switch k := kind(key[0]); {
	case madeAnew[kinds[k].name] || kinds[k].name == "":
		return nil
	case k == kindCold:
		p, err := decode[coldPage](key, plain)
		if err != nil {
			return err
		}
		s.to.state.head.Seq.Cold += len(p.pack(0).Stubs)
	case k == kindLines:
		return s.takeLines(key, plain)
	case k == kindBlob:
		if ok, err := s.takeBlob(key, plain); err != nil || !ok {
			return err
		}
	}
	s.batch = append(s.batch, entry{key, plain})
	if s.size += len(plain); len(s.batch) >= copyRecords/4 || s.size >= copyBytes {
		return s.flush()
	}
	return nil
}

// takeLines returns packed utterances records of their own, except those that
// were erased or taken out of the page since.
func (s *salvage) takeLines(key, plain []byte) error {
	g, err := readLines(&s.to.inflate, key, plain)
	if err != nil {
		return err
	}
	all, err := g.all()
	if err != nil {
		return err
	}
	for i := range all {
		id := all[i].id
		loose, erased := string(utteranceKey(id)), string(keyOf(kindErased, id[:]))
		if c, ok := s.newest[erased]; ok && !s.deletedAfter(erased, c) {
			continue
		}
		if c, ok := s.newest[loose]; ok && c.version > s.newest[string(key)].version {
			if why, _ := s.refuses(loose, c); why == "" {
				continue
			}
		}
		r, err := all[i].unpack(key)
		if err != nil {
			return err
		}
		b, err := encode(r)
		if err != nil {
			return err
		}
		if err := s.writeRecord(utteranceKey(id), b); err != nil {
			return err
		}
	}
	return nil
}

// flush writes the batch, with the records by which its content is found.
func (s *salvage) flush() error {
	err := s.to.update(func(t *Tx) error {
		for _, e := range s.batch {
			if err := t.restore(e.key, e.plain); err != nil {
				return err
			}
		}
		return nil
	})
	s.batch, s.size = s.batch[:0], 0
	return err
}

// restore writes a record of another store, with its index records.
func (t *Tx) restore(key, plain []byte) error {
	switch kind(key[0]) {
	case kindMemory:
		return t.restoreMemory(key, plain, false)
	case kindUtterance:
		r, err := decode[utteranceRecord](key, plain)
		if err != nil {
			return err
		}
		u, err := decode[memory.Utterance](key, r.Utterance)
		if err != nil {
			return err
		}
		if r.Document, err = t.logDocument(0, Document{Kind: UtteranceDocument, ID: u.ID}); err != nil {
			return err
		}
		for _, k := range t.utteranceIndex(&u) {
			if err := t.put(k, nil); err != nil {
				return err
			}
		}
		return t.save(key, r)
	case kindErased:
		return t.markErasedAgain(key)
	case kindCold:
		p, err := decode[coldPage](key, plain)
		if err != nil {
			return err
		}
		t.store.cold.add(seqOf(key), &p)
	case kindRefusal:
		r, err := decode[memory.Refusal](key, plain)
		if err != nil {
			return err
		}
		if err := t.put(append(t.eventPrefix(kindRefusalEvent, r.Event), u64(seqOf(key))...), nil); err != nil {
			return err
		}
	case kindQuarantined:
		if _, err := decode[Quarantined](key, plain); err != nil {
			return err
		}
	case kindAssertion:
		r, err := decode[assertionRecord](key, plain)
		if err != nil {
			return err
		}
		if err := t.put(keyOf(kindDot, dotKey(r.Assertion.Dot)), r.Assertion.Memory[:]); err != nil {
			return err
		}
	}
	return t.put(key, plain)
}

// markErasedAgain stores that an id was erased, and tells the index, whose segments
// may be older. It is no longer known whether the id was that of a memory or of
// an utterance.
func (t *Tx) markErasedAgain(key []byte) error {
	n, err := t.logDocument(0, Document{Kind: MemoryDocument, ID: memory.ID(key[1:]), Gone: true})
	if err == nil {
		_, err = t.logDocument(0, Document{Kind: UtteranceDocument, ID: memory.ID(key[1:]), Gone: true})
	}
	if err != nil {
		return err
	}
	return t.save(key, erasedRecord{n})
}

// takeBlob moves a blob's file into the new store.
func (s *salvage) takeBlob(key, plain []byte) (ok bool, err error) {
	r, err := decode[blobRecord](key, plain)
	if err != nil {
		return false, err
	}
	id := memory.ID(key[1:])
	from, to := filepath.Join(s.dir, blobsName, id.String()), s.to.blobPath(id)
	if err := atomicfile.MkdirAll(filepath.Dir(to)); err != nil {
		return false, err
	}
	err = os.Link(from, to)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		err = copyFile(from, to)
	}
	if err == nil {
		if err = s.to.checkBlob(key, r); err == nil {
			return true, atomicfile.SyncDir(filepath.Dir(to)) // before a record names it
		}
		if err := os.Remove(to); err != nil {
			return false, err
		}
	}
	switch d := new(Damage); {
	case errors.As(err, &d):
		s.found = append(s.found, *d)
	case errors.Is(err, fs.ErrNotExist):
		s.found = append(s.found, *damaged(key, "its file is missing"))
	default:
		return false, err
	}
	if !r.Owner.IsZero() {
		s.out.Blobs = append(s.out.Blobs, id)
	}
	return false, nil
}

func copyFile(from, to string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	t, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(t, f)
	return errors.Join(err, t.Sync(), t.Close())
}
