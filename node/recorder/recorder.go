// Package recorder serves the page that turns a phone or a laptop into a wearable: its microphone,
// its camera, its location, and its screen.
//
//   - The page is in page/: plain JavaScript without libraries, embedded unchanged. It is
//     below [Path], which is also the scope of its service worker.
//   - It has a wearable's name and password, from the fragment of the link with which it is
//     paired, which no browser sends anywhere. It has no access to memories: it sends
//     messages of docs/mqtt.md over HTTP, below [Path]v1. Its questions are answered there, and that is all it can do.
//   - Its recordings wait in the browser's database until the node has them on disk.
package recorder

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"
)

//go:embed page
var embedded embed.FS

// Path is the path of the page.
const Path = "/wear/"

// policy is the page's content security policy: its own scripts, style and origin, and no markup or
// script made from text, except the two names of scripts that the page itself passes to the
// browser.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; media-src blob:; manifest-src 'self'; worker-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types locket-scripts"

// workerPolicy is the policy of the service worker, whose importScripts does not work with trusted
// types.
const workerPolicy = "default-src 'none'; script-src 'self'; connect-src 'self'"

// worker is the service worker's file. It is served with the version of all files at its beginning,
// so that browsers fetch it again when one of them changes.
const worker = "sw.js"

var kinds = map[string]string{".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
	".svg": "image/svg+xml", ".png": "image/png", ".webmanifest": "application/manifest+json"}

// Link returns the link that pairs a phone or laptop, at a door's address. The part after # is not
// sent to any server.
func Link(address, name, password string) string {
	return strings.TrimRight(address, "/") + Path + "#" + url.Values{"name": {name}, "password": {password}}.Encode()
}

// New returns the handler for the page. The handler web handles what the page sends, and next all
// other paths.
func New(web, next http.Handler) http.Handler {
	files, version := load()
	mux := http.NewServeMux()
	mux.Handle("/", next)
	mux.Handle("POST "+Path+"v1/{leaf}", unread(web))
	mux.Handle("GET "+Path+"v1", unread(web))
	mux.HandleFunc("GET "+Path, func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, Path)
		name = cmp.Or(name, "index.html")
		b, ok := files[name]
		if !ok {
			http.NotFound(w, r)
			return
		}
		h := w.Header()
		guard(h)
		h.Set("Content-Type", kinds[path.Ext(name)])
		h.Set("Content-Security-Policy", policy)
		if name == worker {
			h.Set("Content-Security-Policy", workerPolicy)
		}
		h.Set("Cache-Control", "no-cache")
		h.Set("ETag", `"`+version+`"`)
		http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(b))
	})
	return mux
}

// unread keeps answers to a device out of caches, and from being interpreted as anything else.
func unread(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		guard(w.Header())
		w.Header().Set("Content-Security-Policy", "default-src 'none'")
		w.Header().Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

func guard(h http.Header) {
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(self), microphone=(self), geolocation=(self), display-capture=(self), screen-wake-lock=(self), usb=(), serial=()")
}

// load reads the files, and returns a version that changes with any of them.
func load() (map[string][]byte, string) {
	files, names, sum := map[string][]byte{}, []string{}, sha256.New()
	dir, err := fs.Sub(embedded, "page")
	if err == nil {
		err = fs.WalkDir(dir, ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			b, err := fs.ReadFile(dir, name)
			files[name] = b
			if name != worker {
				names = append(names, name)
			}
			fmt.Fprintf(sum, "%s %d\n%s", name, len(b), b)
			return err
		})
	}
	if err != nil {
		panic(err) // the folder is embedded
	}
	version := base64.RawURLEncoding.EncodeToString(sum.Sum(nil)[:12])
	list, err := json.Marshal(names)
	if err != nil {
		panic(err) // names can always be encoded
	}
	files[worker] = append(fmt.Appendf(nil, "const version = %q, files = %s;\n", version, list), files[worker]...)
	return files, version
}
