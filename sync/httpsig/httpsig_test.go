package httpsig

import (
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// The key and the request of RFC 9421, appendices B.1.4 and B.2.
const testKey = `-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF
-----END PRIVATE KEY-----`

var testFields = map[string][]string{
	"host":           {"example.com"},
	"date":           {"Tue, 20 Apr 2021 02:07:55 GMT"},
	"content-type":   {"application/json"},
	"content-length": {"18"},
	"content-digest": {"sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:"},
}

func testMessage() Message {
	return Message{Method: "POST", Authority: "example.com", Path: "/foo", Query: "param=Value&Pet=dog",
		Field: func(name string) []string { return testFields[name] }}
}

func rfcKey(t *testing.T) ed25519.PrivateKey {
	t.Helper()
	block, _ := pem.Decode([]byte(testKey))
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return key.(ed25519.PrivateKey)
}

// RFC 9421, appendix B.2.6. Ed25519 is deterministic: signing gives the same
// bytes, too.
func TestAppendixB26(t *testing.T) {
	const input = `sig-b26=("date" "@method" "@path" "@authority" "content-type" "content-length");created=1618884473;keyid="test-key-ed25519"`
	const signature = `sig-b26=:wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==:`
	key := rfcKey(t)
	s, err := Parse([]string{input}, []string{signature})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Verify(testMessage(), key.Public().(ed25519.PublicKey)); err != nil {
		t.Fatal(err)
	}
	gotInput, gotSignature, err := Sign(testMessage(), KeySigner(key), Params{Label: "sig-b26", Components: s.Components,
		Created: time.Unix(1618884473, 0), KeyID: "test-key-ed25519"})
	if err != nil || gotInput != input || gotSignature != signature {
		t.Fatalf("signed anew: %v\n%s\n%s", err, gotInput, gotSignature)
	}
}

// RFC 9421, appendix B.2: the digest of the request's body, and two of the examples of RFC 9530.
func TestDigest(t *testing.T) {
	for body, field := range map[string]string{
		"{\"hello\": \"world\"}\n": "sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:",
		"":                         "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:",
	} {
		if err := CheckDigest([]string{field}, sha256.Sum256([]byte(body))); err != nil || Digest([]byte(body)) != field {
			t.Errorf("%q: %v", body, err)
		}
	}
	body := []byte(`{"hello": "world"}`)
	if got := Digest(body); got != testFields["content-digest"][0] {
		t.Fatal(got)
	}
	if err := CheckDigest(testFields["content-digest"], sha256.Sum256(body)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		field string
		want  error
	}{
		{Digest([]byte("other")), ErrDigest},
		{"sha-512=:AAAA:", ErrDigest},
		{`sha-256="text"`, ErrDigest},
		{"sha-256=:!:", ErrMalformed},
		{"", ErrDigest},
	} {
		if err := CheckDigest([]string{c.field}, sha256.Sum256(body)); !errors.Is(err, c.want) {
			t.Errorf("%q: %v", c.field, err)
		}
	}
}

var covered = []string{"@method", "@authority", "@path", "@query", "content-digest"}

func TestEveryPartCounts(t *testing.T) {
	key := rfcKey(t)
	pub := key.Public().(ed25519.PublicKey)
	input, signature, err := Sign(testMessage(), KeySigner(key), Params{Components: covered, Created: time.Unix(1618884473, 0), KeyID: "k", Nonce: "n", Alg: Algorithm})
	if err != nil {
		t.Fatal(err)
	}
	s, err := Parse([]string{input}, []string{signature})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Verify(testMessage(), pub); err != nil {
		t.Fatal(err)
	}
	if err := s.Covers(covered...); err != nil {
		t.Fatal(err)
	}
	if err := s.Covers("range"); !errors.Is(err, ErrMalformed) {
		t.Fatal(err)
	}
	changes := map[string]func(*Message){
		"method":    func(m *Message) { m.Method = "PUT" },
		"authority": func(m *Message) { m.Authority = "example.org" },
		"path":      func(m *Message) { m.Path = "/foo/" },
		"query":     func(m *Message) { m.Query = "" },
		"digest":    func(m *Message) { m.Field = func(string) []string { return []string{"sha-256=:AAAA:"} } },
	}
	for name, change := range changes {
		m := testMessage()
		change(&m)
		if err := s.Verify(m, pub); !errors.Is(err, ErrForged) {
			t.Errorf("changed %s: %v", name, err)
		}
	}
	other := ed25519.NewKeyFromSeed(make([]byte, 32)).Public().(ed25519.PublicKey)
	if err := s.Verify(testMessage(), other); !errors.Is(err, ErrForged) {
		t.Errorf("another key: %v", err)
	}
	for _, p := range [][2]string{{`keyid="k"`, `keyid="l"`}, {`nonce="n"`, `nonce="m"`}, {"1618884473", "1618884474"}, {` "@query"`, ""}} {
		changed, err := Parse([]string{strings.Replace(input, p[0], p[1], 1)}, []string{signature})
		if err != nil {
			t.Fatal(err)
		}
		if err := changed.Verify(testMessage(), pub); !errors.Is(err, ErrForged) {
			t.Errorf("%s: %v", p[1], err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	const sig = "a=:wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==:"
	for _, c := range []struct {
		name, input, signature string
		want                   error
	}{
		{"no input", "", sig, ErrMalformed},
		{"label differs", `b=("@method")`, sig, ErrMalformed},
		{"two", `a=("@method"), b=("@method")`, sig, ErrMalformed},
		{"not a list", `a="@method"`, sig, ErrMalformed},
		{"short", `a=("@method")`, "a=:AAAA:", ErrMalformed},
		{"signature is text", `a=("@method")`, `a="x"`, ErrMalformed},
		{"signature is a list", `a=("@method")`, `a=("x")`, ErrMalformed},
		{"component is a number", `a=(1)`, sig, ErrMalformed},
		{"other algorithm", `a=("@method");alg="rsa-v1_5-sha256"`, sig, ErrMalformed},
		{"created is text", `a=("@method");created="1"`, sig, ErrMalformed},
		{"unknown parameter", `a=("@method");x=1`, sig, ErrMalformed},
		{"long nonce", `a=("@method");nonce="` + strings.Repeat("n", 65) + `"`, sig, ErrMalformed},
		{"long", `a=("` + strings.Repeat("x", maxHeader) + `")`, sig, ErrMalformed},
		{"many", "a=(" + strings.Repeat(`"x" `, maxComponents) + `"y")`, sig, ErrMalformed},
	} {
		if _, err := Parse([]string{c.input}, []string{c.signature}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if _, err := Parse(nil, nil); !errors.Is(err, ErrMissing) {
		t.Error(err)
	}
	key := ed25519.NewKeyFromSeed(make([]byte, 32)).Public().(ed25519.PublicKey)
	for _, input := range []string{`a=("@target")`, `a=("absent")`, `a=("@method" "@method")`, `a=("@path";req)`, `a=("Date")`} {
		s, err := Parse([]string{input}, []string{sig})
		if err == nil {
			err = s.Verify(testMessage(), key)
		}
		if !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", input, err)
		}
	}
}

func TestWindow(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	w := &Window{Now: func() time.Time { return now }, Max: 3}
	p := func(nonce string, at time.Time) Params { return Params{KeyID: "k", Nonce: nonce, Created: at} }
	for _, c := range []struct {
		p    Params
		want error
	}{
		{p("a", now), nil},
		{p("a", now), ErrReplayed},
		{p("b", now.Add(-Skew)), nil},
		{p("c", now.Add(-Skew-time.Second)), ErrStale},
		{p("c", now.Add(Skew+time.Second)), ErrStale},
		{p("", now), ErrMalformed},
		{p("d", time.Time{}), ErrMalformed},
		{p("e", now.Add(Skew)), nil},
		{p("f", now), nil},
		{p("g", now), ErrFull},
		{p("e", now), ErrReplayed},
		{p("b", now), ErrReplayed}, // also with another time
	} {
		if err := w.Take(c.p, ""); !errors.Is(err, c.want) {
			t.Errorf("%+v: %v, want %v", c.p, err, c.want)
		}
	}
	if err := w.Take(Params{KeyID: "other", Nonce: "a", Created: now}, ""); !errors.Is(err, ErrFull) {
		t.Error(err)
	}
}

// However the clock advances, no signature is accepted twice while it is fresh.
func TestWindowKeepsFreshSignatures(t *testing.T) {
	start := time.Unix(1_800_000_000, 0)
	for off := time.Duration(0); off < 2*Skew; off += 7 * time.Second {
		now := start.Add(off)
		w := &Window{Now: func() time.Time { return now }}
		p := Params{KeyID: "k", Nonce: fmt.Sprint(off), Created: now.Add(Skew)}
		if err := w.Take(p, ""); err != nil {
			t.Fatal(err)
		}
		for step := time.Duration(0); step <= 2*Skew; step += 11 * time.Second {
			now = start.Add(off + step)
			if err := w.Take(p, ""); !errors.Is(err, ErrReplayed) {
				t.Fatalf("at %s after %s: %v", off, step, err)
			}
		}
		now = p.Created.Add(Skew + time.Second)
		if err := w.Take(p, ""); !errors.Is(err, ErrStale) {
			t.Fatal(err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`a=("@method");created=1;keyid="k";nonce="n";alg="ed25519"`, "a=:AAAA:")
	f.Add(`sig-b26=("date" "@method" "@path");created=1618884473;keyid="test-key-ed25519"`,
		`sig-b26=:wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==:`)
	key := ed25519.NewKeyFromSeed(make([]byte, 32)).Public().(ed25519.PublicKey)
	f.Fuzz(func(t *testing.T, input, signature string) {
		s, err := Parse([]string{input}, []string{signature})
		if err != nil {
			return
		}
		if s.Verify(testMessage(), key) == nil {
			t.Fatal("a forged signature is accepted")
		}
	})
}

func TestHost(t *testing.T) {
	for at, want := range map[string]string{
		"relay.example": "relay.example", "192.168.1.7:80": "192.168.1.7:80", "[fd00::1]:80": "[fd00::1]:80", "": "", "[": "[", "[%": "[%", "a%b]": "a%b]",
		"[fe80::1%eth0]:80": "[fe80::1]:80", "[fe80::1%eth0]": "[fe80::1]",
	} {
		if got := Host(at); got != want {
			t.Errorf("%q: %q, want %q", at, got, want)
		}
	}
}
