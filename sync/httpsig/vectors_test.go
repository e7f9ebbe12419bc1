package httpsig

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/testing/golden"
)

var update = flag.Bool("update", false, "write testdata/vectors.json anew")

// vectors is testdata/vectors.json, described in testdata/README.md.
type vectors struct {
	Seed    string          `json:"seed"`
	Public  string          `json:"public"`
	Now     int64           `json:"now"`
	Signed  []vectorRequest `json:"signed"`
	Refused []vectorRequest `json:"refused"`
}

type vectorRequest struct {
	Name      string            `json:"name"`
	Method    string            `json:"method"`
	Authority string            `json:"authority"`
	Path      string            `json:"path"`
	Query     string            `json:"query,omitempty"`
	Fields    map[string]string `json:"fields,omitempty"`
	Body      string            `json:"body,omitempty"`
	KeyID     string            `json:"keyid,omitempty"`
	Nonce     string            `json:"nonce,omitempty"`
	Input     string            `json:"input,omitempty"`
	Signature string            `json:"signature,omitempty"`
	Reason    string            `json:"reason,omitempty"`
}

func (r *vectorRequest) message() Message {
	return Message{Method: r.Method, Authority: r.Authority, Path: r.Path, Query: r.Query, Field: func(name string) []string {
		v, ok := r.Fields[name]
		switch {
		case name == "signature-input" && r.Input != "":
			v, ok = r.Input, true
		case name == "signature" && r.Signature != "":
			v, ok = r.Signature, true
		}
		if !ok {
			return nil
		}
		return []string{v}
	}}
}

// needed returns the components that a signature of the request has to cover.
func (r *vectorRequest) needed() []string {
	need := []string{"@method", "@authority", "@path", "@query"}
	for _, name := range []string{"content-digest", "content-range", "range", "locket-invite"} {
		if _, ok := r.Fields[name]; ok || name == "content-digest" && r.Body != "" {
			need = append(need, name)
		}
	}
	return need
}

func (r *vectorRequest) verify(v *vectors, key ed25519.PublicKey) error {
	m := r.message()
	s, err := Parse(m.Field("signature-input"), m.Field("signature"))
	if err != nil {
		return err
	}
	w := Window{Now: func() time.Time { return time.Unix(v.Now, 0) }}
	if err := w.Fresh(s.Params); err != nil {
		return err
	}
	if err := s.Covers(r.needed()...); err != nil {
		return err
	}
	if err := s.Verify(m, key); err != nil {
		return err
	}
	if r.Body != "" {
		return CheckDigest(m.Field("content-digest"), sha256.Sum256([]byte(r.Body)))
	}
	return nil
}

