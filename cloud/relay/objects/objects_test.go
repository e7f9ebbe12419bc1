package objects_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/relay/objects"
	"github.com/locket-dev/locket/cloud/relay/objects/objectstest"
)

func TestFolder(t *testing.T) {
	f, err := objects.OpenFolder(filepath.Join(t.TempDir(), "blobs"))
	if err != nil {
		t.Fatal(err)
	}
	objectstest.Run(t, f)
}

// What a crash left is removed at a later start; what another process is writing stays.
func TestAbandonedFilesAreRemoved(t *testing.T) {
	dir := t.TempDir()
	for name, age := range map[string]time.Duration{".put-old": 2 * time.Hour, ".put-new": 0} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Time{}, time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := objects.OpenFolder(dir); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(dir, ".put-*"))
	if err != nil || len(left) != 1 || filepath.Base(left[0]) != ".put-new" {
		t.Fatal(left, err)
	}
}
