//go:build amd64 || arm64

package wasm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapped returns the file from which a plugin's machine code is mapped, "" for memory, and how many
// kB of it are private memory of this process.
func mapped(t *testing.T, p *Plugin) (file string, own int) {
	t.Helper()
	at := machineCode(p.code.compiled)
	if at == nil || len(*at) < worthFile {
		t.Fatal("no machine code was found: does this version of wazero have it elsewhere?")
	}
	code := *at
	smaps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	_, piece, found := strings.Cut("\n"+string(smaps), fmt.Sprintf("\n%x-", uintptr(unsafe.Pointer(&code[0]))))
	if !found {
		return "", len(code) >> 10 // inside a larger mapping
	}
	line, rest, _ := strings.Cut(piece, "\n")
	if f := strings.Fields(line); len(f) > 5 {
		file = f[5]
	}
	_, rest, _ = strings.Cut(rest, "Anonymous:")
	_, err = fmt.Sscan(rest, &own)
	if err != nil {
		t.Fatal(err)
	}
	return file, own
}

// filing makes a host with little memory, which logs to the buffer, and one plugin.
func filing(t *testing.T, dir string) (*Host, *Plugin, *bytes.Buffer) {
	t.Helper()
	log := new(bytes.Buffer)
	h := newHost(t, Options{CacheDir: dir, CacheKey: bytes.Repeat([]byte{7}, 32), NoSpare: true, Idle: -1, Logger: logTo(log)})
	p, err := h.Load(context.Background(), echo(t), testManifest())
	if err != nil {
		t.Fatal(err)
	}
	return h, p, log
}

// loadAgain makes the plugin release its code, and load it again.
func loadAgain(t *testing.T, p *Plugin) {
	t.Helper()
	if err := p.Rest(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := p.Extract(context.Background(), someText()); err != nil {
		t.Fatal(err)
	}
}

// TestCodeInAFile: a host with little memory runs machine code from an unnamed file, the same one
// at each load, which nobody has open for writing.
func TestCodeInAFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	h, p, log := filing(t, dir)
	key := p.code.key
	file := h.files[key]
	for range 2 { // compiled, then from the cache
		name, own := mapped(t, p)
		if !strings.HasPrefix(name, dir) || own > 0 {
			t.Errorf("mapped from %q, with %d kB of its own: %s", name, own, log.String())
		}
		loadAgain(t, p)
	}
	if h.files[key] != file || len(h.files) != 1 {
		t.Error("the compiled code was written to another file at the second load")
	}
	if len(cached(t, dir)) != 1 {
		t.Error("the file has a name")
	}
	if err := unix.Linkat(unix.AT_FDCWD, selfFile(file), unix.AT_FDCWD, filepath.Join(dir, "named"), unix.AT_SYMLINK_FOLLOW); err == nil {
		t.Error("the file of the code can be linked under a name")
	}
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	mine, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range open {
		is, err := os.Stat("/proc/self/fd/" + d.Name())
		if err != nil || !os.SameFile(is, mine) {
			continue // including the descriptor of the listing itself
		}
		fd, err := strconv.Atoi(d.Name())
		if err != nil {
			t.Fatal(err)
		}
		if how, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0); err != nil || how&unix.O_ACCMODE != unix.O_RDONLY {
			t.Errorf("descriptor %d can write it: %#x, %v", fd, how, err)
		}
	}
}

func selfFile(f *os.File) string { return fmt.Sprintf("/proc/self/fd/%d", f.Fd()) }

