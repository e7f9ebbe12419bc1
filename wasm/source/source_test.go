package source

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/locket-dev/locket/wasm/bundle"
)

func key(seed byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize))
}

func plugin(t *testing.T, version string) (bundle.Bundle, []byte) {
	t.Helper()
	text := fmt.Sprintf("id = \"ann/parking\"\nversion = %q\nabi = 1\ntitle = \"Where the car is\"\nkinds = [\"text\"]\n", version)
	b, err := bundle.Sign([]byte(text), []byte("\x00asm"+version), key(1))
	if err != nil {
		t.Fatal(err)
	}
	file, err := b.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return b, file
}

// server runs a TLS server on this machine.
func server(t *testing.T, h http.Handler) (*httptest.Server, Options) {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	return s, Options{Insecure: true, TLS: &tls.Config{RootCAs: s.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs}}
}

func TestHTTPS(t *testing.T) {
	_, file := plugin(t, "1.0.0")
	mux := http.NewServeMux()
	mux.HandleFunc("/p", func(w http.ResponseWriter, _ *http.Request) { w.Write(file) })
	mux.HandleFunc("/moved", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/p", http.StatusFound) })
	mux.HandleFunc("/around", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/around", http.StatusFound) })
	mux.HandleFunc("/plain", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://example.com/p", http.StatusFound)
	})
	mux.HandleFunc("/file", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
	})
	mux.HandleFunc("/says10GB", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Length", "10000000000") })
	var sent atomic.Int64
	mux.HandleFunc("/is10GB", func(w http.ResponseWriter, _ *http.Request) {
		for part := make([]byte, 64<<10); sent.Load() < 10e9; sent.Add(int64(len(part))) {
			if _, err := w.Write(part); err != nil {
				return
			}
		}
	})
	s, o := server(t, mux)
	ctx := context.Background()
	sum := fmt.Sprintf("%x", sha256.Sum256(file))
	for _, good := range []string{"/p", "/moved", "/p#sha256=" + sum, "/p#sha256=" + strings.ToUpper(sum)} {
		b, err := Fetch(ctx, s.URL+good, o)
		if err != nil {
			t.Errorf("%s: %v", good, err)
		} else if m, err := b.Open(); err != nil || m.ID != "ann/parking" {
			t.Errorf("%s: %v %v", good, m, err)
		}
	}
	for path, want := range map[string]error{
		"/none": ErrAnswer, "/around": ErrAddress, "/file": ErrAddress, "/says10GB": ErrTooLong, "/is10GB": ErrTooLong,
		"/p#sha256=" + strings.Repeat("0", 64): ErrHash,
	} {
		if _, err := Fetch(ctx, s.URL+path, o); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
	}
	if n := sent.Load(); n > 4*bundle.MaxSize {
		t.Errorf("%d bytes of a file without end were taken", n)
	}
	// With the default options this machine is refused, because it is not the public internet, and
	// so is http.
	strict := Options{TLS: o.TLS}
	if _, err := Fetch(ctx, s.URL+"/p", strict); !errors.Is(err, ErrAddress) || !strings.Contains(err.Error(), "127.0.0.1") {
		t.Errorf("an address of this machine: %v", err)
	}
	for _, link := range []string{"http://example.com/p", "https:///p", "ftp://example.com/p"} {
		if _, err := Fetch(ctx, link, strict); !errors.Is(err, ErrAddress) {
			t.Errorf("%s: %v", link, err)
		}
	}
	check := (&strict).client().CheckRedirect
	req, err := http.NewRequest(http.MethodGet, "http://example.com/p", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := check(req, nil); !errors.Is(err, ErrAddress) {
		t.Errorf("a redirect to http: %v", err)
	}
}

func TestPublicOnly(t *testing.T) {
	for _, a := range []string{"127.0.0.1:1", "10.1.2.3:1", "192.168.1.1:1", "172.16.0.1:1", "169.254.169.254:80", "100.64.0.1:1", "0.0.0.0:1", "224.0.0.1:1",
		"[::1]:1", "[fe80::1]:1", "[fd00::1]:1", "[::ffff:127.0.0.1]:1", "[::ffff:10.0.0.1]:1", "[64:ff9b::7f00:1]:1", "[2002:7f00:1::1]:443", "[2001:0:7f00:1::1]:443", "[fec0::1]:443", "[::]:1", "255.255.255.255:1", "nonsense"} {
		if err := publicOnly("tcp", a, nil); !errors.Is(err, ErrAddress) {
			t.Errorf("%s: %v", a, err)
		}
	}
	for _, a := range []string{"8.8.8.8:443", "[2001:4860:4860::8888]:443"} {
		if err := publicOnly("tcp", a, nil); err != nil {
			t.Errorf("%s: %v", a, err)
		}
	}
}

// push puts an artifact into a registry that implements the distribution spec.
func push(t *testing.T, host, tag, mediaType string, layers ...[]byte) {
	t.Helper()
	ctx := context.Background()
	repo, err := remote.NewRepository(host + "/ann/parking")
	if err != nil {
		t.Fatal(err)
	}
	repo.PlainHTTP = true
	put := func(mediaType string, b []byte) ocispec.Descriptor {
		d := ocispec.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(b), Size: int64(len(b))}
		if err := repo.Blobs().Push(ctx, d, bytes.NewReader(b)); err != nil {
			t.Fatal(err)
		}
		return d
	}
	m := ocispec.Manifest{MediaType: ocispec.MediaTypeImageManifest, ArtifactType: ArtifactType, Config: put(ocispec.MediaTypeEmptyJSON, []byte("{}"))}
	m.SchemaVersion = 2
	for _, l := range layers {
		m.Layers = append(m.Layers, put(mediaType, l))
	}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	d := ocispec.Descriptor{MediaType: m.MediaType, Digest: digest.FromBytes(text), Size: int64(len(text))}
	if err := repo.Manifests().PushReference(ctx, d, bytes.NewReader(text), tag); err != nil {
		t.Fatal(err)
	}
}

func linked(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := tar.NewWriter(z)
	if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: "plugin.wasm", Linkname: "/etc/passwd"}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestOCI uses go-containerregistry's registry, which implements the distribution spec.
func TestOCI(t *testing.T) {
	_, file := plugin(t, "1.0.0")
	s := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer s.Close()
	host := strings.TrimPrefix(s.URL, "http://")
	push(t, host, "1.0.0", bundle.MediaType, file)
	push(t, host, "image", "application/vnd.oci.image.layer.v1.tar+gzip", file)
	push(t, host, "two", bundle.MediaType, file, linked(t))
	push(t, host, "link", bundle.MediaType, linked(t))
	push(t, host, "large", bundle.MediaType, make([]byte, bundle.MaxSize+1))
	ctx := context.Background()
	o := Options{Insecure: true}
	b, err := Fetch(ctx, "oci://"+host+"/ann/parking:1.0.0", o)
	if err != nil {
		t.Fatal(err)
	}
	if m, err := b.Open(); err != nil || m.ID != "ann/parking" {
		t.Error(m, err)
	}
	for tag, want := range map[string]error{":image": ErrAnswer, ":two": ErrAnswer, ":link": bundle.ErrBundle, ":large": ErrTooLong} {
		if _, err := Fetch(ctx, "oci://"+host+"/ann/parking"+tag, o); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", tag, err, want)
		}
	}
	for _, tag := range []string{":none", ""} {
		if _, err := Fetch(ctx, "oci://"+host+"/ann/parking"+tag, o); err == nil {
			t.Errorf("%q was found", tag)
		}
	}
	if _, err := Fetch(ctx, "oci://"+host+"/ann/parking:1.0.0", Options{}); !errors.Is(err, ErrAddress) {
		t.Errorf("a registry of this machine, for strangers: %v", err)
	}
}

