package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/locket-dev/locket/memory"
)

// restic is Debian's restic with default settings and a repository in a folder. It is nil if restic
// is not installed.
type restic struct {
	dir   string
	files int
}

func openRestic(ctx context.Context) (*restic, error) {
	if _, err := exec.LookPath("restic"); err != nil {
		return nil, nil
	}
	dir, err := os.MkdirTemp("", "locket-bench-restic-")
	if err != nil {
		return nil, err
	}
	r := &restic{dir: dir}
	if err := errors.Join(os.Mkdir(r.source(), 0o700), os.WriteFile(r.password(), []byte("bench"), 0o600)); err != nil {
		return nil, errors.Join(err, r.close())
	}
	if err := r.run(ctx, "init"); err != nil {
		return nil, errors.Join(err, r.close())
	}
	return r, nil
}

func (r *restic) source() string   { return filepath.Join(r.dir, "memories") }
func (r *restic) repo() string     { return filepath.Join(r.dir, "repo") }
func (r *restic) password() string { return filepath.Join(r.dir, "password") }

func (r *restic) run(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, "restic", append([]string{"--repo", r.repo(), "--password-file", r.password(), "--no-cache", "--quiet"}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("restic %s: %w: %s", args[0], err, out)
	}
	return nil
}

// backUp writes one file for each memory, backs up the folder, and returns by how many bytes the
// repository grew.
func (r *restic) backUp(ctx context.Context, as []memory.Assertion) (grown int64, err error) {
	if r == nil {
		return 0, nil
	}
	before, err := folderBytes(r.repo())
	if err != nil {
		return 0, err
	}
	for i := range as {
		b, err := json.Marshal(&as[i])
		if err != nil {
			return 0, err
		}
		r.files++
		if err := os.WriteFile(filepath.Join(r.source(), fmt.Sprintf("%06d.json", r.files)), b, 0o600); err != nil {
			return 0, err
		}
	}
	if err := r.run(ctx, "backup", r.source()); err != nil {
		return 0, err
	}
	after, err := folderBytes(r.repo())
	return after - before, err
}

func (r *restic) close() error {
	if r == nil {
		return nil
	}
	return os.RemoveAll(r.dir)
}
