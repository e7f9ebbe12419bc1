package mcp

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/locket-dev/locket/node/serve"
)

const (
	// sessionHeader and methodInitialize are of the protocol until 2025-11-25.
	sessionHeader    = "Mcp-Session-Id"
	methodInitialize = "initialize"

	// maxSessions is how many sessions one app has. When it begins another one, the session
	// ends that has no stream and was not used for the longest time.
	maxSessions = 64
	// streamWait is how long resources/subscribe waits for its session's stream. Hosts
	// open it after initialize, and don't wait for it.
	streamWait = 10 * time.Second
)

// sessions are those of hosts that come over HTTP by a protocol before 2026-07-28. All
// that a session has is a stream, an open GET, over which its host is told of resources;
// every other request is by itself, and may come without a session. What a session follows
// ends with its stream, and the session too: each request that names it is answered 404
// then, on which the protocol has its host begin anew. A session that followed nothing
// has lost nothing, and stays.
type sessions struct {
	mu    sync.Mutex
	byApp map[string][]*session // the one asked by last is the last; guarded by mu
}

type session struct {
	id        string
	open      bool // its stream has come; guarded by sessions.mu
	transport *sdk.StreamableServerTransport
	ready     chan struct{}   // closed once transport serves
	over      context.Context // ends when the host deletes the session
	end       context.CancelFunc
}

// appOf gives the name of the app that asks; the owner has none.
func appOf(r *http.Request) string {
	if c := serve.CallerOf(r.Context()); c != nil {
		return c.Name()
	}
	return ""
}

func newSession(id string) *session {
	s := &session{id: id, ready: make(chan struct{})}
	s.over, s.end = context.WithCancel(context.Background())
	return s
}

// begin gives the id of a new session.
func (ss *sessions) begin(app string) string {
	s := newSession(rand.Text())
	ss.mu.Lock()
	defer ss.mu.Unlock()
	list := append(ss.byApp[app], s)
	if len(list) > maxSessions {
		if i := slices.IndexFunc(list, func(s *session) bool { return !s.open }); i >= 0 {
			list[i].end()
			list = slices.Delete(list, i, i+1)
		}
	}
	ss.byApp[app] = list
	return s.id
}

// beginKey is the key of a context for what begins a session for its request.
type beginKey struct{}

// mayBegin has the answer to r name a new session, if r turns out to be an initialize that
// is answered with a result.
func (ss *sessions) mayBegin(w http.ResponseWriter, r *http.Request) context.Context {
	return context.WithValue(r.Context(), beginKey{}, func() { w.Header().Set(sessionHeader, ss.begin(appOf(r))) })
}

// beginning begins a session after each initialize that is answered with a result.
func beginning(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		res, err := next(ctx, method, r)
		if begin, ok := ctx.Value(beginKey{}).(func()); ok && err == nil && method == methodInitialize {
			begin()
		}
		return res, err
	}
}

// of finds the session that a request names among those of its app.
func (ss *sessions) of(r *http.Request) *session {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	list, id := ss.byApp[appOf(r)], r.Header.Get(sessionHeader)
	i := slices.IndexFunc(list, func(s *session) bool { return s.id == id })
	if i < 0 {
		return nil
	}
	s := list[i]
	copy(list[i:], list[i+1:])
	list[len(list)-1] = s
	return s
}

// claim reports whether a stream is its session's first.
func (ss *sessions) claim(s *session) bool {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	first := !s.open
	s.open = true
	return first
}

func (ss *sessions) leave(app string, s *session) {
	s.end()
	ss.mu.Lock()
	defer ss.mu.Unlock()
	ss.byApp[app] = slices.DeleteFunc(ss.byApp[app], func(o *session) bool { return o == s })
	if len(ss.byApp[app]) == 0 {
		delete(ss.byApp, app)
	}
}

// again has a session as it was before its stream, unless it was deleted.
func (ss *sessions) again(app string, s *session) {
	s.end()
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if i := slices.Index(ss.byApp[app], s); i >= 0 {
		ss.byApp[app][i] = newSession(s.id)
	}
}

