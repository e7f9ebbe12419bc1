package wasm

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

// cached returns the files of a cache, by name.
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

// TestCacheIsSealed: changed machine code is not run, however it was changed, and unchanged code is
// not compiled again.
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
		run(key)
		// A rewritten file is another file.
		first := map[string]fs.FileInfo{}
		for name := range cached(t, dir) {
			first[name], _ = os.Stat(name)
		}
		if said := run(key); said != "" || len(cached(t, dir)) != 1 {
			t.Errorf("a valid cache entry was compiled again: %s", said)
		}
		for name, was := range first {
			if is, err := os.Stat(name); err != nil || !os.SameFile(was, is) {
				t.Errorf("a valid cache entry was written again: %v", err)
			}
		}
		for name, good := range cached(t, dir) {
			spoilt := bytes.Clone(good)
			spoilt[len(spoilt)/2] ^= 1
			if err := os.WriteFile(name, spoilt, 0o600); err != nil {
				t.Fatal(err)
			}
			if said := run(key); !strings.Contains(said, "is not used") {
				t.Errorf("%s was changed, and taken", filepath.Base(name))
			}
			if got := cached(t, dir)[name]; bytes.Equal(got, spoilt) {
				t.Errorf("%s is still as it was changed", filepath.Base(name))
			}
		}
		if said := run(bytes.Repeat([]byte{8}, 32)); !strings.Contains(said, "is not used") {
			t.Error("machine code of another home was taken")
		}
	})
}

// TestCacheOfEachVersion: programs with different versions of wazero share a cache, and neither
// compiles again at each start.
func TestCacheOfEachVersion(t *testing.T) {
	if engine(false) != Compiler {
		t.Skip("wazero interprets here, and there is no machine code")
	}
	dir := filepath.Join(t.TempDir(), "cache")
	for i, version := range []string{"", "v1.12.0", "", "v1.12.0"} {
		h := newHost(t, Options{CacheDir: dir, CacheKey: bytes.Repeat([]byte{7}, 32)})
		h.wazero = version
		if _, _, err := ask(t, h, moody(), testManifest()); err != nil {
			t.Fatal(err)
		}
		if got, want := len(cached(t, dir)), min(i+1, 2); got != want {
			t.Errorf("after %q there are %d entries, want %d", version, got, want)
		}
	}
	info := debug.BuildInfo{Deps: []*debug.Module{{Path: "example.com/wazero", Version: "v3.0.0"}, {Path: "github.com/tetratelabs/wazero", Version: "v1.12.0"}}}
	if got := wazeroIn(&info); got != "v1.12.0" {
		t.Errorf("version %q", got)
	}
}

// TestCacheIsSwept: leftovers of killed processes, old entries and those of versions that did not
// pack are removed; used entries and other files stay.
func TestCacheIsSwept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	h := newHost(t, Options{CacheDir: dir, CacheKey: bytes.Repeat([]byte{7}, 32)})
	name := strings.Repeat("ab", 16)
	old := time.Now().Add(-2 * unpackedLeft)
	for _, f := range []struct {
		name  string
		at    time.Time
		stays bool
	}{
		{name + "/wazero-v1/x", old, false},
		{name + unpackedMark + "1/fuelled", old, false},
		{strings.Repeat("cd", 16) + unpackedMark + "2/fuelled", time.Now(), true},
		{strings.Repeat("ef", 16), old, true},
		{strings.Repeat("12", 16), time.Now().Add(-2 * entryUnused), false},
		{"mine", time.Now().Add(-2 * entryUnused), true},
		{"mine too/x", old, true},
	} {
		path := filepath.Join(dir, f.name)
		if err := writeTo(path, strings.NewReader("x")); err != nil {
			t.Fatal(err)
		}
		top, _, _ := strings.Cut(f.name, "/")
		if err := os.Chtimes(filepath.Join(dir, top), f.at, f.at); err != nil {
			t.Fatal(err)
		}
		if _, _, err := ask(t, h, moody(), testManifest()); err != nil {
			t.Fatal(err)
		}
		h = newHost(t, Options{CacheDir: dir, CacheKey: bytes.Repeat([]byte{7}, 32)})
		if _, err := os.Stat(path); (err == nil) != f.stays {
			t.Errorf("%s: %v", f.name, err)
		}
	}
}

// TestCacheKey: a key is created, and kept.
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
	made, err := CacheKey(file)
	if err != nil || len(made) != 32 || bytes.Equal(made, one) {
		t.Errorf("in place of a short key: %x, %v", made, err)
	}
	if again, err := CacheKey(file); err != nil || !bytes.Equal(again, made) {
		t.Errorf("%x, then %x, %v", made, again, err)
	}
	if _, err := NewHost(context.Background(), Options{CacheDir: t.TempDir()}); err == nil || errors.Is(err, context.Canceled) {
		t.Error("a cache without a key was opened")
	}
}

func logTo(w *bytes.Buffer) *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }

// A plugin that was compiled before starts idle, if its manifest names the module. It is compiled
// when it is called, from that module only, even if the entry was changed.
func TestCachedPluginStartsIdle(t *testing.T) {
	ctx := context.Background()
	if engine(false) != Compiler {
		t.Skip("wazero interprets here, and there is no machine code")
	}
	dir := filepath.Join(t.TempDir(), "cache")
	module, other := new(asm).plugin(i64c(0)).bytes(), new(asm).plugin(i64c(0), []byte{0x01}).bytes()
	m := testManifest()
	m.SHA256 = fmt.Sprintf("%x", sha256.Sum256(module))
	load := func(module []byte) (p *Plugin, opened *int) {
		t.Helper()
		opened = new(int)
		h := newHost(t, Options{CacheDir: dir, CacheKey: bytes.Repeat([]byte{7}, 32)})
		p, err := h.LoadFrom(ctx, func() ([]byte, error) { *opened++; return module, nil }, m, nil)
		if err != nil {
			t.Fatal(err)
		}
		return p, opened
	}
	if p, opened := load(module); !p.loaded() || *opened != 1 {
		t.Errorf("the first time: loaded %v, opened %d times", p.loaded(), *opened)
	}
	for name, good := range cached(t, dir) {
		good[len(good)/2] ^= 1
		if err := os.WriteFile(name, good, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p, opened := load(module)
	if p.loaded() || *opened != 0 {
		t.Errorf("the second time: loaded %v, opened %d times", p.loaded(), *opened)
	}
	if _, _, err := p.Extract(ctx, someText()); err != nil {
		t.Error(err)
	}
	p, _ = load(other)
	if _, _, err := p.Extract(ctx, someText()); !errors.Is(err, ErrHash) {
		t.Errorf("another module: %v", err)
	}
}

// Processes that share a cache may create its key at the same time: all get the same key.
func TestCacheKeyOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cache.key")
	got := make(chan []byte)
	for range 20 {
		go func() {
			key, err := CacheKey(file)
			if err != nil {
				t.Error(err)
			}
			got <- key
		}()
	}
	first := <-got
	for range 19 {
		if key := <-got; !bytes.Equal(key, first) || len(key) != 32 {
			t.Errorf("%x and %x", first, key)
		}
	}
	if left, _ := filepath.Glob(file + ".new-*"); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}
