// Package s3test is a mock of Amazon S3 for tests: one bucket in memory, addressed by path, with
// multipart uploads, ranges, conditions, and listings of two names a page. It refuses what S3
// would: a wrong AWS4-HMAC-SHA256 signature, a body other than the signed one, a missing bucket or
// upload, a condition that does not hold.
package s3test

import (
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Server is the mock server. Its bucket is called "bucket".
type Server struct {
	*httptest.Server
	t       *testing.T
	mu      sync.Mutex
	answer  func(http.ResponseWriter, *http.Request) bool
	other   bool // set before the first request
	objects map[string][]byte
	uploads map[string]map[int][]byte
	seen    map[string]bool
}

var written = time.Unix(1_790_000_000, 0)

const accessKey, secretKey = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"

// New starts a server, and sets the environment variables with its keys.
func New(t *testing.T) *Server {
	t.Setenv("AWS_ACCESS_KEY_ID", accessKey)
	t.Setenv("AWS_SECRET_ACCESS_KEY", secretKey)
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	s := &Server{t: t, objects: map[string][]byte{}, uploads: map[string]map[int][]byte{}, seen: map[string]bool{}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// MustHaveSeen fails the test unless the client sent these: methods, "list", "multipart", "range",
// "condition".
func (s *Server) MustHaveSeen(what ...string) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range what {
		if !s.seen[w] {
			s.t.Errorf("the client sent no %s", w)
		}
	}
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	fail := func(status int, code string) { Refusal(w, status, code) }
	if s.answer != nil && s.answer(w, r) {
		return
	}
	if err := signed(r, body, map[bool]string{false: secretKey, true: "another"}[s.other]); err != nil {
		if !s.other {
			s.t.Error(err)
		}
		fail(403, "SignatureDoesNotMatch")
		return
	}
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if bucket != "bucket" {
		fail(404, "NoSuchBucket")
		return
	}
	s.seen[r.Method] = true
	q := r.URL.Query()
	upload := q.Get("uploadId")
	if upload != "" && s.uploads[upload] == nil {
		fail(404, "NoSuchUpload")
		return
	}
	switch {
	case r.Method == "GET" && key == "":
		s.seen["list"] = true
		s.list(w, q)
	case r.Method == "POST" && q.Has("uploads"):
		s.seen["multipart"] = true
		id := "upload" + strconv.Itoa(len(s.uploads))
		s.uploads[id] = map[int][]byte{}
		fmt.Fprintf(w, "<InitiateMultipartUploadResult><Bucket>bucket</Bucket><Key>%s</Key><UploadId>%s</UploadId></InitiateMultipartUploadResult>", key, id)
	case r.Method == "PUT" && upload != "":
		n, _ := strconv.Atoi(q.Get("partNumber"))
		s.uploads[upload][n] = body
		w.Header().Set("ETag", tag(body))
	case r.Method == "POST" && upload != "":
		var whole []byte
		for _, n := range slices.Sorted(maps.Keys(s.uploads[upload])) {
			whole = append(whole, s.uploads[upload][n]...)
		}
		delete(s.uploads, upload)
		s.objects[key] = whole
		fmt.Fprintf(w, "<CompleteMultipartUploadResult><Key>%s</Key><ETag>x</ETag></CompleteMultipartUploadResult>", key)
	case r.Method == "DELETE" && upload != "":
		delete(s.uploads, upload)
		w.WriteHeader(204)
	case r.Method == "PUT":
		was, there := s.objects[key]
		if is, none := r.Header.Get("If-Match"), r.Header.Get("If-None-Match"); is != "" || none != "" {
			s.seen["condition"] = true
			if is != "" && (!there || is != tag(was)) || none == "*" && there {
				fail(412, "PreconditionFailed")
				return
			}
		}
		s.objects[key] = body
		w.Header().Set("ETag", tag(body))
	case r.Method == "DELETE":
		delete(s.objects, key)
		w.WriteHeader(204)
	case r.Method == "GET" || r.Method == "HEAD":
		b, ok := s.objects[key]
		if key != "" && !ok {
			fail(404, "NoSuchKey")
			return
		}
		if r.Header.Get("Range") != "" {
			s.seen["range"] = true
		}
		w.Header().Set("ETag", tag(b))
		http.ServeContent(w, r, "", written, bytes.NewReader(b))
	default:
		fail(405, "MethodNotAllowed")
	}
}

func tag(b []byte) string { return fmt.Sprintf(`"%x"`, sha256.Sum256(b)) }

// Refusal answers with an error in S3's form.
func Refusal(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<Error><Code>%s</Code><Message>%s</Message></Error>", code, code)
}

// Other gives the server another secret than its clients', so that it refuses them.
func (s *Server) Other() { s.other = true }

// Objects returns the names and contents of the bucket's objects.
func (s *Server) Objects() map[string][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.objects)
}

// Set puts an object into the bucket, or removes it if b is nil.
func (s *Server) Set(name string, b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b == nil {
		delete(s.objects, name)
		return
	}
	s.objects[name] = b
}

// Front lets answer see each request first. If answer returns true, it has answered.
func (s *Server) Front(answer func(http.ResponseWriter, *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

func (s *Server) list(w http.ResponseWriter, q url.Values) {
	type object struct {
		Key          string
		Size         int
		LastModified string
		ETag         string
	}
	type result struct {
		XMLName               xml.Name `xml:"ListBucketResult"`
		IsTruncated           bool
		NextContinuationToken string `xml:",omitempty"`
		KeyCount              int
		Contents              []object
	}
	var out result
	for _, k := range slices.Sorted(maps.Keys(s.objects)) {
		if !strings.HasPrefix(k, q.Get("prefix")) || k <= q.Get("continuation-token") {
			continue
		}
		if out.KeyCount == 2 {
			out.IsTruncated, out.NextContinuationToken = true, out.Contents[1].Key
			break
		}
		out.KeyCount++
		out.Contents = append(out.Contents, object{k, len(s.objects[k]), written.UTC().Format("2006-01-02T15:04:05.000Z"), "x"})
	}
	w.Header().Set("Content-Type", "application/xml")
	if err := xml.NewEncoder(w).Encode(out); err != nil {
		s.t.Error(err)
	}
}

// signed checks a request's signature ("Signature Version 4").
func signed(r *http.Request, body []byte, secret string) error {
	auth, ok := strings.CutPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 ")
	if !ok {
		return fmt.Errorf("%s %s is not signed", r.Method, r.URL)
	}
	part := map[string]string{}
	for p := range strings.SplitSeq(auth, ", ") {
		k, v, _ := strings.Cut(p, "=")
		part[k] = v
	}
	scope := strings.SplitN(part["Credential"], "/", 2)
	hash := r.Header.Get("X-Amz-Content-Sha256")
	if hash != "UNSIGNED-PAYLOAD" && hash != fmt.Sprintf("%x", sha256.Sum256(body)) {
		return fmt.Errorf("%s %s: body is not the one that was signed: %s", r.Method, r.URL, hash)
	}
	var heads strings.Builder
	for name := range strings.SplitSeq(part["SignedHeaders"], ";") {
		v := strings.Join(r.Header.Values(name), ",")
		switch name {
		case "host":
			v = r.Host
		case "content-length":
			v = cmp.Or(v, strconv.Itoa(len(body)))
		}
		fmt.Fprintf(&heads, "%s:%s\n", name, strings.Join(strings.Fields(v), " "))
	}
	query := strings.ReplaceAll(r.URL.Query().Encode(), "+", "%20")
	canonical := strings.Join([]string{r.Method, r.URL.EscapedPath(), query, heads.String(), part["SignedHeaders"], hash}, "\n")
	text := strings.Join([]string{"AWS4-HMAC-SHA256", r.Header.Get("X-Amz-Date"), scope[1], fmt.Sprintf("%x", sha256.Sum256([]byte(canonical)))}, "\n")
	key := []byte("AWS4" + secret)
	for p := range strings.SplitSeq(scope[1], "/") {
		key = mac(key, p)
	}
	if scope[0] != accessKey || hex.EncodeToString(mac(key, text)) != part["Signature"] {
		return fmt.Errorf("%s %s: wrong signature over %q", r.Method, r.URL, canonical)
	}
	return nil
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}
