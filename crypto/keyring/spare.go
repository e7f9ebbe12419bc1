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

// spareDir is a folder in the ring's folder with a copy of each file that is
// written once and read for years. Without the copies, one wrong bit in such a
// file could make everything unreadable. A copy is encrypted like the file, and
// is deleted with it.
const spareDir = "spare"

// writeBoth writes a file of the ring and its copy. If there is a file already, its copy comes
// first: if that can't be written, nothing is changed. If there is none, the file comes first,
// because a copy without its file counts as damage.
func writeBoth(dir, name string, body []byte) error {
	path := filepath.Join(dir, name)
	there, err := exists(path)
	if err == nil && there {
		err = writeSpare(dir, name, body)
	}
	if err == nil {
		err = writeFile(path, name, body)
	}
	if err == nil && !there {
		err = writeSpare(dir, name, body)
	}
	return err
}

func writeSpare(dir, name string, body []byte) error {
	spare := filepath.Join(dir, spareDir)
	if err := atomicfile.MkdirAll(spare); err != nil {
		return err
	}
	return writeFile(filepath.Join(spare, name), name, body)
}

// removeBoth removes the copy of a file and then the file, and syncs after
// each. If a power failure restored a copy, a repair would restore the file
// from it.
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

// Files of a ring: those that it needs, and those that it may have.
var (
	needed = []string{publicFile, genesisFile, ringFile, vaultFile}
	mayBe  = []string{WrapPassphrase.file(), WrapKeyFile.file(), WrapOSKeyring.file(), DefaultKeyFile}
)

// pair is a file and its copy as found.
type pair struct {
	name               string
	body, spare        []byte
	err, spareErr      error // why it can't be read
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
			continue // it never existed, or was removed
		}
		all = append(all, p)
	}
	return all
}

// Check returns an [ErrDamaged] for each file of the ring in dir that is not as
// it was written. It needs no key, and changes nothing.
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

// Mend replaces damaged and missing files by their copies, and makes missing
// copies again. It calls aside with the path of each damaged file that still
// exists, which has to move it away. mended names the repaired files. left
// names the files without a good copy, so that one way to unlock, or some
// content, is lost.
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

// KeepSpares updates the copies. If a process was killed between a file and its
// copy, the copy is missing, or of a change that was never acknowledged.
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