func makeVectors(t *testing.T) (v vectors, key ed25519.PrivateKey) {
	t.Helper()
	key = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, 32))
	v.Seed, v.Public, v.Now = hex.EncodeToString(key.Seed()), hex.EncodeToString(key.Public().(ed25519.PublicKey)), 1_790_000_000
	const space, member = "04106105106105106105106104", "44f66f82422f008e"
	sign := func(r vectorRequest, at int64, covered []string, by ed25519.PrivateKey) vectorRequest {
		t.Helper()
		if r.Body != "" && r.Fields["content-digest"] == "" {
			r.Fields = map[string]string{"content-digest": Digest([]byte(r.Body))}
		}
		if covered == nil {
			covered = r.needed()
		}
		var err error
		r.Input, r.Signature, err = Sign(r.message(), KeySigner(by), Params{Components: covered, Created: time.Unix(at, 0), KeyID: r.KeyID, Nonce: r.Nonce, Alg: Algorithm})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	get := vectorRequest{Name: "a member reads", Method: "GET", Authority: "relay.example", Path: "/v1/spaces/" + space + "/deltas", Query: "after=12&wait=30", KeyID: space + "/" + member, Nonce: "bm9uY2Ugb25l"}
	post := vectorRequest{Name: "a member sends", Method: "POST", Authority: "relay.example:8443", Path: "/v1/spaces/" + space + "/deltas", Body: "a body", KeyID: space + "/" + member, Nonce: "bm9uY2UgdHdv"}
	put := vectorRequest{Name: "a chunk of a blob", Method: "PUT", Authority: "relay.example", Path: "/v1/spaces/" + space + "/blobs/" + strings.Repeat("0a", 32), Body: "chunk", KeyID: space + "/" + member, Nonce: "bm9uY2UgMw",
		Fields: map[string]string{"content-digest": Digest([]byte("chunk")), "content-range": "bytes 0-4/5"}}
	root := vectorRequest{Name: "the root, with an invitation, to a name in capitals", Method: "GET", Authority: "Relay.Example", Path: "/v1/account", KeyID: "root/" + v.Public, Nonce: "bm9uY2UgNA", Fields: map[string]string{"locket-invite": "welcome"}}
	ranged := vectorRequest{Name: "a part of a blob", Method: "GET", Authority: "[::1]:8443", Path: put.Path, KeyID: get.KeyID, Nonce: "bm9uY2UgNQ", Fields: map[string]string{"range": "bytes=10-"}}
	for _, r := range []vectorRequest{get, post, put, root, ranged} {
		v.Signed = append(v.Signed, sign(r, v.Now, nil, key))
	}
	bad := func(name, reason string, r vectorRequest, change func(*vectorRequest)) {
		change(&r)
		r.Name, r.Reason = name, reason
		v.Refused = append(v.Refused, r)
	}
	signedGet, signedPost := v.Signed[0], v.Signed[1]
	bad("no signature", "unsigned", signedGet, func(r *vectorRequest) { r.Input, r.Signature = "", "" })
	bad("another method", "forged", signedGet, func(r *vectorRequest) { r.Method = "HEAD" })
	bad("another relay", "forged", signedGet, func(r *vectorRequest) { r.Authority = "relay2.example" })
	bad("another path", "forged", signedGet, func(r *vectorRequest) { r.Path = strings.Replace(r.Path, "deltas", "log", 1) })
	bad("another query", "forged", signedGet, func(r *vectorRequest) { r.Query = "after=13&wait=30" })
	bad("no query", "forged", signedGet, func(r *vectorRequest) { r.Query = "" })
	bad("another keyid", "forged", signedGet, func(r *vectorRequest) { r.Input = strings.Replace(r.Input, member, "55f66f82422f008e", 1) })
	bad("another nonce", "forged", signedGet, func(r *vectorRequest) { r.Input = strings.Replace(r.Input, r.Nonce, "YW5vdGhlcg", 1) })
	bad("another body", "body", signedPost, func(r *vectorRequest) { r.Body = "B body" })
	bad("another digest", "forged", signedPost, func(r *vectorRequest) { r.Fields = map[string]string{"content-digest": Digest([]byte("B"))} })
	bad("another label", "malformed", signedGet, func(r *vectorRequest) { r.Input = strings.Replace(r.Input, "locket=", "other=", 1) })
	bad("two signatures", "malformed", signedGet, func(r *vectorRequest) {
		r.Input, r.Signature = r.Input+", b"+strings.TrimPrefix(r.Input, "locket"), r.Signature+", b"+strings.TrimPrefix(r.Signature, "locket")
	})
	bad("another algorithm", "malformed", signedGet, func(r *vectorRequest) { r.Input = strings.Replace(r.Input, `"ed25519"`, `"hmac-sha256"`, 1) })
	bad("a short signature", "malformed", signedGet, func(r *vectorRequest) { r.Signature = "locket=:AAAA:" })
	bad("a field that came later", "malformed", signedGet, func(r *vectorRequest) { r.Fields = map[string]string{"range": "bytes=0-"} })
	bad("by another key", "forged", sign(get, v.Now, nil, ed25519.NewKeyFromSeed(bytes.Repeat([]byte{8}, 32))), func(*vectorRequest) {})
	bad("too old", "stale", sign(get, v.Now-301, nil, key), func(*vectorRequest) {})
	bad("ahead of its time", "stale", sign(get, v.Now+301, nil, key), func(*vectorRequest) {})
	bad("without the path", "malformed", sign(get, v.Now, []string{"@method", "@authority", "@query"}, key), func(*vectorRequest) {})
	bad("without the digest of its body", "malformed", sign(post, v.Now, []string{"@method", "@authority", "@path", "@query"}, key), func(*vectorRequest) {})
	nonceless := get
	nonceless.Nonce = ""
	bad("without a nonce", "malformed", sign(nonceless, v.Now, nil, key), func(*vectorRequest) {})
	long := get
	long.Nonce = strings.Repeat("n", 65)
	bad("a nonce of 65 characters", "malformed", sign(long, v.Now, nil, key), func(*vectorRequest) {})
	return v, key
}

// Requests are signed as the vectors say, and each changed request is refused
// for the given reason.
func TestVectors(t *testing.T) {
	made, key := makeVectors(t)
	var v vectors
	golden.JSON(t, filepath.Join("testdata", "vectors.json"), made, &v, *update)
	public := key.Public().(ed25519.PublicKey)
	for _, r := range v.Signed {
		if err := r.verify(&v, public); err != nil {
			t.Errorf("%s: %v", r.Name, err)
		}
	}
	reasons := map[string]error{"unsigned": ErrMissing, "malformed": ErrMalformed, "stale": ErrStale, "forged": ErrForged, "body": ErrDigest}
	for _, r := range v.Refused {
		if err := r.verify(&v, public); !errors.Is(err, reasons[r.Reason]) {
			t.Errorf("%s: %v, want %s", r.Name, err, r.Reason)
		}
	}
}
