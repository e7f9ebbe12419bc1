package remote

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/locket-dev/locket/sync/envelope"
)

// A network that requires a login answers everything in the relay's place. None of its answers is
// taken for the relay's, least of all as a sign that something was taken or that this device is no
// longer a member.
func TestPortal(t *testing.T) {
	page := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			w.WriteHeader(status)
			io.WriteString(w, "<html>Welcome to the café</html>")
		}
	}
	for name, answer := range map[string]http.HandlerFunc{
		"a page":      page(200),
		"a page, 403": page(403),
		"a page, 404": page(404),
		"511":         page(511),
		"a redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://login.example/", http.StatusFound)
		},
		"200, nothing": func(http.ResponseWriter, *http.Request) {},
	} {
		at := liar(t, answer)
		d := delta(t, space, 1)
		for what, err := range map[string]error{
			"delete a blob": at.DeleteBlob(t.Context(), BlobID{1}, nil),
			"delete":        at.Delete(t.Context()),
			"append":        func() error { _, err := at.Append(t.Context(), []*envelope.Delta{d}); return err }(),
			"log":           func() error { _, err := at.Log(t.Context(), 0); return err }(),
		} {
			if !errors.Is(err, ErrAnswer) || errors.Is(err, ErrForbidden) || errors.Is(err, ErrNotFound) {
				t.Errorf("%s, %s: %v", name, what, err)
			}
			if name != "200, nothing" && !errors.Is(err, ErrPortal) {
				t.Errorf("%s, %s: %v", name, what, err)
			}
		}
	}
}

// Nothing is sent to a man in the middle with a certificate of his own.
func TestInterceptedTLS(t *testing.T) {
	asked := false
	web := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	defer web.Close()
	web.Config.ErrorLog = nil
	r, err := New(web.URL, Option{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	_, err = r.Post(t.Context(), [16]byte{1}, []byte("hello"))
	if err == nil || !strings.Contains(err.Error(), "certificate") || asked {
		t.Errorf("%v, asked %v", err, asked)
	}
}
