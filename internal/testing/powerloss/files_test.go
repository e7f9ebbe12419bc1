//go:build linux

package powerloss

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/node/installed"
	"github.com/locket-dev/locket/sync/membership"
	"github.com/locket-dev/locket/wasm"
)

func init() {
	replays["keys"] = replayKeys
	replays["files"] = replayFiles
	replays["plugins"] = replayPlugins
}

// replayKeys makes a ring, stores keys in it, and changes how it is opened.
func replayKeys(root string, ack func(string) error) error {
	r, _, err := keyring.Create(filepath.Join(root, "keys"), keyring.CreateOptions{KeyFile: keyring.DefaultKeyFile, FoundSpace: membership.FoundSpace("")})
	if err != nil {
		return err
	}
	if err := ack("made"); err != nil {
		return err
	}
	for n := range 4 {
		if err := r.SetKey(fmt.Sprint("key/", n), seal.NewKey()); err != nil {
			return err
		}
		if err := ack(fmt.Sprint("key/", n)); err != nil {
			return err
		}
	}
	for _, p := range []string{"first", "second"} {
		if err := r.ChangePassphrase(context.Background(), keyring.KeyFile(""), p); err != nil {
			return err
		}
		if err := ack("passphrase/" + p); err != nil {
			return err
		}
	}
	if err := r.RemoveWrap(keyring.WrapKeyFile); err != nil {
		return err
	}
	if err := ack("removed"); err != nil {
		return err
	}
	return r.Close()
}

func TestKeys(t *testing.T) {
	cuts := replay(t, "keys", false)
	open(t, cuts, func(dir string, acks []string) error {
		said := map[string]bool{}
		for _, a := range acks {
			said[a] = true
		}
		l, err := keyring.Open(filepath.Join(dir, "keys"))
		if !said["made"] {
			if errors.Is(err, fs.ErrNotExist) {
				return nil // and then it can be created
			}
			if err != nil {
				return err
			}
		}
		if err != nil {
			return err
		}
		way := keyring.KeyFile("")
		if said["removed"] {
			way = keyring.Passphrase("second")
			for _, name := range []string{"wrap." + string(keyring.WrapKeyFile), keyring.DefaultKeyFile} {
				for _, at := range []string{name, filepath.Join("spare", name)} { // a repair uses spares
					if _, err := os.Stat(filepath.Join(dir, "keys", at)); !errors.Is(err, fs.ErrNotExist) {
						return fmt.Errorf("%s was removed, and is there: %v", at, err)
					}
				}
			}
		}
		r, err := l.Unlock(t.Context(), way)
		if errors.Is(err, keyring.ErrNoWrap) && said["passphrase/second"] {
			r, err = l.Unlock(t.Context(), keyring.Passphrase("second"))
		}
		if err != nil {
			return err
		}
		defer r.Close()
		for _, a := range acks {
			if _, ok := r.Key(a); strings.HasPrefix(a, "key/") && !ok {
				return fmt.Errorf("%s was acknowledged, and is not there", a)
			}
		}
		if err := r.KeepSpares(); err != nil {
			return err
		}
		return errors.Join(keyring.Check(filepath.Join(dir, "keys"))...)
	})
}

// replayFiles replaces settings and similar files.
func replayFiles(root string, ack func(string) error) error {
	for n := range 5 {
		for name, write := range writers {
			if err := write(filepath.Join(root, name), fmt.Appendf(nil, "[%d]\n", n)); err != nil {
				return err
			}
			if err := ack(fmt.Sprintf("%s=%d", name, n)); err != nil {
				return err
			}
		}
	}
	return nil
}

var writers = map[string]func(string, []byte) error{"config.toml": atomicfile.Write, "devices.json": atomicfile.WriteChecked}

func TestFiles(t *testing.T) {
	cuts := replay(t, "files", false)
	open(t, cuts, func(dir string, acks []string) error {
		last := map[string]int{}
		for _, a := range acks {
			name, n, _ := strings.Cut(a, "=")
			v, err := strconv.Atoi(n)
			if err != nil {
				return err
			}
			last[name] = v
		}
		for name, n := range last {
			b, err := atomicfile.ReadChecked(filepath.Join(dir, name))
			if err != nil {
				return err
			}
			var got int
			if _, err := fmt.Sscanf(string(b), "[%d]", &got); err != nil || got < n || got > n+1 {
				return fmt.Errorf("%s is %q, %d was acknowledged", name, b, n)
			}
		}
		return nil
	})
}

// pluginKey seals the record, like a home's key.
var pluginKey = func() *seal.Key {
	k, err := seal.KeyFromBytes(bytes.Repeat([]byte{1}, seal.KeySize))
	if err != nil {
		panic(err)
	}
	return k
}()

// replayPlugins installs two versions of a plugin, disables it, and removes it.
func replayPlugins(root string, ack func(string) error) error {
	f, err := installed.Open(filepath.Join(root, "plugins"), pluginKey)
	if err != nil {
		return err
	}
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		return err
	}
	for _, version := range []string{"1.0.0", "1.1.0"} {
		p, err := pack(version, key)
		if err != nil {
			return err
		}
		m, _, err := installed.Admit(p, f.Home(nil))
		if err != nil {
			return err
		}
		_, was, err := f.Put(*p, &m, time.Unix(1_790_000_000, 0))
		if err != nil {
			return err
		}
		if err := ack(version); err != nil {
			return err
		}
		if was != nil {
			if err := f.Drop(*was); err != nil {
				return err
			}
		}
	}
	if err := f.Set("ana/likes", true, false); err != nil {
		return err
	}
	if err := ack("off"); err != nil {
		return err
	}
	e, err := f.Remove("ana/likes")
	if err != nil {
		return err
	}
	return errors.Join(ack("removed"), f.Drop(e))
}

func pack(version string, key ed25519.PrivateKey) (*installed.Package, error) {
	p := &installed.Package{Module: append([]byte("\x00asm\x01\x00\x00\x00"), version...), Agreed: []string{"sees text"}}
	sum := fmt.Sprintf("%x", sha256.Sum256(p.Module))
	p.Manifest = fmt.Appendf(nil, "id = \"ana/likes\"\nversion = %q\nabi = 1\nkinds = [\"text\"]\nsha256 = %q\npublisher = %q\n",
		version, sum, hex.EncodeToString(key.Public().(ed25519.PublicKey)))
	var err error
	p.Signature, err = wasm.SignManifest(p.Manifest, key)
	return p, err
}

func TestPlugins(t *testing.T) {
	cuts := replay(t, "plugins", false)
	open(t, cuts, func(dir string, acks []string) error {
		plugins := filepath.Join(dir, "plugins")
		if _, err := os.Stat(plugins); errors.Is(err, fs.ErrNotExist) && len(acks) == 0 {
			return nil
		}
		f, err := installed.Open(plugins, pluginKey)
		if err != nil {
			return err
		}
		for _, p := range installed.Check(plugins, pluginKey) {
			return fmt.Errorf("%s: %w", p.Name, p.Err)
		}
		last := ""
		if len(acks) > 0 {
			last = acks[len(acks)-1]
		}
		e, err := f.Get("ana/likes")
		if there := err == nil; last != "" && there == (last == "removed") && last != "off" {
			return fmt.Errorf("%s was acknowledged; there: %v", last, there)
		} else if !there {
			return nil
		}
		m, _, err := f.ManifestOf(e)
		if err == nil && last == "1.1.0" && m.Version != last {
			err = fmt.Errorf("%s was acknowledged, it is %s", last, m.Version)
		}
		return err
	})
}
