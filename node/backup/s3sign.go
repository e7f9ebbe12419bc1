package backup

import (
	"bufio"
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// s3Keys are the keys with which a request to a bucket is signed.
type s3Keys struct {
	id, secret string
	session    string // of temporary keys; empty: they are permanent
}

// sign signs a request with AWS4-HMAC-SHA256 (Amazon S3 API Reference,
// "Authenticating Requests: Using the Authorization Header"): host, every header that
// is set, and the body. The path has no character that has to be escaped, and the
// query is sorted.
func (k *s3Keys) sign(r *http.Request, body []byte, region string, now time.Time) {
	sum := func(b []byte) string { h := sha256.Sum256(b); return hex.EncodeToString(h[:]) }
	mac := func(key []byte, text string) []byte {
		h := hmac.New(sha256.New, key)
		h.Write([]byte(text)) // a hash never fails
		return h.Sum(nil)
	}
	stamp := now.UTC().Format("20060102T150405Z")
	day := stamp[:8]
	r.Header.Set("X-Amz-Date", stamp)
	r.Header.Set("X-Amz-Content-Sha256", sum(body))
	if k.session != "" {
		r.Header.Set("X-Amz-Security-Token", k.session)
	}
	head := map[string]string{"host": r.URL.Host}
	for name := range r.Header {
		head[strings.ToLower(name)] = strings.TrimSpace(r.Header.Get(name))
	}
	names := slices.Sorted(maps.Keys(head))
	var lines strings.Builder
	for _, name := range names {
		fmt.Fprintf(&lines, "%s:%s\n", name, head[name])
	}
	signed := strings.Join(names, ";")
	canonical := strings.Join([]string{r.Method, r.URL.EscapedPath(), r.URL.RawQuery, lines.String(), signed, sum(body)}, "\n")
	scope := strings.Join([]string{day, region, "s3", "aws4_request"}, "/")
	text := strings.Join([]string{"AWS4-HMAC-SHA256", stamp, scope, sum([]byte(canonical))}, "\n")
	key := []byte("AWS4" + k.secret)
	for part := range strings.SplitSeq(scope, "/") {
		key = mac(key, part)
	}
	r.Header.Set("Authorization", fmt.Sprintf("AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=%x", k.id, scope, signed, mac(key, text)))
}

// findKeys finds the keys for the bucket's service.
func findKeys(environ func(string) string) (k s3Keys, err error) {
	k.id, k.secret, k.session = environ("AWS_ACCESS_KEY_ID"), environ("AWS_SECRET_ACCESS_KEY"), environ("AWS_SESSION_TOKEN")
	if k.id != "" && k.secret != "" {
		return k, nil
	}
	path := environ("AWS_SHARED_CREDENTIALS_FILE")
	if path == "" {
		path = filepath.Join(environ("HOME"), ".aws", "credentials")
	}
	profile := cmp.Or(environ("AWS_PROFILE"), "default")
	f, err := os.Open(path)
	if err != nil {
		return k, fmt.Errorf("no keys: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write them to %s", path)
	}
	defer f.Close()
	k = s3Keys{}
	in := ""
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if section, ok := strings.CutPrefix(line, "["); ok {
			in = strings.TrimSpace(strings.TrimSuffix(section, "]"))
			continue
		}
		name, v, _ := strings.Cut(line, "=")
		if v = strings.TrimSpace(v); in != profile {
			continue
		}
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "aws_access_key_id":
			k.id = v
		case "aws_secret_access_key":
			k.secret = v
		case "aws_session_token":
			k.session = v
		}
	}
	if err := lines.Err(); err != nil {
		return k, err
	}
	if k.id == "" || k.secret == "" {
		return k, fmt.Errorf("%s has no keys of the profile %q", path, profile)
	}
	return k, nil
}
