package console

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"slices"
	"sync"
	"time"
)

// Lifetimes.
const (
	codeTime    = 2 * time.Minute
	idleTime    = 30 * time.Minute // a session without a request
	sessionTime = 12 * time.Hour   // a session, even if it is used
)

// Maximum numbers; the oldest is dropped first.
const (
	maxCodes    = 8
	maxSessions = 16
)

// sessions are the browsers that have access. Secrets are stored as digests of equal length,
// so that comparing them takes constant time.
type sessions struct {
	mu    sync.Mutex
	codes []code
	list  []*session
	came  bool // a browser has connected
}

type code struct {
	digest  [sha256.Size]byte
	expires time.Time
}

// session is the session of one browser.
type session struct {
	cookie, key [sha256.Size]byte
	begun, used time.Time     // guarded by sessions.mu
	over        chan struct{} // closed when it ends
}

func (s *session) until() time.Time {
	idle, whole := s.used.Add(idleTime), s.begun.Add(sessionTime)
	if idle.Before(whole) {
		return idle
	}
	return whole
}

// code makes a code for one session.
func (s *sessions) code(now time.Time) (text string, expires time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, expires = rand.Text(), now.Add(codeTime)
	s.codes = append(s.codes, code{sha256.Sum256([]byte(text)), expires})
	s.codes = s.codes[max(0, len(s.codes)-maxCodes):]
	return text, expires
}

// begin exchanges a code for a session: it returns the session's cookie and key. The code is
// used up, even if it has expired.
func (s *sessions) begin(text string, now time.Time) (cookie, key string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	digest, at := sha256.Sum256([]byte(text)), -1
	for i, c := range s.codes {
		if subtle.ConstantTimeCompare(c.digest[:], digest[:]) == 1 {
			at = i
		}
	}
	if at < 0 {
		return "", "", false
	}
	expires := s.codes[at].expires
	s.codes = append(s.codes[:at:at], s.codes[at+1:]...)
	if !now.Before(expires) {
		return "", "", false
	}
	cookie, key, s.came = rand.Text(), rand.Text(), true
	s.list = append(s.list, &session{sha256.Sum256([]byte(cookie)), sha256.Sum256([]byte(key)), now, now, make(chan struct{})})
	for len(s.list) > maxSessions {
		s.drop(0)
	}
	return cookie, key, true
}

// find returns the session of a cookie and a key, and records that it is in use unless the
// request only watches. It drops sessions that are over.
func (s *sessions) find(cookie, key string, watches bool, now time.Time) (found *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(s.list) - 1; i >= 0; i-- {
		if !now.Before(s.list[i].until()) {
			s.drop(i)
		}
	}
	c, k := sha256.Sum256([]byte(cookie)), sha256.Sum256([]byte(key))
	for _, o := range s.list {
		if subtle.ConstantTimeCompare(o.cookie[:], c[:])&subtle.ConstantTimeCompare(o.key[:], k[:]) == 1 {
			found = o
		}
	}
	if found != nil && !watches {
		found.used = now
	}
	return found
}

// none reports whether there is neither a session nor a code that could open one, and whether
// there ever was a session.
func (s *sessions) none(now time.Time) (none, came bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	good := slices.ContainsFunc(s.codes, func(c code) bool { return now.Before(c.expires) }) ||
		slices.ContainsFunc(s.list, func(o *session) bool { return now.Before(o.until()) })
	return !good, s.came
}

// left returns how long a session lasts without another request.
func (s *sessions) left(o *session, now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return o.until().Sub(now)
}

func (s *sessions) end(o *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.list {
		if s.list[i] == o {
			s.drop(i)
			return
		}
	}
}

// drop removes a session. The caller holds mu.
func (s *sessions) drop(i int) {
	close(s.list[i].over)
	s.list = append(s.list[:i:i], s.list[i+1:]...)
}

func (s *sessions) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.codes = nil
	for len(s.list) > 0 {
		s.drop(0)
	}
}
