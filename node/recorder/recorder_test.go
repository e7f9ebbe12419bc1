package recorder

import (
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

// The page has all files that it names, each with its policy; other paths are passed on.
func TestFiles(t *testing.T) {
	other := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Method+" "+r.URL.Path) })
	h := New(other, other)
	get := func(path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		return w
	}
	page := get(Path)
	if page.Code != 200 || !strings.HasPrefix(page.Header().Get("Content-Type"), "text/html") || page.Header().Get("Content-Security-Policy") != policy {
		t.Fatalf("%d %v", page.Code, page.Header())
	}
	all := page.Body.String()
	names := regexp.MustCompile(`(?:href|src)="([^"#]+)"|from "\./([^"]+)"|"src": "([^"]+)"|(?:importScripts|addModule)\("([^"]+)"\)`)
	seen := map[string]bool{}
	for {
		found := false
		for _, m := range names.FindAllStringSubmatch(all, -1) {
			name := strings.Join(m[1:], "")
			if seen[name] {
				continue
			}
			seen[name], found = true, true
			f := get(Path + name)
			if f.Code != 200 || f.Header().Get("Content-Type") == "" || f.Header().Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s: %d %v", name, f.Code, f.Header())
			}
			all += f.Body.String()
		}
		if !found {
			break
		}
	}
	for _, want := range []string{"recorder.js", "queue.js", "sound.js", "tap.js", "pictures.js", "words.js", "style.css", "icon.svg", "icon.png", "manifest.webmanifest"} {
		if !seen[want] {
			t.Errorf("nothing names %s", want)
		}
	}
	sw := get(Path + worker)
	first, _, _ := strings.Cut(sw.Body.String(), "\n")
	if !strings.HasPrefix(first, `const version = "`) || !strings.Contains(first, `"recorder.js"`) || sw.Header().Get("Content-Security-Policy") != workerPolicy {
		t.Errorf("%s %v", first, sw.Header())
	}
	if w := get(Path + "../recorder.go"); w.Code == 200 {
		t.Errorf("%s", w.Body)
	}
	if w := get(Path + "none"); w.Code != 404 {
		t.Errorf("%d", w.Code)
	}
	for path, want := range map[string]string{Path + "v1": "GET /wear/v1", "/v1/self": "GET /v1/self"} {
		if w := get(path); w.Body.String() != want {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	if l := Link("https://h:1/", "pin", "A&B"); l != "https://h:1/wear/#name=pin&password=A%26B" {
		t.Error(l)
	}
}

// Every sentence of the page exists in both languages, and none is left over.
func TestWords(t *testing.T) {
	files, _ := load()
	text := string(files["words.js"])
	en, zh, ok := strings.Cut(text, "const zh = {")
	if !ok {
		t.Fatal("no Chinese")
	}
	keys := func(s string) (out []string) {
		for _, m := range regexp.MustCompile(`(?m)^  (\w+): "`).FindAllStringSubmatch(s, -1) {
			out = append(out, m[1])
		}
		return out
	}
	used := string(files["index.html"]) + string(files["recorder.js"]) + "t(title)"
	for i, k := range keys(en) {
		if other := keys(zh); i >= len(other) || other[i] != k {
			t.Fatalf("%s is not the next in Chinese", k)
		}
		if k != "paused" && k != "private" && !strings.Contains(used, `"`+k+`"`) && k != "title" {
			t.Errorf("%s is used nowhere", k)
		}
	}
	for _, m := range regexp.MustCompile(`data-t="(\w+)"|\bt\("(\w+)"`).FindAllStringSubmatch(used, -1) {
		if k := m[1] + m[2]; !strings.Contains(en, "  "+k+": ") {
			t.Errorf("%s is no sentence", k)
		}
	}
}
