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

// guesses are keys that were none.
type guesses struct {
	n     int
	until time.Time
}

// Limits of keys to revoke that are none.
const (
	maxWrong   = 10   // of one source, a minute
	maxSources = 4096 // that are remembered
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
	case errors.Is(err, memory.ErrNotFound): // section 2.2: it opens nothing, as the client wants
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

// mayGuess reports whether fewer keys of a source were none in this minute than may be.
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
		clear(s.wrong) // the limit is a little higher for them then
	}
	g.n++
	s.wrong[from] = g
}
