package keyring

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/locket-dev/locket/internal/atomicfile"
)

// spareDir is a folder in the ring's with a copy of each file that is written
// once and read for years: one bit of one of them would cost everything that
// the keys open. A copy is no weaker than the file, and goes with it.
const spareDir = "spare"

// writeBoth replaces a file of the ring, and then its copy.
func writeBoth(dir, name string, body []byte) error {
	if err := writeFile(filepath.Join(dir, name), name, body); err != nil {
		return err
	}
	return writeSpare(dir, name, body)
}

func writeSpare(dir, name string, body []byte) error {
	spare := filepath.Join(dir, spareDir)
	if err := atomicfile.MkdirAll(spare); err != nil {
		return err
	}
	return writeFile(filepath.Join(spare, name), name, body)
}

// removeBoth removes the copy of a file, and then the file, each on disk as it
// returns: a copy that a power cut brought back would be repaired from.
func removeBoth(dir, name string) error {
	spare := filepath.Join(dir, spareDir)
	err := os.Remove(filepath.Join(spare, name))
	if err == nil {
		err = atomicfile.SyncDir(spare)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Remove(filepath.Join(dir, name)); err != nil {
		return err
	}
	return atomicfile.SyncDir(dir)
}

// files that a ring has: those that it needs, and those that it may have.
var (
	needed = []string{publicFile, genesisFile, ringFile, vaultFile}
	mayBe  = []string{WrapPassphrase.file(), WrapKeyFile.file(), WrapOSKeyring.file(), DefaultKeyFile}
)

// pair is a file and its copy as they lie there.
type pair struct {
	name               string
	body, spare        []byte
	err, spareErr      error // why one can't be read
	absent, spareThere bool
}

func pairs(dir string) []pair {
	var all []pair
	for i, name := range append(append([]string{}, needed...), mayBe...) {
		p := pair{name: name}
		p.body, p.err = readFile(filepath.Join(dir, name), name)
		p.spare, p.spareErr = readFile(filepath.Join(dir, spareDir, name), name)
		p.absent = errors.Is(p.err, fs.ErrNotExist)
		p.spareThere = !errors.Is(p.spareErr, fs.ErrNotExist)
		if p.absent && (i < len(needed) || p.spareThere) {
			p.err = damaged(filepath.Join(dir, name), "gone")
		} else if p.absent {
			continue // it never was, or was taken away
		}
		all = append(all, p)
	}
	return all
}

// Check names the files of the ring in dir that are not as they were written,
// each as an [ErrDamaged]. It needs no key, and changes nothing.
func Check(dir string) []error {
	var found []error
	for _, p := range pairs(dir) {
		if p.err != nil {
			found = append(found, p.err)
		}
		if p.spareThere && p.spareErr != nil {
			found = append(found, p.spareErr)
		}
	}
	return found
}

// Mend puts copies in the place of files that are damaged or gone, and makes
// copies anew. aside is given the path of each damaged file that is still
// there, and moves it away. mended are the names of what was put right, left is
// what has no copy that is better: what the ring can't be unlocked by, or has lost.
func Mend(dir string, aside func(path string) error) (mended []string, left []error, err error) {
	for _, p := range pairs(dir) {
		path, spare := filepath.Join(dir, p.name), filepath.Join(dir, spareDir, p.name)
		switch {
		case p.err == nil && p.spareErr == nil && bytes.Equal(p.body, p.spare):
			continue
		case p.err == nil:
			if p.spareThere && p.spareErr != nil {
				if err := aside(spare); err != nil {
					return mended, left, err
				}
				mended = append(mended, filepath.Join(spareDir, p.name))
			}
			err = writeSpare(dir, p.name, p.body)
		case p.spareErr == nil:
			if !p.absent {
				if err := aside(path); err != nil {
					return mended, left, err
				}
			}
			if err = writeFile(path, p.name, p.spare); err == nil {
				mended = append(mended, p.name)
			}
		default:
			left = append(left, p.err)
		}
		if err != nil {
			return mended, left, fmt.Errorf("mend keys: %w", err)
		}
	}
	return mended, left, nil
}

// KeepSpares brings the copies up to date: a process that was killed between a
// file and its copy leaves an old one, by which a passphrase would go on opening.
func (r *Ring) KeepSpares() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range pairs(r.dir) {
		if p.err == nil && (p.spareErr != nil || !bytes.Equal(p.body, p.spare)) {
			if err := writeSpare(r.dir, p.name, p.body); err != nil {
				return fmt.Errorf("keep copies of keys: %w", err)
			}
		}
	}
	return nil
}
