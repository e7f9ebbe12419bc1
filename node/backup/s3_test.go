package backup

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/testing/s3test"
	"github.com/locket-dev/locket/node/archive"
)

// bucketAt returns a prefix of the test server's bucket.
func bucketAt(t *testing.T, s *s3test.Server, prefix string) *s3 {
	t.Helper()
	at, err := ParsePlace("s3://bucket/"+prefix+"?region=eu-central-1&endpoint="+s.URL, t.TempDir(), os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	at.(*s3).pause = 1
	return at.(*s3)
}

// Names that a person may write, where they point, and what is wrong with invalid ones.
func TestBucketNames(t *testing.T) {
	env := map[string]string{"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_REGION": "eu-west-1"}
	for _, c := range []struct{ name, leads, wrong string }{
		{"s3://my-bucket/a/b/", "https://my-bucket.s3.eu-west-1.amazonaws.com/a/b/", ""},
		{"s3://my-bucket", "https://my-bucket.s3.eu-west-1.amazonaws.com/", ""},
		{"s3://my.bucket/a?region=us-east-2", "https://s3.us-east-2.amazonaws.com/my.bucket/a/", ""},
		{"s3://my-bucket/a?endpoint=http://127.0.0.1:9000", "http://127.0.0.1:9000/my-bucket/a/", ""},
		{"s3://my-bucket/a?endpoint=ftp://x", "", "endpoint: want a URL"},
		{"s3://my-bucket/a?acl=public", "", "acl: want region or endpoint"},
		{"s3://My_Bucket/a", "", "not the name of a bucket"},
		{"s3://", "", "not the name of a bucket"},
		{"s3://my-bucket/a b", "", "a prefix has letters"},
		{"s3://my-bucket/../x", "", "a prefix has letters"},
		{"s3://key:secret@my-bucket/a", "", "want s3://BUCKET/PREFIX"},
		{"gs://my-bucket/a", "", "want a folder, or s3://"},
	} {
		at, err := ParsePlace(c.name, t.TempDir(), func(k string) string { return env[k] })
		switch {
		case c.wrong != "":
			if err == nil || !strings.Contains(err.Error(), c.wrong) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: %v, want %q", c.name, err, c.wrong)
			}
		case err != nil:
			t.Errorf("%s: %v", c.name, err)
		default:
			if got := at.(*s3).base; got.String() != c.leads {
				t.Errorf("%s leads to %s, want %s", c.name, got.String(), c.leads)
			}
		}
	}
}

// Keys come from the environment, or from a profile in the file of Amazon's tools.
func TestBucketKeys(t *testing.T) {
	file := filepath.Join(t.TempDir(), "credentials")
	if err := os.WriteFile(file, []byte("# mine\n[default]\naws_access_key_id = one\naws_secret_access_key=two\n\n[backup]\naws_access_key_id=three\naws_secret_access_key = four\naws_session_token=five\n[half]\naws_access_key_id=six\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		env                map[string]string
		id, session, wrong string
	}{
		{map[string]string{"AWS_SHARED_CREDENTIALS_FILE": file}, "one", "", ""},
		{map[string]string{"AWS_SHARED_CREDENTIALS_FILE": file, "AWS_PROFILE": "backup"}, "three", "five", ""},
		{map[string]string{"AWS_SHARED_CREDENTIALS_FILE": file, "AWS_ACCESS_KEY_ID": "seven", "AWS_SECRET_ACCESS_KEY": "x"}, "seven", "", ""},
		{map[string]string{"AWS_SHARED_CREDENTIALS_FILE": file, "AWS_PROFILE": "half"}, "", "", `no keys of the profile "half"`},
		{map[string]string{"HOME": t.TempDir()}, "", "", "set AWS_ACCESS_KEY_ID"},
	} {
		got, err := findKeys(func(k string) string { return c.env[k] })
		if c.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("%v: %v", c.env, err)
			}
			continue
		}
		if err != nil || got.id != c.id || got.session != c.session {
			t.Errorf("%v: %+v, %v", c.env, got, err)
		}
	}
}

