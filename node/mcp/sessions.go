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
	// sessionHeader and methodInitialize belong to the protocol until 2025-11-25.
	sessionHeader    = "Mcp-Session-Id"
	methodInitialize = "initialize"

	// maxSessions is how many sessions one app may have. When it begins another one, a
	// session is ended that has no stream and was not used for the longest time.
	maxSessions = 64
	// streamWait is how long resources/subscribe waits for its session's stream. Hosts
	// open it after initialize, and don't wait for it.
	streamWait = 10 * time.Second
)

// sessions are the sessions of hosts that use HTTP and a protocol before 2026-07-28. A
// session has only a stream, an open GET, over which its host is told about resources;
// every other request is independent, and may come without a session. What a session
// follows ends with its stream, and so does the session: each later request that names it
// is answered with 404, which makes its host begin again according to the protocol. A
// session that followed nothing has lost nothing, and stays.
type sessions struct {
	mu    sync.Mutex
	byApp map[string][]*session // the last one used is at the end; guarded by mu
}

type session struct {
	id        string
	open      bool // its stream is open; guarded by sessions.mu
	transport *sdk.StreamableServerTransport
	ready     chan struct{}   // closed once transport serves
	over      context.Context // ends when the host deletes the session
	end       context.CancelFunc
}

// appOf returns the name of the app that makes a request; for the owner it is empty.
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

// begin returns the id of a new session.
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

// beginKey is the context key of the function that begins a session for a request.
type beginKey struct{}

// mayBegin makes the answer to r name a new session, if r is an initialize request that is
// answered with a result.
func (ss *sessions) mayBegin(w http.ResponseWriter, r *http.Request) context.Context {
	return context.WithValue(r.Context(), beginKey{}, func() { w.Header().Set(sessionHeader, ss.begin(appOf(r))) })
}

// beginning begins a session after each initialize request that is answered with a result.
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

// resetSession puts a session back into its state before its stream, unless it was deleted.
func (ss *sessions) resetSession(app string, s *session) {
	s.end()
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if i := slices.Index(ss.byApp[app], s); i >= 0 {
		ss.byApp[app][i] = newSession(s.id)
	}
}

// serve answers requests that need a session, or name one that does not exist, and reports
// whether it has answered. body is that of a POST. The context of r has the caller.
func (ss *sessions) serve(w http.ResponseWriter, r *http.Request, body []byte, version string) bool {
	id, alone := r.Header.Get(sessionHeader), false // alone: the request needs no session
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
		refuseUnknownSession(w)
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

// stream reports changes to a host until it hangs up, deletes its session or loses its key,
// or the node can't report them any more.
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
	use, end := (&server{of: callerOf, zones: new(zones)}).subscribed(ctx, o)
	defer func() {
		cancel() // before end, which waits for what is followed
		if app := appOf(r); end() {
			ss.leave(app, s)
		} else {
			ss.resetSession(app, s)
		}
	}()
	bare := sdk.NewServer(&sdk.Implementation{Name: "locket", Version: version}, o) // without tools, because it is used only to follow resources
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

// refuseUnknownSession answers that a session does not exist. Some hosts begin again only if the answer
// also has the code of the official TypeScript SDK.
func refuseUnknownSession(w http.ResponseWriter) {
	http.Error(w, "Session not found: it ended, or is another app's", http.StatusNotFound)
}

// ask makes a host follow a resource, or stop following it, once its stream is open.
func (s *session) ask(w http.ResponseWriter, r *http.Request) {
	late := time.NewTimer(streamWait)
	defer late.Stop()
	select {
	case <-s.ready:
		s.transport.ServeHTTP(w, r)
	case <-s.over.Done():
		refuseUnknownSession(w)
	case <-late.C:
		http.Error(w, "nothing can be sent before the session's stream is open: send GET first", http.StatusConflict)
	case <-r.Context().Done():
	}
}

// methodOf returns the method of one message, or "".
func methodOf(body []byte) string {
	var m struct {
		Method string `json:"method"`
	}
	if json.Unmarshal(body, &m) != nil {
		return ""
	}
	return m.Method
}
