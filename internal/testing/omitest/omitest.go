// Package omitest is a mock of Omi's developer API for reading, according to its documentation
// (docs.omi.me, "Developer API") and its server (backend/routers/developer.py): keys with scopes,
// pages, entries that are left out of a page after they were counted, limits, and errors in
// FastAPI's format.
package omitest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Memory is a memory as the server stores it.
type Memory struct {
	ID, Content, Category string
	Tags                  []string
	Created               time.Time
	Rejected              bool // by its user: it is counted in pages, and never returned
	Locked                bool // its content is cut
}

// Segment is a part of a transcript.
type Segment struct {
	Text       string
	Person     string // empty: an unknown person
	User       bool
	Speaker    int
	Start, End float64 // seconds
}

// Conversation is a conversation as the server stores it.
type Conversation struct {
	ID, Title string
	Started   time.Time
	Segments  []Segment
	Locked    bool // it is counted in pages, and never returned
}

// Cloud is a server. Its lists have the newest first. The fields may be set before the first
// request, and by Before.
type Cloud struct {
	URL           string
	Scopes        []string // scopes of Key: memories:read, conversations:read
	User          string   // the wearer's name; empty: none
	Memories      []Memory
	Conversations []Conversation
	// Before is called with the number of each request with a valid key, from 1, and may answer it.
	Before func(n int, w http.ResponseWriter) (answered bool)

	mu    sync.Mutex
	asked []string // paths with their queries; guarded by mu
}

// Key is the valid key.
const Key = "omi_dev_0123456789abcdef"

// New starts a server.
func New(t *testing.T) *Cloud {
	t.Helper()
	c := &Cloud{Scopes: []string{"memories:read", "conversations:read"}}
	s := httptest.NewServer(c)
	t.Cleanup(s.Close)
	c.URL = s.URL
	return c
}

// Asked returns the requests with a valid key.
func (c *Cloud) Asked() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.asked...)
}

// Refuse writes an error.
func Refuse(w http.ResponseWriter, status int, detail any) {
	answer(w, status, map[string]any{"detail": detail})
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}

// ServeHTTP implements http.Handler.
func (c *Cloud) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	key, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !bearer || key != Key {
		Refuse(w, http.StatusUnauthorized, "Invalid API key")
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = append(c.asked, r.URL.RequestURI())
	if c.Before != nil && c.Before(len(c.asked), w) {
		return
	}
	var scope string
	var give func(w http.ResponseWriter, r *http.Request, limit, offset int)
	switch r.URL.Path {
	case "/v1/dev/user/memories":
		scope, give = "memories:read", c.memories
	case "/v1/dev/user/conversations":
		scope, give = "conversations:read", c.conversations
	default:
		Refuse(w, http.StatusNotFound, "Not Found")
		return
	}
	if r.Method != http.MethodGet {
		w.Header().Set("Allow", http.MethodGet)
		Refuse(w, http.StatusMethodNotAllowed, "Method Not Allowed")
		return
	}
	if !strings.Contains(" "+strings.Join(c.Scopes, " ")+" ", " "+scope+" ") {
		Refuse(w, http.StatusForbidden, "Insufficient permissions. Required scope: "+scope)
		return
	}
	limit, okLimit := number(w, r, "limit", 25)
	offset, okOffset := number(w, r, "offset", 0)
	if okLimit && okOffset {
		give(w, r, limit, offset)
	}
}

func number(w http.ResponseWriter, r *http.Request, name string, absent int) (int, bool) {
	v := r.URL.Query().Get(name)
	if v == "" {
		return absent, true
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 0 {
		Refuse(w, http.StatusUnprocessableEntity, []any{map[string]any{"loc": []string{"query", name}, "msg": "Input should be a valid integer", "type": "int_parsing"}})
		return 0, false
	}
	return n, true
}

func page[T any](all []T, limit, offset int) []T {
	offset = min(offset, len(all))
	return all[offset:min(offset+limit, len(all))]
}

func (c *Cloud) memories(w http.ResponseWriter, _ *http.Request, limit, offset int) {
	out := []any{}
	for _, m := range page(c.Memories, limit, offset) {
		if m.Rejected {
			continue
		}
		if said := []rune(m.Content); m.Locked && len(said) > 70 {
			m.Content = string(said[:70]) + "..."
		}
		out = append(out, map[string]any{"id": m.ID, "content": m.Content, "category": m.Category, "visibility": "private", "tags": append([]string{}, m.Tags...),
			"created_at": m.Created, "updated_at": m.Created, "manually_added": false, "scoring": "01_999_1705315800", "reviewed": false, "user_review": nil, "edited": false})
	}
	answer(w, http.StatusOK, out)
}

func (c *Cloud) conversations(w http.ResponseWriter, r *http.Request, limit, offset int) {
	whole, err := strconv.ParseBool(r.URL.Query().Get("include_transcript"))
	whole = whole && err == nil
	out := []any{}
	for _, v := range page(c.Conversations, limit, offset) {
		if v.Locked {
			continue
		}
		of := map[string]any{"id": v.ID, "created_at": v.Started, "started_at": v.Started, "finished_at": v.Started.Add(time.Minute), "language": "en", "source": "omi",
			"structured":  map[string]any{"title": v.Title, "overview": "", "emoji": "", "category": "other", "action_items": []any{}, "events": []any{}},
			"geolocation": nil, "folder_id": nil, "folder_name": nil, "transcript_segments": nil}
		if whole {
			said := []any{}
			for i, s := range v.Segments {
				said = append(said, map[string]any{"id": fmt.Sprintf("%s-%d", v.ID, i), "text": s.Text, "speaker_id": s.Speaker, "speaker_name": c.name(s), "start": s.Start, "end": s.End})
			}
			of["transcript_segments"] = said
		}
		out = append(out, of)
	}
	answer(w, http.StatusOK, out)
}

// name returns the speaker's name in the server's answer.
func (c *Cloud) name(s Segment) string {
	switch {
	case s.User && c.User == "":
		return "User"
	case s.User:
		return c.User
	case s.Person != "":
		return s.Person
	}
	return fmt.Sprintf("Speaker %d", s.Speaker)
}
