package oauth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// grant is a consent, with the code that the client exchanges for its key.
type grant struct {
	code    [sha256.Size]byte
	of      *request
	app     serve.AppRequest
	at      time.Time
	made    serve.App // the app that was made from it; without a name: none yet
	revoked bool      // or being revoked
}

// How long a code is valid, and how long its use is remembered.
const (
	grantTime = time.Minute
	grantKept = 10 * time.Minute
)

// grant makes a grant and its code.
func (s *Server) grant(q *request, r *serve.AppRequest) string {
	code := rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.grants = append(s.grants, &grant{code: sha256.Sum256([]byte(code)), of: q, app: *r, at: s.now()})
	return code
}

// token exchanges a code for the key of an app (RFC 6749, section 4.1.3).
func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	if !form(w, r) {
		return
	}
	if r.PostForm.Get("grant_type") != "authorization_code" {
		refuse(w, http.StatusBadRequest, "unsupported_grant_type", "grant_type: want authorization_code; when the key has ended, ask the wearer again")
		return
	}
	base, _ := s.base(r)
	if res := r.PostForm.Get("resource"); res != "" && !isResource(base, res) {
		refuse(w, http.StatusBadRequest, "invalid_target", "resource: it is not "+base+endpoint)
		return
	}
	s.mu.Lock() // one at a time, because a code is valid once
	s.tidy()
	g := s.granted(r)
	if g != nil && g.made.Name != "" {
		first := !g.revoked
		g.revoked = true
		s.mu.Unlock() // this waits for what the app is writing, and others need not wait
		s.revokeReused(w, r, g, first)
		return
	}
	defer s.mu.Unlock()
	switch {
	case g == nil:
		refuse(w, http.StatusBadRequest, "invalid_grant", "the code is not known, or not for this client, redirect_uri and code_verifier")
		return
	case s.now().Sub(g.at) >= grantTime:
		refuse(w, http.StatusBadRequest, "invalid_grant", "the code has expired")
		return
	}
	n, err := s.book.AddAppFor(context.WithoutCancel(r.Context()), g.app, g.of.id)
	if errors.Is(err, serve.ErrConflict) || errors.Is(err, memory.ErrInvalid) {
		refuse(w, http.StatusBadRequest, "invalid_grant", plainly(err))
		return
	}
	if err != nil {
		unavailable(w, err)
		return
	}
	g.made = n.App
	var scope []string
	for _, right := range n.App.Can {
		scope = append(scope, string(right))
	}
	answer(w, http.StatusOK, map[string]any{"access_token": n.Key, "token_type": "Bearer", "expires_in": int(n.App.Ends.Sub(s.now()).Seconds()), "scope": strings.Join(scope, " ")})
}

// form parses a form that has no field twice, or answers with an error.
func form(w http.ResponseWriter, r *http.Request) bool {
	if err := r.ParseForm(); err != nil {
		refuse(w, http.StatusBadRequest, "invalid_request", "the form can't be read")
		return false
	}
	for name, v := range r.PostForm {
		if len(v) > 1 {
			refuse(w, http.StatusBadRequest, "invalid_request", fmt.Sprintf("%.40q occurs twice", name))
			return false
		}
	}
	return true
}

// revokeReused handles a request with a code that was used. Two parties have the code and its
// verifier, and only one of them can be the client, so the key is revoked. An app that the
// wearer has added since under the same name keeps its own key.
func (s *Server) revokeReused(w http.ResponseWriter, r *http.Request, g *grant, first bool) {
	if first {
		list, err := s.book.Apps(r.Context())
		made := func(a serve.App) bool { return a.Name == g.made.Name && a.Added.Equal(g.made.Added) }
		if err == nil && slices.ContainsFunc(list, made) {
			_, err = s.book.RevokeApp(r.Context(), g.made.Name)
		}
		if err != nil {
			s.mu.Lock()
			g.revoked = false // the next request tries again
			s.mu.Unlock()
			unavailable(w, err)
			return
		}
	}
	refuse(w, http.StatusBadRequest, "invalid_grant", "the code was used; its key is revoked")
}

// granted returns the grant that matches the code, client, address and verifier of a
// request, or nil. It must be called with mu held.
func (s *Server) granted(r *http.Request) *grant {
	code, verifier := sha256.Sum256([]byte(r.PostForm.Get("code"))), r.PostForm.Get("code_verifier")
	i := slices.IndexFunc(s.grants, func(g *grant) bool { return subtle.ConstantTimeCompare(g.code[:], code[:]) == 1 })
	if i < 0 || len(verifier) < 43 || len(verifier) > 128 {
		return nil
	}
	q, digest := s.grants[i].of, sha256.Sum256([]byte(verifier))
	challenge := base64.RawURLEncoding.EncodeToString(digest[:])
	if subtle.ConstantTimeCompare([]byte(challenge), []byte(q.challenge)) != 1 || r.PostForm.Get("client_id") != q.id || r.PostForm.Get("redirect_uri") != q.redirect {
		return nil
	}
	return s.grants[i]
}

// unavailable answers that the node could not do it.
func unavailable(w http.ResponseWriter, err error) {
	if errors.Is(err, memory.ErrLocked) {
		refuse(w, http.StatusServiceUnavailable, "temporarily_unavailable", "the node is locked")
		return
	}
	refuse(w, http.StatusInternalServerError, "server_error", "the node failed")
}

// plainly returns an error's text without that of its sentinel.
func plainly(err error) string {
	out := err.Error()
	for _, s := range []error{memory.ErrInvalid, serve.ErrConflict} {
		out = strings.TrimPrefix(out, s.Error()+": ")
	}
	return out
}
