package seal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"io"
	"path/filepath"
	"testing"

	vectorfile "github.com/locket-dev/locket/internal/testing/golden"
)

var updateBlobs = flag.Bool("update-blobs", false, "write testdata/blobs.json anew")

// blobVectors is testdata/blobs.json: what sync/delta/FORMAT.md says about a sealed blob. Byte i of
// a plaintext is i modulo 251.
type blobVectors struct {
	Key     string       `json:"key"`
	Sealed  []blobVector `json:"sealed"`
	Refused []blobVector `json:"refused"` // Why says what is changed
}

type blobVector struct {
	Why    string `json:"why,omitempty"`
	Plain  int64  `json:"plain"`
	Size   int    `json:"size,omitempty"`   // size of the sealed bytes
	SHA256 string `json:"sha256,omitempty"` // of the sealed bytes
	Sealed string `json:"sealed,omitempty"` // of a refused vector
}

func blobPlain(size int64) []byte {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(i % 251)
	}
	return b
}

func TestBlobVectors(t *testing.T) {
	key, err := KeyFromBytes(bytes.Repeat([]byte{0x77}, 32))
	if err != nil {
		t.Fatal(err)
	}
	sealed := func(r io.Reader) []byte {
		b, err := io.ReadAll(SealStream(key, r))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	open := func(b []byte, size int64) ([]byte, error) {
		r := OpenStream(key, bytes.NewReader(b))
		out, err := io.ReadAll(Unpad(r, size))
		return out, err
	}
	made := blobVectors{Key: hex.EncodeToString(key.Bytes())}
	for _, size := range []int64{1, 255, 256, 257, 1000, 65535, 65536, 65537, 131072, 200000} {
		b := sealed(Pad(bytes.NewReader(blobPlain(size)), size))
		sum := sha256.Sum256(b)
		made.Sealed = append(made.Sealed, blobVector{Plain: size, Size: len(b), SHA256: hex.EncodeToString(sum[:])})
		if got, err := open(b, size); err != nil || !bytes.Equal(got, blobPlain(size)) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
	whole := sealed(Pad(bytes.NewReader(blobPlain(100)), 100))
	bad := func(why string, size int64, b []byte) {
		made.Refused = append(made.Refused, blobVector{Why: why, Plain: size, Sealed: hex.EncodeToString(b)})
	}
	flipped := bytes.Clone(whole)
	flipped[50] ^= 1
	bad("a bit", 100, flipped)
	bad("cut", 100, whole[:len(whole)-1])
	bad("a byte more", 100, append(bytes.Clone(whole), 0))
	full := blobPlain(256)
	bad("something in the padding", 100, sealed(bytes.NewReader(full)))
	bad("longer than it says", 99, whole)
	bad("one that is not padded", 100, sealed(bytes.NewReader(blobPlain(100))))
	bad("an empty chunk at its end", 100, append(notLast(key, append(blobPlain(100), make([]byte, 156)...)), lastAt(key, 1)...))
	var v blobVectors
	vectorfile.JSON(t, filepath.Join("testdata", "blobs.json"), made, &v, *updateBlobs)
	for _, r := range v.Refused {
		b, err := hex.DecodeString(r.Sealed)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := open(b, r.Plain); !errors.Is(err, ErrOpen) {
			t.Errorf("%s: %v", r.Why, err)
		}
	}
}

// notLast seals a first chunk as if another followed, and lastAt an empty last chunk with a number.
func notLast(key *Key, plain []byte) []byte {
	return streamAEAD(key).Seal(nil, make([]byte, 12), plain, nil)
}

func lastAt(key *Key, n byte) []byte {
	nonce := make([]byte, 12)
	nonce[10], nonce[11] = n, 1
	return streamAEAD(key).Seal(nil, nonce, nil, nil)
}
