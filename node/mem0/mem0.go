// Package mem0 answers the calls of Mem0's clients, both of its hosted and of its
// self-hosted server, by calls of the local API.
//
// A caller is an app by its key, and gets what the API gives that key. user_id,
// agent_id and run_id are a memory's owner. Locket has no app_id: it is kept in the
// metadata and shown apart. Ids are Locket's, written as UUIDs.
//
// docs/clients.md has the table of what is supported. Anything else is answered
// with 501 and its name, and nothing is done.
package mem0

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// Prefix is where the handler stands.
const Prefix = "/mem0"

// call is one request.
type call struct {
	c      *serve.Client
	r      *http.Request
	app    string // whose it is
	events *events
	body   map[string]json.RawMessage
}

// Handler answers below [Prefix].
func Handler(api http.Handler) http.Handler {
	mux, ring := http.NewServeMux(), &events{app: map[string][]event{}}
	for pattern, f := range map[string]func(*call) (any, error){
		"GET /v1/ping":                    (*call).ping,
		"POST /v3/memories/add":           (*call).add,
		"POST /v3/memories/search":        (*call).search,
		"POST /v3/memories":               (*call).list,
		"GET /v1/event/{id}":              (*call).event,
		"GET /v1/memories/{id}":           (*call).get,
		"PUT /v1/memories/{id}":           (*call).update,
		"DELETE /v1/memories/{id}":        (*call).delete,
		"GET /v1/memories/{id}/history":   (*call).history,
		"DELETE /v1/memories":             (*call).deleteAll,
		"GET /v1/entities":                (*call).entities,
		"DELETE /v1/entities/{type}/{id}": (*call).deleteEntity,
		"DELETE /v2/entities/{type}/{id}": (*call).deleteEntity,
		"PUT /v1/batch":                   (*call).batchUpdate,
		"DELETE /v1/batch":                (*call).batchDelete,

		// The self-hosted server's.
		"POST /memories":             (*call).addNow,
		"GET /memories":              (*call).listOf,
		"DELETE /memories":           (*call).deleteAll,
		"GET /memories/{id}":         (*call).get,
		"PUT /memories/{id}":         (*call).update,
		"DELETE /memories/{id}":      (*call).delete,
		"GET /memories/{id}/history": (*call).historyOf,
		"POST /search":               (*call).search,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			k := &call{c: serve.AsApp(api, r), r: r, app: serve.CallerOf(r.Context()).Name(), events: ring}
			err := k.readBody()
			var v any
			if err == nil {
				v, err = f(k)
			}
			answer(w, v, err)
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		answer(w, nil, &refusal{http.StatusNotImplemented, "Locket has no " + r.Method + " " + r.URL.Path + " of Mem0: see " + serve.Docs + "clients.md"})
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		inner := r.Clone(r.Context())
		var err error
		inner.URL.RawPath = "/" + strings.Trim(strings.TrimPrefix(r.URL.EscapedPath(), Prefix), "/")
		if inner.URL.Path, err = url.PathUnescape(inner.URL.RawPath); err != nil || path.Clean(inner.URL.RawPath) != inner.URL.RawPath {
			answer(w, nil, &refusal{http.StatusNotFound, "no such path"}) // a redirect by the mux would not be JSON
			return
		}
		mux.ServeHTTP(w, inner)
	})
}

// refusal is an error answer.
type refusal struct {
	status int
	detail string
}

func (e *refusal) Error() string { return e.detail }

func bad(format string, a ...any) error {
	return &refusal{http.StatusBadRequest, fmt.Sprintf(format, a...)}
}

// answer writes JSON in any case: clients read the body of errors, too.
func answer(w http.ResponseWriter, v any, err error) {
	status := http.StatusOK
	if err != nil {
		status = http.StatusInternalServerError
		var own *refusal
		var p *serve.Problem
		switch {
		case errors.As(err, &own):
			status = own.status
		case errors.As(err, &p):
			p.Header(w.Header())
			status = p.Status
			if status == http.StatusUnprocessableEntity {
				status = http.StatusBadRequest
			}
		}
		v = map[string]string{"error": http.StatusText(status), "detail": err.Error()}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // a client that went away is not our error
}

// readBody reads the members of an object, where there is one.
func (k *call) readBody() error {
	b, err := io.ReadAll(k.r.Body)
	if err != nil {
		if _, large := errors.AsType[*http.MaxBytesError](err); large {
			return &refusal{http.StatusRequestEntityTooLarge, fmt.Sprintf("the body has more than %d bytes", serve.MaxBody)}
		}
		return bad("the body ended early")
	}
	if len(b) == 0 {
		return nil
	}
	if !utf8.Valid(b) {
		return bad("the body is not UTF-8")
	}
	if err := json.Unmarshal(b, &k.body); err != nil {
		return bad("the body is not a JSON object: %s", worded(err))
	}
	return nil
}

// take reads a member of the body into v and takes it off; absent or null leaves v.
func (k *call) take(name string, v any) error {
	raw, ok := k.body[name]
	delete(k.body, name)
	if !ok {
		return nil
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return bad("%s: %s", name, worded(err))
	}
	return nil
}

// worded says what is wrong with a member in the words of JSON: encoding/json speaks of Go's types.
func worded(err error) string {
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return err.Error()
	}
	want := "an object"
	switch wrong.Type.Kind() {
	case reflect.String:
		want = "a text"
	case reflect.Bool:
		want = "true or false"
	case reflect.Int, reflect.Float64:
		want = "a number"
	case reflect.Slice:
		want = "a list"
	}
	if n, ok := strings.CutPrefix(wrong.Value, "number "); ok { // one that is too large, or has a fraction
		return n + " where another number is wanted"
	}
	return wrong.Value + " where " + want + " is wanted"
}

