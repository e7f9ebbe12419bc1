package wasm

import (
	"archive/tar"
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/internal/diskspace"
	"github.com/locket-dev/locket/wasm/internal/fuel"
)

// entry is the machine code of one module in the cache on disk. It is stored compressed, in a file,
// because it shrinks to an eighth:
//
//	CACHE/ENTRY HMAC-SHA-256 of the name and of the rest of the file, under the host's key 32,
//	             a frame of zstd that has the module as its dictionary: a tar of
//	  fuelled              the module as compiled; see fuelled
//	  wazero-VERSION-ARCH-OS/…     wazero's own files
//
// ENTRY is a hash of the module's hash, the limit that is compiled in, the engine, its version, and
// the version of the rewriting. Machine code that somebody else has put there or changed would run
// with all of the node's rights. So an entry without a valid seal is removed, and made again.
// wazero only reads folders: while a module is loaded, the entry is unpacked beside its file. A nil
// entry means no cache.
type entry struct {
	host   *Host
	name   string
	module []byte
	dir    string // the unpacked files, or those to be packed; closed removes it
	sealed bool
}

const (
	sealSize = sha256.Size
	// packWindow is the window of the compression, in bytes: from the rewritten module back over
	// the module.
	packWindow = 8 << 20
	// unpackedMark is in the names of folders with an unpacked entry. After unpackedLeft nobody
	// reads such a folder any more, because its process was killed.
	unpackedMark = ".unpacked-"
	unpackedLeft = 10 * time.Minute
	// entryUnused is how long an entry is kept after it was last read.
	entryUnused = 60 * 24 * time.Hour
)

