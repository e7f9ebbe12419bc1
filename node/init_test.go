package node

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/locket-dev/locket/node/config"
)

// A home that can't be made whole has no keys of which nobody has the words.
func TestInitHalfDone(t *testing.T) {
	cfg := config.Config{Home: t.TempDir()}
	cfg.Defaults()
	inTheWay := filepath.Join(cfg.Home, pauseFile)
	if err := os.Mkdir(inTheWay, 0o700); err != nil {
		t.Fatal(err)
	}
	if phrase, err := Init(cfg, InitOptions{KeyFile: true}); err == nil || phrase != "" {
		t.Fatal("a home is made over a folder")
	}
	if err := os.Remove(inTheWay); err != nil {
		t.Fatal(err)
	}
	if _, err := Init(cfg, InitOptions{KeyFile: true}); err != nil {
		t.Errorf("again: %v", err)
	}
}
