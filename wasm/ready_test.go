package wasm

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// rootsFolder is a folder to which only root can write, as to those above it.
func rootsFolder(t *testing.T) string {
	t.Helper()
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(home, "ready-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// TestThreatPlantedMachineCode: what root prepared is run without being compiled again, and what
// others could have put there is not.
func TestThreatPlantedMachineCode(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Fatal("this test takes root: nobody else makes a folder that is used")
	}
	everywhere(t, func(t *testing.T, load loader) {
		ready := filepath.Join(rootsFolder(t), "plugins")
		if err := Prepare(t.Context(), ready, func(h *Host) error {
			_, err := h.Load(t.Context(), moody().bytes(), testManifest())
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if n := len(cached(t, ready)); n != 1 {
			t.Fatalf("%d entries were prepared", n)
		}
		made := func(ready string) (own int, said string) {
			t.Helper()
			dir := filepath.Join(t.TempDir(), "cache")
			var log bytes.Buffer
			h := newHost(t, Options{CacheDir: dir, CacheKey: bytes.Repeat([]byte{7}, 32), Ready: ready, Logger: logTo(&log)})
			if _, _, err := load.ask(t, h, moody(), testManifest()); err != nil {
				t.Fatal(err)
			}
			return len(cached(t, dir)), log.String()
		}
		if own, said := made(ready); own != 0 || said != "" {
			t.Errorf("code that is ready was made again: %d, %q", own, said)
		}
		if own, said := made(filepath.Join(ready, "none")); own != 1 || said != "" {
			t.Errorf("without ready code %d were made, %q", own, said)
		}
		refused := func(what string, do, undo func(path string) error) {
			t.Helper()
			for path := range cached(t, ready) {
				if err := do(path); err != nil {
					t.Fatal(err)
				}
				if own, said := made(ready); own != 1 || !strings.Contains(said, "is not used") {
					t.Errorf("%s: %d were made, %q", what, own, said)
				}
				if err := undo(path); err != nil {
					t.Fatal(err)
				}
			}
		}
		mode := func(of func(string) string, to os.FileMode) func(string) error {
			return func(path string) error { return os.Chmod(of(path), to) }
		}
		itself := func(path string) string { return path }
		above := func(path string) string { return filepath.Dir(filepath.Dir(path)) }
		refused("a file that all may write", mode(itself, 0o666), mode(itself, 0o644))
		refused("a folder above that a group may write", mode(above, 0o775), mode(above, 0o755))
		refused("a file of another user", func(path string) error { return os.Chown(path, 65534, 0) }, func(path string) error { return os.Chown(path, 0, 0) })
		refused("a changed file", func(path string) error {
			b, err := os.ReadFile(path)
			if err == nil {
				b[len(b)/2] ^= 1
				err = os.WriteFile(path, b, 0o644)
			}
			return err
		}, func(string) error { return nil })
	})
}