// Code stays in memory if the file has other bytes, or fewer: reading beyond the end of a mapped
// file would end the process.
func TestCodeOfAnotherFile(t *testing.T) {
	for name, change := range map[string]func(f *os.File, size int64) error{
		"other bytes": func(f *os.File, size int64) error { _, err := f.WriteAt([]byte("other"), size/2); return err },
		"cut off":     func(f *os.File, size int64) error { return f.Truncate(size / 2) },
		"empty":       func(f *os.File, _ int64) error { return f.Truncate(0) },
		"longer":      func(f *os.File, size int64) error { return f.Truncate(size + 1) },
	} {
		t.Run(name, func(t *testing.T) {
			h, p, log := filing(t, filepath.Join(t.TempDir(), "cache"))
			file := h.files[p.code.key]
			if err := p.Rest(context.Background()); err != nil {
				t.Fatal(err)
			}
			st, err := file.Stat()
			if err != nil {
				t.Fatal(err)
			}
			if err := file.Chmod(0o600); err != nil {
				t.Fatal(err)
			}
			w, err := os.OpenFile(selfFile(file), os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(change(w, st.Size()), w.Close()); err != nil {
				t.Fatal(err)
			}
			loadAgain(t, p)
			if name, own := mapped(t, p); name != "" || own == 0 {
				t.Errorf("other bytes are run, of %q", name)
			}
			if !strings.Contains(log.String(), errOtherCode.Error()) || len(h.files) != 0 {
				t.Errorf("%d files are kept: %s", len(h.files), log.String())
			}
			loadAgain(t, p)
			if len(h.files) != 0 {
				t.Error("a file with other code was tried again")
			}
		})
	}
}

// If the system fails to map the file in place of the code, the code is lost, and never run; the
// next load keeps it in memory. Here it fails because the address lies inside a page.
func TestCodeIsLostAfterAFailedMapping(t *testing.T) {
	h, p, log := filing(t, filepath.Join(t.TempDir(), "cache"))
	if err := p.closeIdle(); err != nil {
		t.Fatal(err)
	}
	is := machineCode(p.code.compiled)
	*is = (*is)[1:]
	f, err := unnamed(h.opt.CacheDir, *is)
	if err != nil {
		t.Fatal(err)
	}
	h.files[p.code.key].Close()
	h.files[p.code.key] = f
	if err := p.fileCode(context.Background(), p.code); !errors.Is(err, errCodeLost) || !errors.Is(err, unix.EINVAL) {
		t.Errorf("err %v", err)
	}
	if p.code.compiled != nil || len(*is) != 0 || len(h.files) != 0 || !h.unfiled {
		t.Errorf("it may be run: %v, wazero has %d bytes, %d files are kept, to be tried again: %v", p.code.compiled != nil, len(*is), len(h.files), !h.unfiled)
	}
	h.codes.forget(p.code) // like codes.of
	p.code = nil
	loadAgain(t, p)
	if name, own := mapped(t, p); name != "" || own == 0 {
		t.Errorf("mapped from %q: %s", name, log)
	}
}

// A file is kept as long as a plugin has its module.
func TestCodeFileIsDropped(t *testing.T) {
	ctx := context.Background()
	h, p, _ := filing(t, filepath.Join(t.TempDir(), "cache"))
	m := testManifest()
	m.ID += "-too"
	too, err := h.Load(ctx, echo(t), m)
	if err != nil {
		t.Fatal(err)
	}
	for i, step := range []struct {
		do   func(context.Context) error
		want int
	}{{p.Rest, 1}, {too.Rest, 1}, {p.Close, 1}, {too.Close, 0}} {
		if err := step.do(ctx); err != nil {
			t.Fatal(err)
		}
		if len(h.files) != step.want {
			t.Errorf("after step %d there are %d files", i, len(h.files))
		}
	}
	if err := h.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Load(ctx, echo(t), m); !errors.Is(err, ErrClosed) || len(h.files) != 0 {
		t.Errorf("of a plugin that isn't loaded %d files are kept: %v", len(h.files), err)
	}
}

// Code in a file stays while only its instances are released: when the host has to shrink, and when
// the plugin was idle once.
func TestCodeInAFileStays(t *testing.T) {
	ctx := context.Background()
	for _, small := range []bool{false, true} {
		h := newHost(t, Options{CacheDir: filepath.Join(t.TempDir(), "cache"), CacheKey: bytes.Repeat([]byte{7}, 32), NoSpare: small, Idle: -1})
		p, err := h.Load(ctx, echo(t), testManifest())
		if err != nil {
			t.Fatal(err)
		}
		for name, do := range map[string]func(){
			"shrink": func() {
				if err := h.Shrink(ctx); err != nil {
					t.Error(err)
				}
			},
			"idle": p.releaseIdle,
		} {
			if _, _, err := p.Extract(ctx, someText()); err != nil {
				t.Fatal(err)
			}
			do()
			if n := p.Stats().Instances; p.loaded() != small || n != 0 {
				t.Errorf("small %v, %s: loaded %v, %d instances", small, name, p.loaded(), n)
			}
		}
		if p.releaseIdle(); p.loaded() {
			t.Errorf("small %v: it stays although it was idle twice", small)
		}
	}
}

// The functions that wazero has compiled are freed.
func TestCompiledBodiesAreFreed(t *testing.T) {
	h := newHost(t, Options{CacheDir: filepath.Join(t.TempDir(), "cache"), CacheKey: bytes.Repeat([]byte{7}, 32), NoSpare: true, Idle: -1})
	p, err := h.Load(context.Background(), echo(t), testManifest())
	if err != nil {
		t.Fatal(err)
	}
	code := reflect.ValueOf(p.code.compiled).Elem().FieldByName("module").Elem().FieldByName("CodeSection")
	for i := range code.Len() {
		if n := code.Index(i).FieldByName("Body").Len(); n > 0 {
			t.Fatalf("function %d of %d has %d bytes", i, code.Len(), n)
		}
	}
	if code.Len() < 100 {
		t.Errorf("%d functions", code.Len())
	}
}

// A host with enough memory writes no such file.
func TestCodeInMemory(t *testing.T) {
	h := newHost(t, Options{CacheDir: filepath.Join(t.TempDir(), "cache"), CacheKey: bytes.Repeat([]byte{7}, 32), Idle: -1})
	p, err := h.Load(context.Background(), echo(t), testManifest())
	if err != nil {
		t.Fatal(err)
	}
	if name, _ := mapped(t, p); name != "" || len(h.files) != 0 {
		t.Errorf("mapped from %q", name)
	}
}
