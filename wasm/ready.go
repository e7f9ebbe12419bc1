package wasm

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/locket-dev/locket/internal/atomicfile"
)

// readyKey seals machine code that is ready for all users. It is not secret, and only detects
// damage: the files are trusted like programs, because only root can write them.
var readyKey = sha256.Sum256([]byte("locket: machine code for all users of this machine"))

// Prepare makes a folder of machine code for all users of this machine, to be used as
// [Options.Ready], and replaces dir with it. load loads each plugin into the host that it is given.
// A folder is only used if root made it.
func Prepare(ctx context.Context, dir string, load func(*Host) error) (err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	if err = os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return fmt.Errorf("prepare plugins: %w", err)
	}
	made, err := os.MkdirTemp(filepath.Dir(dir), atomicfile.Prefix)
	if err != nil {
		return fmt.Errorf("prepare plugins: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(made)) }()
	h, err := NewHost(ctx, Options{CacheDir: made, CacheKey: readyKey[:]})
	if err != nil {
		return err
	}
	if err := errors.Join(load(h), h.Close(ctx)); err != nil {
		return fmt.Errorf("prepare plugins: %w", err)
	}
	return publish(made, dir)
}

// publish makes a folder of entries readable for all users, as dir.
func publish(made, dir string) error {
	all, err := os.ReadDir(made)
	if err != nil {
		return fmt.Errorf("prepare plugins: %w", err)
	}
	for _, d := range all {
		if err := os.Chmod(filepath.Join(made, d.Name()), 0o644); err != nil {
			return fmt.Errorf("prepare plugins: %w", err)
		}
	}
	// A process that looks meanwhile finds none, and compiles for itself.
	if err := errors.Join(os.Chmod(made, 0o755), os.RemoveAll(dir), os.Rename(made, dir)); err != nil {
		return fmt.Errorf("prepare plugins: %w", err)
	}
	return nil
}

// ready reports whether there is a ready entry of this name that may be used.
func (h *Host) ready(name string) error {
	if h.opt.Ready == "" {
		return fs.ErrNotExist
	}
	return ofRoot(filepath.Join(h.opt.Ready, name))
}

// unpackReady fills an entry's folder from a ready one. It returns an [fs.ErrNotExist] if there is
// none.
func (e *entry) unpackReady() error {
	if err := e.host.ready(e.name); err != nil {
		return err
	}
	return e.unpack(filepath.Join(e.host.opt.Ready, e.name), readyKey[:])
}

// ofRoot checks that only root can change or replace a file.
func ofRoot(path string) error {
	for {
		st, err := os.Lstat(path)
		if err != nil {
			return err
		}
		if !rootOwns(st) || st.Mode().Perm()&0o022 != 0 || st.Mode()&fs.ModeSymlink != 0 {
			return fmt.Errorf("others than root can write to %s", path)
		}
		up := filepath.Dir(path)
		if up == path {
			return nil
		}
		path = up
	}
}
