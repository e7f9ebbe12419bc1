package story

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/internal/demo"
)

// relaySaw searches everything that the relay has stored, and everything that came over its
// connections, for words of the day: unchanged, and decompressed wherever something looks
// compressed.
func (s *story) relaySaw(ctx context.Context, st *demo.Stage) error {
	keys, err := s.keys(ctx)
	if err != nil {
		return err
	}
	var words []string
	names := map[string]bool{}
	for _, l := range st.Day.Lines {
		if len(l.Text) > 12 {
			words = append(words, l.Text)
		}
		if l.Speaker != "" {
			names[l.Speaker] = true
		}
		if l.Name != "" && l.Kind == "location" {
			names[l.Name] = true
		}
	}
	for n := range names {
		if telling(n) {
			words = append(words, n)
		}
	}
	for _, sec := range st.Day.Expect.Secrets {
		if telling(sec.Value) {
			words = append(words, sec.Value)
		}
	}
	files, size, looked := 0, int64(0), 0
	err = filepath.WalkDir(s.relayDir(), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		size += int64(len(b))
		for _, view := range views(b) {
			looked++
			for _, k := range keys {
				if bytes.Contains(view, k) {
					st.Wrong("relay: %s holds a key", filepath.Base(path))
					return nil
				}
			}
			low := strings.ToLower(string(view))
			for _, w := range words {
				if strings.Contains(low, strings.ToLower(w)) {
					st.Wrong("relay: %s holds words of the day", filepath.Base(path))
					return nil
				}
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("look through the relay's folder: %w", err)
	}
	if size < 10_000 {
		st.Wrong("relay: it has kept %d bytes, which can't be a day", size)
	}
	return st.Say("relay", "What the relay saw", struct {
		Files  int   `json:"files"`
		Bytes  int64 `json:"bytes"`
		Views  int   `json:"views"`
		Sought int   `json:"sought"`
	}{files, size, looked, len(words)},
		fmt.Sprintf("%d kB in %d files: sizes, times, a key for each account, names that mean nothing elsewhere, and sealed bytes.", size/1000, files),
		"Everything that came over its connections was looked through as well as everything that it stored.",
		fmt.Sprintf("Of %d sentences, names and secrets of the day none is in it, nor in what decompressing it anywhere gives;", len(words)),
		"nor is any of the wearer's keys, as bytes, in base64 or in hexadecimal.")
}

// telling reports whether a word occurs by chance in some megabytes of random bytes in at most one
// of a million runs: four letters in either case would in one of ten, and six digits in the times
// and sizes of requests every so often.
func telling(w string) bool {
	if strings.Trim(w, "0123456789 -") == "" {
		return len(w) >= 10
	}
	return len(w) >= 6
}

// keys returns the secret keys of the glasses, in the forms in which they might be written.
func (s *story) keys(ctx context.Context) (out [][]byte, err error) {
	locked, err := keyring.Open(filepath.Join(s.dir, "glasses", "keys"))
	if err != nil {
		return nil, err
	}
	ring, err := locked.Unlock(ctx, keyring.KeyFile(""))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, ring.Close()) }()
	secret := []*seal.Key{ring.StoreKey(), ring.IDKey(), ring.DeviceIdentity().Seed(), ring.JournalIdentity().Seed()}
	for n := uint32(1); ; n++ {
		k, ok := ring.Epoch(ring.Space(), n)
		if !ok {
			break
		}
		secret = append(secret, k)
	}
	for _, k := range secret {
		b := k.Bytes()
		out = append(out, b, []byte(hex.EncodeToString(b)), []byte(base64.RawStdEncoding.EncodeToString(b)), []byte(base64.RawURLEncoding.EncodeToString(b)))
	}
	if len(secret) < 5 {
		return nil, fmt.Errorf("story: only %d keys to look for", len(secret))
	}
	return out, nil
}

// views returns data unchanged, and everything that can be decoded from it: base64, hexadecimal,
// and whatever begins like zstd, or decodes as deflate, at any place.
func views(b []byte) [][]byte {
	out := [][]byte{b}
	if d, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(b))); err == nil {
		out = append(out, d)
	}
	if d, err := hex.DecodeString(strings.TrimSpace(string(b))); err == nil {
		out = append(out, d)
	}
	magic := []byte{0x28, 0xb5, 0x2f, 0xfd} // zstd, RFC 8878
	dec, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(64<<20))
	if err == nil {
		defer dec.Close()
		for at := bytes.Index(b, magic); at >= 0; {
			if d, err := dec.DecodeAll(b[at:], nil); err == nil || len(d) > 0 {
				out = append(out, d)
			}
			next := bytes.Index(b[at+1:], magic)
			if next < 0 {
				break
			}
			at += 1 + next
		}
	}
	// Deflate has no magic number; zlib's two usual beginnings and gzip's beginning are one.
	for _, head := range [][]byte{{0x78, 0x9c}, {0x78, 0xda}, {0x1f, 0x8b, 0x08}} {
		for at := bytes.Index(b, head); at >= 0; {
			skip := 2
			if head[0] == 0x1f {
				skip = 10
			}
			if at+skip < len(b) {
				if d, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(b[at+skip:])), 1<<20)); err == nil && len(d) > 0 {
					out = append(out, d)
				}
			}
			next := bytes.Index(b[at+1:], head)
			if next < 0 {
				break
			}
			at += 1 + next
		}
	}
	return out
}