// The examples in Amazon's documentation ("Signature Calculations for the Authorization
// Header: Transferring Payload in a Single Chunk").
func TestSignature(t *testing.T) {
	k := s3Keys{id: "AKIAIOSFODNN7EXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"}
	for _, c := range []struct{ url, header, value, want string }{
		{"https://examplebucket.s3.amazonaws.com/test.txt", "Range", "bytes=0-9", "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"},
		{"https://examplebucket.s3.amazonaws.com/?lifecycle=", "", "", "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"},
		{"https://examplebucket.s3.amazonaws.com/?max-keys=2&prefix=J", "", "", "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"},
	} {
		r, err := http.NewRequest(http.MethodGet, c.url, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.header != "" {
			r.Header.Set(c.header, c.value)
		}
		k.sign(r, nil, "us-east-1", time.Date(2013, 5, 24, 0, 0, 0, 0, time.UTC))
		if got := r.Header.Get("Authorization"); !strings.HasSuffix(got, "Signature="+c.want) {
			t.Errorf("%s: %s", c.url, got)
		}
	}
}

// A busy service is asked again; a refusal is not repeated, and is quoted.
func TestBucketRefuses(t *testing.T) {
	s := s3test.New(t)
	at := bucketAt(t, s, "p")
	asked := 0
	front := func(until, status int, code string) {
		asked = 0
		s.Front(func(w http.ResponseWriter, _ *http.Request) bool {
			if asked++; until > 0 && asked > until {
				return false
			}
			s3test.Refusal(w, status, code)
			return true
		})
	}
	front(2, 503, "SlowDown")
	if err := at.Write(t.Context(), "a", []byte("x")); err != nil || asked != 3 {
		t.Error(err, asked)
	}
	front(0, 500, "InternalError")
	if err := at.Write(t.Context(), "a", []byte("y")); !errors.Is(err, ErrS3) || asked != s3Tries {
		t.Error(err, asked)
	}
	front(0, 403, "AccessDenied")
	if _, err := at.Read(t.Context(), "a"); !errors.Is(err, ErrS3) || !strings.Contains(err.Error(), "AccessDenied") || asked != 1 {
		t.Error(err, asked)
	}
	front(0, 404, "NoSuchBucket")
	if _, err := at.Read(t.Context(), "a"); errors.Is(err, fs.ErrNotExist) || err == nil {
		t.Error("a bucket that is not there is an empty one: ", err)
	}
	front(0, 307, "TemporaryRedirect")
	if _, err := at.List(t.Context()); !errors.Is(err, ErrS3) || asked != 1 {
		t.Error(err, asked)
	}
	s.Front(func(w http.ResponseWriter, _ *http.Request) bool { w.Write([]byte("<html>Log in</html>")); return true })
	if _, err := at.List(t.Context()); !errors.Is(err, ErrS3) {
		t.Error(err)
	}
	s.Front(nil)
	other := s3test.New(t)
	other.Other()
	if _, err := bucketAt(t, other, "p").Read(t.Context(), "a"); err == nil || !strings.Contains(err.Error(), "SignatureDoesNotMatch") {
		t.Error(err)
	}
}

// If two machines write the same backup at the same time, one wins, the other gets an
// error, and the result is complete.
func TestConcurrentBackups(t *testing.T) {
	s := s3test.New(t)
	one := open(t, bucketAt(t, s, "p"))
	write(t, one, export(300))
	two := open(t, bucketAt(t, s, "p"))
	if _, err := two.Index(t.Context()); err != nil {
		t.Fatal(err)
	}
	inside := false
	_, err := two.Write(t.Context(), func(yield func(archive.Record, error) bool) {
		for r := range export(200) {
			if !inside {
				inside = true
				write(t, one, export(400))
			}
			if !yield(r, nil) {
				return
			}
		}
	}, WriteOptions{Spool: t.TempDir()})
	if !errors.Is(err, ErrMeanwhile) {
		t.Error(err)
	}
	if got := texts(t, one); len(got) != 400 {
		t.Errorf("%d lines", len(got))
	}
	s.MustHaveSeen("condition", "list", "PUT", "GET", "DELETE")
	// A write whose answer was lost is recognised.
	at := bucketAt(t, s, "q")
	if _, err := at.Read(t.Context(), "index"); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	s.Set("q/index", []byte("mine"))
	if err := at.Write(t.Context(), "index", []byte("mine")); err != nil {
		t.Error(err)
	}
	s.Set("q/index", []byte("another's"))
	if err := at.Write(t.Context(), "index", []byte("mine again")); !errors.Is(err, ErrMeanwhile) {
		t.Error(err)
	}
}

// Names that somebody else put into the bucket have no effect, and a listing ends.
func TestBucketListing(t *testing.T) {
	s := s3test.New(t)
	at := bucketAt(t, s, "some/prefix")
	f := open(t, at)
	keep := []string{"some/mine", "some/prefix/pieces/../../mine", "some/prefix/pieces/notes.txt", "some/prefix/pieces/ab/" + strings.Repeat("cd", 32)}
	for _, name := range keep {
		s.Set(name, []byte("x"))
	}
	write(t, f, export(300))
	for _, name := range keep {
		if s.Objects()[name] == nil {
			t.Errorf("%s was removed", name)
		}
	}
	asked := 0
	s.Front(func(w http.ResponseWriter, _ *http.Request) bool {
		asked++
		fmt.Fprintf(w, "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>%d</NextContinuationToken></ListBucketResult>", asked)
		return asked < 100
	})
	at.pages = 20
	if _, err := at.List(t.Context()); !errors.Is(err, ErrS3) || asked != 20 {
		t.Error(err, asked)
	}
}
