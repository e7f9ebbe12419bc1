package keyring

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	system "github.com/zalando/go-keyring"

	"github.com/locket-dev/locket/crypto/seal"
)

// A file that names another program's secret neither opens the ring with it nor deletes it.
func TestOSKeyringOfAnotherProgram(t *testing.T) {
	system.MockInit()
	if err := system.Set("mail", "maja", "hunter2"); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	kek, key := seal.NewKey(), seal.NewKey()
	if err := (&keyWrap{Service: "mail", User: "maja"}).write(dir, WrapOSKeyring, RingID{1}, key, kek); err != nil {
		t.Fatal(err)
	}
	if _, err := OSKeyring().unwrap(dir, RingID{1}); !errors.Is(err, ErrDamaged) {
		t.Errorf("opened: %v", err)
	}
	if err := removeWrap(dir, WrapOSKeyring); err != nil {
		t.Error(err)
	}
	if s, err := system.Get("mail", "maja"); err != nil || s != "hunter2" {
		t.Errorf("the other program's secret: %v", err)
	}
}

// kept is a separate keyring: the secrets of one service by user.
type kept map[string]string

func (h kept) Set(_, user, secret string) error {
	h[user] = secret
	return nil
}

func (h kept) Get(_, user string) (string, error) {
	s, ok := h[user]
	if !ok {
		return "", system.ErrNotFound
	}
	return s, nil
}

func (h kept) Delete(_, user string) error {
	delete(h, user)
	return nil
}

// If a wrap can't be written, no secret is left behind, and the old wrap still opens. If only its
// copy could not be written, the new wrap opens.
func TestOSKeyringAfterFailedWrite(t *testing.T) {
	dir, in := t.TempDir(), kept{}
	kek, w := seal.NewKey(), osWrap{in}
	if err := w.wrap(dir, RingID{1}, kek); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, WrapOSKeyring.file())
	body, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// A folder that is not empty is in the file's place.
	if err := errors.Join(os.Remove(path), os.MkdirAll(filepath.Join(path, "x"), 0o700)); err != nil {
		t.Fatal(err)
	}
	if err := w.wrap(dir, RingID{1}, kek); err == nil {
		t.Fatal("wrapped where no file can be")
	}
	if len(in) != 1 {
		t.Errorf("%d secrets, there was one", len(in))
	}
	if err := errors.Join(os.RemoveAll(path), os.WriteFile(path, body, 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := w.unwrap(dir, RingID{1}); err != nil {
		t.Error(err)
	}
	// A file is in the place of the folder with the copies.
	spare := filepath.Join(dir, spareDir)
	if err := errors.Join(os.RemoveAll(spare), os.WriteFile(spare, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := w.wrap(dir, RingID{1}, kek); err == nil {
		t.Fatal("wrapped without a copy")
	}
	if _, err := w.unwrap(dir, RingID{1}); err != nil {
		t.Errorf("without its copy: %v", err)
	}
}

// A discarded ring leaves neither a folder nor a secret.
func TestDiscard(t *testing.T) {
	system.MockInit()
	dir := filepath.Join(t.TempDir(), "keys")
	ring, _, err := Create(dir, CreateOptions{OSKeyring: true, FoundSpace: founded})
	if err != nil {
		t.Fatal(err)
	}
	if err := ring.Close(); err != nil {
		t.Fatal(err)
	}
	kw, err := readKeyWrap(dir, WrapOSKeyring)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := system.Get(kw.Service, kw.User); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := Discard(dir); err != nil {
			t.Error(err)
		}
	}
	if _, err := system.Get(kw.Service, kw.User); !errors.Is(err, system.ErrNotFound) {
		t.Errorf("the secret: %v", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder: %v", err)
	}
}
