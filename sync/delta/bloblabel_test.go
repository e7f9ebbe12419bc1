package delta_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"testing"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
)

// blobVector is a blob as two versions have sealed it.
type blobVector struct {
	EpochKey string       `json:"epoch_key"`
	Plain    string       `json:"plain"`
	Digest   string       `json:"digest"`
	Blobs    []sealedBlob `json:"blobs"`
}

type sealedBlob struct {
	Label  string `json:"label"`
	Key    string `json:"key"`
	Sealed string `json:"sealed"`
	ID     string `json:"id"`
}

// The vector is what this version seals. Earlier versions used keys with another label, which a
// reader accepts, too.
func TestBlobVector(t *testing.T) {
	const path = "testdata/blob.json"
	epoch := sha256.Sum256([]byte("locket test epoch"))
	key, err := seal.KeyFromBytes(epoch[:])
	if err != nil {
		t.Fatal(err)
	}
	plain := []byte("a photo of a plum")
	digest := envelope.Hash(sha256.Sum256(plain))
	want := blobVector{hex.EncodeToString(epoch[:]), hex.EncodeToString(plain), digest.String(), nil}
	for _, label := range []string{delta.BlobLabel(digest), "padded blob of 0102030405060708 " + digest.String()} {
		k := key.Derive(label)
		sealed, err := io.ReadAll(seal.SealStream(k, seal.Pad(bytes.NewReader(plain), int64(len(plain)))))
		if err != nil {
			t.Fatal(err)
		}
		id := sha256.Sum256(sealed)
		want.Blobs = append(want.Blobs, sealedBlob{label, hex.EncodeToString(k.Bytes()), hex.EncodeToString(sealed), hex.EncodeToString(id[:])})
	}
	b, err := json.MarshalIndent(want, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	b = append(b, '\n')
	if *update {
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(file, b) {
		t.Errorf("%s differs from\n%s", path, b)
	}
}