// entryOf returns the name of the file with a module's machine code.
func (h *Host) entryOf(module [sha256.Size]byte, l Limits) string {
	sum := sha256.New()
	fmt.Fprintf(sum, "locket-plugin-cache-4\x00%d\x00%d\x00%s\x00%s\x00%s\x00", fuel.Version, l.MemoryMiB, runtime.GOARCH, h.engine, h.wazero)
	sum.Write(module[:])
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// wazeroIn returns the version of wazero in a program. Tests have none: go test leaves modules out
// of their build information. wazero does not read machine code of another version, and makes it
// again.
func wazeroIn(info *debug.BuildInfo) string {
	for _, m := range info.Deps {
		if m.Path == "github.com/tetratelabs/wazero" {
			return m.Version
		}
	}
	return ""
}

// compiledBefore reports whether the cache has a module's machine code. Its seal is checked when it
// is needed.
func (h *Host) compiledBefore(module [sha256.Size]byte, l Limits) bool {
	if h.opt.CacheDir == "" {
		return false
	}
	name := h.entryOf(module, l)
	_, err := os.Stat(filepath.Join(h.opt.CacheDir, name))
	return err == nil || h.ready(name) == nil
}

// cacheEntry looks up a module, and removes an entry that can't be trusted. The
// caller closes the entry once the module is loaded.
func (h *Host) cacheEntry(module []byte, l Limits) (*entry, error) {
	if h.opt.CacheDir == "" || module == nil {
		return nil, nil
	}
	e := &entry{host: h, name: h.entryOf(sha256.Sum256(module), l), module: module}
	if err := ownFolder(h.opt.CacheDir); err != nil {
		return nil, fmt.Errorf("plugin cache: %w", err)
	}
	e.sweep()
	var err error
	if e.dir, err = os.MkdirTemp(h.opt.CacheDir, e.name+unpackedMark); err != nil {
		return nil, fmt.Errorf("plugin cache: %w", err)
	}
	err = e.unpack(e.file(), h.opt.CacheKey)
	if errors.Is(err, fs.ErrNotExist) {
		err = e.unpackReady()
	}
	switch {
	case err == nil:
		e.sealed = true
		_ = os.Chtimes(e.file(), time.Time{}, time.Now()) // time of the last read, for sweep
		return e, nil
	case diskspace.IsFull(err): // the entry is still good
		return nil, errors.Join(fmt.Errorf("plugin cache: %w", err), e.close())
	case !errors.Is(err, fs.ErrNotExist):
		h.opt.Logger.Warn("plugin cache: machine code that this node did not make, or that has changed, is not used", "entry", e.name, "err", err)
	}
	if err := errors.Join(os.RemoveAll(e.file()), os.RemoveAll(e.dir), ownFolder(e.dir)); err != nil {
		return nil, errors.Join(fmt.Errorf("plugin cache: %w", err), e.close())
	}
	return e, nil
}

// entryName matches the cache's own files: entries, unpacked ones, and files that a killed process
// was writing.
var entryName = regexp.MustCompile(`^([0-9a-f]{32}($|\` + unpackedMark + `)|\` + atomicfile.Prefix + `)`)

// sweep removes leftovers of killed processes and of other versions of Locket.
func (e *entry) sweep() {
	all, err := os.ReadDir(e.host.opt.CacheDir)
	if err != nil {
		return
	}
	for _, d := range all {
		st, err := d.Info()
		if err != nil || !entryName.MatchString(d.Name()) {
			continue
		}
		age, left := time.Since(st.ModTime()), entryUnused
		if d.IsDir() { // unpacked, or an entry of a version that did not pack
			left = unpackedLeft
		}
		if age > left && d.Name() != e.name {
			_ = os.RemoveAll(filepath.Join(e.host.opt.CacheDir, d.Name()))
		}
	}
}

// file is the path of the packed entry.
func (e *entry) file() string { return filepath.Join(e.host.opt.CacheDir, e.name) }

// path is the folder of the unpacked entry, for wazero.
func (e *entry) path() string {
	if e == nil {
		return ""
	}
	return e.dir
}

// close removes the unpacked files. A second close does nothing.
func (e *entry) close() error {
	if e == nil || e.dir == "" {
		return nil
	}
	err := os.RemoveAll(e.dir)
	e.dir = ""
	if err != nil {
		return fmt.Errorf("plugin cache: %w", err)
	}
	return nil
}

// mac covers the name of an entry and its packed bytes.
func (e *entry) mac(key, packed []byte) []byte {
	mac := hmac.New(sha256.New, key)
	io.WriteString(mac, "locket-plugin-cache-4"+e.name)
	mac.Write(packed)
	return mac.Sum(nil)
}

// unpack fills the folder from a file, if its seal is valid.
func (e *entry) unpack(file string, key []byte) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if len(b) < sealSize || !hmac.Equal(b[:sealSize], e.mac(key, b[sealSize:])) {
		return errors.New("it was changed, or sealed with another key")
	}
	dec, err := zstd.NewReader(bytes.NewReader(b[sealSize:]), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderDictRaw(1, e.module))
	if err != nil {
		return err
	}
	defer dec.Close()
	for r := tar.NewReader(dec); ; {
		switch head, err := r.Next(); {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case head.Typeflag == tar.TypeDir:
		case !filepath.IsLocal(head.Name):
			return fmt.Errorf("%q is outside", head.Name)
		default:
			if err := writeTo(filepath.Join(e.dir, head.Name), r); err != nil {
				return err
			}
		}
	}
}

// writeTo creates a file and its folders.
func writeTo(path string, r io.Reader) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	return errors.Join(err, f.Close())
}

// seal packs the folder's present content, and signs it.
func (e *entry) seal() error {
	if e == nil || e.sealed {
		return nil
	}
	var packed bytes.Buffer
	packed.Write(make([]byte, sealSize))
	if some, err := e.pack(&packed); err != nil || !some {
		return err
	}
	b := packed.Bytes()
	copy(b, e.mac(e.host.opt.CacheKey, b[sealSize:]))
	if err := atomicfile.Write(e.file(), b); err != nil {
		return fmt.Errorf("plugin cache: %w", err)
	}
	e.sealed = true
	return nil
}

// pack writes the folder; some reports whether it contains a file.
func (e *entry) pack(w io.Writer) (some bool, err error) {
	enc, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1),
		zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(packWindow), zstd.WithEncoderDictRaw(1, e.module))
	if err != nil {
		return false, fmt.Errorf("plugin cache: %w", err)
	}
	list := tar.NewWriter(enc)
	if err = list.AddFS(os.DirFS(e.dir)); err == nil {
		var inside []os.DirEntry
		inside, err = os.ReadDir(e.dir)
		some = len(inside) > 0
	}
	if err := errors.Join(err, list.Close(), enc.Close()); err != nil {
		return false, fmt.Errorf("plugin cache: %w", err)
	}
	return some, nil
}

// CacheKey returns the key stored in a file, for a host without a better place for it; the first
// call creates it. Processes that create it at the same time all get the first one. A file with
// another length is not a key, for example after a power cut: it is replaced, and the cache's
// content is compiled again. The file must not be in the cache.
func CacheKey(file string) ([]byte, error) {
	key, err := os.ReadFile(file)
	if spoilt := err == nil && len(key) != sha256.Size; spoilt || errors.Is(err, fs.ErrNotExist) {
		if err = makeKey(file, spoilt); err == nil || errors.Is(err, fs.ErrExist) {
			key, err = os.ReadFile(file)
		}
	}
	if err == nil && len(key) != sha256.Size {
		err = fmt.Errorf("%d bytes, want %d", len(key), sha256.Size)
	}
	if err != nil {
		return nil, fmt.Errorf("key of the plugin cache: %w", err)
	}
	return key, nil
}

// makeKey writes a new key, and replaces a spoilt one.
func makeKey(file string, spoilt bool) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	key := make([]byte, sha256.Size)
	rand.Read(key)
	if spoilt {
		return atomicfile.Write(file, key)
	}
	return atomicfile.Create(file, key) // fails if another process was first
}

// ownFolder creates a folder that belongs to this user alone, or checks that it does.
func ownFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	st, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	switch {
	case !st.IsDir():
		return fmt.Errorf("%s is not a folder", dir)
	case !owned(st):
		return fmt.Errorf("%s belongs to another user", dir)
	case st.Mode().Perm()&0o077 != 0:
		return os.Chmod(dir, 0o700)
	}
	return nil
}
