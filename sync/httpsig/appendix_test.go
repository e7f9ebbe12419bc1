package httpsig

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"slices"
	"testing"
)

// These are the examples of RFC 9421, appendix B, except B.2.6. We only sign
// with Ed25519. Messages signed otherwise still have a base, which the appendix
// prints, and ours must be equal. Anything that we do not support must be
// refused.
func TestAppendixB(t *testing.T) {
	fields := func(name string) []string {
		if name == "content-digest" {
			return []string{"sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:"}
		}
		return testFields[name]
	}
	m := testMessage()
	m.Field = fields
	for _, c := range []struct {
		name, params, base string // empty: there is no base, and the message is refused
	}{
		{"B.2.1, for RSA-PSS", `();created=1618884473;keyid="test-key-rsa-pss";nonce="b3k2pp5k7z-50gnwp.yemd"`,
			`"@signature-params": ();created=1618884473;keyid="test-key-rsa-pss";nonce="b3k2pp5k7z-50gnwp.yemd"`},
		{"B.2.2, for RSA-PSS: one parameter of the query, where we sign all of it",
			`("@authority" "content-digest" "@query-param";name="Pet");created=1618884473;keyid="test-key-rsa-pss";tag="header-example"`, ""},
		{"B.2.3, for RSA-PSS", `("date" "@method" "@path" "@query" "@authority" "content-type" "content-digest" "content-length");created=1618884473;keyid="test-key-rsa-pss"`,
			`"date": Tue, 20 Apr 2021 02:07:55 GMT
"@method": POST
"@path": /foo
"@query": ?param=Value&Pet=dog
"@authority": example.com
"content-type": application/json
"content-digest": sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:
"content-length": 18
"@signature-params": ("date" "@method" "@path" "@query" "@authority" "content-type" "content-digest" "content-length");created=1618884473;keyid="test-key-rsa-pss"`},
		{"B.2.4, for ECDSA: an answer, which a relay does not sign", `("@status" "content-type" "content-digest" "content-length");created=1618884473;keyid="test-key-ecc-p256"`, ""},
		{"B.2.5, for HMAC", `("date" "@authority" "content-type");created=1618884473;keyid="test-shared-secret"`,
			`"date": Tue, 20 Apr 2021 02:07:55 GMT
"@authority": example.com
"content-type": application/json
"@signature-params": ("date" "@authority" "content-type");created=1618884473;keyid="test-shared-secret"`},
		{"B.3, for ECDSA: of a proxy that adds a certificate, which we don't have", `("@path" "@query" "@method" "@authority" "client-cert");created=1618884473;keyid="test-key-ecc-p256"`, ""},
	} {
		const any64 = "x=:wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==:"
		s, err := Parse([]string{"x=" + c.params}, []string{any64})
		var base []byte
		if err == nil {
			base, err = m.base(s.list)
		}
		if c.base == "" && !errors.Is(err, ErrMalformed) || c.base != "" && (err != nil || string(base) != c.base) {
			t.Errorf("%s: %v\n%s", c.name, err, base)
		}
	}
	// The signature of B.2.5 shows that this is the base that the appendix means.
	s, err := Parse([]string{`x=("date" "@authority" "content-type");created=1618884473;keyid="test-shared-secret"`}, []string{"x=:" + base64.StdEncoding.EncodeToString(make([]byte, 64)) + ":"})
	if err != nil {
		t.Fatal(err)
	}
	base, err := m.base(s.list)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := base64.StdEncoding.DecodeString("uzvJfB4u3N0Jy4T7NZ75MDVcr8zSTInedJtkgcu46YW4XByzNJjxBdtjUkdJPBtbmHhIDi6pcl8jsasjlTMtDQ==")
	if err != nil {
		t.Fatal(err)
	}
	mac := hmac.New(sha256.New, secret)
	mac.Write(base)
	if got := base64.StdEncoding.EncodeToString(mac.Sum(nil)); got != "pxcQw6G3AjtMBQjwo8XzkZf/bws5LelbaMk5rGIGtE8=" {
		t.Error(got)
	}
}

// RFC 9421, appendix B.4: what proxies may change in a message that was signed
// with Ed25519, and what they may not.
func TestAppendixB4(t *testing.T) {
	s, err := Parse([]string{`transform=("@method" "@path" "@authority" "accept");created=1618884473;keyid="test-key-ed25519"`},
		[]string{"transform=:ZT1kooQsEHpZ0I1IjCqtQppOmIqlJPeo7DHR3SoMn0s5JZ1eRGS0A+vyYP9t/LXlh5QMFFQ6cpLt2m0pmj3NDA==:"})
	if err != nil {
		t.Fatal(err)
	}
	key := rfcKey(t).Public().(ed25519.PublicKey)
	for name, c := range map[string]struct {
		accept []string
		change func(*Message)
		want   error
	}{
		"as it was":          {[]string{"application/json", "*/*"}, nil, nil},
		"fields joined":      {[]string{"application/json, */*"}, nil, nil},
		"spaces around":      {[]string{"  application/json ", "\t*/*"}, nil, nil},
		"another query":      {[]string{"application/json", "*/*"}, func(m *Message) { m.Query = "name1=Value1&Name2=value2&param=added" }, nil},
		"another authority":  {[]string{"application/json", "*/*"}, func(m *Message) { m.Authority = "example.com" }, ErrForged},
		"another method":     {[]string{"application/json", "*/*"}, func(m *Message) { m.Method = "POST" }, ErrForged},
		"fields in disorder": {[]string{"*/*", "application/json"}, nil, ErrForged},
		"a field less":       {[]string{"application/json"}, nil, ErrForged},
	} {
		m := Message{Method: "GET", Authority: "example.org", Path: "/demo", Query: "name1=Value1&Name2=value2",
			Field: func(name string) []string {
				if name == "accept" {
					return slices.Clone(c.accept)
				}
				return nil
			}}
		if c.change != nil {
			c.change(&m)
		}
		if err := s.Verify(m, key); !errors.Is(err, c.want) || c.want == nil && err != nil {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}
