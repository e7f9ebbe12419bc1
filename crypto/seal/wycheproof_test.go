package seal

import (
	"bytes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/crypto/chacha20poly1305"
)

// The module of Project Wycheproof's vectors and its hash in the checksum database. None of its
// packages is imported, so its dependencies stay out of go.mod.
const (
	wycheproof    = "github.com/c2sp/wycheproof@v0.0.0-20260902155932-3fa63dd0344a"
	wycheproofSum = "h1:pNbL2nztRsWfW/ispAwsvcDFxs9Id38uIsR2/Up5G2c="
)

type hexBytes []byte

func (h *hexBytes) UnmarshalJSON(b []byte) error {
	var s string
	err := json.Unmarshal(b, &s)
	if err == nil {
		*h, err = hex.DecodeString(s)
	}
	return err
}

type wycheproofCase struct {
	ID                                     int `json:"tcId"`
	Comment, Result                        string
	Flags                                  []string
	Key, Msg, CT, IV, AAD, Tag, Sig        hexBytes
	IKM, Salt, Info, OKM                   hexBytes
	Size                                   int
	Public, Private, Shared, publicOfGroup hexBytes
}

// TestWycheproof runs Project Wycheproof's vectors through the primitives that Locket seals, signs
// and derives with: its own AES key wrap, and those of Go's libraries. A vector that may be
// accepted or not ("acceptable") must give the right bytes or an error.
func TestWycheproof(t *testing.T) {
	cmd := exec.Command("go", "mod", "download", "-json", wycheproof)
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "GOFLAGS=-mod=mod")
	out, err := cmd.Output()
	var module struct{ Dir, Sum, Error string }
	if json.Unmarshal(out, &module); err != nil || module.Sum != wycheproofSum {
		t.Fatalf("%s: %v, %+v", wycheproof, err, module)
	}
	aead := func(make func([]byte) (cipher.AEAD, error)) func(c wycheproofCase) ([]byte, []byte, bool) {
		return func(c wycheproofCase) ([]byte, []byte, bool) {
			a, err := make(c.Key)
			if err != nil || len(c.IV) != a.NonceSize() {
				return nil, c.Msg, false
			}
			plain, err := a.Open(nil, c.IV, append(c.CT[:len(c.CT):len(c.CT)], c.Tag...), c.AAD)
			return plain, c.Msg, err == nil
		}
	}
	// Each returns the result, the expected result, and whether it was accepted.
	for file, try := range map[string]func(c wycheproofCase) (got, want []byte, ok bool){
		"aes_wrap": func(c wycheproofCase) ([]byte, []byte, bool) {
			key, err := unwrapKey(c.Key, c.CT)
			if again, wrapErr := wrapKey(c.Key, c.Msg); err == nil && (wrapErr != nil || !bytes.Equal(again, c.CT)) {
				return again, c.CT, true
			}
			return key, c.Msg, err == nil
		},
		"chacha20_poly1305":  aead(chacha20poly1305.New),
		"xchacha20_poly1305": aead(chacha20poly1305.NewX),
		"ed25519": func(c wycheproofCase) ([]byte, []byte, bool) {
			return nil, nil, ed25519.Verify(ed25519.PublicKey(c.publicOfGroup), c.Msg, c.Sig)
		},
		"hkdf_sha256": func(c wycheproofCase) ([]byte, []byte, bool) {
			k, err := hkdf.Key(sha256.New, c.IKM, c.Salt, string(c.Info), c.Size)
			return k, c.OKM, err == nil
		},
		"hmac_sha256": func(c wycheproofCase) ([]byte, []byte, bool) {
			m := hmac.New(sha256.New, c.Key)
			m.Write(c.Msg)
			return nil, nil, hmac.Equal(m.Sum(nil)[:len(c.Tag)], c.Tag)
		},
		"x25519": func(c wycheproofCase) ([]byte, []byte, bool) {
			public, err := ecdh.X25519().NewPublicKey(c.Public)
			if err != nil {
				return nil, nil, false
			}
			private, err := ecdh.X25519().NewPrivateKey(c.Private)
			if err != nil {
				return nil, nil, false
			}
			shared, err := private.ECDH(public)
			return shared, c.Shared, err == nil
		},
	} {
		t.Run(file, func(t *testing.T) {
			b, err := os.ReadFile(filepath.Join(module.Dir, "testvectors_v1", file+"_test.json"))
			var vectors struct {
				NumberOfTests int
				TestGroups    []struct {
					PublicKey json.RawMessage
					Tests     []wycheproofCase
				}
			}
			if err == nil {
				err = json.Unmarshal(b, &vectors)
			}
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for _, g := range vectors.TestGroups {
				var key struct{ PK hexBytes }
				if len(g.PublicKey) > 0 {
					if err := json.Unmarshal(g.PublicKey, &key); err != nil {
						t.Fatal(err)
					}
				}
				for _, c := range g.Tests {
					n++
					c.publicOfGroup = key.PK
					got, want, ok := try(c)
					switch {
					case ok && c.Result == "invalid":
						t.Errorf("%d (%s %v): was taken", c.ID, c.Comment, c.Flags)
					case !ok && c.Result == "valid":
						t.Errorf("%d (%s %v): was refused", c.ID, c.Comment, c.Flags)
					case ok && !bytes.Equal(got, want):
						t.Errorf("%d (%s %v): %x, want %x", c.ID, c.Comment, c.Flags, got, want)
					}
				}
			}
			if n == 0 || n != vectors.NumberOfTests {
				t.Errorf("%d of %d were run", n, vectors.NumberOfTests)
			}
		})
	}
}
