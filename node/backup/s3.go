package backup

import (
	"bytes"
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/locket-dev/locket/internal/filelock"
	"github.com/locket-dev/locket/internal/retry"
)

// ErrS3: a bucket was named wrongly, or its service refused a request.
var ErrS3 = errors.New("s3")

const s3Scheme = "s3://"

// s3 is a place in a bucket of Amazon S3, or of a compatible service.
type s3 struct {
	base   url.URL // of the objects; its path ends with the prefix
	prefix string  // of the names in the bucket; empty, or ends with a slash
	bucket string
	list   url.URL // of the bucket
	region string
	keys   s3Keys
	lock   string // path of the file that excludes other processes of this machine
	client *http.Client
	pause  time.Duration // before the second attempt
	pages  int           // maximum number of pages of a listing

	// tags has the ETag of each file that was read, except pieces, and "" for one that
	// did not exist. A file may be overwritten only if it did not change since.
	tags map[string]string
}

// The characters of a name that every service and every proxy leaves unchanged.
var s3Name, s3Prefix = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`), regexp.MustCompile(`^[A-Za-z0-9._/-]*$`)

// openS3 parses s3://BUCKET/PREFIX?region=REGION&endpoint=URL. Without endpoint it uses
// Amazon's, or what AWS_ENDPOINT_URL_S3 names; without region, that of AWS_REGION. Keys
// are found where Amazon's own tools look: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY,
// or else AWS_PROFILE of ~/.aws/credentials.
func openS3(name, lock string, environ func(string) string) (*s3, error) {
	u, err := url.Parse(name)
	if err != nil || u.User != nil || u.Fragment != "" {
		return nil, fmt.Errorf("%w: want s3://BUCKET/PREFIX", ErrS3) // the invalid part may be a key
	}
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("%w: s3://%s%s: %s", ErrS3, u.Host, u.Path, fmt.Sprintf(format, args...))
	}
	q := u.Query()
	for k := range q {
		if k != "region" && k != "endpoint" {
			return nil, wrong("%s: want region or endpoint", k)
		}
	}
	s := &s3{bucket: u.Host, prefix: strings.Trim(u.Path, "/"), lock: lock, tags: map[string]string{}, pause: time.Second, pages: maxPages,
		client: &http.Client{Timeout: 5 * time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	switch {
	case !s3Name.MatchString(s.bucket):
		return nil, wrong("%q is not the name of a bucket", s.bucket)
	case !s3Prefix.MatchString(s.prefix) || strings.Contains("/"+s.prefix+"/", "/../") || strings.Contains(s.prefix, "//"):
		return nil, wrong("%q: a prefix has letters, digits, and . _ - /", s.prefix)
	}
	if s.prefix != "" {
		s.prefix += "/"
	}
	s.region = cmp.Or(q.Get("region"), environ("AWS_REGION"), environ("AWS_DEFAULT_REGION"), "us-east-1")
	end := cmp.Or(q.Get("endpoint"), environ("AWS_ENDPOINT_URL_S3"), environ("AWS_ENDPOINT_URL"))
	switch {
	case end != "":
		e, err := url.Parse(end)
		if err != nil || e.Scheme != "http" && e.Scheme != "https" || e.Host == "" || e.User != nil || e.RawQuery != "" || strings.Trim(e.Path, "/") != "" {
			return nil, wrong("endpoint: want a URL such as https://minio.example:9000")
		}
		s.list = url.URL{Scheme: e.Scheme, Host: e.Host, Path: "/" + s.bucket + "/"}
	case strings.Contains(s.bucket, "."): // a certificate for *.s3 does not cover such a name
		s.list = url.URL{Scheme: "https", Host: "s3." + s.region + ".amazonaws.com", Path: "/" + s.bucket + "/"}
	default:
		s.list = url.URL{Scheme: "https", Host: s.bucket + ".s3." + s.region + ".amazonaws.com", Path: "/"}
	}
	s.base = s.list
	s.base.Path += s.prefix
	if s.keys, err = findKeys(environ); err != nil {
		return nil, wrong("%v", err)
	}
	return s, nil
}

// String returns the name of the place without what comes from the settings.
func (s *s3) String() string { return s3Scheme + s.bucket + "/" + strings.TrimSuffix(s.prefix, "/") }

func (s *s3) Lock() (func() error, error) {
	l, err := filelock.Take(s.lock)
	if err != nil {
		return nil, err
	}
	return l.Release, nil
}

func (s *s3) Read(ctx context.Context, name string) ([]byte, error) {
	b, h, err := s.ask(ctx, http.MethodGet, s.base.JoinPath(name), nil, nil)
	switch {
	case strings.HasPrefix(name, pieces): // its name identifies its content
	case err == nil:
		s.tags[name] = h.Get("ETag")
	case errors.Is(err, fs.ErrNotExist):
		s.tags[name] = ""
	}
	return b, err
}

func (s *s3) Write(ctx context.Context, name string, b []byte) error {
	condition := http.Header{}
	if tag, read := s.tags[name]; read && tag == "" {
		condition.Set("If-None-Match", "*")
	} else if read {
		condition.Set("If-Match", tag)
	}
	_, h, err := s.ask(ctx, http.MethodPut, s.base.JoinPath(name), condition, b)
	if errors.Is(err, errUnknown) { // the service does not support conditions
		_, h, err = s.ask(ctx, http.MethodPut, s.base.JoinPath(name), nil, b)
	}
	if errors.Is(err, ErrMeanwhile) { // unless this is because of a first attempt whose answer was lost
		if is, err := s.Read(ctx, name); err == nil && bytes.Equal(is, b) {
			return nil
		}
	}
	if _, read := s.tags[name]; read && err == nil {
		s.tags[name] = h.Get("ETag")
	}
	return err
}

func (s *s3) List(ctx context.Context) (map[string]int64, error) {
	all := map[string]int64{}
	next := ""
	for range s.pages {
		u := s.list
		q := url.Values{"list-type": {"2"}, "prefix": {s.prefix}}
		if next != "" {
			q.Set("continuation-token", next)
		}
		u.RawQuery = strings.ReplaceAll(q.Encode(), "+", "%20")
		b, _, err := s.ask(ctx, http.MethodGet, &u, nil, nil)
		if err != nil {
			return nil, err
		}
		var page struct {
			XMLName     xml.Name `xml:"ListBucketResult"`
			IsTruncated bool
			Next        string `xml:"NextContinuationToken"`
			Contents    []struct {
				Key  string
				Size int64
			}
		}
		if err := xml.Unmarshal(b, &page); err != nil {
			return nil, fmt.Errorf("%w: %s: list: the answer can't be read: %v", ErrS3, s, err)
		}
		for _, o := range page.Contents {
			if name, ok := strings.CutPrefix(o.Key, s.prefix); ok && name != "" {
				all[name] = o.Size
			}
		}
		if len(all) > maxNames {
			break
		}
		if !page.IsTruncated {
			return all, nil
		}
		if page.Next == "" || page.Next == next {
			return nil, fmt.Errorf("%w: %s: list: it says that there is more, but not where", ErrS3, s)
		}
		next = page.Next
	}
	return nil, fmt.Errorf("%w: %s: list: it goes on after %d names", ErrS3, s, len(all))
}

func (s *s3) Remove(ctx context.Context, name string) error {
	delete(s.tags, name)
	_, _, err := s.ask(ctx, http.MethodDelete, s.base.JoinPath(name), nil, nil)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

const (
	s3Tries  = 5
	maxReply = max(maxPiece, maxIndex) + 1<<20 // bytes

	// An index has at most a million pieces, and a page of S3 has a thousand names.
	maxNames, maxPages = 4 << 20, 10_000
)

// errUnknown: the service does not support a part of the request.
var errUnknown = fmt.Errorf("%w: not implemented", ErrS3)

// ask sends a signed request, and repeats it if the service is busy or unreachable.
func (s *s3) ask(ctx context.Context, method string, u *url.URL, head http.Header, body []byte) (b []byte, h http.Header, err error) {
	pause := retry.Backoff{First: s.pause, Most: 30 * time.Second}
	for try := 1; ; try++ {
		var again bool
		b, h, again, err = s.once(ctx, method, u, head, body)
		if err != nil {
			err = fmt.Errorf("%s %s%s/%s: %w", strings.ToLower(method), s3Scheme, s.bucket, strings.TrimPrefix(u.Path, s.list.Path), err)
		}
		if !again || try == s3Tries || !pause.Wait(ctx) {
			return b, h, err
		}
	}
}

func (s *s3) once(ctx context.Context, method string, u *url.URL, head http.Header, body []byte) (b []byte, h http.Header, again bool, err error) {
	req, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, nil, false, err
	}
	maps.Copy(req.Header, head)
	s.keys.sign(req, body, s.region, time.Now())
	resp, err := s.client.Do(req)
	if err != nil {
		return nil, nil, ctx.Err() == nil, err
	}
	defer resp.Body.Close()
	b, err = io.ReadAll(io.LimitReader(resp.Body, maxReply+1))
	switch {
	case err != nil:
		return nil, nil, ctx.Err() == nil, err
	case len(b) > maxReply:
		return nil, nil, false, fmt.Errorf("%w: an answer of more than %d bytes", ErrS3, maxReply)
	case resp.StatusCode/100 == 2:
		return b, resp.Header, false, nil
	}
	var e struct{ Code, Message string }
	_ = xml.Unmarshal(b, &e) // the page of a proxy has no code
	said := strings.TrimSpace(e.Code + " " + e.Message)
	if said == "" {
		said = strconv.Itoa(resp.StatusCode) + " without a reason"
	}
	if r := resp.Header.Get("X-Amz-Bucket-Region"); r != "" && r != s.region {
		said += "; the bucket is in the region " + r
	}
	switch resp.StatusCode {
	case http.StatusNotFound:
		if e.Code != "NoSuchBucket" {
			return nil, nil, false, fmt.Errorf("%w: %s", fs.ErrNotExist, said)
		}
	case http.StatusPreconditionFailed, http.StatusConflict:
		return nil, nil, false, ErrMeanwhile
	case http.StatusNotImplemented:
		return nil, nil, false, errUnknown
	}
	return nil, nil, resp.StatusCode/100 == 5 || resp.StatusCode == http.StatusTooManyRequests, fmt.Errorf("%w: %s", ErrS3, said)
}
