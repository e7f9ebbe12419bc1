package keyring

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tyler-smith/go-bip39"
	"github.com/tyler-smith/go-bip39/wordlists"

	"github.com/locket-dev/locket/crypto/seal"
)

// From BIP 39's own vectors (trezor/python-mnemonic, vectors.json).
func TestPhraseVectors(t *testing.T) {
	for entropy, want := range map[string]string{
		strings.Repeat("00", 32): strings.Repeat("abandon ", 23) + "art",
		strings.Repeat("7f", 32): "legal winner thank year wave sausage worth useful legal winner thank year wave sausage worth useful legal winner thank year wave sausage worth title",
		strings.Repeat("80", 32): "letter advice cage absurd amount doctor acoustic avoid letter advice cage absurd amount doctor acoustic avoid letter advice cage absurd amount doctor acoustic bless",
		strings.Repeat("ff", 32): strings.Repeat("zoo ", 23) + "vote",
	} {
		b, _ := hex.DecodeString(entropy)
		got, err := phraseOf([32]byte(b), English)
		if err != nil || got != want {
			t.Errorf("%s: %q, %v", entropy, got, err)
		}
		e, err := entropyOf(want)
		if err != nil || !bytes.Equal(e[:], b) {
			t.Errorf("%q: %x, %v", want, e, err)
		}
	}
}

func TestWordLists(t *testing.T) {
	if !slices.Equal(englishWords(), wordlists.English) || !slices.Equal(chineseWords(), wordlists.ChineseSimplified) {
		t.Error("the lists are not the module's")
	}
}

// The result is compared with the module's own encoder and decoder, in both languages.
func TestPhraseAgainstReferenceEncoder(t *testing.T) {
	defer bip39.SetWordList(wordlists.English)
	for l, list := range map[Language][]string{English: wordlists.English, Chinese: wordlists.ChineseSimplified} {
		bip39.SetWordList(list)
		for range 200 {
			var e [32]byte
			rand.Read(e[:])
			want, err := bip39.NewMnemonic(e[:])
			if err != nil {
				t.Fatal(err)
			}
			got, err := phraseOf(e, l)
			if err != nil || got != want {
				t.Fatalf("%s: %q, want %q, %v", l, got, want, err)
			}
			back, err := entropyOf(got)
			if err != nil || back != e {
				t.Fatalf("%s: %q reads as %x, %v", l, got, back, err)
			}
		}
	}
}

func TestPhraseRoundTrip(t *testing.T) {
	for _, l := range []Language{"", English, Chinese} {
		dir := filepath.Join(t.TempDir(), "keys")
		r, phrase, err := Create(dir, CreateOptions{FoundSpace: founded, KeyFile: DefaultKeyFile, Language: l})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		forms := []string{phrase, "  " + strings.ReplaceAll(strings.ToUpper(phrase), " ", "\n\t") + " "}
		if l == Chinese {
			forms = append(forms, strings.ReplaceAll(phrase, " ", ""), strings.ReplaceAll(phrase, " ", "\u3000"))
		}
		for _, p := range forms {
			rec, err := Recover(p)
			if err != nil {
				t.Fatalf("%s: %v", l, err)
			}
			if !rec.Root().Equal(r.Public().Root) || !rec.Identity().Recipient().Equal(r.Public().Recovery) {
				t.Errorf("%s: other keys than the ring has", l)
			}
			if !Verify(r.Public().Root, "member", []byte("m"), rec.Sign("member", []byte("m"))) {
				t.Errorf("%s: the root's signature", l)
			}
			sealed, _ := seal.SealTo(r.Public().Recovery, []byte("k"))
			if b, err := seal.OpenWith(rec.Identity(), sealed); err != nil || string(b) != "k" {
				t.Errorf("%s: recovery: %v", l, err)
			}
			rec.Zero()
			if err := r.CheckPhrase(p); err != nil {
				t.Errorf("%s: %v", l, err)
			}
		}
		_, other, _ := byFile(t)
		if err := other.CheckPhrase(phrase); !errors.Is(err, ErrPhrase) {
			t.Errorf("another ring's phrase: %v", err)
		}
	}
	e := [32]byte{1, 2, 3}
	en, _ := phraseOf(e, English)
	zh, _ := phraseOf(e, Chinese)
	a, err1 := Recover(en)
	b, err2 := Recover(zh)
	if err1 != nil || err2 != nil || !a.Root().Equal(b.Root()) {
		t.Error("the languages give different keys")
	}
}

func TestPhraseRefuses(t *testing.T) {
	good, _ := phraseOf([32]byte{9}, English)
	w := strings.Fields(good)
	swapped := append([]string{w[1], w[0]}, w[2:]...)
	for name, p := range map[string]string{
		"empty":      "",
		"23 words":   strings.Join(w[:23], " "),
		"25 words":   good + " art",
		"not a word": "locket " + strings.Join(w[1:], " "),
		"swapped":    strings.Join(swapped, " "),
		"checksum":   strings.Repeat("abandon ", 23) + "about",
		"mixed":      "的 " + strings.Join(w[1:], " "),
		"not UTF-8":  "\xff" + good,
	} {
		_, err := Recover(p)
		if !errors.Is(err, ErrPhrase) {
			t.Errorf("%s: %v", name, err)
		} else if strings.Contains(err.Error(), "locket") || strings.Contains(err.Error(), w[2]) {
			t.Errorf("%s: the error quotes words: %v", name, err)
		}
	}
}

// Derived keys must never change: these are the keys of the phrase of zeros.
func TestRecoveryGolden(t *testing.T) {
	rec, err := Recover(strings.Repeat("abandon ", 23) + "art")
	if err != nil {
		t.Fatal(err)
	}
	if got := hex.EncodeToString(rec.Root()); got != goldenRoot {
		t.Errorf("root %s", got)
	}
	if got := rec.Identity().Recipient().String()[:32]; got != goldenRecovery {
		t.Errorf("recovery %s", got)
	}
}
