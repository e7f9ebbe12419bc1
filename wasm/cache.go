package wasm

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/locket-dev/locket/wasm/internal/fuel"
)

// entry is the machine code of one module in the cache on disk:
//
//	CACHE/ENTRY/fuelled                   the module as it is compiled; see fuelled
//	CACHE/ENTRY/wazero-VERSION-ARCH-OS/…  what wazero keeps
//	CACHE/ENTRY/seal                      HMAC-SHA-256 over that, under the host's key
//
// ENTRY is a hash of the module, the limit that is compiled in, the
// engine, and the version of the rewriting. Machine code that somebody else has put there, or
// changed, would run with all that the node may do: an entry without a seal
// that holds is emptied, and compiled anew. A nil entry is no cache.
type entry struct {
	host   *Host
	dir    string
	sealed bool
}

const sealFile = "seal"

// cacheEntry looks up a module, and empties an entry that can't be trusted.
func (h *Host) cacheEntry(module []byte, l Limits) (*entry, error) {
	if h.opt.CacheDir == "" || module == nil {
		return nil, nil
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "locket-plugin-cache-2\x00%d\x00%d\x00%s\x00%s\x00", fuel.Version, l.MemoryMiB, runtime.GOARCH, h.engine)
	sum.Write(module)
	e := &entry{host: h, dir: filepath.Join(h.opt.CacheDir, hex.EncodeToString(sum.Sum(nil)[:16]))}
	for _, d := range []string{h.opt.CacheDir, e.dir} {
		if err := ownFolder(d); err != nil {
			return nil, fmt.Errorf("plugin cache: %w", err)
		}
	}
	want, err := os.ReadFile(filepath.Join(e.dir, sealFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("plugin cache: %w", err)
	}
	mac, some, err := e.mac()
	if err == nil && some && hmac.Equal(want, mac) {
		e.sealed = true
		return e, nil
	}
	if some || err != nil {
		h.opt.Logger.Warn("plugin cache: machine code that this node did not make, or that has changed, is thrown away", "entry", filepath.Base(e.dir), "err", err)
	}
	if err := os.RemoveAll(e.dir); err != nil {
		return nil, fmt.Errorf("plugin cache: %w", err)
	}
	return e, ownFolder(e.dir)
}

// CacheKey gives the key that is kept in a file, for a host without a better
// place for one; it is made with the first call. The file must not lie in the
// cache.
func CacheKey(file string) ([]byte, error) {
	key, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		key = make([]byte, sha256.Size)
		rand.Read(key)
		err = os.MkdirAll(filepath.Dir(file), 0o700)
		if err == nil {
			err = os.WriteFile(file, key, 0o600)
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

// path is the entry's folder, for wazero.
func (e *entry) path() string {
	if e == nil {
		return ""
	}
	return e.dir
}

// seal vouches for what is in the entry now.
func (e *entry) seal() error {
	if e == nil || e.sealed {
		return nil
	}
	mac, some, err := e.mac()
	if err != nil || !some {
		return err
	}
	e.sealed = true
	if err := os.WriteFile(filepath.Join(e.dir, sealFile), mac, 0o600); err != nil {
		return fmt.Errorf("plugin cache: %w", err)
	}
	return nil
}

// mac is over the names and contents of all files but the seal; some says
// whether there are any.
func (e *entry) mac() (sum []byte, some bool, err error) {
	mac := hmac.New(sha256.New, e.host.opt.CacheKey)
	text := func(s string) {
		mac.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(s))))
		io.WriteString(mac, s)
	}
	text("locket-plugin-cache-2")
	text(filepath.Base(e.dir))
	err = filepath.WalkDir(e.dir, func(path string, d fs.DirEntry, err error) error {
		name, relErr := filepath.Rel(e.dir, path)
		switch {
		case err != nil || relErr != nil:
			return errors.Join(err, relErr)
		case d.IsDir() || name == sealFile:
			return nil
		case !d.Type().IsRegular():
			some = true
			return fmt.Errorf("%s is no file", name)
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		st, err := f.Stat()
		if err != nil {
			return err
		}
		some = true
		text(filepath.ToSlash(name))
		mac.Write(binary.LittleEndian.AppendUint64(nil, uint64(st.Size())))
		_, err = io.Copy(mac, f)
		return err
	})
	return mac.Sum(nil), some, err
}

// ownFolder makes a folder that is this user's alone, or sees that it is.
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
		return fmt.Errorf("%s is no folder", dir)
	case !owned(st):
		return fmt.Errorf("%s belongs to another user", dir)
	case st.Mode().Perm()&0o077 != 0:
		return os.Chmod(dir, 0o700)
	}
	return nil
}
