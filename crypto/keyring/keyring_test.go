package keyring

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	system "github.com/zalando/go-keyring"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
)

var ctx = context.Background()

// founded makes a space for a new phrase, without a log.
func founded(rec *Recovery) (*Joining, error) {
	return &Joining{Device: NewDevice(), Space: rec.Space(), Root: rec.Root(), Recovery: rec.Identity().Recipient(), Genesis: []byte("genesis"), Epochs: seal.Epochs{1: seal.NewKey()}}, nil
}

// byFile makes a ring with its default key file, which needs no scrypt.
func byFile(t *testing.T) (dir string, r *Ring, phrase string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "keys")
	r, phrase, err := Create(dir, CreateOptions{FoundSpace: founded, KeyFile: DefaultKeyFile})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return dir, r, phrase
}

func unlock(t *testing.T, dir string, u Unlocker) (*Ring, error) {
	t.Helper()
	l, err := Open(dir)
	if err != nil {
		return nil, err
	}
	r, err := l.Unlock(ctx, u)
	if err == nil {
		t.Cleanup(func() { r.Close() })
	}
	return r, err
}

func TestCreateUnlockUse(t *testing.T) {
	system.MockInit()
	dir := filepath.Join(t.TempDir(), "keys")
	made, _, err := Create(dir, CreateOptions{FoundSpace: founded, Passphrase: "correct horse", KeyFile: DefaultKeyFile, OSKeyring: true})
	if err != nil {
		t.Fatal(err)
	}
	defer made.Close()
	epoch := seal.NewKey()
	if err := made.SetKey("epoch/1", epoch); err != nil {
		t.Fatal(err)
	}
	entry, _ := seal.SealTo(made.JournalRecipient(), []byte("event"))
	secret, _ := seal.SealTo(made.vaultRecipient(), []byte("4711"))
	pair, _ := seal.SealTo(made.Public().Pair, []byte("to the device"))
	sig, err := made.DeviceSign("delta header", []byte("msg"))
	if err != nil {
		t.Fatal(err)
	}
	for name, u := range map[string]Unlocker{
		"passphrase": Passphrase("correct horse"), "key file": KeyFile(""), "OS keyring": OSKeyring(),
		"named key file": KeyFile(filepath.Join(dir, DefaultKeyFile)),
	} {
		t.Run(name, func(t *testing.T) {
			r, err := unlock(t, dir, u)
			if err != nil {
				t.Fatal(err)
			}
			if !r.StoreKey().Equal(made.StoreKey()) || !r.IDKey().Equal(made.IDKey()) || r.StoreKey().Equal(r.IDKey()) {
				t.Error("other keys than were made")
			}
			if k, ok := r.Key("epoch/1"); !ok || !k.Equal(epoch) {
				t.Error("the named key is not there")
			}
			if r.Space() != made.Space() || r.Member() != made.Member() || r.Space().IsZero() {
				t.Error("other ids than were made")
			}
			if b, err := seal.OpenWith(r.JournalIdentity(), entry); err != nil || string(b) != "event" {
				t.Errorf("journal: %v", err)
			}
			if b, err := seal.OpenWith(r.DeviceIdentity(), pair); err != nil || string(b) != "to the device" {
				t.Errorf("device pair: %v", err)
			}
			if !Verify(r.Public().Device, "delta header", []byte("msg"), sig) ||
				Verify(r.Public().Device, "delta heade", []byte("rmsg"), sig) ||
				Verify(r.Public().Root, "delta header", []byte("msg"), sig) {
				t.Error("device signature")
			}
			v, err := r.OpenVault(ctx, u, time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			if b, err := v.Open(secret); err != nil || string(b) != "4711" {
				t.Errorf("vault: %v", err)
			}
		})
	}
}

func TestWrongKeys(t *testing.T) {
	system.MockInit()
	dir := filepath.Join(t.TempDir(), "keys")
	r, _, err := Create(dir, CreateOptions{FoundSpace: founded, Passphrase: "correct horse", KeyFile: DefaultKeyFile, OSKeyring: true})
	if err != nil {
		t.Fatal(err)
	}
	other, _, _ := byFile(t)
	for _, c := range []struct {
		name string
		u    Unlocker
		want error
	}{
		{"passphrase", Passphrase("correct horse "), ErrWrongPassphrase},
		{"empty passphrase", Passphrase(""), ErrWrongPassphrase},
		{"key file", KeyFile(filepath.Join(other, DefaultKeyFile)), ErrWrongKey},
		{"no key file", KeyFile("nowhere"), fs.ErrNotExist},
	} {
		if _, err := unlock(t, dir, c.u); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
		if _, err := r.OpenVault(ctx, c.u, time.Minute); !errors.Is(err, c.want) {
			t.Errorf("vault by %s: %v, want %v", c.name, err, c.want)
		}
	}
	if _, err := unlock(t, other, Passphrase("x")); !errors.Is(err, ErrNoWrap) {
		t.Errorf("no passphrase set: %v", err)
	}
	system.MockInit() // an empty keyring
	if _, err := unlock(t, dir, OSKeyring()); !errors.Is(err, ErrNoSecret) {
		t.Errorf("OS keyring: %v", err)
	}
	over, cancel := context.WithCancel(ctx)
	cancel()
	l, _ := Open(dir)
	if _, err := l.Unlock(over, KeyFile("")); !errors.Is(err, context.Canceled) {
		t.Errorf("context over: %v", err)
	}
	if s := fmt.Sprintf("%v %+v %#v", Passphrase("horse"), Passphrase("horse"), Passphrase("horse")); strings.Contains(s, "horse") {
		t.Errorf("a passphrase prints: %s", s)
	}
}

func TestCreateRefuses(t *testing.T) {
	dir, _, _ := byFile(t)
	if _, _, err := Create(dir, CreateOptions{FoundSpace: founded, KeyFile: DefaultKeyFile}); !errors.Is(err, ErrExists) {
		t.Errorf("a second ring: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, publicFile)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Create(dir, CreateOptions{FoundSpace: founded, KeyFile: DefaultKeyFile}); !errors.Is(err, ErrExists) {
		t.Errorf("over a ring that lost a file: %v", err)
	}
	half := filepath.Join(t.TempDir(), "keys")
	if err := os.MkdirAll(filepath.Join(half+".new", "rest"), 0o700); err != nil {
		t.Fatal(err)
	}
	r, _, err := Create(half, CreateOptions{FoundSpace: founded, KeyFile: DefaultKeyFile})
	if err != nil {
		t.Fatalf("after a Create that was killed: %v", err)
	}
	defer r.Close()
	if names, _ := filepath.Glob(half + "*"); len(names) != 1 {
		t.Errorf("left beside it: %v", names)
	}
	plain := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Create(plain, CreateOptions{FoundSpace: founded, KeyFile: DefaultKeyFile}); !errors.Is(err, ErrExists) {
		t.Errorf("over a file: %v", err)
	}
	if _, err := os.Stat(plain); err != nil {
		t.Errorf("the file is gone: %v", err)
	}
	if _, _, err := Create(t.TempDir(), CreateOptions{}); !errors.Is(err, ErrNoWrap) {
		t.Errorf("no way to unlock: %v", err)
	}
	if _, _, err := Create(t.TempDir(), CreateOptions{FoundSpace: founded, KeyFile: "k", Language: "fr"}); !errors.Is(err, ErrPhrase) {
		t.Errorf("a language without a list: %v", err)
	}
	if _, err := Open(t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no ring: %v", err)
	}
}

func TestChangeOfWraps(t *testing.T) {
	system.MockInit()
	dir, r, _ := byFile(t)
	sealedBefore, _ := os.ReadFile(filepath.Join(dir, ringFile))
	file := KeyFile("")
	step := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	step(r.ChangePassphrase(ctx, file, "first"))
	step(r.ChangePassphrase(ctx, Passphrase("first"), "second"))
	step(r.AddOSKeyring(ctx, Passphrase("second")))
	step(r.AddOSKeyring(ctx, OSKeyring()))
	usb := filepath.Join(t.TempDir(), "usb.key")
	step(r.AddKeyFile(ctx, OSKeyring(), usb))
	kinds, err := r.Wraps()
	if step(err); !slices.Equal(kinds, wrapKinds[:]) {
		t.Errorf("wraps %v", kinds)
	}
	for name, u := range map[string]Unlocker{"second": Passphrase("second"), "os": OSKeyring(), "usb": KeyFile(""), "usb named": KeyFile(usb)} {
		if _, err := unlock(t, dir, u); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := unlock(t, dir, Passphrase("first")); !errors.Is(err, ErrWrongPassphrase) {
		t.Errorf("the old passphrase: %v", err)
	}
	if _, err := unlock(t, dir, KeyFile(DefaultKeyFile)); !errors.Is(err, ErrWrongKey) {
		t.Errorf("the old key file: %v", err)
	}
	if err := r.ChangePassphrase(ctx, Passphrase("first"), "third"); !errors.Is(err, ErrWrongPassphrase) {
		t.Errorf("change by the old passphrase: %v", err)
	}
	step(r.RemoveWrap(WrapOSKeyring))
	step(r.RemoveWrap(WrapKeyFile))
	if err := r.RemoveWrap(WrapKeyFile); !errors.Is(err, ErrNoWrap) {
		t.Errorf("remove twice: %v", err)
	}
	if err := r.RemoveWrap(WrapPassphrase); !errors.Is(err, ErrLastWrap) {
		t.Errorf("remove the last: %v", err)
	}
	if _, err := os.Stat(usb); err != nil {
		t.Errorf("a key file elsewhere was removed: %v", err)
	}
	if after, _ := os.ReadFile(filepath.Join(dir, ringFile)); !bytes.Equal(sealedBefore, after) {
		t.Error("changing wraps wrote the sealed keys anew")
	}
	step(r.AddKeyFile(ctx, Passphrase("second"), DefaultKeyFile))
	step(r.RemoveWrap(WrapKeyFile))
	if _, err := os.Stat(filepath.Join(dir, DefaultKeyFile)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the default key file is left: %v", err)
	}
}

func TestVaultSessionEnds(t *testing.T) {
	dir, _, _ := byFile(t)
	synctest.Test(t, func(t *testing.T) {
		r, err := unlock(t, dir, KeyFile(""))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		sealed, _ := seal.SealTo(r.vaultRecipient(), []byte("4711"))
		v, err := r.OpenVault(ctx, KeyFile(""), time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		id := v.id
		time.Sleep(time.Minute - time.Second) // synctest's clock
		if _, err := v.Open(sealed); err != nil {
			t.Errorf("a second before: %v", err)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if _, err := v.Open(sealed); !errors.Is(err, ErrVaultClosed) {
			t.Errorf("a second after: %v", err)
		}
		if _, err := seal.OpenWith(id, sealed); !errors.Is(err, seal.ErrZeroed) {
			t.Errorf("its key is not zeroed: %v", err)
		}
		if len(r.sessions) != 0 {
			t.Error("the ring remembers it")
		}
		for _, ttl := range []time.Duration{0, -1, MaxVaultTime + 1} {
			if _, err := r.OpenVault(ctx, KeyFile(""), ttl); !errors.Is(err, memory.ErrInvalid) {
				t.Errorf("for %s: %v", ttl, err)
			}
		}
	})
}

// A suspended system stops timers, but not the time: a session that was opened for a minute is
// closed after the system wakes up.
func TestVaultSessionEndsInSleep(t *testing.T) {
	dir, _, _ := byFile(t)
	r, err := unlock(t, dir, KeyFile(""))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	sealed, err := seal.SealTo(r.vaultRecipient(), []byte("4711"))
	if err != nil {
		t.Fatal(err)
	}
	v, err := r.OpenVault(ctx, KeyFile(""), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	id := v.id
	v.expires = time.Now().Add(-time.Second) // and its timer has half a minute left
	if _, err := v.Open(sealed); !errors.Is(err, ErrVaultClosed) {
		t.Error(err)
	}
	if _, err := seal.OpenWith(id, sealed); !errors.Is(err, seal.ErrZeroed) {
		t.Errorf("its key is not zeroed: %v", err)
	}
}

func TestCloseZeroes(t *testing.T) {
	dir, _, _ := byFile(t)
	r, err := unlock(t, dir, KeyFile(""))
	if err != nil {
		t.Fatal(err)
	}
	v, err := r.OpenVault(ctx, KeyFile(""), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	journal, master, id, vault, device := r.JournalIdentity(), r.StoreKey(), r.IDKey(), v.id, r.device
	r.Close()
	r.Close()
	for name, k := range map[string]*seal.Key{"journal": journal.Seed(), "master": master, "id": id, "vault": vault.Seed(), "ring": r.ringKey} {
		if _, err := k.Open(nil, nil, nil); !errors.Is(err, seal.ErrZeroed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if !bytes.Equal(device, make([]byte, ed25519.PrivateKeySize)) {
		t.Error("the device key is left")
	}
	if _, err := r.DeviceSign("x", nil); !errors.Is(err, memory.ErrLocked) {
		t.Errorf("sign: %v", err)
	}
	if err := r.SetKey("x", seal.NewKey()); !errors.Is(err, memory.ErrLocked) {
		t.Errorf("set key: %v", err)
	}
	if err := r.KeepEpochs(memory.SpaceID{1}, nil); !errors.Is(err, memory.ErrLocked) {
		t.Errorf("keep epochs: %v", err)
	}
	if _, err := r.SignRequest([]byte(`"@method": GET`)); !errors.Is(err, memory.ErrLocked) {
		t.Errorf("sign a request: %v", err)
	}
	if _, err := r.OpenVault(ctx, KeyFile(""), time.Minute); !errors.Is(err, memory.ErrLocked) {
		t.Errorf("vault: %v", err)
	}
}

func TestFileModesAndNoPlaintext(t *testing.T) {
	dir, r, phrase := byFile(t)
	if err := r.ChangePassphrase(ctx, KeyFile(""), "correct horse"); err != nil {
		t.Fatal(err)
	}
	names, _ := filepath.Glob(filepath.Join(dir, "*"))
	spares, _ := filepath.Glob(filepath.Join(dir, spareDir, "*"))
	if names = append(names, spares...); len(names) != 7+1+7 {
		t.Errorf("files %v", names)
	}
	for _, n := range append(names, dir) {
		info, err := os.Stat(n)
		if err != nil {
			t.Fatal(err)
		}
		want := fs.FileMode(0o600)
		if info.IsDir() {
			want = 0o700
		}
		if runtime.GOOS != "windows" && info.Mode().Perm() != want {
			t.Errorf("%s has mode %v", n, info.Mode())
		}
	}
	master := r.StoreKey().Bytes()
	for _, n := range names {
		b, _ := os.ReadFile(n)
		for _, secret := range [][]byte{master, []byte(phrase), []byte(strings.Fields(phrase)[0] + " " + strings.Fields(phrase)[1]), []byte("correct horse"), r.device.Seed()} {
			if bytes.Contains(b, secret) {
				t.Errorf("%s shows a secret", n)
			}
		}
	}
}
