// Package leakscan searches everything that a home's keys open for words, to prove that what was
// forgotten is gone.
//
// The words:
//
//   - A remnant is one opened value somewhere in a home: a version of a record, a blob, an entry of
//     the journal, an unencrypted file.
//   - A view is a form in which a remnant could be read: unchanged, decompressed, or as the terms
//     of an index segment.
//   - A needle is a searched word or sentence, in several encodings.
//   - A find is a needle in a view.
//
// It reads files, and trusts nothing that the node reports. To show that it can find words, the
// same search runs over a home that was not told to forget.
package leakscan

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/memory/store/journal"
	"github.com/locket-dev/locket/node/share"
)

// Find is the place where a needle was found.
type Find struct {
	File   string // path inside the home
	What   string // the remnant, as a kind and an id
	Needle string
	As     string // the view and the encoding
}

// String names the place.
func (f Find) String() string {
	return fmt.Sprintf("%q in %s, %s, as %s", f.Needle, f.File, f.What, f.As)
}

// Report is the result of a search.
type Report struct {
	Remnants int      // values that were searched
	Unopened []string // remnants that no key opens: they were searched unopened
	Finds    []Find
}

// Folders of a home that have their own seals.
const (
	storeDir   = "store"
	journalDir = "journal"
	sharesDir  = "shares"
)

// Home searches the home of an open ring for needles. No process may have the home open. Needles
// are words or sentences; case and marks don't matter.
func Home(ctx context.Context, home string, ring *keyring.Ring, needles ...string) (Report, error) {
	s := &search{needles: prepare(needles)}
	err := filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(home, path)
		if err != nil {
			return err
		}
		parts := strings.Split(filepath.ToSlash(rel), "/")
		switch {
		case d.IsDir() && rel == storeDir:
			err = s.store(path, rel, ring.StoreKey())
		case d.IsDir() && len(parts) == 3 && parts[0] == sharesDir && parts[2] == storeDir:
			err = s.shared(path, rel, parts[1], ring)
		case d.IsDir() && rel == journalDir:
			err = s.journal(ctx, path, ring.JournalIdentity())
		case d.Type().IsRegular():
			var b []byte
			if b, err = os.ReadFile(path); err == nil {
				s.look(rel, "clear", b)
			}
			return err
		default:
			return nil
		}
		if err != nil {
			return err
		}
		return fs.SkipDir
	})
	if err != nil {
		return s.report, fmt.Errorf("find remnants in %s: %w", home, err)
	}
	return s.report, nil
}

type search struct {
	needles []needle
	report  Report
}

func (s *search) store(path, rel string, key *seal.Key) error {
	return store.FindRemnants(path, key, func(r store.Remnant) error {
		file := filepath.Join(rel, r.File)
		if !r.Opened {
			s.report.Unopened = append(s.report.Unopened, file+": "+r.What)
		}
		s.look(file, r.What, r.Data)
		return nil
	})
}

func (s *search) shared(path, rel, name string, ring *keyring.Ring) error {
	id, err := memory.ParseID(name)
	if err != nil {
		return err
	}
	sharing, ok := ring.Key(share.KeyName)
	if !ok {
		return errors.New("a share, and no sharing key")
	}
	key := share.StoreKey(sharing, memory.SpaceID(id))
	defer key.Zero()
	return s.store(path, rel, key)
}

// journal reads every entry of every existing segment, finished or not.
func (s *search) journal(ctx context.Context, path string, id *seal.Identity) error {
	j, err := journal.Open(path, id.Recipient(), journal.Options{Reserve: -1})
	if err != nil {
		return err
	}
	if err := j.Close(); err != nil { // so that reading ends at the end, and does not wait
		return err
	}
	r, err := j.Reader(id, 0)
	if err != nil {
		return err
	}
	defer r.Close()
	for {
		e, err := r.Next(ctx)
		var damaged *journal.CorruptError
		switch {
		case errors.Is(err, journal.ErrClosed):
			return nil
		case errors.As(err, &damaged):
			s.report.Unopened = append(s.report.Unopened, damaged.Error())
		case err != nil:
			return err
		default:
			s.look(journalDir, fmt.Sprintf("entry %d", e.Seq), e.Data)
		}
	}
}

// look searches all views of one remnant.
func (s *search) look(file, what string, data []byte) {
	s.report.Remnants++
	for _, v := range views(data) {
		for _, n := range s.needles {
			if as := n.in(&v); as != "" {
				s.report.Finds = append(s.report.Finds, Find{file, what, n.text, v.name + ", " + as})
			}
		}
	}
}
