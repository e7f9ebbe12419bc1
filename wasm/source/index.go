package source

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/wasm/bundle"
	"github.com/locket-dev/locket/wasm/trust"
)

// Reasons for refusing an index.
var (
	ErrIndex    = errors.New("plugin index refused")
	ErrRollback = errors.New("plugin index is older than one that was seen")
	ErrExpired  = errors.New("plugin index has expired")
	ErrIndexKey = errors.New("plugin index is signed by another key")
	ErrNoPlugin = errors.New("it is in no index")
)

// Index is a list of plugins. As a file it has one line with the word locket-plugin-index-v1, the
// public key and the signature in hexadecimal, and below it the list in JSON. The signature is
// Ed25519 over that word, a zero byte, and everything below the line.
type Index struct {
	Name    string    `json:"name"`
	Serial  uint64    `json:"serial"`  // is raised with every change
	Expires time.Time `json:"expires"` // the index is invalid after this time
	Plugins []Listed  `json:"plugins"`
}

// Listed is one version of one plugin.
type Listed struct {
	ID        string `json:"id"`
	Version   string `json:"version"`
	Title     string `json:"title"`
	URL       string `json:"url"`    // https:// or oci://
	SHA256    string `json:"sha256"` // hash of the module
	Publisher string `json:"publisher"`
}

const (
	indexWord = "locket-plugin-index-v1"
	// MaxIndex is the greatest size of an index in bytes: some ten thousand plugins.
	MaxIndex = 4 << 20
)

// SignIndex checks an index and writes it with its signature.
func SignIndex(x Index, key ed25519.PrivateKey) ([]byte, error) {
	if err := x.check(); err != nil {
		return nil, err
	}
	body, err := json.MarshalIndent(x, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("signing index: %w", err)
	}
	body = append(body, '\n')
	line := fmt.Sprintf("%s %x %x\n", indexWord, key.Public(), ed25519.Sign(key, signedIndex(body)))
	return append([]byte(line), body...), nil
}

func signedIndex(body []byte) []byte { return append([]byte(indexWord+"\x00"), body...) }

// readIndex reads an index, and returns the key that signed it. Known.Accept decides whether that
// is the right one.
func readIndex(b []byte) (x Index, key string, err error) {
	line, body, ok := bytes.Cut(b, []byte("\n"))
	parts := strings.Split(string(line), " ")
	if !ok || len(b) > MaxIndex || len(parts) != 3 || parts[0] != indexWord {
		return x, "", fmt.Errorf("%w: it is not an index", ErrIndex)
	}
	pub, err := hex.DecodeString(parts[1])
	sig, err2 := hex.DecodeString(parts[2])
	if err != nil || err2 != nil || len(pub) != ed25519.PublicKeySize || !ed25519.Verify(pub, signedIndex(body), sig) {
		return x, "", fmt.Errorf("%w: its signature is not of its key over its contents", ErrIndex)
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&x); err != nil {
		return x, "", fmt.Errorf("%w: %v", ErrIndex, err)
	}
	return x, hex.EncodeToString(pub), x.check()
}

func (x *Index) check() error {
	if x.Serial == 0 || x.Expires.IsZero() {
		return fmt.Errorf("%w: serial or expires is missing", ErrIndex)
	}
	seen := map[string]bool{}
	for i, p := range x.Plugins {
		switch {
		case p.ID == "" || p.Version == "" || len(p.SHA256) != 64 || len(p.Publisher) != 64:
			return fmt.Errorf("%w: plugins[%d]: id, version, sha256 or publisher is missing", ErrIndex, i)
		case !Remote(p.URL):
			return fmt.Errorf("%w: plugins[%d].url %q: want https:// or oci://", ErrIndex, i, p.URL)
		case seen[p.ID+" "+p.Version]:
			return fmt.Errorf("%w: plugins[%d]: %s %s is there twice", ErrIndex, i, p.ID, p.Version)
		}
		seen[p.ID+" "+p.Version] = true
	}
	return nil
}

// Known is what is remembered about an index.
type Known struct {
	URL    string `json:"url"`
	Key    string `json:"key"`    // the key to which it is pinned, in hexadecimal
	Serial uint64 `json:"serial"` // the highest serial that was seen
}

// Accept checks an index against what is known about it, and returns what is known from now on.
func (k Known) Accept(x *Index, key string, now time.Time) (Known, error) {
	switch {
	case k.Key != key:
		return k, fmt.Errorf("%w: %s, not %s", ErrIndexKey, trust.Fingerprint(key), trust.Fingerprint(k.Key))
	case x.Serial < k.Serial:
		return k, fmt.Errorf("%w: serial %d, and %d was seen", ErrRollback, x.Serial, k.Serial)
	case !now.Before(x.Expires):
		return k, fmt.Errorf("%w: on %s", ErrExpired, x.Expires.Format(time.DateOnly))
	}
	k.Serial = x.Serial
	return k, nil
}

// FetchIndex fetches an index from its URL.
func FetchIndex(ctx context.Context, url string, o Options) (Index, string, error) {
	ctx, cancel := o.context(ctx)
	defer cancel()
	b, err := o.get(ctx, url, MaxIndex)
	if err != nil {
		return Index{}, "", err
	}
	x, key, err := readIndex(b)
	if err != nil {
		err = fmt.Errorf("%s: %w", url, err)
	}
	return x, key, err
}

// Search returns the plugins whose id or title has all the words, in their newest version, by id.
func (x *Index) Search(words ...string) []Listed {
	newest := map[string]Listed{}
	for _, p := range x.Plugins {
		text := strings.ToLower(p.ID + " " + p.Title)
		if slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, strings.ToLower(w)) }) {
			continue
		}
		if have, ok := newest[p.ID]; !ok || trust.Compare(p.Version, have.Version) > 0 {
			newest[p.ID] = p
		}
	}
	list := slices.AppendSeq([]Listed{}, maps.Values(newest))
	sorting.Sort(list, func(a, b Listed) int { return strings.Compare(a.ID, b.ID) })
	return list
}

// Find returns one version of a plugin, or its newest if version is empty.
func (x *Index) Find(id, version string) (Listed, error) {
	var best Listed
	for _, p := range x.Plugins {
		if p.ID == id && (p.Version == version || version == "" && (best.ID == "" || trust.Compare(p.Version, best.Version) > 0)) {
			best = p
		}
	}
	if best.ID == "" {
		return best, fmt.Errorf("%s: %w", strings.TrimSpace(id+" "+version), ErrNoPlugin)
	}
	return best, nil
}

// FetchListed fetches a listed plugin, and checks it against the listing.
func FetchListed(ctx context.Context, p Listed, o Options) (bundle.Bundle, error) {
	b, err := Fetch(ctx, p.URL, o)
	if err != nil {
		return b, err
	}
	m, err := b.Open()
	if err != nil {
		return b, err
	}
	if m.ID != p.ID || m.Version != p.Version || m.SHA256 != p.SHA256 || m.Publisher != p.Publisher {
		return b, fmt.Errorf("%s: %w: it is %s %s, but the index lists %s %s or another module or publisher", p.URL, ErrHash, m.ID, m.Version, p.ID, p.Version)
	}
	return b, nil
}