// serve answers what needs a session or names one that is not there, and reports whether
// that is so. body is that of a POST. The context of r has the caller.
func (ss *sessions) serve(w http.ResponseWriter, r *http.Request, body []byte, version string) bool {
	id, alone := r.Header.Get(sessionHeader), false // alone: it needs no session
	switch {
	case r.Header.Get("MCP-Protocol-Version") >= since:
		return false
	case r.Method == http.MethodPost:
		switch methodOf(body) {
		case methodInitialize:
			return false // see beginning
		case methodSubscribe, methodUnsubscribe:
		default:
			alone = true
		}
	case r.Method != http.MethodGet && r.Method != http.MethodDelete:
		return false
	}
	s := ss.of(r)
	switch {
	case alone && (id == "" || s != nil):
		return false
	case id == "":
		http.Error(w, "want "+sessionHeader+", as initialize gives it", http.StatusBadRequest)
	case s == nil:
		gone(w)
	case r.Method == http.MethodGet:
		ss.stream(w, r, s, version)
	case r.Method == http.MethodDelete:
		ss.leave(appOf(r), s)
		w.WriteHeader(http.StatusNoContent)
	default:
		s.ask(w, r)
	}
	return true
}

// stream tells a host of what it follows until it hangs up, deletes its session or loses
// its key, or the node can't tell it any more.
func (ss *sessions) stream(w http.ResponseWriter, r *http.Request, s *session, version string) {
	if !strings.Contains(r.Header.Get("Accept"), serve.MediaTypeEvents) {
		http.Error(w, "Accept must contain '"+serve.MediaTypeEvents+"'", http.StatusBadRequest)
		return
	}
	if !ss.claim(s) {
		http.Error(w, "this session has a stream already", http.StatusConflict)
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(s.over, cancel)()
	ctx = context.WithValue(ctx, endOf{}, cancel)

	o := options(nil)
	use, end := (&server{of: callerOf}).subscribed(ctx, o)
	defer func() {
		cancel() // before end, which waits for what is followed
		if app := appOf(r); end() {
			ss.leave(app, s)
		} else {
			ss.again(app, s)
		}
	}()
	bare := sdk.NewServer(&sdk.Implementation{Name: "locket", Version: version}, o) // without tools: it is used only to follow resources
	use(bare)
	s.transport = &sdk.StreamableServerTransport{SessionID: s.id}
	on, err := bare.Connect(ctx, s.transport, &sdk.ServerSessionOptions{State: &sdk.ServerSessionState{
		InitializeParams: &sdk.InitializeParams{ProtocolVersion: r.Header.Get("MCP-Protocol-Version")}, InitializedParams: &sdk.InitializedParams{}}})
	if err != nil {
		http.Error(w, "the stream does not begin", http.StatusInternalServerError)
		return
	}
	defer on.Close()
	close(s.ready)
	s.transport.ServeHTTP(w, r.WithContext(ctx))
}

// gone says that a session is not there. Some hosts begin anew only if the code of the
// official SDK in TypeScript is in the answer, too.
func gone(w http.ResponseWriter) {
	http.Error(w, "Session not found: it ended, or is another app's", http.StatusNotFound)
}

// ask has a host follow a resource, or end that, once its stream is there to tell it.
func (s *session) ask(w http.ResponseWriter, r *http.Request) {
	late := time.NewTimer(streamWait)
	defer late.Stop()
	select {
	case <-s.ready:
		s.transport.ServeHTTP(w, r)
	case <-s.over.Done():
		gone(w)
	case <-late.C:
		http.Error(w, "nothing can be sent before the session's stream is open: send GET first", http.StatusConflict)
	case <-r.Context().Done():
	}
}

// methodOf gives the method of one message, or "".
func methodOf(body []byte) string {
	var m struct {
		Method string `json:"method"`
	}
	if json.Unmarshal(body, &m) != nil {
		return ""
	}
	return m.Method
}
