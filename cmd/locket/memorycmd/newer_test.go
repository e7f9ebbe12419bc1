package memorycmd

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locket-dev/locket/cmd/locket/cli"
)

// signs writes a release's sums with their signature to a folder, like locket-release, and returns
// the public key.
func signs(t *testing.T, dir, comment string) (key string) {
	t.Helper()
	private := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))
	name := []byte("Ed12345678")
	sums := []byte("00  locket_0.2.0_linux_amd64.tar.gz\n")
	over := ed25519.Sign(private, sums)
	text := strings.Join([]string{"untrusted comment: of a test", base64.StdEncoding.EncodeToString(append(bytes.Clone(name), over...)),
		"trusted comment: " + comment, base64.StdEncoding.EncodeToString(ed25519.Sign(private, append(over, comment...))), ""}, "\n")
	for file, b := range map[string][]byte{releaseSums: sums, releaseSums + ".minisig": []byte(text)} {
		if err := os.WriteFile(filepath.Join(dir, file), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return base64.StdEncoding.EncodeToString(append(name, private.Public().(ed25519.PublicKey)...))
}

// A release is compared once its signature is verified; without --from nobody is asked.
func TestUpdateCheck(t *testing.T) {
	defer func(was string) { cli.Linked.Release = was }(cli.Linked.Release)
	cli.Linked.Release = "v0.1.0"
	check := func(from, key string) (c compared, err error) {
		var out bytes.Buffer
		if err := compareRelease((&cli.App{JSON: true, Stdout: &out}), t.Context(), from, key); err != nil {
			return c, err
		}
		return c, json.Unmarshal(out.Bytes(), &c)
	}
	if c, err := check("", ""); err != nil || c != (compared{Version: "v0.1.0"}) {
		t.Errorf("%+v, %v", c, err)
	}
	dir := t.TempDir()
	for version, newer := range map[string]bool{"v0.1.0": false, "v0.0.9": false, "v0.1.1": true, "v0.10.0": true} {
		key := signs(t, dir, "Locket "+version)
		if c, err := check(dir, key); err != nil || c != (compared{Version: "v0.1.0", Newest: version, Newer: newer}) {
			t.Errorf("%s: %+v, %v", version, c, err)
		}
		if _, err := check(dir, ""); err == nil {
			t.Errorf("%s: compared without a key", version)
		}
	}
	key := signs(t, dir, "Locket v0.2.0")
	for _, file := range []string{releaseSums, releaseSums + ".minisig"} {
		path := filepath.Join(dir, file)
		was, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i := range was {
			b := bytes.Clone(was)
			b[i] ^= 1
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			c, err := check(dir, key)
			untrusted := file != releaseSums && i < bytes.IndexByte(was, '\n') // the first line is not signed
			if !untrusted && err == nil || err == nil && c.Newest != "v0.2.0" {
				t.Fatalf("%s, byte %d: %+v", file, i, c)
			}
		}
		for _, b := range [][]byte{nil, []byte("<html>sign in</html>"), make([]byte, maxReleased+1)} {
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			if c, err := check(dir, key); err == nil {
				t.Errorf("%s of %d bytes: %+v", file, len(b), c)
			}
		}
		if err := os.WriteFile(path, was, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if c, err := check(dir, signs(t, dir, "Grace v0.2.0")); !errors.Is(err, errUnsigned) {
		t.Errorf("%+v, %v", c, err)
	}
	if c, err := check(t.TempDir(), key); err == nil {
		t.Errorf("an empty folder: %+v", c)
	}
}

// A signature that locket-release once made, with a test key.
const (
	madeKey  = "RWRxF1+Wztur+IkocyJHwQAXmU6QsXWxVsNOuGA4ikakD8cUtSTRZFeW"
	madeSums = `daba6d16451f1d0e3ef8f2b45fd9076a9e2f64f2b1e5c438c15e8c2f6645b028  NOTES.md
9fd2f724982b1b4d16d9e60c095b84dd2bc6830eed64d0a0b25ed6913aa441a6  install.sh
0aeb83f213785f3710aeb693fefd3ca0063baf4d7356d2eb35114a56e0add6d8  locket_0.2.0_linux_amd64.tar.gz
`
	madeSignature = `untrusted comment: signature of Locket's releases; the key is docs/release.pub
RWRxF1+Wztur+C/cYQXYbJjJtlkgI8mp6pOHT9jWuFelr88Qhqmu4GA5cC9UosH/7aUK+Pmx7q6INkaGkWiqYEIiAiUePS5cPgk=
trusted comment: Locket v0.2.0
PkwSajSO+/BcpI9kM4uYSieT1x+vBouTWKS42EarmT2Ox/pkQ8kqPynG5/xK93idL6/NiNZVLL+gQDyO9Ex+Cg==
`
)

func TestReleaseSignature(t *testing.T) {
	if version, err := signedRelease(madeKey, []byte(madeSums), []byte(madeSignature)); err != nil || version != "v0.2.0" {
		t.Errorf("%q, %v", version, err)
	}
	if version, err := signedRelease(madeKey, []byte(madeSums+"\n"), []byte(madeSignature)); err == nil {
		t.Errorf("with another byte: %q", version)
	}
}

// Only TLS is used, and a redirect to anything else is not followed.
func TestReleaseIsFetched(t *testing.T) {
	dir := t.TempDir()
	signs(t, dir, "Locket v0.2.0")
	mux := http.NewServeMux()
	mux.Handle("/at/", http.StripPrefix("/at", http.FileServer(http.Dir(dir))))
	mux.Handle("/there/", http.StripPrefix("/there", http.RedirectHandler("/at/"+releaseSums, http.StatusFound)))
	s := httptest.NewTLSServer(mux)
	defer s.Close()
	plain := 0
	open := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { plain++ }))
	defer open.Close()
	mux.Handle("/away/", http.RedirectHandler(open.URL, http.StatusFound))
	mux.Handle("/around/", http.RedirectHandler("/around/x", http.StatusFound))
	for from, want := range map[string]string{s.URL + "/at": "locket_0.2.0", s.URL + "/there/": "locket_0.2.0", s.URL + "/away": "", s.URL + "/around": "", s.URL + "/nothing": "", open.URL: "", "ftp://127.0.0.1": ""} {
		b, err := fetchReleased(t.Context(), s.Client().Transport, from, releaseSums)
		if (err == nil) != (want != "") || !strings.Contains(string(b), want) {
			t.Errorf("%s: %q, %v", from, b, err)
		}
	}
	if plain != 0 {
		t.Errorf("%d requests without TLS", plain)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := fetchReleased(ctx, s.Client().Transport, s.URL+"/at", releaseSums); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
