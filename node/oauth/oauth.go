// Package oauth lets an assistant without a key ask for one, as the Model Context Protocol
// specifies: the metadata of RFC 9728 and RFC 8414, dynamic registration (RFC 7591), and
// the authorization code grant of OAuth 2.1 with PKCE (only S256) and resource indicators
// (RFC 8707). An assistant that signs out ends its key (RFC 7009).
//
//   - A client is a program that registers. Registering stores nothing: the id of a client is
//     what it said about itself, with a MAC. Anybody may register, and gains nothing by it.
//   - A request is a client's request for access, while its consent page is open. The
//     page shows what the client asks for, and lets the wearer narrow it.
//   - A consent needs a code that `locket app waiting` shows for that request. A page in
//     a browser can't prove that it is the wearer's, but the command can.
//   - A grant is a consent until its authorization code is exchanged, once and within a
//     minute. Then it becomes an app, as with `locket app add`, and its key is the token.
//
// There are no refresh tokens. The wearer chooses when the key expires, and after that the
// client asks again. The browser is not redirected to a client before the wearer has
// pressed a button.
package oauth

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/locket-dev/locket/internal/clientaddr"
	"github.com/locket-dev/locket/node/serve"
)

// Book manages the apps; see apps.Book. Its methods fail with memory.ErrLocked while the
// node is locked.
type Book interface {
	AddAppFor(ctx context.Context, r serve.AppRequest, client string) (serve.NewApp, error)
	EndKey(ctx context.Context, key serve.Secret, client string) error
	Apps(ctx context.Context) ([]serve.App, error)
	RevokeApp(ctx context.Context, name string) (serve.App, error)
	CheckApp(r *serve.AppRequest) error            // checks like AddAppFor, without adding the app
	ClientKey(ctx context.Context) ([]byte, error) // key for the MAC in clients' ids
}

// Config is what a Server needs.
type Config struct {
	Book   Book
	Public string           // api.public_url; empty: a client knows the node by the address that it requests
	Now    func() time.Time // nil: time.Now
}

// Server implements serve.OAuth and serve.Consenter. It is safe for concurrent use.
type Server struct {
	book   Book
	public *url.URL // nil: there is none
	now    func() time.Time
	mux    *http.ServeMux

	mu       sync.Mutex
	requests []*request         // the oldest first
	grants   []*grant           // the oldest first
	wrong    map[string]guesses // wrong keys to revoke, by source
}

// New makes a server.
func New(c Config) *Server {
	s := &Server{book: c.Book, now: c.Now, mux: http.NewServeMux(), wrong: map[string]guesses{}}
	if s.now == nil {
		s.now = time.Now
	}
	if u, err := url.Parse(c.Public); err == nil && u.Host != "" {
		s.public = u
	}
	s.mux.HandleFunc("GET "+resourceMeta, s.resource)
	s.mux.HandleFunc("GET "+resourceMeta+endpoint, s.resource)
	s.mux.HandleFunc("GET "+serverMeta, s.server)
	s.mux.HandleFunc("POST "+registerPath, s.register)
	s.mux.HandleFunc("GET "+authorizePath, s.ask)
	s.mux.HandleFunc("POST "+authorizePath, s.decide)
	s.mux.HandleFunc("POST "+tokenPath, s.token)
	s.mux.HandleFunc("POST "+revokePath, s.revoke)
	return s
}

// The paths. endpoint is that of package mcp.
const (
	endpoint      = "/mcp"
	wellKnown     = "/.well-known/"
	resourceMeta  = wellKnown + "oauth-protected-resource"
	serverMeta    = wellKnown + "oauth-authorization-server"
	own           = "/oauth/"
	registerPath  = own + "register"
	authorizePath = own + "authorize"
	tokenPath     = own + "token"
	revokePath    = own + "revoke"
)

// scopes are the rights that a client may ask for. The right to have the model answer is
// not among them, because that costs the owner money and no tool of the protocol needs it.
var scopes = []serve.Right{serve.RightRead, serve.RightAdd, serve.RightUpdate, serve.RightForget}

// usual is what a client gets that asks for no particular scope.
const usual = "read add"

// HandlesPath implements serve.OAuth.
func (s *Server) HandlesPath(path string) bool {
	return strings.HasPrefix(path, own) || strings.HasPrefix(path, wellKnown)
}

// maxBody is the maximum number of bytes of a request body.
const maxBody = 16 << 10

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if _, ok := s.base(r); !ok {
		http.Error(w, "no such host", http.StatusMisdirectedRequest)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// Challenge implements serve.OAuth (RFC 9728, section 5.1).
func (s *Server) Challenge(r *http.Request) string {
	base, ok := s.base(r)
	if r.URL.Path != endpoint || !ok {
		return ""
	}
	out := `Bearer resource_metadata="` + base + resourceMeta + endpoint + `", scope="` + usual + `"`
	if r.Header.Get("Authorization") != "" {
		out += `, error="invalid_token"`
	}
	return out
}

// hosts matches host names that can be used in a URL without quoting.
var hosts = regexp.MustCompile(`^([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?$`)

// base returns the address by which a client knows the node, which is the issuer: the
// address that the client requested. Behind a proxy, which may use that name or loopback,
// it is api.public_url.
func (s *Server) base(r *http.Request) (string, bool) {
	if !hosts.MatchString(r.Host) {
		return "", false
	}
	if r.TLS == nil {
		return "http://" + r.Host, true
	}
	if s.public != nil && (r.Host == s.public.Host || clientaddr.LoopbackHost(r.Host)) {
		return "https://" + s.public.Host, true
	}
	return "https://" + r.Host, true
}

// isResource reports whether a resource indicator names this node.
func isResource(base, resource string) bool {
	return resource == base+endpoint || strings.TrimSuffix(resource, "/") == base
}

// resource answers with the metadata of RFC 9728.
func (s *Server) resource(w http.ResponseWriter, r *http.Request) {
	base, _ := s.base(r)
	of := base + endpoint
	if r.URL.Path == resourceMeta {
		of = base
	}
	answer(w, http.StatusOK, map[string]any{"resource": of, "authorization_servers": []string{base}, "scopes_supported": scopes,
		"bearer_methods_supported": []string{"header"}, "resource_name": "Locket"})
}

// server answers with the metadata of RFC 8414.
func (s *Server) server(w http.ResponseWriter, r *http.Request) {
	base, _ := s.base(r)
	answer(w, http.StatusOK, map[string]any{"issuer": base, "authorization_endpoint": base + authorizePath, "token_endpoint": base + tokenPath,
		"registration_endpoint": base + registerPath, "scopes_supported": scopes, "response_types_supported": []string{"code"}, "response_modes_supported": []string{"query"},
		"grant_types_supported": []string{"authorization_code"}, "token_endpoint_auth_methods_supported": []string{"none"},
		"revocation_endpoint": base + revokePath, "revocation_endpoint_auth_methods_supported": []string{"none"},
		"code_challenge_methods_supported": []string{"S256"}, "authorization_response_iss_parameter_supported": true})
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // a client that has left needs no answer
}

// refuse answers with an error in the form of RFC 6749, section 5.2, and RFC 7591, section
// 3.2.2.
func refuse(w http.ResponseWriter, status int, code, why string) {
	answer(w, status, map[string]string{"error": code, "error_description": why})
}