// ended refuses members that nobody took. An option that Locket does not have must
// not seem to be obeyed.
func (k *call) ended(ignored ...string) error {
	for _, name := range ignored {
		delete(k.body, name)
	}
	var left []string
	for name, v := range k.body {
		if string(v) != "null" {
			left = append(left, name)
		}
	}
	slices.Sort(left)
	if len(left) > 0 {
		return bad("%s: Locket does not take this; see %sclients.md", strings.Join(left, ", "), serve.Docs)
	}
	return nil
}

// owner is whose memories a request is about.
type owner struct{ user, agent, app, run string }

// takeOwner reads it from the body.
func (k *call) takeOwner() (o owner, err error) {
	err = errors.Join(k.take("user_id", &o.user), k.take("agent_id", &o.agent), k.take("app_id", &o.app), k.take("run_id", &o.run))
	return o, err
}

// takeFiltersOwner reads it from the filters of an add, where Mem0's client in Python
// puts it. o is what stands beside them.
func (k *call) takeFiltersOwner(o owner) (owner, error) {
	var in map[string]string
	if err := k.take("filters", &in); err != nil {
		return o, bad("%v: when memories are added, filters can have only user_id, agent_id, app_id and run_id", err)
	}
	for name, v := range in {
		to, ok := map[string]*string{"user_id": &o.user, "agent_id": &o.agent, "app_id": &o.app, "run_id": &o.run}[name]
		switch {
		case !ok:
			return o, bad("filters.%.40s: when memories are added, filters can have only user_id, agent_id, app_id and run_id", name)
		case *to != "" && *to != v:
			return o, bad("filters.%s: %.40q, and %s beside it is %.40q", name, v, name, *to)
		}
		*to = v
	}
	return o, nil
}

var ownerIDs = []string{"user_id", "agent_id", "app_id", "run_id"}

// queryOwner reads it from the query string. Another parameter than the four and those that
// may stand beside them is refused: it would have chosen fewer memories.
func (k *call) queryOwner(beside ...string) (owner, error) {
	q := k.r.URL.Query()
	for name, v := range q {
		if !slices.Contains(ownerIDs, name) && !slices.Contains([]string{"org_id", "project_id"}, name) && !slices.Contains(beside, name) {
			return owner{}, bad("%.40s: Locket does not take this; see %sclients.md", name, serve.Docs)
		}
		if len(v) > 1 {
			return owner{}, bad("%s: it is there %d times", name, len(v))
		}
		if v[0] == "" && slices.Contains(ownerIDs, name) {
			return owner{}, bad("%s: it is empty, so it would select nothing", name)
		}
	}
	return owner{q.Get("user_id"), q.Get("agent_id"), q.Get("app_id"), q.Get("run_id")}, nil
}

// filters are the owner's, in Mem0's words.
func (o owner) filters() map[string]any {
	out := map[string]any{}
	for name, v := range map[string]string{"user_id": o.user, "agent_id": o.agent, "app_id": o.app, "run_id": o.run} {
		if v != "" {
			out[name] = v
		}
	}
	return out
}

func (k *call) ping() (any, error) {
	return map[string]string{"status": "ok", "org_id": "locket", "project_id": "locket", "user_email": k.app}, nil
}

// uuid writes an id as Mem0's look.
func uuid(id memory.ID) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

// idOf reads an id in either spelling.
func idOf(s string) string {
	if b, err := hex.DecodeString(strings.ReplaceAll(s, "-", "")); err == nil && len(s) == 36 && len(b) == len(memory.ID{}) {
		return memory.ID(b).String()
	}
	return s
}
