package seal

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"filippo.io/age"
	"filippo.io/age/armor"
)

func sealed(t *testing.T, text string, to []string, pass string) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := SealFile(&b, to, pass)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func opened(b []byte, identities, pass string) (string, error) {
	r, n, err := OpenFile(bytes.NewReader(b), int64(len(b)), identities, pass)
	if err != nil {
		return "", err
	}
	out, err := io.ReadAll(io.NewSectionReader(r, 0, n))
	return string(out), err
}

func TestFile(t *testing.T) {
	text := strings.Repeat("what was said ", 20_000)
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	other, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	b := sealed(t, text, []string{id.Recipient().String()}, "")
	if strings.HasPrefix(string(b), "what") || !IsFile(b) {
		t.Fatal("the file is not sealed")
	}
	if got, err := opened(b, "# mine\n"+id.String()+"\n", ""); err != nil || got != text {
		t.Fatal(err)
	}
	hybrid := NewIdentity()
	if got, err := OpenWith(hybrid, sealed(t, text, []string{hybrid.Recipient().String()}, "")); err != nil || string(got) != text {
		t.Errorf("to a hybrid recipient: %v", err)
	}
	for name, f := range map[string]func() error{
		"another's identity": func() error { _, err := opened(b, other.String(), ""); return err },
		"nothing":            func() error { _, err := opened(b, "", ""); return err },
		"cut off":            func() error { _, err := opened(b[:len(b)-1], id.String(), ""); return err },
		"no age file":        func() error { _, err := opened([]byte(text), id.String(), ""); return err },
	} {
		if err := f(); err == nil {
			t.Errorf("%s opens it", name)
		}
	}
	if _, err := opened(b, "AGE-SECRET-KEY-1WRONG", ""); err == nil || errors.Is(err, ErrFile) {
		t.Errorf("a malformed identity: %v", err)
	}
	if _, err := SealFile(io.Discard, []string{"ssh-ed25519 AAAA"}, ""); err == nil {
		t.Error("a recipient of another kind is taken")
	}
	if _, err := SealFile(io.Discard, []string{id.Recipient().String() + "\n" + other.Recipient().String()}, ""); err == nil {
		t.Error("two recipients are taken for one")
	}

	p := sealed(t, text, nil, "correct horse")
	if got, err := opened(p, "", "correct horse"); err != nil || got != text {
		t.Fatal(err)
	}
	if _, err := opened(p, "", "wrong"); !errors.Is(err, ErrFile) || err.Error() != "seal: can't be opened: wrong passphrase, or it is sealed for keys" {
		t.Errorf("a wrong passphrase: %v", err)
	}
	var a bytes.Buffer
	w := armor.NewWriter(&a)
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := opened(a.Bytes(), id.String(), ""); err != nil || got != text || !IsFile(a.Bytes()) {
		t.Errorf("armoured: %v", err)
	}
}

// A file that demands more work than a passphrase is worth is refused before that work begins.
func TestFileWorkIsCapped(t *testing.T) {
	r, err := age.NewScryptRecipient("p")
	if err != nil {
		t.Fatal(err)
	}
	r.SetWorkFactor(10)
	var b bytes.Buffer
	w, err := age.Encrypt(&b, r)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	asks := bytes.Replace(b.Bytes(), []byte(" 10\n"), []byte(" 21\n"), 1)
	if _, err := opened(asks, "", "p"); !errors.Is(err, ErrFile) || !strings.Contains(err.Error(), "work factor too large") {
		t.Error(err)
	}
}
