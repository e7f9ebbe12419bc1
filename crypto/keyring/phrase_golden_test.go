package keyring

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"strings"
	"testing"

	"github.com/locket-dev/locket/internal/testing/golden"
)

var updatePhrase = flag.Bool("update-phrase", false, "write testdata/phrase/vectors.json anew")

// phraseVector is an entry of testdata/phrase/vectors.json.
type phraseVector struct {
	Entropy  string   `json:"entropy"`
	English  string   `json:"en"`
	Chinese  string   `json:"zh"`
	Also     []string `json:"also"`
	Refused  []string `json:"refused"`
	Root     string   `json:"root"`
	Space    string   `json:"space"`
	Recovery string   `json:"recovery"`
}

func makePhrases(t *testing.T) (out []phraseVector) {
	for _, entropy := range [][32]byte{{}, [32]byte(bytes.Repeat([]byte{0xff}, 32)), sha256.Sum256([]byte("locket test phrase"))} {
		en, err := phraseOf(entropy, English)
		if err != nil {
			t.Fatal(err)
		}
		zh, err := phraseOf(entropy, Chinese)
		if err != nil {
			t.Fatal(err)
		}
		r := recoveryOf(entropy[:])
		space := r.Space()
		words := strings.Fields(en)
		words[0], words[23] = words[23], words[0]
		out = append(out, phraseVector{hex.EncodeToString(entropy[:]), en, zh,
			[]string{strings.ToUpper(en), "  " + strings.ReplaceAll(en, " ", "\n\t") + " ", strings.ReplaceAll(zh, " ", "")},
			[]string{strings.Join(words, " "), en + " abandon", strings.Join(words[1:], " "), strings.Replace(en, words[23], "locket", 1), "的" + en, ""},
			hex.EncodeToString(r.Root()), hex.EncodeToString(space[:]), r.Identity().Recipient().String()})
	}
	return out
}

// A phrase that was written down years ago still stands for the same keys.
func TestPhraseGolden(t *testing.T) {
	const path = "testdata/phrase/vectors.json"
	var all []phraseVector
	golden.JSON(t, path, makePhrases(t), &all, *updatePhrase)
	for _, v := range all {
		for _, phrase := range append([]string{v.English, v.Chinese}, v.Also...) {
			if r, err := Recover(phrase); err != nil || hex.EncodeToString(r.Root()) != v.Root {
				t.Errorf("%q: %v", phrase, err)
			}
		}
		for _, phrase := range v.Refused {
			if _, err := Recover(phrase); !errors.Is(err, ErrPhrase) {
				t.Errorf("%q: %v", phrase, err)
			}
		}
	}
}
