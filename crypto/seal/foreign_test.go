package seal

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"maps"
	"strings"
	"testing"

	agetest "c2sp.org/CCTV/age"
)

// TestAgeVectors runs age's test vectors (C2SP CCTV) through OpenFile: successful ones must return
// the payload, and all others an error.
func TestAgeVectors(t *testing.T) {
	seen := map[string]int{}
	entries, err := fs.ReadDir(agetest.Vectors, ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		b, err := fs.ReadFile(agetest.Vectors, e.Name())
		if err != nil {
			t.Fatal(err)
		}
		t.Run(e.Name(), func(t *testing.T) {
			v, file := ageVector(t, b)
			expect := v["expect"]
			seen[expect]++
			if v["identity"] == "" && v["passphrase"] == "" { // an empty value, which anything may try to open
				v["passphrase"] = "password"
			}
			r, n, err := OpenFile(bytes.NewReader(file), int64(len(file)), v["identity"], v["passphrase"])
			if err != nil {
				if expect == "success" || !errors.Is(err, ErrFile) {
					t.Fatalf("want %s: %v", expect, err)
				}
				return
			}
			plain, err := io.ReadAll(io.NewSectionReader(r, 0, n))
			if (err == nil) != (expect == "success") {
				t.Fatalf("want %s: %d bytes, %v", expect, len(plain), err)
			}
			sum := sha256.Sum256(plain)
			if err == nil && hex.EncodeToString(sum[:]) != v["payload"] {
				t.Errorf("the payload is another one: %x", sum)
			}
		})
	}
	for _, kind := range []string{"success", "header failure", "payload failure", "armor failure", "HMAC failure", "no match"} {
		if seen[kind] == 0 {
			t.Errorf("no vector ends as %q: %v", kind, maps.Clone(seen))
		}
	}
	t.Logf("%d vectors: %v", len(entries), seen)
}

// ageVector splits a vector into the lines before its first empty one and its file.
func ageVector(t *testing.T, b []byte) (map[string]string, []byte) {
	t.Helper()
	v, r := map[string]string{}, bufio.NewReader(bytes.NewReader(b))
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if line == "\n" {
			break
		}
		k, is, ok := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		if !ok {
			t.Fatalf("line %q", line)
		}
		if k == "identity" && v[k] != "" {
			is = v[k] + "\n" + is
		}
		v[k] = is
	}
	var rest io.Reader = r
	if v["compressed"] == "zlib" {
		z, err := zlib.NewReader(r)
		if err != nil {
			t.Fatal(err)
		}
		rest = z
	}
	file, err := io.ReadAll(rest)
	if err != nil {
		t.Fatal(err)
	}
	return v, file
}
