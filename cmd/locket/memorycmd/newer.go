package memorycmd

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/semver"

	"github.com/locket-dev/locket/cmd/locket/cli"
)

// The place that has the releases.
const (
	latestRelease = "https://github.com/locket-dev/locket/releases/latest/download"
	releaseSums   = "SHA256SUMS"
	maxReleased   = 64 << 10 // the most bytes read of one file
	releaseWithin = 30 * time.Second
)

// errUnsigned means that the release at a place is not signed by the key of releases.
var errUnsigned = errors.New("the signature of the release is not valid")

// compared is what update --check prints.
type compared struct {
	Version string `json:"version"`          // of this program
	Newest  string `json:"newest,omitempty"` // at the place; empty if no place was asked
	Newer   bool   `json:"newer"`
}

// compareRelease says whether a place (an https URL or a folder) has a newer release than this
// program. Without a place it asks nobody.
func compareRelease(a *cli.App, ctx context.Context, from, key string) error {
	c := compared{Version: cli.ThisBuild().Release}
	if from == "" {
		return a.Print(c, func(w io.Writer) {
			fmt.Fprint(w, a.WithHomef("This is Locket %s. To protect your privacy, no server was asked for a newer version.\nTo ask one: locket update --check --from %s\n", c.Version, latestRelease))
		})
	}
	if key == "" {
		return errors.New("this program is not a release: it has no key to verify one")
	}
	sums, err := fetchReleased(ctx, http.DefaultTransport, from, releaseSums)
	if err != nil {
		return err
	}
	signature, err := fetchReleased(ctx, http.DefaultTransport, from, releaseSums+".minisig")
	if err != nil {
		return err
	}
	if c.Newest, err = signedRelease(key, sums, signature); err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	c.Newer = semver.Compare(c.Newest, c.Version) > 0
	return a.Print(c, func(w io.Writer) {
		if !c.Newer {
			fmt.Fprintf(w, "The newest release there is Locket %s. This is %s.\n", c.Newest, c.Version)
			return
		}
		fmt.Fprint(w, a.WithHomef("A newer release is there: Locket %s. This is %s. Before you install it: locket backup DIR\n", c.Newest, c.Version))
	})
}

// fetchReleased reads a small file of a release.
func fetchReleased(ctx context.Context, by http.RoundTripper, from, name string) ([]byte, error) {
	r, err := openReleased(ctx, by, from, name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, maxReleased+1))
	if err != nil {
		return nil, fmt.Errorf("reading %s of the release: %w", name, err)
	}
	if len(b) > maxReleased {
		return nil, fmt.Errorf("%s of the release is larger than %d bytes", name, maxReleased)
	}
	return b, nil
}

func openReleased(ctx context.Context, by http.RoundTripper, from, name string) (io.ReadCloser, error) {
	if !strings.Contains(from, "://") {
		return os.Open(filepath.Join(from, name))
	}
	secure := func(u *url.URL) error {
		if u.Scheme != "https" {
			return fmt.Errorf("%s://%s: only https:// and folders", u.Scheme, u.Host)
		}
		return nil
	}
	client := http.Client{Transport: by, Timeout: releaseWithin, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if len(via) > 5 {
			return errors.New("redirected too often")
		}
		return secure(r.URL)
	}}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(from, "/")+"/"+name, nil)
	if err != nil {
		return nil, err
	}
	if err := secure(r.URL); err != nil {
		return nil, cli.UsageError{Err: fmt.Errorf("--from: %w", err)}
	}
	res, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		res.Body.Close()
		return nil, fmt.Errorf("%s of the release: %s", name, res.Status)
	}
	return res.Body, nil
}

// signedRelease verifies minisign's signature of the sums of a release, and returns the version in
// its comment. A signature has ten bytes that name the algorithm and the key, and then an Ed25519
// signature of the sums. A second signature covers the first and the comment
// (jedisct1.github.io/minisign).
func signedRelease(key string, sums, signature []byte) (version string, err error) {
	k, err := base64.StdEncoding.DecodeString(key)
	lines := strings.Split(string(signature), "\n")
	if err != nil || len(k) != 10+ed25519.PublicKeySize || len(lines) < 4 {
		return "", errUnsigned
	}
	first, err := base64.StdEncoding.DecodeString(lines[1])
	if err != nil || len(first) < 10 || !bytes.Equal(first[:10], k[:10]) {
		return "", errUnsigned
	}
	second, err := base64.StdEncoding.DecodeString(lines[3])
	comment, ok := strings.CutPrefix(lines[2], "trusted comment: ")
	if err != nil || !ok || !ed25519.Verify(k[10:], sums, first[10:]) || !ed25519.Verify(k[10:], append(first[10:], comment...), second) {
		return "", errUnsigned
	}
	version, ok = strings.CutPrefix(comment, "Locket ")
	if !ok || !semver.IsValid(version) {
		return "", fmt.Errorf("%w: it is for %.80q", errUnsigned, comment)
	}
	return version, nil
}
