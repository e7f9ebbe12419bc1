package bucket

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/cloud/relay/objects"
	"github.com/locket-dev/locket/cloud/relay/objects/objectstest"
	"github.com/locket-dev/locket/cloud/relay/pgtest"
	"github.com/locket-dev/locket/cloud/relay/postgres"
	"github.com/locket-dev/locket/cloud/relay/storetest"
)

var cluster pgtest.Cluster

func TestMain(m *testing.M) { os.Exit(cluster.Main(m)) }

func TestFolder(t *testing.T) {
	o, err := Open(t.Context(), "file://"+t.TempDir()+"/blobs")
	if err != nil {
		t.Fatal(err)
	}
	objectstest.Run(t, o)
}

// Each service with its own client, against an emulator.
func TestServices(t *testing.T) {
	each(t, func(t *testing.T, s service) {
		o := s.open(t, "bucket", patience)
		objectstest.Run(t, o)
		whole := bytes.Repeat([]byte("sealed bytes "), 2<<20) // large enough for several parts
		if err := o.Put(t.Context(), "space/large/whole", bytes.NewReader(whole)); err != nil {
			t.Fatal(err)
		}
		if got, err := read(t, o, "space/large/whole", 5<<20+1); err != nil || !bytes.Equal(got, whole[5<<20+1:]) {
			t.Fatal("other bytes: ", len(got), err)
		}
		if s.mustHaveSeen != nil {
			s.mustHaveSeen()
		}
	})
}

// A relay's store keeps its blobs in the service: in chunks, resumed, swept, deleted.
func TestStoreOnServices(t *testing.T) {
	each(t, func(t *testing.T, s service) {
		storetest.RunBlobs(t, func(t *testing.T) func() relay.Store {
			url := cluster.Database(t)
			m, err := postgres.Migrate(url)
			if err == nil {
				_, err = m.Up(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			return func() relay.Store {
				o, err := Open(t.Context(), strings.Replace(s.place, "%s", "bucket", 1))
				if err != nil {
					t.Fatal(err)
				}
				store, err := postgres.Open(t.Context(), url, o)
				if err != nil {
					t.Fatal(err)
				}
				return store
			}
		})
	})
}

func read(t *testing.T, o objects.Objects, name string, offset int64) ([]byte, error) {
	t.Helper()
	r, err := o.Open(t.Context(), name, offset)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(r)
	return b, errors.Join(err, r.Close())
}

// short is the patience if a service refuses, because its client retries until then.
const short = 100 * time.Millisecond

// refuses expects that nothing is reported about existing objects, and nothing is done.
func refuses(t *testing.T, o objects.Objects) {
	t.Helper()
	for what, try := range map[string]func() error{
		"open":   func() error { _, err := read(t, o, "space/kept/whole", 0); return err },
		"put":    func() error { return o.Put(t.Context(), "space/new/whole", strings.NewReader("new")) },
		"delete": func() error { return o.Delete(t.Context(), "space/kept/whole") },
		"remove": func() error { return o.Remove(t.Context(), "space/kept/") },
		"check":  func() error { return o.Check(t.Context()) },
	} {
		if err := try(); !errors.Is(err, objects.ErrUnavailable) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, objects.ErrFull) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// If a service refuses, for whatever reason, blobs are not reported missing and removals not
// reported done: a key that was revoked for an hour must lose nothing. Afterwards existing objects
// are there again.
func TestRefusals(t *testing.T) {
	each(t, func(t *testing.T, s service) {
		o, hasty := s.open(t, "bucket", patience), s.open(t, "bucket", short)
		if err := o.Put(t.Context(), "space/kept/whole", strings.NewReader("kept")); err != nil {
			t.Fatal(err)
		}
		for _, r := range []refusal{s.forbidden, {401, "unauthorized"}, {404, "NoSuchBucket"}, {404, "ContainerNotFound"}, {503, "ServiceUnavailable"}, {400, "BadRequest"}} {
			s.answer(r.always(s))
			refuses(t, hasty)
		}
		s.answer(func(http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) }) // it hangs up
		refuses(t, hasty)
		s.answer(func(_ http.ResponseWriter, r *http.Request) bool { // it never answers
			_, _ = io.Copy(io.Discard, r.Body) // so that the end of the connection is noticed
			<-r.Context().Done()
			panic(http.ErrAbortHandler)
		})
		refuses(t, hasty)
		s.answer(nil)
		if got, err := read(t, o, "space/kept/whole", 0); err != nil || string(got) != "kept" {
			t.Errorf("%q, %v", got, err)
		}
		if _, err := read(t, o, "space/new/whole", 0); !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	})
}

// A download that breaks off is not taken for the end of the object.
func TestTruncatedDownload(t *testing.T) {
	each(t, func(t *testing.T, s service) {
		o, hasty := s.open(t, "bucket", patience), s.open(t, "bucket", short)
		if err := o.Put(t.Context(), "space/kept/whole", strings.NewReader("kept, all of it")); err != nil {
			t.Fatal(err)
		}
		s.answer(func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method != "GET" || r.Header.Get("Range") == "bytes=5-" {
				return false
			}
			w.Header().Set("Content-Length", "15")
			w.Header().Set("ETag", `"x"`)
			w.WriteHeader(http.StatusOK)
			io.WriteString(w, "kept,")
			panic(http.ErrAbortHandler)
		})
		// A client may resume the download; then the result must be complete.
		if got, err := read(t, hasty, "space/kept/whole", 0); err == nil && string(got) != "kept, all of it" || err != nil && !errors.Is(err, objects.ErrUnavailable) {
			t.Errorf("%q, %v", got, err)
		}
	})
}

// A full service stores nothing, says so, and continues once it has room.
func TestFullService(t *testing.T) {
	each(t, func(t *testing.T, s service) {
		o := s.open(t, "bucket", patience)
		s.answer(s.full.always(s))
		hasty := s.open(t, "bucket", 3*time.Second) // within which a busy machine gets the first answer
		if err := hasty.Put(t.Context(), "space/new/whole", strings.NewReader("new")); !errors.Is(err, objects.ErrFull) {
			t.Error(err)
		}
		s.answer(nil)
		if _, err := read(t, o, "space/new/whole", 0); !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
		if err := o.Put(t.Context(), "space/new/whole", strings.NewReader("new")); err != nil {
			t.Error(err)
		}
	})
}

// A missing bucket, and a key unknown to the service.
func TestMisconfigured(t *testing.T) {
	each(t, func(t *testing.T, s service) {
		refuses(t, s.open(t, "absent", short))
		if s.strange != nil {
			refuses(t, s.strange(t).open(t, "bucket", short))
		}
	})
}

func TestWrongURLs(t *testing.T) {
	for _, name := range []string{"", "blobs", "/blobs", "file://blobs", "ftp://x/y", "s3://", "%"} {
		if o, err := Open(t.Context(), name); err == nil {
			o.Close()
			t.Errorf("%q is taken", name)
		} else if name != "s3://" && !errors.Is(err, ErrURL) {
			t.Errorf("%q: %v", name, err)
		}
	}
}
