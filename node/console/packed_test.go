package console

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// The embedded page is the one that the source makes.
func TestEmbeddedPageIsCurrent(t *testing.T) {
	files, err := unpack(packed)
	if err != nil {
		t.Fatal(err)
	}
	made, err := os.ReadDir("dist")
	if err != nil || len(made) != len(files) {
		t.Fatalf("%d files are packed of %d: go generate ./node/console (%v)", len(files), len(made), err)
	}
	for _, e := range made {
		b, err := os.ReadFile(filepath.Join("dist", e.Name()))
		if err != nil || !bytes.Equal(b, files[e.Name()]) {
			t.Errorf("%s differs: go generate ./node/console (%v)", e.Name(), err)
		}
	}
}