func TestIndex(t *testing.T) {
	now := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	b, file := plugin(t, "1.1.0")
	m, err := b.Open()
	if err != nil {
		t.Fatal(err)
	}
	s, o := server(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(file) }))
	listed := Listed{ID: m.ID, Version: m.Version, Title: m.Title, URL: s.URL + "/p", SHA256: m.SHA256, Publisher: m.Publisher}
	old, tea := listed, listed
	old.Version, tea.ID, tea.Title = "1.0.9", "bob/tea", "Kinds of tea"
	x := Index{Name: "test", Serial: 7, Expires: now.AddDate(0, 1, 0), Plugins: []Listed{old, listed, tea}}
	text, err := SignIndex(x, key(9))
	if err != nil {
		t.Fatal(err)
	}
	got, pub, err := readIndex(text)
	if err != nil || got.Serial != 7 || pub != hex.EncodeToString(key(9).Public().(ed25519.PublicKey)) {
		t.Fatalf("%+v, %v", got, err)
	}
	// Each changed byte is detected.
	for i := range text {
		bad := bytes.Clone(text)
		bad[i] ^= 1
		if _, k, err := readIndex(bad); err == nil && k == pub {
			t.Fatalf("byte %d was changed, and taken", i)
		}
	}
	known := Known{URL: "u", Key: pub, Serial: 7}
	next := got
	next.Serial = 8
	if k, err := known.Accept(&next, pub, now); err != nil || k.Serial != 8 {
		t.Error(k, err)
	}
	older := got
	older.Serial = 6
	if _, err := known.Accept(&older, pub, now); !errors.Is(err, ErrRollback) {
		t.Errorf("rollback: %v", err)
	}
	if _, err := known.Accept(&got, strings.Repeat("0", 64), now); !errors.Is(err, ErrIndexKey) {
		t.Errorf("another key: %v", err)
	}
	if _, err := known.Accept(&got, pub, got.Expires); !errors.Is(err, ErrExpired) {
		t.Errorf("expired: %v", err)
	}
	if l := got.Search("PARK"); len(l) != 1 || l[0].Version != "1.1.0" {
		t.Errorf("%+v", l)
	}
	if l := got.Search(); len(l) != 2 {
		t.Errorf("%+v", l)
	}
	if p, err := got.Find("ann/parking", ""); err != nil || p.Version != "1.1.0" {
		t.Error(p, err)
	}
	if _, err := got.Find("ann/parking", "2.0.0"); !errors.Is(err, ErrNoPlugin) {
		t.Error(err)
	}
	ctx := context.Background()
	if _, err := FetchListed(ctx, listed, o); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*Listed){
		"version":   func(l *Listed) { l.Version = "1.0.9" },
		"id":        func(l *Listed) { l.ID = "bob/tea" },
		"module":    func(l *Listed) { l.SHA256 = strings.Repeat("0", 64) },
		"publisher": func(l *Listed) { l.Publisher = strings.Repeat("0", 64) },
	} {
		l := listed
		change(&l)
		if _, err := FetchListed(ctx, l, o); !errors.Is(err, ErrHash) {
			t.Errorf("another %s: %v", name, err)
		}
	}
	for name, change := range map[string]func(*Index){
		"no serial":  func(x *Index) { x.Serial = 0 },
		"no end":     func(x *Index) { x.Expires = time.Time{} },
		"twice":      func(x *Index) { x.Plugins = append(x.Plugins, listed) },
		"a file":     func(x *Index) { x.Plugins = []Listed{listed}; x.Plugins[0].URL = "file:///etc/passwd" },
		"no module":  func(x *Index) { x.Plugins = []Listed{listed}; x.Plugins[0].SHA256 = "" },
		"nobody's":   func(x *Index) { x.Plugins = []Listed{listed}; x.Plugins[0].Publisher = "" },
		"no version": func(x *Index) { x.Plugins = []Listed{listed}; x.Plugins[0].Version = "" },
	} {
		bad := x
		bad.Plugins = append([]Listed(nil), x.Plugins...)
		change(&bad)
		if _, err := SignIndex(bad, key(9)); !errors.Is(err, ErrIndex) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLocal(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "LocalHost:5000": true, "127.0.0.1": true, "127.8.9.1:5000": true, "[::1]": true, "[::1]:5000": true,
		"127.evil.example": false, "127.0.0.1.evil.example:5000": false, "localhost.evil.example": false, "[::1].evil.example": false,
		"registry.example:5000": false, "10.0.0.1": false, "[::2]:5000": false, "127.1": false, "": false,
	} {
		if isLocal(host) != want {
			t.Errorf("%q: %v", host, !want)
		}
	}
}
