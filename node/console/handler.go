package console

import (
	"archive/zip"
	"bytes"
	"context"
	_ "embed" // for packed
	"encoding/json"
	"io"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/locket-dev/locket/node/serve"
)

// packed is the page: dist/, compressed.
//
//go:generate go run ../../internal/pack page.zip =dist
//go:embed page.zip
var packed []byte

// The content security policy: the browser may run the page's script and style,
// connect to its own origin, and show what it was given. Nothing else is fetched,
// framed, or run. The only trusted types policy returns the addresses of the service
// worker and of the graph's script, whatever it is asked for.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' blob:; media-src blob:; manifest-src 'self'; worker-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types locket"

// The names of a session's two halves. The cookie's name continues with the console's
// port.
const (
	cookiePrefix = "locket_console_"
	keyHeader    = "Locket-Console"
)

// maxCode is how much of a request for a session is read at most.
const maxCode = 1 << 10

// handler is called once the origin is known.
func (c *Console) handler() http.Handler {
	files, err := unpack(packed)
	if err != nil {
		panic(err) // it is embedded, and a test reads it
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /session", c.exchange)
	mux.HandleFunc("DELETE /session", c.leave)
	mux.HandleFunc("/v1/", c.forward)
	if c.setup != nil {
		c.setup.routes(mux, c.within)
	} else {
		mux.HandleFunc("/setup/", http.NotFound) // this is not a place in the page
	}
	mux.HandleFunc("/", page(files))
	return c.guard(mux)
}

// guard refuses requests that come neither from the page nor from a person who opens
// it.
func (c *Console) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), microphone=(self), geolocation=(), usb=(), serial=()")
		h.Set("Cache-Control", "no-store")
		if r.Host != c.host {
			// The name may be one that resolves to this machine (DNS rebinding).
			refuse(w, http.StatusMisdirectedRequest, "host", "the console is at "+c.origin)
			return
		}
		if o := r.Header.Get("Origin"); o != "" && o != c.origin || o == "" && r.Method != http.MethodGet && r.Method != http.MethodHead {
			refuse(w, http.StatusForbidden, "origin", "a page of another origin asks")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// refuse answers in the form of the API's problems.
func refuse(w http.ResponseWriter, status int, field, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{ // a browser that has left needs no answer
		"type": "about:blank", "title": http.StatusText(status), "status": status, "field": field, "detail": detail})
}

// begun is the answer to a code.
type begun struct {
	Key string `json:"key"`
}

// exchange exchanges a code for a session.
func (c *Console) exchange(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Code string `json:"code"`
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxCode))
	if err != nil || r.Header.Get("Content-Type") != "application/json" || json.Unmarshal(body, &in) != nil {
		refuse(w, http.StatusBadRequest, "code", `want {"code": "…"} in JSON`)
		return
	}
	cookie, key, ok := c.sessions.begin(in.Code, c.now())
	if !ok {
		refuse(w, http.StatusForbidden, "code", "the link was used or has expired: ask for another with "+c.again)
		return
	}
	http.SetCookie(w, &http.Cookie{Name: c.cookie, Value: cookie, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(begun{key})
}

// session returns the session of a request, or nil.
func (c *Console) session(r *http.Request, watches bool) *session {
	cookie, err := r.Cookie(c.cookie)
	if err != nil {
		return nil
	}
	return c.sessions.find(cookie.Value, r.Header.Get(keyHeader), watches, c.now())
}

func (c *Console) refuseStranger(w http.ResponseWriter) {
	refuse(w, http.StatusUnauthorized, "session", "no session, or it has ended: open the console with "+c.again)
}

// within lets only requests of a session reach h.
func (c *Console) within(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if c.session(r, false) == nil {
			c.refuseStranger(w)
			return
		}
		h(w, r)
	}
}

// forward passes a session's requests to the API.
func (c *Console) forward(w http.ResponseWriter, r *http.Request) {
	watches := r.URL.Path == "/v1/live"
	s := c.session(r, watches)
	if s == nil {
		c.refuseStranger(w)
		return
	}
	api := c.handlerOfAPI()
	if api == nil {
		refuse(w, http.StatusServiceUnavailable, "", "the home is being set up")
		return
	}
	ctx, cancel := context.WithCancel(serve.FromPage(r.Context()))
	defer cancel()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c.endWith(ctx, s, cancel)
	}()
	inner := r.Clone(ctx)
	inner.Header.Del("Cookie")
	inner.Header.Del(keyHeader)
	api.ServeHTTP(w, inner)
	cancel()
	<-ended
}

// endWith cancels a request when its session is over, because a stream would
// otherwise continue.
func (c *Console) endWith(ctx context.Context, s *session, cancel func()) {
	for {
		t := time.NewTimer(max(c.sessions.left(s, c.now()), time.Second))
		select {
		case <-ctx.Done():
			t.Stop()
			return
		case <-s.over:
			t.Stop()
			cancel()
			return
		case <-t.C:
			if c.sessions.left(s, c.now()) <= 0 {
				c.sessions.end(s)
			}
		}
	}
}

// leave ends a session.
func (c *Console) leave(w http.ResponseWriter, r *http.Request) {
	if s := c.session(r, false); s != nil {
		c.sessions.end(s)
	}
	http.SetCookie(w, &http.Cookie{Name: c.cookie, Path: "/", MaxAge: -1, HttpOnly: true, SameSite: http.SameSiteStrictMode})
	w.WriteHeader(http.StatusNoContent)
}

// unpack returns the files of the page by their names.
func unpack(b []byte) (map[string][]byte, error) {
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			return nil, err
		}
		if files[f.Name], err = io.ReadAll(r); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// page serves the files of the page. A path that is not a file is a place in the
// page.
func page(files map[string][]byte) http.HandlerFunc {
	words := map[string]string{} // the names of the scripts with its texts, by language: words.en-….js
	for name := range files {
		if l, ok := strings.CutPrefix(name, "words."); ok {
			l, _, _ = strings.Cut(l, "-")
			words[l] = name
		}
	}
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			refuse(w, http.StatusMethodNotAllowed, "method", "the page is read-only")
			return
		}
		name := strings.TrimPrefix(path.Clean(r.URL.Path), "/")
		if files[name] == nil {
			if path.Ext(name) != "" {
				http.NotFound(w, r)
				return
			}
			name = "index.html"
		}
		if name == "index.html" {
			w.Header().Set("Link", "</"+words[language(r.Header.Get("Accept-Language"))]+">; rel=modulepreload")
		}
		http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(files[name]))
	}
}

// language returns the language in which the page appears in a browser, unless the
// wearer chose one. The browser then has the texts sooner than if the page asked for
// them.
func language(accepts string) string {
	for _, l := range strings.Split(accepts, ",") {
		switch l = strings.TrimSpace(l); {
		case strings.HasPrefix(l, "zh"):
			return "zh"
		case strings.HasPrefix(l, "en"):
			return "en"
		}
	}
	return "en"
}
