package node

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/locket-dev/locket/node/config"
)

// If a home can't be made completely, no keys are left whose words nobody has.
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
