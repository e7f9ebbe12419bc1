//go:build amd64 || arm64

package wasm

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// On a full disk machine code is not discarded, because it could not be made again.
func TestCacheOnAFullDisk(t *testing.T) {
	disk := t.TempDir()
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=16m"); err != nil {
		t.Fatalf("a small file system is needed for this test, which takes root: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(disk, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	opt := Options{CacheDir: filepath.Join(disk, "cache"), CacheKey: bytes.Repeat([]byte{7}, 32)}
	if _, err := newHost(t, opt).Load(context.Background(), echo(t), testManifest()); err != nil {
		t.Fatal(err)
	}
	before := cached(t, opt.CacheDir)
	others := filepath.Join(disk, "others")
	if err := os.WriteFile(others, make([]byte, 16<<20), 0o600); !errors.Is(err, unix.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
	if _, err := newHost(t, opt).Load(context.Background(), echo(t), testManifest()); !errors.Is(err, unix.ENOSPC) {
		t.Errorf("load: %v", err)
	}
	after := cached(t, opt.CacheDir)
	if len(before) != 1 || len(after) != 1 {
		t.Fatalf("%d entries, and %d on the full disk", len(before), len(after))
	}
	for name, b := range before {
		if !bytes.Equal(after[name], b) {
			t.Error("the entry has changed")
		}
	}
	if err := os.Remove(others); err != nil {
		t.Fatal(err)
	}
	if _, err := newHost(t, opt).Load(context.Background(), echo(t), testManifest()); err != nil {
		t.Fatal(err)
	}
}
