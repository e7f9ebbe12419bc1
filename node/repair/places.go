package repair

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/node/installed"
	"github.com/locket-dev/locket/node/statefile"
)

// ErrKeys: the keys can't be restored from the home. With the 24 words, everything
// that was synced can.
var ErrKeys = errors.New("the keys are damaged, and so are their copies")

func (v *visit) repair(ctx context.Context, r *Result) error {
	if err := v.repairKeys(); err != nil {
		return err
	}
	if err := v.open(ctx); err != nil {
		return err
	}
	if v.ring == nil {
		return ErrKeys
	}
	defer v.ring.Close()
	if err := v.ring.KeepSpares(); err != nil {
		return err
	}
	if err := v.repairChecked(); err != nil {
		return err
	}
	if err := v.repairPlugins(); err != nil {
		return err
	}
	if err := v.repairStores(ctx, r); err != nil {
		return err
	}
	if err := v.repairEnvelopes(ctx); err != nil {
		return err
	}
	return v.repairJournal(ctx)
}

func (v *visit) repairKeys() error {
	dir := filepath.Join(v.Dir, "keys")
	mended, left, err := keyring.Mend(dir, v.quarantine)
	for _, name := range mended {
		v.find("keys/"+name, "its copy was put in its place", false, "was damaged or gone")
	}
	for _, e := range left {
		v.find("keys", "", true, "%s", strings.ReplaceAll(e.Error(), v.Dir+string(filepath.Separator), ""))
	}
	return err
}

// repairChecked restores state files that are damaged, or that something else
// wrote, from their copies.
func (v *visit) repairChecked() error {
	for _, name := range statefile.Names {
		path := filepath.Join(v.Dir, name)
		err := v.checkState(path)
		if err == nil {
			continue
		}
		if _, e := os.Stat(path); e == nil {
			if e := v.quarantine(path); e != nil {
				return e
			}
		}
		if statefile.Restore(path, v.ring.Public().Device) == nil {
			v.find(name, "its copy was put in its place", false, "%s", about(err, path))
			continue
		}
		v.find(name, stateFiles[name], true, "%s", about(err, path))
	}
	return nil
}

// repairPlugins removes plugins whose files changed from the record. Their
// publishers have the modules; this program keeps no second copy.
func (v *visit) repairPlugins() error {
	dir, key := v.Plugins, v.pluginKey()
	for _, p := range installed.Check(dir, key) {
		path := filepath.Join(dir, p.Name)
		if p.Entry != nil {
			path = filepath.Join(dir, p.Entry.Folder)
		}
		if _, err := os.Lstat(path); err == nil {
			if err := v.putPluginAside(path); err != nil {
				return err
			}
		}
		place := v.pluginPlace(p.Name)
		copied := false
		if b, err := atomicfile.ReadSealedCopy(path, key); p.Entry == nil && err == nil {
			if err := atomicfile.WriteSealed(path, b, key); err != nil {
				return err
			}
			// Otherwise the copy is older, and does not fit the other file.
			copied = !slices.ContainsFunc(installed.Check(dir, key), func(now installed.Problem) bool { return now.Entry == nil && now.Name == p.Name })
		}
		switch {
		case copied:
			v.find(place, "its copy was put in its place", false, "%v", p.Err)
		case p.Entry == nil:
			// Without the record nothing says what the folders are, so they would
			// be deleted. Without the pins nothing says whose keys the plugins
			// need.
			folders, err := installed.Folders(dir)
			for _, f := range append(folders, installed.Files(dir)...) {
				if _, e := os.Lstat(f); e == nil {
					err = errors.Join(err, v.putPluginAside(f))
				}
			}
			if err != nil {
				return err
			}
			v.find(place, "install the plugins again: locket plugin install", true, "%v", p.Err)
		default:
			f, err := installed.Open(dir, key)
			if err != nil {
				return err
			}
			if _, err := f.Remove(p.Entry.ID); err != nil {
				return fmt.Errorf("plugin %s: %w", p.Entry.ID, err)
			}
			v.find(place, "install it again: locket plugin install "+p.Entry.ID, true, "%v", p.Err)
		}
	}
	// The node does not accept one of the two files without the other.
	return installed.Renew(dir, key)
}

// putPluginAside moves a file or folder of the plugins' folder away. If that folder
// is outside the home, it goes below broken/ there, because it may be on another
// disk.
func (v *visit) putPluginAside(path string) error {
	if filepath.IsLocal(v.within(path)) {
		return v.quarantine(path)
	}
	v.elsewhere = filepath.Join(v.Plugins, brokenDir, filepath.Base(v.quarantineDir))
	return moveInto(v.elsewhere, filepath.Base(path), path)
}
