package wasm

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// cached gives the files of a cache, by name.
func cached(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files[path], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestCacheIsSealed: machine code that is not as it was made is not run, by
// whatever means it got there; and code that is, is not made again.
func TestCacheIsSealed(t *testing.T) {
	if engine(false) != Compiler {
		t.Skip("wazero interprets here, and there is no machine code")
	}
	key := bytes.Repeat([]byte{7}, 32)
	everywhere(t, func(t *testing.T, load loader) {
		dir := filepath.Join(t.TempDir(), "cache")
		run := func(key []byte) (said string) {
			t.Helper()
			var log bytes.Buffer
			h := newHost(t, Options{CacheDir: dir, CacheKey: key, Logger: logTo(&log)})
			if _, _, err := load.ask(t, h, moody(), testManifest()); err != nil {
				t.Fatal(err)
			}
			return log.String()
		}
		// made is when each file was written, but the seal.
		made := func() map[string]time.Time {
			at := map[string]time.Time{}
			for name := range cached(t, dir) {
				st, err := os.Stat(name)
				if err != nil {
					t.Fatal(err)
				}
				if filepath.Base(name) != sealFile {
					at[name] = st.ModTime()
				}
			}
			return at
		}
		run(key)
		first := made()
		if said := run(key); said != "" || !maps.EqualFunc(made(), first, time.Time.Equal) {
			t.Errorf("a sound entry was made again: %s", said)
		}
		for name, good := range cached(t, dir) {
			spoilt := bytes.Clone(good)
			spoilt[len(spoilt)/2] ^= 1
			if err := os.WriteFile(name, spoilt, 0o600); err != nil {
				t.Fatal(err)
			}
			if said := run(key); !strings.Contains(said, "thrown away") {
				t.Errorf("%s was changed, and taken", filepath.Base(name))
			}
			if got := cached(t, dir)[name]; bytes.Equal(got, spoilt) {
				t.Errorf("%s is still as it was changed", filepath.Base(name))
			}
		}
		for name := range cached(t, dir) {
			if err := os.WriteFile(filepath.Join(filepath.Dir(name), "more"), []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
			break
		}
		if said := run(key); !strings.Contains(said, "thrown away") {
			t.Error("a file that was added was taken")
		}
		if said := run(bytes.Repeat([]byte{8}, 32)); !strings.Contains(said, "thrown away") {
			t.Error("machine code of another home was taken")
		}
	})
}

// TestCacheKey: one that is made, and kept.
func TestCacheKey(t *testing.T) {
	file := filepath.Join(t.TempDir(), "home", "cache.key")
	one, err := CacheKey(file)
	if err != nil {
		t.Fatal(err)
	}
	if two, err := CacheKey(file); err != nil || !bytes.Equal(one, two) {
		t.Error(err)
	}
	if err := os.WriteFile(file, []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := CacheKey(file); err == nil {
		t.Error("a short key was taken")
	}
	if _, err := NewHost(context.Background(), Options{CacheDir: t.TempDir()}); err == nil || errors.Is(err, context.Canceled) {
		t.Error("a cache without a key was opened")
	}
}

func logTo(w *bytes.Buffer) *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }
