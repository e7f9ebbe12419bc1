package oauth

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// guesses counts wrong keys.
type guesses struct {
	n     int
	until time.Time
}

// Limits for requests to revoke a wrong key.
const (
	maxWrong   = 10   // from one source, a minute
	maxSources = 4096 // sources that are remembered
)

// revoke ends a client's key (RFC 7009).
func (s *Server) revoke(w http.ResponseWriter, r *http.Request) {
	if !form(w, r) {
		return
	}
	key, client := r.PostForm.Get("token"), r.PostForm.Get("client_id")
	if key == "" || client == "" {
		refuse(w, http.StatusBadRequest, "invalid_request", "want token, the key, and client_id")
		return
	}
	from := serve.Source(r)
	if !s.mayGuess(from) {
		w.Header().Set("Retry-After", "60")
		refuse(w, http.StatusTooManyRequests, "temporarily_unavailable", fmt.Sprintf("%d keys from this address were wrong: wait a minute", maxWrong))
		return
	}
	err := error(memory.ErrNotFound)
	if strings.HasPrefix(key, serve.KeyPrefix) {
		err = s.book.EndKey(r.Context(), serve.Secret(key), client)
	}
	switch {
	case errors.Is(err, memory.ErrNotFound): // section 2.2: the key is not valid, which is what the client wants
		s.guessed(from)
		answer(w, http.StatusOK, struct{}{})
	case errors.Is(err, serve.ErrForbidden):
		s.guessed(from)
		refuse(w, http.StatusBadRequest, "unauthorized_client", "the key was not made for this client; the owner ends it: locket app revoke NAME")
	case err != nil:
		unavailable(w, err)
	default:
		answer(w, http.StatusOK, struct{}{})
	}
}

// mayGuess reports whether a source is still below its limit of wrong keys for this
// minute.
func (s *Server) mayGuess(from string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.wrong[from]
	return g.n < maxWrong || !s.now().Before(g.until)
}

func (s *Server) guessed(from string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g, now := s.wrong[from], s.now()
	if !now.Before(g.until) {
		g = guesses{until: now.Add(time.Minute)}
	}
	if len(s.wrong) >= maxSources {
		clear(s.wrong) // the limit is a little higher for those sources then
	}
	g.n++
	s.wrong[from] = g
}
